//! What leaves a machine: no secret of a call, a file or a command, and no more than a row takes. What of a card is missing cannot be
//! approved from the desk.

use std::fs;

use mcp_approve::desk::told::LONGEST_TOLD;
use mcp_approve::wire::digest::Digest;
use serde_json::{Value, json};

use super::bed::{Card, Desk, Machine, mara};
use super::roles::desk;

/// So many secrets, none a part of another.
fn secrets(count: u32) -> Vec<String> {
    (0..count).map(|at| format!("zq{:08x}w{at:02}", (at + 1).wrapping_mul(2_654_435_761))).collect()
}

#[test]
fn g6_the_desk_holds_none_of_fifty_secrets() {
    let Some(postgres) = desk() else { return };
    let all = secrets(50);
    let mut left = all.iter().map(String::as_str);
    let mut next = || left.next().expect("another secret");
    let (flag, typed) = (next(), next());
    let mut machine = Machine::serving(&postgres, "", &[], &["--token", flag, &format!("--password={typed}")]);
    let operator = Desk::open(&postgres.url("mara"));
    let file = machine.path().join("notes.env");
    fs::write(&file, format!("API_KEY={}\nDB_PASSWORD={}\nplain words\n", next(), next())).unwrap();
    let pem = |lines: &[&str]| format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", lines.join("\n"));
    let (echoed, spoken) = (next(), next());
    let mut calls: Vec<(&str, Value)> = vec![
        ("a key", json!({ "title": "a key", "password": next(), "api_key": next(), "client_secret": next() })),
        ("nested", json!({ "title": "nested", "auth": { "token": next(), "deep": [{ "secret": next() }] } })),
        ("flags", json!({ "title": "flags", "args": ["--password", next(), "--verbose", "--token", next()] })),
        ("pairs", json!({ "title": "pairs", "env": [{ "name": "API_TOKEN", "value": next() }] })),
        ("repeated", json!({ "title": format!("repeated {echoed}"), "password": echoed })),
        ("lines", json!({ "title": "lines", "password": format!("{}\n{}", next(), next()), "text": "x" })),
        ("a file", json!({ "title": "a file", "path": file, "content": format!("password = {}\n", next()) })),
        ("pem", json!({ "title": "pem", "path": file, "content": pem(&[next(), next(), next()]) })),
        ("url", json!({ "title": "url", "url": format!("https://bob:{}@example.com/x", next()) })),
        ("header", json!({ "title": "header", "header": format!("Authorization: Bearer {}", next()) })),
        ("command", json!({ "title": "command", "command": format!("mysql --password={} -e 'SELECT 1'", next()) })),
        ("spoken", json!({ "title": "spoken", "token": spoken, "say": format!("use {spoken} as it is") })),
    ];
    let odd = format!("{}\"\\x", next());
    let (hex, plain) = (format!("{:064x}", u64::MAX - 7), "hunterxyz");
    let link = machine.path().join("link");
    fs::copy(&file, machine.path().join(plain)).unwrap();
    std::os::unix::fs::symlink(plain, &link).unwrap();
    calls.extend([
        (
            "escaped",
            json!({ "title": "escaped", "password": odd, "cmd": format!("login {odd}"), format!("as {odd}"): 1 }),
        ),
        ("hexadecimal", json!({ "title": hex, "secret": hex })),
        ("a word of ours", json!({ "title": plain, "path": link, "password": plain, "token": "file" })),
    ]);
    calls.extend(left.map(|secret| ("more", json!({ "credentials": { "secret": secret } }))));
    let count = calls.len();
    for (at, (title, mut arguments)) in calls.into_iter().enumerate() {
        let mark = format!("call {at}.");
        arguments["mark"] = json!(mark);
        let id = machine.call(&arguments);
        let card = operator.card(&mark);
        assert!(card.withheld, "{title}: {:?}", card.call.arguments);
        let shows =
            |words: &str| card.call.facts.iter().filter_map(|one| one.text.as_ref()).any(|it| it.contains(words));
        assert_eq!(matches!(title, "a file" | "pem" | "a word of ours"), shows("plain words"), "{title}");
        operator.say("ada", &card.deny("mara@example.com", &mara(), title));
        assert!(machine.answer(id).contains("Denied by the operator"));
        operator.settled(card.ticket());
    }
    assert!(count >= 12 && machine.server.executed().is_empty());
    let list = machine.path().join("etc/allowed_signers");
    let verified = crate::fake::log::run(machine.path(), &["verify", "--allowed-signers", list.to_str().unwrap()]);
    assert!(verified.status.success(), "{verified:?}");
    // What confirms a guess of a secret: the digest of a call's bytes, or of a file's.
    let of_calls = crate::fake::log::of_kind(machine.path(), "decision");
    let mut confirm: Vec<String> = of_calls.iter().map(|one| one["digest"].as_str().unwrap().to_owned()).collect();
    confirm.push(Digest::of(&fs::read(&file).unwrap()).to_string());
    assert_eq!(confirm.len(), count + 1);
    for table in ["told", "verdict", "look", "standing", "head"] {
        let rows = postgres.rows("postgres", &format!("SELECT t::text FROM mcp_approve.{table} t")).join("\n");
        let secrets = all.iter().map(String::as_str).chain([&*hex, plain]).chain(confirm.iter().map(|one| &**one));
        let found: Vec<&str> = secrets.filter(|secret| rows.contains(secret)).collect();
        assert!(found.is_empty(), "{table}: {found:?}");
    }
}

