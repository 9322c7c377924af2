//! The ruling: the strictest matching rule, else the default that applies. Total: every question has an answer. And why it is
//! so: every rule with the first part that failed.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::fit::Question;
use super::fit::{Fit, Part, Prepared, Selector, fit};
use super::glob::Holds;
use super::rule::{Decision, NewDefault, Policy, Rule, RuleMay};
use super::terms::ApprovalTerms;
use super::under::Roots;
use crate::behavior::{Badge, Behavior, Confidence, HazardKind, Mutability, OutputDomain};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    pub decision: Decision,
    /// The rule that decided; `None` when a default did.
    pub rule: Option<String>,
    /// Why, in one sentence of ours for the operator and the record.
    pub reason: Cow<'static, str>,
    /// Where it asks: what an approval needs.
    #[serde(default, skip_serializing_if = "ApprovalTerms::is_plain")]
    pub terms: ApprovalTerms,
}

impl Ruling {
    /// One that no rule made.
    pub fn of(decision: Decision, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { decision, rule: None, reason: reason.into(), terms: ApprovalTerms::default() }
    }

    /// The same; where it asks, on the terms of another ruling on the call as well.
    #[must_use]
    pub fn joined(mut self, other: &Self) -> Self {
        if self.decision == Decision::Ask {
            self.terms = self.terms.joined(&other.terms);
        }
        self
    }
}

/// Rules on one call, by the words of its paths alone: for calls that will not run.
pub fn decide(policy: &Policy, question: &Question<'_>) -> Ruling {
    decide_at(policy, question, &policy.roots)
}

/// Rules on one call, with what is known of where its paths lead.
pub fn decide_at(policy: &Policy, question: &Question<'_>, roots: &Roots) -> Ruling {
    if policy.rules.is_empty() {
        return default_ruling(policy, question, None);
    }
    let mut strictest: Option<&Rule> = None;
    // Whether a rule takes the place of the defaults, and does not only make stricter what they say.
    let mut may = RuleMay::Tighten;
    let mut would_allow: Option<(Fit, &Rule)> = None;
    let mut terms = ApprovalTerms::default();
    let prepared = Prepared::of(question);
    for rule in &policy.rules {
        match fit(policy, rule, question, &prepared, roots) {
            Fit::Matches => {
                strictest = Some(stricter(strictest, rule));
                may = may.min(rule.may);
                terms = terms.joined(&rule.terms);
            }
            fit @ (Fit::NotCovered | Fit::NotProven) => {
                would_allow = match would_allow {
                    Some((known, one)) if std::ptr::eq(stricter(Some(one), rule), one) => Some((known, one)),
                    _ => Some((fit, rule)),
                };
            }
            Fit::Suspended | Fit::Differs(_) => {}
        }
    }
    let Some(rule) = strictest else { return default_ruling(policy, question, would_allow) };
    let ruling = Ruling {
        decision: rule.decision,
        rule: Some(rule.id.clone()),
        reason: format!("rule {} {}", rule.id, says(rule.decision)).into(),
        terms: if rule.decision == Decision::Ask { terms } else { ApprovalTerms::default() },
    };
    match may {
        RuleMay::Loosen => ruling,
        RuleMay::Tighten => match default_ruling(policy, question, would_allow) {
            default if default.decision > ruling.decision => {
                let reason = format!("{}; rule {} may not change that here", default.reason, rule.id);
                Ruling::of(default.decision, reason)
            }
            _ => ruling,
        },
    }
}

/// The stricter of two rules; of equals the one whose id comes first, so that the order in the file never matters.
fn stricter<'r>(one: Option<&'r Rule>, other: &'r Rule) -> &'r Rule {
    match one {
        Some(one) if (one.decision, &other.id) >= (other.decision, &one.id) => one,
        _ => other,
    }
}

