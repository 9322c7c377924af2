//! What the gate's surroundings answer when a test has them: the log, the approvers, the disk, the host's user.

use std::sync::Arc;

use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::behavior::shape::{PathKind, PathState};
use mcp_approve::gate::data::event::Event;
use mcp_approve::gate::data::facts::Opinion;
use mcp_approve::gate::data::facts::{Facts, FileKind, Findings};
use mcp_approve::wire::digest::Digest;

use super::{Did, Pending, World};

impl World {
    /// The log takes the oldest entry it has not answered for.
    pub fn log_takes(&mut self) -> Vec<Did> {
        self.log_takes_as(|_| ())
    }

    /// Whether the log has entries that it has not answered for.
    pub fn is_waiting_for_the_log(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The same, but its receipt is for the entry as `change` leaves it.
    pub fn log_takes_as(&mut self, change: impl FnOnce(&mut Entry)) -> Vec<Did> {
        let Some(Pending { id, mut entry }) = self.pending.pop_front() else { return Vec::new() };
        if let (Kind::Decision, Some(ticket), Some(digest), Some(verdict)) =
            (entry.kind, &entry.ticket, entry.digest, entry.verdict)
        {
            self.recorded.insert(ticket.to_string(), (digest, verdict));
        }
        change(&mut entry);
        let receipt = super::log::record(id, &entry);
        self.step(Event::Recorded(receipt))
    }

    /// The log cannot take the oldest entry it has not answered for.
    pub fn log_fails(&mut self) -> Vec<Did> {
        let Some(Pending { id, entry }) = self.pending.pop_front() else { return Vec::new() };
        if let (Kind::Decision, Some(ticket)) = (entry.kind, &entry.ticket) {
            // It is not on the disk, so it counts as no decision.
            self.decisions.entry(ticket.to_string()).and_modify(|count| *count -= 1);
        }
        self.step(Event::RecordFailed { entry: id, why: "the disk is full".into() })
    }

    /// The approvers say this of the oldest call they were asked about.
    pub fn approvers_say(&mut self, opinions: &[Opinion]) -> Vec<Did> {
        let Some((ticket, consult)) = self.consults.pop_front() else { return Vec::new() };
        self.step(Event::Consulted { ticket, consult, opinions: opinions.to_vec() })
    }

    /// The disk answers the oldest look.
    pub fn disk_shows(&mut self) -> Vec<Did> {
        let Some((ticket, look, wanted)) = self.looks.pop_front() else { return Vec::new() };
        let lead = |path: &String| self.disk.get(path).map_or_else(|| path.clone(), |(real, _)| real.clone());
        let real = wanted.real.iter().map(|path| (path.clone(), Some(lead(path)))).collect();
        let files = wanted.files.iter().map(|(argument, path)| {
            let content = self.disk.get(path).map(|(_, content)| content.clone());
            Facts {
                real: Some(lead(path)),
                kind: if content.is_some() { FileKind::File } else { FileKind::Missing },
                size: content.as_ref().map(|content| content.len() as u64),
                digest: content.as_ref().map(|content| Digest::of(content.as_bytes())),
                unseen: None,
                ..Facts::unseen(argument, path, "")
            }
        });
        let others = (!wanted.counted.is_empty()).then(|| self.others.clone());
        // Whatever a read names is there.
        let path_state = |path: &String| {
            let real = lead(path);
            let real = if real.starts_with('/') { real } else { format!("/w/{real}") };
            Arc::new(PathState { real: Some(real), kind: PathKind::File, project: None })
        };
        let path_states = wanted.places.iter().map(|path| (path.clone(), path_state(path))).collect();
        let found = Findings { real, path_states, files: files.collect(), others };
        self.step(Event::Facts { ticket, look, found })
    }

    /// How many looks the disk has not answered.
    pub fn looks_open(&self) -> usize {
        self.looks.len()
    }

    /// The disk does not answer the oldest look in time.
    pub fn disk_hangs(&mut self) -> Vec<Did> {
        let Some((ticket, look, wanted)) = self.looks.pop_front() else { return Vec::new() };
        self.step(Event::Facts { ticket, look, found: wanted.unseen("no time") })
    }

    /// The host comes back with its user's answer to the latest form inside an answer, as a call under this id: what the form
    /// answers, as JSON.
    pub fn host_brings(&mut self, call: impl Fn(&str) -> String, answer: &str) -> Vec<Did> {
        let Some((state, says)) = self.forms_inside.pop() else { return Vec::new() };
        if answer.contains(r#""accept""#) && answer.contains(r#""approve":true"#) {
            self.approved_in_host.insert(asked_about(&says));
        }
        let more = format!(r#","requestState":"{state}","inputResponses":{{"mcp_approve":{answer}}}"#);
        self.host(&call(&more))
    }

    /// The host answers the open question: a JSON-RPC `result` or `error` member.
    pub fn host_answers(&mut self, member: &str) -> Vec<Did> {
        let Some((id, says)) = self.forms.pop() else { return Vec::new() };
        if member.contains(r#""accept""#) && member.contains(r#""approve":true"#) {
            self.approved_in_host.insert(asked_about(&says));
        }
        self.host(&format!(r#"{{"jsonrpc":"2.0","id":"{id}",{member}}}"#))
    }
}

/// The ticket that a form asks about.
fn asked_about(says: &str) -> String {
    says.lines().find_map(|line| line.strip_prefix("call: ")).expect("it names its call").to_owned()
}
