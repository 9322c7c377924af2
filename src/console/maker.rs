//! The rules and grants that a held or a past call could become, as the rule maker's panel offers them, and in plain words
//! what then passes unseen. Grants nothing; what a rule covers is `policy::maker`'s.

use std::sync::Arc;

use super::model::Held;
use super::model::rule::{Choice, GrantOffer, Number, Presses};
use super::risk::no_grant;
use serde_json::Value;

use crate::behavior::{Behavior, conclude, conclude::Replaced, shape::Shape};
use crate::gate::data::snapshot::Snapshot;
use crate::gate::grants::{GrantArea, area, holds_argument, holds_every_path};
use crate::link::message::{Covers, GrantCard, GrantTerms, Lasts};
use crate::operator::rule_book::{DANGEROUS, Except};
use crate::policy::maker::{Proposal, Scope, Title, proposals};
use crate::policy::past::{Ended, PastCall, touches_obscured};
use crate::policy::{Decision, Policy, Question, Roots, decide::decide, parse, past, under::Folder, when::About};
use crate::text::row::{Row, Tone, danger, foreign, ours, quiet, strong, warn};
use crate::text::time;
use crate::wire::counted;

/// How many days an offered allow rule lasts: a forgotten one does not stay in force.
const DAYS: i64 = 30;

struct Source<'a> {
    tool: &'a str,
    ticket: &'a str,
    roots: Roots,
    /// It waits, so it is among the calls that the rule matches.
    waits: bool,
    dangerous: bool,
    denied: bool,
    /// The rule that asks about it or denies it: an allow does not override that.
    stricter: Option<(&'a str, Decision)>,
}

/// The rules on offer, narrowest first, then "never again"; or why there is none. `now` is milliseconds since 1970.
pub fn choices(
    snapshot: &Snapshot,
    waiting: &[&Snapshot],
    home: Option<&str>,
    now: i64,
) -> Result<Vec<Choice>, String> {
    let (proposals, roots) = proposed(snapshot, home)?;
    let source = Source {
        tool: &snapshot.tool,
        ticket: &snapshot.ticket,
        roots,
        waits: true,
        dangerous: snapshot.danger.is_some(),
        denied: false,
        stricter: snapshot.ruling.rule.as_deref().map(|rule| (rule, snapshot.ruling.decision)),
    };
    Ok(offered(&source, &proposals, waiting, now))
}

pub fn of_past(call: &PastCall, waiting: &[&Snapshot], roots: &Roots, now: i64) -> Result<Vec<Choice>, String> {
    let mut proposals = proposals(&call.question(None), roots).map_err(|why| why.to_string())?;
    // A secret that the log does not hold cannot be written into a rule.
    proposals.retain(|one| !touches_obscured(&one.rule, call));
    if proposals.is_empty() {
        return Err("the log does not hold the values that a rule would need".to_owned());
    }
    let source = Source {
        tool: &call.tool,
        ticket: &call.ticket,
        roots: roots.clone(),
        waits: false,
        dangerous: conclude::danger(&call.behavior, Replaced::Perhaps).is_some(),
        denied: call.ended == Ended::Refused,
        stricter: call.rule.as_deref().map(|rule| (rule, call.ruling)),
    };
    Ok(offered(&source, &proposals, waiting, now))
}

fn offered(source: &Source<'_>, proposals: &[Proposal], waiting: &[&Snapshot], now: i64) -> Vec<Choice> {
    let offer = |proposal: &Proposal, decision: Decision| choice(source, waiting, proposal, decision, now);
    let mut choices: Vec<Choice> = proposals.iter().map(|proposal| offer(proposal, Decision::Allow)).collect();
    let whole = proposals.iter().find(|proposal| proposal.scope == Scope::ThisTool);
    choices.extend(whole.map(|proposal| offer(proposal, Decision::Deny)));
    choices
}

/// The grants on offer, narrowest first; only calls have any. `others` are the calls that wait, this one among them or not.
pub fn grants(held: &Held, others: &[&Held], home: Option<&str>) -> Vec<GrantOffer> {
    if held.snapshot.method.is_some() {
        return Vec::new();
    }
    let (proposals, roots) = proposed(&held.snapshot, home).unwrap_or_default();
    grant_offers(held, &proposals, others, &roots)
}

pub fn roots(snapshot: &Snapshot, home: Option<&str>) -> Roots {
    Roots { home: home.map(str::to_owned), folder: folder_of(snapshot), ..Roots::default() }
}

