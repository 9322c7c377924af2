//! The database of pins: versions that rise, programs that change, reviews that name what was looked at.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::slice::from_ref;
use std::time::{Duration, Instant};

use mcp_approve::behavior::conclude::Trust;
use mcp_approve::behavior::hazards::HazardKind;
use mcp_approve::behavior::identity::Identity;
use mcp_approve::gate::data::event::Event;
use mcp_approve::gate::data::pin::PinUpdate;
use mcp_approve::gate::data::pin::Pinning;
use mcp_approve::gate::data::pin::{PinState, Pins};
use mcp_approve::home::places::Places;
use mcp_approve::interpose::pin_writer::PinWriter;
use mcp_approve::interpose::threads::{FromThreads, ToLoop};
use mcp_approve::interpose::watch::{Files, Watch};
use mcp_approve::mcp::tool::Tool;
use mcp_approve::pins::reading::Applied;
use mcp_approve::pins::{Launch, PinStore};
use serde_json::json;

fn launch(name: &str, words: &[&str]) -> Launch {
    let command: Vec<OsString> = words.iter().map(Into::into).collect();
    Launch::new(name, &command, None, None)
}

fn tool(name: &str, description: &str) -> Tool {
    Tool::read(json!({ "name": name, "description": description })).unwrap()
}

/// A session of one server: greets, sees these tools, keeps what is news.
fn session(path: &Path, launch: &Launch, tools: &[Tool], now: i64) -> (Pins, Vec<PinState>) {
    let mut store = PinStore::open(path).unwrap();
    let (_, program) = store.greet(launch, now).unwrap();
    store.note(launch, &program, Trust::Corroborate, now).unwrap();
    let (mut pins, _) = store.greet(launch, now).unwrap();
    let standings = tools.iter().map(|tool| see(&mut store, launch, &mut pins, tool, now)).collect();
    (store.greet(launch, now).unwrap().0, standings)
}

fn see(store: &mut PinStore, launch: &Launch, pins: &mut Pins, tool: &Tool, now: i64) -> PinState {
    let (pin_state, kind) = pins.note(now, tool, tool.digest(), Trust::Corroborate);
    if let Some(kind) = kind {
        let pin = pins.tools[&tool.name].clone();
        store.keep(launch, &PinUpdate { tool: tool.clone(), pin, pin_state, kind }, now).unwrap();
    }
    pin_state
}

#[test]
fn a_version_rises_with_every_change_and_trust_stays_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (path, launch) = (folder.path().join("pins.db"), launch("s", &["server"]));
    let (one, two) = (tool("t", "Reads."), tool("t", "Sends."));
    for (at, (seen, version, word)) in
        [(&one, 1, "trusted"), (&one, 1, "trusted"), (&two, 2, "changed"), (&two, 2, "changed"), (&one, 3, "trusted")]
            .into_iter()
            .enumerate()
    {
        let (pins, standings) = session(&path, &launch, from_ref(seen), 1_000 + i64::try_from(at).unwrap());
        let pin = &pins.tools["t"];
        assert_eq!((pin.version, standings[0].word()), (version, word), "session {at}");
        assert_eq!((pin.trusted, pin.latest), (Some(one.digest()), seen.digest()), "session {at}");
        assert_eq!(pin.first_seen, 1_000);
    }
}

#[test]
fn a_session_that_remembers_less_takes_no_trust_from_another() {
    let folder = tempfile::tempdir().unwrap();
    let (path, launch) = (folder.path().join("pins.db"), launch("s", &["server"]));
    let (one, two) = (tool("t", "Reads."), tool("t", "Sends."));
    let mut store = PinStore::open(&path).unwrap();
    let trusted = |store: &PinStore| store.tools().unwrap().remove(0).pin.trusted;
    // Two first sessions at once: the first one's definition is the trusted one.
    let mut stale = store.greet(&launch, 1).unwrap().0;
    session(&path, &launch, from_ref(&one), 1);
    see(&mut store, &launch, &mut stale, &two, 2);
    assert_eq!(trusted(&store), Some(one.digest()));
    assert_eq!(store.greet(&launch, 3).unwrap().0.note(3, &two, two.digest(), Trust::Corroborate).0.word(), "changed");
    // An operator accepts the other, while a session still has the first.
    let mut stale = store.greet(&launch, 4).unwrap().0;
    let shown = store.tools().unwrap().remove(0);
    assert_eq!(store.accept(&shown).unwrap(), Applied::Done);
    assert_eq!(see(&mut store, &launch, &mut stale, &one, 5), PinState::Trusted, "by what it remembers");
    assert_eq!(trusted(&store), Some(two.digest()));
}

