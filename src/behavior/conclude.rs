//! Joins all evidence into one conclusion: pinned, else curated, else the most cautious of the rest; arguments only raise.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::agreed::Agreements;
use super::arguments::effect::{Analysis, Effect};
use super::arguments::key::Said;
use super::curated::{Entitlement, Reading, Reviewed};
use super::evidence::{Claim, Evidence, Source, Strength};
use super::hazards::{self, Hazard, HazardKind};
use super::identity::Identity;
use super::shape::{self, Keys, Known, PathStates, Places, Shape};
use super::taxonomy::{Action, Badge, Confidence, ContentType, Mutability, OutputDomain};
use super::voters::{self, Says, Vote};
use super::{arguments, declared, infer};
use crate::capability::undeclared::{Reach, Undeclared, undeclared};
use crate::mcp::tool::Tool;
use crate::wire::words::words;

words! {
    /// How far a server's own words may lower a risk.
    #[derive(Default)]
    Trust {
        /// Its words may show a call PURE when nothing contradicts them.
        #[default]
        Corroborate = "corroborate",
        /// Its annotations are believed as they are.
        Annotations = "annotations",
        /// Nothing it says lowers a risk.
        None = "none",
    }
}

/// What is concluded about a tool, or about one call of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behavior {
    pub identity: Identity,
    /// How sure it is that a PURE one only reads.
    pub confidence: Confidence,
    pub content_type: ContentType,
    /// Shared by all calls of a tool that add nothing to it.
    pub evidence: Arc<Vec<Evidence>>,
    /// Evidence contradicts itself: on the review list, and MUTATES unless its server's annotations are trusted.
    pub disputed: bool,
    pub hazards: Vec<Hazard>,
    /// What our list of well-known servers says that the tool requires of a role.
    pub requires: Option<Entitlement>,
    /// Which calls only read, by that list, of a tool that changes something; `None` where its word lowers nothing.
    pub reading: Option<Arc<Reading>>,
    /// What the arguments of this very call would do; empty for a tool.
    pub analyses: Vec<Analysis>,
    /// What is new about this very call; nothing for a tool.
    pub shape: Shape,
}

impl Behavior {
    /// Every effect of the call, each once, in their order: what the arguments show, and what the identity says. Never empty.
    pub fn effects(&self) -> Vec<Effect> {
        let shown = self.analyses.iter().map(|analysis| analysis.effect);
        let all: BTreeSet<Effect> = shown.chain([Effect::of(self.identity.action)]).collect();
        all.into_iter().collect()
    }

    /// A tool without a description of its own.
    pub fn unknown() -> Self {
        Self {
            identity: Identity::UNKNOWN,
            confidence: Confidence::None,
            content_type: ContentType::Unknown,
            evidence: Arc::default(),
            disputed: false,
            hazards: Vec::new(),
            requires: None,
            reading: None,
            analyses: Vec::new(),
            shape: Shape::default(),
        }
    }

    /// The whole identity that the tool declares itself, and which others than its server say the same of whether it reads.
    pub fn declared(&self) -> Option<(Identity, Vec<Source>)> {
        let own = self.evidence.iter().filter(|one| one.source == Source::Declared);
        let identity = own.filter_map(|one| one.says.identity()).next()?;
        let others = self.evidence.iter().filter(|one| !matches!(one.source, Source::Declared | Source::Annotated));
        let same = others.filter(|one| one.says.mutability == Some(identity.mutability));
        Some((identity, same.map(|one| one.source).collect()))
    }

    pub fn has(&self, source: Source) -> bool {
        self.evidence.iter().any(|one| one.source == source)
    }

    /// The badge; PURE where it is proven to read, and nothing about the call is new: nothing else runs unasked by a default.
    pub fn badge(&self) -> Badge {
        let confidence = if self.shape.holds() { self.confidence } else { Confidence::Likely };
        Badge::of(self.identity.mutability, confidence)
    }
}

/// What others than the server say of a tool, for exactly this definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    pub pinned: Option<Identity>,
    /// By our list of well-known servers.
    pub curated: Option<Reviewed>,
    /// By the classifiers that the operator asked; none where all agreed with us.
    pub outside: Vec<Identity>,
}

pub fn of_tool(tool: &Tool, trust: Trust) -> Behavior {
    of_tool_with(tool, trust, Overrides::default())
}

