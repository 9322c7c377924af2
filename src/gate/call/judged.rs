//! Judges one call: description, arguments, behavior, ruling. Owns the order of the checks; decides nothing for good.

use std::sync::Arc;

use serde_json::Value;

use crate::behavior::conclude::{self, Behavior, Replaced};
use crate::behavior::expected::Expected;
use crate::behavior::hazards::{Hazard, HazardKind};
use crate::behavior::taxonomy::{Action, Mutability};
use crate::capability::schema::Violation;
use crate::capability::undeclared;
use crate::gate::call::consult::{self, Joined};
use crate::gate::call::effect_line;
use crate::gate::call::held::Held;
use crate::gate::call::named;
use crate::gate::call::roots::DeclaredRoots;
use crate::gate::call::touched::{self, Change};
use crate::gate::data::event::Now;
use crate::gate::data::facts::{Facts, FileKind, Findings, Look};
use crate::gate::data::opinion::{Approver, Opinion};
use crate::gate::data::pin::PinState;
use crate::gate::grants::{Asked, Grants};
use crate::gate::server::catalog::Described;
use crate::policy::decide::{self, Question, Ruling};
use crate::policy::explain::{self, Near};
use crate::policy::fit::paths_wanted;
use crate::policy::paths::Paths;
use crate::policy::rate::Recent;
use crate::policy::rule::{Decision, Policy};
use crate::policy::under::Roots;
use crate::wire::call::Call;

/// Rules that a card names beside the one that decided.
const NEAR: usize = 2;

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
    /// JSON Pointers of the keys that the tool's schema does not declare.
    pub undeclared: Vec<String>,
    /// Where the arguments do not fit the tool's schema; such a call is refused whatever the ruling.
    pub violations: Vec<Violation>,
    pub danger: Option<String>,
    pub effect: String,
    /// What it is about, for a list.
    pub about: Option<String>,
    /// What must be looked at before this ruling counts.
    pub wanted: Look,
    /// The approver whose word the ruling is.
    pub by_approver: Option<String>,
    /// Where it asks: the rules for this tool that did not decide, the nearest first.
    pub near: Vec<Near>,
}

/// What every call is held against.
#[derive(Clone, Copy)]
pub struct JudgeInput<'a> {
    pub server: &'a str,
    pub before_tool: &'a BeforeTool,
    pub grants: &'a Grants,
    pub approvers: &'a [Approver],
    /// What the task expects.
    pub expected: Option<&'a Expected>,
    /// The folders that the host declared.
    pub roots: &'a DeclaredRoots,
    /// What changed in the server itself since it was trusted.
    pub server_change: Option<&'a str>,
    /// What ran of late, for rates.
    pub recent: &'a Recent,
    /// The latest time of day that was seen: the clock may have been set back since.
    pub latest: i64,
}

/// What was found out about one call since it came.
#[derive(Clone, Copy, Default)]
pub struct Seen<'a> {
    pub found: Option<&'a Findings>,
    pub opinions: &'a [Opinion],
}

impl<'a> Seen<'a> {
    /// Of a held call.
    pub fn of(held: &'a Held) -> Self {
        Self { found: held.found.as_ref(), opinions: held.opinions.as_deref().unwrap_or_default() }
    }
}

/// Judges a call by what is known of its tool (`None`: nobody described it). Where the clock was set back, also by the
/// `latest` time that was seen, and the stricter ruling holds: a rule that was over stays so.
pub fn judge(
    now: Now,
    call: &Call,
    described: Option<Arc<Described>>,
    input: JudgeInput<'_>,
    seen: Seen<'_>,
) -> Judged {
    let judged = judge_at(now.wall, call, described.clone(), input, seen);
    if input.latest <= now.wall {
        return judged;
    }
    let later = judge_at(input.latest, call, described, input, seen);
    if later.ruling.decision > judged.ruling.decision { later } else { judged }
}

