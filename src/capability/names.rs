//! Names and texts of a server in a language: identifiers, whose words are cut out of any text and of which no two are alike; comments
//! and literals, where nothing in the text can end either or hide.

use std::borrow::Cow;
use std::collections::BTreeSet;

/// Cuts a text into words: at signs, and where small letters meet capitals. `readFile`, `read-file` and `READ_FILE` are alike.
pub fn words(text: &str) -> Vec<String> {
    cut(text, |before| !before.is_uppercase())
}

/// The words of a text in lower case: cut at signs, before a capital where the letter before it `ends` a word, and before the
/// last of several capitals, which belongs to the next word: `HTTPServer`.
pub fn cut(text: &str, ends: impl Fn(char) -> bool) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut before: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let begins = |before: char| {
            ends(before) || before.is_uppercase() && chars.peek().is_some_and(|after| after.is_lowercase())
        };
        let is_part = c.is_alphanumeric();
        if !word.is_empty() && (!is_part || c.is_uppercase() && before.is_some_and(begins)) {
            words.push(std::mem::take(&mut word));
        }
        if is_part {
            word.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// A text of at most so many characters: what is cut off a longer one is `…`.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    text.char_indices().nth(most).map_or(text.into(), |(end, _)| format!("{}…", &text[..end]).into())
}

/// `read_file` and `readFile` to `ReadFile`; letters of any script are kept.
pub fn pascal(text: &str) -> String {
    words(text).iter().map(|word| capital(word)).collect()
}

pub fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// `readFile` to `read_file`.
pub fn snake(text: &str) -> String {
    words(text).join("_")
}

/// The ASCII letters, digits and `_` of an identifier that begins with a letter; `fallback` where the text has none. Other
/// letters become their code points, so that two names do not fall together.
pub fn identifier(cased: &str, fallback: &str) -> String {
    let mut out = String::new();
    for c in cased.chars() {
        match c {
            c if c == '_' || c.is_ascii_alphanumeric() => out.push(c),
            c => out.push_str(&format!("u{:x}", u32::from(c))),
        }
    }
    let trimmed = out.trim_matches('_');
    match trimmed.chars().next() {
        None => fallback.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("{fallback}{trimmed}"),
        Some(_) => trimmed.to_owned(),
    }
}

/// A text as the name of a type: `read_file` to `ReadFile`, beginning with a capital.
pub fn type_name(text: &str, fallback: &str) -> String {
    capital(&identifier(&pascal(text), fallback))
}

#[derive(Clone, Debug, Default)]
pub struct Taken(BTreeSet<String>);

impl Taken {
    /// With names that are taken from the start.
    pub fn with(names: &[&str]) -> Self {
        Self(names.iter().map(|name| (*name).to_owned()).collect())
    }

    pub fn is_free(&self, name: &str) -> bool {
        !self.0.contains(name)
    }

    /// The name itself where it is free, else with the first number that makes it so.
    pub fn take(&mut self, name: &str) -> String {
        self.take_with(name, |name| vec![name.to_owned()])
    }

    /// The same for a name that others are made from: all of them are free, and taken.
    pub fn take_with(&mut self, name: &str, all: impl Fn(&str) -> Vec<String>) -> String {
        let mut candidate = name.to_owned();
        let mut number = 2_usize;
        while !all(&candidate).iter().all(|name| self.is_free(name)) {
            candidate = format!("{name}{number}");
            number += 1;
        }
        self.0.extend(all(&candidate));
        candidate
    }
}

/// The names of a list of `assets/reserved.txt`.
pub fn reserved(list: &str) -> Vec<&'static str> {
    let lists = include_str!("../../assets/reserved.txt").split("\n[");
    let named = |part: &'static str| part.strip_prefix(list)?.strip_prefix(']');
    lists.filter_map(named).flat_map(str::split_whitespace).collect()
}

/// A text's lines, every character that does not show itself written as its code point. At most this many lines.
pub fn lines(text: &str) -> impl Iterator<Item = String> {
    const MOST: usize = 40;
    text.lines().take(MOST).map(|line| plain(line.trim_end()))
}

/// One line on which every character shows itself.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push(' '),
            ' '..='~' => out.push(c),
            c if c.is_alphanumeric() => out.push(c),
            '–' | '—' | '…' | '‘' | '’' | '“' | '”' | '→' | '←' | '•' | '≤' | '≥' | '×' | '·' | '°' | '€' | '£' =>
            {
                out.push(c);
            }
            c => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    out
}

pub fn rust_literal(text: &str) -> String {
    literal(text, |c| format!("\\u{{{:x}}}", u32::from(c)))
}

pub fn csharp_literal(text: &str) -> String {
    literal(text, |c| format!("\\U{:08x}", u32::from(c)))
}

/// A text in quotes, with what does not show itself as the language escapes it.
pub fn literal(text: &str, escape: impl Fn(char) -> String) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            c if c.is_alphanumeric() && u32::from(c) <= 0xffff => out.push(c),
            c => out.push_str(&escape(c)),
        }
    }
    out.push('"');
    out
}

/// The part of a file of templates that is below `@name`, each `$key$` in it replaced by its value. Values are not read again.
pub fn filled(templates: &str, name: &str, value: impl Fn(&str) -> String) -> String {
    let below = |part| str::strip_prefix(part, name).filter(|below| below.starts_with('\n'));
    let template = templates.split("\n@").find_map(below).unwrap_or_default();
    let parts = template.split('$').enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { value(part) }).collect::<String>() + "\n"
}
