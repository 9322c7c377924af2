//! What a call would touch, as the shell saw it on the disk: data for policy, card and record. Looks at nothing itself.

use serde::{Deserialize, Serialize};

use crate::wire::digest::Digest;

/// One path that a call names, as it stands on this machine. All texts are foreign, raw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The JSON Pointer of the argument: `/path`.
    pub argument: String,
    /// The path as the argument gives it.
    pub path: String,
    /// Where it leads: absolute, links followed. `None` where that could not be told.
    pub real: Option<String>,
    /// What the last part of the path, being a link, says. `None` when it is no link.
    pub link: Option<String>,
    pub kind: FileKind,
    /// Bytes, of a file.
    pub size: Option<u64>,
    /// Of the content; `None` where it was not read to its end.
    pub digest: Option<Digest>,
    /// Inode and time of change, which stand for the digest where there is none.
    pub stamp: Option<String>,
    /// How many entries a folder has; counting stops at 10,000.
    pub entries: Option<u64>,
    /// The content of a file of at most 256 KiB of UTF-8.
    pub text: Option<String>,
    /// Why something of this is missing: too large, not readable, no time.
    pub unseen: Option<String>,
}

/// What stands at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// Nothing: a call could make it.
    Missing,
    File,
    Folder,
    /// A device, a pipe, a socket: not looked into.
    Other,
    /// It could not be told.
    Unseen,
}

impl FileKind {
    /// The word in records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::File => "file",
            Self::Folder => "folder",
            Self::Other => "other",
            Self::Unseen => "unseen",
        }
    }
}

impl Facts {
    /// A path of which nothing could be told.
    pub fn unseen(argument: &str, path: &str, why: &str) -> Self {
        Self {
            argument: argument.to_owned(),
            path: path.to_owned(),
            real: None,
            link: None,
            kind: FileKind::Unseen,
            size: None,
            digest: None,
            stamp: None,
            entries: None,
            text: None,
            unseen: Some(why.to_owned()),
        }
    }
}
