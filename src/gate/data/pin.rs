//! What is remembered of this server from before: pinned definitions, a changed program, names on other servers. Data
//! in memory, and how a definition compares with its pin; [`crate::pins`] reads, keeps and reviews them.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::behavior::agreed::What;
use crate::behavior::{
    Agreement, Agreements, Hazard, HazardKind, Identity, Trust, conclude::Overrides, curated::Curated,
    hazards::lookalike,
};
use crate::mcp::Tool;
use crate::signing::change::{ChangeKind, ChangeTerms};
use crate::wire::Digest;

/// How many tools of one server are remembered, so that one that renames its tools fills no disk: the rest is not reviewed.
const MOST: usize = 20_000;

/// One tool as remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The definition that is trusted: accepted by the operator, or the first one seen. `None`: none is yet.
    pub trusted: Option<Digest>,
    /// The definition that the operator refused last.
    pub refused: Option<Digest>,
    pub latest: Digest,
    /// From 1, one more with every change of the definition.
    pub version: u64,
    /// The digest of what the trusted definition says ([`Tool::sense`]).
    pub sense: Option<Digest>,
    /// What the trusted definition was concluded to be.
    pub identity: Option<Identity>,
    /// What the operator says that the trusted definition is.
    pub said: Option<Identity>,
    pub added_in: AddedIn,
    /// Milliseconds since 1970, UTC.
    pub first_seen: i64,
}

/// In which session a server gave a tool for the first time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddedIn {
    /// Whoever wraps a server accepts the tools it starts with.
    #[default]
    FirstSession,
    /// Or after the server has announced that its list, which was known whole, changes. It is new, and its calls are asked until an operator has reviewed it.
    LaterSession,
}

/// A tool of another server, for look-alikes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    pub server: String,
    pub tool: String,
    /// Milliseconds since 1970, UTC.
    pub first_seen: i64,
}

/// Everything remembered that concerns one server.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    /// The digest of the server's command line, 64 hex characters.
    pub fingerprint: Arc<str>,
    /// The registry's package that the command runs, `npm:NAME` or `pypi:NAME`, where it is certain.
    pub package: Option<Arc<str>>,
    /// What changed in the server's program or command line since it was trusted; `None` when nothing did.
    pub changed: Option<Arc<str>>,
    pub tools: HashMap<String, Pin>,
    /// By the skeleton of their names: names that look alike have the same.
    pub others: HashMap<String, Vec<Other>>,
    /// What the operator has agreed to, each with its record in the log.
    pub agreed: Agreements,
    /// Those of them with a signature that counts.
    pub signed: Agreements,
    /// What is kept as agreed to and has no record in the log, in words: none of it counts.
    pub unproven: Vec<String>,
    /// What lapsed when this was read, because it was not used for long.
    pub lapsed: Vec<Agreement>,
    /// What classifiers that the operator asked said of definitions, where one disagreed with us.
    pub views: HashMap<Digest, Vec<Identity>>,
    /// When a tool was added that is not among these.
    pub added_in: AddedIn,
    pub arrival: PinsArrival,
}

/// Whether what is remembered has been read yet. Nothing is judged before that; everything else passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PinsArrival {
    #[default]
    Here,
    /// It comes as [`Event::Reviewed`](crate::gate::data::event::Event::Reviewed).
    Awaited,
}

/// How a definition compares with what is remembered of its tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "pin", rename_all = "kebab-case")]
pub enum PinState {
    Trusted,
    /// Another was trusted. `was` is what that one was concluded to be.
    Changed {
        version: u64,
        was: Option<Identity>,
    },
    /// It is not reviewed yet, and this server is not trusted on first sight.
    Unreviewed,
    /// The server added it after its first session, and it is not reviewed yet.
    New,
    Refused,
}

/// A definition that is new or changed: to be kept for the sessions to come.
#[derive(Clone, Debug, PartialEq)]
pub struct PinUpdate {
    pub tool: Tool,
    pub pin: Pin,
    pub pin_state: PinState,
    pub kind: UpdateKind,
}

/// What to keep of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateKind {
    /// It is new or changed; a review decides whether it is trusted.
    Seen,
    /// It says the same as this definition, and is trusted in its place while that one still is.
    Replaces(Digest),
}

