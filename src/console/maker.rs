//! The rules a held call could become, as the rule maker's panel offers them. What a rule covers is `policy::maker`'s.

use serde_json::Value;

use super::card::counted;
use super::grants;
use super::model::Held;
use super::model::rule::{Choice, Except, GrantOffer};
use crate::behavior::conclude::Behavior;
use crate::gate::snapshot::Snapshot;
use crate::policy::decide::Question;
use crate::policy::maker::{Origin, Proposal, Scope, Title, id_for, proposals};
use crate::policy::parse;
use crate::policy::rule::Decision;
use crate::policy::under::Roots;
use crate::policy::when::About;

/// How long an offered allow lasts: what is forgotten does not stay open.
const DAYS: i64 = 30;

/// The rules on offer, narrowest first, then "never again": each with how many of the waiting calls it matches.
///
/// `now` is milliseconds since 1970.
///
/// # Errors
/// Why no rule can be made from this call.
pub fn choices(
    snapshot: &Snapshot,
    waiting: &[&Snapshot],
    home: Option<&str>,
    now: i64,
) -> Result<Vec<Choice>, String> {
    let (proposals, roots) = proposed(snapshot, home)?;
    let offer = |proposal: &Proposal, decision: Decision| choice(snapshot, waiting, &roots, proposal, decision, now);
    let mut choices: Vec<Choice> = proposals.iter().map(|proposal| offer(proposal, Decision::Allow)).collect();
    let whole = proposals.iter().find(|proposal| proposal.scope == Scope::ThisTool);
    choices.extend(whole.map(|proposal| offer(proposal, Decision::Deny)));
    Ok(choices)
}

/// The grants on offer, narrowest first. `others` are the calls that wait, this one among them or not.
pub fn grants(held: &Held, others: &[&Held], home: Option<&str>) -> Vec<GrantOffer> {
    let (proposals, roots) = proposed(&held.snapshot, home).unwrap_or_default();
    grants::offers(held, &proposals, others, &roots)
}

/// Where the paths of a call start, as far as its card tells.
pub fn roots(snapshot: &Snapshot, home: Option<&str>) -> Roots {
    Roots { home: home.map(str::to_owned), folder: folder_of(snapshot), ..Roots::default() }
}

fn proposed(snapshot: &Snapshot, home: Option<&str>) -> Result<(Vec<Proposal>, Roots), String> {
    let arguments: Value = serde_json::from_str(&snapshot.arguments).map_err(|error| error.to_string())?;
    let behavior = behavior_of(snapshot);
    let origin = Origin { server: &snapshot.server, tool: &snapshot.tool, arguments: &arguments, behavior: &behavior };
    let roots = roots(snapshot, home);
    let proposals = proposals(&origin, &roots).map_err(|why| why.to_string())?;
    Ok((proposals, roots))
}

fn choice(
    snapshot: &Snapshot,
    waiting: &[&Snapshot],
    roots: &Roots,
    proposal: &Proposal,
    decision: Decision,
    now: i64,
) -> Choice {
    // The moment makes the name the file's only one; that it is, is checked when it is written.
    let id = format!("{}-{}", id_for(&snapshot.tool, |_| false), now / 1000);
    let note = format!("made in the console from {}", snapshot.ticket);
    let expires = (decision == Decision::Allow).then_some(now + DAYS * 86_400_000);
    let toml = proposal.text(&Title { id: &id, decision, expires, note: Some(&note) });
    let mut warnings = if decision == Decision::Allow { proposal.warnings() } else { Vec::new() };
    if decision == Decision::Allow && snapshot.danger.is_some() {
        warnings.push("calls like this one are dangerous, and the rule lets the next one pass unseen".to_owned());
    }
    let policy = parse::parse_at(&format!("version = 1\n\n{toml}"), roots).ok();
    let covers = |other: &&&Snapshot| {
        let arguments = serde_json::from_str(&other.arguments).unwrap_or(Value::Null);
        let behavior = behavior_of(other);
        let question = Question {
            server: &other.server,
            tool: &other.tool,
            behavior: &behavior,
            arguments: &arguments,
            now,
            recent: None,
        };
        policy.as_ref().is_some_and(|policy| proposal.covers(policy, &question))
    };
    let waiting = waiting.iter().filter(covers).count();
    let others = waiting.saturating_sub(1);
    if decision == Decision::Allow && others > 0 {
        warnings.push(format!("passing at once: {} of those that wait now", counted(others, "other call")));
    }
    let stands = snapshot.ruling.rule.as_ref().filter(|_| decision == Decision::Allow);
    let except = stands.and_then(|rule| Some(Except { rule: rule.clone(), condition: condition(proposal)? }));
    if let (Some(rule), None) = (stands, &except) {
        warnings.push(format!("rule {rule} asks for it, and an allow does not loosen that: except it there by hand"));
    }
    let label = format!("{} {}", decision.word(), proposal.scope.says());
    Choice { except, label, toml, warnings, waiting, letter: letter(&proposal.scope, decision), decision }
}

/// The only condition of a rule on its arguments: all that an `unless`, of which any entry is enough, can say as well.
fn condition(proposal: &Proposal) -> Option<String> {
    match proposal.rule.when.as_slice() {
        [one] if matches!(one.about, About::Argument { .. }) => Some(one.text.clone()),
        _ => None,
    }
}

/// The key that goes to a rule in the panel: `n` is "never again", `v` "the same values".
fn letter(scope: &Scope, decision: Decision) -> char {
    match (decision, scope) {
        (Decision::Ask | Decision::Deny, _) => 'n',
        (Decision::Allow, Scope::ThisCall) => 'c',
        (Decision::Allow, Scope::Same(_) | Scope::Address { .. }) => 'v',
        (Decision::Allow, Scope::Under { .. }) => 'f',
        (Decision::Allow, Scope::ThisTool) => 't',
    }
}

/// What the call was found to be, as its card tells it.
fn behavior_of(snapshot: &Snapshot) -> Behavior {
    Behavior {
        identity: snapshot.identity,
        content_type: snapshot.content_type,
        evidence: snapshot.evidence.clone(),
        disputed: snapshot.disputed,
        hazards: snapshot.hazards.clone(),
        // A made rule speaks of names and arguments only.
        analyses: Vec::new(),
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
