//! Rare one-line notices on stderr: hosts keep it as the server's log, so we say little there, and never twice a minute.

use std::io::Write;

use crate::gate::data::event::Now;

/// Microseconds between two notices that a call waits.
const PAUSE: u64 = 60_000_000;

/// Says one line. A host that closed stderr misses it.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "mcp-approve: {text}");
}

/// Notices that calls wait while no console is open.
#[derive(Debug, Default)]
pub struct Waiting {
    last: Option<u64>,
}

impl Waiting {
    /// Says that a call waits, unless that was said a moment ago.
    pub fn say(&mut self, now: Now, ticket: &str, console: &str) {
        if self.last.is_none_or(|last| now.mono >= last + PAUSE) {
            self.last = Some(now.mono);
            say(&format!("{ticket} waits for approval; run `{console}` in a terminal"));
        }
    }
}
