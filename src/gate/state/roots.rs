//! The folders that the host declared (MCP roots): a path outside of them is worth a look. Reads words only, follows no links.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;

use crate::behavior::{Hazard, HazardKind, arguments::path};
use crate::gate::data::facts::{LeftOut, MOST as MOST_PATHS};
use crate::mcp::request;
use crate::wire::Id;

/// How many unanswered questions of the server are remembered.
const MOST: usize = 16;
/// How many roots are kept.
const MOST_ROOTS: usize = 256;

#[derive(Clone, Debug, Default)]
pub struct DeclaredRoots {
    /// The server's `roots/list` requests without an answer yet.
    asked: VecDeque<Id>,
    /// Each root as the words of its path. Empty until the host has named one.
    roots: Vec<Vec<String>>,
    folders: Vec<String>,
}

#[derive(Deserialize)]
struct Root {
    uri: String,
}

impl DeclaredRoots {
    pub fn server_asks(&mut self, id: Id) {
        if self.asked.len() == MOST {
            self.asked.pop_front();
        }
        self.asked.push_back(id);
    }

    /// The host answers something; only an answer to `roots/list` counts. One without a usable root declares nothing.
    pub fn host_answers(&mut self, id: &Id, content: &[u8]) {
        let Some(at) = self.asked.iter().position(|asked| asked == id) else { return };
        self.asked.remove(at);
        let mut answer: Value = serde_json::from_slice(content).unwrap_or_default();
        let roots = answer.pointer_mut("/result/roots").map(Value::take).unwrap_or_default();
        if let Ok(roots) = serde_json::from_value::<Vec<Root>>(roots) {
            let roots = roots.iter().take(MOST_ROOTS);
            // Without a root no address is checked, so one with `?` or `#` counts: it ends there, as for strict readers.
            let folder = |root: &Root| request::path_of(root.uri.split(['?', '#']).next()?);
            self.roots = roots.filter_map(|root| words(&folder(root)?)).collect();
            self.folders = self.roots.iter().map(|words| format!("/{}", words.join("/"))).collect();
        }
    }

    pub fn folders(&self) -> &[String] {
        &self.folders
    }

    fn holds(&self, path: &[String]) -> bool {
        self.roots.iter().any(|root| path.starts_with(root.as_slice()))
    }

    /// The hazard of the first argument that names an absolute path outside of every root, or of more than are looked at.
    pub fn hazard(&self, arguments: &Value) -> Option<Hazard> {
        if self.roots.is_empty() {
            return None;
        }
        // Only the server knows where its home folder is.
        let is_home = |path: &str| path == "~" || path.starts_with("~/");
        let outside = |path: &str| is_home(path) || words(path).is_some_and(|path| !self.holds(&path));
        let named = path::path_arguments(arguments);
        let what = match named.paths.into_iter().find(|(_, path)| outside(path)) {
            Some((_, path)) => format!("a path outside of the folders that the host declared: {path}"),
            None if named.left_out == LeftOut::Some => {
                format!(
                    "more than {MOST_PATHS} paths: mcp-approve did not check that all are in the folders that the \
                     host declared"
                )
            }
            None => return None,
        };
        Some(Hazard { kind: HazardKind::OutsideRoots, what })
    }
}

/// An absolute path with `..` resolved by the text alone; `None` for any other path.
pub fn plain(path: &str) -> Option<String> {
    words(path).map(|words| format!("/{}", words.join("/")))
}

/// The names in an absolute path, with `..` resolved by the text alone; `None` for any other path.
fn words(path: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    for word in path.strip_prefix('/')?.split('/') {
        match word {
            "" | "." => {}
            ".." => drop(words.pop()),
            word => words.push(word.to_owned()),
        }
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_path_is_its_words() {
        assert_eq!(words("/a/./b/../c//"), Some(vec!["a".to_owned(), "c".to_owned()]));
        assert_eq!(words("a/b"), None);
    }
}
