//! How a server is brought to its end: asked, then SIGTERM, then SIGKILL to its whole group; under four seconds.

use super::child::Child;

/// Microseconds a server has after its stdin was closed.
const ASKED: u64 = 1_200_000;
/// Microseconds it has after SIGTERM.
const TERMINATED: u64 = 800_000;

/// Microseconds after SIGKILL for the last bytes in the pipe, and for the system to reap the process.
const KILLED: u64 = 500_000;

/// How far the end has come.
#[derive(Debug)]
pub struct Stopping {
    step: Step,
    next: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Its stdin is closed; it may end by itself.
    Asked,
    /// SIGTERM was sent to its group.
    Terminated,
    /// SIGKILL was sent to its group.
    Killed,
    /// Nothing more is waited for: a process that still holds its pipes has left its group.
    Over,
}

impl Stopping {
    /// Its stdin was closed at `now` (monotonic microseconds).
    pub fn asked(now: u64) -> Self {
        Self { step: Step::Asked, next: now + ASKED }
    }

    /// Its group gets SIGTERM at once.
    pub fn terminate(now: u64, child: &Child) -> Self {
        child.terminate();
        Self { step: Step::Terminated, next: now + TERMINATED }
    }

    /// The same for an end that is on its way already: never later than it would have been.
    pub fn hurry(&mut self, now: u64, child: &Child) {
        if self.step == Step::Asked {
            *self = Self::terminate(now, child);
        }
    }

    /// The program itself has ended; what it left behind in its group has `grace` microseconds.
    pub fn leftovers(now: u64, grace: u64) -> Self {
        Self { step: Step::Terminated, next: now + grace }
    }

    /// When the next step is due; `None` once everything was done.
    pub fn next(&self) -> Option<u64> {
        (self.step != Step::Over).then_some(self.next)
    }

    /// Whether nothing more is waited for, even if the server's pipe is still open.
    pub fn is_over(&self) -> bool {
        self.step == Step::Over
    }

    /// Does what is due.
    pub fn advance(&mut self, now: u64, child: &Child) {
        if now < self.next {
            return;
        }
        match self.step {
            Step::Asked => *self = Self::terminate(now, child),
            Step::Terminated => {
                child.kill();
                *self = Self { step: Step::Killed, next: now + KILLED };
            }
            Step::Killed => self.step = Step::Over,
            Step::Over => {}
        }
    }
}