impl Pins {
    pub fn awaited() -> Self {
        Self { arrival: PinsArrival::Awaited, ..Self::default() }
    }

    /// Notes a definition; returns its state, and what to keep of it.
    pub fn note(&mut self, wall: i64, tool: &Tool, digest: Digest, trust: Trust) -> (PinState, Option<UpdateKind>) {
        let is_full = self.tools.len() >= MOST;
        let Some(pin) = self.tools.get_mut(&tool.name) else {
            if is_full {
                return (PinState::Unreviewed, None);
            }
            let trusted = (trust != Trust::None && self.added_in == AddedIn::FirstSession).then_some(digest);
            let pin = Pin {
                trusted,
                refused: None,
                latest: digest,
                version: 1,
                sense: trusted.map(|_| tool.sense()),
                identity: None,
                said: None,
                added_in: if trust == Trust::None { AddedIn::FirstSession } else { self.added_in },
                first_seen: wall,
            };
            let pin_state = pin.state_of(digest);
            self.tools.insert(tool.name.clone(), pin);
            return (pin_state, Some(UpdateKind::Seen));
        };
        let is_new = pin.latest != digest;
        if is_new {
            pin.latest = digest;
            pin.version += 1;
        }
        let other = pin.trusted.filter(|trusted| *trusted != digest && pin.refused != Some(digest));
        let former = other.filter(|_| pin.sense == Some(tool.sense()));
        if former.is_some() {
            pin.trusted = Some(digest);
        }
        (pin.state_of(digest), former.map(UpdateKind::Replaces).or_else(|| is_new.then_some(UpdateKind::Seen)))
    }

    /// What operator and curated list say of a definition.
    pub fn said_of(&self, curated: &Curated, tool: &str, digest: &Digest) -> Overrides {
        let outside = self.views.get(digest).cloned().unwrap_or_default();
        let pinned = self.tools.get(tool).and_then(|pin| pin.said_of(digest));
        Overrides { pinned, curated: curated.find(digest), outside }
    }

    /// The hazard that a tool's name looks like one of another server.
    pub fn look_alike(&self, tool: &str) -> Option<Hazard> {
        let mine = self.tools.get(tool).map_or(i64::MAX, |pin| pin.first_seen);
        let alike = self.others.get(&lookalike::shape(tool))?;
        let other = alike.iter().find(|other| lookalike::deceives(tool, &other.tool, other.first_seen < mine))?;
        let what = format!("the name looks like {} of the server {}, and is a different one", other.tool, other.server);
        Some(Hazard { kind: HazardKind::Confusable, what })
    }
}

impl Pin {
    /// What the operator says of a definition: nothing of one that changed since.
    pub fn said_of(&self, digest: &Digest) -> Option<Identity> {
        self.said.filter(|_| self.trusted.as_ref() == Some(digest))
    }

    pub fn state_of(&self, digest: Digest) -> PinState {
        if self.trusted == Some(digest) {
            PinState::Trusted
        } else if self.refused == Some(digest) {
            PinState::Refused
        } else if self.trusted.is_none() {
            match self.added_in {
                AddedIn::FirstSession => PinState::Unreviewed,
                AddedIn::LaterSession => PinState::New,
            }
        } else {
            PinState::Changed { version: self.version, was: self.identity }
        }
    }
}

impl PinState {
    /// The hazard that it is for a call, if any; `now` is what the definition is concluded to be.
    pub fn hazard(&self, now: Identity) -> Option<Hazard> {
        let what = match self {
            Self::Trusted => return None,
            Self::Changed { version, was: Some(was) } if *was != now => format!(
                "the definition changed since it was trusted (now version {version}), and with it the behavioral \
                 identity: {was} was approved, this is now; see Tools (4)"
            ),
            Self::Changed { version, .. } => {
                format!("the definition changed since it was trusted (now version {version}); see Tools (4)")
            }
            Self::Unreviewed => {
                "this definition is not reviewed yet, and its server is not trusted; see Tools (4)".to_owned()
            }
            Self::New => {
                let what = "the server added this tool after its first session, and it is not reviewed yet; see \
                     Tools (4)";
                return Some(Hazard { kind: HazardKind::NewDefinition, what: what.to_owned() });
            }
            Self::Refused => "you refused this definition; see Tools (4)".to_owned(),
        };
        Some(Hazard { kind: HazardKind::ChangedDefinition, what })
    }

