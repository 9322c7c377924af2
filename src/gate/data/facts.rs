//! What the shell saw of what a call would touch, and what approvers said: data for policy, card, record. Looks at nothing.
//!
//! Facts are taken when a call is asked and again just before it is forwarded. What remains is the moment between that
//! last look and the server's own: whoever changes a path in that moment can still send the server elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::behavior::shape::PathStates;
use crate::policy::{Decision, Glob, Recent, Ruling, rate::Counted, rule::ToolGlob};
use crate::wire::{Digest, words::words};

pub use crate::behavior::arguments::path::{LeftOut, MOST};

/// How much text of all files of one call goes to the card, in bytes.
pub const TEXT: u32 = 256 << 10;

/// What the shell is asked to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Paths whose links are followed, for the policy.
    pub real: BTreeSet<String>,
    /// Paths of a read, and folders they may be in: where they lead and what is there, for what is new.
    pub places: BTreeSet<String>,
    /// Paths that are looked into as well, for the card: JSON Pointer of the argument, and the path in it.
    pub files: Vec<(String, String)>,
    /// Paths beyond those that are looked into.
    pub left_out: LeftOut,
    /// What is counted for a rate: written down for other wrappers, and theirs is read.
    pub counted: Vec<Counted>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Where each path of [`Look::real`] leads: absolute, links followed. `None` where that was not known in time.
    pub real: BTreeMap<String, Option<String>>,
    /// What is at each path of [`Look::places`].
    pub path_states: PathStates,
    /// One for each of [`Look::files`], in their order.
    pub files: Vec<Facts>,
    /// If the call is counted: what other wrappers ran lately. `None` where that is not known.
    pub others: Option<Recent>,
}

/// One path that a call names, and what is there on this machine. All texts are foreign, raw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The JSON Pointer of the argument: `/path`.
    pub argument: String,
    pub path: String,
    /// Where it leads: absolute, links followed. `None` where that is not known.
    pub real: Option<String>,
    /// If the last part of the path is a symbolic link: its target as written.
    pub link: Option<String>,
    pub kind: FileKind,
    /// Bytes, of a file.
    pub size: Option<u64>,
    /// The digest of the content; `None` if it was not read to its end.
    pub digest: Option<Digest>,
    /// Inode and time of change: compared where there is no digest.
    pub stamp: Option<String>,
    /// If nothing exists at the path: the first folder in the path that does not exist either.
    #[serde(default)]
    pub lacks: Option<String>,
    /// How many entries a folder has; counting stops at 10,000.
    pub entries: Option<u64>,
    /// The content of a file of at most 256 KiB of UTF-8.
    pub text: Option<String>,
    /// Why something of this is missing: too large, not readable, no time.
    pub unseen: Option<String>,
}

words! {
    /// What is at the end of a path.
    #[derive(Default)]
    FileKind {
        /// Nothing: a call could make it.
        Missing = "missing",
        File = "file",
        Folder = "folder",
        /// A device, a pipe, a socket: not looked into.
        Other = "other",
        #[default]
        Unseen = "unseen",
    }
}

impl Look {
    pub fn is_empty(&self) -> bool {
        self.real.is_empty() && self.places.is_empty() && self.files.is_empty() && self.counted.is_empty()
    }

    /// Whether everything that `other` asks for was asked for here.
    pub fn covers(&self, other: &Self) -> bool {
        other.real.is_subset(&self.real)
            && other.places.is_subset(&self.places)
            && other.counted.iter().all(|call| self.counted.contains(call))
            && other.files.iter().all(|file| self.files.contains(file))
            && (other.left_out == LeftOut::None || self.left_out == LeftOut::Some)
    }

    /// The fact that takes the place of the paths that are left out: nothing was seen of them.
    pub fn beyond(&self) -> Option<Facts> {
        let why = || format!("at most {MOST} paths of a call are looked at");
        (self.left_out == LeftOut::Some).then(|| Facts::unseen("", "more paths than these", &why()))
    }

    /// What the shell says when it cannot look, or not in time: nothing is known, so nothing is allowed by it.
    pub fn unseen(&self, why: &str) -> Findings {
        Findings {
            real: self.real.iter().map(|path| (path.clone(), None)).collect(),
            path_states: self.places.iter().map(|path| (path.clone(), Arc::default())).collect(),
            files: self.files.iter().map(|(argument, path)| Facts::unseen(argument, path, why)).collect(),
            others: None,
        }
    }
}

impl Facts {
    /// Whether it takes the place of paths that are not looked at.
    pub fn is_beyond(&self) -> bool {
        self.argument.is_empty()
    }

    pub fn unseen(argument: &str, path: &str, why: &str) -> Self {
        Self { argument: argument.to_owned(), path: path.to_owned(), unseen: Some(why.to_owned()), ..Self::default() }
    }

    fn difference(&self, again: &Self) -> Option<&'static str> {
        use FileKind::{Missing, Unseen};
        Some(match (self.kind, again.kind) {
            _ if self.real != again.real || self.link != again.link => "a path in it leads elsewhere",
            (Missing, Missing) => return None,
            (_, Unseen) | (Unseen, _) if self.kind != again.kind => {
                "what it would touch can no longer be seen as it was"
            }
            (Missing, _) => "what it would make exists already",
            (_, Missing) => "what it would touch is gone",
            (was, is) if was != is => "what it would touch is another kind of thing",
            _ if self.size != again.size || self.entries != again.entries => "what it would touch has another size",
            _ if self.digest.is_some() && self.digest == again.digest => return None,
            _ if self.digest != again.digest => "what it would touch has another content",
            _ if self.stamp != again.stamp => "what it would touch was changed",
            _ => return None,
        })
    }
}

impl Findings {
    /// What has changed between two looks, in our words; `None` if nothing has.
    pub fn difference(&self, again: &Self) -> Option<&'static str> {
        if self.real != again.real || self.path_states != again.path_states {
            return Some("a path in it leads elsewhere");
        }
        if self.files.len() != again.files.len() {
            return Some("what it would touch is another");
        }
        self.files.iter().zip(&again.files).find_map(|(one, other)| one.difference(other))
    }
}

/// What the gate needs of one `[[approver]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approver {
    pub name: String,
    /// Globs over the server's name; empty means any.
    pub server: Vec<Glob>,
    /// Globs over the tool's name; empty means any.
    pub tool: Vec<ToolGlob>,
    /// Whether its `allow` counts.
    pub may: May,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum May {
    Tighten,
    Allow,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opinion {
    pub name: String,
    pub decision: Decision,
    /// Its own words, foreign text; or why it said nothing, and so asks.
    pub reason: String,
    /// It gave no answer: `decision` is `Ask`.
    pub failed: bool,
    pub latency_us: u64,
}

impl Opinion {
    pub fn ruling(&self) -> Ruling {
        let says = match (self.failed, self.decision) {
            (true, _) => "gave no answer, so it asks",
            (false, Decision::Allow) => "allows it",
            (false, Decision::Ask) => "asks",
            (false, Decision::Deny) => "denies it",
        };
        let why = if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) };
        Ruling::of(self.decision, format!("approver {} {says}{why}", self.name))
    }
}
