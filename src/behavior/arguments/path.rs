//! Paths in arguments, by their words alone: where they start, and whether they climb. Follows no link, reads no disk.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The longest path that Linux takes, in bytes: a longer text is no path.
pub const LONGEST: usize = 4096;

/// Where a path leads, judged by its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leads {
    Below,
    /// `..` climbs out of its starting folder, or out of the root it names.
    Climbs,
    /// To a place of its own: `/etc`, `C:\`, `\\host\share`.
    Absolute,
    /// Into a home: `~/…`, `$HOME/…`.
    Home,
}

/// Where `path` leads. Percent escapes and both slashes count, since somebody on the way may read them.
pub fn leads(path: &str) -> Leads {
    let plain = plainer(path);
    let path = plain.strip_prefix("file://").unwrap_or(&plain);
    let bytes = path.as_bytes();
    let drive = matches!(bytes, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    let absolute = drive || matches!(bytes.first(), Some(b'/' | b'\\'));
    let is_home = |text: &str| ["~", "$HOME", "${HOME}"].iter().any(|home| text.starts_with(home));
    let mut depth = 0_i32;
    for (at, word) in path.split(['/', '\\']).enumerate() {
        match word.trim_end_matches([' ', '.']) {
            // Dots and spaces at the end of a word are cut by some systems: `.. ` and `...` are looked at as `..`.
            "" if word.trim_end() == ".." || (word.starts_with("..") && word.trim_end().len() == 2) => {
                depth -= 1;
                if depth < 0 {
                    return Leads::Climbs;
                }
            }
            "" => {}
            word if drive && word.ends_with(':') => {}
            word if at == 0 && is_home(word) => {}
            _ => depth += 1,
        }
    }
    if is_home(path) || path.starts_with("%USERPROFILE%") {
        Leads::Home
    } else if absolute {
        Leads::Absolute
    } else {
        Leads::Below
    }
}

/// Whether `..` is in a text as a word of a path, whatever the path: between slashes of either kind, or at an end.
pub fn climbs(text: &str) -> bool {
    let is_up = |word: &str| word.trim_end() == "..";
    // Decoding copies the text: only where an escape could hide a dot or a slash.
    (text.contains("..") || text.contains('%')) && plainer(text).split(['/', '\\']).any(is_up)
}

/// Whether an argument of this name holds a path, or several.
pub fn is_path_key(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    let holds =
        ["path", "file", "folder", "director", "cwd", "dest", "source", "root"].iter().any(|part| lower.contains(part));
    holds && !lower.contains("content") && !lower.contains("profile")
}

/// The path with its percent escapes decoded, as many times as programs on the way might.
fn plainer(path: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(path);
    for _ in 0..3 {
        if !plain.contains('%') {
            break;
        }
        let lower = plain.to_ascii_lowercase();
        if !lower.contains("%2") && !lower.contains("%5c") {
            break;
        }
        plain = lower.replace("%25", "%").replace("%2e", ".").replace("%2f", "/").replace("%5c", "\\").into();
    }
    plain
}

/// The text with all percent escapes decoded; `None` where that shows a control character, or takes more rounds than programs make.
pub fn decoded(text: &str) -> Option<String> {
    let mut plain = text.to_owned();
    for _ in 0..4 {
        if plain.chars().any(char::is_control) {
            return None;
        }
        if !plain.contains('%') {
            return Some(plain);
        }
        let next = percent_decode_str(&plain).decode_utf8().ok()?;
        if next == plain {
            return Some(plain);
        }
        plain = next.into_owned();
    }
    None
}
