//! A held call as the operator sees it: data only, no bytes that could be forwarded. Foreign text in it is raw.

use serde::{Deserialize, Serialize};

use crate::behavior::{
    Badge, Confidence, Evidence, Hazard, Identity, Mutability, arguments::reading::Reading, taxonomy::ContentType,
};
use crate::gate::data::{facts::Facts, pin::PinOffer};
use crate::policy::{Ruling, decide::Near};
use crate::signing::CardTerms;
use crate::wire::Digest;

/// The words after the ticket of an identical call that still waits.
pub const STILL_WAITS: &str = " is the same call and still waits: each that is approved runs";

/// One held call. Times are milliseconds since 1970, UTC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// `SERVER-N`.
    pub ticket: String,
    pub server: String,
    /// The method of a request other than `tools/call`: foreign text. Its params are the arguments.
    #[serde(default)]
    pub method: Option<String>,
    /// For a result that a rule asks about: the ticket of its call, if that has one. The result is the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_of: Option<String>,
    /// The tool's name; for such a request its method.
    pub tool: String,
    /// The server's display name for the tool.
    pub title: Option<String>,
    pub description: Option<String>,
    /// Rust notation; `None` for a tool that the server has not described.
    pub signature: Option<String>,
    pub identity: Identity,
    /// How sure it is that a PURE one only reads.
    pub confidence: Confidence,
    /// What is new about a call that reads: the JSON Pointer of each, and one line on it. Foreign text.
    #[serde(default)]
    pub new: Vec<(String, String)>,
    /// What one key would settle for later calls too.
    #[serde(default)]
    pub offer: Option<PinOffer>,
    pub content_type: ContentType,
    pub evidence: Vec<Evidence>,
    pub disputed: bool,
    pub hazards: Vec<Hazard>,
    /// Our own line on what it does, from identity and arguments.
    pub effect: String,
    /// What it acts on, as every row and record says it. Foreign text.
    #[serde(default)]
    pub target: Option<String>,
    pub ruling: Ruling,
    /// The rules for this tool that did not decide, the nearest to that first.
    #[serde(default)]
    pub near: Vec<Near>,
    pub safe: Safe,
    pub arguments: String,
    /// The exact JSON text of a retry's answers to the server's questions.
    #[serde(default)]
    pub responses: Option<String>,
    /// What the call has beside its arguments that no revision of the protocol has: one JSON object, by JSON Pointers.
    #[serde(default)]
    pub unknown_parts: Option<String>,
    /// The texts of statements and commands among them, as they were read.
    #[serde(default)]
    pub readings: Vec<Reading>,
    /// JSON Pointers of the keys that the tool's schema does not declare.
    pub undeclared: Vec<String>,
    /// The digest that names the bytes that will be forwarded.
    pub digest: Digest,
    /// Length of the whole line, line end aside.
    pub bytes: u64,
    pub arrived: i64,
    /// When it is denied for want of an answer; `None` means it waits as long as the host does.
    pub deadline: Option<i64>,
    /// Who asks: the host's own name and version.
    pub host: Option<String>,
    /// Who asks within the host, by its `_meta`: a word of ours (`thread`, `sub-agent`, …) and its value, foreign.
    #[serde(default)]
    pub caller: Vec<(String, String)>,
    /// Why one careless key must not approve it; `None` when one key may do.
    pub danger: Option<String>,
    /// The digest of the line as received, when the operator has edited it since.
    pub edited_from: Option<Digest>,
    pub original_arguments: Option<String>,
    /// What the call would touch on this machine; empty where its arguments name no path.
    #[serde(default)]
    pub facts: Vec<Facts>,
    /// What has changed since it was approved, where it is asked again for that; in our words.
    #[serde(default)]
    pub asked_again: Option<String>,
    /// The ticket of the call that must end before this one reaches the server, where calls keep their order.
    #[serde(default)]
    pub runs_after: Option<String>,
    /// How often this call has come without having run, this time included; 0 if the wrapper does not say.
    #[serde(default)]
    pub occurrence: usize,
    /// What became of the same call before, the latest first, in our words: its host asks again.
    #[serde(default)]
    pub earlier: Vec<String>,
    /// What the operator cannot see of the host while the call waits, in our words.
    #[serde(default)]
    pub silence: Option<String>,
    /// The host shows its user nothing of the wait.
    #[serde(default)]
    pub bare: bool,
    /// Where the approval needs a signature: what it must cover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signs: Option<CardTerms>,
    /// Known to the consoles that have the whole card: without it the card's digest confirms no guess of what the card shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<Digest>,
}

impl Snapshot {
    /// The digest of the card's data without what a signature must cover: what that covers of the card.
    pub fn card_digest(&self) -> Digest {
        let shown = Self { signs: None, ..self.clone() };
        // A card of texts and numbers is always JSON.
        Digest::of(&serde_json::to_vec(&shown).unwrap_or_default())
    }

    pub fn badge(&self) -> Badge {
        let reads = self.identity.mutability == Mutability::Pure;
        if reads && !self.new.is_empty() { Badge::Likely } else { Badge::of(self.identity.mutability, self.confidence) }
    }
}

/// The three checks of `Safe(agent, tool, state)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Safe {
    pub capability: Check,
    pub guardrail: Check,
    pub session: Check,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub state: CheckState,
    pub what: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    Holds,
    /// Not yet: it waits for the operator.
    Pending,
    Fails,
}
