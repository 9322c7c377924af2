//! Finds out what a call's tool is: from what the host has read, from what is remembered, or by asking the server.

use crate::gate::call::context::Context;
use crate::gate::call::held::StageKind as _;
use crate::gate::call::next::Next;
use crate::gate::call::out::Out;
use crate::gate::server::catalog::Catalog;
use serde_json::{Map, Value};

use crate::audit::agreed;
use crate::audit::record::{By, Kind};
use crate::gate::Gate;
use crate::gate::call::held::{Describing, Held, Opening, Verdict};
use crate::gate::call::replies;
use crate::gate::config::Mode;
use crate::gate::data::effect::Effect;
use crate::gate::data::pin::Pins;
use crate::gate::server::catalog::ToolLookup;
use crate::gate::state::{DescribeQueue, ListOutcome};
use crate::wire::call::Call;

/// How many calls are described and judged in one step: until it is recorded, each takes many times its size in memory.
const AT_ONCE: usize = 64;

/// Finds a call's tool as its server describes it; asks the server first where that is not known. While calls that came before
/// are described (`is_busy`), or what is known is being read, the call waits.
pub(super) fn describe(held: Held, waits: Describing, catalog: &Catalog, is_busy: bool, out: &mut Out) -> Next {
    if held.call.method().is_some() {
        return Next::Judge(held, waits.session, None);
    }
    if !catalog.is_ready() || catalog.is_reading() || is_busy {
        out.wake_for(&held);
        return Next::Wait(held, waits.into_stage());
    }
    match catalog.find(held.call.name()) {
        ToolLookup::Found(described) => Next::Judge(held, waits.session, Some(described)),
        ToolLookup::NotListed | ToolLookup::AskServer => Next::AskServer(held, waits),
    }
}

/// Asks the server for its tools under our own id, unless that question is on its way.
pub(super) fn ask_server(held: Held, waits: Describing, catalog: &mut Catalog, out: &mut Out) -> Next {
    let meta = held.call.is_modern().then(|| own_meta(&held.call));
    if let Some(question) = catalog.ask(out.now, meta) {
        out.push(Effect::WriteToServer(question));
    }
    out.wake_by(catalog.wake_at());
    out.wake_for(&held);
    Next::Wait(held, waits.into_stage())
}

/// What follows once the server was asked: it has given its list, or gave none.
fn by_answer(context: Context<'_>, outcome: ListOutcome, held: Held, waits: Describing) -> Next {
    if outcome == ListOutcome::NotAsked {
        return Next::Describe(held, waits);
    }
    let Describing { session, before } = waits;
    match (context.catalog.find(held.call.name()), outcome) {
        (ToolLookup::Found(described), _) => Next::Judge(held, session, Some(described)),
        // When only observing, the call passes: the server may know the tool after all, and answers itself if not.
        (ToolLookup::NotListed, ListOutcome::Given) if context.config.mode != Mode::Observe => {
            let reply = replies::no_such_tool(&held.call);
            Next::deny(held, before, Verdict::by(By::Fault, None, "the server does not have this tool"), reply)
        }
        (ToolLookup::NotListed | ToolLookup::AskServer, _) => Next::Judge(held, session, None),
    }
}

/// What follows for a call that came before the server had answered `initialize`.
fn opened(context: Context<'_>, held: Held) -> Next {
    let lifecycle = &context.host.lifecycle;
    match lifecycle.call(&held.call) {
        Ok(session) => Next::Describe(held, Describing { session, before: None }),
        Err(phase) => {
            let reply = replies::wrong_phase(&held.call, lifecycle.phase(), &phase);
            Next::deny(held, None, Verdict::by(By::Fault, None, phase.to_string()), reply)
        }
    }
}

