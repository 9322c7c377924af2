//! The two sides as tests play them: a wrapper, the product's console, and a console that says what the test wants.

use mcp_approve::audit::record::{By, VerdictWord};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::Confidence;
use mcp_approve::behavior::taxonomy::ContentType;
use mcp_approve::gate::data::event::ConsoleId;
use mcp_approve::gate::data::snapshot::{Check, CheckState, Safe, Snapshot};
use mcp_approve::link::client::{ClientEvent, Clients, Me};
use mcp_approve::link::folder::{NameClaim, prepare};
use mcp_approve::link::message::{
    Activity, ActivityKind, CallEnd, Direction, FromConsole, FromWrapper, OperatorVerdict, PROTOCOL, Wrapper,
};
use mcp_approve::link::server::{FromConsoles, Rejection, Server};
use mcp_approve::policy::decide::Ruling;
use mcp_approve::policy::rule::Decision;
use mcp_approve::wire::digest::Digest;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use super::DEADLINE;

/// A runtime folder that goes with the test.
pub struct Place {
    _home: tempfile::TempDir,
    pub run: PathBuf,
}

pub fn place() -> Place {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("state/run");
    prepare(&run).unwrap();
    Place { _home: home, run }
}

pub fn wrapper(name: &str, session: &str) -> Wrapper {
    Wrapper {
        server: name.to_owned(),
        session: session.to_owned(),
        pid: std::process::id(),
        command: vec!["npx".to_owned(), "some-server".to_owned()],
        started: 1_795_000_000_000,
        observe: false,
        at: None,
    }
}

/// One wrapper's side.
pub struct House {
    pub server: Server,
    known: BTreeSet<ConsoleId>,
    pub claim: NameClaim,
    pub consoles: UnboundedReceiver<FromConsoles>,
}

pub fn open(run: &Path, name: &str, session: &str) -> House {
    let claim = NameClaim::claim(run, name).unwrap();
    let (on, consoles) = unbounded_channel();
    let server = Server::start(run, &claim, wrapper(claim.name(), session), on).unwrap();
    House { server, known: BTreeSet::new(), claim, consoles }
}

impl House {
    pub async fn next(&mut self) -> FromConsoles {
        timeout(DEADLINE, self.consoles.recv()).await.expect("a console says something").unwrap()
    }

    pub async fn attached(&mut self) -> ConsoleId {
        match self.next().await {
            FromConsoles::Attached { console, .. } => {
                self.known.insert(console);
                console
            }
            other => panic!("{other:?}"),
        }
    }

    pub async fn detached(&mut self) -> ConsoleId {
        match self.next().await {
            FromConsoles::Detached { console } => {
                self.known.remove(&console);
                console
            }
            other => panic!("{other:?}"),
        }
    }

    /// Tells every console that is known to be attached.
    pub fn tell(&self, message: &FromWrapper) {
        self.server.tell(self.known.iter().copied(), message);
    }

    pub async fn rejected(&mut self) -> Rejection {
        match self.next().await {
            FromConsoles::Rejected { why } => why,
            other => panic!("{other:?}"),
        }
    }
}

/// One console, as the product has it.
pub struct Console {
    pub clients: Clients,
    pub events: UnboundedReceiver<ClientEvent>,
}

pub fn console(run: &Path, operator: &str) -> Console {
    let me = Me { operator: operator.to_owned(), version: "0.1.0".to_owned(), pid: std::process::id() };
    let (tell, events) = unbounded_channel();
    let clients = Clients::watch(run, me, move |event| drop(tell.send(event))).unwrap();
    Console { clients, events }
}

impl Console {
    pub async fn next(&mut self) -> ClientEvent {
        timeout(DEADLINE, self.events.recv()).await.expect("something happens").unwrap()
    }

    pub async fn connected(&mut self) -> Wrapper {
        match self.next().await {
            ClientEvent::Connected(wrapper) => wrapper,
            other => panic!("{other:?}"),
        }
    }

    pub async fn hears(&mut self) -> FromWrapper {
        match self.next().await {
            ClientEvent::Said { message, .. } => message,
            other => panic!("{other:?}"),
        }
    }

