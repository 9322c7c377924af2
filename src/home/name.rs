//! A server's name from its command line, for rules and tickets, and what that line runs after the runners that fetch, isolate or
//! interpret it (`assets/runners.toml`). Owns no guess about what the server does.
//!
//! The first argument after a known runner, or the program itself, without path, scope, version, extension, and the
//! words `mcp` and `server` at its ends. Only `[A-Za-z0-9._-]` comes out: other bytes never reach a rule or a screen.

mod package;

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::LazyLock;

use serde::Deserialize;

use super::remote;
use crate::pins::Launch;

const LONGEST: usize = 64;

pub fn of_command(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let target = target(&words);
    let remote = remote::name(target, &words).map(|name| kept(&name)).filter(|name| !name.is_empty());
    remote.unwrap_or_else(|| plain_name(target))
}

/// How a command line starts a server of this name, with its fingerprint.
pub fn launch(name: &str, command: &[OsString]) -> Launch {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    // What `sh -c` runs is a text in the command line; the words after it are its arguments.
    let target = (!words.contains(&"-c")).then(|| target(&words).to_owned());
    Launch::new(name, command, target, package::package(&words))
}

pub fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST && text.chars().all(is_plain)
}

fn plain_name(target: &str) -> String {
    let address = target.split(['?', '#']).next().unwrap_or_default();
    let mut parts = address.split(['/', '\\']).rev().filter(|part| !part.is_empty() && *part != "." && *part != "..");
    let mut first = None;
    // `github/dist/index.js` is `github`: each word that names nothing leads one folder up.
    for part in parts.by_ref().take(4) {
        let stem = without_version_and_extension(part);
        if stem.is_empty() {
            continue;
        }
        let name = without_filler(&stem);
        let generic = lists(&KNOWN.generic, &name.to_ascii_lowercase());
        if !name.is_empty() && !generic {
            return name;
        }
        first.get_or_insert(stem);
    }
    let fallback: String = first.unwrap_or_default();
    if fallback.is_empty() { "server".to_owned() } else { fallback }
}

/// Cuts `@1.2`, `==1.2`, `[extra]`, `:tag`, `@sha256…` and known extensions, and keeps plain characters only.
fn without_version_and_extension(part: &str) -> String {
    // A scope without its package keeps its word: `@scope`.
    let part = part.trim_start_matches('@');
    // `npm:`, `jsr:`, `github:` are before the name, a tag after it.
    let part = match part.split_once(':') {
        Some(("npm" | "jsr" | "github" | "gitlab" | "file", name)) => name.trim_start_matches('@'),
        Some((name, _tag)) => name,
        None => part,
    };
    let end = part.find(['@', '[', '<', '>', '=', '~', '!', ';']).unwrap_or(part.len());
    let mut stem = &part[..end];
    while let Some((before, extension)) = stem.rsplit_once('.') {
        if before.is_empty() || !lists(&KNOWN.extensions, &extension.to_ascii_lowercase()) {
            break;
        }
        stem = before;
    }
    kept(stem)
}

/// Only plain characters, cut to the length of a name.
fn kept(text: &str) -> String {
    let plain: String = text.chars().map(|c| if is_plain(c) { c } else { '-' }).take(LONGEST).collect();
    plain.trim_matches(['-', '_', '.']).to_owned()
}

/// Cuts the words `mcp` and `server` off both ends; empty when nothing else is left.
fn without_filler(stem: &str) -> String {
    let mut rest = stem;
    loop {
        let before = rest;
        for filler in ["mcp", "server", "servers"] {
            rest = cut_word(rest, filler);
        }
        if rest == before {
            return rest.to_owned();
        }
    }
}

