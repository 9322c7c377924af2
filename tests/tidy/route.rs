//! The way of a call through the code, as `src/lib.rs` tells it: every hand-over is listed here, and each is there.
//!
//! A hand-over is where the call, what was decided on it, or what is recorded, shown or sent of it goes on in another file; the
//! return to the caller is none. A file is followed to the door of its layer: how SQL is read is behavior's own way. What only
//! measures (a time, a name, a table of the gate's own) is left out. `cargo test --test tables route -- --nocapture` prints both
//! lists.

use std::collections::BTreeSet;

use super::{code, root, sources};

/// How many files an asked call may cross, and with how many hand-overs; and the same for one that passes unasked.
const ASKED_MOST: (usize, usize) = (27, 40);
const PURE_MOST: (usize, usize) = (20, 24);

/// What the loop hands a call to only sometimes.
const ASIDE: [&str; 2] = ["end", "signed"];

/// A hand-over: the file and the words in it that hand on, the file and the words that take over. Effects and events name
/// themselves on both sides.
type Handover = (&'static str, &'static str, &'static str, &'static str);

/// From the host's pipe to a judgement.
const ARRIVAL: [Handover; 11] = [
    ("interpose/wrapper", "cutter.feed(", "wire/message", "fn feed<"),
    ("interpose/wrapper", "self.gate.step(", "gate", "fn step("),
    ("gate", "self.on_host_line(", "gate/lines/host", "fn on_host_line("),
    ("gate/lines/host", "message::sort(", "wire/message", "fn sort("),
    ("gate/lines/host", "lifecycle.call(", "mcp/lifecycle", "fn call("),
    ("gate/lines/host", "self.drive(", "gate/call/drive", "fn drive("),
    ("gate/call/drive", "judge::describe(", "gate/call/judge", "fn describe("),
    ("gate/call/judge", "catalog.find(", "gate/server/catalog", "fn find("),
    ("gate/call/judge", "conclude::of_described_call(", "behavior/conclude", "fn of_described_call("),
    ("gate/call/judge", "decide::decide_at(", "policy/decide", "fn decide_at("),
    ("gate/call/judge", "scope.admit(", "policy/scope", "fn admit("),
];

/// The shell looks at what the call would touch, and it is judged again.
const LOOK: [Handover; 6] = [
    ("gate/call/drive", "look::to_judge(", "gate/call/look", "fn to_judge("),
    ("gate/call/look", "Effect::LookUp", "interpose/wrapper", "Effect::LookUp"),
    ("interpose/wrapper", "self.facts.look(", "interpose/facts", "fn look("),
    ("interpose/facts", "Event::Facts", "gate", "Event::Facts"),
    ("gate", "self.on_facts(", "gate/call/drive", "fn on_facts("),
    ("gate/call/drive", "look::found(", "gate/call/look", "fn found("),
];

/// The operator is asked, and approves.
const QUESTION: [Handover; 10] = [
    ("gate/call/drive", "entries::asked(", "gate/held/entries", "fn asked("),
    ("gate/call/drive", "answer::give_task(", "gate/waiting/answer", "fn give_task("),
    ("gate/call/drive", "card::snapshot(", "gate/call/card", "fn snapshot("),
    ("gate/call/drive", "Effect::Ask", "interpose/wrapper", "Effect::Ask"),
    ("interpose/wrapper", "self.consoles.ask(", "interpose/consoles", "fn ask("),
    ("interpose/consoles", "FromWrapper::Held", "console/view/card", "fn panel("),
    ("interpose/consoles", "Event::Decided", "interpose/wrapper", "self.step("),
    ("interpose/wrapper", "self.gate.step(", "gate", "Event::Decided"),
    ("gate", "self.on_decided(", "gate/call/drive", "fn on_decided("),
    ("gate/call/drive", "ask::take(", "gate/call/ask", "fn take("),
];

/// The decision is recorded, and the call runs.
const RUN: [Handover; 9] = [
    ("gate/call/drive", "entries::decision(", "gate/held/entries", "fn decision("),
    ("gate/call/drive", "self.out.record(", "interpose/wrapper", "Effect::Record"),
    ("interpose/wrapper", "self.scribe.record(", "interpose/scribe", "fn record("),
    ("interpose/wrapper", "Event::Recorded", "gate", "Event::Recorded"),
    ("gate", "self.on_recorded(", "gate/call/drive", "fn on_recorded("),
    ("gate/call/drive", "forward::mint(", "gate/call/forward", "fn mint("),
    ("gate/call/forward", "GuardrailToken::mint(", "gate/data/token", "fn mint("),
    ("gate/call/forward", "flights.insert(", "gate/server/flight", "fn insert("),
    ("interpose/wrapper", "self.server.forward(", "interpose/server", "fn forward("),
];