/// Concludes about a tool from its definition and from what others say of it: pinned, else curated, else the server.
///
/// With [`Trust::None`] a curated identity lowers nothing: it speaks of what a package should be, not of what runs.
pub fn of_tool_with(tool: &Tool, trust: Trust, overrides: Overrides) -> Behavior {
    of_votes(tool, &voters::votes(tool), trust, overrides)
}

/// The same from these votes: for measuring the voters.
pub fn of_votes(tool: &Tool, votes: &[Vote; 3], trust: Trust, overrides: Overrides) -> Behavior {
    let declared = declared::evidence(&tool.definition);
    let annotated = declared::hinted(tool.annotations);
    let effects = declared::effects(&tool.definition);
    let written = voters::description::written(tool);
    let behavior = joined(tool, votes, [&declared, &annotated, &effects, &written], trust);
    let said_otherwise = overrides.evidence();
    // It only tightens, so that it holds whatever the server is trusted with.
    let requires = overrides.curated.as_ref().and_then(|reviewed| reviewed.requires);
    // The operator's word settles what classifiers dispute.
    let outside = if overrides.pinned.is_some() { Vec::new() } else { overrides.outside.clone() };
    let hinted =
        annotated.as_ref().and_then(|evidence| evidence.says.mutability).filter(|_| trust == Trust::Annotations);
    let behavior = disputed(&outside, hinted, overrides.over(behavior, trust));
    let mut hazards = hazards::definition::found(&tool.definition);
    hazards.extend(hazards::lookalike::disguised(&tool.name));
    let first_sentence =
        tool.description.as_deref().and_then(|text| voters::description::sentences(text).next()).unwrap_or_default();
    let may_read = behavior.identity.action.reads() || behavior.identity.action == Action::Unknown;
    if (may_read || behavior.reading.is_some())
        && let Some(what) = hazards::definition::returned(&tool.name, first_sentence)
    {
        hazards.push(Hazard {
            kind: HazardKind::SensitiveRead,
            what: format!("the tool returns what may be secret: {what}"),
        });
    }
    let of_server = declared
        .into_iter()
        .chain(effects)
        .chain(annotated)
        .chain(written)
        .chain(votes.iter().filter_map(Vote::evidence))
        .chain(outside.iter().map(|says| Evidence {
            source: Source::Outside,
            says: Claim::of(*says, None),
            span: "a classifier that sees no name".to_owned(),
            strength: Strength::Fair,
        }));
    let evidence = Arc::new(said_otherwise.chain(of_server).collect());
    Behavior { evidence, hazards, requires, ..behavior }
}

/// Whether name and description each say that it reads, no other act is described, and the learned voter is not needed.
pub fn is_proven_by_texts(tool: &Tool) -> bool {
    let votes = [voters::name::vote(tool), voters::description::vote(tool), Vote::silent(Source::Learned)];
    let [name, description, _] = &votes;
    name.says == Says::Reads
        && description.says == Says::Reads
        && voters::description::names_one_act(tool)
        && of_votes(tool, &votes, Trust::Corroborate, Overrides::default()).confidence == Confidence::Proven
}

impl Overrides {
    fn evidence(&self) -> impl Iterator<Item = Evidence> + use<> {
        let pinned = self.pinned.map(|identity| Evidence {
            source: Source::Pinned,
            says: Claim::of(identity, None),
            span: "the operator's word".to_owned(),
            strength: Strength::Strong,
        });
        pinned.into_iter().chain(self.curated.as_ref().map(Reviewed::evidence))
    }

    fn over(self, behavior: Behavior, trust: Trust) -> Behavior {
        let lowers = |reviewed: &Reviewed| {
            reviewed.identity.mutability == Mutability::Pure && behavior.identity.mutability == Mutability::Mutates
        };
        let curated = self.curated.filter(|reviewed| trust != Trust::None || !lowers(reviewed));
        let curated = curated.as_ref();
        let content_type = curated.and_then(|reviewed| reviewed.content_type).unwrap_or(behavior.content_type);
        // The operator's word is about every call.
        let reading = curated.filter(|_| self.pinned.is_none() && trust != Trust::None);
        match self.pinned.or(curated.map(|reviewed| reviewed.identity)) {
            Some(identity) => Behavior {
                identity,
                confidence: proven(identity.mutability),
                content_type,
                disputed: false,
                reading: reading.and_then(|reviewed| reviewed.reading.clone()),
                ..behavior
            },
            None => behavior,
        }
    }
}

