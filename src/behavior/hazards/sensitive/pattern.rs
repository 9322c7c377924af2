//! Patterns that reach a sensitive name: `.ss?/*`, `/etc/{passwd,shadow}`. Matches against the names; expands nothing on disk.
//!
//! A pattern *tells* a name when it fits it, and does not fit a nameless one of the same shape: `.s*` tells `.ssh`,
//! `*.json` tells no file in particular. What tells is a hazard; what fits everything is an ordinary search.

use super::{File, List};
use crate::behavior::wildcards::{Wildcard, matches};
use crate::behavior::words;

/// How many components of patterns are held against the names. A text with more is not ordinary, and asks.
const MOST: usize = 10_000;

/// Any letter or digit that a pattern does not spell out.
const NAMELESS: char = '\u{1}';

/// The names that patterns are held against.
pub(super) struct Names {
    anywhere: Vec<Name>,
    in_path: Vec<Name>,
    /// Of one folder each: whether a pattern over all of it counts, and what is in it.
    under: Vec<(Name, bool, Vec<Name>)>,
    endings: Vec<Name>,
    process: Name,
}

/// A name, and its shape: its letters and digits forgotten, but for an ending that says nothing of what a file holds.
struct Name {
    text: String,
    shape: String,
}

impl Names {
    pub(super) fn of(file: &File) -> Self {
        let name = |text: &str| {
            let ending = text.rfind('.').filter(|at| words::among(&text[at + 1..], &file.ordinary));
            let (stem, ending) = text.split_at(ending.unwrap_or(text.len()));
            let forgotten = stem.chars().map(|c| if c.is_alphanumeric() { NAMELESS } else { c });
            Name { text: text.to_owned(), shape: forgotten.chain(ending.chars()).collect() }
        };
        let all = |names: &str| names.split_ascii_whitespace().map(name).collect::<Vec<_>>();
        let rows = |in_path: bool| {
            let rows =
                file.places.iter().filter(move |row| row.under.is_empty() && !row.word && row.in_path == in_path);
            rows.flat_map(|row| all(&row.names)).collect()
        };
        let under = file.places.iter().flat_map(|row| {
            row.under.split_ascii_whitespace().map(|folder| (name(folder), row.whole, all(&row.names)))
        });
        Self {
            anywhere: rows(false),
            in_path: rows(true),
            under: under.collect(),
            endings: all(&file.endings),
            process: name("proc"),
        }
    }
}

/// The first pattern in `text` that reaches a sensitive name.
pub(super) fn first_reaching(text: &str, list: &List) -> Option<String> {
    let mut search = Search { list, left: MOST, is_in_words: text.contains(' ') };
    let cuts = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | ';' | '=' | ':' | '&');
    let found =
        text.split(cuts).filter(|chunk| chunk.contains(['*', '?', '[', '{', '('])).flat_map(pieces).find(|piece| {
            // A whole program without a space has braces too, but is no path.
            is_wild(piece) && search.reaches(piece).unwrap_or(piece.len() <= LONGEST || piece.contains('/'))
        });
    // A short text may be one path with spaces in it.
    found.or_else(|| {
        let path = text.len() <= 1024 && text.contains(' ') && text.contains(['/', '\\']) && !text.contains('\n');
        (path && search.reaches(text).unwrap_or(false)).then(|| text.to_owned())
    })
}

