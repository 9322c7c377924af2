//! Judges whatever can be held: a call by its tool, also one inside another request; any other request by its method, the rules
//! about that, the scope, and the places whose files may be read. Owns the order of the checks; of several rulings the strictest
//! holds. Acts on nothing.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::behavior::agreed::{Agreement, What};
use crate::behavior::arguments::key::Said;
use crate::behavior::arguments::named;
use crate::behavior::conclude::{Behavior, CallBehavior};
use crate::behavior::evidence::Source;
use crate::behavior::hazards::{Hazard, HazardKind};
use crate::behavior::request::{Carried, carried, of_request};
use crate::behavior::shape::{Keys, Known, New, PathStates};
use crate::behavior::taxonomy::{Badge, Mutability, OutputDomain};
use crate::behavior::{conclude, shape};
use crate::capability::schema::{Fits, Violation};
use crate::gate::call::danger::{care, danger};
use crate::gate::call::effect_line;
use crate::gate::data::facts::{Findings, Look};
use crate::gate::data::opinion::{Approver, May, Opinion};
use crate::gate::data::pin::PinState;
use crate::gate::grants::{GrantQuestion, Grants, Loosened};
use crate::gate::held::context::Context;
use crate::gate::held::retry::Retry;
use crate::gate::held::{Inside, Judged, Seen};
use crate::gate::held::{caller, retry, target};
use crate::gate::server::catalog::ToolLookup;
use crate::gate::server::described::Described;
use crate::gate::state::roots::plain;
use crate::mcp::lifecycle::Revision;
use crate::mcp::meta::{Carries, unknown_meta};
use crate::mcp::request;
use crate::mcp::request::Standing;
use crate::policy::decide;
use crate::policy::decide::{Near, Question, Ruling};
use crate::policy::fit::{counted, paths_wanted};
use crate::policy::rate::{Counted, Recent};
use crate::policy::rule::{Decision, FirstUse, Policy};
use crate::policy::scope::{Admission, Scope};
use crate::policy::under::{Paths, Roots};
use crate::signing::grade::Required;
use crate::wire::call::{Call, Origin};
use crate::wire::line::Line;
use crate::wire::message::Sorted;
use crate::wire::{json, message};

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
    let carried = || carried(method, &params, |name| context.catalog.could_have(name));
    match is_host.then(carried).flatten() {
        Some(carried) => return judge_inside(call, (method, params, behavior), carried, context, seen),
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
        ruling = Ruling::of(Decision::Ask, reason);
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

/// The hazard of a request that is too large to be read, where something in it could decide: a rule, a scope, a file's address, or
/// a call in a request that MCP does not have.
fn unread_request(call: &Call, method: &str, context: Context<'_>) -> Option<Hazard> {
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

/// How many values a call may hold to be read: every reader looks at each of them, and a hundred thousand would keep
/// everything else waiting.
const MOST_VALUES: usize = 10_000;

/// How long a key may be for its call to be read, in bytes: keys are split into words, and no honest one comes near.
const LONGEST_KEY: usize = 4096;

/// How many bytes of the explanation of the arguments go to the log.
const EXPLAINED: usize = 200;
/// Rules that a card names beside the one that decided.
const NEAR: usize = 2;

/// Where no path was looked at yet.
static NOTHING_SEEN: PathStates = PathStates::new();

/// Judges a call by what is known of its tool (`None`: the server has not described it), at one time of day.
fn judge_call(call: &Call, described: Option<Arc<Described>>, context: Context<'_>, seen: &Seen) -> Judged {
    let found = seen.found.as_ref();
    let text = call.arguments_text();
    let unknown;
    let (tool, of_tool, said, keys) = match described.as_deref() {
        Some(known) => (Some(&known.tool), &known.behavior, known.said(), known.keys()),
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
            agreed: context.catalog.agreed(),
            places: &context.config.places,
            roots: context.host.roots.folders(),
            path_states: found.map_or(&NOTHING_SEEN, |found| &found.path_states),
        };
        read.behavior.shape = shape::of_call(tool, keys, &arguments, known);
        first_use(described.as_deref(), context, &mut read.behavior);
        meta(call, context, &mut read.behavior);
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
        let named = named::path_arguments(&arguments);
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
    let danger = danger(&behavior, &arguments, found);
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

/// Whether a call holds more than is read.
fn is_too_much(call: &Call) -> bool {
    call.values() > MOST_VALUES || call.longest_key() > LONGEST_KEY
}

/// What is concluded of a call that is not read: nothing that could let it run unseen.
fn unread(mut behavior: Behavior) -> (CallBehavior, Vec<Violation>, Retry) {
    let why = format!(
        "the arguments hold more than {MOST_VALUES} values, or a key of more than {LONGEST_KEY} bytes, so they were not read"
    );
    behavior.hazards.push(Hazard { kind: HazardKind::UnreadArguments, what: why.clone() });
    behavior.shape.asks("", why);
    (CallBehavior { behavior, undeclared: Vec::new() }, Vec::new(), Retry::Asks)
}

/// Adds that the tool was never agreed to, where the policy wants its first use asked. What the operator pinned was answered.
fn first_use(described: Option<&Described>, context: Context<'_>, behavior: &mut Behavior) {
    let Some(described) = described.filter(|_| context.rules.policy.defaults.first_use == FirstUse::AskOnce) else {
        return;
    };
    let one = shape::first_use(&described.tool.name, described.digest);
    let is_pinned = behavior.evidence.iter().any(|one| one.source == Source::Pinned);
    if !is_pinned && !context.catalog.agreed().contains(&one) {
        let new =
            New { pointer: String::new(), says: "the first use of this tool".to_owned(), agree: Some(one), any: None };
        behavior.shape.new.insert(0, new);
    }
}

/// Adds the keys of `_meta` that are new: one token is agreed to once for a host program, anything else as its value.
fn meta(call: &Call, context: Context<'_>, behavior: &mut Behavior) {
    let Some(text) = call.meta_text() else { return };
    // The strict reader has read it already; if this failed, nothing of it would be known.
    let members: Value = serde_json::from_str(text).unwrap_or_default();
    let host = call
        .meta()
        .client
        .as_ref()
        .map(|(name, _)| name.as_str())
        .or(context.host.lifecycle.host().map(|(name, _)| name))
        .unwrap_or_default();
    let unknown = unknown_meta(&members, context.host.lifecycle.revision().filter(|_| !call.is_modern()));
    let unknown = unknown.into_iter().filter(|(key, carries)| *carries != Carries::Plain || !caller::says_who(key));
    for (key, carries) in unknown {
        let one = match carries {
            Carries::Plain => Agreement { key: key.clone(), ..Agreement::of_server(What::Meta, host) },
            Carries::Arguments => {
                let value = members.get(&key).map(Value::to_string).unwrap_or_default();
                let tool = call.name().to_owned();
                Agreement { tool, key: format!("/_meta/{key}"), ..Agreement::of_server(What::Value, value) }
            }
        };
        if !context.catalog.agreed().contains(&one) {
            let says = one.says().chars().take(EXPLAINED).collect();
            behavior.shape.new.push(New { pointer: format!("/_meta/{key}"), says, agree: Some(one), any: None });
        }
    }
}

/// A text of at most so many bytes; one that is cut says so.
fn within(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        text.truncate(text.floor_char_boundary(bytes));
        text.push('…');
    }
    text
}

/// Where the arguments do not fit the tool's schema. A schema that cannot be used is a hazard.
fn check_schema(described: Option<&Described>, arguments: &Value, behavior: &mut Behavior) -> Vec<Violation> {
    match described.map(Described::input) {
        None => Vec::new(),
        Some(Ok(schema)) => match schema.check(arguments) {
            Fits::Yes => Vec::new(),
            Fits::No(violations) => violations,
            Fits::Unchecked => {
                let what = "the arguments could not be checked within the budget: the schema takes too much work";
                behavior.hazards.push(Hazard { kind: HazardKind::UnusableSchema, what: what.to_owned() });
                Vec::new()
            }
        },
        Some(Err(unusable)) => {
            let what = format!("the arguments could not be checked: {unusable}");
            behavior.hazards.push(Hazard { kind: HazardKind::UnusableSchema, what });
            Vec::new()
        }
    }
}

/// The first places that do not fit, in one line.
fn mismatch(violations: &[Violation]) -> String {
    let place = |one: &Violation| format!("{} {}", if one.path.is_empty() { "/" } else { &one.path }, one.what);
    let shown: Vec<String> = violations.iter().take(3).map(place).collect();
    let more = violations.len() - shown.len();
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("the arguments do not fit the tool's schema: {}{more}", shown.join("; "))
}

/// A ruling, and what it rests on.
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
    let care = || care(question.behavior, question.arguments, &seen.look, found);
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
    Ruled { ruling, awaits_look, by_approver, near, wanted }
}

/// If a ruling asks: the rules for this tool that did not decide, the nearest first.
fn near(policy: &Policy, question: &Question<'_>, roots: &Roots, ruling: &Ruling) -> Vec<Near> {
    match ruling.decision {
        Decision::Ask => decide::nearest(policy, question, roots, NEAR),
        Decision::Allow | Decision::Deny => Vec::new(),
    }
}

/// What ran lately: for a call that is counted, in all wrappers; `None` while that is not known of the others.
fn recent<'a>(counted: Option<&Counted>, context: Context<'a>, found: Option<&Findings>) -> Option<Cow<'a, Recent>> {
    match counted {
        None => Some(Cow::Borrowed(&context.rules.recent)),
        Some(_) => found?.others.as_ref().map(|others| Cow::Owned(context.rules.recent.joined(others))),
    }
}

