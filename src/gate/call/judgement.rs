//! The parts of a judgement: the method, the schema, `_meta`, the first use, where paths lead, what approvers said.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::behavior::hazards::reading;
use crate::behavior::shape::{self, New};
use crate::behavior::{
    Agreement, Behavior, Hazard, HazardKind, Mutability, OutputDomain, Source, agreed::What, conclude::CallBehavior,
};
use crate::capability::schema::{Fits, Violation};
use crate::gate::data::facts::{Approver, Findings, Look, May, Opinion};
use crate::gate::held::{Judged, Seen, context::Context, retry, retry::Retry};
use crate::gate::server::{described::Described, flight::AnswerOf};
use crate::mcp::Revision;
use crate::mcp::request::{self, Carries, Standing, unknown_meta};
use crate::policy::decide::{self, Near};
use crate::policy::fit::{counted, is_about_results, paths_wanted};
use crate::policy::result::{Read, ResultAct, ResultTest};
use crate::policy::{
    Decision, Policy, Question, Recent, Roots, Rule, Ruling, rate::Counted, rule::FirstUse, scope::Admission,
    under::Paths,
};
use crate::wire::{Call, Origin};

/// How many characters of an address or a name a list shows.
const SHOWN: usize = 120;
/// How many characters of an address a hazard names.
const ADDRESS: usize = 200;

/// Judges a request by its method, where it carries no call.
pub(super) fn by_method(
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
    // A host that cannot list what there is shows nothing at all.
    let only_lists = decide::only_lists(&behavior) && behavior.hazards.is_empty();
    if is_host && !only_lists {
        ruling = context.rules.stops.hold(ruling);
    }
    let near = near(&context.rules.policy, &question, &roots, &ruling);
    let effect = effect(&behavior, call.origin()).to_owned();
    Judged { target: about.map(Arc::from), wanted, near, ..Judged::of(behavior, ruling, effect) }
}

/// Judges a held answer by the rules about answers as they are now.
pub(super) fn of_answer(call: &Call, seen: &Seen, context: Context<'_>) -> Judged {
    let read = &Read::of(call.line().content());
    let of = seen.answer.as_deref();
    let met = of.into_iter().flat_map(|of| {
        // What a rule asked about may have been redacted by another: the rule still asks.
        let asks = |rule: &Rule, test: &ResultTest| test.act == ResultAct::Ask && rule.id == of.asked_by;
        rules_about(of, context).filter(move |(rule, test)| asks(rule, test) || test.holds(read))
    });
    let ruling = match met.max_by_key(|(_, test)| test.act) {
        Some((rule, test)) => {
            let decision = if test.act == ResultAct::Ask { Decision::Ask } else { Decision::Deny };
            let reason = format!("rule {} is about results with {}", rule.id, test.words());
            Ruling { rule: Some(rule.id.clone()), ..Ruling::of(decision, reason) }
        }
        None if of.is_some() && context.rules.policy.allows_count => {
            Ruling::of(Decision::Allow, "no rule asks about this result any more")
        }
        None => Ruling::of(Decision::Ask, "the rule that asked about this result cannot be read any more"),
    };
    // While calls are frozen no change of rules passes on what waits for a person.
    let ruling = context.rules.stops.hold(ruling);
    let ticket = of.and_then(|of| of.ticket.as_deref()).map(|ticket| format!(" ({ticket})")).unwrap_or_default();
    let effect = format!("passes on the result of {}{ticket}, which has run", call.name());
    let unknown = Behavior::unknown();
    let identity = of.and_then(|of| of.identity).unwrap_or(unknown.identity);
    Judged {
        target: of.and_then(|of| of.target.clone()),
        danger: reading::brought(call.line().content()).map(|brought| format!("the result has {brought}")),
        ..Judged::of(Behavior { identity, ..unknown }, ruling, effect)
    }
}

/// The rules about results that are about an answer, whatever is in it.
pub(in crate::gate) fn rules_about<'c>(
    of: &'c AnswerOf,
    context: Context<'c>,
) -> impl Iterator<Item = (&'c Rule, &'c ResultTest)> {
    let tool = of.identity.map(|identity| (&*of.tool, identity));
    let is_about = move |rule: &&Rule| is_about_results(rule, &context.config.server, tool, context.now);
    let rules = context.rules.policy.results.iter().filter(is_about);
    rules.filter_map(|rule| Some((rule, rule.result.as_ref()?)))
}

/// The hazard of a request too large to be read, where a rule, a scope, a file's address or a call in it could decide.
pub(super) fn unread_request(call: &Call, method: &str, context: Context<'_>) -> Option<Hazard> {
    let decides = || {
        let is_own = Revision::ALL.iter().any(|revision| request::standing(method, *revision) != Standing::Other);
        !is_own || method == "resources/read" || !context.scope.is_whole() || context.rules.policy.restricts_methods()
    };
    let what = || "the request holds more values than are read".to_owned();
    (is_too_much(call) && decides()).then(|| Hazard { kind: HazardKind::UnreadArguments, what: what() })
}

/// The hazard of the first address of a file that is in no place; a path that cannot be told is in none.
pub(super) fn outside(files: &[(&str, Option<String>)], is_place: impl Fn(&str) -> bool) -> Option<Hazard> {
    let is_outside = |(_, path): &&(&str, Option<String>)| !path.as_deref().is_some_and(&is_place);
    let (address, _) = files.iter().find(is_outside)?;
    let address: String = address.chars().take(ADDRESS).collect();
    let what = format!("the address of a file outside of the places that this server may read: {address}");
    Some(Hazard { kind: HazardKind::OutsideRoots, what })
}

