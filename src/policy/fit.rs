//! What is asked of a policy, whether one rule matches it, and if not, the first part that differs. Owns no ruling.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::glob::Holds;
use super::rate::{Counted, Recent};
use super::rule::{Decision, Policy, Rule};
use super::under::Roots;
use super::when::{About, CallFacts, EffectClass};
use crate::behavior::arguments::effect::{Analysis, Language};
use crate::behavior::shape::{New, Shape};
use crate::behavior::{Action, Badge, Behavior, HazardKind, Identity, arguments, tags};
use crate::wire::words::words;

#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The server's name; the number of a second instance (`filesystem#2`) does not count.
    pub server: &'a str,
    /// The method, where it is a request other than `tools/call`.
    pub method: Option<&'a str>,
    /// The tool's name; for another request its method.
    pub tool: &'a str,
    pub behavior: &'a Behavior,
    pub arguments: &'a Value,
    /// Milliseconds since 1970, UTC: rules may expire.
    pub now: i64,
    /// The calls that all wrappers let run lately, for `rate`; `None` leaves it undecided.
    pub recent: Option<&'a Recent>,
}

/// Rules belong to a server's name, so `filesystem#2` is `filesystem` to them.
pub(crate) fn rules_name(server: &str) -> &str {
    match server.rsplit_once('#') {
        Some((name, number)) if !name.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => server,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    Matches,
    /// An allow that would match, but the call has a hazard the rule does not cover.
    NotCovered,
    /// An allow for what only reads, and that is not proven of this call.
    NotProven,
    /// An allow that would match, but no allow counts while the policy file is broken.
    Suspended,
    Differs(Part),
}

/// The parts of a rule, in the order they are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Expires,
    Selector(Selector),
    /// The predicate of `when` at this index, and its answer: only an allow fails on what is undecided.
    When(usize, Holds),
    /// The predicate of `unless` at this index, which holds.
    Unless(usize),
}

impl Part {
    pub fn key(self) -> &'static str {
        match self {
            Self::Expires => "expires",
            Self::Selector(selector) => selector.word(),
            Self::When(..) => "when",
            Self::Unless(_) => "unless",
        }
    }
}

words! {
    /// A selector of a rule, by its key in the file.
    Selector {
        Server = "server",
        Method = "method",
        Tool = "tool",
        Mutability = "mutability",
        Action = "action",
        OutputDomain = "output_domain",
        Identity = "identity",
        Capability = "capability",
    }
}

/// What follows from a question, found once for all rules.
#[derive(Clone, Debug)]
pub struct Prepared<'q> {
    /// The server's name as rules have it.
    server: &'q str,
    arguments: &'q Value,
    effects: Vec<EffectClass>,
    statements: Vec<Option<String>>,
}

impl<'q> Prepared<'q> {
    pub fn of(question: &Question<'q>) -> Self {
        Self {
            server: rules_name(question.server),
            arguments: question.arguments,
            effects: EffectClass::all_of(question.behavior),
            statements: statements(&question.behavior.analyses, &question.behavior.shape),
        }
    }
}

/// Compares one rule with a call; paths by their text, and by where they lead, if `roots` knows that.
pub fn fit(policy: &Policy, rule: &Rule, question: &Question<'_>, prepared: &Prepared<'_>, roots: &Roots) -> Fit {
    let behavior = question.behavior;
    let earlier = |per: i64| {
        let counts =
            |server: &str, method: Option<&str>, tool: &str| names(rule, rules_name(server), method, tool).is_none();
        question.recent.map(|recent| recent.count(question.now.saturating_sub(per), counts))
    };
    let shown = CallFacts {
        arguments: prepared.arguments,
        hazards: &behavior.hazards,
        effects: &prepared.effects,
        statements: &prepared.statements,
        earlier: &earlier,
        roots,
    };
    let differs = selectors(rule, prepared.server, question).or_else(|| conditions(rule, &shown));
    match (differs, rule.decision) {
        (Some(part), _) => Fit::Differs(part),
        (None, Decision::Ask | Decision::Deny) => Fit::Matches,
        (None, Decision::Allow) if !policy.allows_count => Fit::Suspended,
        (None, Decision::Allow)
            if !behavior.hazards.iter().all(|hazard| covers(rule, prepared.server, question.tool, hazard.kind)) =>
        {
            Fit::NotCovered
        }
        (None, Decision::Allow) if rule.selects_by_behavior() && behavior.badge() == Badge::Likely => Fit::NotProven,
        (None, Decision::Allow) => Fit::Matches,
    }
}