#[test]
fn a_review_settles_what_was_shown_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (path, launch) = (folder.path().join("pins.db"), launch("s", &["server"]));
    let (one, two, three) = (tool("t", "Reads."), tool("t", "Sends."), tool("t", "Deletes."));
    session(&path, &launch, from_ref(&one), 1);
    session(&path, &launch, from_ref(&two), 2);
    let mut store = PinStore::open(&path).unwrap();
    let shown = store.tools().unwrap().remove(0);
    session(&path, &launch, from_ref(&three), 3);
    assert_eq!(store.accept(&shown).unwrap(), Applied::Outdated, "it changed while the operator read");
    assert_eq!(store.tools().unwrap()[0].pin_state.word(), "changed");

    let shown = store.tools().unwrap().remove(0);
    assert_eq!(store.refuse(&shown).unwrap(), Applied::Done);
    assert_eq!(store.tools().unwrap()[0].pin_state, PinState::Refused);
    assert_eq!(session(&path, &launch, &[one], 4).1, [PinState::Trusted], "what was trusted before is so still");

    session(&path, &launch, from_ref(&two), 5);
    let shown = store.tools().unwrap().remove(0);
    assert_eq!(store.accept(&shown).unwrap(), Applied::Done);
    assert_eq!(session(&path, &launch, &[two], 6).1, [PinState::Trusted]);
    assert_eq!(store.definition(three.digest()).unwrap(), Some(three.definition.to_string()), "old ones are kept");
}

#[test]
fn what_is_said_of_a_definition_is_not_said_of_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let (path, launch) = (folder.path().join("pins.db"), launch("s", &["server"]));
    let (one, two) = (tool("t", "Reads."), tool("t", "Deletes."));
    let print = launch.fingerprint.to_string();
    let said = |says| Pinning { tool: "t".into(), definition: one.digest(), is: Identity::UNKNOWN, says };
    session(&path, &launch, from_ref(&one), 1);
    let mut store = PinStore::open(&path).unwrap();
    let reads: Identity = "PURE|READ|DATA".parse().unwrap();
    assert_eq!(store.pin_tool(&print, &said(reads)).unwrap(), Applied::Done);
    let pin = store.tools().unwrap().remove(0).pin;
    assert_eq!(pin.said, Some(reads));

    session(&path, &launch, from_ref(&two), 2);
    assert_eq!(store.pin_tool(&print, &said(reads)).unwrap(), Applied::Outdated, "it was shown another");
    let changed = store.tools().unwrap().remove(0);
    assert_eq!(changed.pin.said_of(&two.digest()), None);
    assert_eq!(store.accept(&changed).unwrap(), Applied::Done);
    let accepted = store.tools().unwrap().remove(0).pin;
    assert_eq!(accepted.said_of(&two.digest()), None, "nor once accepted");
    assert_eq!(store.put_back(&changed, &changed.pin).unwrap(), Applied::Done);
    assert_eq!(store.tools().unwrap()[0].pin, changed.pin, "all of it is taken back");
}

#[test]
fn a_tool_of_a_later_session_is_new_until_it_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let (path, launch) = (folder.path().join("pins.db"), launch("s", &["server"]));
    let (one, two) = (tool("one", "Reads."), tool("two", "Reads."));
    assert_eq!(session(&path, &launch, from_ref(&one), 1).1, [PinState::Trusted]);
    let three = tool("three", "Reads.");
    assert_eq!(
        session(&path, &launch, &[one, three], 59_000).1,
        [PinState::Trusted; 2],
        "the same start, another time"
    );
    assert_eq!(session(&path, &launch, from_ref(&two), 61_000).1, [PinState::New]);
    assert_eq!(session(&path, &launch, from_ref(&two), 62_000).1, [PinState::New], "it stays so");
    let mut store = PinStore::open(&path).unwrap();
    let known = store.tools().unwrap().into_iter().find(|known| known.tool.name == "two").unwrap();
    assert!(known.behavior.hazards.iter().any(|hazard| hazard.kind == HazardKind::NewDefinition));
    let grown = store.grown(&known).unwrap().map(|grown| grown.words());
    assert_eq!(grown.as_deref(), Some("new capability: two() -> Value"));
    assert_eq!(store.accept(&known).unwrap(), Applied::Done);
    assert_eq!(session(&path, &launch, &[two], 63_000).1, [PinState::Trusted]);
}

