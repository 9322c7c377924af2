//! Joins all evidence into one conclusion: pinned, else curated, else the most cautious of the rest; arguments only raise.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arguments::effect::Analysis;
use super::arguments::explain::Explanation;
use super::confidence::Confidence;
use super::curated::Reviewed;
use super::evidence::{Claim, Evidence, Source, Strength};
use super::hazards::{self, Hazard, HazardKind, handed_out};
use super::identity::Identity;
use super::infer::{self, Inference};
use super::taxonomy::{Action, Badge, ContentType, Mutability, OutputDomain};
use super::{annotated, arguments, declared, tells};
use crate::capability::undeclared::{Reach, Undeclared, undeclared};
use crate::mcp::tool::Tool;

/// How far a server's own words may lower a risk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Its words may show a call PURE when nothing contradicts them.
    #[default]
    Corroborate,
    /// Its annotations are believed as they stand.
    Annotations,
    /// Nothing it says lowers a risk.
    None,
}

/// What is concluded about a tool, or about one call of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behavior {
    pub identity: Identity,
    /// How sure it is that a PURE one only reads.
    pub confidence: Confidence,
    pub content_type: ContentType,
    pub evidence: Vec<Evidence>,
    /// Evidence contradicts itself: on the review list, and MUTATES unless its server's annotations are trusted.
    pub disputed: bool,
    pub hazards: Vec<Hazard>,
    /// What the arguments of this very call would do; empty for a tool.
    pub analyses: Vec<Analysis>,
    /// How each leaf of this very call's arguments is explained; empty for a tool.
    pub explanation: Explanation,
}

impl Behavior {
    /// A tool without a description of its own.
    pub fn unknown() -> Self {
        Self {
            identity: Identity::UNKNOWN,
            confidence: Confidence::None,
            content_type: ContentType::Unknown,
            evidence: Vec::new(),
            disputed: false,
            hazards: Vec::new(),
            analyses: Vec::new(),
            explanation: Explanation::default(),
        }
    }

    /// Whether it is proven to read, and every leaf of its arguments is explained: nothing else runs unasked by a default.
    pub fn runs_unasked(&self) -> bool {
        self.identity.mutability == Mutability::Pure
            && self.confidence == Confidence::Proven
            && self.explanation.holds()
    }

    /// The badge.
    pub fn badge(&self) -> Badge {
        match self.identity.mutability {
            Mutability::Mutates => Badge::Mutates,
            Mutability::Pure if self.runs_unasked() => Badge::Pure,
            Mutability::Pure => Badge::Likely,
        }
    }
}

/// What others than the server say of a tool, for exactly this definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// By the operator.
    pub pinned: Option<Identity>,
    /// By our list of well-known servers.
    pub curated: Option<Reviewed>,
}

/// Concludes about a tool from its definition alone.
pub fn of_tool(tool: &Tool, trust: Trust) -> Behavior {
    of_tool_with(tool, trust, Overrides::default())
}

/// Concludes about a tool from its definition and from what others say of it: pinned, else curated, else the server.
///
/// With [`Trust::None`] a curated identity lowers nothing: it speaks of what a package should be, not of what runs.
pub fn of_tool_with(tool: &Tool, trust: Trust, overrides: Overrides) -> Behavior {
    let inference = infer::infer(tool);
    let declared = declared::evidence(&tool.definition);
    let annotated = annotated::evidence(tool.annotations);
    let behavior = joined(&inference, declared.as_ref(), annotated.as_ref(), trust);
    let said_otherwise = overrides.evidence();
    let behavior = overrides.over(behavior, trust);
    let mut hazards = hazards::definition::found(&tool.definition);
    hazards.extend(hazards::lookalike::disguised(&tool.name));
    let first_sentence = tool.description.as_deref().and_then(|text| tells::sentences(text).next()).unwrap_or_default();
    if (reads(behavior.identity.action) || behavior.identity.action == Action::Unknown)
        && let Some(what) = handed_out::found(&tool.name, first_sentence)
    {
        hazards.push(Hazard {
            kind: HazardKind::SensitiveRead,
            what: format!("the tool hands out what may be secret: {what}"),
        });
    }
    let of_server = declared.into_iter().chain(annotated).chain(inference.evidence);
    let evidence = said_otherwise.chain(of_server).collect();
    Behavior { evidence, hazards, ..behavior }
}

