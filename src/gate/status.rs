//! What the shell and the consoles may ask of the gate between two steps. Changes nothing.

use crate::gate::Gate;
use crate::gate::call::held::Asking;
use crate::gate::data::report::{KnownTool, Status};
use crate::gate::data::snapshot::Snapshot;
use crate::gate::server::described::Described;
use crate::wire::message::Gist;

impl Gate {
    /// The wrapper's state, as a console shows it.
    pub fn status(&self) -> Status {
        let mut status = self.consoles.status.clone();
        status.waiting = self.calls.iter::<Asking>().count() as u64;
        let lifecycle = &self.host.lifecycle;
        status.phase = lifecycle.phase().to_owned();
        if let Some(revision) = lifecycle.revision() {
            status.era = revision.text().to_owned();
        }
        status.host = lifecycle.host().map(|(name, version)| format!("{name} {version}"));
        status.grants = self.grants.cards();
        let policy = &self.rules.policy;
        status.pending.clone_from(&policy.pending);
        status.banner = match &self.log.trouble {
            Some(why) => Some(format!("the log cannot be written, so nothing runs: {why}")),
            None => policy.banner.clone(),
        };
        status
    }

    /// The tools that the server has described, by name; of more than 2,000 some.
    pub fn tools(&self) -> Vec<KnownTool> {
        let mut tools: Vec<_> = self.catalog.known().take(2_000).map(Described::known_tool).collect();
        tools.sort_by(|a, b| a.tool.cmp(&b.tool));
        tools
    }

    /// Rises whenever [`Self::tools`] may have changed; 0 before anything is known.
    pub fn tools_version(&self) -> u64 {
        self.catalog.version()
    }

    /// Every call that waits for an operator, oldest first: for a console that attaches.
    pub fn snapshots(&self) -> Vec<Snapshot> {
        self.calls.iter::<Asking>().map(|(held, asking)| self.snapshot(held, &asking.case.judged)).collect()
    }

    /// Whether there is a list to parse, now that the host has it: send
    /// [`Event::ParseLists`](crate::gate::data::event::Event::ParseLists).
    pub fn has_unparsed_lists(&self) -> bool {
        self.catalog.has_unparsed_lists()
    }

    /// Whether a line of the server must not reach the host: an answer to our own question, or, while a call is held, any
    /// answer that the host could take for that call's. Hosts read ids more laxly than we do (`"5"`, `5.0` and the last of
    /// two ids pass for `5`), so only the exact id of a request that the server owes an answer to passes then. Nor may a
    /// request pass unseen that a rule is about.
    pub fn keeps_back(&self, gist: &Gist) -> bool {
        self.forges(gist)
            || match gist {
                Gist::Request { method, .. } | Gist::Notification { method, .. } => self.restricts(method),
                Gist::Response { .. } => false,
                Gist::Unreadable => self.rules.policy.restricts_methods(),
            }
    }

    /// Whether a host could take a line of the server's for the answer to a call that the server was never asked.
    pub(in crate::gate) fn forges(&self, gist: &Gist) -> bool {
        match gist {
            Gist::Response { id, .. } => {
                let is_owed = || self.flights.contains(id) || self.host.plain_ids.contains(id);
                let is_held = || self.calls.by_id(id).is_some();
                self.catalog.is_ours(id) || !self.calls.is_empty() && (is_held() || !is_owed())
            }
            Gist::Unreadable => !self.calls.is_empty(),
            Gist::Request { .. } | Gist::Notification { .. } => false,
        }
    }

    /// Up to how many bytes the next long line of the server should be buffered whole, rather than streamed. While a call is
    /// held the end of a line counts too: a second id there would make it another call's answer.
    pub fn wants_whole(&self) -> usize {
        const LIST: usize = 64 << 20;
        const CHECKED: usize = 1 << 20;
        if self.catalog.is_listening() || !self.calls.is_empty() || self.rules.policy.restricts_methods() {
            LIST
        } else if self.host.lifecycle.is_pending() || self.flights.wants_whole_answers() {
            CHECKED
        } else {
            0
        }
    }

    /// Whether nothing is held and nothing waits for the log.
    pub fn is_quiet(&self) -> bool {
        self.calls.is_empty()
    }
}
