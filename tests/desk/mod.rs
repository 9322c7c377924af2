//! A console without a terminal: keys and events go in, commands and screens come out. Time passes when told to.

#![allow(dead_code, reason = "each test target uses a part of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use mcp_approve::audit::record::{By, VerdictWord};
use mcp_approve::behavior::evidence::{Claim, Evidence, Source, Strength};
use mcp_approve::behavior::hazards::{Hazard, HazardKind};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::{Action, ContentType, Mutability, OutputDomain};
use mcp_approve::console::client::ClientEvent;
use mcp_approve::console::found::Finding;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::model::{Model, Overlay, Settings};
use mcp_approve::console::theme::Palette;
use mcp_approve::console::tried::{Matched, PastLine, Progress, Reach, Tried};
use mcp_approve::console::update::{Command, Msg, update};
use mcp_approve::console::view::view;
use mcp_approve::gate::data::facts::{Facts, FileKind};
use mcp_approve::gate::data::snapshot::{Check, CheckState, Safe, Snapshot};
use mcp_approve::link::message::{
    Activity, ActivityKind, Direction, FromConsole, FromWrapper, OperatorVerdict, Settled, Status, Wrapper,
};
use mcp_approve::policy::decide::Ruling;
use mcp_approve::policy::past::Ended;
use mcp_approve::policy::rule::Decision;
use mcp_approve::wire::digest::Digest;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

/// 2026-11-21T09:00:00Z.
pub const NINE: i64 = 1_795_251_600_000;

pub struct Desk {
    pub model: Model,
    pub now: i64,
    terminal: Terminal<TestBackend>,
}

impl Desk {
    pub fn new(width: u16, height: u16) -> Self {
        Self::with(width, height, Palette::Colours)
    }

    pub fn with(width: u16, height: u16, palette: Palette) -> Self {
        let settings = Settings {
            palette,
            offset: 0,
            version: "0.1.0".into(),
            home: Some("/home/ada".into()),
            ..Settings::default()
        };
        Self {
            model: Model::new(settings, (width, height)),
            now: NINE,
            terminal: Terminal::new(TestBackend::new(width, height)).unwrap(),
        }
    }

    /// A desk with one connected wrapper, `files`.
    pub fn connected(width: u16, height: u16) -> Self {
        let mut desk = Self::new(width, height);
        desk.link(ClientEvent::Connected(wrapper("filesystem", "files")));
        desk.status("files", status());
        desk
    }

    pub fn send(&mut self, msg: Msg) -> Vec<Command> {
        update(&mut self.model, self.now, msg)
    }

    pub fn link(&mut self, event: ClientEvent) -> Vec<Command> {
        self.send(Msg::Link(event))
    }

    pub fn say(&mut self, session: &str, message: FromWrapper) -> Vec<Command> {
        self.link(ClientEvent::Said { session: session.into(), message })
    }

    pub fn hold(&mut self, snapshot: Snapshot) -> Vec<Command> {
        self.say("files", FromWrapper::Held { call: Box::new(snapshot) })
    }

    pub fn status(&mut self, session: &str, status: Status) {
        self.say(session, FromWrapper::Status(status));
    }

    pub fn settle(&mut self, ticket: &str, verdict: VerdictWord, who: &str) -> Vec<Command> {
        let settled = Settled {
            ticket: ticket.into(),
            time: self.now,
            verdict: Some(verdict),
            by: By::Operator,
            who: who.into(),
        };
        self.say("files", FromWrapper::Settled(settled))
    }

    /// Presses one key, then shows the next frame.
    pub fn press(&mut self, key: Key) -> Vec<Command> {
        let commands = self.send(Msg::Key(key));
        self.draw();
        commands
    }

    /// Presses the keys of a word, a frame after each.
    pub fn keys(&mut self, word: &str) -> Vec<Command> {
        word.chars().flat_map(|c| self.press(Key::Char(c))).collect()
    }

    /// What past calls say of the rules on offer in the open panel.
    pub fn tried(&mut self, matched: Vec<Matched>) {
        let Some(Overlay::Rule(maker)) = &self.model.overlay else { panic!("no panel is open") };
        let reach = Reach { calls: 120, progress: Progress::Whole };
        let found = Tried::Rules { id: maker.past.id, matched: Arc::new(matched), reach };
        self.send(Msg::Found(Finding::Tried(found)));
        self.draw();
    }

    pub fn draw(&mut self) {
        let model = &self.model;
        let frame = self.terminal.draw(|frame| view(model, frame)).unwrap();
        let size = (frame.area.width, frame.area.height);
        assert!(self.send(Msg::Drawn(size.0, size.1)).is_empty());
    }

    /// Shows a frame, lets the arming delay pass, shows another.
    pub fn look(&mut self) {
        self.draw();
        self.now += 400;
        self.send(Msg::Tick);
        self.draw();
    }

