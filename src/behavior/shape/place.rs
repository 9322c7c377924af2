//! Places: which files may be read unasked, and what a path elsewhere asks for. Looks at no disk: the shell says where paths lead.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::behavior::agreed::{Agreement, Agreements, What};

/// What the shell found at a path, links followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathState {
    /// Where it leads: absolute. `None` where that is not known.
    pub real: Option<String>,
    pub kind: PathKind,
    /// The nearest folder above it, or itself, that holds a repository or a manifest; `None` where none does.
    pub project: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathKind {
    File,
    Folder,
    Missing,
    /// A device, a pipe, a socket, or not known.
    #[default]
    Other,
}

/// Where a server may read unasked. Absolute paths, links followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The working folder of the wrapper, and the folders that the server's own command names.
    pub folders: Vec<String>,
    /// The operator's home; neither it nor a parent of it is ever a place.
    pub home: Option<String>,
    /// Our own folders: nothing in them is in a place.
    pub own: Vec<String>,
}

pub type PathStates = BTreeMap<String, Arc<PathState>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathVerdict {
    In,
    /// What is agreed to already, and makes it pass.
    Agreed(Agreement),
    /// It is new; agreeing to this lets it pass from now on.
    New(Agreement),
    /// It is new, and no place: only its words can be agreed to.
    Words,
}

impl Places {
    /// Whether this folder may be a place: neither the root, nor the home, nor a parent of it, nor ours, nor above ours.
    pub fn may_be_place(&self, folder: &str) -> bool {
        let above = |path: &String| is_in(path, folder);
        folder.starts_with('/')
            && folder != "/"
            && !self.home.iter().any(above)
            && !self.own.iter().any(|own| is_in(own, folder) || is_in(folder, own))
    }

    /// Whether a path lies in one of our places or in one of these folders.
    pub fn holds<'f>(&'f self, real: &str, more: impl Iterator<Item = &'f str>) -> bool {
        let mut all = self.folders.iter().map(String::as_str).chain(more);
        !self.own.iter().any(|own| is_in(real, own))
            && all.any(|folder| self.may_be_place(folder) && is_in(real, folder))
    }
}

/// Judges a path by where it leads. `roots` are the folders that the host declared; `must_exist` is false for a tool whose
/// paths our list of well-known servers has reviewed.
pub(super) fn judge<'a>(
    path_state: &PathState,
    must_exist: bool,
    places: &'a Places,
    roots: &'a [String],
    agreed: &Agreements,
) -> PathVerdict {
    let Some(real) = &path_state.real else { return PathVerdict::Words };
    match path_state.kind {
        PathKind::File | PathKind::Folder => {}
        PathKind::Missing if !must_exist => {}
        PathKind::Missing | PathKind::Other => return PathVerdict::Words,
    }
    if places.holds(real, roots.iter().map(String::as_str)) {
        return PathVerdict::In;
    }
    let file = Agreement::of_server(What::File, real.as_str());
    if agreed.contains(&file) {
        return PathVerdict::Agreed(file);
    }
    let is_own = places.own.iter().any(|own| is_in(real, own));
    let folder = agreed
        .iter()
        .find(|one| one.what == What::Folder && !is_own && places.may_be_place(&one.value) && is_in(real, &one.value));
    if let Some(folder) = folder {
        return PathVerdict::Agreed(folder.clone());
    }
    // A folder of many projects is agreed to as itself, and not with what is in it.
    let parent = match path_state.kind {
        PathKind::Folder => None,
        PathKind::File | PathKind::Missing | PathKind::Other => real.rsplit_once('/').map(|(parent, _)| parent),
    };
    let nearest = path_state.project.as_deref().filter(|project| places.may_be_place(project)).or(parent);
    match nearest.filter(|folder| places.may_be_place(folder)) {
        Some(folder) => PathVerdict::New(Agreement::of_server(What::Folder, folder)),
        None => PathVerdict::New(file),
    }
}

fn is_in(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
