//! Wrapper and console meet: attaching, speaking, parting, and what stands in the way. Squatters have their own table.
//!
//! A wrapper to be killed is this test binary itself, run again with the test that is ignored otherwise.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use mcp_approve::audit::record::{By, VerdictWord};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::ContentType;
use mcp_approve::gate::data::snapshot::{Check, CheckState, Safe, Snapshot};
use mcp_approve::link::LinkError;
use mcp_approve::link::client::{ClientEvent, Clients, Me};
use mcp_approve::link::folder::{NameClaim, prepare};
use mcp_approve::link::message::{
    Activity, ActivityKind, Direction, FromConsole, FromWrapper, OperatorVerdict, PROTOCOL, Settled, Status, Wrapper,
};
use mcp_approve::link::server::{ConsoleId, FromConsoles, Rejection, Server};
use mcp_approve::policy::decide::Ruling;
use mcp_approve::policy::rule::Decision;
use mcp_approve::wire::digest::Digest;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

mod newcomers;

const DEADLINE: Duration = Duration::from_secs(20);

/// A runtime folder that goes with the test.
struct Place {
    _home: tempfile::TempDir,
    run: PathBuf,
}

fn place() -> Place {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("state/run");
    prepare(&run).unwrap();
    Place { _home: home, run }
}

fn wrapper(name: &str, session: &str) -> Wrapper {
    Wrapper {
        server: name.to_owned(),
        session: session.to_owned(),
        pid: std::process::id(),
        command: vec!["npx".to_owned(), "some-server".to_owned()],
        started: 1_795_000_000_000,
        assurance: "L0".to_owned(),
        observe: false,
    }
}

/// One wrapper's side.
struct House {
    server: Server,
    claim: NameClaim,
    consoles: UnboundedReceiver<FromConsoles>,
}

fn open(run: &Path, name: &str, session: &str) -> House {
    let claim = NameClaim::claim(run, name).unwrap();
    let (on, consoles) = unbounded_channel();
    let server = Server::start(run, &claim, wrapper(claim.name(), session), on).unwrap();
    House { server, claim, consoles }
}

impl House {
    async fn next(&mut self) -> FromConsoles {
        timeout(DEADLINE, self.consoles.recv()).await.expect("a console says something").unwrap()
    }

    async fn attached(&mut self) -> ConsoleId {
        match self.next().await {
            FromConsoles::Attached { console, .. } => console,
            other => panic!("{other:?}"),
        }
    }

    async fn detached(&mut self) -> ConsoleId {
        match self.next().await {
            FromConsoles::Detached { console } => console,
            other => panic!("{other:?}"),
        }
    }

    async fn rejected(&mut self) -> Rejection {
        match self.next().await {
            FromConsoles::Rejected { why } => why,
            other => panic!("{other:?}"),
        }
    }
}

/// One console, as the product has it.
struct Console {
    clients: Clients,
    events: UnboundedReceiver<ClientEvent>,
}

fn console(run: &Path, operator: &str) -> Console {
    let me = Me { operator: operator.to_owned(), version: "0.1.0".to_owned(), pid: std::process::id() };
    let (tell, events) = unbounded_channel();
    let clients = Clients::watch(run, me, move |event| drop(tell.send(event))).unwrap();
    Console { clients, events }
}

impl Console {
    async fn next(&mut self) -> ClientEvent {
        timeout(DEADLINE, self.events.recv()).await.expect("something happens").unwrap()
    }

    async fn connected(&mut self) -> Wrapper {
        match self.next().await {
            ClientEvent::Connected(wrapper) => wrapper,
            other => panic!("{other:?}"),
        }
    }

    async fn hears(&mut self) -> FromWrapper {
        match self.next().await {
            ClientEvent::Said { message, .. } => message,
            other => panic!("{other:?}"),
        }
    }

    async fn trouble(&mut self) -> String {
        match self.next().await {
            ClientEvent::Trouble(what) => what,
            other => panic!("{other:?}"),
        }
    }
}

/// A console that does as the test says, line by line.
struct Raw(BufReader<UnixStream>);