/// What the defaults say of a call without a hazard.
fn by_badge(policy: &Policy, behavior: &Behavior) -> Decision {
    let defaults = policy.defaults;
    let of_tool = match (behavior.identity.mutability, behavior.confidence) {
        (Mutability::Mutates, _) => return defaults.mutates.max(Decision::Ask),
        (Mutability::Pure, Confidence::Proven) => defaults.pure,
        (Mutability::Pure, Confidence::Likely) => defaults.pure.max(defaults.likely.decision()),
        (Mutability::Pure, Confidence::None) => defaults.pure.max(Decision::Ask),
    };
    let new = match defaults.new {
        _ if behavior.shape.holds() => Decision::Allow,
        NewDefault::AskOnce | NewDefault::Ask => Decision::Ask,
        NewDefault::Deny => Decision::Deny,
    };
    of_tool.max(new)
}

/// Why every call of a tool is denied, in our words with the rule's id in them; `None` where some call may pass.
pub fn denied_beforehand(policy: &Policy, server: &str, tool: &str, behavior: &Behavior, now: i64) -> Option<String> {
    let arguments = Value::Object(serde_json::Map::new());
    let question = Question { method: None, server, tool, behavior, arguments: &arguments, now, recent: None };
    let prepared = Prepared::of(&question);
    let fits = |rule: &Rule| fit(policy, rule, &question, &prepared, &policy.roots);
    let unconditional = |rule: &&Rule| rule.when.is_empty() && rule.unless.is_empty();
    let denies = policy.rules.iter().filter(|rule| rule.decision == Decision::Deny).filter(unconditional);
    if let Some(rule) = denies.into_iter().find(|rule| fits(rule) == Fit::Matches) {
        return Some(format!("rule {} denies every call of it", rule.id));
    }
    let by_default = by_badge(policy, behavior);
    // A rule for this tool may let some call through, depending on its arguments.
    let may_loosen = |rule: &Rule| {
        let speaks = matches!(
            fits(rule),
            Fit::Matches | Fit::NotCovered | Fit::NotProven | Fit::Differs(Part::When(..) | Part::Unless(_))
        );
        rule.decision != Decision::Deny && rule.may == RuleMay::Loosen && speaks
    };
    (by_default == Decision::Deny && !policy.rules.iter().any(may_loosen))
        .then(|| format!("the default for {} denies it, and no rule covers it", behavior.badge().word()))
}

/// Why it is not proven that a call only reads; empty where it is, or where it does not only read.
fn doubt(behavior: &Behavior) -> String {
    let likely = "the tool seems to read, but not for sure, and no operator has confirmed that it only reads: ";
    match (behavior.identity.mutability, behavior.shape.new.first()) {
        (Mutability::Mutates, _) => String::new(),
        (Mutability::Pure, Some(_)) => format!("new here: {}: ", within(&behavior.shape.line())),
        (Mutability::Pure, None) if behavior.confidence == Confidence::Proven => String::new(),
        (Mutability::Pure, None) => likely.to_owned(),
    }
}

/// Whether a request only lists what there is.
pub fn only_lists(behavior: &Behavior) -> bool {
    behavior.identity.mutability == Mutability::Pure && behavior.identity.output_domain == OutputDomain::Structure
}

fn default_ruling(policy: &Policy, question: &Question<'_>, would_allow: Option<(Fit, &Rule)>) -> Ruling {
    let behavior = question.behavior;
    // Requests that only list what there is pass: without them a session under a broken policy could show nothing.
    if question.method.is_some() && behavior.hazards.is_empty() && (policy.allows_count || only_lists(behavior)) {
        let reason = "no rule covers this request, and the defaults cover only tool calls";
        return Ruling::of(Decision::Allow, reason);
    }
    let badge = behavior.badge();
    let by_badge = match question.method {
        None => by_badge(policy, behavior),
        Some(_) => Decision::Allow,
    };
    let decision = by_badge.max(default_for_hazards(policy, behavior));
    if decision < Decision::Deny && !policy.allows_count {
        let reason = "the policy file is broken, so whatever is not denied asks";
        return Ruling::of(Decision::Ask, reason);
    }
    let hazards = phrases(behavior);
    let why = match would_allow {
        Some((Fit::NotProven, rule)) => {
            format!("rule {} covers only what is proven to read, and {}", rule.id, doubt(behavior))
        }
        Some((_, rule)) => format!("rule {} does not cover {hazards}: ", rule.id),
        None if decision == by_badge => doubt(behavior),
        None => format!("{hazards}: "),
    };
    let reason = if decision == by_badge {
        by_default(badge, decision, &why)
    } else {
        format!("{why}the default for hazards {}, even for {}", says(decision), badge.word()).into()
    };
    Ruling::of(decision, reason)
}

