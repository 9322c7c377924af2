//! What one reader of the desk sees of it: an export is of one moment, and a role that sees no rows is told so.

use mcp_approve::audit::store::{ReadOrder, Reader};
use mcp_approve::cli::log::named::LogPlace;
use mcp_approve::desk::engine::Program;
use mcp_approve::desk::log::Central;

use super::log::{Machine, owner, says, target};
use super::roles::desk;

/// What an export writes is what it verified, whatever arrives meanwhile; and who sees no rows is told so.
#[test]
fn g5_an_export_is_of_one_moment_and_of_a_role_that_sees_the_logs() {
    let Some(postgres) = desk() else { return };
    let mut ada = Machine::new("ada");
    ada.calls(1..=10);
    ada.runs(&postgres);
    ada.is_sent(&postgres);
    ada.stops();
    let desk = Central::open_unchanging(&target(&postgres, "eve"), Program::Command).expect("a desk");
    assert_eq!(desk.count().expect("read"), 10);
    owner(
        &postgres,
        "DELETE FROM mcp_approve.record WHERE seq = 7; UPDATE mcp_approve.record SET link = sha256('x') WHERE seq = 10",
    );
    assert_eq!((desk.count().expect("read"), desk.machines().expect("read")), (10, vec!["ada".to_owned()]));
    let reader = Reader::of(Box::new(desk));
    let mut rows = 0;
    reader
        .each(ReadOrder::OldestFirst, &mut |_| {
            rows += 1;
            std::ops::ControlFlow::Continue(())
        })
        .expect("read");
    assert_eq!(rows, 10);
    for line in ["log verify", "log list", "log export"] {
        let (said, end) = says(line, LogPlace::Desk(&target(&postgres, "ada")));
        assert!(said.is_empty() && end.contains("the role ada cannot see what is on the desk"), "{line}: {said}{end}");
    }
}
