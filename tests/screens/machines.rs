//! The console over all machines of a desk: what its screens say of where a call waits, who looks, what is withheld, and what is away.

use std::sync::Arc;

use insta::assert_snapshot;
use mcp_approve::audit::record::{By, VerdictWord};
use mcp_approve::behavior::HazardKind;
use mcp_approve::console::card::{Card, Details, Folds};
use mcp_approve::console::keymap::Key;
use mcp_approve::console::model::Reach;
use mcp_approve::console::palette;
use mcp_approve::console::update::{Command, show};
use mcp_approve::gate::data::pin::{PinOffer, Remembers, ToolOffer};
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::{Around, At, CallEnd, FromConsole, FromWrapper, WitnessNews, Wrapper};

use crate::desk::*;

/// A desk of two machines, each with a server of the same name and a call of the same ticket.
fn two_machines(width: u16, height: u16) -> Desk {
    let mut desk = Desk::new(width, height);
    desk.model.settings.reach = Reach::Desk;
    desk.model.settings.operator = "mara".into();
    for (machine, host, user) in [("build7", "build7.example.com", "ci"), ("laptop", "fjord", "sam")] {
        let at = At { machine: machine.into(), host: host.into(), user: user.into() };
        let named = wrapper(&format!("{user}@{host}:files"), &format!("s1@{machine}"));
        desk.link(ClientEvent::Connected(Wrapper { at: Some(Arc::new(at)), ..named }));
    }
    let here = signed_at(write("files-1"), "s1", "build7.example.com");
    desk.say("s1@build7", FromWrapper::Held { call: Box::new(here) });
    let secret = r#"{"path":"env","content":"password=redacted:bb1311ef3be12c79"}"#;
    let withheld = Snapshot { target: Some("env".into()), ..with_arguments(write("files-1"), secret) };
    let withheld = Snapshot { signs: signed(withheld.clone(), "fs", "s1", ("sam", "fjord")).signs, ..withheld };
    desk.link(ClientEvent::Withheld { session: "s1@laptop".into(), call: Box::new(withheld) });
    let mut later = signed(own_delete("files-2"), "fs", "s1", ("sam", "fjord"));
    later.arrived += 1;
    desk.say("s1@laptop", FromWrapper::Held { call: Box::new(later) });
    desk.link(ClientEvent::Around(Around {
        operators: ["eve".into(), "sam".into()].into(),
        away: ["s1@laptop".into()].into(),
        looks: [("s1@build7".into(), "files-1".into(), "sam".into())].into(),
        ..Around::default()
    }));
    desk.look();
    desk
}

#[test]
fn two_machines_are_told_apart_on_every_screen() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut desk = two_machines(width, height);
        assert_snapshot!(format!("two_{width}x{height}"), desk.screen());
        desk.press(Key::Down);
        assert_snapshot!(format!("withheld_{width}x{height}"), desk.screen());
        desk.press(Key::Char('6'));
        assert_snapshot!(format!("servers_{width}x{height}"), desk.screen());
        desk.press(Key::Char('4'));
        assert!(desk.screen().contains("Tools are not on the desk."), "{}", desk.screen());
    }
}

#[test]
fn a_question_names_the_machine_and_the_outcome_names_who_was_first() {
    let mut desk = two_machines(120, 40);
    desk.press(Key::Char('G'));
    desk.press(Key::Char('a'));
    assert!(desk.line("Approve this dangerous call?").contains("sam@fjord:files-2"), "{}", desk.screen());
    desk.press(Key::Esc);
    desk.press(Key::Char('g'));
    desk.press(Key::Char('g'));
    let sent = desk.press(Key::Char('a'));
    assert_eq!(verdicts(&sent).len(), 1, "{}", desk.screen());
    let who = "sam@example.com at the desk".into();
    let end =
        CallEnd { ticket: "files-1".into(), time: desk.now, verdict: Some(VerdictWord::Deny), by: By::Operator, who };
    desk.say("s1@build7", FromWrapper::Settled(end));
    let line = desk.line("Too late");
    assert!(
        line.contains("it was denied by sam@example.com at the desk") && line.contains("ci@build7.example.com:files-1"),
        "{line}"
    );
}

