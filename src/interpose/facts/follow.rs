//! Follows every link of a path as opening it would, even if the end does not exist yet. Opens nothing.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

/// How many links one path may have, as in the system's own limit.
const LINKS: usize = 40;

/// Where paths start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathBase {
    /// The user's home, for `~`.
    pub home: Option<PathBuf>,
    /// The folder that the server runs in.
    pub folder: Option<PathBuf>,
}

impl PathBase {
    /// This process's folder, which a wrapped server inherits.
    pub fn here(home: Option<PathBuf>) -> Self {
        Self { home, folder: std::env::current_dir().ok() }
    }
}

/// Where a path ends.
pub(super) struct End {
    pub real: PathBuf,
    /// If the path's own last name is a link: its target as written.
    pub link: Option<PathBuf>,
    /// `None` where there is nothing.
    pub found: Option<Metadata>,
}

/// Follows every link of a path, as opening it would.
pub(super) fn follow(base: &PathBase, path: &str) -> io::Result<End> {
    let unknown = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
    let start = if let Some(rest) = path.strip_prefix('~') {
        let home = base.home.as_ref().ok_or_else(|| unknown("your home is not known"))?;
        match rest.strip_prefix('/') {
            Some(rest) => home.join(rest.trim_start_matches('/')),
            None if rest.is_empty() => home.clone(),
            None => return Err(unknown("it starts in another user's home")),
        }
    } else if path.starts_with('/') {
        PathBuf::from(path)
    } else {
        base.folder.as_ref().ok_or_else(|| unknown("the server's folder is not known"))?.join(path)
    };
    let words = words(&start);
    let last = words.len();
    // The names still to walk, the next one last; each name of the path itself has its number, from 1.
    let mut todo: Vec<(Word, usize)> = words.into_iter().enumerate().map(|(at, word)| (word, at + 1)).rev().collect();
    let mut end = End { real: PathBuf::from("/"), link: None, found: Some(fs::symlink_metadata("/")?) };
    let (mut links, mut climbed) = (0, false);
    while let Some((word, number)) = todo.pop() {
        let Word::Name(name) = word else {
            if end.found.is_none() {
                return Err(unknown("it climbs (..) out of a folder that does not exist"));
            }
            end.real.pop();
            climbed = true;
            continue;
        };
        let next = end.real.join(name);
        if end.found.is_none() {
            end.real = next;
            continue;
        }
        match fs::symlink_metadata(&next) {
            Ok(found) if found.is_symlink() => {
                (links, climbed) = (links + 1, true);
                if links > LINKS {
                    return Err(unknown("it has too many links"));
                }
                if next.starts_with("/proc") {
                    return Err(unknown("it leads through /proc, where each process sees something else"));
                }
                let target = fs::read_link(&next)?;
                if number == last {
                    end.link = Some(target.clone());
                }
                if target.is_absolute() {
                    end.real = PathBuf::from("/");
                }
                todo.extend(self::words(&target).into_iter().map(|word| (word, 0)).rev());
            }
            Ok(found) => (end.real, end.found) = (next, Some(found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (end.real, end.found) = (next, None),
            Err(error) => return Err(error),
        }
    }
    if end.found.is_some() && climbed {
        // After `..` or a link, `found` is not about this place.
        end.found = Some(fs::symlink_metadata(&end.real)?);
    }
    Ok(end)
}

enum Word {
    Name(std::ffi::OsString),
    Up,
}

fn words(path: &Path) -> Vec<Word> {
    let word = |part: Component<'_>| match part {
        Component::Normal(name) => Some(Word::Name(name.to_owned())),
        Component::ParentDir => Some(Word::Up),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(word).collect()
}
