//! A fact as gate or shell state it, its details written as they are added, and the proof that it is in the log. Pure.

// A new kind, verdict or cause is a compile error wherever one is matched.
#![warn(clippy::wildcard_enum_match_arm)]

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::audit::repeats::Known;
use crate::behavior::{Badge, Identity};
use crate::policy::Decision;
use crate::signing::{Grade, change::Proof};
use crate::wire::{Digest, json::Json, words::words};

words! {
    Kind {
        ServerStart = "server-start",
        ServerEnd = "server-end",
        Host = "host",
        Attach = "attach",
        Detach = "detach",
        Tools = "tools",
        Policy = "policy",
        /// The operator agreed to something that was new in a call, or took that back.
        Agreed = "agreed",
        /// A text that other records name by its digest.
        Text = "text",
        DecisionAsked = "decision-asked",
        Decision = "decision",
        Forward = "forward",
        /// A host that waits for a held call was asked to come back, or did.
        RoundTrip = "round-trip",
        /// A host was given a task for a held call, and polls.
        Task = "task",
        Outcome = "outcome",
        /// A rule about answers gave the host another one.
        ResultDecision = "result-decision",
        Withdrawn = "withdrawn",
        Fault = "fault",
        /// How many lines passed without a decision.
        Passed = "passed",
        /// What host and server say that they can do.
        Session = "session",
        /// Something that is no call: what a server told its host, or what mcp-approve answered in its place.
        Event = "event",
        Checkpoint = "checkpoint",
        /// The oldest records were removed.
        Removed = "removed",
        /// The end of a session is lost, or a fault says that entries are, and an operator knows.
        SessionLost = "server-lost",
        /// A session goes on in another journal: the only other one that can end it.
        NextJournal = "server-journal",
    }
}

words! {
    /// What was finally decided.
    VerdictWord {
        Approve = "approve",
        Deny = "deny",
    }
}

words! {
    By {
        Default = "default",
        Rule = "rule",
        Operator = "operator",
        Approver = "approver",
        Scope = "scope",
        Expiry = "expiry",
        Cancel = "cancel",
        Shutdown = "shutdown",
        Fault = "fault",
        Observe = "observe",
        /// A person, asked by the host for us.
        Elicitation = "elicitation",
    }
}

impl By {
    /// The word that people read. Searches and exports use [`Self::word`].
    pub fn in_words(self) -> &'static str {
        if self == Self::Default { "policy" } else { self.word() }
    }
}

words! {
    /// How the server answered a forwarded call.
    Outcome {
        Ok = "ok",
        ToolError = "tool-error",
        InputRequired = "input-required",
        Task = "task",
        Error = "error",
        Unreadable = "unreadable",
        /// Too long to be read; it was no error of the protocol.
        Streamed = "streamed",
        /// The host no longer waits for it.
        Cancelled = "cancelled",
        /// The server ended before it answered.
        Unknown = "unknown",
    }
}

impl Outcome {
    /// Whether the server said that the call failed, or its answer is none.
    pub const fn is_failure(self) -> bool {
        match self {
            Self::ToolError | Self::Error | Self::Unreadable => true,
            Self::Ok | Self::InputRequired | Self::Task | Self::Streamed | Self::Cancelled | Self::Unknown => false,
        }
    }
}

words! {
    /// What a fault says of lines of a host that were no acceptable message.
    RefusedLines {
        One = "refused a line from the host",
        /// As many lines as the detail `lines` says, for one reason.
        More = "refused more lines from the host",
    }
}

/// The details that are names and digests of ours: nothing that a call says replaces a part of them.
pub(super) const OURS: [&str; 16] = [
    "above", "answer", "definition", "edited_from", "file", "former", "fingerprint", "host", "method", "operator",
    "program", "result_of", "scope", "sent", "text", "version",
];

/// One fact. `None` where a field does not apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Milliseconds since 1970, UTC.
    pub time: i64,
    pub kind: Kind,
    pub server: Arc<str>,
    /// One run of one wrapper.
    pub session: Arc<str>,
    pub ticket: Option<Arc<str>>,
    pub tool: Option<Arc<str>>,
    /// What a call acts on, not yet redacted.
    pub target: Option<Arc<str>>,
    pub badge: Option<Badge>,
    pub identity: Option<Identity>,
    pub ruling: Option<Decision>,
    pub verdict: Option<VerdictWord>,
    pub by: Option<By>,
    pub rule: Option<String>,
    /// The digest that names the call's line, without its line end; keyed where that has a secret.
    pub digest: Option<Digest>,
    /// Microseconds; written as `latency_ms` with three decimals.
    pub latency_us: Option<u64>,
    /// The exact JSON text of the arguments, not yet redacted.
    pub arguments: Option<Json>,
    /// What the operator's verdict is worth.
    pub assurance: Grade,
    /// The digest of the policy that ruled, or that was in force at that moment.
    pub policy: Option<Digest>,
    /// What else belongs to this kind: reason, evidence, hazards, host, exit status, sizes, the answer's digest.
    pub detail: Detail,
    /// Details that are written as they are, neither redacted nor cut: statements and their signatures, whole texts.
    pub uncut: Detail,
    /// The text that it names by its digest, to be kept where the log does not have it.
    pub names: Option<NamedText>,
    /// Secrets from elsewhere, which are replaced in target, arguments and details wherever they are.
    pub known: Option<Arc<[Known]>>,
}