/// A line of at most so many characters. Foreign text in it: it may hold anything, and be long.
fn within(line: &str) -> String {
    const MOST: usize = 160;
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

fn by_default(badge: Badge, decision: Decision, why: &str) -> Cow<'static, str> {
    let does = match badge {
        Badge::Pure => "Only reads",
        Badge::Likely => "Probably only reads",
        Badge::Mutates => "Changes something",
    };
    let reason = match (why, decision) {
        // The common case, without an allocation.
        ("", Decision::Allow) if badge == Badge::Pure => return "Only reads, and the default allows it".into(),
        ("", Decision::Allow) => format!("{does}, and the default allows it"),
        ("", Decision::Ask) => format!("{does}, and no rule covers it"),
        ("", Decision::Deny) => format!("{does}, and the default denies it"),
        (why, Decision::Ask) => format!("{why}it asks"),
        (why, Decision::Allow | Decision::Deny) => format!("{why}the default {}", says(decision)),
    };
    reason.into()
}

/// What the hazards of a call call for; nothing where it has none.
fn default_for_hazards(policy: &Policy, behavior: &Behavior) -> Decision {
    let of_one = |kind: HazardKind| match kind.beyond_any_allow() || kind == HazardKind::NewDefinition {
        true => policy.defaults.hazard.max(Decision::Ask),
        false => policy.defaults.hazard,
    };
    behavior.hazards.iter().map(|hazard| of_one(hazard.kind)).max().unwrap_or(Decision::Allow)
}

fn says(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allows it",
        Decision::Ask => "asks",
        Decision::Deny => "denies it",
    }
}

/// The hazards of a call in our own words: "a sensitive read, hidden characters".
fn phrases(behavior: &Behavior) -> String {
    let mut kinds: Vec<HazardKind> = behavior.hazards.iter().map(|hazard| hazard.kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds.into_iter().map(phrase).collect::<Vec<_>>().join(", ")
}

fn phrase(kind: HazardKind) -> &'static str {
    match kind {
        HazardKind::SensitiveRead => "a sensitive read",
        HazardKind::HiddenCharacters => "hidden characters",
        HazardKind::TerminalSequence => "a terminal sequence",
        HazardKind::PathTraversal => "a path that climbs out of its folder",
        HazardKind::OutsideRoots => "a path outside of the declared folders",
        HazardKind::NulCharacter => "a NUL character",
        HazardKind::AmbiguousNumber => "an ambiguous number",
        HazardKind::UndeclaredArguments => "undeclared arguments",
        HazardKind::PoisonedDescription => "a poisoned description",
        HazardKind::HiddenDescription => "a description with hidden characters",
        HazardKind::PreferenceManipulation => "a description that praises itself to the model",
        HazardKind::Confusable => "a name that looks like another",
        HazardKind::ChangedDefinition => "a changed definition",
        HazardKind::NewDefinition => "a new tool",
        HazardKind::ChangedServer => "a changed server",
        HazardKind::UnexpectedBehavior => "an unexpected behavior",
        HazardKind::SchemaMismatch => "arguments that do not fit the schema",
        HazardKind::UnusableSchema => "an unusable schema",
        HazardKind::UnreadArguments => "arguments that were not read",
        HazardKind::UnknownPart => "a part that mcp-approve does not know",
        HazardKind::RepeatedSecret => "a secret that comes again in another place",
        HazardKind::AfterReading => "that it leaves for a host after the model has read a secret or an instruction",
    }
}

