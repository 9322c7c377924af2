//! What the gate shows: the card of a held call, and lines for the Activity screen. Data only.

use crate::behavior::arguments;
use crate::behavior::arguments::reading::Reading;
use crate::behavior::evidence::Evidence;
use crate::behavior::hazards::Hazard;
use crate::capability::scope::Scope;
use crate::gate::Gate;
use crate::gate::call::held::{Held, Stage};
use crate::gate::call::judged::Judged;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Now;
use crate::gate::data::report::{Activity, ActivityKind, Direction, KnownTool};
use crate::gate::data::snapshot::{Check, CheckState, Safe, Snapshot};
use crate::gate::server::catalog::Described;
use crate::mcp::tool::Tool;
use crate::wire::call::Call;

/// As much of the server's words as a card shows, in bytes: they are words about the call, not the call.
const WORDS: usize = 64 * 1024;

impl Gate {
    /// The card of a call that waits for an operator; `None` for any other.
    pub(in crate::gate) fn snapshot(&self, held: &Held) -> Option<Snapshot> {
        let (Stage::Asking { .. }, Some(judged)) = (&held.stage, &held.judged) else {
            return None;
        };
        let tool = judged.described.as_ref().map(|known| &known.tool);
        let waits_ms = held.deadline.saturating_sub(held.arrived.mono) / 1000;
        Some(Snapshot {
            ticket: held.ticket.to_string(),
            server: self.config.server.to_string(),
            tool: held.call.name().to_owned(),
            title: tool.and_then(|tool| tool.title.as_deref()).map(cut),
            description: tool.and_then(|tool| tool.description.as_deref()).map(cut),
            signature: judged.described.as_ref().map(|known| known.signature.clone()),
            identity: judged.behavior.identity,
            content_type: judged.behavior.content_type,
            evidence: judged.behavior.evidence.clone(),
            disputed: judged.behavior.disputed,
            hazards: judged.behavior.hazards.clone(),
            effect: judged.effect.clone(),
            about: judged.about.clone(),
            ruling: judged.ruling.clone(),
            near: judged.near.clone(),
            safe: self.safe(held),
            arguments: held.call.arguments_text().to_owned(),
            readings: readings(tool, judged, &held.call),
            undeclared: judged.undeclared.clone(),
            digest: held.call.digest(),
            bytes: held.call.line().content().len() as u64,
            arrived: held.arrived.wall,
            deadline: i64::try_from(waits_ms).ok().map(|waits| held.arrived.wall.saturating_add(waits)),
            host: self.host_of(&held.call).map(|(name, version)| format!("{name} {version}")),
            caller: crate::gate::call::caller::told(held.call.meta_text()),
            danger: judged.danger.clone(),
            edited_from: held.original.as_ref().map(|original| original.digest),
            original_arguments: held.original.as_ref().map(|original| original.arguments.clone()),
            facts: held.found.as_ref().map(|found| found.files.clone()).unwrap_or_default(),
            asked_again: held.asked_again.map(str::to_owned),
        })
    }

    /// The three checks of `Safe(agent, tool, state)`.
    fn safe(&self, held: &Held) -> Safe {
        let described = held.judged.as_ref().is_some_and(|judged| judged.described.is_some());
        let capability = match (&self.config.scope, described) {
            (Scope::Whole, true) => {
                "the server offers this tool (it is in Caps(S)), no scope narrows that, and the arguments fit its schema"
            }
            (Scope::Only(_), true) => {
                "the server offers this tool and the scope allows it (it is in Caps(S) ∩ Scope), and the arguments fit its schema"
            }
            (_, false) => "the server has not described this tool, so its arguments could not be checked",
        };
        let session = if held.call.is_modern() {
            "stateless request (2026-07-28): legal at any time".to_owned()
        } else {
            format!("host and server have agreed to talk, so calls are legal now (phase {})", self.lifecycle.phase())
        };
        Safe {
            capability: Check {
                state: if described { CheckState::Holds } else { CheckState::Fails },
                what: capability.into(),
            },
            guardrail: Check {
                state: CheckState::Pending,
                what: "no proof of approval yet (a guardrail token): it is made once your verdict is in the log".into(),
            },
            session: Check { state: CheckState::Holds, what: session },
        }
    }

    /// Shows one thing that passed, if anybody looks.
    pub(in crate::gate) fn show(
        &self,
        now: Now,
        direction: Direction,
        kind: ActivityKind,
        out: &mut Vec<Effect>,
        fill: impl FnOnce(&mut Activity),
    ) {
        if self.attached == 0 {
            return;
        }
        let mut one = Activity {
            time: now.wall,
            direction,
            kind,
            what: String::new(),
            ticket: None,
            badge: None,
            ruling: None,
            verdict: None,
            by: None,
            rule: None,
            bytes: 0,
            latency_us: None,
            failed: false,
            reason: String::new(),
            who: String::new(),
        };
        fill(&mut one);
        out.push(Effect::Show(Box::new(one)));
    }

    pub(in crate::gate) fn show_plain(
        &self,
        now: Now,
        direction: Direction,
        kind: ActivityKind,
        what: &str,
        bytes: u64,
        out: &mut Vec<Effect>,
    ) {
        self.show(now, direction, kind, out, |one| {
            one.what = what.to_owned();
            one.bytes = bytes;
        });
    }
}

/// The statements and commands of a call, read again for the eye by the reader that judged them.
fn readings(tool: Option<&Tool>, judged: &Judged, call: &Call) -> Vec<Reading> {
    if judged.behavior.analyses.is_empty() {
        return Vec::new();
    }
    let arguments = serde_json::from_str(call.arguments_text()).unwrap_or_default();
    arguments::readings(tool, &arguments)
}

/// What is told of a tool.
pub(in crate::gate) fn known_tool(known: &Described) -> KnownTool {
    const MOST: usize = 16;
    let behavior = &known.behavior;
    let quoted = |text: &str| text[..text.floor_char_boundary(512)].to_owned();
    let evidence = behavior.evidence.iter().take(MOST).map(|one| Evidence { span: quoted(&one.span), ..one.clone() });
    let hazards = behavior.hazards.iter().take(MOST).map(|one| Hazard { what: quoted(&one.what), ..one.clone() });
    KnownTool {
        tool: quoted(&known.tool.name),
        signature: known.signature[..known.signature.floor_char_boundary(2048)].to_owned(),
        identity: behavior.identity,
        evidence: evidence.collect(),
        disputed: behavior.disputed,
        hazards: hazards.collect(),
        digest: known.digest,
        pin: known.pin_state,
    }
}

/// The beginning of a text, and how long the whole is.
fn cut(text: &str) -> String {
    if text.len() <= WORDS {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(WORDS)];
    format!("{head}\n[cut here: {} bytes in all]", text.len())
}