/// The paths whose links must be followed before the policy can rule on a call: those that an `under` speaks of in a rule
/// for this call, and its folders. Empty for most calls, which then cost no look at the disk.
pub fn paths_wanted(policy: &Policy, question: &Question<'_>) -> BTreeSet<String> {
    let mut wanted = BTreeSet::new();
    let server = rules_name(question.server);
    for rule in &policy.rules {
        let speaks = rule.when.iter().chain(&rule.unless).filter_map(|one| one.under(question.arguments));
        let mut speaks = speaks.peekable();
        if speaks.peek().is_none() || selectors(rule, server, question).is_some() {
            continue;
        }
        for (paths, folders) in speaks {
            wanted.extend(paths);
            wanted.extend(folders.iter().filter_map(|folder| folder.path(&policy.roots)));
        }
    }
    wanted
}

/// The call, if a rule with a rate counts it: then the policy can rule on it only once it is known what other wrappers ran.
pub fn counted(policy: &Policy, question: &Question<'_>) -> Option<Counted> {
    let Question { server, method, tool, now, .. } = *question;
    let counts = |rule: &Rule| {
        rule.counts()
            && rule.expires.is_none_or(|end| end > now)
            && names(rule, rules_name(server), method, tool).is_none()
    };
    let call = || Counted { server: server.into(), method: method.map(Arc::from), tool: tool.into() };
    policy.rules.iter().any(counts).then(call)
}

/// The first selector that does not hold. The server comes first: most rules are of others, and the rest costs more.
fn selectors(rule: &Rule, server: &str, question: &Question<'_>) -> Option<Part> {
    let &Question { method, tool, now, behavior, .. } = question;
    let lacks_capability = || (!has_capability(rule, question)).then_some(Part::Selector(Selector::Capability));
    let is_shown = |action| is_shown(rule, question, action);
    differs(rule, (server, method, tool), behavior.identity, is_shown, now).or_else(lacks_capability)
}

/// Whether a rule about results is about those of a tool, or of another request by its method. `None`: it cannot be told which it is,
/// so it may be any.
pub fn is_about_results(rule: &Rule, server: &str, tool: Option<(&str, Identity)>, now: i64) -> bool {
    let server = rules_name(server);
    match tool {
        Some((tool, identity)) => differs(rule, (server, None, tool), identity, |_| false, now).is_none(),
        None => rule.expires.is_none_or(|end| end > now) && any(&rule.server, |glob| glob.matches(server)),
    }
}

/// The first thing a rule says of time, names and identity that does not hold; `is_shown` has the actions that arguments show.
fn differs(
    rule: &Rule,
    (server, method, tool): (&str, Option<&str>, &str),
    identity: Identity,
    is_shown: impl Fn(Action) -> bool,
    now: i64,
) -> Option<Part> {
    if rule.expires.is_some_and(|end| end <= now) {
        return Some(Part::Expires);
    }
    let differs = if let Some(name) = names(rule, server, method, tool) {
        Some(name)
    } else if rule.mutability.is_some_and(|mutability| mutability != identity.mutability) {
        Some(Selector::Mutability)
    } else if !any(&rule.action, |action| *action == identity.action || is_shown(*action)) {
        Some(Selector::Action)
    } else if !any(&rule.output_domain, |domain| *domain == identity.output_domain) {
        Some(Selector::OutputDomain)
    } else if !any(&rule.identity, |one| *one == identity) {
        Some(Selector::Identity)
    } else {
        None
    };
    differs.map(Part::Selector)
}

fn names(rule: &Rule, server: &str, method: Option<&str>, tool: &str) -> Option<Selector> {
    if !any(&rule.server, |glob| glob.matches(server)) {
        Some(Selector::Server)
    } else if !rule.is_about(method) {
        Some(Selector::Method)
    } else if !any(&rule.tool, |glob| glob.matches(server, tool)) {
        Some(Selector::Tool)
    } else {
        None
    }
}

