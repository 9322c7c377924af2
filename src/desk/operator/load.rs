//! How many calls and wrappers a console has, of each machine and of all, and how many it may have.

use std::collections::BTreeMap;
use std::ops::{Add, Sub};

/// The most calls of all machines that a console has, and what their cards may take in bytes; then those of one machine, or one role could
/// hide what all others hold.
pub(super) const MOST: Load = Load { calls: 20_000, bytes: 256 << 20, wrappers: usize::MAX };
pub(super) const SHARE: Load = Load { calls: 2_000, bytes: 32 << 20, wrappers: WRAPPERS };
/// The most wrappers of a machine that a console has.
pub(super) const WRAPPERS: usize = 256;

/// How many calls, and the bytes of their cards; how many wrappers.
#[derive(Clone, Copy, Default)]
pub(super) struct Load {
    pub calls: usize,
    pub bytes: usize,
    pub wrappers: usize,
}

/// One call with a card of so many bytes.
pub(super) const fn call(bytes: usize) -> Load {
    Load { calls: 1, bytes, wrappers: 0 }
}

impl Load {
    fn each(self, other: Self, of: fn(usize, usize) -> usize) -> Self {
        Self {
            calls: of(self.calls, other.calls),
            bytes: of(self.bytes, other.bytes),
            wrappers: of(self.wrappers, other.wrappers),
        }
    }

    pub const fn is_within(self, most: Self) -> bool {
        self.calls <= most.calls && self.bytes <= most.bytes && self.wrappers <= most.wrappers
    }
}

/// What is here of all machines, and of each: a card that comes must not have all wrappers looked at.
#[derive(Default)]
pub(super) struct Loads {
    pub all: Load,
    of: BTreeMap<String, Load>,
}

impl Loads {
    pub fn take(&mut self, machine: &str, more: Load) {
        self.all = self.all + more;
        let own = self.of.entry(machine.to_owned()).or_default();
        *own = *own + more;
    }

    pub fn free(&mut self, machine: &str, less: Load) {
        self.all = self.all - less;
        if let Some(own) = self.of.get_mut(machine) {
            *own = *own - less;
        }
    }

    pub fn of(&self, machine: &str) -> Load {
        self.of.get(machine).copied().unwrap_or_default()
    }
}

impl Sub for Load {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.each(other, usize::saturating_sub)
    }
}

impl Add for Load {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.each(other, usize::saturating_add)
    }
}