#[test]
fn a_card_is_whole_up_to_a_row_and_cut_beyond() {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &[]);
    let operator = Desk::open(&postgres.url("mara"));
    let decide = |machine: &mut Machine, title: &str, text: String, answer: &str| -> Card {
        let id = machine.call(&json!({ "title": title, "text": text }));
        let card = operator.card(title);
        let approval = card.approve("mara@example.com", &mara());
        operator.say("ada", &approval);
        if card.withheld {
            assert!(operator.refused(&approval).contains("the digest of its card"));
            operator.say("ada", &card.deny("mara@example.com", &mara(), ""));
        }
        let said = machine.answer(id);
        assert!(said.contains(answer), "{said}");
        card
    };
    assert!(!decide(&mut machine, "long.", "a b ".repeat(100_000), "done").withheld);
    let cut = decide(&mut machine, "longer.", "a b ".repeat(400_000), "Denied by the operator");
    assert!(cut.withheld && cut.call.arguments.len() < 32 * 1024);
    // Escaped, and in many pieces.
    let text = "\u{1}\"\\\n".repeat(100_000);
    assert!(decide(&mut machine, "escaped.", text, "Denied by the operator").withheld);
    assert!(operator.rows().iter().all(|row| row.said.len() <= LONGEST_TOLD));
    // White space alone is no change.
    machine.host.send(
        r#" { "jsonrpc" : "2.0", "id": 99, "method":"tools/call", "params": {"name":"write", "arguments" : { "title" :  "wide" } } }"#,
    );
    let wide = operator.card("wide");
    assert!(!wide.withheld);
    operator.say("ada", &wide.approve("mara@example.com", &mara()));
    assert_eq!(machine.answer(99), "done");
    assert_eq!(machine.server.executed().len(), 2);
}

#[test]
fn with_the_desk_attached_a_call_waits_although_no_console_is_open() {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &["--unattended", "deny"]);
    let operator = Desk::open(&postgres.url("mara"));
    crate::fake::until("the desk is attached", || {
        crate::fake::log::of_kind(machine.path(), "attach").iter().any(|one| one["detail"]["desks"] == 1).then_some(())
    });
    let id = machine.write("milk");
    operator.say("ada", &operator.card("milk").approve("mara@example.com", &mara()));
    assert_eq!(machine.answer(id), "done");
    let decided = crate::fake::until("its decision is recorded", || {
        crate::fake::log::of_kind(machine.path(), "decision").into_iter().find(|one| one["ticket"].is_string())
    });
    let mut log = Vec::new();
    let ticket = decided["ticket"].as_str().unwrap();
    let words = ["mcp-approve", "--home", machine.path().to_str().unwrap(), "log", "show", ticket];
    mcp_approve::cli::run(words.into_iter().map(Into::into), &mut log).expect("a log");
    let log = String::from_utf8(log).unwrap();
    assert!(log.contains("no console was open on its machine; the desk was connected"), "{log}");
    machine.stop_run();
    crate::fake::until("the desk is gone", || {
        crate::fake::log::of_kind(machine.path(), "detach").iter().any(|one| one["detail"]["desks"] == 0).then_some(())
    });
    let id = machine.write("eggs");
    assert!(machine.answer(id).contains("no console"), "it is denied at once");
    assert_eq!(machine.server.executed().len(), 1);
}