fn is_wild(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// The pieces of a chunk that may be patterns: cut at commas and bars outside of groups, `@(a|b)` and `(a|b)` written as `{a,b}`.
fn pieces(chunk: &str) -> Vec<String> {
    let (mut pieces, mut piece, mut braces, mut groups) = (Vec::new(), String::new(), 0_usize, 0_usize);
    for c in chunk.chars() {
        let opens = if c == '(' { piece.chars().last().and_then(opening) } else { None };
        match c {
            '(' if let Some((is_sign, group)) = opens => {
                if is_sign {
                    piece.pop();
                }
                piece.push_str(group);
                (braces, groups) = (braces + 1, groups + 1);
            }
            ')' if groups > 0 => {
                piece.push('}');
                (braces, groups) = (braces.saturating_sub(1), groups - 1);
            }
            '|' if groups > 0 => piece.push(','),
            ',' if braces > 0 => piece.push(c),
            '(' | ')' | '|' | ',' => {
                pieces.push(std::mem::take(&mut piece));
                (braces, groups) = (0, 0);
            }
            _ => {
                braces = if c == '}' { braces.saturating_sub(1) } else { braces + usize::from(c == '{') };
                piece.push(c);
            }
        }
    }
    pieces.push(piece);
    pieces
}

/// What a parenthesis opens behind this character, and whether that is a sign of its own; elsewhere it opens arguments or a remark.
fn opening(before: char) -> Option<(bool, &'static str)> {
    match before {
        '@' | '+' => Some((true, "{")),
        '?' | '*' => Some((true, "{,")),
        '!' => Some((true, "{*,")),
        '/' | '\\' | '.' => Some((false, "{")),
        _ => None,
    }
}

/// How many alternatives one pattern may have, and how long it may be, to be written out.
const MOST_ALTERNATIVES: usize = 64;
const LONGEST: usize = 4096;

/// More alternatives than are read.
#[derive(Debug, PartialEq, Eq)]
struct TooMany;

/// Every alternative of a pattern, written out.
fn written_out(pattern: &str) -> Result<Vec<String>, TooMany> {
    let groups = pattern.bytes().filter(|byte| *byte == b'{').count();
    if groups == 0 {
        return Ok(vec![pattern.to_owned()]);
    }
    if groups > MOST_ALTERNATIVES || pattern.len() > LONGEST {
        return Err(TooMany);
    }
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(pattern) = open.pop() {
        // The innermost group: the last brace that opens before the first that closes it.
        let group = pattern.match_indices('}').find_map(|(end, _)| pattern[..end].rfind('{').map(|start| (start, end)));
        let Some((start, end)) = group else {
            done.push(pattern);
            continue;
        };
        let inside = &pattern[start + 1..end];
        // `{a..z}` is a range of things that are not said, and `[0-9]{1,12}` a count.
        let is_count = || pattern[..start].ends_with(']') && inside.bytes().all(|b| b.is_ascii_digit() || b == b',');
        let any = match inside.contains(',') {
            false if inside.contains("..") => Some("*"),
            _ if is_count() => Some("?"),
            _ => None,
        };
        for alternative in inside.split(',') {
            let alternative = any.unwrap_or(alternative);
            open.push(format!("{}{alternative}{}", &pattern[..start], &pattern[end + 1..]));
        }
        if open.len() + done.len() > MOST_ALTERNATIVES {
            return Err(TooMany);
        }
    }
    Ok(done)
}

struct Search<'l> {
    list: &'l List,
    /// Components of paths that may still be held against the names.
    left: usize,
    /// Whether the text has words, where a star may be an emphasis.
    is_in_words: bool,
}

impl Search<'_> {
    /// Whether one of the alternatives reaches a sensitive name.
    fn reaches(&mut self, piece: &str) -> Result<bool, TooMany> {
        let paths = written_out(piece)?;
        let names = |path: &str| self.list.first(path).is_some() || self.list.behind_detours(path).is_some();
        let is_named = paths.iter().any(|path| path.len() < piece.len() && names(path));
        Ok(is_named || paths.iter().any(|path| self.path_reaches(path)))
    }

    fn path_reaches(&mut self, path: &str) -> bool {
        let mut components: Vec<Component<'_>> = Vec::new();
        for text in path.split(['/', '\\']) {
            match text {
                "" | "." => {}
                ".." => {
                    components.pop();
                }
                _ => components.push(Component::of(text)),
            }
        }
        let names = &self.list.names;
        if self.is_in_words && !path.contains(['/', '\\']) {
            return components.iter().any(|component| is_wild(component.text) && component.names_plainly(names));
        }
        let at_home = path.starts_with(['~', '$'])
            || components.first().is_some_and(|first| matches!(first.text, "root" | "home" | "users" | "Users"));
        (0..components.len()).any(|at| {
            let (above, own) = (&components[..at], &components[at]);
            if !is_wild(own.text) && !above.last().is_some_and(|above| is_wild(above.text)) {
                return false;
            }
            self.left = self.left.saturating_sub(1);
            let is_last = at + 1 == components.len();
            self.left == 0
                || (at_home && own.parts.first() == Some(&Wildcard::Exactly('.')) && own.fits(".\u{1}\u{1}\u{1}"))
                || own.is_reached(above, is_last, names)
        })
    }
}

/// One component of a path, as a pattern.
struct Component<'a> {
    text: &'a str,
    parts: Vec<Wildcard>,
}