fn proposed(snapshot: &Snapshot, home: Option<&str>) -> Result<(Vec<Proposal>, Roots), String> {
    if snapshot.result_of.is_some() {
        return Err("rules about results are written in the policy file: `mcp-approve help rules`".to_owned());
    }
    let arguments: Value = serde_json::from_str(&snapshot.arguments).map_err(|error| error.to_string())?;
    let arguments = past::shown(snapshot.method.as_deref(), arguments);
    let behavior = behavior_of(snapshot);
    let call = question(snapshot, &behavior, &arguments, 0);
    let roots = roots(snapshot, home);
    let proposals = proposals(&call, &roots).map_err(|why| why.to_string())?;
    Ok((proposals, roots))
}

fn choice(source: &Source<'_>, waiting: &[&Snapshot], proposal: &Proposal, decision: Decision, now: i64) -> Choice {
    // A number is added if the file has a rule of that name.
    let id = proposal.scope.id(source.tool, decision, |_| false);
    let note = format!("made in the console from {}", source.ticket);
    let expires = (decision == Decision::Allow).then_some(now + DAYS * 86_400_000);
    let toml = proposal.text(&Title { id: &id, decision, expires, note: Some(&note) });
    let policy = parse::parse_at(&format!("version = 1\n\n{toml}"), &source.roots).ok();
    let waiting = waiting.iter().filter(|other| matches(policy.as_ref(), proposal, other, now)).count();
    let stricter = source.stricter.filter(|(_, stricter)| *stricter > Decision::Allow && decision == Decision::Allow);
    let except = stricter.filter(|(_, stricter)| *stricter == Decision::Ask);
    let except = except.and_then(|(rule, _)| Some(Except { rule: rule.to_owned(), condition: condition(proposal)? }));
    let mut warnings = Vec::new();
    if decision == Decision::Allow {
        warnings = proposal.warnings();
        if source.dangerous {
            warnings.push(DANGEROUS.to_owned());
        }
        if source.denied {
            warnings.push("this call was denied then; the rule lets the next one like it run unasked".to_owned());
        }
        let others = waiting.saturating_sub(usize::from(source.waits));
        warnings.extend(at_once(others, "other call"));
    }
    if let Some(except) = &except {
        let rule = &except.rule;
        warnings.push(format!("the exception applies to every tool that rule {rule} asks for, not only to this one"));
    }
    if let (Some((rule, stricter)), None) = (stricter, &except) {
        let does = if stricter == Decision::Ask { "asks for it" } else { "denies it" };
        warnings.push(format!("rule {rule} {does}, and an allow does not change that: add an exception to it by hand"));
    }
    let label = format!("{} {}", decision.word(), proposal.says());
    // For a dangerous call, a stronger warning says this already.
    let also = proposal.also().filter(|_| decision == Decision::Allow && !source.dangerous);
    Choice { except, label, toml, warnings, also, waiting, letter: letter(&proposal.scope, decision), decision }
}

/// What a rule that was made elsewhere does to the calls that wait; `None` where it is nothing.
pub fn passing(toml: &str, waiting: &[&Snapshot], home: Option<&str>, now: i64) -> Option<String> {
    let passes = |call: &&&Snapshot| {
        let policy = parse::parse_at(&format!("version = 1\n\n{toml}"), &roots(call, home));
        let arguments = arguments_of(call);
        let behavior = behavior_of(call);
        policy.is_ok_and(|policy| decide(&policy, &question(call, &behavior, &arguments, now)).rule.is_some())
    };
    at_once(waiting.iter().filter(passes).count(), "call")
}

fn at_once(count: usize, word: &str) -> Option<String> {
    (count > 0).then(|| format!("running at once: {} of those that wait now", counted(count, word)))
}

fn matches(policy: Option<&Policy>, proposal: &Proposal, other: &Snapshot, now: i64) -> bool {
    let arguments = arguments_of(other);
    let behavior = behavior_of(other);
    policy.is_some_and(|policy| proposal.covers(policy, &question(other, &behavior, &arguments, now)))
}

fn question<'q>(call: &'q Snapshot, behavior: &'q Behavior, arguments: &'q Value, now: i64) -> Question<'q> {
    let (method, server, tool) = (call.method.as_deref(), &call.server, &call.tool);
    Question { method, server, tool, behavior, arguments, now, recent: None }
}

fn arguments_of(snapshot: &Snapshot) -> Value {
    past::shown(snapshot.method.as_deref(), serde_json::from_str(&snapshot.arguments).unwrap_or(Value::Null))
}

