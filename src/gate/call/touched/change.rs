//! One change that a call would make to what is on this machine, and our line on it.

use std::borrow::Cow;

use similar::{ChangeTag, TextDiff};

use crate::gate::data::facts::{Facts, FileKind, TEXT};
use crate::wire::number::counted;

#[derive(Clone, Debug, PartialEq)]
pub enum FileChange<'a> {
    /// Content for a path: `old` is what is there, where that was seen.
    Content {
        target: &'a Facts,
        how: How,
        old: Option<Cow<'a, str>>,
        new: String,
    },
    /// An edit whose old text is not in the file as it is: the server will refuse it, or do something else.
    NoMatch {
        target: &'a Facts,
        edit: usize,
        edits: usize,
    },
    Move {
        from: &'a Facts,
        to: Option<&'a Facts>,
    },
    Delete {
        target: &'a Facts,
    },
}

/// How content comes to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Whole,
    Edited,
    Appended,
}

impl<'a> FileChange<'a> {
    pub fn content_target(&self) -> Option<&'a Facts> {
        match self {
            Self::Content { target, .. } | Self::NoMatch { target, .. } => Some(*target),
            Self::Move { .. } | Self::Delete { .. } => None,
        }
    }

    pub fn concerns(&self, one: &Facts) -> bool {
        let is = |other: &Facts| std::ptr::eq(one, other);
        match self {
            Self::Content { target, .. } | Self::NoMatch { target, .. } | Self::Delete { target } => is(target),
            Self::Move { from, to } => is(from) || to.is_some_and(is),
        }
    }

    pub fn destination(&self) -> Option<&'a Facts> {
        match self {
            Self::Move { to, .. } => *to,
            Self::Content { .. } | Self::NoMatch { .. } | Self::Delete { .. } => None,
        }
    }

    /// Our line on it: `overwrites 1 file, 12 lines changed (+8 −4) — notes.md`. The path in it is foreign text, raw.
    pub fn line(&self) -> String {
        match self {
            Self::Content { target, how, old, new } => {
                let does = content(target, *how, old.as_deref(), new);
                format!("{does} — {}{}", target.path, led(target))
            }
            Self::NoMatch { target, edit, edits } => {
                let which = if *edits == 1 {
                    "its old text".to_owned()
                } else {
                    format!("the old text of edit {edit} of {edits}")
                };
                format!("edits 1 file, but {which} is not in it — {}", target.path)
            }
            Self::Move { from, to } => moved(from, *to),
            Self::Delete { target } => {
                let what = match (&target.link, target.kind) {
                    (Some(_), _) => "deletes a link (not what it leads to, unless the server follows it)".to_owned(),
                    (None, FileKind::Missing) => "deletes something that is not there".to_owned(),
                    (None, _) => format!("deletes {}", thing(target)),
                };
                format!("{what} — {}", target.path)
            }
        }
    }
}

fn content(target: &Facts, how: How, old: Option<&str>, new: &str) -> String {
    let verb = match how {
        How::Whole => "overwrites",
        How::Edited => "edits",
        How::Appended => "adds to",
    };
    match (target.kind, old) {
        (FileKind::Missing, _) => {
            let where_to = if target.lacks.is_some() { ", in a folder that does not exist yet" } else { "" };
            format!("creates 1 file, {}{where_to}", counted(new.lines().count(), "line"))
        }
        (FileKind::Folder, _) => "writes to a path that is a folder".to_owned(),
        (FileKind::Other, _) => "writes to a device, pipe or socket".to_owned(),
        (FileKind::Unseen, _) => format!("{verb} something that could not be seen"),
        (FileKind::File, Some(old)) if old == new => format!("{verb} 1 file with the content it has already"),
        (FileKind::File, Some(old)) => match lines_changed(old, new) {
            Some((more, less)) => {
                format!("{verb} 1 file, {} changed (+{more} −{less})", counted(more.max(less), "line"))
            }
            None => format!("{verb} 1 file; too long to compare line by line"),
        },
        (FileKind::File, None) => format!("{verb} {}; {}", thing(target), blind(target)),
    }
}