/// Whether an ask or a deny is about an action that only the arguments show: an UPDATE given to a tool that runs any
/// statement, or one of several statements. If there were more findings than are kept, any action could be among those
/// left out. An allow goes by the identity alone, which the arguments raise and never lower.
fn is_shown(rule: &Rule, question: &Question<'_>, action: Action) -> bool {
    let shows = |one: &Analysis| !one.effect.reads() && (one.action == action || one.also.contains(&action));
    let analyses = &question.behavior.analyses;
    rule.decision != Decision::Allow && (analyses.len() >= arguments::MOST || analyses.iter().any(shows))
}

/// Whether a call has one of the tags. A call without tags is undecided, which is enough for an ask or a deny.
fn has_capability(rule: &Rule, question: &Question<'_>) -> bool {
    if rule.capability.is_empty() {
        return true;
    }
    let tags = tags::of(question.behavior, question.tool);
    let undecided = tags.is_empty() && rule.decision != Decision::Allow;
    undecided || any(&rule.capability, |glob| tags.iter().any(|tag| glob.matches(tag)))
}

/// The first of `when` and `unless` that keeps a rule from matching.
pub(super) fn conditions(rule: &Rule, shown: &CallFacts<'_>) -> Option<Part> {
    let enough = match rule.decision {
        Decision::Allow => Holds::Yes,
        Decision::Ask | Decision::Deny => Holds::Undecided,
    };
    let all = rule.when.iter().map(|predicate| predicate.holds(shown));
    let failed = all.enumerate().find(|(_, holds)| *holds < enough);
    failed.map(|(at, holds)| Part::When(at, holds)).or_else(|| {
        let mut exceptions = rule.unless.iter();
        exceptions.position(|predicate| predicate.holds(shown) == Holds::Yes).map(Part::Unless)
    })
}

pub(super) fn conditions_on_arguments(rule: &Rule, arguments: &Value, roots: &Roots) -> Option<Part> {
    let statements = statements(&arguments::found(None, arguments), &Shape::default());
    let shown = CallFacts { arguments, hazards: &[], effects: &[], statements: &statements, earlier: &|_| None, roots };
    conditions(rule, &shown)
}

/// The fingerprints of the statements among the arguments; `None` for each text without one, because it is in another
/// language, was not read to its end, or only may be a statement, and `None` if there were more findings than are kept.
fn statements(analyses: &[Analysis], shape: &Shape) -> Vec<Option<String>> {
    let fingerprint = |one: &Analysis| one.fingerprint.clone().filter(|_| one.language == Language::Sql);
    let is_statement = |one: &&Analysis| !matches!(one.language, Language::Http | Language::Act) || !one.effect.reads();
    let is_read = |leaf: &New| {
        let names = |one: &Analysis| leaf.pointer.split('/').any(|word| word == one.argument);
        analyses.iter().any(|one| names(one) && fingerprint(one).is_some())
    };
    let mut found: Vec<Option<String>> = analyses.iter().filter(is_statement).map(fingerprint).collect();
    let all_read = shape.more == 0 && shape.new.iter().filter(|new| new.any.is_some()).all(is_read);
    if analyses.len() >= arguments::MOST || !all_read {
        found.push(None);
    }
    found
}

/// Whether an allow names a hazard, and may. A rule with the tool's exact name covers the hazard that the tool is new.
fn covers(rule: &Rule, server: &str, tool: &str, kind: HazardKind) -> bool {
    if kind == HazardKind::NewDefinition && rule.tool.iter().any(|glob| glob.is(server, tool)) {
        return true;
    }
    !kind.beyond_any_allow()
        && rule.when.iter().any(|predicate| match &predicate.about {
            About::Hazard(kinds) => kinds.contains(&kind),
            About::Argument { .. } | About::Effect(_) | About::Sql(_) | About::Rate(_) => false,
        })
}

/// An empty list means any.
fn any<T>(list: &[T], fits: impl FnMut(&T) -> bool) -> bool {
    list.is_empty() || list.iter().any(fits)
}