impl Raw {
    async fn connect(house: &House) -> Self {
        let stream = UnixStream::connect(house.claim.socket()).await.unwrap();
        let mut raw = Self(BufReader::new(stream));
        assert!(raw.line().await.starts_with(r#"{"say":"hello","protocol":1,"#));
        raw
    }

    async fn say(&mut self, line: &str) {
        self.0.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn greet(&mut self, protocol: u32) {
        self.say(&format!(r#"{{"say":"hello","protocol":{protocol},"version":"9.9","operator":"eve","pid":1}}"#)).await;
    }

    /// The next line; empty at the end.
    async fn line(&mut self) -> String {
        let mut line = String::new();
        timeout(DEADLINE, self.0.read_line(&mut line)).await.expect("a line").unwrap();
        line
    }
}

fn within(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

fn activity(what: &str) -> FromWrapper {
    FromWrapper::Activity(Activity {
        time: 1,
        direction: Direction::ToServer,
        kind: ActivityKind::Call,
        what: what.to_owned(),
        ticket: Some("filesystem-1".to_owned()),
        badge: None,
        ruling: Some(Decision::Allow),
        verdict: Some(VerdictWord::Approve),
        by: Some(By::Rule),
        rule: Some("r1".to_owned()),
        bytes: u64::MAX,
        latency_us: Some(17),
        failed: false,
        reason: String::new(),
        who: String::new(),
    })
}

fn settled(ticket: &str) -> FromWrapper {
    FromWrapper::Settled(Settled {
        ticket: ticket.to_owned(),
        time: 2,
        verdict: Some(VerdictWord::Deny),
        by: By::Operator,
        who: "ann at console-1".to_owned(),
    })
}

fn held(arguments: &str) -> FromWrapper {
    let check = |state| Check { state, what: "said".to_owned() };
    FromWrapper::Held {
        call: Box::new(Snapshot {
            ticket: "filesystem-1".to_owned(),
            server: "filesystem".to_owned(),
            tool: "write\u{1b}[2J_file".to_owned(),
            title: None,
            description: Some("\u{202e}\u{0}\n".to_owned()),
            signature: None,
            identity: Identity::UNKNOWN,
            content_type: ContentType::Text,
            evidence: Vec::new(),
            disputed: true,
            hazards: Vec::new(),
            effect: "writes".to_owned(),
            about: None,
            ruling: Ruling { decision: Decision::Ask, rule: None, reason: "it MUTATES".to_owned() },
            near: Vec::new(),
            safe: Safe {
                capability: check(CheckState::Holds),
                guardrail: check(CheckState::Pending),
                session: check(CheckState::Fails),
            },
            arguments: arguments.to_owned(),
            undeclared: vec!["x".to_owned()],
            digest: Digest::of(b"line"),
            bytes: 17,
            arrived: -1,
            deadline: Some(i64::MAX),
            host: Some("a host".to_owned()),
            danger: None,
            edited_from: None,
            original_arguments: None,
            caller: Vec::new(),
            facts: Vec::new(),
            asked_again: None,
        }),
    }
}

fn approve(ticket: &str) -> FromConsole {
    FromConsole::Decide {
        ticket: ticket.to_owned(),
        digest: Digest::of(b"line"),
        verdict: OperatorVerdict::Approve { unread: false },
    }
}

#[test]
fn a_console_finds_every_wrapper_and_both_learn_who_the_other_is() {
    within(async {
        let place = place();
        let mut early = open(&place.run, "filesystem", "s1");
        let mut ann = console(&place.run, "ann");
        assert_eq!(ann.connected().await, wrapper("filesystem", "s1"));
        match early.next().await {
            FromConsoles::Attached { operator, version, pid, .. } => {
                assert_eq!((operator.as_str(), version.as_str(), pid), ("ann", "0.1.0", std::process::id()));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(early.server.attached(), 1);
        let mut late = open(&place.run, "git", "s2");
        assert_eq!(ann.connected().await, wrapper("git", "s2"));
        late.attached().await;
        drop(late);
        assert_eq!(ann.next().await, ClientEvent::Gone { session: "s2".to_owned() });
        drop(ann);
        early.detached().await;
        assert_eq!(early.server.attached(), 0);
    });
}

#[test]
fn the_socket_is_ours_alone_and_goes_with_its_wrapper() {
    within(async {
        let place = place();
        let house = open(&place.run, "filesystem", "s1");
        let found = fs::symlink_metadata(house.claim.socket()).unwrap();
        assert!(found.file_type().is_socket());
        assert_eq!(found.mode() & 0o777, 0o600);
        let socket = house.claim.socket().to_owned();
        drop(house);
        assert!(!socket.exists());
        // A new one in the same place is not ours to remove.
        let house = open(&place.run, "filesystem", "s1");
        fs::remove_file(&socket).unwrap();
        let _squatter = UnixListener::bind(&socket).unwrap();
        drop(house);
        assert!(socket.exists());
    });
}

#[test]
fn what_is_said_arrives_as_it_was() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut ann = console(&place.run, "ann");
        ann.connected().await;
        let id = house.attached().await;
        let said = [
            held(r#"{"n":1e400,"big":123456789012345678901234567890,"z":"\u0000"}"#),
            settled("filesystem-1"),
            activity("tools/list"),
            FromWrapper::Status(Status { waiting: 3, banner: Some("broken".to_owned()), ..Status::default() }),
            FromWrapper::Refused { ticket: "t".to_owned(), why: "late".to_owned() },
        ];
        for message in &said {
            house.server.send(id, message).unwrap();
            assert_eq!(&ann.hears().await, message);
        }
        let answers = [
            approve("filesystem-1"),
            FromConsole::Decide {
                ticket: "t".to_owned(),
                digest: Digest::of(b""),
                verdict: OperatorVerdict::Deny { reason: "no\nno".to_owned() },
            },
            FromConsole::Edit { ticket: "t".to_owned(), digest: Digest::of(b""), arguments: "{}".repeat(1 << 20) },
        ];
        for answer in answers {
            ann.clients.send("s1", &answer).unwrap();
            match house.next().await {
                FromConsoles::Said { console, message } => {
                    assert_eq!((console, message), (id, answer));
                }
                other => panic!("{other:?}"),
            }
        }
    });
}

#[test]
fn two_consoles_hear_the_same_and_speak_for_themselves() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        // Nobody is there: nothing to do.
        house.server.broadcast(&settled("nobody")).unwrap();
        let mut ann = console(&place.run, "ann");
        ann.connected().await;
        let first = house.attached().await;
        let mut bob = console(&place.run, "bob");
        bob.connected().await;
        let second = house.attached().await;
        assert_ne!(first, second);
        house.server.broadcast(&settled("both")).unwrap();
        house.server.send(second, &settled("bob")).unwrap();
        assert_eq!((ann.hears().await, bob.hears().await), (settled("both"), settled("both")));
        assert_eq!(bob.hears().await, settled("bob"));
        bob.clients.send("s1", &approve("t")).unwrap();
        assert!(matches!(house.next().await, FromConsoles::Said { console, .. } if console == second));
        drop(bob);
        assert_eq!(house.detached().await, second);
        house.server.broadcast(&settled("ann")).unwrap();
        assert_eq!(ann.hears().await, settled("ann"));
    });
}

#[test]
fn the_last_words_of_a_wrapper_arrive() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut ann = console(&place.run, "ann");
        ann.connected().await;
        house.attached().await;
        house.server.broadcast(&settled("last")).unwrap();
        house.server.close().await;
        assert_eq!(ann.hears().await, settled("last"));
        assert_eq!(ann.next().await, ClientEvent::Gone { session: "s1".to_owned() });
    });
}

