//! A line of the server that does not end, while our own lines wait for its end. Owns the two limits.
//!
//! A line that the host gets in pieces cannot be interrupted: whatever we wrote would be read as part of it. So our
//! answers wait; and if the server stops in the middle of the line, or never ends it, the server is ended. Then its
//! open line gets a line end, so that the host sees one broken message, and our answers follow whole.

/// Microseconds without a byte of the open line.
const SILENCE: u64 = 30_000_000;
/// Microseconds that an answer of ours may wait in all, however many bytes come.
const WHOLE: u64 = 300_000_000;
/// Microseconds between two looks, once one is due.
const AGAIN: u64 = 1_000_000;

/// The line on its way to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenLine {
    /// Bytes of the open line so far.
    pub streamed: u64,
    /// Whether lines of our own wait for its end.
    pub withholds: bool,
    /// Whether everything was written: if not, it is the host that does not read.
    pub written: bool,
}

/// Since when nothing has moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    streamed: u64,
    moved: u64,
    waits: Option<u64>,
    next: Option<u64>,
}

impl Stall {
    /// Takes note of the line at `now` (monotonic microseconds).
    pub fn look(&mut self, now: u64, line: OpenLine) {
        if line.streamed != self.streamed || !line.written {
            (self.streamed, self.moved) = (line.streamed, now);
        }
        if !line.withholds {
            (self.waits, self.next) = (None, None);
            return;
        }
        let waits = *self.waits.get_or_insert(now);
        self.next = Some((self.moved.max(waits) + SILENCE).min(waits + WHOLE).max(now + AGAIN));
    }

    /// What is wrong with the server, if its line has lasted too long by `now`.
    pub fn fault(&self, now: u64, line: OpenLine) -> Option<&'static str> {
        let waits = self.waits.filter(|_| line.withholds && line.written)?;
        if now >= self.moved.max(waits) + SILENCE {
            Some("it stopped in the middle of a line for 30 s, and answers could not pass")
        } else if now >= waits + WHOLE {
            Some("one line of it lasted for 5 min, and answers could not pass")
        } else {
            None
        }
    }

    /// When to look again.
    pub fn wake_at(&self) -> Option<u64> {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    fn open(streamed: u64, withholds: bool, written: bool) -> OpenLine {
        OpenLine { streamed, withholds, written }
    }

    #[test]
    fn a_line_that_holds_nothing_back_may_take_for_ever() {
        let mut stall = Stall::default();
        stall.look(0, open(10, false, true));
        assert_eq!((stall.wake_at(), stall.fault(9_999 * SECOND, open(10, false, true))), (None, None));
    }

    #[test]
    fn silence_is_counted_from_the_last_byte_or_the_first_answer_that_waits() {
        let (mut stall, line) = (Stall::default(), open(10, true, true));
        stall.look(5 * SECOND, line);
        assert_eq!(stall.wake_at(), Some(35 * SECOND));
        assert_eq!(stall.fault(34 * SECOND, line), None);
        assert!(stall.fault(35 * SECOND, line).unwrap().contains("30 s"));
        stall.look(34 * SECOND, open(11, true, true));
        assert_eq!(stall.fault(35 * SECOND, open(11, true, true)), None);
        // The line has ended: the next one has its own time.
        stall.look(36 * SECOND, open(0, false, true));
        stall.look(90 * SECOND, open(1, true, true));
        assert_eq!(stall.fault(91 * SECOND, open(1, true, true)), None);
    }

    #[test]
    fn a_host_that_does_not_read_is_not_the_servers_fault() {
        let (mut stall, line) = (Stall::default(), open(10, true, false));
        for second in 0..1_000 {
            stall.look(second * SECOND, line);
            assert_eq!(stall.fault(second * SECOND, line), None);
        }
        stall.look(1_000 * SECOND, open(10, true, true));
        assert!(stall.fault(1_030 * SECOND, open(10, true, true)).is_some());
    }

    #[test]
    fn a_line_without_end_is_given_five_minutes() {
        let mut stall = Stall::default();
        for second in 0..300 {
            stall.look(second * SECOND, open(second + 1, true, true));
            assert_eq!(stall.fault(second * SECOND, open(second + 1, true, true)), None, "{second}");
        }
        assert!(stall.fault(300 * SECOND, open(301, true, true)).unwrap().contains("5 min"));
    }
}