impl<'a> Component<'a> {
    fn of(text: &'a str) -> Self {
        let (mut parts, mut rest) = (Vec::new(), text.chars());
        while let Some(c) = rest.next() {
            parts.push(match c {
                '*' if parts.last() == Some(&Wildcard::Many) => continue,
                '*' => Wildcard::Many,
                '?' => Wildcard::One,
                // `[s]` is that letter, and any other class may be any character. Of one that was cut, nothing is known.
                '[' => match rest.as_str().char_indices().skip(1).find(|(_, c)| *c == ']') {
                    Some((end, _)) => {
                        let (inside, behind) = rest.as_str().split_at(end);
                        rest = behind[1..].chars();
                        let only = inside.chars().next().filter(|only| only.len_utf8() == end);
                        only.map_or(Wildcard::One, |only| Wildcard::Exactly(only.to_ascii_lowercase()))
                    }
                    None => {
                        rest = "".chars();
                        Wildcard::Many
                    }
                },
                _ => Wildcard::Exactly(c.to_ascii_lowercase()),
            });
        }
        Self { text, parts }
    }

    fn is(&self, name: &Name) -> bool {
        self.text.eq_ignore_ascii_case(&name.text)
    }

    fn fits(&self, name: &str) -> bool {
        matches(&self.parts, name)
    }

    fn tells(&self, name: &Name) -> bool {
        tells(&self.parts, name)
    }

    /// Whether most of a sensitive name is said, or the dot and the end of one.
    fn names_plainly(&self, names: &Names) -> bool {
        let is_dotted = self.parts.contains(&Wildcard::Exactly('.'));
        names.anywhere.iter().any(|name| self.tells(name) && self.mostly_says(name)) || (is_dotted && self.ends(names))
    }

    /// Whether more than half of the name's letters are said.
    fn mostly_says(&self, name: &Name) -> bool {
        let said = self.parts.iter().filter(|part| matches!(part, Wildcard::Exactly(c) if c.is_alphanumeric())).count();
        2 * said > name.text.chars().filter(|c| c.is_alphanumeric()).count() && self.fits(&name.text)
    }

    /// Whether it reaches a name, below the components `above` it.
    fn is_reached(&self, above: &[Self], is_last: bool, names: &Names) -> bool {
        // Two or more below `proc`, and ordinary elsewhere: `/proc/self/environ`.
        let processes = above.split_last().map_or(&[][..], |(_, above)| above);
        let is_of_process = processes.iter().any(|one| one.is(&names.process) || one.tells(&names.process));
        let is_of_process = is_of_process && self.fits("environ");
        if self.parts == [Wildcard::Many] {
            // A `*` alone tells no name, and as a directory it is no place yet.
            return is_last && (is_of_process || self.is_under(above, names));
        }
        let mut in_path = names.in_path.iter().filter(|name| !above.is_empty() && name.text != "environ");
        names.anywhere.iter().any(|name| self.tells(name))
            || in_path.any(|name| self.tells(name))
            || is_of_process
            || self.ends(names)
            || self.is_under(above, names)
    }

    fn is_under(&self, above: &[Self], names: &Names) -> bool {
        let named = above.iter().rposition(|component| component.text != "**");
        let directory = named.map(|at| &above[at]);
        let is_below_any = named.map_or(above.len(), |at| above.len() - at - 1) > 0;
        names.under.iter().any(|(folder, whole, inside)| {
            let said = directory.is_some_and(|directory| directory.is(folder) || directory.tells(folder));
            let possible = is_below_any || directory.is_some_and(|directory| directory.fits(&folder.text));
            inside.iter().any(|name| match (whole, said) {
                (true, true) => self.fits(&name.text),
                (false, true) => self.is(name) || self.tells(name),
                (true, false) => possible && self.mostly_says(name),
                (false, false) => false,
            })
        })
    }

    /// Whether the end of the pattern says one of the endings of secret files: `*.k?y`, `*pem`.
    fn ends(&self, names: &Names) -> bool {
        if let Some(dot) = self.parts.iter().rposition(|part| *part == Wildcard::Exactly('.')) {
            return names.endings.iter().any(|end| tells(&self.parts[dot..], end));
        }
        let Some(star) = self.parts.iter().rposition(|part| *part == Wildcard::Many) else { return false };
        let tail = &self.parts[star + 1..];
        let says = |end: &Name| matches(tail, &end.text[1..]) && !matches(tail, &end.shape[1..]);
        names.endings.iter().any(|end| tail.len() + 1 == end.text.len() && says(end))
    }
}

/// Whether the pattern fits this name and not a nameless one of the same shape.
fn tells(parts: &[Wildcard], name: &Name) -> bool {
    matches(parts, &name.text) && !matches(parts, &name.shape)
}