#[test]
fn a_console_that_does_not_read_loses_activity_and_nothing_else() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut slow = Raw::connect(&house).await;
        slow.greet(PROTOCOL).await;
        house.attached().await;
        let long = "x".repeat(10_000);
        for _ in 0..1000 {
            house.server.broadcast(&activity(&long)).unwrap();
        }
        house.server.broadcast(&settled("needed")).unwrap();
        let mut seen = 0;
        while slow.line().await.contains("activity") {
            seen += 1;
        }
        assert!((50..500).contains(&seen), "{seen}");
        assert_eq!(house.server.attached(), 1);
    });
}

#[test]
fn a_console_that_never_reads_is_let_go_and_holds_up_nobody() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut stuck = Raw::connect(&house).await;
        stuck.greet(PROTOCOL).await;
        let stuck_id = house.attached().await;
        let mut reads = Raw::connect(&house).await;
        reads.greet(PROTOCOL).await;
        house.attached().await;
        // It is let go once much waits and nothing has moved for a while.
        let card = held(&"x".repeat(4 << 20));
        let until = tokio::time::Instant::now() + DEADLINE;
        while house.server.attached() == 2 {
            assert!(tokio::time::Instant::now() < until);
            house.server.broadcast(&card).unwrap();
            assert!(reads.line().await.contains("held"));
        }
        assert_eq!(house.detached().await, stuck_id);
        assert_eq!(house.server.attached(), 1);
        // What waited for it is gone with it.
        let mut rest = Vec::new();
        let _ = timeout(DEADLINE, stuck.0.read_to_end(&mut rest)).await.expect("the end");
        assert!(rest.len() < 8 << 20, "{}", rest.len());
    });
}

