//! Counts as people read them.

use mcp_approve::wire::number::{counted, grouped};

#[test]
fn a_noun_is_in_the_number_of_its_count() {
    assert_eq!((counted(0, "call"), counted(1_u64, "call")), ("0 calls".into(), "1 call".into()));
    assert_eq!((counted(1, "entry|entries"), counted(2, "entry|entries")), ("1 entry".into(), "2 entries".into()));
    assert_eq!(counted(1_204_000_usize, "call waits|calls wait"), "1,204,000 calls wait");
    assert_eq!((grouped(0), grouped(999), grouped(1000)), ("0".into(), "999".into(), "1,000".into()));
}
