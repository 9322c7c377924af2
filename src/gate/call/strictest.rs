//! Judges whatever can be held: a call by its tool, also one inside another request; any other request by its method, the rules
//! about that, the scope, and the places whose files may be read. Of several rulings the strictest holds. Acts on nothing.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::behavior::carried::{Carried, carried};
use crate::behavior::conclude::Behavior;
use crate::behavior::hazards::{Hazard, HazardKind};
use crate::behavior::request::of_request;
use crate::behavior::taxonomy::{Mutability, OutputDomain};
use crate::gate::call::judged::{self, Inside, Judged, Seen, followed, is_too_much, near, recent};
use crate::gate::call::retry::Retry;
use crate::gate::context::Context;
use crate::gate::data::facts::Look;
use crate::gate::grants::Grants;
use crate::gate::server::catalog::ToolLookup;
use crate::gate::server::described::Described;
use crate::gate::state::roots::plain;
use crate::mcp::request::{self, Standing};
use crate::mcp::revision::Revision;
use crate::policy::decide::{self, Question, Ruling};
use crate::policy::fit::{counted, paths_wanted};
use crate::policy::rule::Decision;
use crate::policy::scope::{Admission, Scope};
use crate::wire::call::{Call, Origin};
use crate::wire::line::Line;
use crate::wire::message::{self, Sorted};

/// How many characters of an address or a name a list shows.
const SHOWN: usize = 120;
/// How many characters of an address a hazard names.
const ADDRESS: usize = 200;

/// Judges a call by what is known of its tool (`None`: the server has not described it), or another request. Where the
/// clock was set back, also by the latest time that was seen: a rule that was over stays so.
pub(in crate::gate) fn judge(
    call: &Call,
    described: Option<Arc<Described>>,
    context: Context<'_>,
    seen: &Seen,
) -> Judged {
    let judge_at = |described: Option<Arc<Described>>, now| {
        let context = Context { now, ..context };
        let requests = call.questions().map(|question| judge_request(call, question, context, seen));
        requests.reduce(stricter).unwrap_or_else(|| judged::judge(call, described, context, seen))
    };
    if context.out.latest <= context.now {
        return judge_at(described, context.now);
    }
    stricter(judge_at(described.clone(), context.now), judge_at(described, context.out.latest))
}

/// Of two times, or of several requests inside one answer, the strictest ruling holds, once all paths are followed.
fn stricter(one: Judged, other: Judged) -> Judged {
    let is_stricter = other.ruling.decision > one.ruling.decision;
    let (mut strictest, other) = if is_stricter { (other, one) } else { (one, other) };
    strictest.wanted.real.extend(other.wanted.real);
    strictest.wanted.places.extend(other.wanted.places);
    strictest.wanted.counted.extend(other.wanted.counted);
    strictest
}

fn judge_request(call: &Call, (method, params): (&str, &str), context: Context<'_>, seen: &Seen) -> Judged {
    let params: Value = match is_too_much(call) {
        true => Value::Null,
        // The strict reader has read it already, so this cannot fail.
        false => serde_json::from_str(params).unwrap_or_default(),
    };
    let mut behavior = of_request(method, &params);
    let is_host = call.origin() == Origin::Host;
    let carried = || carried(method, &params, |name| context.catalog.could_have(name));
    match is_host.then(carried).flatten() {
        Some(carried) => return judge_inside(call, (method, params, behavior), carried, context, seen),
        // Text in a server's request is for the user: a path in it is not one that the host would open.
        None if !is_host => behavior.hazards.clear(),
        None => {
            behavior.hazards.extend(unread(call, method, context));
            let is_place = |path: &str| {
                plain(path).is_some_and(|path| {
                    context.config.places.holds(&path, context.host.roots.folders().iter().map(String::as_str))
                })
            };
            behavior.hazards.extend(outside(&request::files(method, &params), is_place));
        }
    }
    by_method(call, (method, params, behavior), context, seen)
}

/// Judges a request by its method, where it carries no call.
fn by_method(
    call: &Call,
    (method, params, behavior): (&str, Value, Behavior),
    context: Context<'_>,
    seen: &Seen,
) -> Judged {
    let about = request::target(&params).map(|target| target.chars().take(SHOWN).collect::<String>());
    let is_host = call.origin() == Origin::Host;
    let admits = || context.scope.admits(&context.config.server, method, &params, context.revision_of(call));
    let asks = is_host && admits() == Ok(Admission::Asks);
    let params = request::arguments(params);
    let question = Question {
        server: &context.config.server,
        method: Some(method),
        tool: method,
        behavior: &behavior,
        arguments: &params,
        now: context.now,
        recent: Some(&context.rules.recent),
    };
    let counted = counted(&context.rules.policy, &question);
    let recent = recent(counted.as_ref(), context, seen.found.as_ref());
    let question = Question { recent: recent.as_deref(), ..question };
    let mut wanted = Look { real: paths_wanted(&context.rules.policy, &question), ..Look::default() };
    wanted.counted.extend(counted);
    let roots = followed(&context.rules.policy, &wanted, seen.found.as_ref());
    let mut ruling = decide::decide_at(&context.rules.policy, &question, &roots);
    if asks && ruling.decision == Decision::Allow && ruling.rule.is_none() {
        let reason = "a scope is set, and this request does more than read, or MCP does not have it";
        ruling = Ruling { decision: Decision::Ask, rule: None, reason: reason.into() };
    }
    let near = near(&context.rules.policy, &question, &roots, &ruling);
    Judged {
        effect: effect(&behavior, call.origin()).to_owned(),
        target: about.map(Arc::from),
        danger: None,
        explained: String::new(),
        wanted,
        awaits_look: false,
        by_approver: None,
        near,
        described: None,
        behavior,
        ruling,
        undeclared: Vec::new(),
        violations: Vec::new(),
        retry: Retry::Plain,
        inside: None,
    }
}