fn effect(behavior: &Behavior, origin: Origin) -> &'static str {
    let identity = behavior.identity;
    match (origin, identity.output_domain, identity.mutability) {
        (_, OutputDomain::Model, _) => "the server has the host's model write an answer",
        (_, OutputDomain::User, _) => "the server asks the host's user a question",
        (Origin::Host, OutputDomain::Content, Mutability::Pure) => "reads a resource or a prompt of the server",
        (Origin::Host, _, Mutability::Pure) => "reads from the server; no tool is called",
        (Origin::Server | Origin::Answer | Origin::Result, _, Mutability::Pure) => "the server reads from the host",
        (Origin::Host, OutputDomain::Unknown, _) => "a request that is not a tool call: its effect is unknown",
        (Origin::Host, _, _) => "changes what the server keeps for this session; no tool is called",
        (Origin::Server | Origin::Answer | Origin::Result, _, _) => {
            "a request from the server: what the host does with it is unknown"
        }
    }
}

/// How many values a call may hold to be read: every reader looks at each, and everything else would wait for 100,000.
const MOST_VALUES: usize = 10_000;

/// How long a key may be for its call to be read, in bytes: keys are split into words, and no honest one comes near.
const LONGEST_KEY: usize = 4096;

/// How many bytes of the explanation of the arguments go to the log.
pub(super) const EXPLAINED: usize = 200;
/// Rules that a card names beside the one that decided.
const NEAR: usize = 2;

pub(super) fn is_too_much(call: &Call) -> bool {
    call.values() > MOST_VALUES || call.longest_key() > LONGEST_KEY
}

/// What is concluded of a call that is not read: nothing that could let it run unseen.
pub(super) fn unread(mut behavior: Behavior) -> (CallBehavior, Vec<Violation>, Retry) {
    let why = format!(
        "the arguments hold more than {MOST_VALUES} values, or a key of more than {LONGEST_KEY} bytes, so they were not read"
    );
    behavior.hazards.push(Hazard { kind: HazardKind::UnreadArguments, what: why.clone() });
    behavior.shape.asks("", why);
    (CallBehavior { behavior, undeclared: Vec::new() }, Vec::new(), Retry::Asks)
}

/// Adds that the tool was never agreed to, where the policy wants its first use asked. What the operator pinned was answered.
pub(super) fn first_use(described: Option<&Described>, context: Context<'_>, behavior: &mut Behavior) {
    let Some(described) = described.filter(|_| context.rules.policy.defaults.first_use == FirstUse::AskOnce) else {
        return;
    };
    let one = shape::first_use(&described.tool.name, described.digest);
    let is_pinned = behavior.evidence.iter().any(|one| one.source == Source::Pinned);
    if !is_pinned && !context.agreed().contains(&one) {
        let new =
            New { pointer: String::new(), says: "the first use of this tool".to_owned(), agree: Some(one), any: None };
        behavior.shape.new.insert(0, new);
    }
}

/// Adds the keys of `_meta` that are new: one token is agreed to once for a host program, anything else as its value.
pub(super) fn meta(call: &Call, context: Context<'_>, behavior: &mut Behavior) {
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
    let unknown = unknown.into_iter().filter(|(key, carries)| *carries != Carries::Plain || !retry::says_who(key));
    for (key, carries) in unknown {
        let one = match carries {
            Carries::Plain => Agreement { key: key.clone(), ..Agreement::of_server(What::Meta, host) },
            Carries::Arguments => {
                let value = members.get(&key).map(Value::to_string).unwrap_or_default();
                let tool = call.name().to_owned();
                Agreement { tool, key: format!("/_meta/{key}"), ..Agreement::of_server(What::Value, value) }
            }
        };
        if !context.agreed().contains(&one) {
            let says = one.says().chars().take(EXPLAINED).collect();
            behavior.shape.new.push(New { pointer: format!("/_meta/{key}"), says, agree: Some(one), any: None });
        }
    }
}

/// A text of at most so many bytes; one that is cut says so.
pub(super) fn within(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        text.truncate(text.floor_char_boundary(bytes));
        text.push('…');
    }
    text
}

/// Where the arguments do not fit the tool's schema. A schema that cannot be used is a hazard.
pub(super) fn check_schema(
    described: Option<&Described>,
    arguments: &Value,
    behavior: &mut Behavior,
) -> Vec<Violation> {
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
pub(super) fn mismatch(violations: &[Violation]) -> String {
    let place = |one: &Violation| format!("{} {}", if one.path.is_empty() { "/" } else { &one.path }, one.what);
    let shown: Vec<String> = violations.iter().take(3).map(place).collect();
    let more = violations.len() - shown.len();
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("the arguments do not fit the tool's schema: {}{more}", shown.join("; "))
}

/// If a ruling asks: the rules for this tool that did not decide, the nearest first.
pub(super) fn near(policy: &Policy, question: &Question<'_>, roots: &Roots, ruling: &Ruling) -> Vec<Near> {
    match ruling.decision {
        Decision::Ask => decide::nearest(policy, question, roots, NEAR),
        Decision::Allow | Decision::Deny => Vec::new(),
    }
}

/// What ran lately: for a call that is counted, in all wrappers; `None` while that is not known of the others.
pub(super) fn recent<'a>(
    counted: Option<&Counted>,
    context: Context<'a>,
    found: Option<&Findings>,
) -> Option<Cow<'a, Recent>> {
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
pub(super) fn join(
    ruling: Ruling,
    opinions: &[Opinion],
    approvers: &[Approver],
    may_loosen: bool,
) -> (Ruling, Option<String>) {
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