fn judge_at(
    wall: i64,
    call: &Call,
    described: Option<Arc<Described>>,
    input: JudgeInput<'_>,
    seen: Seen<'_>,
) -> Judged {
    let JudgeInput { server, before_tool, grants, approvers, .. } = input;
    let found = seen.found;
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
        undeclared = undeclared::undeclared(&known.tool.input_schema, &arguments).keys;
        match &known.input {
            Ok(schema) if schema.fits(&arguments) => {}
            Ok(schema) => violations = schema.violations(&arguments),
            Err(unusable) => behavior.hazards.push(Hazard {
                kind: HazardKind::UnusableSchema,
                what: format!("the arguments could not be checked: {unusable}"),
            }),
        }
    }
    behavior.hazards.extend(input.roots.hazard(&arguments));
    if let Some(changed) = input.server_change {
        behavior.hazards.push(Hazard { kind: HazardKind::ChangedServer, what: changed.to_owned() });
    }
    if let Some(mismatch) = input.expected.and_then(|expected| expected.mismatch(&behavior)) {
        behavior.hazards.push(mismatch);
    }
    let refused = described.as_deref().is_some_and(|known| known.pin_state == PinState::Refused);
    let mut wanted = Look::default();
    let ruling = match before_tool {
        _ if refused => Ruling {
            decision: Decision::Deny,
            rule: None,
            reason: "the operator refused this definition of the tool; `mcp-approve tools review` shows it".into(),
        },
        BeforeTool::Policy(policy) => {
            let question = Question {
                server,
                tool: call.name(),
                behavior: &behavior,
                arguments: &arguments,
                now: wall,
                recent: Some(input.recent),
            };
            wanted.real = paths_wanted(policy, &question);
            let asked = Asked { call: &question, described: described.as_deref(), roots: &policy.roots };
            wanted.real.extend(grants.paths_wanted(&asked));
            let ruling = rule_on(policy, &question, &wanted, found);
            grants.loosen(ruling, &asked, policy, found)
        }
        BeforeTool::Unregistered => unregistered(&behavior),
    };
    let near = match before_tool {
        BeforeTool::Policy(policy) if ruling.decision == Decision::Ask => {
            let (tool, recent) = (call.name(), Some(input.recent));
            let question = Question { server, tool, behavior: &behavior, arguments: &arguments, now: wall, recent };
            explain::nearest(policy, &question, &followed(policy, &wanted, found), NEAR)
        }
        BeforeTool::Policy(_) | BeforeTool::Unregistered => Vec::new(),
    };
    let allows_count = matches!(before_tool, BeforeTool::Policy(policy) if policy.allows_count);
    let hazards = !behavior.hazards.is_empty();
    let Joined { ruling, by: by_approver } = consult::join(ruling, seen.opinions, approvers, hazards, allows_count);
    let is_seen = found.is_some_and(|found| wanted.real.iter().all(|path| found.real.contains_key(path)));
    if ruling.decision == Decision::Ask && (wanted.real.is_empty() || is_seen) {
        let named = named::path_arguments(&arguments);
        match behavior.badge() {
            Mutability::Mutates => (wanted.files, wanted.left_out) = (named.paths, named.left_out),
            // Nothing is replaced: where it leads is all there is to see.
            Mutability::Pure => wanted.real.extend(named.paths.into_iter().map(|(_, path)| path)),
        }
    }
    // Nobody is shown a call that reads and passes at once.
    let passes = ruling.decision == Decision::Allow && behavior.badge() == Mutability::Pure;
    let is_told = !passes || !behavior.analyses.is_empty();
    Judged {
        effect: if is_told { effect_line::effect(&behavior, call.name(), &arguments) } else { String::new() },
        about: if is_told { effect_line::about(&behavior, &arguments) } else { None },
        danger: danger(&behavior, &arguments, found),
        wanted,
        by_approver,
        near,
        described,
        behavior,
        ruling,
        undeclared,
        violations,
    }
}

/// The ruling, with what is known of where the paths lead; paths nobody has followed decide nothing.
fn rule_on(policy: &Policy, question: &Question<'_>, wanted: &Look, found: Option<&Findings>) -> Ruling {
    decide::decide_at(policy, question, &followed(policy, wanted, found))
}

/// Where the policy's paths lead, as far as they were followed.
fn followed(policy: &Policy, wanted: &Look, found: Option<&Findings>) -> Roots {
    if wanted.real.is_empty() {
        return policy.roots.clone();
    }
    let real = found.map(|found| found.real.clone()).unwrap_or_default();
    Roots { paths: Paths::Followed(real), ..policy.roots.clone() }
}

