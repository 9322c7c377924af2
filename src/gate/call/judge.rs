//! A held call's tool is found (from what the host has read, from what is remembered, or by asking the server), the call is judged,
//! and the ruling acted on: a decision, a question to the operator, or first a look or a consultation. Owns the order of the
//! checks; of several rulings the strictest holds.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::audit::{By, query::VIOLATION};
use crate::behavior::conclude::{self, CallBehavior};
use crate::behavior::request::{Carried, carried, of_request};
use crate::behavior::shape::{self, Keys, Known, PathStates};
use crate::behavior::{
    Agreement, Badge, Behavior, Hazard, HazardKind, Mutability, arguments::key::Said, arguments::path, hazards::reading,
};
use crate::gate::call::danger::{care, danger};
use crate::gate::call::judgement::{
    self, EXPLAINED, by_method, check_schema, first_use, followed, is_too_much, join, mismatch, near, outside, recent,
    unread, unread_request, within,
};
use crate::gate::call::{effect_line, look};
use crate::gate::config::{Config, Mode};
use crate::gate::data::{effect::Effect, facts::Look, pin::PinState};
use crate::gate::grants::{GrantQuestion, Grants, Loosened};
use crate::gate::held::retry::{self, Retry};
use crate::gate::held::{
    Approval, Case, Describing, Held, Inside, Judged, Next, Seen, StageKind as _, Verdict, context::Context, out::Out,
    replies, target,
};
use crate::gate::server::catalog::{Catalog, ToolLookup};
use crate::gate::server::{described::Described, flight::Continued};
use crate::gate::state::{ListOutcome, roots::plain};
use crate::mcp::{InSession, request};
use crate::policy::decide::{self, Near};
use crate::policy::fit::{counted, paths_wanted};
use crate::policy::scope::{Asks, InScope, Outside};
use crate::policy::{Decision, Question, Ruling, Scope};
use crate::signing::Required;
use crate::wire::message::{self, Sorted};
use crate::wire::{Call, Line, Origin, json};

/// Finds a held call's tool as its server describes it, and judges it by that; the server is asked first where it is not known.
pub(super) fn describe(context: Context<'_>, held: Held, waits: Describing) -> Next {
    if held.call.method().is_some() {
        return judge(context, held, waits.session, None);
    }
    match context.catalog.find(held.call.name()) {
        ToolLookup::Found(described) => judge(context, held, waits.session, Some(described)),
        ToolLookup::NotListed | ToolLookup::AskServer => Next::AskServer(held, waits),
    }
}