/// The condition of a rule that has only one, on an argument. Of several in an `unless`, any one would be enough.
fn condition(proposal: &Proposal) -> Option<String> {
    match proposal.rule.when.as_slice() {
        [one] if matches!(one.about, About::Argument { .. }) => Some(one.text.clone()),
        _ => None,
    }
}

fn letter(scope: &Scope, decision: Decision) -> (char, &'static str) {
    match (decision, scope) {
        (Decision::Ask | Decision::Deny, _) => ('n', "never"),
        (Decision::Allow, Scope::ThisCall) => ('c', "this call"),
        (Decision::Allow, Scope::Same(_) | Scope::Address { .. }) => ('v', "same values"),
        (Decision::Allow, Scope::Under { .. }) => ('f', "folder"),
        (Decision::Allow, Scope::ThisTool) => ('t', "tool"),
    }
}

fn behavior_of(snapshot: &Snapshot) -> Behavior {
    let mut shape = Shape::default();
    snapshot.new.iter().for_each(|(pointer, says)| shape.asks(pointer, says.as_str()));
    Behavior {
        confidence: snapshot.confidence,
        shape,
        identity: snapshot.identity,
        content_type: snapshot.content_type,
        evidence: Arc::new(snapshot.evidence.clone()),
        disputed: snapshot.disputed,
        hazards: snapshot.hazards.clone(),
        // A rule made here tests only names and arguments.
        ..Behavior::unknown()
    }
}

/// The server's folder, where a relative path was seen to lead straight into it.
fn folder_of(snapshot: &Snapshot) -> Option<String> {
    snapshot.facts.iter().find_map(|facts| {
        let relative = facts.path.strip_prefix("./").unwrap_or(&facts.path);
        if relative.starts_with(['/', '~']) || relative.contains("..") {
            return None;
        }
        let folder = facts.real.as_deref()?.strip_suffix(relative)?.strip_suffix('/')?;
        (!folder.is_empty()).then(|| folder.to_owned())
    })
}

/// Offered unless another number is typed.
const MINUTES: u32 = 15;
const CALLS: u32 = 5;

fn grant_offers(held: &Held, proposals: &[Proposal], waiting: &[&Held], roots: &Roots) -> Vec<GrantOffer> {
    let folder = proposals.iter().find_map(|proposal| match &proposal.scope {
        // A name with a slash would be read as a place.
        Scope::Under { names, folder } => match names.as_slice() {
            [name] if !name.starts_with('/') => Some(Covers::Under { argument: name.clone(), folder: folder.clone() }),
            _ => None,
        },
        _ => None,
    });
    // Outside of the declared folders only a folder can be granted.
    let is_declared = area(&held.snapshot.hazards) == Some(GrantArea::Declared);
    let (this, tool) = (is_declared.then_some(Covers::ThisCall), is_declared.then_some(Covers::Tool));
    let mut terms: Vec<_> = this.map(|this| (this, Lasts::Session)).into_iter().collect();
    for covers in folder.into_iter().chain(tool) {
        for lasts in [Lasts::Calls(CALLS), Lasts::Minutes(MINUTES), Lasts::Session] {
            terms.push((covers.clone(), lasts));
        }
    }
    let offer = |(covers, lasts): (Covers, Lasts)| {
        let alike = |other: &&&Held| other.key != held.key && passes(&covers, held, other, roots);
        let waiting = waiting.iter().filter(alike).count();
        let is_wide = covers == Covers::Tool && lasts == Lasts::Session;
        let at_once = held.snapshot.danger.is_none() && waiting == 0 && !is_wide;
        let presses = if at_once { Presses::Once } else { Presses::Twice };
        GrantOffer { terms: GrantTerms { covers, lasts }, waiting, number: Number::Ours, presses }
    };
    terms.into_iter().map(offer).collect()
}