impl Overrides {
    fn evidence(self) -> impl Iterator<Item = Evidence> {
        let pinned = self.pinned.map(|identity| Evidence {
            source: Source::Pinned,
            says: Claim {
                mutability: Some(identity.mutability),
                action: Some(identity.action),
                output_domain: Some(identity.output_domain),
                content_type: None,
            },
            span: "the operator's word".to_owned(),
            strength: Strength::Strong,
        });
        pinned.into_iter().chain(self.curated.map(Reviewed::evidence))
    }

    fn over(self, behavior: Behavior, trust: Trust) -> Behavior {
        let lowers = |reviewed: &Reviewed| {
            reviewed.identity.mutability == Mutability::Pure && behavior.identity.mutability == Mutability::Mutates
        };
        let curated = self.curated.filter(|reviewed| trust != Trust::None || !lowers(reviewed));
        let content_type = match curated.and_then(|reviewed| reviewed.content_type) {
            Some(content_type) => content_type,
            None => behavior.content_type,
        };
        match self.pinned.or(curated.map(|reviewed| reviewed.identity)) {
            Some(identity) => {
                Behavior { identity, confidence: proven(identity), content_type, disputed: false, ..behavior }
            }
            None => behavior,
        }
    }
}

/// What is concluded about one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallBehavior {
    pub behavior: Behavior,
    /// JSON Pointers of the keys that the tool's schema does not declare.
    pub undeclared: Vec<String>,
}

/// Concludes about one call: the tool's behavior, raised (never lowered) by what the arguments show.
///
/// `text` is the arguments' exact JSON text, `arguments` the same parsed; `tool` is `None` for one that the server did not describe.
pub fn of_call(tool: Option<&Tool>, described: &Behavior, text: &str, arguments: &Value) -> Behavior {
    of_described_call(tool, described, text, arguments).behavior
}

/// The same, with the keys that the tool does not declare.
pub fn of_described_call(tool: Option<&Tool>, described: &Behavior, text: &str, arguments: &Value) -> CallBehavior {
    let mut behavior = described.clone();
    behavior.hazards.extend(hazards::arguments::found(text, arguments));
    let mut not_declared = Vec::new();
    if let Some(tool) = tool {
        let Undeclared { keys, reach } = undeclared(&tool.input_schema, arguments);
        let mut what = Vec::new();
        if !keys.is_empty() {
            what.push(format!("not declared by the tool: {}", keys.join(", ")));
        }
        if reach == Reach::Bounded {
            what.push("there may be more: not all of it was compared with the tool's schema".to_owned());
        }
        if !what.is_empty() {
            behavior.hazards.push(Hazard { kind: HazardKind::UndeclaredArguments, what: what.join("; ") });
        }
        not_declared = keys;
    }
    let judged = arguments::judge(tool, arguments, &[]);
    behavior.explanation = judged.explanation;
    for analysis in judged.found {
        let evidence = analysis.evidence();
        behavior.identity = raised(behavior.identity, evidence.says);
        if behavior.identity.mutability == Mutability::Mutates {
            behavior.confidence = Confidence::None;
        }
        behavior.evidence.push(evidence);
        behavior.analyses.push(analysis);
    }
    CallBehavior { behavior, undeclared: not_declared }
}

/// What a write would replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// Nothing: that was seen.
    Nothing,
    /// Something, or it was not looked up.
    Perhaps,
}

