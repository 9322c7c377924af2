//! What breaks between a machine and an operator: the database, the connection, `desk run`; and two operators at once. No call runs
//! twice, none without a valid signature, none is lost; the console of the machine works throughout.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use mcp_approve::desk::told::Told;

use super::bed::{Desk, Machine, mara, sam};
use super::roles::desk;
use crate::postgres::Postgres;

/// The database stops and starts so often while a call waits; each is decided from the desk or at the machine.
fn restarts(times: usize) {
    let Some(mut postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &[]);
    let mut local = machine.local();
    for time in 0..times {
        let from_desk = machine.write(&format!("desk {time}."));
        // One waits before the database stops, one comes while it is down.
        local.asked("write");
        postgres.down();
        let here = machine.write(&format!("here {time}."));
        let asked = local.asked("write");
        assert!(asked.call.arguments.contains("here"), "{}", asked.call.arguments);
        local.approve(&asked);
        assert_eq!(machine.answer(here), "done", "the local console decides");
        postgres.up();
        let operator = Desk::open(&postgres.url("mara"));
        let card = operator.card(&format!("desk {time}."));
        operator.say("ada", &card.approve("mara@example.com", &mara()));
        assert_eq!(machine.answer(from_desk), "done");
        operator.settled(card.ticket());
    }
    once_each(&machine, times * 2);
}

/// So many calls ran, each once, and the log holds.
fn once_each(machine: &Machine, calls: usize) {
    let mut executed = machine.server.executed();
    assert_eq!(executed.len(), calls);
    executed.sort();
    executed.dedup();
    assert_eq!(executed.len(), calls, "one ran twice");
    crate::fake::log::verifies(machine.path());
}

#[test]
fn g7_calls_wait_while_the_database_is_down_and_the_local_console_decides() {
    restarts(3);
}

#[test]
#[ignore = "a minute"]
fn g7_the_database_stops_and_starts_twenty_times() {
    restarts(20);
}

/// Connections are cut while verdicts are on their way.
fn cuts(times: usize) {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &[]);
    let operator = Desk::open(&postgres.url("mara"));
    let postgres = &postgres;
    for time in 0..times {
        let id = machine.write(&format!("cut {time}."));
        let card = operator.card(&format!("cut {time}."));
        let verdict = card.approve("mara@example.com", &mara());
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_micros(time as u64 % 8 * 700));
                cut(postgres);
            });
            operator.say("ada", &verdict);
        });
        assert_eq!(machine.answer(id), "done");
    }
    once_each(&machine, times);
}

fn cut(postgres: &Postgres) {
    postgres.rows("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ada'");
}

#[test]
fn g7_a_connection_cut_in_mid_verdict_loses_and_doubles_nothing() {
    cuts(8);
}

#[test]
#[ignore = "some minutes"]
fn g7_three_hundred_cuts_in_mid_verdict() {
    cuts(300);
}

/// `desk run` is killed at any point while verdicts are on their way, and another is started.
fn kills(times: usize) {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &[]);
    let operator = Desk::open(&postgres.url("mara"));
    for time in 0..times {
        let id = machine.write(&format!("kill {time}."));
        let card = operator.card(&format!("kill {time}."));
        operator.say("ada", &card.approve("mara@example.com", &mara()));
        thread::sleep(Duration::from_micros(time as u64 % 16 * 500));
        machine.stop_run();
        machine.start_run();
        assert_eq!(machine.answer(id), "done");
    }
    once_each(&machine, times);
    // The first that each says is that what another told before may be gone.
    let first = |row: &super::bed::Row| matches!((&*row.session, &row.told), ("*", Told::Gone));
    assert!(operator.rows().iter().filter(|row| first(row)).count() >= times / 2);
}

#[test]
fn g7_desk_run_may_be_killed_at_any_point() {
    kills(6);
}

#[test]
#[ignore = "some minutes"]
fn g7_desk_run_is_killed_two_hundred_times() {
    kills(200);
}

/// Two operators in the same millisecond, one of whom denies every other call.
fn at_once(times: usize) {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &[]);
    let reader = Desk::open(&postgres.url("mara"));
    let desks = [("mara", mara()), ("sam", sam())].map(|(name, key)| (name, key, Desk::open(&postgres.url(name))));
    let (mut ran, mut ends, began) = (0, 0, Instant::now());
    for time in 0..times {
        let id = machine.write(&format!("both {time}."));
        let card = reader.card(&format!("both {time}."));
        let barrier = Arc::new(Barrier::new(desks.len()));
        thread::scope(|scope| {
            for (name, key, desk) in &desks {
                let (barrier, card) = (Arc::clone(&barrier), &card);
                let signer = format!("{name}@example.com");
                let verdict = match *name == "sam" && time % 2 == 1 {
                    true => card.deny(&signer, key, "no"),
                    false => card.approve(&signer, key),
                };
                scope.spawn(move || {
                    barrier.wait();
                    desk.say("ada", &verdict);
                });
            }
        });
        let answer = machine.answer(id);
        ran += usize::from(answer == "done");
        assert!(answer == "done" || answer.contains("Denied by the operator"), "{answer}");
        let end = reader.settled(card.ticket());
        assert!(end.who.contains("@example.com at the desk"), "{}", end.who);
        ends += 1;
    }
    assert_eq!(ends, times);
    once_each(&machine, ran);
    let decisions = machine.decisions();
    assert_eq!(decisions.len(), times, "one outcome each");
    let statuses = reader.rows().into_iter().filter(|row| matches!(row.told, Told::Status(_))).count();
    assert!(statuses as u64 <= 3 + began.elapsed().as_secs() / 10, "states are said rarely: {statuses}");
    // Who comes second is refused, and told so.
    let refused = || reader.rows().into_iter().filter(|row| matches!(row.told, Told::Refused { .. })).count();
    crate::fake::until("each second verdict is refused", || (refused() == times).then_some(()));
    println!("{times} calls, two operators each: {ran} ran, {:?}", began.elapsed());
}

#[test]
fn g4_two_operators_at_once_have_one_outcome() {
    at_once(20);
}

#[test]
#[ignore = "some minutes"]
fn g4_two_operators_at_once_a_thousand_times() {
    at_once(1_000);
}
