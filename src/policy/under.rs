//! Whether a path lies in a folder: by its words, and by where both lead once their links are followed.

use super::paths::Paths;
use super::when::Holds;

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

/// A folder of a rule: absolute, or in the user's home (`~`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    trail: Trail,
}

/// A path, word by word, without `.` and `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Trail {
    start: Start,
    words: Vec<String>,
    /// `..` stood in it: behind a link it leads elsewhere than the words say.
    climbs: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Root,
    Home,
}

impl Folder {
    /// Reads a folder; `None` when it is neither absolute nor under `~`, or has `..` in it.
    pub fn new(text: &str) -> Option<Self> {
        let trail = Trail::new(text, &Roots::default())?;
        (!trail.climbs).then_some(Self { trail })
    }

    /// Whether `path` is the folder or something in it: by its words, and by where it leads, where that was looked up.
    ///
    /// The two must agree; else it is undecided. So a link out of the folder matches no allow, and a link into it does
    /// match a deny.
    pub fn holds(&self, path: &str, roots: &Roots) -> Holds {
        let by_words = self.holds_by_words(path, roots);
        if roots.paths == Paths::Words {
            return by_words;
        }
        let real = |text: &str| roots.paths.real(text).and_then(|real| Trail::new(real, &Roots::default()));
        let folder = self.path(roots).and_then(|folder| real(&folder));
        let (Some(folder), Some(path)) = (folder, real(path)) else {
            return Holds::Undecided;
        };
        let leads = Holds::from(path.words.starts_with(&folder.words));
        if by_words == leads { leads } else { Holds::Undecided }
    }

    /// The folder as an absolute path; `None` while the home that it starts from is not known.
    pub fn path(&self, roots: &Roots) -> Option<String> {
        let trail = self.trail.clone().at_home(roots);
        (trail.start == Start::Root).then(|| format!("/{}", trail.words.join("/")))
    }

    /// Whether `path` is the folder or something in it, by its words alone.
    ///
    /// Undecided: a path without a known start, with a NUL, one that climbs (`..`) and still ends inside, and one that
    /// differs by case only, which is the same file on some disks.
    fn holds_by_words(&self, path: &str, roots: &Roots) -> Holds {
        let Some(path) = Trail::new(path, roots) else {
            return Holds::Undecided;
        };
        let folder = self.trail.clone().at_home(roots);
        if folder.start != path.start {
            return Holds::Undecided;
        }
        let Some(inside) = path.words.get(..folder.words.len()) else {
            return Holds::No;
        };
        let mut pairs = inside.iter().zip(&folder.words);
        if !pairs.clone().all(|(one, other)| one.to_lowercase() == other.to_lowercase()) {
            return Holds::No;
        }
        if path.climbs || !pairs.all(|(one, other)| one == other) { Holds::Undecided } else { Holds::Yes }
    }
}

impl Trail {
    fn new(text: &str, roots: &Roots) -> Option<Self> {
        if text.contains('\0') {
            return None;
        }
        let mut trail = if let Some(rest) = text.strip_prefix('/') {
            Self::walk(Start::Root, &[], rest)
        } else if text == "~" || text.starts_with("~/") {
            Self::walk(Start::Home, &[], &text[1..])
        } else if text.is_empty() || text.starts_with('~') {
            return None;
        } else {
            let folder = roots.folder.as_deref()?.strip_prefix('/')?;
            let base = Self::walk(Start::Root, &[], folder);
            Self::walk(Start::Root, &base.words, text)
        };
        trail = trail.at_home(roots);
        Some(trail)
    }

    fn walk(start: Start, base: &[String], text: &str) -> Self {
        let mut trail = Self { start, words: base.to_vec(), climbs: false };
        for word in text.split('/') {
            match word {
                "" | "." => {}
                ".." => {
                    trail.climbs = true;
                    // Out of `~` it leads to somewhere above, which only a known home could name.
                    let above = trail.words.last().is_none_or(|last| last == "..");
                    if start == Start::Home && above {
                        trail.words.push("..".to_owned());
                    } else {
                        trail.words.pop();
                    }
                }
                word => trail.words.push(word.to_owned()),
            }
        }
        trail
    }

    /// Puts the home where `~` stands, if it is known.
    fn at_home(mut self, roots: &Roots) -> Self {
        if self.start == Start::Home
            && let Some(home) = roots.home.as_deref().and_then(|home| home.strip_prefix('/'))
        {
            let base = Self::walk(Start::Root, &[], home);
            let climbs = self.climbs;
            self = Self::walk(Start::Root, &base.words, &self.words.join("/"));
            self.climbs |= climbs;
        }
        self
    }
}