/// Judges a request that carries a tool call as that call; where its tool or its arguments are unclear, as one of an unknown tool.
/// A rule about the method still counts if it is stricter.
fn judge_inside(
    call: &Call,
    (method, params, behavior): (&str, Value, Behavior),
    carried: Carried,
    context: Context<'_>,
    seen: &Seen,
) -> Judged {
    let known = |tool: &str| match context.catalog.find(tool) {
        ToolLookup::Found(described) => Some(described),
        ToolLookup::NotListed | ToolLookup::AskServer => None,
    };
    let (described, tool, arguments, what) = match carried {
        Carried::Call { tool, arguments } => {
            (known(&tool), tool, Value::from(arguments), "a tool call inside another request: ")
        }
        Carried::Unclear => {
            // As a call has it: an object.
            let arguments = if params.is_object() { params.clone() } else { json!({ "params": params }) };
            (
                None,
                method.to_owned(),
                arguments,
                "a request that runs a tool, and it is unclear which one or with what: ",
            )
        }
    };
    let inner = json!({ "name": tool, "arguments": arguments });
    let line = json!({ "jsonrpc": "2.0", "id": 0, "method": request::CALL, "params": inner });
    let by_method = by_method(call, (method, params, behavior), Context { scope: &Scope::default(), ..context }, seen);
    let inside = Some(Inside { tool: tool.into(), described: described.clone() });
    let Sorted::Call(inner) = message::sort(Line::new(line.to_string().into_bytes())) else {
        // Nested too deep to be read as a call.
        let decision = by_method.ruling.decision.max(Decision::Ask);
        let ruling = Ruling { decision, rule: None, reason: "it runs a tool, and the arguments cannot be read".into() };
        return Judged { ruling, inside, behavior: Behavior::unknown(), effect: what.to_owned(), ..by_method };
    };
    // What was allowed for calls of the tool was not allowed for them in this form.
    let grants = Grants::default();
    let inner_context = Context { grants: &grants, ..context };
    let inner = judged::judge(&inner, described, inner_context, seen);
    let is_stricter = by_method.ruling.decision > inner.ruling.decision;
    let (ruling, near) = if is_stricter { (by_method.ruling, by_method.near) } else { (inner.ruling, inner.near) };
    // Files are shown by the arguments of the request itself, and these are further inside.
    let mut wanted = Look { real: inner.wanted.real, places: inner.wanted.places, ..Look::default() };
    wanted.real.extend(by_method.wanted.real);
    let effect = format!("{what}{}", inner.effect);
    Judged { effect, ruling, near, wanted, inside, described: None, ..inner }
}

/// The hazard of a request that is too large to be read, where something in it could decide: a rule, a scope, a file's address, or
/// a call in a request that MCP does not have.
fn unread(call: &Call, method: &str, context: Context<'_>) -> Option<Hazard> {
    let decides = || {
        let is_own = Revision::ALL.iter().any(|revision| request::standing(method, *revision) != Standing::Other);
        !is_own || method == "resources/read" || !context.scope.is_whole() || context.rules.policy.restricts_methods()
    };
    let what = || "the request holds more values than are read".to_owned();
    (is_too_much(call) && decides()).then(|| Hazard { kind: HazardKind::UnreadArguments, what: what() })
}

/// The hazard of the first address of a file that is in no place; a path that cannot be told is in none.
fn outside(files: &[(&str, Option<String>)], is_place: impl Fn(&str) -> bool) -> Option<Hazard> {
    let is_outside = |(_, path): &&(&str, Option<String>)| !path.as_deref().is_some_and(&is_place);
    let (address, _) = files.iter().find(is_outside)?;
    let address: String = address.chars().take(ADDRESS).collect();
    let what = format!("the address of a file outside of the places that this server may read: {address}");
    Some(Hazard { kind: HazardKind::OutsideRoots, what })
}

/// Our own line on what a request does.
fn effect(behavior: &Behavior, origin: Origin) -> &'static str {
    let identity = behavior.identity;
    match (origin, identity.output_domain, identity.mutability) {
        (_, OutputDomain::Model, _) => "the server has the host's model write an answer",
        (_, OutputDomain::User, _) => "the server asks the host's user a question",
        (Origin::Host, OutputDomain::Content, Mutability::Pure) => "reads a resource or a prompt of the server",
        (Origin::Host, _, Mutability::Pure) => "reads from the server; no tool is called",
        (Origin::Server | Origin::Answer, _, Mutability::Pure) => "the server reads from the host",
        (Origin::Host, OutputDomain::Unknown, _) => "a request that is not a tool call: its effect is unknown",
        (Origin::Host, _, _) => "changes what the server keeps for this session; no tool is called",
        (Origin::Server | Origin::Answer, _, _) => "a request from the server: what the host does with it is unknown",
    }
}
