//! Tells the operator's own program (`[notify]`) that calls wait, and that they no longer do: one run at a time, one for many calls
//! where many wait. Owns no decision, and holds nothing up.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::runner;
use super::threads::{FromThreads, ToLoop};
use crate::audit::{redact::Redactor, rfc3339};
use crate::gate::{
    call::effect_line, data::event::Now, data::report::CallEnd, data::snapshot::Snapshot,
    waiting::question::written_out,
};
use crate::home::config::approver::{Notify, Values};

const LIMIT: Duration = Duration::from_secs(10);
/// How long the last runs may take once the wrapper ends.
const LAST: Duration = Duration::from_secs(1);
/// Microseconds between two runs that say that calls wait.
const PAUSE: u64 = 5_000_000;
/// Calls that are told one by one; more at once are one notice.
const ALONE: usize = 3;
/// Characters of a line.
const LINE: usize = 300;

pub struct Notifier {
    notify: Notify,
    console: String,
    machine: String,
    redactor: Redactor,
    to_loop: ToLoop,
    /// Calls that wait and were not told of: when they will be, and what will be said.
    waiting: BTreeMap<String, (u64, Map<String, Value>)>,
    /// Calls that were told of, and where.
    told: BTreeMap<String, Map<String, Value>>,
    ended: Vec<Map<String, Value>>,
    running: Option<JoinHandle<()>>,
    /// No notice that calls wait before this (monotonic microseconds).
    rests_until: u64,
}

impl Notifier {
    /// `key` hides what secrets in arguments are.
    pub fn new(notify: Notify, (console, machine): (String, String), key: &[u8; 32], to_loop: ToLoop) -> Self {
        Self {
            notify,
            console,
            machine,
            redactor: Redactor::new(key),
            to_loop,
            waiting: BTreeMap::new(),
            told: BTreeMap::new(),
            ended: Vec::new(),
            running: None,
            rests_until: 0,
        }
    }

    /// A call waits, or is shown changed.
    pub fn asked(&mut self, now: Now, call: &Snapshot) {
        if self.told.contains_key(&call.ticket) {
            return;
        }
        let note = self.note(call);
        let after = u64::try_from(self.notify.after.as_micros()).unwrap_or(u64::MAX);
        // One that ends before that is said in the middle of its time.
        let left = call.deadline.map(|deadline| u64::try_from(deadline - now.wall).unwrap_or_default() * 1000);
        let after = left.filter(|left| *left <= after).map_or(after, |left| left / 2);
        let due = now.mono.saturating_add(after);
        self.waiting.entry(call.ticket.clone()).or_insert((due, Map::new())).1 = note;
    }

    /// A call waits no longer: that is said only where it was said that it waits.
    pub fn settled(&mut self, end: &CallEnd) {
        self.waiting.remove(&end.ticket);
        if let Some(mut note) = self.told.remove(&end.ticket) {
            let event = if end.verdict.is_some() { "decided" } else { "withdrawn" };
            note.extend([
                ("event".to_owned(), json!(event)),
                ("verdict".to_owned(), json!(end.verdict)),
                ("by".to_owned(), json!(end.by)),
            ]);
            self.ended.push(note);
        }
    }

    pub fn ran(&mut self) {
        self.running = None;
    }

    pub fn wake_at(&self) -> Option<u64> {
        if self.running.is_some() {
            return None;
        }
        let due = self.waiting.values().map(|(due, _)| (*due).max(self.rests_until)).min();
        if self.ended.is_empty() { due } else { Some(0) }
    }

    /// Starts what is due. Call it within a runtime.
    pub fn advance(&mut self, now: Now) {
        if self.wake_at().is_none_or(|at| at > now.mono) {
            return;
        }
        let note = if self.ended.is_empty() { self.due(now.mono) } else { self.end() };
        let Some(note) = note else { return };
        let (notify, to_loop) = (self.notify.clone(), self.to_loop.clone());
        self.running = Some(tokio::spawn(async move {
            let ran =
                timeout(LIMIT, runner::run(&notify.command, &notify.folder, &Value::from(note).to_string())).await;
            let ran = ran.unwrap_or_else(|_| Err(format!("it took longer than {} s", LIMIT.as_secs())));
            to_loop.tell(FromThreads::Notified(ran.err()));
        }));
    }

    /// Says what became of the calls that were told of, once the wrapper ends.
    pub async fn last(&mut self) {
        let all = async {
            if let Some(running) = self.running.take() {
                let _ = running.await;
            }
            while let Some(note) = self.end() {
                let _ = runner::run(&self.notify.command, &self.notify.folder, &Value::from(note).to_string()).await;
            }
        };
        let _ = timeout(LAST, all).await;
    }

    /// The notice of the calls that have waited long enough.
    fn due(&mut self, now: u64) -> Option<Map<String, Value>> {
        let due: Vec<String> =
            self.waiting.iter().filter(|(_, (due, _))| *due <= now).map(|(ticket, _)| ticket.clone()).collect();
        let count = if due.len() > ALONE { due.len() } else { 1 };
        let mut notes: Vec<Map<String, Value>> = Vec::new();
        for ticket in due.into_iter().take(count) {
            let (_, note) = self.waiting.remove(&ticket)?;
            let keys = ["version", "ticket", "server", "tool", "machine"];
            let kept = note.iter().filter(|(key, _)| keys.contains(&key.as_str()));
            self.told.insert(ticket, kept.map(|(key, value)| (key.clone(), value.clone())).collect());
            notes.push(note);
        }
        self.rests_until = now + PAUSE;
        joined(notes)
    }

    /// The notice of what ended: of several that ended alike, one.
    fn end(&mut self) -> Option<Map<String, Value>> {
        let first = self.ended.first()?.clone();
        let alike =
            |note: &Map<String, Value>| ["event", "verdict", "by"].iter().all(|key| note.get(*key) == first.get(*key));
        let count = self.ended.iter().filter(|note| alike(note)).count();
        let mut left = if count > ALONE { usize::MAX } else { 1 };
        let notes = self.ended.extract_if(.., |note| {
            let goes = left > 0 && alike(note);
            left -= usize::from(goes);
            goes
        });
        joined(notes.collect())
    }

    fn note(&self, call: &Snapshot) -> Map<String, Value> {
        let effect = match self.notify.values {
            Values::LeftOut => effect_line::by_identity(call.identity),
            Values::Redacted => self.redactor.text(&call.effect).into_owned(),
        };
        let line: String =
            written_out(&format!("{} {}: {effect}", call.server, call.tool)).chars().take(LINE).collect();
        let mut note = json!({
            "version": 1,
            "event": "waiting",
            "ticket": call.ticket,
            "server": call.server,
            "tool": written_out(&call.tool),
            "line": line,
            "badge": call.badge().word(),
            "danger": call.danger,
            "deadline": call.deadline.map(rfc3339),
            "machine": self.machine,
            "console": self.console,
        });
        if self.notify.values == Values::Redacted {
            let mut text = String::new();
            self.redactor.redact(&call.arguments, &mut text);
            note["arguments"] = serde_json::from_str(&text).unwrap_or_default();
        }
        match note {
            Value::Object(note) => note,
            _ => Map::new(),
        }
    }
}

/// The first notice, with the tickets of the others.
fn joined(notes: Vec<Map<String, Value>>) -> Option<Map<String, Value>> {
    let more: Vec<Value> = notes.iter().skip(1).filter_map(|note| note.get("ticket").cloned()).collect();
    let mut first = notes.into_iter().next()?;
    first.insert("more".to_owned(), Value::from(more));
    Some(first)
}