/// A ruling, and for every rule whether it matches the call, in the order of the file.
#[derive(Clone, Debug)]
pub struct Explanation<'p> {
    pub ruling: Ruling,
    pub rules: Vec<(&'p Rule, Fit)>,
}

pub fn explain_at<'p>(policy: &'p Policy, question: &Question<'_>, roots: &Roots) -> Explanation<'p> {
    let prepared = Prepared::of(question);
    Explanation {
        ruling: decide_at(policy, question, roots),
        rules: policy.rules.iter().map(|rule| (rule, fit(policy, rule, question, &prepared, roots))).collect(),
    }
}

/// A rule that did not decide, though it is for this tool, and what kept it from that. Its texts come from the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Near {
    pub rule: String,
    pub decision: Decision,
    pub why: String,
}

/// Up to `most` of the rules for this tool that did not decide, the nearest to matching first.
pub fn nearest(policy: &Policy, question: &Question<'_>, roots: &Roots, most: usize) -> Vec<Near> {
    let prepared = Prepared::of(question);
    let decided = decide_at(policy, question, roots).rule;
    let mut found: Vec<(usize, Near)> = Vec::new();
    for rule in policy.rules.iter().filter(|rule| decided.as_ref() != Some(&rule.id)) {
        let fit = fit(policy, rule, question, &prepared, roots);
        let Some(distance) = distance(policy, rule, fit, question, &prepared, roots) else { continue };
        found.push((distance, Near { rule: rule.id.clone(), decision: rule.decision, why: why(rule, fit) }));
    }
    found.sort_by(|(one, near), (two, other)| (one, &near.rule).cmp(&(two, &other.rule)));
    found.into_iter().take(most).map(|(_, near)| near).collect()
}

/// How far a rule is from matching; `None` for one of other tools.
fn distance(
    policy: &Policy,
    rule: &Rule,
    fit: Fit,
    question: &Question<'_>,
    prepared: &Prepared<'_>,
    roots: &Roots,
) -> Option<usize> {
    Some(match fit {
        Fit::Matches | Fit::NotCovered | Fit::NotProven | Fit::Suspended => 0,
        Fit::Differs(Part::Selector(Selector::Server | Selector::Method | Selector::Tool)) => return None,
        Fit::Differs(Part::Expires) => {
            let lasting = Rule { expires: None, ..rule.clone() };
            let fit = crate::policy::fit::fit(policy, &lasting, question, prepared, roots);
            1 + distance(policy, &lasting, fit, question, prepared, roots)?
        }
        Fit::Differs(Part::Unless(_)) => 1,
        // Of several conditions the last one to fail is the nearest.
        Fit::Differs(Part::When(at, _)) => 2 + rule.when.len().saturating_sub(at),
        Fit::Differs(Part::Selector(_)) => usize::MAX / 2,
    })
}

/// Whether a rule matches a call, or what differs, in words. It quotes the rule's file, raw.
pub fn why(rule: &Rule, fit: Fit) -> String {
    let part = match fit {
        Fit::Matches => return "matches".to_owned(),
        Fit::NotCovered => return "would match, but does not cover the hazard".to_owned(),
        Fit::NotProven => return "would match, but it is not proven that the call only reads".to_owned(),
        Fit::Suspended => return "would match, but is suspended".to_owned(),
        Fit::Differs(part) => part,
    };
    let text = |list: &[crate::policy::when::Predicate], at: usize| {
        list.get(at).map(|one| one.text.clone()).unwrap_or_default()
    };
    match part {
        Part::Expires => "no: it has expired".to_owned(),
        Part::When(at, Holds::Undecided) => format!("no: {} cannot be decided", text(&rule.when, at)),
        Part::When(at, _) => format!("no: {} does not hold", text(&rule.when, at)),
        Part::Unless(at) => format!("no: {} excepts it", text(&rule.unless, at)),
        Part::Selector(selector) => format!("no: `{}` differs", selector.word()),
    }
}