impl Gate {
    /// The pins of the server were read: the calls that waited for them are described and judged.
    pub(in crate::gate) fn on_reviewed(&mut self, pins: Pins) {
        let was_ready = self.catalog.is_ready();
        let news: Vec<_> = pins.unproven.iter().filter(|one| !self.catalog.unproven().contains(one)).collect();
        for one in news {
            self.out.record(self.out.fault(format!("an agreement without its record: {one}"), None));
        }
        for one in &pins.lapsed {
            let entry = self.out.entry(Kind::Agreed);
            self.out
                .record(agreed::taken_back(entry, one, &pins.fingerprint, "it lapsed: it was not used for 90 days"));
        }
        self.catalog.repin(self.out.now, pins);
        if was_ready {
            // The operator may have accepted or refused a definition: the calls that wait are judged again.
            return self.rejudge();
        }
        self.describe_again();
    }

    /// More is known: the calls that waited for it are described and judged, unless we have asked the server, or a list that
    /// came in the meantime is still to be read.
    pub(in crate::gate) fn describe_again(&mut self) {
        // The calls that are being judged by the server's answer go first; the others follow when those are done.
        let is_by_answer = self.describe_queue.as_ref().is_some_and(|queue| queue.outcome != ListOutcome::NotAsked);
        if self.catalog.is_asking() || self.catalog.is_reading() || is_by_answer {
            return;
        }
        self.describe_waiting(ListOutcome::NotAsked);
    }

    /// The server has sent its whole list: every call that waited for it is judged, or denied if its tool is missing.
    pub(in crate::gate) fn on_described(&mut self) {
        self.describe_waiting(ListOutcome::Given);
    }

    /// The server gave no list: every call that waited for it is judged by what is known.
    pub(in crate::gate) fn on_undescribed(&mut self) {
        self.describe_waiting(ListOutcome::NoList);
    }

    fn describe_waiting(&mut self, outcome: ListOutcome) {
        let calls = self.calls.waiting::<Describing>();
        if let (Some(first), Some(last)) = (calls.first(), calls.last()) {
            self.describe_queue = Some(DescribeQueue { outcome, from: *first, to: *last });
            self.describe_slice();
        }
    }

    /// Describes and judges the next calls of those that waited. Calls that came later follow: calls keep their order.
    pub(in crate::gate) fn describe_slice(&mut self) {
        let Some(DescribeQueue { outcome, from, to }) = self.describe_queue.take() else { return };
        if outcome != ListOutcome::NotAsked && (self.catalog.is_asking() || self.catalog.is_reading()) {
            // A newer list is on its way: the waiting calls are judged by that one.
            return;
        }
        let mut calls = self.calls.waiting::<Describing>();
        calls.retain(|number| (from..=to).contains(number));
        let rest = calls.split_off(calls.len().min(AT_ONCE));
        for number in calls {
            if let Some((held, waits)) = self.calls.take::<Describing>(number) {
                self.drive(by_answer(self.context(), outcome, held, waits));
            }
        }
        self.describe_queue = match rest.first() {
            Some(next) => Some(DescribeQueue { outcome, from: *next, to }),
            None if self.catalog.is_asking() || self.catalog.is_reading() => None,
            // Calls that began to wait meanwhile, older ones too, waited only for these to be done.
            None => {
                let left = self.calls.waiting::<Describing>();
                let ends = left.first().zip(left.last());
                ends.map(|(first, last)| DescribeQueue { outcome: ListOutcome::NotAsked, from: *first, to: *last })
            }
        };
    }

    /// Takes up the calls that came before the server had answered `initialize`: scripts write everything at once.
    pub(in crate::gate) fn early_calls(&mut self) {
        if self.host.lifecycle.is_pending() {
            return;
        }
        for number in self.calls.waiting::<Opening>() {
            let Some((held, Opening)) = self.calls.take(number) else { continue };
            self.drive(opened(self.context(), held));
        }
    }
}

/// The `_meta` our own question carries in the stateless era: what the protocol asks for, and no progress token.
fn own_meta(call: &Call) -> String {
    const KEPT: [&str; 3] = [
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
        "io.modelcontextprotocol/clientInfo",
    ];
    let parsed = call.meta_text().and_then(|text| serde_json::from_str::<Map<_, _>>(text).ok());
    let kept: Map<String, Value> =
        parsed.unwrap_or_default().into_iter().filter(|(key, _)| KEPT.contains(&key.as_str())).collect();
    Value::from(kept).to_string()
}
