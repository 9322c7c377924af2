//! Judges one call: description, arguments, behavior, ruling. Owns the order of the checks; decides nothing for good.

use std::sync::Arc;

use serde_json::Value;

use super::approvers::{self, Approver, Joined, Opinion};
use super::catalog::Described;
use super::effect_line;
use super::event::Now;
use super::facts::{self, FileKind, Found, Look};
use super::grants::{Asked, Grants};
use super::held::Held;
use crate::behavior::conclude::{self, Behavior};
use crate::behavior::hazards::{Hazard, HazardKind};
use crate::behavior::taxonomy::{Action, Mutability};
use crate::capability::schema::Violation;
use crate::capability::types;
use crate::policy::decide::{self, Question, Ruling};
use crate::policy::fit::paths_wanted;
use crate::policy::paths::Paths;
use crate::policy::rule::{Decision, Policy};
use crate::policy::under::Roots;
use crate::wire::call::Call;

/// What the gate registered to run before a tool: the seed's `before_tool` callback.
#[derive(Clone, Debug)]
pub enum BeforeTool {
    /// The policy.
    Policy(Arc<Policy>),
    /// None: only what is proven read-only may run, as an explicit unchecked invocation; the rest asks.
    Unregistered,
}

/// Everything found out about one call.
#[derive(Clone, Debug)]
pub struct Judged {
    pub described: Option<Arc<Described>>,
    pub behavior: Behavior,
    pub ruling: Ruling,
    pub undeclared: Vec<String>,
    /// Where the arguments do not fit the tool's schema; such a call is refused whatever the ruling.
    pub violations: Vec<Violation>,
    pub danger: Option<String>,
    pub effect: String,
    /// What must be looked at before this ruling counts.
    pub wanted: Look,
    /// The approver whose word the ruling is.
    pub by_approver: Option<String>,
}

/// What a call is judged by, beside itself.
pub struct JudgeBy<'a> {
    pub server: &'a str,
    pub before_tool: &'a BeforeTool,
    pub grants: &'a Grants,
    pub approvers: &'a [Approver],
}

/// What was found out about a call since it came.
#[derive(Default)]
pub struct Seen<'a> {
    pub found: Option<&'a Found>,
    pub opinions: &'a [Opinion],
}

impl<'a> Seen<'a> {
    /// Of a held call.
    pub fn of(held: &'a Held) -> Self {
        Self { found: held.found.as_ref(), opinions: held.opinions.as_deref().unwrap_or_default() }
    }
}

/// Judges a call by what is known of its tool (`None`: nobody described it).
pub fn judge(now: Now, call: &Call, described: Option<Arc<Described>>, by: &JudgeBy<'_>, seen: &Seen<'_>) -> Judged {
    let found = seen.found;
    let server = by.server;
    let text = call.arguments_text();
    // The strict reader has read it already, so this cannot fail; if it did, null fits no schema and hides nothing.
    let arguments: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    let tool = described.as_deref().map(|known| &known.tool);
    let unknown;
    let of_tool = match described.as_deref() {
        Some(known) => &known.behavior,
        None => {
            unknown = Behavior::unknown();
            &unknown
        }
    };
    let mut behavior = conclude::of_call(tool, of_tool, text, &arguments);
    let mut undeclared = Vec::new();
    let mut violations = Vec::new();
    if let Some(known) = described.as_deref() {
        undeclared = types::undeclared(&known.tool, &arguments);
        if known.changed {
            behavior.hazards.push(Hazard {
                kind: HazardKind::ChangedDefinition,
                what: "the server changed this tool's definition during the session".into(),
            });
        }
        match &known.input {
            Ok(schema) if schema.fits(&arguments) => {}
            Ok(schema) => violations = schema.violations(&arguments),
            Err(unusable) => behavior.hazards.push(Hazard {
                kind: HazardKind::UnusableSchema,
                what: format!("the arguments could not be checked: {unusable}"),
            }),
        }
    }
    let mut wanted = Look::default();
    let ruling = match by.before_tool {
        BeforeTool::Policy(policy) => {
            let question =
                Question { server, tool: call.name(), behavior: &behavior, arguments: &arguments, now: now.wall };
            wanted.real = paths_wanted(policy, &question);
            let asked = Asked { call: &question, described: described.as_deref(), roots: &policy.roots };
            wanted.real.extend(by.grants.paths_wanted(&asked));
            let ruling = rule_on(policy, &question, &wanted, found);
            by.grants.loosen(ruling, &asked, policy, found)
        }
        BeforeTool::Unregistered => unregistered(&behavior),
    };
    let allows_stand = matches!(by.before_tool, BeforeTool::Policy(policy) if policy.allows_stand);
    let hazards = !behavior.hazards.is_empty();
    let Joined { ruling, by: by_approver } =
        approvers::join(ruling, seen.opinions, by.approvers, hazards, allows_stand);
    let is_seen = found.is_some_and(|found| wanted.real.iter().all(|path| found.real.contains_key(path)));
    if ruling.decision == Decision::Ask && (wanted.real.is_empty() || is_seen) {
        let paths = facts::path_arguments(&arguments);
        match behavior.badge() {
            Mutability::Mutates => wanted.files = paths,
            // Nothing is replaced: where it leads is all there is to see.
            Mutability::Pure => wanted.real.extend(paths.into_iter().map(|(_, path)| path)),
        }
    }
    Judged {
        effect: effect_line::effect(&behavior, call.name(), &arguments),
        danger: danger(&behavior, found),
        wanted,
        by_approver,
        described,
        behavior,
        ruling,
        undeclared,
        violations,
    }
}

/// The ruling, with what is known of where the paths lead; paths nobody has followed decide nothing.
fn rule_on(policy: &Policy, question: &Question<'_>, wanted: &Look, found: Option<&Found>) -> Ruling {
    if wanted.real.is_empty() {
        return decide::decide(policy, question);
    }
    let real = found.map(|found| found.real.clone()).unwrap_or_default();
    let roots = Roots { paths: Paths::Followed(real), ..policy.roots.clone() };
    decide::decide_at(policy, question, &roots)
}

/// Why one careless key must not approve it: its behavior, and what it would replace.
fn danger(behavior: &Behavior, found: Option<&Found>) -> Option<String> {
    let files = found.map(|found| found.files.as_slice()).unwrap_or_default();
    let target = match behavior.identity.action {
        Action::Create => files.first(),
        Action::Move => files.get(1),
        _ => None,
    };
    let replaces = target.and_then(|target| match target.kind {
        FileKind::Missing => None,
        FileKind::Unseen => Some("what it would replace could not be seen"),
        FileKind::File | FileKind::Folder | FileKind::Other => Some("something stands there already"),
    });
    let reasons: Vec<String> = conclude::danger(behavior).into_iter().chain(replaces.map(str::to_owned)).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

fn unregistered(behavior: &Behavior) -> Ruling {
    use super::token::UncheckedInvocation;
    match UncheckedInvocation::for_read_only(behavior) {
        Some(_) => Ruling {
            decision: Decision::Allow,
            rule: None,
            reason: "no callback is registered before this tool, and it is proven read-only".into(),
        },
        None => Ruling {
            decision: Decision::Ask,
            rule: None,
            reason: "no callback is registered before this tool, and it is not proven read-only".into(),
        },
    }
}
