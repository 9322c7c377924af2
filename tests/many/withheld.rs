//! What leaves a machine: no secret of a call, a file or a command, and no more than a row takes. What of a card is missing cannot be
//! approved from the desk.

use std::fs;

use mcp_approve::desk::told::LONGEST_TOLD;
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::message::{FromConsole, OperatorVerdict};
use mcp_approve::signing::statement::Evidence;
use mcp_approve::wire::digest::Digest;
use serde_json::{Value, json};

use super::bed::{Card, Desk, Machine, Verdict, mara};
use super::roles::desk;
use crate::fake::operator::Asked;
use crate::fake::server::{Server, writer};
use crate::postgres::Postgres;

/// So many secrets, none a part of another.
fn secrets(count: u32) -> Vec<String> {
    (0..count).map(|at| format!("zq{:08x}w{at:02}", (at + 1).wrapping_mul(2_654_435_761))).collect()
}

/// Every row of every table of the desk, each as a text.
fn dump(postgres: &Postgres) -> String {
    let tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'mcp_approve'";
    let rows = |table: &String| postgres.rows("postgres", &format!("SELECT t::text FROM mcp_approve.{table} t"));
    postgres.rows("postgres", tables).iter().flat_map(rows).collect::<Vec<_>>().join("\n")
}