/// Disputed where a classifier says otherwise whether the tool reads; then it counts as MUTATES, unless a hint that is believed
/// says that it reads.
fn disputed(outside: &[Identity], hinted: Option<Mutability>, behavior: Behavior) -> Behavior {
    let is = behavior.identity;
    if outside.iter().all(|one| one.mutability == is.mutability) {
        return behavior;
    }
    if hinted == Some(Mutability::Pure) {
        return Behavior { disputed: true, ..behavior };
    }
    let identity = is.with_mutability(Mutability::Mutates);
    Behavior { identity, confidence: Confidence::None, disputed: true, ..behavior }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallBehavior {
    pub behavior: Behavior,
    /// JSON Pointers of the keys that the tool's schema does not declare.
    pub undeclared: Vec<String>,
}

/// Concludes about one call: the tool's behavior, raised (never lowered) by what the arguments show.
///
/// `tool` is `None` for one that the server did not describe. Nothing is agreed to, and no path was looked at.
pub fn of_call(tool: Option<&Tool>, described: &Behavior, arguments: &Value) -> Behavior {
    let said = tool.map(Said::of).unwrap_or_default();
    let mut behavior = of_described_call(tool, &said, described, arguments).behavior;
    let keys =
        tool.map(|tool| Keys::of(tool, described.identity.action, &described.evidence, None)).unwrap_or_default();
    let (agreed, places, path_states) = (Agreements::default(), Places::default(), PathStates::new());
    let known = Known { agreed: &agreed, places: &places, roots: &[], path_states: &path_states };
    behavior.shape = shape::of_call(tool, &keys, arguments, known);
    behavior
}

/// The same, with the keys that the tool does not declare. `said` is what the words of its definition say.
pub fn of_described_call(tool: Option<&Tool>, said: &Said, described: &Behavior, arguments: &Value) -> CallBehavior {
    let mut behavior = described.clone();
    let reading = described.reading.as_ref();
    if let Some((identity, evidence)) = tool.and_then(|tool| reading?.of_call(tool, arguments)) {
        (behavior.identity, behavior.confidence) = (identity, proven(identity.mutability));
        Arc::make_mut(&mut behavior.evidence).insert(0, evidence);
    }
    behavior.hazards.extend(hazards::arguments::found(arguments));
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
    for analysis in arguments::found_as_said(tool, said, arguments) {
        let evidence = analysis.evidence();
        behavior.identity = raised(behavior.identity, evidence.says);
        if behavior.identity.mutability == Mutability::Mutates {
            behavior.confidence = Confidence::None;
        }
        Arc::make_mut(&mut behavior.evidence).push(evidence);
        behavior.analyses.push(analysis);
    }
    CallBehavior { behavior, undeclared: not_declared }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// Nothing: that was seen.
    Nothing,
    /// Something, or it was not looked up.
    Perhaps,
    Whole,
}

/// What is said of a write that may replace something.
pub const MAY_REPLACE: &str = "it may replace what is there";
/// What it would make is there, or something else is.
pub const IS_THERE: &str = "something is there already";
/// What is said of a tool that runs any statement, when this one changes something.
pub const STATEMENT_CHANGES: &str = "its statement changes something";

/// Why this call must not be approved by one careless key, in our words; `None` when one key may do.
///
/// DELETE, EXECUTE, SEND, MERGE, MONEY, OVERWRITE unless there is nothing to replace, UNKNOWN, and any hazard.
pub fn danger(behavior: &Behavior, replaced: Replaced) -> Option<String> {
    let identity = behavior.identity;
    let mut reasons: Vec<&str> = Vec::new();
    reasons.extend(match identity.action {
        Action::Delete => Some("it deletes something"),
        Action::Execute if only_queries(behavior) => Some(STATEMENT_CHANGES),
        Action::Execute => Some("it runs or stops something"),
        Action::Send => Some("it sends something"),
        Action::Merge => Some("it merges one thing into another"),
        Action::Overwrite if replaced == Replaced::Nothing => None,
        Action::Overwrite if replaced == Replaced::Whole => Some("it replaces the whole file"),
        Action::Overwrite => Some(MAY_REPLACE),
        Action::Unknown => Some("what it does is unknown"),
        Action::Read | Action::Search | Action::Create | Action::Update | Action::Append | Action::Move => None,
    });
    if identity.output_domain == OutputDomain::Money && identity.mutability == Mutability::Mutates {
        reasons.push("it touches money");
    }
    if behavior.disputed {
        reasons.push("what is said of the tool contradicts itself");
    }
    reasons.extend(behavior.hazards.iter().map(|hazard| hazard.kind.word()));
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Whether all that a call runs are statements of a query language, which were read.
pub fn only_queries(behavior: &Behavior) -> bool {
    use crate::behavior::arguments::effect::Language::{Cypher, Elasticsearch, GraphQl, MongoDb, Redis, Sparql, Sql};
    let is_query = |language| matches!(language, Sql | GraphQl | MongoDb | Redis | Cypher | Sparql | Elasticsearch);
    !behavior.analyses.is_empty() && behavior.analyses.iter().all(|one| is_query(one.language))
}

/// Joins what the server and the voters say of a tool: the most cautious decides, and a contradiction is a dispute.
///
/// Of the server: its declared fields, its hints, the effects that it declares, and the parameter with which one would write.
fn joined(
    tool: &Tool,
    votes: &[Vote; 3],
    [declared, annotated, effects, written]: [&Option<Evidence>; 4],
    trust: Trust,
) -> Behavior {
    let declared = declared.as_ref().map_or(Claim::default(), |evidence| evidence.says);
    let hinted = annotated.as_ref().and_then(|evidence| evidence.says.mutability);
    let effect = effects.as_ref().and_then(|evidence| evidence.says.mutability);
    // One that says it changes something outweighs those that say it reads.
    let voters_say = votes.iter().filter_map(Vote::mutability).max();
    let contradiction = declared::hints_contradict(tool.annotations) || declared::contradicts_itself(declared);
    let said = [declared::mutability(declared), hinted, effect];
    let says = |what| said.contains(&Some(what)) || voters_say == Some(what);
    let disputed = contradiction || (says(Mutability::Pure) && says(Mutability::Mutates));
    let (mutability, confidence) = match (trust, hinted) {
        (Trust::None, _) => (Mutability::Mutates, Confidence::None),
        // The hint is believed; where other evidence contradicts it, the tool is on the review list all the same.
        (Trust::Annotations, Some(hinted)) if effect.is_none() && !declared::hints_contradict(tool.annotations) => {
            (hinted, proven(hinted))
        }
        (Trust::Corroborate | Trust::Annotations, _) if contradiction || says(Mutability::Mutates) => {
            (Mutability::Mutates, Confidence::None)
        }
        (Trust::Corroborate | Trust::Annotations, _) => match voters_say {
            // Two that share no word agree, or the server and one of them do.
            Some(_)
                if written.is_none()
                    && voters::reading(votes) + usize::from(said.contains(&Some(Mutability::Pure))) > 1 =>
            {
                (Mutability::Pure, Confidence::Proven)
            }
            Some(_) => (Mutability::Pure, Confidence::Likely),
            None => (Mutability::Mutates, Confidence::None),
        },
    };
    let inferred = infer::claim(tool, votes, mutability);
    let action = match declared.action {
        Some(declared) if !outweighed(declared, &votes[0]) => Some(declared),
        Some(_) | None => inferred.action,
    };
    let output_domain = declared.output_domain.or(inferred.output_domain).unwrap_or(OutputDomain::Unknown);
    // A rule about READ must never match a call that is not PURE.
    let identity = Identity { mutability, action: action.unwrap_or(Action::Unknown), output_domain };
    Behavior {
        identity: identity.with_mutability(mutability),
        confidence,
        content_type: declared.content_type.or(inferred.content_type).unwrap_or(ContentType::Unknown),
        disputed,
        ..Behavior::unknown()
    }
}

/// Whether the verb of the name is so much graver than a declared action that the declaration is not believed.
fn outweighed(declared: Action, name: &Vote) -> bool {
    let grave =
        |action| matches!(action, Action::Delete | Action::Execute | Action::Send | Action::Merge | Action::Overwrite);
    let said = name.action.filter(|_| name.says == Says::Changes);
    said.is_some_and(|said| grave(said) && (!grave(declared) || said == Action::Delete))
}

/// The confidence in a mutability that nothing casts doubt on.
pub(super) fn proven(mutability: Mutability) -> Confidence {
    match mutability {
        Mutability::Pure => Confidence::Proven,
        Mutability::Mutates => Confidence::None,
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
