//! Runs the programs of the operator's: approvers, and the one that hears that calls wait (`[notify]`) and that they no longer do, one
//! run at a time, one for many calls where many wait. A program gets one line of JSON on its stdin; what it writes on stdout counts. No
//! shell, the system's PATH, no terminal among its streams. Whoever drops the run ends the program with everything that it has started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::threads::{FromThreads, ToLoop};
use crate::audit::{redact::Redactor, rfc3339};
use crate::gate::data::{event::Event, event::Now, facts::Opinion, report::CallEnd, snapshot::Snapshot};
use crate::gate::{call::effect_line, waiting::question::written_out};
use crate::home::config::approver::{Callback, Notify, PATH, Values};
use crate::policy::Decision;

/// How long an answer may be, in bytes; a longer one is an error.
const ANSWER: u64 = 64 << 10;

/// Runs it to its end. It takes as long as the program does: the caller limits that.
pub(super) async fn run(command: &[OsString], folder: &Path, line: &str) -> Result<Vec<u8>, String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("it has no command".to_owned());
    };
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("PATH", PATH)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("it cannot be run: {error}"))?;
    let mut group = Group(child.id());
    let (mut to, from) = (child.stdin.take(), child.stdout.take());
    let line = format!("{line}\n");
    let write = async {
        if let Some(to) = &mut to {
            // It may not read, and close the pipe: what it writes counts all the same.
            let _ = to.write_all(line.as_bytes()).await;
        }
        drop(to.take());
    };
    let read = async {
        let mut text = Vec::new();
        if let Some(from) = from {
            from.take(ANSWER + 1).read_to_end(&mut text).await.map_err(|error| error.to_string())?;
        }
        Ok::<_, String>(text)
    };
    let ((), text) = tokio::join!(write, read);
    let text = text?;
    if text.len() as u64 > ANSWER {
        return Err(format!("its answer is longer than {ANSWER} bytes"));
    }
    let status = child.wait().await.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("it failed ({status})"));
    }
    group.0 = None;
    Ok(text)
}

/// The process group of a program that has not ended well; dropping it ends what is left of it.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        let leader = self.0.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(leader) = leader {
            // An error is fine: usually there is nothing left.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// How much of its reason is kept, in bytes.
const REASON: usize = 2 << 10;

/// What it answers. Anything else in the object is ignored.
#[derive(Deserialize)]
struct Answer {
    decision: Decision,
    #[serde(default)]
    reason: String,
}

/// Asks all approvers of these names at once; what they say goes to the loop. Call it within a runtime.
pub fn consult(
    callbacks: &[Callback],
    names: &[String],
    (ticket, consult): (String, u64),
    call: &str,
    to_loop: ToLoop,
) {
    let mut asked = JoinSet::new();
    for callback in callbacks.iter().filter(|known| names.contains(&known.name)) {
        let (callback, call) = (callback.clone(), call.to_owned());
        asked.spawn(async move { opinion(&callback, &call).await });
    }
    let names = names.to_vec();
    tokio::spawn(async move {
        let mut opinions = Vec::new();
        while let Some(said) = asked.join_next().await {
            opinions.extend(said);
        }
        opinions.sort_by(|one: &Opinion, other| one.name.cmp(&other.name));
        for name in names {
            if !opinions.iter().any(|one| one.name == name) {
                let reason = "it could not be run".to_owned();
                opinions.push(Opinion { name, decision: Decision::Ask, reason, failed: true, latency_us: 0 });
            }
        }
        to_loop.tell(FromThreads::Event(Event::Consulted { ticket, consult, opinions }));
    });
}

async fn opinion(callback: &Callback, call: &str) -> Opinion {
    let start = Instant::now();
    let said = match timeout(callback.timeout, answer(callback, call)).await {
        Ok(said) => said,
        Err(_) => Err(format!("it did not answer within {} ms", callback.timeout.as_millis())),
    };
    let latency_us = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    let name = callback.name.clone();
    match said {
        Ok(Answer { decision, mut reason }) => {
            reason.truncate(reason.floor_char_boundary(REASON));
            Opinion { name, decision, reason, failed: false, latency_us }
        }
        Err(reason) => Opinion { name, decision: Decision::Ask, reason, failed: true, latency_us },
    }
}

async fn answer(callback: &Callback, call: &str) -> Result<Answer, String> {
    let said = run(&callback.command, &callback.folder, call).await?;
    serde_json::from_slice(&said)
        .map_err(|_| r#"it did not answer with an object like {"decision":"allow|ask|deny","reason":"..."}"#.to_owned())
}

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
            let ran = timeout(LIMIT, run(&notify.command, &notify.folder, &Value::from(note).to_string())).await;
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
                let _ = run(&self.notify.command, &self.notify.folder, &Value::from(note).to_string()).await;
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
