//! How long a line of the server may keep our own answers waiting.

use mcp_approve::interpose::host::{OpenLine, Stall};

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
