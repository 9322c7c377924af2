//! What a step may read: configuration, policy, what is known of both ends, and the calls that wait. Changes nothing.

use crate::behavior::{Agreement, Agreements, Behavior};
use crate::capability::schema::Mismatch;
use crate::gate::config::{Config, ForwardOrder, Mode};
use crate::gate::data::snapshot::STILL_WAITS;
use crate::gate::grants::Grants;
use crate::gate::held::{Held, Judged, Stage, out::Out, table::Calls};
use crate::gate::server::catalog::{Catalog, ToolLookup};
use crate::gate::server::described::Described;
use crate::gate::server::discovery::{self, Discovery};
use crate::gate::server::flight::Flights;
use crate::gate::state::{Ends, Host, Past, Rules};
use crate::mcp::Revision;
use crate::policy::{Scope, role::ToolProfile, scope::Asked};
use crate::signing::Required;
use crate::wire::{Call, Origin};

#[derive(Clone, Copy)]
pub(in crate::gate) struct Context<'a> {
    pub config: &'a Config,
    pub scope: &'a Scope,
    pub rules: &'a Rules,
    pub grants: &'a Grants,
    pub host: &'a Host,
    pub catalog: &'a Catalog,
    pub calls: &'a Calls,
    pub flights: &'a Flights,
    pub discovery: &'a Discovery,
    pub ends: &'a Ends,
    /// What entries begin with, and who watches.
    pub out: &'a Out,
    /// The time of day, in milliseconds, that calls are judged by.
    pub now: i64,
}

impl<'a> Context<'a> {
    /// Whether calls that would be asked pass: never where the policy asks for signatures, or calls are frozen, or observing would be a
    /// way around it.
    pub fn mode(&self) -> Mode {
        let is_held = self.rules.policy.asks_for_signatures() || self.rules.stops.frozen.is_some();
        if is_held { Mode::Enforce } else { self.config.mode }
    }

    /// What the operator has agreed to: without a signature it counts only where not all approvals need one.
    pub fn agreed(&self) -> &'a Agreements {
        match self.rules.policy.signed {
            Required::Never | Required::Dangerous => self.catalog.agreed(),
            Required::Always => self.catalog.signed(),
        }
    }

    /// What a definition is concluded to be: with the operator's word, as far as that has the signature that the policy wants.
    pub fn behavior_of<'d>(&self, described: &'d Described) -> &'d Behavior {
        let said = |is| Agreement::of_definition(&described.tool.name, &described.digest, is);
        let is_signed = || self.catalog.signed().contains(&said(described.behavior.identity));
        described.behavior_where(self.rules.policy.signed, is_signed)
    }

    pub fn mismatch(&self) -> &'a Mismatch {
        match self.mode() {
            Mode::Enforce => &self.config.mismatch,
            Mode::Observe => &Mismatch::Warn,
        }
    }

    /// What the operator writes of tools, where a host searches for them.
    pub fn search_profiles(&self) -> Option<&'a [ToolProfile]> {
        discovery::profiles(self.config, self.catalog)
    }

    /// The revision that a request is written in: the stateless one says so itself, and any other is the session's.
    pub fn revision_of(&self, request: &Call) -> Revision {
        let of_session = self.host.lifecycle.revision().unwrap_or(Revision::V2025_11_25);
        if request.is_modern() { Revision::V2026_07_28 } else { of_session }
    }

    /// What the scope is asked of a call: its tool, and what the call itself was found to do.
    pub fn asked_of_scope<'b>(&'b self, call: &'b Call, judged: &'b Judged) -> Asked<'b> {
        Described::asked_of_scope(judged.described.as_deref(), (&self.config.server, call.name()), &judged.behavior)
    }

    /// What is known of the tool of a call; nothing is of a request that is no call.
    pub fn find(&self, call: &Call) -> ToolLookup {
        call.method().map_or_else(|| self.catalog.find(call.name()), |_| ToolLookup::NotListed)
    }

    /// The held call that must end before this one reaches the server.
    pub fn runs_after(&self, held: &Held) -> Option<&'a Held> {
        match (self.config.order, held.call.origin()) {
            (ForwardOrder::Sent, Origin::Host) => self.calls.before(held.number),
            (ForwardOrder::Decided, _) | (ForwardOrder::Sent, Origin::Server | Origin::Answer | Origin::Result) => None,
        }
    }

    /// What became of the same call before, and whether it waits already under another ticket.
    pub fn past(&self, held: &Held) -> Past {
        if held.call.origin() == Origin::Result {
            return Past::default();
        }
        let is_same = |other: &Held| {
            other.number < held.number
                && other.call.origin() != Origin::Result
                && other.call.name() == held.call.name()
                && other.call.arguments_text() == held.call.arguments_text()
        };
        let waits = self.calls.iter::<Stage>().filter(|(other, _)| is_same(other));
        let mut lines: Vec<String> = waits.map(|(other, _)| format!("{}{STILL_WAITS}", other.ticket)).collect();
        let past = self.host.history.of(&held.call, held.arrived.wall);
        let times = lines.len() + past.times;
        lines.extend(past.lines);
        Past { lines, times, latest: past.latest }
    }
}