#[test]
fn what_is_withheld_is_denied_alone_or_with_others_and_never_approved() {
    let mut desk = two_machines(120, 40);
    desk.press(Key::Down);
    let sent = desk.press(Key::Char('a'));
    assert!(verdicts(&sent).is_empty() && desk.screen().contains("approved only at its machine"), "{}", desk.screen());
    desk.now += 5_000;
    desk.press(Key::Char('*'));
    desk.press(Key::Char('*'));
    desk.press(Key::Char('a'));
    assert!(
        desk.screen().contains("is redacted or cut here: these are approved only at their machine"),
        "{}",
        desk.screen()
    );
    desk.now += 5_000;
    desk.look();
    desk.press(Key::Char('d'));
    desk.press(Key::Enter);
    let screen = desk.screen();
    assert!(screen.contains("sam@fjord:files-1") && screen.contains("sam@fjord:files-2"), "{screen}");
}

/// What a card says of keys is what they do there; and the last line, help and commands with it.
#[test]
fn a_card_of_another_machine_has_only_keys_that_do_something_there() {
    let mut desk = two_machines(80, 24);
    let offer = PinOffer {
        agree: vec!["path = notes/today.md".into()],
        any_text: vec!["path".into()],
        remembers: Remembers::All,
        tool: ToolOffer::Likely,
        signs: None,
    };
    let mut read = Snapshot { offer: Some(offer), ..signed_at(write("files-3"), "s1", "build7.example.com") };
    read.arrived += 2;
    read.hazards = vec![hazard(HazardKind::OutsideRoots, "/elsewhere is outside of the roots")];
    let own = Card::lay(&Arc::new(read.clone()), 80, 0, Folds::open(), Details::Folded);
    let text = |card: &Card| card.window(0, card.rows).iter().map(|row| row.text() + "\n").collect::<String>();
    let keys = ["p it reads", "w any text under", "m it changes something", "r f allows this folder"];
    for key in keys {
        assert!(text(&own).contains(key), "{}", text(&own));
    }
    desk.say("s1@build7", FromWrapper::Held { call: Box::new(read) });
    desk.press(Key::Char('G'));
    desk.press(Key::Enter);
    for key in keys {
        assert!(!desk.screen().contains(key), "{}", desk.screen());
    }
    assert!(desk.screen().contains("a has ssh-keygen sign it") && desk.line(" d deny").contains("a approve"));
    desk.press(Key::Esc);
    desk.press(Key::Char('g'));
    desk.press(Key::Char('g'));
    desk.press(Key::Down);
    let screen = desk.screen();
    assert!(!screen.contains("a has ssh-keygen") && !screen.contains("a approve"), "{screen}");
    let said = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("signature approve at its machine fjord; d has ssh-keygen sign a denial"), "{screen}");
    assert!(desk.line(" d deny").contains("approve at its machine fjord"), "{screen}");
    // Several at once: how many of them.
    desk.press(Key::Char('*'));
    desk.press(Key::Char('*'));
    desk.press(Key::Char('*'));
    assert!(desk.line(" deny marked").contains("1 of 4: approve at their machines"), "{}", desk.screen());
    desk.press(Key::Char('*'));
    desk.press(Key::Char('?'));
    let help: String = palette::help_rows(&desk.model, 80).iter().map(|row| row.text() + "\n").collect();
    assert!(help.contains("Approves the call on screen") && !help.contains("$EDITOR"), "{help}");
    desk.press(Key::Esc);
    assert!(palette::entries(&desk.model, "more time").iter().all(|entry| entry.name != "more time"));
}