    pub fn resize(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
        self.send(Msg::Resize(width, height));
        self.draw();
    }

    pub fn buffer(&self) -> &Buffer {
        self.terminal.backend().buffer()
    }

    /// The screen as text.
    pub fn screen(&mut self) -> String {
        self.draw();
        let buffer = self.buffer();
        let width = usize::from(buffer.area.width);
        let mut out = String::new();
        for cells in buffer.content.chunks(width) {
            let mut line = String::new();
            let mut skip = 0;
            for cell in cells {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                line.push_str(cell.symbol());
                skip = mcp_approve::console::plain::width(cell.symbol()).saturating_sub(1);
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    /// The text of the line that contains `word`.
    pub fn line(&mut self, word: &str) -> String {
        let screen = self.screen();
        let line = screen.lines().find(|line| line.contains(word));
        line.unwrap_or_else(|| panic!("no line has {word:?}:\n{screen}")).to_owned()
    }
}

/// A past call, as the log's trials tell it.
pub fn past_line(n: i64, ended: Ended) -> PastLine {
    PastLine {
        seq: 100 + n,
        time: NINE - n * 60_000,
        server: "filesystem".into(),
        ticket: format!("filesystem-{n}"),
        tool: "create_file".into(),
        about: format!("notes/{n}.md"),
        ruling: Decision::Ask,
        ended,
        by: "operator".into(),
    }
}

/// The verdicts among commands: session, ticket, digest, verdict.
pub fn verdicts(commands: &[Command]) -> Vec<(String, String, Digest, OperatorVerdict)> {
    let verdict = |command: &Command| match command {
        Command::Send { session, message: FromConsole::Decide { ticket, digest, verdict } } => {
            Some((session.clone(), ticket.clone(), *digest, verdict.clone()))
        }
        _ => None,
    };
    commands.iter().filter_map(verdict).collect()
}

pub fn wrapper(server: &str, session: &str) -> Wrapper {
    Wrapper {
        server: server.into(),
        session: session.into(),
        pid: 4242,
        command: vec!["npx".into(), "-y".into(), "@modelcontextprotocol/server-filesystem".into()],
        started: NINE - 60_000,
        assurance: "L0".into(),
        observe: false,
    }
}

pub fn status() -> Status {
    Status {
        waiting: 0,
        calls: 42,
        approved_by_policy: 40,
        approved_by_operator: 2,
        denied: 0,
        refused_lines: 0,
        failed: 0,
        era: "2025-11-25".into(),
        phase: "Active".into(),
        host: Some("claude-code 2.1.329".into()),
        banner: None,
        grants: Vec::new(),
        pending: Vec::new(),
    }
}

/// A harmless write: MUTATES, one key.
pub fn write(ticket: &str) -> Snapshot {
    let arguments = r#"{"path":"notes/today.md","content":"milk\neggs\n","mode":420}"#;
    Snapshot {
        ticket: ticket.into(),
        server: "filesystem".into(),
        tool: "create_file".into(),
        title: Some("Create File".into()),
        description: Some("Creates a new file with the given content. Fails if it exists.".into()),
        signature: Some("create_file(path: String, content: String, mode: Option<i64>) -> CreateFileSuccess".into()),
        identity: Identity {
            mutability: Mutability::Mutates,
            action: Action::Create,
            output_domain: OutputDomain::Ack,
        },
        content_type: ContentType::Text,
        evidence: vec![
            Evidence {
                source: Source::Annotated,
                says: Claim { mutability: Some(Mutability::Mutates), ..Claim::default() },
                span: "readOnlyHint: false".into(),
                strength: Strength::Fair,
            },
            Evidence {
                source: Source::Inferred,
                says: Claim { mutability: Some(Mutability::Mutates), action: Some(Action::Create), ..Claim::default() },
                span: "create_file".into(),
                strength: Strength::Strong,
            },
        ],
        disputed: false,
        hazards: Vec::new(),
        effect: "creates notes/today.md (10 bytes)".into(),
        about: Some("notes/today.md".into()),
        ruling: Ruling {
            decision: Decision::Ask,
            rule: None,
            reason: "it changes something, and the default for that is ask".into(),
        },
        near: Vec::new(),
        safe: Safe {
            capability: Check { state: CheckState::Holds, what: "in the scope, arguments fit the schema".into() },
            guardrail: Check { state: CheckState::Pending, what: "waits for you".into() },
            session: Check { state: CheckState::Holds, what: "active since 2025-11-25 handshake".into() },
        },
        arguments: arguments.into(),
        undeclared: Vec::new(),
        digest: Digest::of(format!("{ticket}{arguments}").as_bytes()),
        bytes: 187,
        arrived: NINE - 12_000,
        deadline: Some(NINE + 48_000),
        host: Some("claude-code 2.1.329".into()),
        caller: Vec::new(),
        danger: None,
        edited_from: None,
        original_arguments: None,
        facts: Vec::new(),
        asked_again: None,
    }
}

/// A harmless write that is identical with no other: it has a row of its own.
pub fn own(ticket: &str) -> Snapshot {
    let path = format!("notes/{ticket}.md");
    let arguments = serde_json::json!({ "path": path, "content": "milk\neggs\n", "mode": 420 }).to_string();
    Snapshot { about: Some(path), ..with_arguments(write(ticket), &arguments) }
}

/// A dangerous call that is identical with no other.
pub fn own_delete(ticket: &str) -> Snapshot {
    let path = format!("src/{ticket}");
    let arguments = serde_json::json!({ "path": path, "recursive": true }).to_string();
    Snapshot { about: Some(path), ..with_arguments(delete(ticket), &arguments) }
}

/// A dangerous call: `a`, then `y`, after its last line was shown.
pub fn delete(ticket: &str) -> Snapshot {
    let arguments = r#"{"path":"src","recursive":true}"#;
    Snapshot {
        tool: "delete_folder".into(),
        title: Some("Delete Folder".into()),
        description: Some("Deletes a folder and everything in it.".into()),
        signature: Some("delete_folder(path: String, recursive: Option<bool>) -> DeleteFolderSuccess".into()),
        identity: Identity {
            mutability: Mutability::Mutates,
            action: Action::Delete,
            output_domain: OutputDomain::Ack,
        },
        effect: "deletes the folder src and everything in it".into(),
        about: Some("src".into()),
        arguments: arguments.into(),
        digest: Digest::of(format!("{ticket}{arguments}").as_bytes()),
        danger: Some("it deletes: DELETE cannot be taken back".into()),
        ..write(ticket)
    }
}

/// A write over a file that stands there.
pub fn overwrite(ticket: &str, old: &str, new: &str) -> Snapshot {
    let arguments = serde_json::json!({ "path": "notes.md", "content": new }).to_string();
    let call = with_arguments(write(ticket), &arguments);
    Snapshot {
        tool: "write_file".into(),
        title: Some("Write File".into()),
        description: Some("Writes a file, replacing what stands there.".into()),
        signature: Some("write_file(path: String, content: String) -> WriteFileSuccess".into()),
        identity: Identity { action: Action::Overwrite, ..call.identity },
        effect: "replaces something — path = \"notes.md\"".into(),
        about: Some("notes.md".into()),
        danger: Some("it replaces a whole content".into()),
        facts: vec![file("notes.md", old)],
        ..call
    }
}

/// A file as the shell saw it.
pub fn file(path: &str, text: &str) -> Facts {
    Facts {
        kind: FileKind::File,
        real: Some(format!("/home/ada/shop/{path}")),
        size: Some(text.len() as u64),
        digest: Some(Digest::of(text.as_bytes())),
        text: Some(text.into()),
        unseen: None,
        ..Facts::unseen("/path", path, "")
    }
}

/// A call with one argument that a preview reads.
pub fn carrying(ticket: &str, tool: &str, action: Action, name: &str, text: &str) -> Snapshot {
    let call = with_arguments(delete(ticket), &serde_json::json!({ name: text }).to_string());
    Snapshot {
        tool: tool.into(),
        title: None,
        description: None,
        signature: Some(format!("{tool}({name}: String) -> Data")),
        identity: Identity { action, ..call.identity },
        effect: format!("runs something — {name} = \"…\""),
        about: Some(text.into()),
        danger: Some("it runs or stops something".into()),
        ..call
    }
}

/// Gives a snapshot other arguments, and the digest that goes with them.
pub fn with_arguments(mut snapshot: Snapshot, arguments: &str) -> Snapshot {
    snapshot.arguments = arguments.into();
    snapshot.bytes = arguments.len() as u64 + 100;
    snapshot.digest = Digest::of(format!("{}{arguments}", snapshot.ticket).as_bytes());
    snapshot
}

pub fn hazard(kind: HazardKind, what: &str) -> Hazard {
    Hazard { kind, what: what.into() }
}

pub fn passed(second: i64, kind: ActivityKind, what: &str) -> Activity {
    let to_host = matches!(kind, ActivityKind::Outcome | ActivityKind::Response);
    Activity {
        time: NINE + second * 1000,
        direction: if to_host { Direction::ToHost } else { Direction::ToServer },
        kind,
        what: what.into(),
        ticket: None,
        badge: None,
        ruling: None,
        verdict: None,
        by: None,
        rule: None,
        bytes: 120,
        latency_us: None,
        failed: false,
        reason: String::new(),
        who: String::new(),
    }
}