/// The server's answer reaches the host.
const ANSWER: [Handover; 4] = [
    ("interpose/wrapper", "self.gate.step(", "gate", "Event::ServerLine"),
    ("gate", "self.on_server_line(", "gate/lines/server", "fn on_server_line("),
    ("gate/lines/server", "answer::pass(", "gate/lines/answer", "fn pass("),
    ("interpose/wrapper", "self.host.write(", "interpose/host", "fn write("),
];

fn path(stop: &str) -> String {
    let one = format!("{stop}.rs");
    if root().join("src").join(&one).is_file() { one } else { format!("{stop}/mod.rs") }
}

/// Prints a way and counts its files and hand-overs.
fn walk(name: &str, parts: &[&[Handover]], most: (usize, usize)) -> BTreeSet<&'static str> {
    let mut files = BTreeSet::new();
    let handovers: Vec<&Handover> = parts.iter().flat_map(|part| part.iter()).collect();
    for (nth, (from, hands, to, takes)) in handovers.iter().enumerate() {
        println!("{name} {:>2}. {from} {hands} → {to} {takes}", nth + 1);
        for (stop, words) in [(from, hands), (to, takes)] {
            let text = std::fs::read_to_string(root().join("src").join(path(stop)));
            let text = text.unwrap_or_else(|_| panic!("{stop} is no file"));
            assert!(code(&text).contains(words), "{stop} has no `{words}`: tell the way of a call as it is");
            files.insert(*stop);
        }
    }
    let reached = (files.len(), handovers.len());
    println!("{name}: {} files, {} hand-overs", reached.0, reached.1);
    assert!(
        reached.0 <= most.0 && reached.1 <= most.1,
        "{name} crosses {reached:?} files and hand-overs; at most {most:?}"
    );
    files
}

#[test]
fn the_route_through_the_code_is_true() {
    walk("unasked", &[&ARRIVAL, &RUN, &ANSWER], PURE_MOST);
    let files = walk("asked", &[&ARRIVAL, &LOOK, &QUESTION, &RUN, &ANSWER], ASKED_MOST);

    // The loop hands a call to nothing else.
    let drive = std::fs::read_to_string(root().join("src/gate/call/drive.rs")).expect("the loop");
    let (_, body) = drive.split_once("fn drive(").expect("a loop");
    let (body, _) = body.split_once("\n    }\n").expect("the end of the loop");
    let steps = body.split("::").map(|part| part.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next());
    for step in steps.flatten().filter(|step| step.starts_with(|c: char| c.is_ascii_lowercase())) {
        let is_listed = files.iter().any(|file| file.rsplit('/').next() == Some(step));
        assert!(is_listed || ASIDE.contains(&step), "the loop hands a call to {step}, which the route leaves out");
    }

    // `src/lib.rs` tells exactly this way.
    let map = std::fs::read_to_string(root().join("src/lib.rs")).expect("src/lib.rs");
    let told =
        map.split("//! # Twenty minutes").nth(1).and_then(|rest| rest.split("\npub mod").next()).unwrap_or_default();
    let (told, aside) = told.split_once("//! Beside this way").expect("what is beside the way");
    let told: BTreeSet<String> = links(told).into_iter().map(|link| link.replace("::", "/")).collect();
    let known: BTreeSet<String> = sources().into_iter().map(|(name, _)| name).collect();
    for stop in told.iter().cloned().chain(links(aside).into_iter().map(|link| link.replace("::", "/"))) {
        assert!(known.contains(&path(&stop)), "src/lib.rs names {stop}, which is no file");
    }
    // The stages and the values between them are no stops.
    let told: BTreeSet<&str> = told.iter().map(String::as_str).filter(|stop| *stop != "gate/held").collect();
    assert_eq!(told, files, "the route in src/lib.rs is not the way of a call");

    // A call's own files come as it lives.
    let order: Vec<String> = std::fs::read_to_string(root().join("src/gate/call/mod.rs"))
        .expect("the call's files")
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .take(1)
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .map(|stage| format!("gate::call::{stage}"))
        .collect();
    assert!(order.len() >= 5, "gate/call/mod.rs no longer says in what order a call lives");
    let stops = links(&map);
    let walked: Vec<&String> = stops.iter().filter(|stop| order.contains(stop)).collect();
    assert_eq!(walked, order.iter().collect::<Vec<_>>(), "the route leaves the order that a call lives in");
}

/// The modules that a text links to: `[`a::b`]`.
fn links(text: &str) -> Vec<String> {
    text.split("[`").skip(1).filter_map(|rest| rest.split_once("`]")).map(|(path, _)| path.to_owned()).collect()
}