    pub fn word(&self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Changed { .. } => "changed",
            Self::Unreviewed => "unreviewed",
            Self::New => "new",
            Self::Refused => "refused",
        }
    }
}

/// What one key of the operator would settle, on the card of a call that asks for nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PinOffer {
    pub tool: ToolOffer,
    /// What `p` remembers of the call, each in one line; none where nothing is new. Foreign text.
    pub agree: Vec<String>,
    /// The keys under which `w` takes any text from now on; none where something else is new too. Foreign text.
    pub any_text: Vec<String>,
    pub remembers: Remembers,
    /// Where `p` and `w` need a signature: what it must cover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signs: Option<Box<OfferSigns>>,
}

/// What is agreed to with a card's words, on which machine. Texts in it are foreign, raw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferSigns {
    /// Of the server's command line.
    pub fingerprint: String,
    pub machine: String,
    pub user: String,
    pub reads: Vec<Agreement>,
    pub any_text: Vec<Agreement>,
}

impl OfferSigns {
    /// Whether it is what the card says, about its own tool: nothing else is signed, whoever sent the card.
    pub fn is_as_shown(&self, offer: &PinOffer, (tool, is): (&str, Identity)) -> bool {
        let (said, agreed): (Vec<_>, Vec<_>) = self.reads.iter().partition(|one| one.what == What::Definition);
        let may_say = |one: &Agreement| offer.tool == ToolOffer::Likely && one.value == is.to_string();
        let any_text = |one: &Agreement| (one.what == What::Text).then(|| one.key.trim_start_matches('/').to_owned());
        self.reads.iter().chain(&self.any_text).all(|one| one.tool.is_empty() || one.tool == tool)
            && said.iter().all(|one| may_say(one))
            && agreed.iter().map(|one| one.says()).eq(offer.agree.iter().cloned())
            && self.any_text.iter().map(any_text).eq(offer.any_text.iter().cloned().map(Some))
    }

    /// What a word agrees to.
    pub fn agreed(&self, word: ToolWord) -> &[Agreement] {
        match word {
            ToolWord::Reads => &self.reads,
            ToolWord::PlainText => &self.any_text,
            ToolWord::Changes => &[],
        }
    }

    /// What the signature on a word covers; `None` where it needs none.
    pub fn change(&self, word: ToolWord) -> Option<ChangeTerms> {
        let changes: Vec<Digest> = self.agreed(word).iter().map(|one| one.digest(&self.fingerprint)).collect();
        let (machine, user) = (self.machine.clone(), self.user.clone());
        let terms = ChangeTerms { changes, kind: ChangeKind::Tools, machine, of: String::new(), user };
        (!terms.changes.is_empty()).then_some(terms)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolOffer {
    Proven,
    /// No operator has confirmed yet that it reads.
    Likely,
}

/// Whether `p` can settle everything that the call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remembers {
    All,
    /// Something of it asks every time.
    Nothing,
}

/// What the operator says with a held call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolWord {
    /// Its tool only reads, as it was concluded, and what is new about the call is agreed to; and this call is approved.
    Reads,
    /// Its tool changes something; this call waits on.
    Changes,
    /// Any text is agreed to under the keys that the card offers; this call is judged again.
    PlainText,
}

impl ToolWord {
    pub fn word(self) -> &'static str {
        match self {
            Self::Reads => "it reads",
            Self::Changes => "it changes something",
            Self::PlainText => "any text",
        }
    }
}

/// What is kept of one definition of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinning {
    pub tool: String,
    pub definition: Digest,
    /// What the definition was concluded to be when this was said.
    pub is: Identity,
    pub says: Identity,
}

impl Pinning {
    /// It as something agreed to, as it is kept where it must be signed.
    pub fn agreement(&self) -> Agreement {
        Agreement::of_definition(&self.tool, &self.definition, self.says)
    }
}
