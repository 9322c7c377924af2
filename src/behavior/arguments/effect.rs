//! What one argument would do, and the words that prove it. Judges nothing.

use serde::{Deserialize, Serialize};

use crate::behavior::evidence::{Claim, Evidence, Source, Strength};
use crate::behavior::taxonomy::{Action, Mutability};
use crate::wire::words::words;

words! {
    /// What an argument would do. Ordered from the mildest.
    Effect {
        /// It reads what the server itself keeps.
        ReadHere = "read",
        /// It asks another service, and changes nothing there.
        ReadElsewhere = "read-elsewhere",
        /// It reads, as far as is known: it calls a function that no list has. Raises nothing, and is not proven.
        Unlisted = "unlisted",
        Unknown = "unknown",
        Write = "write",
        Execute = "execute",
        /// It changes who may do what, or how a service runs.
        Administer = "administer",
    }
}

impl Effect {
    /// What an action of the taxonomy is, where nothing more is known of it.
    pub fn of(action: Action) -> Self {
        match action {
            Action::Read | Action::Search => Self::ReadHere,
            Action::Execute => Self::Execute,
            Action::Unknown => Self::Unknown,
            Action::Create
            | Action::Update
            | Action::Delete
            | Action::Merge
            | Action::Overwrite
            | Action::Append
            | Action::Send
            | Action::Move => Self::Write,
        }
    }

    pub fn reads(self) -> bool {
        match self {
            Self::ReadHere | Self::ReadElsewhere => true,
            Self::Unlisted | Self::Unknown | Self::Write | Self::Execute | Self::Administer => false,
        }
    }
}

words! {
    Language {
        Sql = "sql",
        GraphQl = "graphql",
        Http = "http",
        MongoDb = "mongodb",
        Redis = "redis",
        Shell = "shell",
        Cypher = "cypher",
        Sparql = "sparql",
        Kql = "kql",
        Elasticsearch = "elasticsearch",
        PromQl = "promql",
        InfluxQl = "influxql",
        Jq = "jq",
        /// Comparisons joined by AND and OR: JQL, OData, label selectors.
        Filter = "filter",
        Other = "other",
        /// An act named outright: `action: "delete"`.
        Act = "act",
        /// What is beyond the limits of what we read.
        Unread = "unread",
    }
}

/// What a statement in one of the languages means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    pub effect: Effect,
    /// What it does to the identity; READ or SEARCH where the effect reads.
    pub action: Action,
    /// What its milder statements do, where there are several.
    pub also: Vec<Action>,
    /// The words that prove it, as they are: foreign text, raw.
    pub span: String,
    /// Our own line on it: `DELETE on users without WHERE`. Names in it are foreign text, raw.
    pub says: String,
    /// The statement with its values left out, for rules about this very computation.
    pub fingerprint: Option<String>,
}

impl Meaning {
    pub(super) fn new(effect: Effect, action: Action, span: impl Into<String>, says: impl Into<String>) -> Self {
        Self { effect, action, also: Vec::new(), span: span.into(), says: says.into(), fingerprint: None }
    }

    pub(super) fn runs(span: impl Into<String>, says: impl Into<String>) -> Self {
        Self::new(Effect::Execute, Action::Execute, span, says)
    }

    pub(super) fn unknown(span: impl Into<String>, says: impl Into<String>) -> Self {
        Self::new(Effect::Unknown, Action::Unknown, span, says)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysis {
    pub language: Language,
    pub effect: Effect,
    pub action: Action,
    /// What its milder statements do, where there are several.
    #[serde(default)]
    pub also: Vec<Action>,
    /// The argument's own key; a call may have it at several places.
    pub argument: String,
    /// The words that prove it: foreign text, raw, at most eighty characters.
    pub span: String,
    /// Our own line on it: foreign names in it are raw, on one line.
    pub says: String,
    pub fingerprint: Option<String>,
}

impl Analysis {
    pub(super) fn new(language: Language, argument: &str, found: Meaning) -> Self {
        let Meaning { effect, action, also, span, says, fingerprint } = found;
        Self {
            language,
            effect,
            action,
            also,
            argument: argument.to_owned(),
            span: span.chars().take(80).collect(),
            says: one_line(&says),
            fingerprint,
        }
    }

    pub fn evidence(&self) -> Evidence {
        let (mutability, strength) = match self.effect {
            Effect::ReadHere | Effect::ReadElsewhere => (Some(Mutability::Pure), Strength::Strong),
            Effect::Unlisted => (None, Strength::Fair),
            Effect::Unknown => (Some(Mutability::Mutates), Strength::Fair),
            Effect::Write | Effect::Execute | Effect::Administer => (Some(Mutability::Mutates), Strength::Strong),
        };
        Evidence {
            source: Source::Arguments,
            says: Claim { mutability, action: Some(self.action), ..Claim::default() },
            span: format!("{}: {}", self.argument, self.span),
            strength,
        }
    }
}

/// A verb with what it is about: `SELECT on a, b and 3 more`.
pub(super) fn named(verb: &str, joint: &str, names: &[&str]) -> String {
    match names {
        [] => verb.to_owned(),
        few if few.len() <= 3 => format!("{verb} {joint}{}", few.join(", ")),
        many => format!("{verb} {joint}{}, {} and {} more", many[0], many[1], many.len() - 2),
    }
}

/// White space of any kind is one space, and no line is longer than a screen is wide.
fn one_line(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(120) {
        line.truncate(end);
        line.push('…');
    }
    line
}
