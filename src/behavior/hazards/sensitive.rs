//! Finds the first place in a text where secrets are kept: a file, a table, a variable, a service (`assets/sensitive.toml`).
//!
//! One pass reads the text as it is. Only a text with an escape, a detour, a pattern or an address pays for more. A pattern *tells* a name
//! when it fits it, and does not fit a nameless one of the same shape: `.s*` tells `.ssh`, `*.json` tells no file in particular. What
//! tells is a hazard; what fits everything is an ordinary search.

use core::net::Ipv6Addr;
use std::borrow::Cow;
use std::sync::LazyLock;

use percent_encoding::percent_decode_str;
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;

use crate::behavior::words::among;
use crate::wire::wildcards::{Wildcard, matches};

/// How many bytes of one call's texts are read for more than their words. A bound, because letters beyond ASCII grow to as much as
/// eighteen times their length when they are normalized.
pub const BUDGET: usize = 256 << 10;

/// What a text was found to name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mention {
    /// No place where secrets are kept.
    None,
    /// The first thing in it that names one: a file, a variable, a metadata service.
    Named(String),
    /// No word of it does; it may in another spelling, and is longer than what is left of the budget.
    Unread,
}

/// Looks in a text for places where secrets are kept; `left` is what is left of [`BUDGET`].
pub fn places(text: &str, left: &mut usize) -> Mention {
    let Some(list) = LIST.as_ref() else { return Mention::Unread };
    if let Some(word) = list.first(text) {
        return Mention::Named(word.to_owned());
    }
    // Hardly any text has a sign that the expression looks for: it costs more than to look for those.
    let is_sign = |byte: u8| !byte.is_ascii() || b"%\\*?[{(:".contains(&byte);
    let may_be_odd = text.bytes().any(is_sign) || text.contains("//") || text.contains("/.");
    if !may_be_odd || !list.odd.is_match(text.as_bytes()) {
        return Mention::None;
    }
    let Some(rest) = left.checked_sub(text.len()) else { return Mention::Unread };
    *left = rest;
    list.in_other_spellings(text).map_or(Mention::None, Mention::Named)
}

/// The list as it is applied; `None`, and no text is read, if the file were broken.
static LIST: LazyLock<Option<List>> = LazyLock::new(|| toml::from_str::<SensitiveFile>(TEXT).ok()?.compiled().ok());

