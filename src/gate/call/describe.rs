//! Finds out what a call's tool is: from what the host has read, from what is remembered, or by asking the server.

use serde_json::{Map, Value};

use crate::audit::record::By;
use crate::gate::config::Mode;
use crate::gate::data::effect::Effect;
use crate::gate::held::context::Context;
use crate::gate::held::next::Next;
use crate::gate::held::out::Out;
use crate::gate::held::replies;
use crate::gate::held::{Describing, Held, StageKind as _, Verdict};
use crate::gate::server::catalog::{Catalog, ToolLookup};
use crate::gate::state::ListOutcome;
use crate::wire::call::Call;

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
pub(in crate::gate) fn by_answer(context: Context<'_>, outcome: ListOutcome, held: Held, waits: Describing) -> Next {
    if outcome == ListOutcome::NotAsked {
        return Next::Describe(held, waits);
    }
    let Describing { session, before } = waits;
    match (context.catalog.find(held.call.name()), outcome) {
        (ToolLookup::Found(described), _) => Next::Judge(held, session, Some(described)),
        // When only observing, the call passes: the server may know the tool after all, and answers itself if not.
        (ToolLookup::NotListed, ListOutcome::Given) if context.mode() != Mode::Observe => {
            let reply = replies::no_such_tool(&held.call);
            Next::deny(held, before, Verdict::by(By::Fault, None, "the server does not have this tool"), reply)
        }
        (ToolLookup::NotListed | ToolLookup::AskServer, _) => Next::Judge(held, session, None),
    }
}

/// What follows for a call that came before the server had answered `initialize`.
pub(in crate::gate) fn opened(context: Context<'_>, held: Held) -> Next {
    let lifecycle = &context.host.lifecycle;
    match lifecycle.call(&held.call) {
        Ok(session) => Next::Describe(held, Describing { session, before: None }),
        Err(phase) => {
            let reply = replies::wrong_phase(&held.call, lifecycle.phase(), &phase);
            Next::deny(held, None, Verdict::by(By::Fault, None, phase.to_string()), reply)
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