    pub async fn trouble(&mut self) -> String {
        match self.next().await {
            ClientEvent::Trouble(what) => what,
            other => panic!("{other:?}"),
        }
    }
}

/// A console that does as the test says, line by line.
pub struct Raw(pub BufReader<UnixStream>);

impl Raw {
    pub async fn connect(house: &House) -> Self {
        let stream = UnixStream::connect(house.claim.socket()).await.unwrap();
        let mut raw = Self(BufReader::new(stream));
        assert!(raw.line().await.starts_with(&format!(r#"{{"say":"hello","protocol":{PROTOCOL},"#)));
        raw
    }

    pub async fn say(&mut self, line: &str) {
        self.0.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    pub async fn greet(&mut self, protocol: u32) {
        self.say(&format!(r#"{{"say":"hello","protocol":{protocol},"version":"9.9","operator":"eve","pid":1}}"#)).await;
    }

    /// The next line; empty at the end.
    pub async fn line(&mut self) -> String {
        let mut line = String::new();
        timeout(DEADLINE, self.0.read_line(&mut line)).await.expect("a line").unwrap();
        line
    }
}

pub fn within(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

pub fn activity(what: &str) -> FromWrapper {
    FromWrapper::Activity(Activity {
        time: 1,
        direction: Direction::ToServer,
        kind: ActivityKind::Call,
        what: what.to_owned(),
        ticket: Some("filesystem-1".to_owned()),
        target: None,
        badge: None,
        ruling: Some(Decision::Allow),
        verdict: Some(VerdictWord::Approve),
        by: Some(By::Rule),
        rule: Some("r1".to_owned()),
        bytes: u64::MAX,
        latency_us: Some(17),
        failed: false,
        reason: String::new(),
        explained: String::new(),
        who: String::new(),
    })
}

pub fn settled(ticket: &str) -> FromWrapper {
    FromWrapper::Settled(CallEnd {
        ticket: ticket.to_owned(),
        time: 2,
        verdict: Some(VerdictWord::Deny),
        by: By::Operator,
        who: "ann at console-1".to_owned(),
    })
}

pub fn held(arguments: &str) -> FromWrapper {
    let check = |state| Check { state, what: "said".to_owned() };
    FromWrapper::Held {
        call: Box::new(Snapshot {
            method: None,
            result_of: None,
            ticket: "filesystem-1".to_owned(),
            server: "filesystem".to_owned(),
            tool: "write\u{1b}[2J_file".to_owned(),
            title: None,
            description: Some("\u{202e}\u{0}\n".to_owned()),
            signature: None,
            identity: Identity::UNKNOWN,
            confidence: Confidence::None,
            new: Vec::new(),
            offer: None,
            content_type: ContentType::Text,
            evidence: Vec::new(),
            disputed: true,
            hazards: Vec::new(),
            effect: "writes".to_owned(),
            target: None,
            ruling: Ruling::of(Decision::Ask, "it MUTATES"),
            near: Vec::new(),
            safe: Safe {
                capability: check(CheckState::Holds),
                guardrail: check(CheckState::Pending),
                session: check(CheckState::Fails),
            },
            arguments: arguments.to_owned(),
            responses: None,
            unknown_parts: None,
            readings: Vec::new(),
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
            runs_after: None,
            occurrence: 1,
            earlier: Vec::new(),
            silence: None,
            bare: false,
            signs: None,
            salt: None,
        }),
    }
}

pub fn approve(ticket: &str) -> FromConsole {
    FromConsole::Decide {
        ticket: ticket.to_owned(),
        digest: Digest::of(b"line"),
        verdict: OperatorVerdict::Approve { unread: false },
        signed: None,
    }
}

/// A wrapper that does as the test says.
pub async fn impostor(run: &Path, name: &str) -> tokio::net::UnixListener {
    let path = run.join(format!("{name}.draft"));
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&path, run.join(format!("{name}.sock"))).unwrap();
    listener
}

pub async fn accept(listener: &tokio::net::UnixListener) -> UnixStream {
    timeout(DEADLINE, listener.accept()).await.expect("a console comes").unwrap().0
}