#[test]
fn a_flood_of_held_calls_does_not_keep_a_console_out() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut reads = Raw::connect(&house).await;
        reads.greet(PROTOCOL).await;
        let id = house.attached().await;
        let card = held(&"x".repeat(8 << 20));
        for _ in 0..9 {
            house.server.send(id, &card).unwrap();
        }
        for _ in 0..9 {
            assert!(reads.line().await.contains("held"));
        }
        assert_eq!(house.server.attached(), 1);
    });
}

#[test]
fn no_more_consoles_come_than_a_person_could_want() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut inside = Vec::new();
        for _ in 0..64 {
            let mut one = Raw::connect(&house).await;
            one.greet(PROTOCOL).await;
            house.attached().await;
            inside.push(one);
        }
        let mut late = BufReader::new(UnixStream::connect(house.claim.socket()).await.unwrap());
        let mut why = String::new();
        timeout(DEADLINE, late.read_line(&mut why)).await.unwrap().unwrap();
        assert!(why.contains("64 consoles"), "{why}");
        assert_eq!(house.rejected().await, Rejection::TooMany { most: 64 });
        drop(inside.pop());
        let until = tokio::time::Instant::now() + DEADLINE;
        loop {
            let mut again = BufReader::new(UnixStream::connect(house.claim.socket()).await.unwrap());
            let mut first = String::new();
            timeout(DEADLINE, again.read_line(&mut first)).await.unwrap().unwrap();
            if first.contains("hello") {
                break;
            }
            assert!(tokio::time::Instant::now() < until, "{first}");
        }
    });
}

#[test]
fn a_console_of_another_version_is_told_and_has_no_say() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut newer = Raw::connect(&house).await;
        newer.greet(PROTOCOL + 1).await;
        let why = house.rejected().await;
        assert_eq!(why, Rejection::OtherProtocol { theirs: PROTOCOL + 1, version: "9.9".to_owned() });
        assert!(!why.is_alarm());
        assert!(newer.line().await.contains("has no say"));
        newer
            .say(r#"{"say":"decide","ticket":"filesystem-1","digest":"00","verdict":{"verdict":"approve"},"new":1}"#)
            .await;
        let refused: FromWrapper = serde_json::from_str(&newer.line().await).unwrap();
        assert!(matches!(refused, FromWrapper::Refused { ticket, .. } if ticket == "filesystem-1"));
        assert_eq!(house.server.attached(), 0);
        // Nothing of it was passed on: the next thing that happens is another's.
        let mut good = Raw::connect(&house).await;
        good.greet(PROTOCOL).await;
        house.attached().await;
    });
}