#[test]
fn pins_of_the_version_before_are_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let (path, launch) = (folder.path().join("pins.db"), launch("s", &["server"]));
    let one = tool("t", "Reads.");
    session(&path, &launch, from_ref(&one), 1);
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(
        "DROP TABLE agreed; ALTER TABLE tool DROP COLUMN added;
        ALTER TABLE server DROP COLUMN words; CREATE VIRTUAL TABLE words USING fts5(name); PRAGMA user_version = 1",
    )
    .unwrap();
    drop(db);
    assert_eq!(session(&path, &launch, from_ref(&one), 2).1, [PinState::Trusted]);
    assert_eq!(PinStore::open(&path).unwrap().tools().unwrap().len(), 1);
}

#[test]
fn a_program_or_command_that_changes_waits_for_its_review() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = (folder.path().join("pins.db"), folder.path().join("server"));
    let write = |text: &str| {
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    };
    let word = program.to_str().unwrap();
    let (first, other) = (launch("s", &[word]), launch("s", &[word, "--more"]));
    let change = |launch: &Launch| session(&path, launch, &[], 1).0.changed;
    write("one");
    assert_eq!((change(&first), change(&first)), (None, None));
    assert!(change(&other).unwrap().contains("another command"));
    assert_eq!(change(&launch("t", &[word, "--more"])), None, "the first command of its name");
    write("two");
    assert!(change(&first).unwrap().contains(word));
    assert!(change(&other).is_some());

    let mut store = PinStore::open(&path).unwrap();
    for server in store.servers().unwrap().into_iter().filter(|server| server.change().is_some()) {
        assert_eq!(store.accept_server(&server).unwrap(), Applied::Done);
    }
    assert_eq!((change(&first), change(&other)), (None, None));
}

#[test]
fn a_command_line_is_remembered_once_its_server_has_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pins.db");
    let greet = |launch: &Launch| PinStore::open(&path).unwrap().greet(launch, 1).unwrap().0.changed;
    let (typo, meant) = (launch("s", &["servre"]), launch("s", &["server"]));
    assert_eq!(greet(&typo), None, "it is the first one of its name");
    assert_eq!(PinStore::open(&path).unwrap().servers().unwrap(), []);
    session(&path, &meant, &[], 2);
    assert!(greet(&typo).is_some_and(|why| why.contains("another command")));
    assert_eq!(greet(&meant), None, "what never ran has no trust to give");
}

#[test]
fn an_argument_that_was_added_is_shown_beside_the_old_ones() {
    use mcp_approve::pins::diff::Argument::{Added, Gone, Same};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pins.db");
    session(&path, &launch("s", &["npx", "files", "--token", "hunter2", "/home/ada"]), &[], 1);
    session(&path, &launch("s", &["npx", "files", "--token", "hunter3", "/home/bob", "/"]), &[], 2);
    let (pins, _) = session(&path, &launch("s", &["npx", "files", "--token", "hunter3", "/home/bob", "/"]), &[], 3);
    assert!(pins.changed.is_some_and(|why| why.contains("(- /home/ada, + /home/bob, + /)")));
    let servers = PinStore::open(&path).unwrap().servers().unwrap();
    let changed = servers.iter().find(|server| server.change().is_some()).unwrap();
    let (same, gone, added) =
        (|text: &str| Same(text.into()), Gone("/home/ada".into()), |text: &str| Added(text.into()));
    assert_eq!(
        changed.arguments(),
        [same("npx"), same("files"), same("--token"), same("(hidden)"), gone, added("/home/bob"), added("/")]
    );
}

#[test]
fn a_definition_that_says_the_same_in_another_order_or_on_another_day_is_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let (path, launch) = (folder.path().join("pins.db"), launch("s", &["server"]));
    let on = |day: &str, of: [&str; 2]| {
        let schema = json!({ "required": of, "properties": { "path": { "type": "string" } } });
        let description = format!("Reads. Today is {day}.");
        Tool::read(json!({ "name": "t", "description": description, "inputSchema": schema })).unwrap()
    };
    let (first, next) = (on("2026-11-21", ["a", "b"]), on("2026-11-22", ["b", "a"]));
    session(&path, &launch, from_ref(&first), 1);
    let mut store = PinStore::open(&path).unwrap();
    let known = store.tools().unwrap().remove(0);
    assert_eq!(store.pin(&known, "PURE|READ|CONTENT".parse().unwrap()).unwrap(), Applied::Done);
    let (pins, states) = session(&path, &launch, from_ref(&next), 2);
    assert_eq!(states, [PinState::Trusted]);
    assert_eq!((pins.tools["t"].trusted, pins.tools["t"].version), (Some(next.digest()), 2));
    assert!(pins.tools["t"].said_of(&next.digest()).is_some(), "and what the operator said of it still counts");
    // What was refused stays so, and another meaning is a change.
    let known = store.tools().unwrap().remove(0);
    assert_eq!(store.refuse(&known).unwrap(), Applied::Done);
    assert_eq!(session(&path, &launch, from_ref(&next), 3).1, [PinState::Refused]);
    let wider = on("2026-11-22", ["b", "c"]);
    assert!(matches!(session(&path, &launch, &[wider], 4).1[..], [PinState::Unreviewed]));
}

