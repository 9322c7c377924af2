//! What the shell and the consoles may ask of the gate between two steps. Changes nothing.

use crate::gate::Gate;
use crate::gate::call::card;
use crate::gate::data::report::{KnownTool, Status, WaitingCall};
use crate::gate::data::snapshot::Snapshot;
use crate::gate::held::{Asking, Held};
use crate::gate::server::described::{Described, Visibility};
use crate::wire::message::Gist;
use crate::wire::task;

impl Gate {
    /// The wrapper's state, as a console shows it.
    pub fn status(&self) -> Status {
        let mut status = self.out.status.clone();
        status.waiting = self.calls.iter::<Asking>().count() as u64;
        let lifecycle = &self.host.lifecycle;
        status.phase = Some(lifecycle.phase());
        if let Some(revision) = lifecycle.revision() {
            status.era = revision.word().to_owned();
        }
        status.scope = self.scope_words();
        status.host = lifecycle.host().map(|(name, version)| format!("{name} {version}"));
        status.grants = self.grants.cards();
        let policy = &self.rules.policy;
        status.pending.clone_from(&policy.pending);
        status.banner = match &self.log.trouble {
            Some(why) => Some(format!("the log cannot be written, so nothing runs: {why}")),
            None => {
                let unproven = self.catalog.unproven();
                let lacks = (!unproven.is_empty()).then(|| {
                    let count = unproven.len();
                    format!("agreed to without a record, so it does not count ({count}): {}", unproven.join(", "))
                });
                let banners: Vec<_> = policy.banner.clone().into_iter().chain(lacks).collect();
                (!banners.is_empty()).then(|| banners.join(" — "))
            }
        };
        status
    }

    /// What may be used of the server: `viewer · 9 of 14 tools`, and the wrappers above; empty where nothing narrows it.
    fn scope_words(&self) -> String {
        let scope = self.config.scope.words().map(|scope| {
            let listed = self.catalog.known().filter(|known| known.visibility == Visibility::Listed).count();
            format!("{scope} · {listed} of {} tools", self.catalog.count())
        });
        let above = (!self.config.above.is_empty()).then(|| format!("underneath {}", self.config.above.join(", ")));
        scope.into_iter().chain(above).collect::<Vec<_>>().join(" · ")
    }

    /// The tools that the server has described, at most 2,000, by name.
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
        self.calls
            .iter::<Asking>()
            .map(|(held, asking)| card::snapshot(self.context(), held, &asking.case.judged))
            .collect()
    }

    /// The same calls in few words.
    pub fn waiting(&self) -> Vec<WaitingCall> {
        let brief = |(held, asking): (&Held, &Asking)| WaitingCall {
            ticket: held.ticket.to_string(),
            server: self.config.server.to_string(),
            tool: held.call.name().to_owned(),
            effect: asking.case.judged.effect.clone(),
            target: asking.case.judged.target.as_deref().map(str::to_owned),
            arrived: held.arrived.wall,
            deadline: held.deadline_at(),
        };
        self.calls.iter::<Asking>().map(brief).collect()
    }

    /// Whether a step left work for the next one: a list to parse, now that the host has it, or calls to judge. Send
    /// [`Event::GoOn`](crate::gate::data::event::Event::GoOn).
    pub fn has_work_left(&self) -> bool {
        self.catalog.has_unparsed_lists() || self.describe_queue.is_some()
    }

    /// Whether a line of the server must not reach the host: an answer to our own question, or, while a call is held,
    /// any answer that the host could take for that call's. Hosts read ids more laxly than we do (`"5"`, `5.0` and the
    /// last of two ids pass for `5`), so only the exact id of a request that the server owes an answer to passes then.
    /// The same holds wherever a scope hides tools: a list passes only as the answer that is cut. A request that a rule
    /// is about must not pass unseen either.
    pub fn keeps_back(&self, gist: &Gist) -> bool {
        self.forges(gist)
            || match gist {
                Gist::Request { method, .. } | Gist::Notification { method, .. } => {
                    self.elicited.is_open() || self.restricts(method) || self.may_report_our_task(gist)
                }
                // Requests may be inside an answer.
                Gist::Response { .. } => self.rules.restricts_methods,
                Gist::Unreadable => self.elicited.is_open() || self.rules.restricts_methods,
            }
    }

    /// Whether a line that is too long to be read could report the status of a task of ours to the host.
    pub(in crate::gate) fn may_report_our_task(&self, gist: &Gist) -> bool {
        !self.tasks.is_empty() && matches!(gist, Gist::Notification { method, .. } if task::tells(method))
    }

    /// Whether a host could take a line of the server's for the answer to a call that the server was never asked.
    pub(in crate::gate) fn forges(&self, gist: &Gist) -> bool {
        let is_strict = !self.calls.is_empty()
            || self.flights.has_later()
            || self.tasks.changes_answers()
            || !self.config.scope.is_whole();
        match gist {
            Gist::Response { id, .. } => {
                let is_owed = || self.flights.contains(id) || self.host.plain_ids.contains(id);
                let is_held = || self.calls.by_id(id).is_some();
                self.catalog.is_ours(id) || self.elicited.is_ours(id) || is_strict && (is_held() || !is_owed())
            }
            Gist::Unreadable => is_strict,
            Gist::Request { .. } | Gist::Notification { .. } => false,
        }
    }

    /// Whether a line that is too long to be held reaches the host.
    pub fn streams(&self, gist: &Gist) -> bool {
        let is_renamed = matches!(gist, Gist::Response { id, .. } if self.flights.renames(id));
        !self.keeps_back(gist) && !self.cuts(gist) && !is_renamed
    }

    /// Up to how many bytes the next long line of the server should be buffered whole, rather than streamed. While a call is
    /// held the end of a line counts too: a second id there would make it another call's answer.
    pub fn wants_whole(&self) -> usize {
        const LIST: usize = 64 << 20;
        const CHECKED: usize = 1 << 20;
        let is_held = !self.calls.is_empty() || self.flights.has_later() || !self.tasks.is_empty();
        if self.catalog.is_listening() || is_held || self.rules.restricts_methods {
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