const TEXT: &str = include_str!("../../../assets/sensitive.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SensitiveFile {
    copies: String,
    endings: String,
    ordinary: String,
    variables: String,
    examples: String,
    objects: String,
    keys: String,
    #[serde(rename = "place")]
    places: Vec<PlaceRow>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlaceRow {
    names: String,
    under: String,
    whole: bool,
    in_path: bool,
    word: bool,
}

struct List {
    /// Finds a place in its groups: the name, and what a copy has more of. There is a byte before and behind it.
    place: Regex,
    /// What looks like a place and is none, by itself and where it is not in a path.
    none: Regex,
    none_out_of_path: Regex,
    /// What a text has that must be read for more than its words.
    odd: Regex,
    /// `/./`, `//`, `/../`.
    detour: Regex,
    names: Vec<SensitiveName>,
}

/// A byte of a word, with letters beyond ASCII.
const WORD: &str = r"[0-9a-z_.\x80-\xff-]";
const ODD: &str = r"%[0-9a-f] | [\x80-\xff\\*?\[{] | [@+!/.]\( | [^:][/\\][/\\] | [/\\] \.{1,2} [/\\] | :[0-9a-f]*:";

impl SensitiveFile {
    fn compiled(&self) -> Result<List, regex::Error> {
        let of = |rows: &dyn Fn(&PlaceRow) -> bool| -> Vec<&str> {
            self.places.iter().filter(|row| rows(row)).flat_map(|row| row.names.split_ascii_whitespace()).collect()
        };
        let anywhere = of(&|row| row.under.is_empty() && !row.in_path);
        let in_path = of(&|row| row.in_path);
        let under = self.places.iter().filter(|row| !row.under.is_empty());
        let under: Vec<String> =
            under.map(|row| format!("(?: {} ) [/\\\\] ( {} )", any(&row.under), any(&row.names))).collect();
        // Names that a copy may have more of. The endings of copies are long, and so there once.
        let copied = [
            format!("%start ( {} )", any(&anywhere.join(" "))),
            format!("[/\\\\] ( {} )", any(&in_path.join(" "))),
            format!("%start (?: {} )", under.join(" | ")),
            // Chromium's store of passwords has a space in its name.
            r"[/\\] login\x20 ( data )".to_owned(),
            format!(r"%start ( %word+ (?: \.env | {} ) )", any(&self.endings)),
        ];
        let whole = [
            r"// ( metadata \.* )".to_owned(),
            format!("%start ( (?: {} ) %word* )", any(&self.keys)),
            r"%start ( \.env (?: [0-9]* | [._-] %word* ) )".to_owned(),
            format!("%start ( (?-i: [A-Z0-9_]* (?: {} ) ) )", any(&self.variables)),
            // Public name services answer with the address in the name.
            r"%start ( %word* (?: 169\.254\. | 169-254- | a9fe ) %word* ip\.io \.* | (?: [0-9]+ | 0x[0-9a-f]+ ) (?: \. [0-9a-fx]+ ){0,3} \.* )".to_owned(),
        ];
        let copy = format!("(?: [_.-]+ (?: {} | [0-9]+ ) )* [_.-]*", any(&self.copies));
        let regex = |pattern: &str| {
            let start = "(?: ^ | [^%word] )".replace("[^%word]", &WORD.replacen('[', "[^", 1));
            let whole = pattern.replace("%start", &start).replace("%copy", &copy).replace("%word", WORD);
            RegexBuilder::new(&whole).unicode(false).case_insensitive(true).ignore_whitespace(true).build()
        };
        let (examples, objects) = (any(&self.examples), any(&self.objects));
        Ok(List {
            place: regex(&format!(
                "(?: (?: {} ) ( %copy ) | {} ) (?: {} | $ )",
                copied.join(" | "),
                whole.join(" | "),
                WORD.replacen('[', "[^", 1)
            ))?,
            none: regex(&format!(
                r"^ (?: \.env [._-] (?: .* [._-] )? (?: {examples} ) | (?: id_ .* \.pub | (?: {examples} ) \.env ) %copy ) $"
            ))?,
            none_out_of_path: regex(&format!(r"^ (?: {objects} ) \.env %copy $"))?,
            odd: regex(ODD)?,
            detour: regex(r"[/\\] \.{0,2} [/\\]")?,
            names: names(self),
        })
    }
}

/// An alternative for each word of a list.
fn any(list: &str) -> String {
    list.split_ascii_whitespace().map(regex::escape).collect::<Vec<_>>().join(" | ")
}

impl List {
    /// The first word that names a place as it is written.
    fn first<'t>(&self, text: &'t str) -> Option<&'t str> {
        let mut at = 0;
        while let Some(groups) = self.place.captures_at(text.as_bytes(), at) {
            let mut parts = groups.iter().skip(1).flatten();
            let name = parts.next()?.range();
            let place = name.start..parts.last().map_or(name.end, |copy| copy.end());
            let word = text.get(place.clone())?;
            let is_in_path = text[..place.start].ends_with(['/', '\\']);
            let is_number = word.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'x' | b'X' | b'.'));
            let is_none = self.none.is_match(word.as_bytes())
                || !is_in_path && self.none_out_of_path.is_match(word.as_bytes())
                // Whatever a leading zero means.
                || is_number && ![8, 10].iter().filter_map(|zero| number(word, *zero)).any(is_metadata);
            if !is_none {
                return Some(word);
            }
            at = place.end;
        }
        None
    }

    fn in_other_spellings(&self, text: &str) -> Option<String> {
        if let Some(found) = self.beyond_words(text) {
            return Some(found);
        }
        let mut plainest = None;
        // One round for each layer of encoding that a program on the way might decode; none decodes more.
        for _ in 0..4 {
            let Some(plainer) = plainer(plainest.as_deref().unwrap_or(text)) else { break };
            if let Some(found) = self.as_written(&plainer) {
                return Some(found);
            }
            plainest = Some(plainer);
        }
        let unescaped = without_escapes(plainest.as_deref().unwrap_or(text))?;
        self.as_written(&unescaped)
    }

    fn as_written(&self, text: &str) -> Option<String> {
        self.first(text).map(str::to_owned).or_else(|| self.beyond_words(text))
    }

    fn beyond_words(&self, text: &str) -> Option<String> {
        let address = first_of_six(text).map(str::to_owned);
        address.or_else(|| self.behind_detours(text)).or_else(|| first_reaching(text, self))
    }

    fn behind_detours(&self, text: &str) -> Option<String> {
        self.detour.is_match(text.as_bytes()).then(|| self.first(&straight(text)).map(str::to_owned))?
    }
}