impl Entry {
    pub fn new(time: i64, kind: Kind, server: &Arc<str>, session: &Arc<str>) -> Self {
        Self {
            time,
            kind,
            server: Arc::clone(server),
            session: Arc::clone(session),
            ticket: None,
            tool: None,
            target: None,
            badge: None,
            identity: None,
            ruling: None,
            verdict: None,
            by: None,
            rule: None,
            digest: None,
            latency_us: None,
            assurance: Grade::default(),
            arguments: None,
            policy: None,
            detail: Detail::default(),
            uncut: Detail::default(),
            names: None,
            known: None,
        }
    }

    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Serialize) -> Self {
        self.detail.add(name, value);
        self
    }

    pub fn add(&mut self, name: &'static str, value: Option<impl Serialize>) {
        if let Some(value) = value {
            self.detail.add(name, value);
        }
    }

    /// Adds the signature by which the change that it records may be made.
    #[must_use]
    pub fn proven(mut self, proof: &Proof) -> Self {
        if let Some(signatures) = proof.signatures() {
            self.uncut.add("signatures", signatures);
        }
        self.assurance = proof.worth();
        self
    }

    /// Keeps nothing that a call says, for this reason: words and digests of ours, numbers and switches stay.
    pub fn keep_no_texts(&mut self, why: &'static str) {
        self.target = None;
        if self.arguments.is_some() {
            self.arguments = Value::from(why).to_string().parse().ok();
        }
        let members: Map<String, Value> = serde_json::from_str(self.detail.json()).unwrap_or_default();
        let stays =
            |(name, value): &(String, Value)| value.is_number() || value.is_boolean() || OURS.contains(&name.as_str());
        let members: Map<_, _> = members.into_iter().filter(stays).collect();
        self.detail =
            Detail { json: if members.is_empty() { String::new() } else { Value::Object(members).to_string() } };
    }

    /// Names the definition of its tool.
    pub fn define(&mut self, definition: &NamedText) {
        self.detail.add("definition", definition.digest());
        self.names = Some(definition.clone());
    }

    /// Whether it must be on disk first: what MUTATES, was asked, or not simply allowed. The rest is synced within 100 ms.
    pub fn is_durable(&self) -> bool {
        match self.kind {
            Kind::DecisionAsked | Kind::Decision => {
                self.badge != Some(Badge::Pure) || self.ruling != Some(Decision::Allow)
            }
            Kind::Agreed => true,
            Kind::ServerStart
            | Kind::ServerEnd
            | Kind::Host
            | Kind::Attach
            | Kind::Detach
            | Kind::Tools
            | Kind::Policy
            | Kind::Text
            | Kind::Forward
            | Kind::RoundTrip
            | Kind::Task
            | Kind::Outcome
            | Kind::ResultDecision
            | Kind::Withdrawn
            | Kind::Fault
            | Kind::Passed
            | Kind::Session
            | Kind::Event
            | Kind::Checkpoint
            | Kind::Removed
            | Kind::SessionLost
            | Kind::NextJournal => false,
        }
    }
}

/// Proof that the audit has committed this very entry (and synced it, where [`Entry::is_durable`] asks for that).
///
/// Only the audit layer makes one; a guardrail token is made from nothing else.
///
/// ```compile_fail
/// let forged = mcp_approve::audit::record::Receipt { entry: 1, digest: None, verdict: None };
/// ```
///
/// ```compile_fail,E0433
/// let forged = mcp_approve::audit::rehearsal::receipt;
/// ```
///
/// ```compile_fail,E0624
/// let forged = mcp_approve::audit::record::Receipt::new;
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Receipt {
    entry: u64,
    digest: Option<Digest>,
    verdict: Option<VerdictWord>,
}

impl Receipt {
    /// Made by the journal after the commit, and by the rehearsal in tests.
    pub(super) fn new(id: u64, entry: &Entry) -> Self {
        Self { entry: id, digest: entry.digest, verdict: entry.verdict }
    }

    /// The entry's id, as the gate gave it out.
    pub fn entry(&self) -> u64 {
        self.entry
    }

    /// The digest of the call that the entry is about.
    pub fn digest(&self) -> Option<Digest> {
        self.digest
    }

    pub fn verdict(&self) -> Option<VerdictWord> {
        self.verdict
    }
}

/// The details of one entry, in the order they were added. No name is added twice, and none needs an escape in JSON.
#[derive(Clone, Default, PartialEq)]
pub struct Detail {
    /// One object; nothing before the first member.
    json: String,
}

impl Detail {
    pub fn add(&mut self, name: &'static str, value: impl Serialize) {
        // A value always serialises; should it not, the member is null.
        let value = serde_json::to_string(&value).unwrap_or_else(|_| "null".to_owned());
        let start = if self.json.pop().is_some() { ",\"" } else { "{\"" };
        for part in [start, name, "\":", &value, "}"] {
            self.json.push_str(part);
        }
    }

    pub fn json(&self) -> &str {
        if self.json.is_empty() { "{}" } else { &self.json }
    }

    /// What is between its braces; `None` for none.
    pub fn members(&self) -> Option<&str> {
        self.json.strip_prefix('{')?.strip_suffix('}')
    }

    pub fn get(&self, name: &str) -> Option<Value> {
        serde_json::from_str::<Map<_, _>>(self.json()).ok()?.swap_remove(name)
    }
}

impl fmt::Debug for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.json())
    }
}

words! {
    TextKind {
        Policy = "policy",
        /// Of which files a policy was read: a line for each, with the digest of its text.
        PolicyFiles = "policy-files",
        Definition = "definition",
    }
}

/// A text, and the digest by which records name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedText {
    pub(super) what: TextKind,
    digest: Digest,
    pub(super) text: Arc<str>,
}

impl NamedText {
    pub fn new(what: TextKind, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { what, digest: Digest::of(text.as_bytes()), text }
    }

    pub fn digest(&self) -> Digest {
        self.digest
    }

    #[expect(clippy::len_without_is_empty, reason = "an empty text is kept like any other")]
    pub fn len(&self) -> usize {
        self.text.len()
    }
}
