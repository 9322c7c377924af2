//! What was read lately of each tool definition's calls, for reuse. Owns how many definitions have such a memory.

use std::sync::{Arc, Weak};

use crate::behavior::arguments::memory::Memory;
use crate::gate::server::described::Described;

/// How many definitions have a memory: a session calls few tools again and again.
const MOST: usize = 8;

/// The memories of the definitions that were called last.
#[derive(Debug, Default)]
pub struct Memories(Vec<(Weak<Described>, Memory)>);

impl Memories {
    /// Takes the memory of this definition, and of no other: while we hold a `Weak` to a definition that is gone, no
    /// other can have its address. Empty if there is none.
    pub fn take(&mut self, described: &Arc<Described>) -> Memory {
        let at = self.0.iter().position(|(known, _)| known.as_ptr() == Arc::as_ptr(described));
        at.map(|at| self.0.remove(at).1).unwrap_or_default()
    }

    /// Puts the memory of this definition back. The definition that was not called for longest is forgotten.
    pub fn put(&mut self, described: &Arc<Described>, memory: Memory) {
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push((Arc::downgrade(described), memory));
    }
}
