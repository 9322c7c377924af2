//! Judges one call: description, arguments, behavior, ruling. Owns the order of the checks; decides nothing for good.

use std::sync::Arc;

use serde_json::Value;

use super::Config;
use super::catalog::{Catalog, Described};
use super::effect_line;
use super::event::Now;
use super::pins::Standing;
use crate::behavior::conclude::{self, Behavior};
use crate::behavior::expected::Expected;
use crate::behavior::hazards::{Hazard, HazardKind};
use crate::capability::schema::Violation;
use crate::capability::types;
use crate::policy::decide::{self, Question, Ruling};
use crate::policy::rate::Recent;
use crate::policy::rule::{Decision, Policy};
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
    /// What it is about, for a list.
    pub about: Option<String>,
}

/// What a call is held against beside the policy.
#[derive(Clone, Copy, Debug)]
pub struct Yardstick<'a> {
    /// What the task expects.
    pub expected: Option<&'a Expected>,
    /// What changed in the server itself since it was trusted.
    pub server_change: Option<&'a str>,
    /// What ran of late, for rates.
    pub recent: &'a Recent,
    /// The latest time of day that was seen: the clock may have been set back since.
    pub latest: i64,
}

impl<'a> Yardstick<'a> {
    /// What this gate was told, and what it remembers.
    pub(super) fn of(config: &'a Config, catalog: &'a Catalog, recent: &'a Recent, latest: i64) -> Self {
        let server_change = catalog.server_change().map(|change| &**change);
        Self { expected: config.expected.as_ref(), server_change, recent, latest }
    }
}

/// Judges a call. Where the clock was set back, also by the `latest` time that was seen, and the stricter ruling holds:
/// a rule that was over stays so.
pub fn judge(
    now: Now,
    call: &Call,
    described: Option<Arc<Described>>,
    server: &str,
    before_tool: &BeforeTool,
    yardstick: Yardstick<'_>,
) -> Judged {
    let judged = judge_at(now.wall, call, described.clone(), server, before_tool, yardstick);
    if yardstick.latest <= now.wall {
        return judged;
    }
    let later = judge_at(yardstick.latest, call, described, server, before_tool, yardstick);
    if later.ruling.decision > judged.ruling.decision { later } else { judged }
}

/// Judges a call by what is known of its tool (`None`: nobody described it), at a time of day.
fn judge_at(
    wall: i64,
    call: &Call,
    described: Option<Arc<Described>>,
    server: &str,
    before_tool: &BeforeTool,
    yardstick: Yardstick<'_>,
) -> Judged {
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
        match &known.input {
            Ok(schema) if schema.fits(&arguments) => {}
            Ok(schema) => violations = schema.violations(&arguments),
            Err(unusable) => behavior.hazards.push(Hazard {
                kind: HazardKind::UnusableSchema,
                what: format!("the arguments could not be checked: {unusable}"),
            }),
        }
    }
    if let Some(changed) = yardstick.server_change {
        behavior.hazards.push(Hazard { kind: HazardKind::ChangedServer, what: changed.to_owned() });
    }
    if let Some(mismatch) = yardstick.expected.and_then(|expected| expected.mismatch(&behavior)) {
        behavior.hazards.push(mismatch);
    }
    let refused = described.as_deref().is_some_and(|known| known.standing == Standing::Refused);
    let ruling = match before_tool {
        _ if refused => Ruling {
            decision: Decision::Deny,
            rule: None,
            reason: "the operator refused this definition of the tool; `mcp-approve tools review` shows it".into(),
        },
        BeforeTool::Policy(policy) => decide::decide(
            policy,
            &Question {
                server,
                tool: call.name(),
                behavior: &behavior,
                arguments: &arguments,
                now: wall,
                recent: Some(yardstick.recent),
            },
        ),
        BeforeTool::Unregistered => unregistered(&behavior),
    };
    Judged {
        effect: effect_line::effect(&behavior, call.name(), &arguments),
        about: effect_line::about(&arguments),
        danger: conclude::danger(&behavior),
        described,
        behavior,
        ruling,
        undeclared,
        violations,
    }
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