/// Why one careless key must not approve it: its behavior, and what it would replace.
fn danger(behavior: &Behavior, arguments: &Value, found: Option<&Findings>) -> Option<String> {
    let files = found.map(|found| found.files.as_slice()).unwrap_or_default();
    let changes = touched::of(behavior.identity.action, arguments, files);
    // What no change accounts for may be written to all the same; where nothing is told, the first is where it comes from.
    let untold = files.iter().filter(|one| !changes.iter().any(|change| change.concerns(one)) && !one.is_beyond());
    let untold = untold.filter(|one| !one.argument.ends_with("/cwd"));
    let targets: Vec<&Facts> = match behavior.identity.action {
        Action::Create => changes.iter().filter_map(Change::content_target).chain(untold).collect(),
        Action::Move if changes.is_empty() => untold.skip(1).collect(),
        Action::Move => changes.iter().filter_map(Change::destination).chain(untold).collect(),
        _ => Vec::new(),
    };
    let stands = |target: &&Facts| match target.kind {
        FileKind::Missing | FileKind::Unseen => false,
        FileKind::File | FileKind::Folder | FileKind::Other => true,
    };
    let unseen = |target: &&Facts| target.kind == FileKind::Unseen;
    let replaces = if targets.iter().any(stands) {
        Some("something stands there already")
    } else if targets.iter().any(unseen) {
        Some("what it would replace could not be seen")
    } else if files.iter().any(Facts::is_beyond) {
        Some("it names more paths than are looked at")
    } else {
        None
    };
    // Only an absolute path is surely of this machine: a relative one may be another's.
    let is_new = |change: &Change<'_>| matches!(change, Change::Content { target, .. } if target.kind == FileKind::Missing && target.path.starts_with('/'));
    let makes = !files.is_empty() && files.len() == changes.len() && changes.iter().all(is_new);
    let replaced = if makes { Replaced::Nothing } else { Replaced::Perhaps };
    let reasons: Vec<String> =
        conclude::danger(behavior, replaced).into_iter().chain(replaces.map(str::to_owned)).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

fn unregistered(behavior: &Behavior) -> Ruling {
    use crate::gate::data::token::UncheckedInvocation;
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Action, Facts, FileKind, Findings, Mutability, Value, danger};
    use crate::behavior::conclude::Behavior;
    use crate::behavior::identity::Identity;
    use crate::behavior::taxonomy::{ContentType, OutputDomain};

    #[test]
    fn whatever_stands_at_one_of_its_paths_is_seen() {
        let at = |argument: &str, kind: FileKind| Facts { kind, unseen: None, ..Facts::unseen(argument, "/p", "") };
        let new = |argument: &str| at(argument, FileKind::Missing);
        let old = |argument: &str| at(argument, FileKind::File);
        let is_dangerous = |action: Action, arguments: &Value, files: Vec<Facts>| {
            let identity = Identity { mutability: Mutability::Mutates, action, output_domain: OutputDomain::Data };
            let (content_type, evidence, hazards, analyses) = (ContentType::Text, Vec::new(), Vec::new(), Vec::new());
            let behavior = Behavior { identity, content_type, evidence, disputed: false, hazards, analyses };
            danger(&behavior, arguments, Some(&Findings { files, ..Findings::default() })).is_some()
        };
        use Action::{Create, Move};
        let plain = json!({ "path": "/p", "content": "x" });
        let mixed = json!({ "files": [{ "path": "/p", "content": "x" }, { "path": "/p", "base64": "eA==" }] });
        let two = |one: Facts, other: Facts| vec![one, other];
        for (action, arguments, files, expected) in [
            (Create, &plain, vec![new("/path")], false),
            (Create, &plain, vec![old("/path")], true),
            (Create, &plain, two(new("/path"), at("/cwd", FileKind::Folder)), false),
            (Create, &mixed, two(new("/files/0/path"), new("/files/1/path")), false),
            (Create, &mixed, two(new("/files/0/path"), old("/files/1/path")), true),
            (Create, &json!({ "src": "/p", "dst": "/p" }), two(new("/src"), old("/dst")), true),
            (Move, &json!({}), two(old("/from"), new("/to")), false),
            (Move, &json!({}), two(old("/from"), old("/to")), true),
            (Move, &json!({ "workspace": "w" }), two(old("/from"), old("/to")), true),
            (Move, &json!({ "workspace": "w" }), two(old("/from"), new("/to")), false),
            (Move, &json!({}), vec![old("/path"), old("/to"), old("/target")], true),
        ] {
            assert_eq!(is_dangerous(action, arguments, files), expected, "{action:?} {arguments}");
        }
    }
}
