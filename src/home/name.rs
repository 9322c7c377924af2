//! A server's name from its command line, for rules and tickets. Owns no guess about what the server does.
//!
//! The first argument after a known runner, or the program itself, without path, scope, version, extension, and the
//! words `mcp` and `server` at its ends. Only `[A-Za-z0-9._-]` comes out: other bytes never reach a rule or a screen.

mod package;
mod runner;

use std::ffi::OsString;

use super::remote;
use crate::pins::Launch;
use runner::{KNOWN, lists};

const LONGEST: usize = 64;

pub fn of_command(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let target = runner::target(&words);
    let remote = remote::name(target, &words).map(|name| kept(&name)).filter(|name| !name.is_empty());
    remote.unwrap_or_else(|| plain_name(target))
}

/// How a command line starts a server of this name, with its fingerprint.
pub fn launch(name: &str, command: &[OsString]) -> Launch {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    // What `sh -c` runs is a text in the command line; the words after it are its arguments.
    let target = (!words.contains(&"-c")).then(|| runner::target(&words).to_owned());
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