/// Asks the server for its tools under our own id, unless that question is on its way.
pub(super) fn ask_server(held: Held, waits: Describing, catalog: &mut Catalog, out: &mut Out) -> Next {
    if let Some(question) = catalog.ask(out.now, own_meta(&held.call)) {
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
pub(in crate::gate) fn own_meta(call: &Call) -> Option<String> {
    if !call.is_modern() {
        return None;
    }
    const KEPT: [&str; 3] = [
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
        "io.modelcontextprotocol/clientInfo",
    ];
    let parsed = call.meta_text().and_then(|text| serde_json::from_str::<Map<_, _>>(text).ok());
    let kept: Map<String, Value> =
        parsed.unwrap_or_default().into_iter().filter(|(key, _)| KEPT.contains(&key.as_str())).collect();
    Some(Value::from(kept).to_string())
}

/// Judges one held call by its tool's description (`None`: the server gave none).
pub(super) fn judge(context: Context<'_>, held: Held, session: InSession, described: Option<Arc<Described>>) -> Next {
    let judged = Box::new(judgement(&held.call, described, context, &held.seen));
    let scope = match admit(context, &held.call, &judged) {
        Ok(scope) => scope,
        Err(Outside(why)) => {
            let reply = replies::out_of_scope(&held.call, &why);
            return Next::deny(held, Some(judged), Verdict::by(By::Scope, None, why), reply);
        }
    };
    let case = Case { session, scope, judged };
    if case.judged.violations.is_empty() {
        if let Some(wanted) = look::needed(context, &held, &case.judged) {
            return Next::Look(held, case, wanted);
        }
        let approvers = look::approvers_needed(context.config, &held, &case.judged);
        if !approvers.is_empty() {
            return Next::Consult(held, case, approvers);
        }
    }
    Next::Act(held, case)
}

fn admit(context: Context<'_>, call: &Call, judged: &Judged) -> Result<InScope, Outside> {
    let (scope, server) = (context.scope, &context.config.server);
    let asks = match (call.method(), &judged.inside) {
        (None, _) => Asks::Tool(context.asked_of_scope(call, judged)),
        (Some(_), None) => Asks::Request(server, context.revision_of(call)),
        (Some(_), Some(Inside { tool, described })) => {
            Asks::Tool(Described::asked_of_scope(described.as_deref(), (server, tool), &judged.behavior))
        }
    };
    scope.admit(call, asks)
}

/// Acts on a final ruling: everything needed was looked at, and all approvers were asked. `continued` is the approval that
/// this call continues, if it is a retry that the server asked for.
pub(super) fn act(
    (held, case): (Held, Case),
    continued: Option<Continued>,
    grants: &mut Grants,
    (config, mode, attached): (&Config, Mode, usize),
) -> Next {
    if !case.judged.violations.is_empty() {
        let reply = replies::invalid_arguments(&held.call, &case.judged.violations);
        return Next::deny(held, Some(case.judged), Verdict::by(By::Fault, None, VIOLATION), reply);
    }
    let Judged { ruling, by_approver, .. } = &*case.judged;
    let (rule, reason) = (ruling.rule.clone(), ruling.reason.clone());
    let by = match (by_approver, &rule) {
        (Some(_), _) => By::Approver,
        (None, Some(_)) => By::Rule,
        (None, None) => By::Default,
    };
    let verdict = match (ruling.decision, continued) {
        (Decision::Deny, _) => {
            let reply = replies::denied_by_policy(&held.call, &reason);
            return Next::deny(held, Some(case.judged), Verdict::by(by, rule, reason), reply);
        }
        // The operator who edited a call decides on it, even if policy would allow it.
        (Decision::Allow, _) if held.original.is_some() => return Next::Ask(held, case),
        (Decision::Allow, _) if grants.use_up(rule.as_deref()) => Verdict::by(By::Rule, rule, reason),
        (Decision::Allow, _) => Verdict::by(by, rule, reason),
        (Decision::Ask, Some(from)) if case.judged.retry == Retry::Plain => {
            Verdict::by(from.by, from.rule, format!("continues the approval of {}", from.ticket))
        }
        (Decision::Ask, _) if mode == Mode::Observe => {
            Verdict::by(By::Observe, rule, format!("observing, would have asked: {reason}"))
        }
        (Decision::Ask, _) if config.denies_unattended(attached) => {
            // No deadline and no operator denied it, so `by` is the default; the rule is the one that asked.
            let verdict = Verdict::by(By::Default, rule, "no console is open, and --unattended deny does not wait");
            let reply = replies::unattended(&held.call, &config.console);
            return Next::deny(held, Some(case.judged), verdict, reply);
        }
        (Decision::Ask, _) => return Next::Ask(held, case),
    };
    Next::Approve(held, Approval { case, verdict, unread: false, grant: None, signed: Vec::new() })
}

/// Notes what was agreed to and lets a call pass, once a day each: what is not used for long lapses.
pub(super) fn note_use(judged: &Judged, out: &mut Out) {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    if judged.ruling.decision != Decision::Allow || !judged.violations.is_empty() {
        return;
    }
    let today = out.now.wall.div_euclid(DAY);
    if out.log.used.0 != today {
        out.log.used = (today, HashSet::new());
    }
    let used = judged.behavior.shape.used.iter();
    let new: Vec<Agreement> = used.filter(|one| out.log.used.1.insert((*one).clone())).cloned().collect();
    if !new.is_empty() {
        out.push(Effect::UseAgreed(new));
    }
}

/// Judges a call by its tool as it is described now: the server may have changed it. Asks the server where that is not known.
pub(super) fn judge_again(context: Context<'_>, held: Held, case: Case) -> Next {
    let Case { session, judged, .. } = case;
    match context.find(&held.call) {
        ToolLookup::Found(known) => Next::Judge(held, session, Some(known)),
        ToolLookup::NotListed | ToolLookup::AskServer if judged.described.is_some() && held.call.method().is_none() => {
            Next::AskServer(held, Describing { session, before: Some(judged) })
        }
        ToolLookup::NotListed | ToolLookup::AskServer => Next::Judge(held, session, None),
    }
}

/// Whether a call that waits for the operator would be asked again for the same reason.
pub(super) fn stays(context: Context<'_>, held: &Held, judged: &Judged) -> bool {
    let described = match (context.find(&held.call), &judged.described) {
        (ToolLookup::Found(known), _) => Some(known),
        (ToolLookup::NotListed | ToolLookup::AskServer, None) => None,
        // The definition changed, and the new one is not known yet: no ruling on the old one may let the call pass.
        (ToolLookup::NotListed | ToolLookup::AskServer, Some(_)) => return false,
    };
    let anew = judgement(&held.call, described, context, &held.seen);
    let is_asked =
        anew.ruling.decision == Decision::Ask || held.original.is_some() && anew.ruling.decision == Decision::Allow;
    is_asked && anew.ruling == judged.ruling && held.seen.look.covers(&anew.wanted)
}

/// Judges a call by what is known of its tool (`None`: the server has not described it), or another request. Where the
/// clock was set back, also by the latest time that was seen: a rule that was over stays so.
pub(in crate::gate) fn judgement(
    call: &Call,
    described: Option<Arc<Described>>,
    context: Context<'_>,
    seen: &Seen,
) -> Judged {
    let judge_at = |described: Option<Arc<Described>>, now| {
        let context = Context { now, ..context };
        if call.origin() == Origin::Result {
            return judgement::of_answer(call, seen, context);
        }
        let requests = call.questions().map(|question| judge_request(call, question, context, seen));
        requests.reduce(stricter).unwrap_or_else(|| judge_call(call, described, context, seen))
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
    strictest.ruling = strictest.ruling.joined(&other.ruling);
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
    let repeat = context.out.secrets.repeat_in(call).filter(|_| is_host);
    behavior.hazards.extend(repeat.clone());
    let carried = || carried(method, &params, |name| context.catalog.could_have(name));
    match is_host.then(carried).flatten() {
        Some(carried) => {
            let mut judged = judge_inside(call, (method, params, behavior), carried, context, seen);
            // What surrounds the call inside is in the record, too.
            judged.behavior.hazards.extend(repeat.filter(|one| !judged.behavior.hazards.contains(one)));
            return judged;
        }
        // Text in a server's request is for the user: a path in it is not one that the host would open.
        None if !is_host => behavior.hazards.clear(),
        None => {
            behavior.hazards.extend(unread_request(call, method, context));
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
        let ruling = Ruling::of(decision, "it runs a tool, and the arguments cannot be read").joined(&by_method.ruling);
        return Judged { ruling, inside, behavior: Behavior::unknown(), effect: what.to_owned(), ..by_method };
    };
    // What was allowed for calls of the tool was not allowed for them in this form.
    let grants = Grants::default();
    let inner_context = Context { grants: &grants, ..context };
    let inner = judge_call(&inner, described, inner_context, seen);
    let is_stricter = by_method.ruling.decision > inner.ruling.decision;
    let (ruling, near) = if is_stricter {
        (by_method.ruling.joined(&inner.ruling), by_method.near)
    } else {
        (inner.ruling.joined(&by_method.ruling), inner.near)
    };
    // Files are shown by the arguments of the request itself, and these are further inside.
    let mut wanted = Look { real: inner.wanted.real, places: inner.wanted.places, ..Look::default() };
    wanted.real.extend(by_method.wanted.real);
    let effect = format!("{what}{}", inner.effect);
    Judged { effect, ruling, near, wanted, inside, described: None, ..inner }
}

static NOTHING_SEEN: PathStates = PathStates::new();

/// Judges a call by what is known of its tool (`None`: the server has not described it), at one time of day.
fn judge_call(call: &Call, described: Option<Arc<Described>>, context: Context<'_>, seen: &Seen) -> Judged {
    let found = seen.found.as_ref();
    let text = call.arguments_text();
    let unknown;
    let (tool, of_tool, said, keys) = match described.as_deref() {
        Some(known) => {
            let behavior = context.behavior_of(known);
            (Some(&known.tool), behavior, known.said(), known.keys(behavior))
        }
        None => {
            unknown = (Behavior::unknown(), Said::default(), Keys::default());
            (None, &unknown.0, &unknown.1, &unknown.2)
        }
    };
    let (arguments, read) = if is_too_much(call) {
        (Value::Null, unread(of_tool.clone()))
    } else {
        // The strict reader has read it already, so this cannot fail; if it did, null fits no schema and hides nothing.
        let arguments = json::value(text).unwrap_or(Value::Null);
        let mut read = conclude::of_described_call(tool, said, of_tool, &arguments);
        let mut violations = check_schema(described.as_deref(), &arguments, &mut read.behavior);
        if !violations.is_empty() && !context.mismatch().refuses(call.name()) {
            let what = mismatch(&std::mem::take(&mut violations));
            read.behavior.hazards.push(Hazard { kind: HazardKind::SchemaMismatch, what });
        }
        let known = Known {
            agreed: context.agreed(),
            places: &context.config.places,
            roots: context.host.roots.folders(),
            path_states: found.map_or(&NOTHING_SEEN, |found| &found.path_states),
        };
        read.behavior.shape = shape::of_call(tool, keys, &arguments, known);
        first_use(described.as_deref(), context, &mut read.behavior);
        judgement::meta(call, context, &mut read.behavior);
        let retry = retry::judge(call, &mut read.behavior);
        if read.behavior.identity.mutability == Mutability::Mutates {
            read.behavior.hazards.extend(context.host.roots.hazard(&arguments));
        }
        (arguments, (read, violations, retry))
    };
    let (CallBehavior { mut behavior, undeclared }, violations, retry) = read;
    if let Some(changed) = context.catalog.server_change() {
        behavior.hazards.push(Hazard { kind: HazardKind::ChangedServer, what: changed.to_string() });
    }
    if let Some(mismatch) = context.config.expected.as_ref().and_then(|expected| expected.mismatch(&behavior)) {
        behavior.hazards.push(mismatch);
    }
    if let Some(what) =
        context.flights.reading.as_ref().filter(|_| reading::leaves(behavior.identity.action, tool, &arguments))
    {
        behavior.hazards.push(Hazard { kind: HazardKind::AfterReading, what: what.clone() });
    }
    behavior.hazards.extend(context.out.secrets.repeat_in(call));
    let question = Question {
        method: None,
        server: &context.config.server,
        tool: call.name(),
        behavior: &behavior,
        arguments: &arguments,
        now: context.now,
        recent: Some(&context.rules.recent),
    };
    let counted = counted(&context.rules.policy, &question);
    let recent = recent(counted.as_ref(), context, found);
    let question = Question { recent: recent.as_deref(), ..question };
    let Ruled { ruling, awaits_look, by_approver, near, mut wanted } =
        rule(described.as_deref(), &question, context, seen);
    // What a read would ask for is known once its paths were looked at.
    let reads = behavior.identity.mutability == Mutability::Pure;
    let path_states = found.map_or(&NOTHING_SEEN, |found| &found.path_states);
    let is_open = behavior.shape.wanted.iter().any(|path| !path_states.contains_key(path));
    let looks = reads && ruling.decision == Decision::Ask && is_open;
    if reads && ruling.decision == Decision::Ask {
        wanted.places.extend(behavior.shape.wanted.iter().cloned());
    }
    wanted.counted.extend(counted);
    let is_seen = found.is_some_and(|found| wanted.real.iter().all(|path| found.real.contains_key(path)));
    if ruling.decision == Decision::Ask && !looks && (wanted.real.is_empty() || is_seen) {
        let named = path::path_arguments(&arguments);
        match behavior.identity.mutability {
            Mutability::Mutates => (wanted.files, wanted.left_out) = (named.paths, named.left_out),
            // A read replaces nothing, so only where its paths lead matters.
            Mutability::Pure => wanted.real.extend(named.paths.into_iter().map(|(_, path)| path)),
        }
    }
    let explained = match behavior.identity.mutability {
        Mutability::Pure => within(behavior.shape.words(), EXPLAINED),
        Mutability::Mutates => String::new(),
    };
    // A call that reads and passes at once is shown to no one.
    let passes = ruling.decision == Decision::Allow && behavior.badge() == Badge::Pure;
    let is_shown = !passes || !behavior.analyses.is_empty();
    let target = target::of(&behavior, &arguments);
    let effect = || effect_line::effect(&behavior, call.name(), &arguments, target.as_deref(), found);
    let effect = if is_shown { effect() } else { String::new() };
    let danger = danger(&behavior, call.name(), &arguments, found);
    Judged {
        effect,
        target: target.as_deref().map(Arc::from),
        danger,
        explained,
        wanted,
        awaits_look,
        by_approver,
        near,
        described,
        behavior,
        ruling,
        undeclared,
        violations,
        retry,
        inside: None,
    }
}

struct Ruled {
    ruling: Ruling,
    awaits_look: bool,
    by_approver: Option<String>,
    near: Vec<Near>,
    wanted: Look,
}

/// Rules on a call: the operator's word on its definition, then the policy, what a grant allows, what approvers said.
fn rule(described: Option<&Described>, question: &Question<'_>, context: Context<'_>, seen: &Seen) -> Ruled {
    let (policy, found) = (&context.rules.policy, seen.found.as_ref());
    if described.is_some_and(|known| known.pin_state == PinState::Refused) {
        let reason = "the operator refused this definition of the tool; Tools (4) in the console shows it";
        let ruling = Ruling::of(Decision::Deny, reason);
        return Ruled { ruling, awaits_look: false, by_approver: None, near: Vec::new(), wanted: Look::default() };
    }
    let mut wanted = Look { real: paths_wanted(policy, question), ..Look::default() };
    let definition = described.map(|known| known.digest);
    let care = || care(question.behavior, (question.tool, question.arguments), &seen.look, found);
    let asked = GrantQuestion { call: question, definition, roots: &policy.roots, care: &care };
    wanted.real.extend(context.grants.paths_wanted(&asked));
    let roots = followed(policy, &wanted, found);
    let ruling = decide::decide_at(policy, question, &roots);
    let Loosened { ruling, awaits_look } = context.grants.loosen(ruling, &asked, policy, found);
    let near = near(policy, question, &roots, &ruling);
    let opinions = seen.opinions.as_deref().unwrap_or_default();
    // A program cannot sign.
    let unsigned = policy.signed == Required::Never;
    let may_loosen = policy.allows_count && unsigned && question.behavior.hazards.is_empty();
    let (ruling, by_approver) = join(ruling, opinions, &context.config.approvers, may_loosen);
    // Above all else that may let a call pass.
    let ruling = context.rules.stops.hold(ruling);
    Ruled { ruling, awaits_look, by_approver, near, wanted }
}