#[test]
fn names_on_other_servers_come_with_the_pins_and_ones_own_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pins.db");
    session(&path, &launch("notes", &["notes"]), &[tool("read_fi1e", "Reads.")], 1);
    let (pins, _) = session(&path, &launch("files", &["files"]), &[tool("read_file", "Reads.")], 2);
    assert!(pins.look_alike("read_file").is_some_and(|hazard| hazard.what.contains("read_fi1e of the server notes")));
    let (pins, _) = session(&path, &launch("files", &["files", "again"]), &[tool("read_file", "Reads.")], 3);
    assert_eq!(pins.others.values().flatten().count(), 1, "another command of the same name is no other server");
    let store = PinStore::open(&path).unwrap();
    let marked = store.tools().unwrap().into_iter().filter(|known| !known.behavior.hazards.is_empty());
    let marked: Vec<String> = marked.map(|known| format!("{} {}", known.server.name, known.tool.name)).collect();
    assert_eq!(marked, ["files read_file", "files read_file"], "the later of two deceives");
}

#[test]
fn a_file_that_is_not_ours_alone_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pins.db");
    drop(PinStore::open(&path).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(PinStore::open(&path).unwrap_err().to_string().contains("others than you"));
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(PinStore::open(&link).unwrap_err().to_string().contains("it is a link"));
}

#[test]
fn a_wrapper_that_starts_while_others_write_reads_its_pins_and_keeps_its_server_once_they_are_done() {
    let folder = tempfile::tempdir().unwrap();
    let places = Places::under(folder.path()).unwrap();
    places.create_state().unwrap();
    let path = places.pins_db();
    drop(PinStore::open(&path).unwrap());
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let until = Instant::now() + Duration::from_secs(60);
    let mut pins = || loop {
        match told.try_recv() {
            Ok(FromThreads::Event(Event::Reviewed(pins))) => return pins,
            Ok(FromThreads::Watched(_)) => {}
            Ok(what) => panic!("{what:?}"),
            Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
            Err(error) => panic!("{error}"),
        }
    };
    let (start, watcher) = ((places, folder.path().join("audit.db")), Watch::default().watcher(Files::Pins));
    let (_, writer) = PinWriter::start(start, launch("s", &["server"]), Trust::Corroborate, watcher, ToLoop(tell));
    assert_eq!(pins().changed, None, "a server that is new is trusted as it is");
    writer.note_server();
    // Longer than SQLite itself waits for the other.
    std::thread::sleep(Duration::from_millis(2_400));
    assert!(PinStore::open(&path).unwrap().servers().unwrap().is_empty());
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(pins().changed, None);
    assert_eq!(PinStore::open(&path).unwrap().servers().unwrap().len(), 1);
}

#[test]
fn each_difference_has_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (path, launch) = (folder.path().join("pins.db"), launch("s", &["server"]));
    let read = |definition| Tool::read(definition).unwrap();
    let before =
        read(json!({ "name": "t", "description": "Reads.", "annotations": { "a/b": true, "gone": 1 }, "e": [1] }));
    let after =
        read(json!({ "name": "t", "description": "Sends.", "annotations": { "a/b": false }, "e": [1, 2], "new": {} }));
    let found = |seen: &Tool| {
        session(&path, &launch, from_ref(seen), 1);
        let store = PinStore::open(&path).unwrap();
        let changes = store.changes(&store.tools().unwrap()[0]).unwrap().into_iter();
        let text = |text: Option<String>| text.unwrap_or_default();
        changes.map(|one| format!("{} {} {}", one.place, text(one.before), text(one.after))).collect::<Vec<_>>()
    };
    assert_eq!(found(&before), [""; 0]);
    assert_eq!(
        found(&after),
        [
            "/description \"Reads.\" \"Sends.\"", "/annotations/a~1b true false", "/annotations/gone 1 ",
            "/e [1] [1,2]", "/new  {}"
        ]
    );
}
