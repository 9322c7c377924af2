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
        self.holds_plainly(path, roots).unwrap_or_else(|| self.holds_by_trails(path, roots))
    }

    fn holds_by_trails(&self, path: &str, roots: &Roots) -> Holds {
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

    /// The same for what nothing climbs in, word by word and without a copy; `None` where that does not tell.
    fn holds_plainly(&self, path: &str, roots: &Roots) -> Option<Holds> {
        let plain = |text: &str| !text.contains("..") && !text.contains('\0');
        let known = |root: &'_ Option<String>| root.as_deref().is_some_and(|root| root.starts_with('/') && plain(root));
        let home = roots.home.as_deref().filter(|_| known(&roots.home));
        let (base, rest) = match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => (home?, rest),
            Some(_) => return None,
            None if path.starts_with('/') => ("", path),
            None => (roots.folder.as_deref().filter(|_| known(&roots.folder))?, path),
        };
        if path.is_empty() || !plain(path) {
            return None;
        }
        let of_folder = match self.trail.start {
            Start::Root => "",
            Start::Home => home?,
        };
        let mut inside = words(base).chain(words(rest));
        let mut told = Holds::Yes;
        for wanted in words(of_folder).chain(self.trail.words.iter().map(String::as_str)) {
            match inside.next() {
                Some(word) if word == wanted => {}
                Some(word) if same_but_for_case(word, wanted) => told = Holds::Undecided,
                Some(_) | None => return Some(Holds::No),
            }
        }
        Some(told)
    }
}

/// The words of a path.
fn words(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|word| !matches!(*word, "" | "."))
}

fn same_but_for_case(one: &str, other: &str) -> bool {
    one.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
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

#[cfg(test)]
mod tests {
    use super::{Folder, Roots};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_plain_way_tells_what_the_other_does(
            folder in "(/|~/)((a|B|me|home|\\.|é)/){0,4}", path in "(/|~/|~|)((\\.|a|A|b|home|me|É|x\\.\\.)?/?){0,6}",
            home in prop::option::of(Just("/home/me".to_owned())), here in prop::option::of(Just("/home/me/a".to_owned())),
        ) {
            let roots = Roots { home, folder: here, ..Roots::default() };
            let Some(folder) = Folder::new(&folder) else { return Ok(()) };
            if let Some(told) = folder.holds_plainly(&path, &roots) {
                prop_assert_eq!(told, folder.holds_by_trails(&path, &roots), "{:?} {}", folder, path);
            }
        }
    }
}
