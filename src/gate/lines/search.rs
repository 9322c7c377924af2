//! Searches of an agent among its server's tools (`--discover`): answered by us, recorded, and what they find is listed from then
//! on. A search runs nothing, so nothing is decided on it; every call of what it found is.

use serde_json::Value;

use crate::audit::{Entry, Kind};
use crate::gate::data::pin::PinState;
use crate::gate::held::context::Context;
use crate::gate::server::described::{Described, Visibility};
use crate::gate::waiting::question::written_out;
use crate::policy::decide::denied_beforehand;
use crate::policy::ranking::{Candidate, rank};
use crate::policy::role::{ToolProfile, profile_of};
use crate::wire::{Call, Line, counted, reply};

/// How many tools a search names if it does not say, and at most.
const USUAL: usize = 5;
const MOST: usize = 20;
/// How many characters of a query are read, and of what a server says of a tool are quoted.
const QUERY: usize = 1_000;
const SAYS: usize = 160;

pub(in crate::gate) struct Answered {
    pub names: Vec<String>,
    pub reply: Line,
    pub entry: Entry,
}

pub(in crate::gate) fn answer(context: Context<'_>, profiles: &[ToolProfile], call: &Call) -> Answered {
    let mut entry = context.out.entry(Kind::Event).with("what", "answered a search for tools");
    entry.tool = Some(call.shared_name());
    entry.digest = Some(call.digest());
    entry.arguments = Some(call.arguments());
    let (query, limit) = match asked(call) {
        Ok(asked) => asked,
        Err(why) => {
            let reply =
                reply::tool_error(call.id(), &format!("mcp-approve could not search: {why}."), call.is_modern());
            return Answered { names: Vec::new(), reply, entry: entry.with("failed", why) };
        }
    };
    let server = &context.config.server;
    let known: Vec<&Described> = context.catalog.known().collect();
    let candidates = known.iter().map(|Described { tool, behavior, .. }| {
        let profile = profile_of(profiles, server, tool, behavior);
        // All are of one server, whose name finds none of them.
        Candidate { server: "", tool, profile, observed: None }
    });
    let candidates: Vec<Candidate<'_>> = candidates.collect();
    let barred = |at: usize| known.get(at).is_none_or(|known| is_barred(context, known)).then_some(());
    let (mut hits, barred) = rank(&query, &candidates, barred);
    let fit = hits.len();
    hits.truncate(limit);
    let found: Vec<&Described> = hits.iter().filter_map(|hit| known.get(hit.at).copied()).collect();
    let names: Vec<String> = found.iter().map(|known| known.tool.name.clone()).collect();
    let text = said(&found, (fit, known.len()));
    let entry = entry.with("found", &names).with("fit", fit).with("barred", barred.len()).with("of", known.len());
    Answered { reply: reply::tool_result(call.id(), &text, call.is_modern()), names, entry }
}

/// Whether no call of a tool can run, whatever its arguments.
fn is_barred(context: Context<'_>, known: &Described) -> bool {
    let denied = || {
        let (policy, server) = (&context.rules.policy, &context.config.server);
        denied_beforehand(policy, server, &known.tool.name, &known.behavior, context.now)
    };
    known.visibility == Visibility::Hidden || known.pin_state == PinState::Refused || denied().is_some()
}

fn asked(call: &Call) -> Result<(String, usize), &'static str> {
    let arguments: Value = serde_json::from_str(call.arguments_text()).unwrap_or_default();
    let query = arguments.get("query").and_then(Value::as_str).filter(|query| !query.trim().is_empty());
    let query = query.ok_or("`query` has to say in words what you want to do")?;
    let limit = match arguments.get("limit") {
        None | Some(Value::Null) => USUAL,
        Some(limit) => {
            let limit = limit.as_u64().and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
            limit.ok_or("`limit` is a number from 1 to 20")?.min(MOST)
        }
    };
    Ok((query.chars().take(QUERY).collect(), limit))
}

/// What the agent reads. Names and descriptions are the server's, on one line each, with nothing hidden in them.
fn said(found: &[&Described], (fit, all): (usize, usize)) -> String {
    let all = counted(all, "tool");
    if found.is_empty() {
        return format!("None of the {all} of this server that you may use fits these words. Try other words.");
    }
    let mut text = format!(
        "{} of the {all} of this server, the best first. They are in the list of tools now; call them by their names. One that \
         may change something can wait for a person's approval.",
        found.len()
    );
    for known in found {
        let name = written_out(&known.tool.name);
        let does = if known.behavior.badge().word() == "PURE" { "only reads" } else { "may change something" };
        text.push_str(&format!("\n- {name} ({does})"));
        // What tries to hide something, or to give orders, is not repeated in our words.
        let says = known.tool.description.as_deref().filter(|_| known.behavior.hazards.is_empty()).unwrap_or_default();
        if let Some(first) = says.lines().map(str::trim).find(|line| !line.is_empty()) {
            let cut: String = first.chars().take(SAYS).collect();
            text.push_str(&format!(": {}", written_out(&cut)));
        }
    }
    if fit > found.len() {
        text.push_str(&format!("\n{} more fit; a search with a greater limit names them.", fit - found.len()));
    }
    text
}
