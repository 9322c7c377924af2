//! What an operator grants beyond one call, and what a console shows of it: data only.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::signing::statement::{Said, SignedWord};
use crate::wire::digest::Digest;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantTerms {
    pub covers: Covers,
    pub lasts: Lasts,
}

/// Which later calls of the same tool a grant is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "covers", rename_all = "kebab-case")]
pub enum Covers {
    ThisCall,
    /// Those whose argument (its name, or a JSON Pointer) is a path in this folder, links followed.
    Under {
        argument: String,
        folder: String,
    },
    Tool,
}

/// How long a grant lasts; never longer than the wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lasts {
    Session,
    Minutes(u32),
    /// This many calls after this one.
    Calls(u32),
}

impl Lasts {
    /// For how many minutes, where it lasts for a time.
    pub fn minutes(self) -> Option<i64> {
        match self {
            Self::Minutes(minutes) => Some(minutes.into()),
            Self::Session | Self::Calls(_) => None,
        }
    }
}

impl GrantTerms {
    /// What an approval says that a signature must cover: these terms as JSON, and when they end if they are granted at `time`
    /// (milliseconds since 1970, UTC). An approval has no reason.
    pub fn said(terms: Option<&Self>, time: i64) -> Said {
        // Terms of texts and numbers are always JSON.
        let grants = terms.map(|terms| serde_json::to_string(terms).unwrap_or_default());
        let until = terms.and_then(|terms| terms.lasts.minutes()).map(|minutes| time.saturating_add(minutes * 60_000));
        Said { grants, reason: None, until, verdict: SignedWord::Approve }
    }
}

impl fmt::Display for GrantTerms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.covers {
            Covers::ThisCall => write!(f, "calls with the same arguments, ")?,
            Covers::Under { argument, folder } => write!(f, "calls whose {argument} is under {folder}, ")?,
            Covers::Tool => write!(f, "all calls of the tool, ")?,
        }
        match self.lasts {
            Lasts::Session => write!(f, "for this session"),
            Lasts::Minutes(minutes) => write!(f, "for {minutes} min"),
            Lasts::Calls(calls) => write!(f, "for the next {calls}"),
        }
    }
}

/// A grant as a console shows it. `tool` and the folder in `terms` are foreign text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantCard {
    /// `grant:1`: what records and rulings name as the rule; no rule of a file can be called so.
    pub id: String,
    pub tool: String,
    pub definition: Digest,
    pub terms: GrantTerms,
    /// Who gave it, with which call.
    pub who: String,
    pub ticket: String,
    /// Milliseconds since 1970, UTC.
    pub given: i64,
    pub until: Option<i64>,
    /// Calls left; `None` where they are not counted.
    pub left: Option<u32>,
    pub used: u32,
    /// Whether it was given from the card of a dangerous call: only such a one covers dangerous calls.
    #[serde(default)]
    pub dangerous: bool,
}