/// Whether a call that waits would pass at once, judged by the cards.
fn passes(covers: &Covers, held: &Held, other: &Held, roots: &Roots) -> bool {
    let (one, two) = (&held.snapshot, &other.snapshot);
    let same_tool = held.key.session == other.key.session && one.tool == two.tool;
    if !same_tool || !other.waits() || no_grant(two).is_some() || two.edited_from.is_some() {
        return false;
    }
    let arguments = |snapshot: &Snapshot| serde_json::from_str::<Value>(&snapshot.arguments).unwrap_or(Value::Null);
    let of = |snapshot: &Snapshot| area(&snapshot.hazards);
    let is_dangerous = |snapshot: &Snapshot| of(snapshot) == Some(GrantArea::Declared) && snapshot.danger.is_some();
    if is_dangerous(two) && !is_dangerous(one) {
        return false;
    }
    if of(two) == Some(GrantArea::Outside) {
        let Covers::Under { folder, .. } = covers else { return false };
        let holds = |folder: &Folder| holds_every_path(folder, &arguments(two), roots);
        if of(one) != Some(GrantArea::Outside) || !Folder::new(folder).as_ref().is_some_and(holds) {
            return false;
        }
    }
    match covers {
        Covers::Tool => true,
        Covers::ThisCall => arguments(one) == arguments(two),
        Covers::Under { argument, folder } => {
            Folder::new(folder).is_some_and(|folder| holds_argument(&folder, &arguments(two), argument, roots))
        }
    }
}

/// What happens, what then passes unseen, and until when. `now` is milliseconds since 1970, `offset` local time's from UTC.
pub fn words(offer: &GrantOffer, snapshot: &Snapshot, now: i64, offset: i32) -> Vec<Row> {
    let mut rows = vec![ours("Approves ").and_foreign(Tone::Strong, &snapshot.ticket).ours(" now, as a does.")];
    let tool = |row: Row| row.and_foreign(Tone::Strong, &snapshot.tool);
    let passes = match &offer.terms.covers {
        Covers::ThisCall => tool(ours("Then runs unasked: ")).ours(" with exactly these arguments."),
        Covers::Under { argument, folder } => tool(ours("Then runs unasked: every "))
            .ours(" whose ")
            .and_foreign(Tone::Strong, argument)
            .ours(" lies in ")
            .and_foreign(Tone::Strong, folder)
            .ours(", links followed, whatever its other arguments."),
        Covers::Tool => tool(ours("Then runs unasked: every ")).ours(", whatever its arguments."),
    };
    rows.push(passes);
    let until = match offer.terms.lasts {
        Lasts::Session => "Until this server's session ends.".to_owned(),
        Lasts::Minutes(minutes) => {
            let end = now + i64::from(minutes) * 60_000;
            format!("Until {} ({minutes} min from now). Digits change the minutes.", &time::of_day(end, offset)[..5])
        }
        Lasts::Calls(calls) => {
            format!("Until {} ran this way. Digits change the number.", counted(calls, "such call"))
        }
    };
    rows.push(strong(until));
    let still = match area(&snapshot.hazards) {
        Some(GrantArea::Outside) => {
            rows.push(warn("▲ The host did not declare this folder."));
            "Still asked: a call that also names a path elsewhere, one with another hazard, a dangerous one, or one that a \
             rule asks for."
        }
        Some(GrantArea::Declared) | None if snapshot.danger.is_some() => {
            "Still asked: a call with a hazard, or one that a rule asks for."
        }
        Some(GrantArea::Declared) | None => {
            "Still asked: what is dangerous (replaces a file), has a hazard, or a rule asks for."
        }
    };
    rows.push(quiet(format!("{still} A changed definition ends it; so does x under 5 Rules.")));
    if let Some(why) = &snapshot.danger {
        let row = danger("◆ dangerous: ").and_foreign(Tone::Danger, why);
        rows.push(row.danger(", and the next ones run unasked"));
    }
    if offer.waiting > 0 {
        // A grant for a number of calls approves no more than that number, so this is an upper bound.
        let most = if let Lasts::Calls(calls) = offer.terms.lasts { calls as usize } else { usize::MAX };
        let words =
            format!("▲ running at once: {} of those that wait now", counted(offer.waiting.min(most), "other call"));
        rows.push(warn(words));
    }
    rows
}

/// What a grant covers, as its line says it; the tool comes before it.
pub fn covers(card: &GrantCard) -> Row {
    match &card.terms.covers {
        Covers::ThisCall => ours("the same arguments"),
        Covers::Under { argument, folder } => {
            foreign(Tone::Ours, argument).quiet(" under ").and_foreign(Tone::Ours, folder)
        }
        Covers::Tool => ours("any arguments"),
    }
}

pub fn left_of(card: &GrantCard, now: i64) -> String {
    match (card.until, card.left) {
        (Some(until), _) => format!("{} left", time::span((until - now).max(0))),
        (None, Some(left)) => format!("{} left", counted(left, "call")),
        (None, None) => "this session".to_owned(),
    }
}