/// Where the policy's paths lead; a path that was not followed decides nothing.
pub(in crate::gate) fn followed<'p>(policy: &'p Policy, wanted: &Look, found: Option<&Findings>) -> Cow<'p, Roots> {
    if wanted.real.is_empty() {
        return Cow::Borrowed(&policy.roots);
    }
    let real = found.map(|found| found.real.clone()).unwrap_or_default();
    Cow::Owned(Roots { paths: Paths::Followed(real), ..policy.roots.clone() })
}

/// Joins a ruling with what the approvers said: the strictest counts. They tighten; only one that may allow can allow, and
/// only what a default would ask of a call without hazards. Names the approver that decided, where one did.
fn join(ruling: Ruling, opinions: &[Opinion], approvers: &[Approver], may_loosen: bool) -> (Ruling, Option<String>) {
    let strictest = opinions.iter().max_by_key(|one| one.decision).filter(|one| one.decision > Decision::Allow);
    let by_default = ruling.decision == Decision::Ask && ruling.rule.is_none();
    let may_allow = |one: &&Opinion| approvers.iter().any(|known| known.name == one.name && known.may == May::Allow);
    let decides = match strictest {
        Some(one) => Some(one).filter(|one| one.decision > ruling.decision),
        None => opinions.iter().find(may_allow).filter(|_| by_default && may_loosen),
    };
    match decides {
        Some(one) => (one.ruling(), Some(one.name.clone())),
        None => (ruling, None),
    }
}
