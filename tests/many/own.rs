//! What one reader of the desk sees of it: an export is of one moment, a role that sees no rows gets an error, and a machine compares what is
//! there with its own log.

use mcp_approve::audit::store::{ReadOrder, Reader};
use mcp_approve::cli::log::named::LogPlace;
use mcp_approve::desk::engine::Program;
use mcp_approve::desk::log::Central;
use mcp_approve::home::places::Places;

use super::log::{Machine, owner, says, target, until};
use super::roles::desk;

/// What an export writes is what it verified, whatever arrives meanwhile; and a role that sees no rows gets an error.
#[test]
fn g5_an_export_is_of_one_moment_and_of_a_role_that_sees_the_logs() {
    let Some(postgres) = desk() else { return };
    let _ada = Machine::sent_with("ada", &postgres, 10);
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

/// Whoever owns the database writes the end of a log again, with links that hold.
#[test]
fn g5_a_machine_says_that_the_desk_has_another_log_than_its_own() {
    let Some(postgres) = desk() else { return };
    let mut ada = Machine::sent_with("ada", &postgres, 10);
    let faults =
        |ada: &Machine| ada.has().into_iter().filter(|row| row.contains("the desk has another record")).count();
    ada.calls(11..=12);
    ada.runs(&postgres);
    ada.is_sent(&postgres);
    ada.stops();
    assert_eq!(faults(&ada), 0);
    owner(&postgres, "UPDATE mcp_approve.record SET link = sha256(link) WHERE seq > 10");
    ada.runs(&postgres);
    until("it says so in its own log", || faults(&ada) == 1);
    until("and on the desk", || ada.sent(&postgres).iter().any(|row| row.contains("the desk has another record 12")));
    ada.stops();
    let home = ada.folder.path();
    let config = format!("audit-db = \"{}\"\n[desk]\nurl = \"{}\"\n", ada.log().display(), postgres.url("ada"));
    let places = Places::under(home).expect("places");
    std::fs::create_dir_all(places.config_dir()).expect("a folder");
    std::fs::write(places.config_file(), config).expect("written");
    let doctor = || {
        let mut out = Vec::new();
        let words = format!("mcp-approve doctor --home {}", home.display());
        mcp_approve::cli::run(words.split(' ').map(Into::into), &mut out).expect("looked");
        String::from_utf8_lossy(&out).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = doctor();
    assert!(said.contains("record 13 here says that the desk had another log"), "{said}");
    owner(&postgres, "UPDATE mcp_approve.record SET link = sha256(link) WHERE seq = 13");
    let said = doctor();
    assert!(said.contains("another record 13"), "{said}");
    assert_eq!(ada.said(), ["the desk has another record 12 of this machine than its own log"]);
}
