//! What the shell and the consoles may ask of the gate between two steps. Changes nothing.

use crate::gate::call::{card, signed};
use crate::gate::data::report::{KnownTool, Status, WaitingCall};
use crate::gate::data::snapshot::Snapshot;
use crate::gate::held::{Asking, Consulting, Held, Judged, context::Context};
use crate::gate::server::catalog::Catalog;
use crate::gate::server::described::{Described, Visibility};
use crate::signing::CardTerms;

/// The wrapper's state, as a console shows it.
pub(super) fn status(context: Context<'_>) -> Status {
    let Context { out, calls, host, grants, rules, catalog, .. } = context;
    let lifecycle = &host.lifecycle;
    let mut status = out.status.clone();
    status.waiting = calls.iter::<Asking>().count() as u64;
    status.phase = Some(lifecycle.phase());
    if let Some(revision) = lifecycle.revision() {
        status.era = revision.word().to_owned();
    }
    status.scope = scope_words(context);
    status.host = lifecycle.host().map(|(name, version)| format!("{name} {version}"));
    status.grants = grants.cards();
    status.level = rules.policy.level;
    status.pending.clone_from(&rules.policy.pending);
    status.banner = match &out.log.trouble {
        Some(why) => Some(format!("the log cannot be written, so nothing runs: {why}")),
        None => {
            let unproven = catalog.unproven();
            let lacks = (!unproven.is_empty()).then(|| {
                let count = unproven.len();
                format!("agreed to without a record, so it does not count ({count}): {}", unproven.join(", "))
            });
            let frozen = rules.stops.frozen.as_ref().map(|frozen| format!("FROZEN: {}", frozen.says));
            let banners: Vec<_> = frozen.into_iter().chain(rules.policy.banner.clone()).chain(lacks).collect();
            (!banners.is_empty()).then(|| banners.join(" — "))
        }
    };
    status
}

/// What may be used of the server: `viewer · 9 of 14 tools`, and the wrappers above; empty where nothing narrows it.
fn scope_words(context: Context<'_>) -> String {
    let (config, catalog) = (context.config, context.catalog);
    let scope = config.scope.words().map(|scope| {
        let listed = catalog.known().filter(|known| known.visibility == Visibility::Listed).count();
        format!("{scope} · {listed} of {} tools", catalog.count())
    });
    let above = (!config.above.is_empty()).then(|| format!("underneath {}", config.above.join(", ")));
    scope.into_iter().chain(above).collect::<Vec<_>>().join(" · ")
}

pub(super) fn tools(catalog: &Catalog) -> Vec<KnownTool> {
    let mut tools: Vec<_> = catalog.known().take(2_000).map(Described::known_tool).collect();
    tools.sort_by(|a, b| a.tool.cmp(&b.tool));
    tools
}

pub(super) fn snapshots(context: Context<'_>) -> Vec<Snapshot> {
    let card = |(held, asking): (&Held, &Asking)| card::snapshot(context, held, &asking.case.judged);
    context.calls.iter::<Asking>().map(card).collect()
}

pub(super) fn terms(context: Context<'_>, card: &Snapshot) -> Option<CardTerms> {
    let number = context.calls.by_ticket(&card.ticket)?;
    let (held, Asking { case, .. }) = context.calls.get::<Asking>(number)?;
    let terms = || signed::terms(context, held, &case.judged, card.card_digest());
    Some(card.signs.clone().unwrap_or_else(terms))
}

pub(super) fn waiting(context: Context<'_>) -> Vec<WaitingCall> {
    context.calls.iter::<Asking>().map(|(held, asking)| brief(context, held, &asking.case.judged)).collect()
}

/// Every call that approvers are asked about now.
pub(super) fn consulted(context: Context<'_>) -> Vec<WaitingCall> {
    context.calls.iter::<Consulting>().map(|(held, waits)| brief(context, held, &waits.case.judged)).collect()
}

fn brief(context: Context<'_>, held: &Held, judged: &Judged) -> WaitingCall {
    WaitingCall {
        ticket: held.ticket.to_string(),
        server: context.config.server.to_string(),
        tool: held.call.name().to_owned(),
        effect: judged.effect.clone(),
        target: judged.target.as_deref().map(str::to_owned),
        arrived: held.arrived.wall,
        deadline: held.deadline_at(),
    }
}