/// `text` without `word` at either end, where a separator or nothing sets it off.
fn cut_word<'t>(text: &'t str, word: &str) -> &'t str {
    const SEPARATORS: [char; 3] = ['-', '_', '.'];
    if text.eq_ignore_ascii_case(word) {
        return "";
    }
    let is_word = |part: &str| part.eq_ignore_ascii_case(word);
    if let Some((first, rest)) = text.split_once(SEPARATORS)
        && is_word(first)
    {
        return rest.trim_matches(SEPARATORS);
    }
    if let Some((rest, last)) = text.rsplit_once(SEPARATORS)
        && is_word(last)
    {
        return rest.trim_matches(SEPARATORS);
    }
    text
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// The runners that we know, and the packages of well-known images.
static KNOWN: LazyLock<Runners> =
    LazyLock::new(|| toml::from_str(include_str!("../../assets/runners.toml")).unwrap_or_default());

#[derive(Default, Deserialize)]
struct Runners {
    runner: Vec<Runner>,
    generic: String,
    extensions: String,
    images: HashMap<String, String>,
}

/// Which words are a runner's own options, before the one that names what it runs. Lists of options are separated by spaces.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Runner {
    programs: Vec<String>,
    before: Vec<String>,
    alone: String,
    valued: String,
    others: Others,
    target: String,
    nested: bool,
}

/// What an option means that is in neither list.
#[derive(Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Others {
    #[default]
    Alone,
    Valued,
}

/// The word of a command line that names what is run.
fn target<'w>(words: &[&'w str]) -> &'w str {
    let Some((program, rest)) = words.split_first() else { return "" };
    let stem = program.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches(".exe").trim_end_matches(".cmd");
    let found = match stem {
        "sh" | "bash" | "zsh" => rest.iter().copied().find(|word| !word.starts_with('-') && !word.contains(' ')),
        "env" => {
            rest.iter().position(|word| !word.starts_with('-') && !word.contains('=')).map(|at| target(&rest[at..]))
        }
        _ => {
            let stem = if is_python(stem) { "python" } else { stem };
            KNOWN.runner.iter().find_map(|runner| Some((runner, runner.after(stem, rest)?))).and_then(
                |(runner, rest)| {
                    let found = runner.target(rest)?;
                    // `uv run python -m x`: one runner inside another.
                    let inner = rest.iter().position(|word| runner.nested && *word == found);
                    Some(inner.map_or(found, |at| target(&rest[at..])))
                },
            )
        }
    };
    found.unwrap_or(program)
}

fn is_python(stem: &str) -> bool {
    stem.strip_prefix("python")
        .or_else(|| stem.strip_prefix("pypy"))
        .is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

impl Runner {
    /// The words after the program and the phrase that must follow it; `None` where this is another runner.
    fn after<'a, 'w>(&self, program: &str, words: &'a [&'w str]) -> Option<&'a [&'w str]> {
        if !self.programs.iter().any(|known| known == program) {
            return None;
        }
        let follows = |phrase: &String| {
            let (phrase, length) = (phrase.split(' '), phrase.split(' ').count());
            words.iter().copied().take(length).eq(phrase).then(|| &words[length..])
        };
        if self.before.is_empty() { Some(words) } else { self.before.iter().find_map(follows) }
    }

    fn target<'w>(&self, words: &[&'w str]) -> Option<&'w str> {
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            if word == "--" || lists(&self.target, word) {
                return words.next();
            }
            if !word.starts_with('-') || word == "-" {
                return Some(word);
            }
            if !word.contains('=') && self.takes_next(word) {
                words.next();
            }
        }
        None
    }

    /// Whether an option takes the next word; `-it` is `-i` and `-t`.
    fn takes_next(&self, option: &str) -> bool {
        match self.others {
            Others::Alone => lists(&self.valued, option),
            Others::Valued if option.starts_with("--") => !lists(&self.alone, option),
            Others::Valued => !option.chars().skip(1).all(|letter| lists(&self.alone, &format!("-{letter}"))),
        }
    }
}

fn lists(list: &str, option: &str) -> bool {
    list.split_whitespace().any(|listed| listed == option)
}