/// Names as a company has them: only their middles differ, and there are several servers.
#[test]
fn long_names_of_machines_are_readable_where_they_differ() {
    for (width, height) in [(80, 24), (120, 40), (200, 40)] {
        let mut desk = Desk::new(width, height);
        desk.model.settings.reach = Reach::Desk;
        for (n, (host, server)) in [
            ("build7.prod.eu-west-1.example.com", "github"),
            ("build7.stage.eu-west-1.example.com", "github"),
            ("build8.prod.eu-west-1.example.com", "filesystem"),
            ("10.20.30.117", "github"),
        ]
        .into_iter()
        .enumerate()
        {
            let at = At { machine: format!("role{n}"), host: host.into(), user: "deploy".into() };
            let named = wrapper(&format!("deploy@{host}:{server}"), &format!("s1@role{n}"));
            desk.link(ClientEvent::Connected(Wrapper { at: Some(Arc::new(at)), ..named }));
            let call = Snapshot { server: server.into(), ..signed(write("files-1"), "fs", "s1", ("deploy", host)) };
            desk.say(&format!("s1@role{n}"), FromWrapper::Held { call: Box::new(call) });
        }
        desk.look();
        assert_snapshot!(format!("long_names_{width}x{height}"), desk.screen());
    }
}

/// While a key signs, its call is shown: the card under a call's name is that of the call.
#[test]
fn the_card_of_what_is_signed_is_on_screen_meanwhile() {
    let mut desk = two_machines(120, 40);
    let first = desk.model.queue.selected.clone();
    desk.press(Key::Down);
    let next = show(&mut desk.model, first.clone());
    desk.draw();
    assert!(desk.line("━ ").contains("ci@build7.example.com:files-1"), "{}", desk.screen());
    assert!(desk.screen().contains("milk") && !desk.screen().contains("password="), "{}", desk.screen());
    assert_eq!(show(&mut desk.model, next), first);
    desk.draw();
    assert!(desk.screen().contains("password=") && !desk.screen().contains("milk"), "{}", desk.screen());
}

#[test]
fn the_queue_is_filtered_by_machine_and_user() {
    for (find, wanted) in [
        ("machine:laptop", 0),
        ("machine:fjord", 2),
        ("user:ci", 1),
        ("server:build7.example.com:file", 1),
        ("sam@fjord", 2),
    ] {
        let mut desk = two_machines(120, 40);
        desk.press(Key::Char('/'));
        desk.keys(find);
        desk.press(Key::Enter);
        assert_eq!(desk.model.queue.order().len(), wanted, "{find}: {}", desk.screen());
    }
}

#[test]
fn the_others_are_told_of_a_look_once_and_again_while_it_lasts() {
    let mut desk = two_machines(120, 40);
    let mut looks = 0;
    for _ in 0..120 {
        desk.now += 1_000;
        let sent = desk.send(mcp_approve::console::update::Msg::Tick);
        looks +=
            sent.iter().filter(|one| matches!(one, Command::Send { message: FromConsole::Look { .. }, .. })).count();
        desk.draw();
    }
    assert_eq!(looks, 2);
}

#[test]
fn the_console_says_that_it_signed_a_witness_and_that_one_is_due() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut desk = two_machines(width, height);
        let time = desk.now;
        let signed = Some((time, "the ends of 12 logs, as mara".to_owned()));
        let wrong =
            Some("no witness of all logs for 3 days: `mcp-approve desk witness` signs one, with a touch".to_owned());
        desk.link(ClientEvent::Witness(WitnessNews { signed, wrong }));
        desk.press(Key::Char('2'));
        assert_snapshot!(format!("witness_{width}x{height}"), desk.screen());
        desk.link(ClientEvent::Witness(WitnessNews::default()));
        assert!(!desk.screen().contains("witness"), "{}", desk.screen());
    }
}