/// Why this call must not be approved by one careless key, in our words; `None` when one key may do.
///
/// DELETE, EXECUTE, SEND, MERGE, MONEY, OVERWRITE unless there is nothing to replace, UNKNOWN, and any hazard.
pub fn danger(behavior: &Behavior, replaced: Replaced) -> Option<String> {
    let identity = behavior.identity;
    let mut reasons: Vec<&str> = Vec::new();
    reasons.extend(match identity.action {
        Action::Delete => Some("it removes something"),
        Action::Execute => Some("it runs or stops something"),
        Action::Send => Some("it sends something out"),
        Action::Merge => Some("it joins one thing into another"),
        Action::Overwrite if replaced == Replaced::Nothing => None,
        Action::Overwrite => Some("it replaces a whole content"),
        Action::Unknown => Some("nobody knows what it does"),
        Action::Read | Action::Search | Action::Create | Action::Update | Action::Append | Action::Move => None,
    });
    if identity.output_domain == OutputDomain::Money && identity.mutability == Mutability::Mutates {
        reasons.push("it touches money");
    }
    if behavior.disputed {
        reasons.push("the evidence about it contradicts itself");
    }
    reasons.extend(behavior.hazards.iter().map(|hazard| hazard.kind.word()));
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Joins the three sources about a tool: the most cautious decides, and a contradiction is a dispute.
fn joined(inference: &Inference, declared: Option<&Evidence>, annotated: Option<&Evidence>, trust: Trust) -> Behavior {
    let inferred = inference.claim;
    let declared = declared.map_or(Claim::default(), |evidence| evidence.says);
    let hinted = annotated.and_then(|evidence| evidence.says.mutability);
    let said = [declared.mutability, hinted, inferred.mutability];
    let pure = said.contains(&Some(Mutability::Pure));
    let mutates = said.contains(&Some(Mutability::Mutates));
    let (mutability, disputed) = match (trust, hinted) {
        // Believed, but the tool is on the review list where other evidence contradicts the hint.
        (Trust::Annotations, Some(hinted)) => (hinted, pure && mutates),
        (Trust::None, _) => (Mutability::Mutates, pure && mutates),
        (Trust::Corroborate | Trust::Annotations, _) if pure && !mutates => (Mutability::Pure, false),
        (Trust::Corroborate | Trust::Annotations, _) => (Mutability::Mutates, pure && mutates),
    };
    // Where the recogniser did not settle on a badge, its action is a guess, and a declared one is better.
    let action = match (declared.action, inferred.action) {
        (Some(declared), Some(inferred_action)) if inferred.mutability.is_some() => {
            Some(if inferred_action.caution() > declared.caution() { inferred_action } else { declared })
        }
        (Some(declared), _) => Some(declared),
        (None, inferred_action) => inferred_action,
    };
    let output_domain = declared.output_domain.or(inferred.output_domain).unwrap_or(OutputDomain::Unknown);
    let identity = Identity { mutability, action: fitting(mutability, action), output_domain };
    Behavior {
        identity,
        confidence: proven(identity),
        content_type: declared.content_type.or(inferred.content_type).unwrap_or(ContentType::Unknown),
        evidence: Vec::new(),
        disputed,
        hazards: Vec::new(),
        analyses: Vec::new(),
        explanation: Explanation::default(),
    }
}

/// The confidence in an identity that nothing casts doubt on.
fn proven(identity: Identity) -> Confidence {
    match identity.mutability {
        Mutability::Pure => Confidence::Proven,
        Mutability::Mutates => Confidence::None,
    }
}

/// The action as it fits the badge: a rule about READ must never match a call that is not PURE.
fn fitting(mutability: Mutability, action: Option<Action>) -> Action {
    match (mutability, action) {
        (Mutability::Pure, Some(action)) if reads(action) => action,
        (Mutability::Pure, Some(_) | None) => Action::Read,
        (Mutability::Mutates, Some(action)) if !reads(action) => action,
        (Mutability::Mutates, Some(_) | None) => Action::Unknown,
    }
}

/// The identity with what the arguments show added: never less cautious than before.
fn raised(identity: Identity, says: Claim) -> Identity {
    if says.mutability != Some(Mutability::Mutates) {
        return identity;
    }
    let action = says.action.unwrap_or(Action::Unknown);
    let action = if action.caution() > identity.action.caution() { action } else { identity.action };
    Identity { mutability: Mutability::Mutates, action, ..identity }
}

fn reads(action: Action) -> bool {
    matches!(action, Action::Read | Action::Search)
}
