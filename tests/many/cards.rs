//! Calls held on one machine and decided from the desk: what counts, and what does not.

use std::fs;

use serde_json::json;

use super::bed::{Desk, Machine, mara, sam};
use super::roles::desk;
use crate::fake::host::Host;
use crate::fake::{log, until};

#[test]
fn a_call_is_approved_from_the_desk_and_runs_once() {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &[]);
    let operator = Desk::open(&postgres.url("mara"));
    let id = machine.write("milk");
    let card = operator.card("milk");
    assert!(!card.withheld);
    assert!(machine.server.executed().is_empty());
    let verdict = card.approve("mara@example.com", &mara());
    operator.say("ada", &verdict);
    assert_eq!(machine.answer(id), "done");
    assert_eq!(machine.server.executed().len(), 1);
    let who = operator.settled(card.ticket()).who;
    assert!(who.contains("mara@example.com at the desk"), "{who}");
    let decision = machine.decisions().pop().unwrap();
    assert_eq!(decision["detail"]["signatures"][0]["signer"], "mara@example.com");
    // The same row can be said again by nobody; the same statement by another session of `desk run` has no effect.
    machine.stop_run();
    machine.start_run();
    let id = machine.write("eggs");
    operator.say("ada", &operator.card("eggs").deny("sam@example.com", &sam(), "not today"));
    assert!(machine.answer(id).contains("not today"));
    let decision = machine.decisions().pop().unwrap();
    assert_eq!(decision["detail"]["signatures"][0]["signer"], "sam@example.com");
    assert_eq!(machine.server.executed().len(), 1);
}

#[test]
fn a_card_of_which_something_is_withheld_can_only_be_denied() {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &[]);
    let operator = Desk::open(&postgres.url("mara"));
    let id = machine.call(&json!({ "title": "push it", "password": "correct-horse-9" }));
    let card = operator.card("push it");
    assert!(card.withheld);
    let verdict = card.approve("mara@example.com", &mara());
    operator.say("ada", &verdict);
    assert!(operator.refused(&verdict).contains("the digest of its card"));
    operator.say("ada", &card.deny("mara@example.com", &mara(), ""));
    assert!(machine.answer(id).contains("Denied by the operator"));
    assert!(machine.server.executed().is_empty());
    assert!(operator.rows().iter().all(|row| !row.said.contains("correct-horse-9")));
}

#[test]
fn what_a_killed_wrapper_wrote_last_arrives_with_nothing_else_run() {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &[]);
    let operator = Desk::open(&postgres.url("mara"));
    let sent = |what: &str| {
        let sql = format!("SELECT count(*) FROM mcp_approve.record WHERE body LIKE '%{what}%'");
        postgres.rows("eve", &sql) != ["0"]
    };
    // Another wrapper of this user lives on beside it.
    let mut beside = Host::wrapping(machine.path(), &["--name", "t"], &machine.server.command());
    beside.handshake("2025-06-18");
    let folder = machine.path().join("state/audit.d");
    let journals = || fs::read_dir(&folder).unwrap().count();
    machine.call(&json!({ "title": "milk" }));
    operator.card("milk");
    machine.host.signal("KILL");
    machine.host.wait();
    until("the end of the killed wrapper is on the desk", || sent("the wrapper was killed").then_some(()));
    assert!(sent("milk"));
    // The one that lives keeps its journal, and its records go on.
    assert_eq!(journals(), 2, "database and write-ahead log of one journal");
    beside.call(1, "write", &json!({ "title": "eggs" }));
    operator.card("eggs");
    until("its records arrive", || sent("eggs").then_some(()));
    log::verifies(machine.path());
}