#[test]
fn a_console_that_talks_nonsense_is_let_go() {
    let hello = format!(r#"{{"say":"hello","protocol":{PROTOCOL},"version":"v","operator":"o","pid":1}}"#);
    let table: [(&str, Vec<u8>); 7] = [
        ("no JSON", b"hello\n".to_vec()),
        ("a verdict before a greeting", serde_json::to_vec(&approve("t")).unwrap()),
        ("a greeting without a number", br#"{"say":"hello"}"#.to_vec()),
        ("no UTF-8", b"{\"say\":\"\xff\"}".to_vec()),
        ("two greetings", format!("{hello}\n{hello}").into_bytes()),
        ("an unknown word", format!("{hello}\n{{\"say\":\"approve-all\"}}").into_bytes()),
        ("a line without end", vec![b' '; 65 << 20]),
    ];
    within(async {
        for (what, mut bytes) in table {
            bytes.push(b'\n');
            let place = place();
            let mut house = open(&place.run, "filesystem", "s1");
            let mut raw = Raw::connect(&house).await;
            // It may hang up before it has read it all.
            let _ = raw.0.write_all(&bytes).await;
            let mut rejected = 0;
            let mut said = 0;
            loop {
                match house.next().await {
                    FromConsoles::Attached { .. } | FromConsoles::Detached { .. } | FromConsoles::Shown { .. } => {}
                    FromConsoles::Said { .. } => said += 1,
                    FromConsoles::Rejected { why } => {
                        assert!(matches!(why, Rejection::Garbage { .. }), "{what}: {why}");
                        rejected += 1;
                    }
                }
                if rejected == 1 && house.server.attached() == 0 {
                    break;
                }
            }
            assert_eq!(said, 0, "{what}");
            let mut rest = Vec::new();
            let end = timeout(DEADLINE, raw.0.read_to_end(&mut rest)).await.expect(what);
            assert!(end.is_err() || rest.is_empty(), "{what}");
        }
    });
}

/// A wrapper that does as the test says.
async fn impostor(run: &Path, name: &str) -> tokio::net::UnixListener {
    let path = run.join(format!("{name}.draft"));
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&path, run.join(format!("{name}.sock"))).unwrap();
    listener
}

async fn accept(listener: &tokio::net::UnixListener) -> UnixStream {
    timeout(DEADLINE, listener.accept()).await.expect("a console comes").unwrap().0
}

#[test]
fn a_wrapper_of_another_version_is_named_and_not_talked_to() {
    within(async {
        let place = place();
        let mut ann = console(&place.run, "ann");
        let listener = impostor(&place.run, "newer").await;
        let mut newer = accept(&listener).await;
        newer
            .write_all(b"{\"say\":\"hello\",\"protocol\":2,\"version\":\"9.9\",\"wrapper\":{\"server\":\"newer\",\"session\":7}}\n{\"new\":1}\n")
            .await
            .unwrap();
        let named = ClientEvent::Incompatible { name: "newer".to_owned(), protocol: 2, version: "9.9".to_owned() };
        assert_eq!(ann.next().await, named);
        fs::remove_file(place.run.join("newer.sock")).unwrap();
        drop(newer);
        assert_eq!(ann.next().await, ClientEvent::Gone { session: "newer".to_owned() });
    });
}

#[test]
fn a_word_from_a_newer_wrapper_ends_the_talk_but_not_the_console() {
    within(async {
        let place = place();
        let mut ann = console(&place.run, "ann");
        let listener = impostor(&place.run, "newer").await;
        let mut newer = accept(&listener).await;
        let hello =
            FromWrapper::Hello { protocol: PROTOCOL, version: "0.2".to_owned(), wrapper: wrapper("newer", "s9") };
        let hello = serde_json::to_string(&hello).unwrap();
        newer.write_all(format!("{hello}\n{{\"say\":\"sung\",\"song\":1}}\n").as_bytes()).await.unwrap();
        ann.connected().await;
        assert_eq!(ann.next().await, ClientEvent::Gone { session: "s9".to_owned() });
        assert!(matches!(ann.next().await, ClientEvent::Incompatible { name, .. } if name == "newer"));
        ann.clients.send("s9", &approve("t")).unwrap();
        assert!(ann.trouble().await.contains("not delivered"));
        // All that the wrapper ever heard is the greeting.
        let mut heard = String::new();
        drop(ann);
        timeout(DEADLINE, newer.read_to_string(&mut heard)).await.unwrap().unwrap();
        assert_eq!(heard.lines().count(), 1, "{heard}");
    });
}

#[test]
fn a_second_wrapper_cannot_take_the_session_of_the_first() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut ann = console(&place.run, "ann");
        ann.connected().await;
        house.attached().await;
        let _other = open(&place.run, "other", "s1");
        assert!(ann.trouble().await.contains("second wrapper"));
        ann.clients.send("s1", &approve("t")).unwrap();
        assert!(matches!(house.next().await, FromConsoles::Said { .. }));
    });
}

#[test]
fn a_verdict_for_a_wrapper_that_is_gone_is_told() {
    let place = place();
    within(async {
        let mut ann = console(&place.run, "ann");
        ann.clients.send("s1", &approve("t")).unwrap();
        assert!(ann.trouble().await.contains("the wrapper is gone"));
    });
}