#[test]
fn g6_the_desk_holds_none_of_fifty_secrets() {
    let Some(postgres) = desk() else { return };
    let all = secrets(50);
    let mut left = all.iter().map(String::as_str);
    let mut next = || left.next().expect("another secret");
    let (flag, typed, echoed, spoken, logged) = (next(), next(), next(), next(), next());
    // The server says a secret of its command line and two of the call.
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": format!("as {logged} by {flag}") } });
    let result =
        json!({ "content": [{ "type": "text", "text": format!("no {logged} here, {flag}") }], "isError": true });
    let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": result }).to_string().replace(r#""id":0"#, r#""id":$ID"#);
    let server = Server::with(&[writer("write")]).on("write", json!({ "lines": [notice.to_string(), answer] }));
    let policy = "[operator]\nsigned = \"always\"\n[[rule]]\nid = \"results\"\ndecision = \"ask\"\ntool = \"write\"\nresult = { size = 1 }\n";
    let words = ["--token", flag, &format!("--password={typed}"), &format!("--odd={flag}")];
    let mut machine = Machine::serving(&postgres, policy, &[], (server, &words));
    let operator = Desk::open(&postgres.url("mara"));
    let file = machine.path().join("notes.env");
    fs::write(&file, format!("API_KEY={}\nDB_PASSWORD={}\nplain words\n", next(), next())).unwrap();
    let pem = |lines: &[&str]| format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", lines.join("\n"));
    let inside = |text: &str| json!({ "body": json!({ "note": text }).to_string() }).to_string();
    let mut calls: Vec<(&str, Value)> = vec![
        ("a key", json!({ "title": "a key", "password": next(), "api_key": next(), "client_secret": next() })),
        ("nested", json!({ "title": "nested", "auth": { "token": next(), "deep": [{ "secret": next() }] } })),
        ("flags", json!({ "title": "flags", "args": ["--password", next(), "--verbose", "--token", next()] })),
        ("pairs", json!({ "title": "pairs", "env": [{ "name": "API_TOKEN", "value": next() }] })),
        ("repeated", json!({ "title": format!("repeated {echoed}"), "password": echoed })),
        // Of a call before, in many spellings.
        (
            "again",
            json!({ "title": "again", "command": format!("curl -H 'X-Odd: {echoed}' https://h/"), format!("at {echoed}"): 1, "db": format!("dsn {echoed}@db"), "token": "x" }),
        ),
        (
            "within",
            json!({ "title": "within", "text": inside(&inside(echoed)), "path": format!("/srv/{echoed}/x"), "token": "x" }),
        ),
        ("lines", json!({ "title": "lines", "password": format!("{}\n{}", next(), next()), "text": "x" })),
        ("a file", json!({ "title": "a file", "path": file, "content": format!("password = {}\n", next()) })),
        ("pem", json!({ "title": "pem", "path": file, "content": pem(&[next(), next(), next()]) })),
        ("url", json!({ "title": "url", "url": format!("https://bob:{}@example.com/x", next()) })),
        ("header", json!({ "title": "header", "header": format!("Authorization: Bearer {}", next()) })),
        ("command", json!({ "title": "command", "command": format!("mysql --password={} -e 'SELECT 1'", next()) })),
        ("spoken", json!({ "title": "spoken", "token": spoken, "say": format!("use {spoken} as it is") })),
        ("long", json!({ "title": "long", "token": next(), "text": "a b ".repeat(20_000) })),
    ];
    let odd = format!("{}\"+\\x", next());
    let percent = odd.replace('"', "%22").replace('+', "%2B").replace('\\', "%5C");
    let (hex, plain) = (Digest::of(b"hexadecimal").to_string(), "hunterxyz");
    let link = machine.path().join("link");
    fs::copy(&file, machine.path().join(plain)).unwrap();
    std::os::unix::fs::symlink(plain, &link).unwrap();
    calls.extend([
        (
            "escaped",
            json!({ "title": "escaped", "password": odd, "cmd": format!("login {odd}"), format!("as {odd}"): 1, "body": inside(&odd), "url": format!("https://h/?q={percent}") }),
        ),
        ("hexadecimal", json!({ "title": hex, "secret": hex })),
        ("a word of ours", json!({ "title": plain, "path": link, "password": plain, "token": "file" })),
    ]);
    calls.extend(left.map(|secret| ("more", json!({ "credentials": { "secret": secret } }))));
    let count = calls.len();
    // What confirms a guess of a secret: the digest of a call's bytes, of its arguments or its card, of a file, of an answer.
    let mut confirm = vec![Digest::of(&fs::read(&file).unwrap()).to_string()];
    let guesses = |arguments: &Value, id: i64| {
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "write", "arguments": arguments } });
        [&line, arguments].map(|text| Digest::of(text.to_string().as_bytes()).to_string())
    };
    for (at, (title, mut arguments)) in calls.into_iter().enumerate() {
        let mark = format!("call {at}.");
        arguments["mark"] = json!(mark);
        let id = machine.call(&arguments);
        confirm.extend(guesses(&arguments, id));
        let card = operator.card(&mark);
        assert!(card.withheld && card.call.salt.is_none(), "{title}: {:?}", card.call.arguments);
        let shows =
            |words: &str| card.call.facts.iter().filter_map(|one| one.text.as_ref()).any(|it| it.contains(words));
        assert_eq!(matches!(title, "a file" | "pem" | "a word of ours"), shows("plain words"), "{title}");
        operator.say("ada", &card.deny("mara@example.com", &mara(), title));
        assert!(machine.answer(id).contains("Denied by the operator"));
        operator.settled(card.ticket());
    }
    assert!(count >= 12 && machine.server.executed().is_empty());
    // One is approved at its machine, and signed there; its result is held, and shown.
    let mut console = machine.local();
    let arguments = json!({ "title": "runs", "api_key": logged, "text": format!("as {logged}") });
    let id = machine.call(&arguments);
    confirm.extend(guesses(&arguments, id));
    for _ in ["the call", "its result"] {
        let Asked { session, call } = console.asked("write");
        let whole = Card { session: session.clone(), call: call.clone(), withheld: false };
        confirm.push(Snapshot { signs: None, salt: None, ..call.clone() }.card_digest().to_string());
        let signed = whole.approve("mara@example.com", &mara());
        let Verdict { statement, signature, .. } = signed;
        let (ticket, digest, verdict) = (call.ticket.clone(), call.digest, OperatorVerdict::Approve { unread: false });
        let message = FromConsole::Decide { ticket, digest, verdict, signed: Some(Evidence { statement, signature }) };
        console.says(&session, &message);
        console.settled(&call.ticket);
    }
    let answered = machine.host.answer(id);
    assert!(answered.to_string().contains(logged), "the host gets it as it is: {answered}");
    confirm.push(Digest::of(answered.to_string().as_bytes()).to_string());
    let list = machine.path().join("etc/allowed_signers");
    let verified = crate::fake::log::run(machine.path(), &["verify", "--allowed-signers", list.to_str().unwrap()]);
    assert!(verified.status.success(), "{verified:?}");
    let of_calls = crate::fake::log::decisions(machine.path(), "write");
    assert!(of_calls.len() >= count + 2, "{}", of_calls.len());
    let asked = crate::fake::log::of_kind(machine.path(), "decision-asked");
    let repeats = asked.iter().filter(|one| one["detail"].to_string().contains("repeated-secret")).count();
    assert!(repeats >= 5, "who reads the log sees where a secret came again: {repeats}");
    let last = crate::fake::log::records(machine.path()).len();
    crate::fake::until("the desk has the whole log", || {
        let sent = postgres.rows("postgres", "SELECT max(seq) FROM mcp_approve.record");
        (sent == [last.to_string()]).then_some(())
    });
    let whole = dump(&postgres);
    for one in all.iter().chain([&hex]).chain(&confirm) {
        let rows: Vec<&str> = whole.lines().filter(|row| row.contains(one.as_str())).collect();
        assert!(rows.is_empty(), "{one} ({:?}): {rows:#?}", all.iter().position(|known| known == one));
    }
    assert!(whole.contains("redacted:") && whole.contains("api_key"));
    // What is a word stays where it comes again in a record, and on no card (`help desk`).
    let told = postgres.rows("postgres", "SELECT t::text FROM mcp_approve.told t").join("\n");
    assert!(!told.contains(plain) && whole.contains(plain));
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

#[test]
fn a_secret_that_is_its_calls_own_ticket_leaves_no_card_behind() {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &[]);
    let operator = Desk::open(&postgres.url("mara"));
    let mut deny = |title: &str, secret: &str| -> String {
        let id = machine.call(&json!({ "title": title, "password": secret }));
        let card = operator.card(title);
        operator.say("ada", &card.deny("mara@example.com", &mara(), ""));
        assert!(machine.answer(id).contains("Denied by the operator"));
        operator.settled(card.ticket());
        card.ticket().to_owned()
    };
    let first = deny("milk", "x");
    let (name, number) = first.rsplit_once('-').unwrap();
    let next = format!("{name}-{}", number.parse::<u32>().unwrap() + 1);
    assert_eq!(deny("eggs", &next), next);
}

#[test]
fn a_card_with_very_many_secrets_holds_up_no_other() {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &[]);
    let operator = Desk::open(&postgres.url("mara"));
    let secrets: Vec<String> = (0..20_000).map(|number| format!("aaa{number}")).collect();
    machine.call(&json!({ "title": "many", "password": secrets, "list": vec!["x"; 20_000] }));
    machine.call(&json!({ "title": "milk" }));
    assert!(!operator.card("milk").ticket().is_empty());
}
