//! A console without a terminal: keys and events go in, commands and screens come out. Time passes when told to.

#![allow(dead_code, reason = "each test target uses a part of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod calls;

use std::sync::Arc;

use mcp_approve::audit::record::{By, VerdictWord};
use mcp_approve::console::keymap::Key;
use mcp_approve::console::model::Palette;
use mcp_approve::console::model::{Model, Overlay, Settings};
use mcp_approve::console::update::{Command, Msg, update};
use mcp_approve::console::view::view;
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::{CallEnd, FromConsole, FromWrapper, OperatorVerdict, Status};
use mcp_approve::operator::found::Finding;
use mcp_approve::operator::tried::{Coverage, Examined, Matched, Tried};
use mcp_approve::wire::digest::Digest;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

pub use calls::*;

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
            operator: "ada".into(),
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
        let settled = CallEnd {
            ticket: ticket.into(),
            time: self.now,
            verdict: Some(verdict),
            by: By::Operator,
            who: who.into(),
        };
        self.say("files", FromWrapper::Settled(settled))
    }

    /// Presses one key, and looks at what it did.
    pub fn press(&mut self, key: Key) -> Vec<Command> {
        let commands = self.send(Msg::Key(key));
        self.look();
        commands
    }

    /// Presses one key without looking at what it did: a frame after it, and no time.
    pub fn tap(&mut self, key: Key) -> Vec<Command> {
        let commands = self.send(Msg::Key(key));
        self.draw();
        commands
    }

    /// Presses the keys of a word, with a look after each.
    pub fn keys(&mut self, word: &str) -> Vec<Command> {
        word.chars().flat_map(|c| self.press(Key::Char(c))).collect()
    }

    /// Types a word without looking: a frame after each key, and this many milliseconds.
    pub fn types(&mut self, word: &str, gap: i64) -> Vec<Command> {
        let key = |c| if c == '\n' { Key::Enter } else { Key::Char(c) };
        let mut commands = Vec::new();
        for c in word.chars() {
            commands.extend(self.tap(key(c)));
            self.now += gap;
        }
        commands
    }

    /// What past calls say of the rules on offer in the open panel.
    pub fn tried(&mut self, matched: Vec<Matched>) {
        let Some(Overlay::Rule(maker)) = &self.model.overlay else { panic!("no panel is open") };
        let examined = Examined { calls: 120, coverage: Coverage::Whole };
        let found = Tried::Rules { id: maker.past.id, matched: Arc::new(matched), examined };
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
                skip = mcp_approve::text::plain::width(cell.symbol()).saturating_sub(1);
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

/// The verdicts among commands: session, ticket, digest, verdict.
pub fn verdicts(commands: &[Command]) -> Vec<(String, String, Digest, OperatorVerdict)> {
    let verdict = |command: &Command| match command {
        Command::Send { session, message: FromConsole::Decide { ticket, digest, verdict, .. } } => {
            Some((session.clone(), ticket.clone(), *digest, verdict.clone()))
        }
        _ => None,
    };
    commands.iter().filter_map(verdict).collect()
}