#[test]
fn a_console_says_what_is_odd_in_the_folder_and_goes_on() {
    within(async {
        let place = place();
        fs::write(place.run.join("a.sock"), "").unwrap();
        symlink("/dev/null", place.run.join("b.sock")).unwrap();
        let _loose = UnixListener::bind(place.run.join("c.sock")).unwrap();
        fs::set_permissions(place.run.join("c.sock"), fs::Permissions::from_mode(0o666)).unwrap();
        // A dead wrapper's socket is nothing to talk about.
        drop(UnixListener::bind(place.run.join("d.sock")).unwrap());
        fs::set_permissions(place.run.join("d.sock"), fs::Permissions::from_mode(0o600)).unwrap();
        let _house = open(&place.run, "filesystem", "s1");
        let mut ann = console(&place.run, "ann");
        let (mut said, mut connected) = (Vec::new(), 0);
        while said.len() < 3 || connected == 0 {
            match ann.next().await {
                ClientEvent::Trouble(what) => said.push(what),
                ClientEvent::Connected(_) => connected += 1,
                other => panic!("{other:?}"),
            }
        }
        said.sort();
        for (what, name) in said.iter().zip(["a.sock", "b.sock", "c.sock"]) {
            assert!(what.contains(name), "{what}");
        }
        // Once is enough: the next event is the new wrapper's.
        let _second = open(&place.run, "git", "s2");
        assert_eq!(ann.connected().await.session, "s2");
    });
}

#[test]
fn names_are_numbered_and_free_again_with_their_wrapper() {
    let place = place();
    let claim = || NameClaim::claim(&place.run, "filesystem").unwrap();
    let (first, second, third) = (claim(), claim(), claim());
    let names = [&first, &second, &third].map(|claim| claim.name().to_owned());
    assert_eq!(names, ["filesystem", "filesystem#2", "filesystem#3"]);
    let other = NameClaim::claim(&place.run, "git").unwrap();
    assert_eq!(other.name(), "git");
    // Another test's child may hold a copy of the lock until it has become what it runs.
    let comes_free = |name: &str| {
        let until = std::time::Instant::now() + DEADLINE;
        while claim().name() != name {
            assert!(std::time::Instant::now() < until, "{name}");
        }
    };
    drop(second);
    comes_free("filesystem#2");
    drop(first);
    comes_free("filesystem");
}

#[test]
fn a_killed_wrapper_is_missed_and_its_name_and_socket_are_free() {
    within(async {
        let place = place();
        let mut ann = console(&place.run, "ann");
        let mut killed = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "link::wrapper_to_be_killed", "--ignored"])
            .env("RUN", &place.run)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        assert_eq!(ann.connected().await.session, "killed");
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert_eq!(ann.next().await, ClientEvent::Gone { session: "killed".to_owned() });
        assert!(place.run.join("filesystem.sock").exists(), "left behind, as kill -9 does");
        let mut house = open(&place.run, "filesystem", "next");
        assert_eq!(house.claim.name(), "filesystem");
        assert_eq!(ann.connected().await.session, "next");
        house.attached().await;
    });
}

#[test]
#[ignore = "a wrapper to be killed: run by the test above"]
fn wrapper_to_be_killed() {
    let Some(run) = std::env::var_os("RUN") else {
        return;
    };
    within(async {
        let _house = open(Path::new(&run), "filesystem", "killed");
        tokio::time::sleep(Duration::from_secs(600)).await;
    });
}

