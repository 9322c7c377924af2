//! Whether a path lies in a folder: by its words, and by where both lead once their links are followed.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::glob::Holds;
use crate::behavior::arguments::base;

/// Where `~` and relative paths of a server start. What is `None` cannot be decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// The user's home, absolute.
    pub home: Option<String>,
    /// The folder the server runs in, absolute.
    pub folder: Option<String>,
    /// Where paths lead once links are followed.
    pub paths: Paths,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Paths {
    /// Nothing was asked, `under` goes by the words alone: for examples and past calls, never for a call that may run.
    #[default]
    Words,
    /// By an argument's text, or a rule's folder: the absolute path with every link followed; `None` where that is unknown.
    Followed(BTreeMap<String, Option<String>>),
}

impl Paths {
    /// Where a path leads; `None` where that is not known.
    pub fn real(&self, text: &str) -> Option<&str> {
        match self {
            Self::Words => None,
            Self::Followed(found) => found.get(text)?.as_deref(),
        }
    }
}

/// A folder of a rule: absolute, or in the user's home (`~`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Without `.`, `..` and slashes that mean nothing.
    text: String,
}

/// A path, word by word, without `.` and `..`.
struct Trail<'a> {
    start: PathStart,
    words: Vec<&'a str>,
    /// It had a `..`, which behind a symbolic link leads elsewhere than the words say.
    climbs: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PathStart {
    Root,
    /// The home, which is not known.
    Home,
}

impl Folder {
    /// Reads a folder; `None` when it is neither absolute nor under `~`, or has `..` in it.
    pub fn new(text: &str) -> Option<Self> {
        let nowhere = Roots::default();
        let trail = Trail::new(text, &nowhere).filter(|trail| !trail.climbs)?;
        Some(Self { text: trail.to_string() })
    }

    /// Whether `path` is the folder or something in it: by its words, and by where it leads, where that was looked up.
    ///
    /// Both must agree, without a link below the folder; else it is undecided: a link out matches no allow, a link in matches a deny.
    pub fn holds(&self, path: &str, roots: &Roots) -> Holds {
        if !is_plain(path) {
            return Holds::Undecided;
        }
        let by_words = self.holds_by_words(path, roots);
        if roots.paths == Paths::Words {
            return by_words;
        }
        let nowhere = Roots::default();
        let real = |text: &str| roots.paths.real(text).and_then(|real| Trail::new(real, &nowhere));
        let folder = self.path(roots).and_then(|folder| real(&folder));
        let (Some(folder), Some(end)) = (folder, real(path)) else {
            return Holds::Undecided;
        };
        let leads = Holds::from(end.words.starts_with(&folder.words));
        // A link on the way inside may lead elsewhere a moment later.
        let is_straight = || {
            let written = Trail::new(&self.text, roots).zip(Trail::new(path, roots));
            let below = written.as_ref().and_then(|(folder, path)| path.words.get(folder.words.len()..));
            below == end.words.get(folder.words.len()..)
        };
        if by_words == leads && (leads == Holds::No || is_straight()) { leads } else { Holds::Undecided }
    }

    /// Whether an argument lies in the folder, however the server may read it: below every other argument that may be its base too.
    pub fn holds_argument(&self, path: &str, name: &str, arguments: &Value, roots: &Roots) -> Holds {
        let readings = base::readings(arguments, name, path).unwrap_or_default();
        Holds::of_every(readings.iter().map(|path| self.holds(path, roots)))
    }

    /// The folder as an absolute path; `None` while the home that it starts from is not known.
    pub fn path(&self, roots: &Roots) -> Option<String> {
        Trail::new(&self.text, roots).filter(|trail| trail.start == PathStart::Root).map(|trail| trail.to_string())
    }

    /// Whether `path` is the folder or something in it, by its words alone.
    ///
    /// Undecided: a path without a known start, with a NUL, one that climbs (`..`) and still ends inside, and one that
    /// differs by case only, which is the same file on some disks.
    fn holds_by_words(&self, path: &str, roots: &Roots) -> Holds {
        let (Some(folder), Some(path)) = (Trail::new(&self.text, roots), Trail::new(path, roots)) else {
            return Holds::Undecided;
        };
        if folder.start != path.start {
            return Holds::Undecided;
        }
        let Some(inside) = path.words.get(..folder.words.len()) else {
            return Holds::No;
        };
        if inside == folder.words {
            return if path.climbs { Holds::Undecided } else { Holds::Yes };
        }
        let alike = inside.iter().zip(&folder.words).all(|(one, other)| one == other || same_but_for_case(one, other));
        if alike { Holds::Undecided } else { Holds::No }
    }
}

/// The path from the root or from `~`; `None` where its start is not known, or where it climbs.
pub(super) fn absolute(path: &str, roots: &Roots) -> Option<String> {
    Trail::new(path, roots).filter(|trail| !trail.climbs).map(|trail| trail.to_string())
}

/// Whether every program reads the text as the same path of this machine: no address (`file:…`), no variable (`$HOME`), no
/// percent escape, no backslash, no option (`-t/x`), no wildcard that a program may expand (`*.txt`, `{a,b}`).
fn is_plain(path: &str) -> bool {
    let scheme = path.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    let escaped = |hex: &str| hex.bytes().take_while(u8::is_ascii_hexdigit).count() >= 2;
    !is_scheme
        && !path.starts_with('-')
        && !path.contains(['$', '\\', '?', '*', '[', '{'])
        && !path.split('%').skip(1).any(escaped)
}

fn same_but_for_case(one: &str, other: &str) -> bool {
    one.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
}

impl<'a> Trail<'a> {
    /// Reads a path; `None` where no one knows where it starts, and for what is no path.
    fn new(text: &'a str, roots: &'a Roots) -> Option<Self> {
        let absolute = |root: &'a Option<String>| root.as_deref().filter(|root| root.starts_with('/'));
        let (start, base, rest) = match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => match absolute(&roots.home) {
                Some(home) => (PathStart::Root, home, rest),
                None => (PathStart::Home, "", rest),
            },
            Some(_) => return None,
            None if text.starts_with('/') => (PathStart::Root, "", text),
            None => (PathStart::Root, absolute(&roots.folder)?, text),
        };
        if text.is_empty() || text.contains('\0') {
            return None;
        }
        let mut trail = Self { start, words: Vec::with_capacity(16), climbs: false };
        trail.walk(base);
        trail.climbs = false;
        trail.walk(rest);
        Some(trail)
    }

    fn walk(&mut self, text: &'a str) {
        text.split('/').for_each(|word| self.step(word));
    }

    fn step(&mut self, word: &'a str) {
        match word {
            "" | "." => {}
            ".." => {
                self.climbs = true;
                // Above `~` the words are unknown while the home is: the `..` stays.
                let above = self.words.last().is_none_or(|last| *last == "..");
                if self.start == PathStart::Home && above {
                    self.words.push(word);
                } else {
                    self.words.pop();
                }
            }
            word => self.words.push(word),
        }
    }
}

impl fmt::Display for Trail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.start {
            PathStart::Root => write!(f, "/{}", self.words.join("/")),
            PathStart::Home => write!(f, "~/{}", self.words.join("/")),
        }
    }
}