/// The text with one layer of percent encoding and compatibility letters taken off; `None` where there is none.
fn plainer(text: &str) -> Option<String> {
    // `/etc/%73hadow` to `/etc/shadow`.
    let decoded = match Cow::from(percent_decode_str(text)) {
        Cow::Owned(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Cow::Borrowed(_) => None,
    };
    // Letters as host names and some file systems fold them: `ｓｓｈ` to `ssh`, and the ideographic full stop to a dot.
    let text = decoded.as_deref().unwrap_or(text);
    let folded = || text.nfkc().map(|c| if c == '。' { '.' } else { c }).collect();
    let is_other = |folded: &String| folded != text;
    (!text.is_ascii()).then(folded).filter(is_other).or(decoded)
}

/// The text without detours: `/etc//x/./../shadow` to `/etc/shadow`.
fn straight(text: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split(['/', '\\']) {
        match part {
            "" | "." if !parts.is_empty() => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The text without the backslashes that escape a letter: `/etc/sh\adow`, as a pattern reads it.
fn without_escapes(text: &str) -> Option<String> {
    let mut rest = text.chars().peekable();
    let mut out = String::new();
    while let Some(c) = rest.next() {
        if c != '\\' || !rest.peek().is_some_and(|next| next.is_alphanumeric() || matches!(next, '.' | '_' | '-')) {
            out.push(c);
        }
    }
    (out.len() < text.len()).then_some(out)
}

/// An address as `inet_aton` reads it: one to four parts, each decimal, octal or hexadecimal, the last filling the rest.
fn number(word: &str, zero: u32) -> Option<u32> {
    let part = |part: &str| match part.to_ascii_lowercase().strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => u64::from_str_radix(part, if part.starts_with('0') && part.len() > 1 { zero } else { 10 }).ok(),
    };
    let parts: Vec<u64> = word.trim_end_matches('.').split('.').map(part).collect::<Option<_>>()?;
    let (last, leading) = parts.split_last().filter(|(_, leading)| leading.len() < 4)?;
    let is_whole = *last < 1 << (8 * (4 - leading.len())) && leading.iter().all(|part| *part < 256);
    let high: u64 = leading.iter().zip([24, 16, 8]).map(|(part, shift)| part << shift).sum();
    u32::try_from(high + last).ok().filter(|_| is_whole)
}

/// The link-local block, and the fixed addresses of Alibaba, Azure and Oracle.
fn is_metadata(address: u32) -> bool {
    address >> 16 == 0xa9fe
        || [[100, 100, 100, 200], [168, 63, 129, 16], [192, 0, 0, 192]].map(u32::from_be_bytes).contains(&address)
}

/// The first version 6 address of such a service.
fn first_of_six(text: &str) -> Option<&str> {
    text.split(|c: char| !c.is_ascii_hexdigit() && c != ':' && c != '.')
        .filter(|run| run.len() <= 45 && run.bytes().filter(|byte| *byte == b':').count() >= 2)
        .find(|run| run.trim_end_matches('.').parse().is_ok_and(is_metadata_of_six))
}

fn is_metadata_of_six(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let last = u32::from(parts[6]) << 16 | u32::from(parts[7]);
    let embedded = u32::from(parts[1]) << 16 | u32::from(parts[2]);
    // Whatever prefix carries it (mapped, translated, 6to4), the old address is what is reached.
    is_metadata(last)
        || (parts[0] == 0x2002 && is_metadata(embedded))
        || matches!((parts[0], parts[1]), (0xfd00, 0xec2) | (0xfd20, 0xce))
}

/// How many components of patterns are compared with names, and how many alternatives one may have; a text with more asks.
const MOST: usize = 10_000;
const MOST_ALTERNATIVES: usize = 64;
/// A longer pattern with alternatives is not written out, in bytes.
const LONGEST: usize = 4096;

struct SensitiveName {
    own: Shaped,
    place: Position,
}

/// A name, and its shape: its letters and digits forgotten, but for an ending that says nothing of what a file holds.
struct Shaped {
    text: String,
    shape: String,
}

enum Position {
    Anywhere,
    InPath,
    /// In this folder alone; whether a pattern over all of it counts.
    Under(Shaped, bool),
    /// It is the end of a name: `.pem`.
    Ending,
}

/// The names of the file, without those that no pattern reaches.
fn names(file: &SensitiveFile) -> Vec<SensitiveName> {
    let shaped = |text: &str| {
        let ending = text.rfind('.').filter(|at| among(&text[at + 1..], &file.ordinary));
        let (stem, ending) = text.split_at(ending.unwrap_or(text.len()));
        // Any letter or digit that a pattern does not spell out.
        let forgotten = stem.chars().map(|c| if c.is_alphanumeric() { '\u{1}' } else { c });
        Shaped { text: text.to_owned(), shape: forgotten.chain(ending.chars()).collect() }
    };
    let mut all = Vec::new();
    let mut add = |names: &str, place: &dyn Fn() -> Position| {
        all.extend(names.split_ascii_whitespace().map(|name| SensitiveName { own: shaped(name), place: place() }));
    };
    for row in file.places.iter().filter(|row| !row.word) {
        if row.under.is_empty() {
            add(&row.names, &|| if row.in_path { Position::InPath } else { Position::Anywhere });
        }
        row.under
            .split_ascii_whitespace()
            .for_each(|folder| add(&row.names, &|| Position::Under(shaped(folder), row.whole)));
    }
    add(&file.endings, &|| Position::Ending);
    all
}

/// The first pattern in `text` that reaches a sensitive name.
fn first_reaching(text: &str, list: &List) -> Option<String> {
    let mut search = Search { list, left: MOST, is_in_words: text.contains(' ') };
    let cuts = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | ';' | '=' | ':' | '&');
    let found = text.split(cuts).filter(|chunk| chunk.contains(['*', '?', '[', '{', '('])).find_map(|chunk| {
        let grouped = grouped(chunk);
        // Commas and bars outside of groups part what may be patterns.
        let parts = |c: char| matches!(c, '(' | ')' | '|') || c == ',' && !grouped.contains('{');
        // A whole program without a space has braces too, but is no path.
        let reaches = |piece: &&str| {
            is_wild(piece) && search.reaches(piece).unwrap_or(piece.len() <= LONGEST || piece.contains('/'))
        };
        grouped.split(parts).find(reaches).map(str::to_owned)
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

/// `@(a|b)` and `(a|b)` in a path, written as `{a,b}`; what the signs before a bracket say of how often is left out.
fn grouped(chunk: &str) -> String {
    const OPEN: [(&str, &str); 7] =
        [("*(", "{,"), ("@(", "{"), ("+(", "{"), ("?(", "{,"), ("!(", "{*,"), ("/(", "/{"), (".(", ".{")];
    let opened = OPEN.iter().fold(chunk.to_owned(), |text, (before, after)| text.replace(before, after));
    if opened != chunk { opened.replace('|', ",").replace(')', "}") } else { opened }
}

/// Every alternative of a pattern, written out; `None` where they are more than are read.
fn written_out(pattern: &str) -> Option<Vec<String>> {
    let groups = pattern.bytes().filter(|byte| *byte == b'{').count();
    if groups > 0 && (groups > MOST_ALTERNATIVES || pattern.len() > LONGEST) {
        return None;
    }
    let (mut open, mut done) = (vec![pattern.to_owned()], Vec::new());
    while let Some(pattern) = open.pop() {
        // The innermost group: the last brace that opens before the first that closes it.
        let group = pattern.match_indices('}').find_map(|(end, _)| pattern[..end].rfind('{').map(|start| (start, end)));
        let Some((start, end)) = group else {
            done.push(pattern);
            continue;
        };
        let inside = &pattern[start + 1..end];
        // `{a..z}` is a range of things that are not said, and `{1,12}` a count.
        let is_any = inside.contains("..") || inside.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
        for alternative in if is_any { "*" } else { inside }.split(',') {
            open.push(format!("{}{alternative}{}", &pattern[..start], &pattern[end + 1..]));
        }
        if open.len() + done.len() > MOST_ALTERNATIVES {
            return None;
        }
    }
    Some(done)
}

struct Search<'l> {
    list: &'l List,
    /// Components of paths that may still be held against the names.
    left: usize,
    /// Whether the text has words, where a star may be an emphasis.
    is_in_words: bool,
}

impl Search<'_> {
    /// Whether one of the alternatives reaches a sensitive name; `None` where they are too many.
    fn reaches(&mut self, piece: &str) -> Option<bool> {
        let paths = written_out(piece)?;
        let names = |path: &str| self.list.first(path).is_some() || self.list.behind_detours(path).is_some();
        let is_named = paths.iter().any(|path| path.len() < piece.len() && names(path));
        Some(is_named || paths.iter().any(|path| self.path_reaches(path)))
    }

    fn path_reaches(&mut self, path: &str) -> bool {
        let mut components: Vec<Component<'_>> = Vec::new();
        for text in path.split(['/', '\\']) {
            match text {
                "" | "." => {}
                ".." => drop(components.pop()),
                _ => components.push(Component { text, parts: parts(text) }),
            }
        }
        let names = &self.list.names;
        if self.is_in_words && !path.contains(['/', '\\']) {
            return components.iter().any(|one| is_wild(one.text) && names.iter().any(|name| one.names_plainly(name)));
        }
        let first = components.first().map_or("", |first| first.text);
        let at_home = path.starts_with(['~', '$']) || matches!(first, "root" | "home" | "users" | "Users");
        (0..components.len()).any(|at| {
            let (above, own) = (&components[..at], &components[at]);
            if !is_wild(own.text) && !above.last().is_some_and(|above| is_wild(above.text)) {
                return false;
            }
            self.left = self.left.saturating_sub(1);
            let is_last = at + 1 == components.len();
            self.left == 0
                || at_home && own.text.starts_with('.') && matches(&own.parts, ".\u{1}\u{1}\u{1}")
                || above.iter().rev().skip(1).any(Component::is_proc) && matches(&own.parts, "environ")
                || names.iter().any(|name| own.reaches(name, above, is_last))
        })
    }
}

struct Component<'a> {
    text: &'a str,
    parts: Vec<Wildcard>,
}

fn parts(text: &str) -> Vec<Wildcard> {
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
    parts
}

impl Component<'_> {
    /// Whether it is the folder of processes, wherever that is mounted, or a pattern with letters that fits it.
    fn is_proc(&self) -> bool {
        self.text.contains(char::is_alphanumeric) && matches(&self.parts, "proc")
    }

    fn tells(&self, name: &Shaped) -> bool {
        matches(&self.parts, &name.text) && !matches(&self.parts, &name.shape)
    }

    fn says(&self, name: &Shaped) -> bool {
        self.text.eq_ignore_ascii_case(&name.text) || self.tells(name)
    }

    /// Whether more than half of the name's letters are said.
    fn mostly_says(&self, name: &Shaped) -> bool {
        let said = self.parts.iter().filter(|part| matches!(part, Wildcard::Exactly(c) if c.is_alphanumeric())).count();
        2 * said > name.text.chars().filter(|c| c.is_alphanumeric()).count() && matches(&self.parts, &name.text)
    }

    /// Whether most of a sensitive name is said, or the dot and the end of one.
    fn names_plainly(&self, name: &SensitiveName) -> bool {
        match name.place {
            Position::Anywhere => self.tells(&name.own) && self.mostly_says(&name.own),
            Position::Ending => self.text.contains('.') && self.ends(&name.own),
            Position::InPath | Position::Under(..) => false,
        }
    }

    /// Whether it reaches a name, below the components `above` it. A `*` alone tells no name, and as a directory it is no place yet.
    fn reaches(&self, name: &SensitiveName, above: &[Self], is_last: bool) -> bool {
        let is_any = self.parts == [Wildcard::Many];
        match &name.place {
            Position::Under(folder, whole) if is_last || !is_any => {
                let named = above.iter().rposition(|component| component.text != "**");
                let directory = named.map(|at| &above[at]);
                let is_below_any = named.map_or(above.len(), |at| above.len() - at - 1) > 0;
                let is_possible = || {
                    let fits = |directory: &Self| matches(&directory.parts, &folder.text);
                    is_below_any || directory.is_some_and(fits)
                };
                match (whole, directory.is_some_and(|directory| directory.says(folder))) {
                    (true, true) => matches(&self.parts, &name.own.text),
                    (false, true) => self.says(&name.own),
                    (true, false) => is_possible() && self.mostly_says(&name.own),
                    (false, false) => false,
                }
            }
            Position::Under(..) => false,
            _ if is_any => false,
            Position::Anywhere => self.tells(&name.own),
            // The environment is one in the folder of a process alone.
            Position::InPath => !above.is_empty() && name.own.text != "environ" && self.tells(&name.own),
            Position::Ending => self.ends(&name.own),
        }
    }

    /// Whether the end of the pattern says that of secret files: `*.k?y`, `*pem`.
    fn ends(&self, end: &Shaped) -> bool {
        if let Some(dot) = self.parts.iter().rposition(|part| *part == Wildcard::Exactly('.')) {
            return matches(&self.parts[dot..], &end.text) && !matches(&self.parts[dot..], &end.shape);
        }
        let Some(star) = self.parts.iter().rposition(|part| *part == Wildcard::Many) else { return false };
        let tail = &self.parts[star + 1..];
        tail.len() + 1 == end.text.len() && matches(tail, &end.text[1..]) && !matches(tail, &end.shape[1..])
    }
}