/// What becomes of a squatter.
enum Fate {
    /// It is removed, and the wrapper has its socket.
    Replace,
    /// The wrapper says this, and the squatter is untouched.
    Refuse(&'static str),
}

#[test]
fn squatters_are_refused_or_safely_replaced() {
    use Fate::{Refuse, Replace};
    let is_root = rustix::process::geteuid().is_root();
    let chown = |path: &Path| std::os::unix::fs::lchown(path, Some(4321), None).unwrap();
    type Squat<'a> = Box<dyn Fn(&Path) + 'a>;
    let table: Vec<(&str, Squat<'_>, Fate)> = vec![
        ("a dead wrapper's socket", Box::new(|run| drop(UnixListener::bind(run.join("fs.sock")).unwrap())), Replace),
        (
            "a living squatter's socket, without the name's lock",
            Box::new(|run| std::mem::forget(UnixListener::bind(run.join("fs.sock")).unwrap())),
            Replace,
        ),
        ("a dead wrapper's draft", Box::new(|run| drop(UnixListener::bind(run.join("fs.new")).unwrap())), Replace),
        ("a link to a file", Box::new(|run| symlink(run.join("../precious"), run.join("fs.sock")).unwrap()), Replace),
        ("a link to nothing", Box::new(|run| symlink(run.join("../nothing"), run.join("fs.sock")).unwrap()), Replace),
        (
            "a draft that links to a file",
            Box::new(|run| symlink(run.join("../precious"), run.join("fs.new")).unwrap()),
            Replace,
        ),
        ("a file", Box::new(|run| fs::write(run.join("fs.sock"), "mine").unwrap()), Refuse("is no socket")),
        ("a folder", Box::new(|run| fs::create_dir(run.join("fs.sock")).unwrap()), Refuse("is a folder")),
        (
            "a pipe",
            Box::new(|run| {
                let fifo = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, run.join("fs.sock"), fifo, 0o600.into(), 0).unwrap();
            }),
            Refuse("is no socket"),
        ),
        (
            "a lock that is a link",
            Box::new(|run| symlink(run.join("../precious"), run.join("fs.lock")).unwrap()),
            Refuse("is a symbolic link"),
        ),
        (
            "a lock that is a folder",
            Box::new(|run| fs::create_dir(run.join("fs.lock")).unwrap()),
            Refuse("is a folder"),
        ),
        (
            "a lock that is a socket",
            Box::new(|run| drop(UnixListener::bind(run.join("fs.lock")).unwrap())),
            Refuse("is a socket"),
        ),
        (
            "another user's socket",
            Box::new(move |run| {
                drop(UnixListener::bind(run.join("fs.sock")).unwrap());
                chown(&run.join("fs.sock"));
            }),
            Refuse("another user's"),
        ),
        (
            "another user's lock",
            Box::new(move |run| {
                fs::write(run.join("fs.lock"), "").unwrap();
                chown(&run.join("fs.lock"));
            }),
            Refuse("another user's"),
        ),
    ];
    within(async {
        for (what, squat, fate) in table {
            if what.starts_with("another user") && !is_root {
                continue;
            }
            let place = place();
            let precious = place.run.join("../precious");
            fs::write(&precious, "precious").unwrap();
            squat(&place.run);
            let before = listing(&place.run);
            let (on, _consoles) = unbounded_channel();
            let tried = NameClaim::claim(&place.run, "fs").and_then(|claim| {
                Server::start(&place.run, &claim, wrapper("fs", "s1"), on).map(|server| (claim, server))
            });
            match (fate, tried) {
                (Replace, Ok((claim, _server))) => {
                    let stream = UnixStream::connect(claim.socket()).await.unwrap();
                    let mut hello = String::new();
                    timeout(DEADLINE, BufReader::new(stream).read_line(&mut hello)).await.expect(what).unwrap();
                    assert!(hello.contains("s1"), "{what}");
                }
                (Refuse(says), Err(error)) => {
                    assert!(error.to_string().contains(says), "{what}: {error}");
                    assert!(error.to_string().contains("remove it"), "{what}: {error}");
                    // Our own lock file may have come.
                    let after = listing(&place.run);
                    assert!(before.iter().all(|entry| after.contains(entry)), "{what}");
                }
                (Replace, Err(error)) => panic!("{what}: {error}"),
                (Refuse(_), Ok(_)) => panic!("{what}: not refused"),
            }
            assert_eq!(fs::read_to_string(&precious).unwrap(), "precious", "{what}");
            assert!(!place.run.join("../nothing").exists(), "{what}");
        }
    });
}

fn listing(run: &Path) -> Vec<(PathBuf, u64)> {
    fs::read_dir(run)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::symlink_metadata(path).unwrap().ino()))
        .collect()
}

#[test]
fn a_socket_path_that_the_system_would_cut_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("x".repeat(90)).join("run");
    match NameClaim::claim(&run, "filesystem") {
        Err(error @ LinkError::TooLong { .. }) => assert!(error.to_string().contains("--home")),
        other => panic!("{other:?}"),
    }
}