/// A call of another user and host under the role of this machine: what is shown is what is signed, wherever it is shown.
#[test]
fn a_call_of_prod_under_the_role_of_a_test_machine_is_named_as_it_is_signed_and_marked() {
    for width in [80, 120] {
        let mut desk = Desk::new(width, 40);
        desk.model.settings.reach = Reach::Desk;
        for (session, host) in [("s1", "test7.example.com"), ("s2", "prod-database-1.example.com")] {
            let at = At { machine: "test7".into(), host: host.into(), user: "ci".into() };
            let named = wrapper(&format!("ci@{host}:fs"), &format!("{session}@test7"));
            desk.link(ClientEvent::Connected(Wrapper { at: Some(Arc::new(at)), ..named }));
            let call = signed_at(write(&format!("fs-{session}")), session, host);
            desk.say(&format!("{session}@test7"), FromWrapper::Held { call: Box::new(call) });
        }
        desk.look();
        let screen = desk.screen();
        let said = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("Calls of several users or hosts come under the role test7: ci@prod-database-1.example.com, ci@test7.example.com."), "{screen}");
        assert!(
            desk.line("━ ").contains("ci@test7.example.com:fs-s1") && desk.line("━ ").contains("mixed"),
            "{screen}"
        );
        desk.keys("/machine:prod");
        desk.press(Key::Enter);
        desk.look();
        assert!(desk.line("━ ").contains("ci@prod-database-1.example.com:fs-s2"), "{}", desk.screen());
        desk.keys("/");
        desk.press(Key::Esc);
        desk.press(Key::Esc);
        for keys in ["**a", "**A", "**d"] {
            desk.now += 5_000;
            desk.look();
            desk.keys(keys);
            if keys.ends_with('d') {
                desk.press(Key::Enter);
            }
            let list = desk.screen();
            for name in ["ci@test7.example.com:fs-s1", "ci@prod-database-1.example.com:fs-s2"] {
                assert!(list.contains(name) && list.contains("mixed"), "{keys} {width}: {name}\n{list}");
            }
            desk.press(Key::Esc);
            desk.press(Key::Esc);
            desk.press(Key::Esc);
        }
    }
}

/// One user of one host under two roles.
#[test]
fn one_machine_under_two_roles_is_said() {
    let mut desk = two_machines(120, 40);
    assert!(!desk.screen().contains("mixed"), "{}", desk.screen());
    let at = At { machine: "other".into(), host: "fjord".into(), user: "sam".into() };
    let named = wrapper("sam@fjord:files", "s1@other");
    desk.link(ClientEvent::Connected(Wrapper { at: Some(Arc::new(at)), ..named }));
    let said = desk.screen().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Calls of sam@fjord come under several roles: laptop, other."), "{}", desk.screen());
    assert!(said.contains("mixed away"), "{}", desk.screen());
}

fn signed_at(card: Snapshot, session: &str, host: &str) -> Snapshot {
    signed(card, "fs", session, ("ci", host))
}

/// What a console takes from a desk when it is opened; `--nocapture` says how long that takes.
#[test]
fn twenty_thousand_calls_of_ten_machines_come_and_end() {
    let mut desk = Desk::new(120, 40);
    desk.model.settings.reach = Reach::Desk;
    for n in 0..10 {
        let at = At { machine: format!("role{n}"), host: format!("host{n}"), user: "ci".into() };
        let named = wrapper(&format!("ci@host{n}:files"), &format!("s1@role{n}"));
        desk.link(ClientEvent::Connected(Wrapper { at: Some(Arc::new(at)), ..named }));
    }
    let cards: Vec<Snapshot> =
        (0..20_000).map(|n| signed_at(write(&format!("files-{n}")), "s1", &format!("host{}", n % 10))).collect();
    let began = std::time::Instant::now();
    for (n, card) in cards.into_iter().enumerate() {
        desk.say(&format!("s1@role{}", n % 10), FromWrapper::Held { call: Box::new(card) });
    }
    let came = began.elapsed();
    assert!(desk.screen().contains("20,000 waiting"), "{}", desk.screen());
    let drawn = began.elapsed();
    for n in 1..2_000 {
        let end = CallEnd {
            ticket: format!("files-{n}"),
            time: desk.now,
            verdict: Some(VerdictWord::Deny),
            by: By::Operator,
            who: "sam".into(),
        };
        desk.say(&format!("s1@role{}", n % 10), FromWrapper::Settled(end));
    }
    let ended = began.elapsed();
    desk.link(ClientEvent::Gone { session: "s1@role9".into() });
    assert!(desk.screen().contains("16,201 waiting"), "{}", desk.screen());
    println!(
        "came {came:?}, drawn {:?}, 1,999 ended {:?}, gone {:?}",
        drawn - came,
        ended - drawn,
        began.elapsed() - ended
    );
}
