//! What the scripted agent sets out to do, read from `story.json`. Owns no process and no pipe.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::error;
use super::server::Era;
use crate::cli::error::Error;

const STORY: &str = include_str!("story.json");

/// One call the agent wants to make, and what it does when it is refused.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Step {
    pub(super) why: String,
    pub(super) tool: String,
    pub(super) arguments: Value,
    #[serde(default)]
    pub(super) era: Era,
    /// Another way, once the text of a refusal was read.
    pub(super) otherwise: Option<Box<Step>>,
}

/// All that it does.
#[derive(Debug, Deserialize)]
pub(super) struct Story {
    /// Lists of steps that follow each other; the lists run side by side, so that several calls wait together, the plainest
    /// first.
    pub(super) errands: Vec<Vec<Step>>,
    /// Harmless reads, made now and then while nothing else happens.
    pub(super) reads: Vec<Step>,
}

impl Story {
    /// The story in the folder `work`. Files are written by their absolute paths, as most agents do: only of these the
    /// wrapper is sure what is there.
    pub(super) fn of(work: &Path) -> Result<Self, Error> {
        let work = Value::from(work.display().to_string()).to_string();
        error::data(&STORY.replace("\"{work}", work.strip_suffix('"').unwrap_or_default()))
    }
}