/// Where content goes that is written through a link: not to the path that the arguments name.
fn led(target: &Facts) -> String {
    let goal = target.link.as_ref().map(|link| target.real.as_ref().unwrap_or(link));
    goal.map_or_else(String::new, |goal| format!(", a link to {goal}"))
}

/// Why nothing is known of what changes in a file.
pub fn blind(target: &Facts) -> &'static str {
    match (&target.unseen, target.size) {
        (None, Some(size)) if target.digest.is_some() && size <= u64::from(TEXT) => "what is there is not text",
        (None, Some(_)) if target.digest.is_some() => "it is too large to be compared line by line",
        _ => "what changes in it could not be seen",
    }
}

fn moved(from: &Facts, to: Option<&Facts>) -> String {
    let what = match from.kind {
        FileKind::Missing => "something that is not there".to_owned(),
        FileKind::File | FileKind::Folder | FileKind::Other | FileKind::Unseen => thing(from),
    };
    let Some(to) = to else {
        return format!("moves {what} — {}", from.path);
    };
    let over = match to.kind {
        FileKind::Missing => String::new(),
        FileKind::Folder => ", into or over a folder that exists".to_owned(),
        FileKind::Unseen => "; whether that replaces something could not be seen".to_owned(),
        FileKind::File | FileKind::Other => format!(", replacing {}", thing(to)),
    };
    format!("moves {what}{over} — {} → {}", from.path, to.path)
}

/// `1 file, 1,204 bytes`, `a folder with 214 entries`.
pub fn thing(facts: &Facts) -> String {
    match facts.kind {
        FileKind::Missing => "nothing".to_owned(),
        FileKind::Unseen => "something that could not be seen".to_owned(),
        FileKind::Other => "a device, pipe or socket".to_owned(),
        FileKind::File => match facts.size {
            Some(size) => format!("1 file, {}", counted(size, "byte")),
            None => "1 file".to_owned(),
        },
        FileKind::Folder => match facts.entries {
            Some(0) => "an empty folder".to_owned(),
            Some(n) => format!("a folder with {}", counted(n, "entry|entries")),
            None => "a folder whose entries could not be counted".to_owned(),
        },
    }
}

/// How long two texts may be together to be compared line by line, in bytes.
const COMPARED: usize = 1 << 20;
/// How many steps the check for likeness may take: texts without a common line cost the square of their lines.
const STEPS: usize = 4 << 20;
/// How many lines may be added and removed.
const CHANGED: usize = 4_000;

/// How many lines were added and removed; `None` if the texts are too long, or too unlike, to be compared.
pub fn lines_changed(old: &str, new: &str) -> Option<(usize, usize)> {
    if old.len() + new.len() > COMPARED || !is_close(old, new) {
        return None;
    }
    let diff = TextDiff::from_lines(old, new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    Some((count(ChangeTag::Insert), count(ChangeTag::Delete)))
}

/// Whether at most [`CHANGED`] lines lie between two texts, as far as [`STEPS`] can tell (Myers 1986, the greedy search).
fn is_close(old: &str, new: &str) -> bool {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let most = CHANGED.min(old.len() + new.len());
    // How far into the old text so many changes lead, by diagonal, shifted so that no index is negative.
    let middle = most + 1;
    let mut far = vec![0usize; 2 * most + 3];
    let mut steps = 0;
    for changes in 0..=most {
        for at in (middle - changes..=middle + changes).step_by(2) {
            let at_diagonal = |at: usize| far.get(at).copied().unwrap_or_default();
            let (left, right) = (at_diagonal(at - 1), at_diagonal(at + 1));
            let down = at == middle - changes || (at != middle + changes && left < right);
            let mut x = if down { right } else { left + 1 };
            while let (Some(one), Some(other)) = (old.get(x), new.get((x + middle).saturating_sub(at)))
                && one == other
            {
                x += 1;
                steps += 1;
            }
            if let Some(far) = far.get_mut(at) {
                *far = x;
            }
            if x >= old.len() && x + middle >= new.len() + at {
                return true;
            }
            steps += 1;
        }
        if steps > STEPS {
            return false;
        }
    }
    false
}
