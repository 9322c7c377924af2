//! Closed kinds of one word: numbers, times, versions, identifiers, email addresses, paths. Knows no parameter.

use crate::behavior::signs::{DIGITS, Needs, Signs, WORDS, signs};

/// How long a name may be: cursors and tokens are long.
const LONGEST: usize = 4096;

/// What the kinds below are written with.
pub const NUMBER: Needs = Needs { one_of: DIGITS, only: WORDS | signs(b"+-.,%") };
pub const VERSION: Needs = Needs { one_of: signs(b".^~<>=*"), only: WORDS | signs(b".-+*^~<>=!|, ") };
pub const EMAIL: Needs = Needs { one_of: signs(b"@"), only: WORDS | signs(b"._-+@") };
pub const IDENTIFIER: Needs = Needs { one_of: 0, only: WORDS | signs(b"_-.@#+*:/~^![]=") };
pub const IDENTIFIERS: Needs = Needs { one_of: signs(b","), only: IDENTIFIER.only | NUMBER.only | signs(b", ") };
pub const A_PATH: Needs = Needs { one_of: signs(b"/\\.*~"), only: PATH | signs(b"/\\:") };

/// Whether the text is a number, with a unit of time or a percent sign at most: `-5`, `1e9`, `+30d`, `-1h`.
pub fn is_number(text: &str) -> bool {
    const UNITS: [&str; 17] =
        ["", "%", "ms", "s", "sec", "m", "min", "h", "d", "w", "M", "mo", "y", "k", "kb", "mb", "gb"];
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(digits.len());
    let (number, unit) = digits.split_at(end);
    let exponent = || {
        let power = unit.strip_prefix(['e', 'E'])?;
        let power = power.strip_prefix(['-', '+']).unwrap_or(power);
        Some(!power.is_empty() && power.bytes().all(|byte| byte.is_ascii_digit()))
    };
    text.len() <= 64
        && number.bytes().any(|byte| byte.is_ascii_digit())
        && (UNITS.contains(&unit) || UNITS.contains(&unit.to_ascii_lowercase().as_str()) || exponent() == Some(true))
}

/// Whether the text is a date, a time of day or both, with an offset or a zone: `2026-01-31 10:00:00.5+02:00`.
pub fn is_time(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | '.' | '/' | '+');
    let is_sign = |c: char| is_part(c) || matches!(c, 'T' | 't' | 'Z' | 'z' | ' ');
    let bytes = text.as_bytes();
    text.len() <= 40
        && bytes.first().is_some_and(u8::is_ascii_digit)
        && text.chars().all(is_sign)
        && !text.contains("--")
        && !text.contains("//")
        && text.bytes().filter(u8::is_ascii_digit).count() >= 3
        && text.split(' ').filter(|word| !word.is_empty()).all(|word| word.bytes().any(|byte| byte.is_ascii_digit()))
        && !text.contains(" -")
        && (text.contains(':') || matches!(text.matches(['-', '/']).count(), 1 | 2))
}

/// Whether the text is numbers and the signs that join them: `2+2*(3-1)`, `9 / 3`.
pub fn is_sum(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '*' | '/' | '(' | ')' | '.' | ' ' | '^' | '%');
    text.len() <= 256 && text.starts_with(|c: char| c.is_ascii_digit() || c == '(') && text.chars().all(fits)
}

/// Whether the text is a version or a range of them: `^1.2.3`, `>=1.0 <2`, `1.x || 2.x`.
pub fn is_version(text: &str) -> bool {
    let is_one = |word: &str| {
        let number = word.trim_start_matches(['^', '~', '<', '>', '=', '!', 'v']);
        matches!(word, "||" | "-" | "*")
            || (word.len() - number.len() <= 3
                && number.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
                && number.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'*')))
    };
    let mut words = text.split([' ', ',']).filter(|word| !word.is_empty());
    text.len() <= 80
        && !text.starts_with('-')
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.contains(['.', '^', '~', '<', '>', '=', '*'])
        && words.all(is_one)
}

/// Whether the text is one email address.
pub fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let local_fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    let domain_fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-');
    text.len() <= 320
        && !local.is_empty()
        && !local.starts_with('-')
        && domain.contains('.')
        && local.chars().all(local_fits)
        && domain.chars().all(domain_fits)
        && !domain.starts_with(['.', '-'])
}

/// Whether the text is one name: letters, digits and the signs that names and tokens are joined with, none of which opens
/// an option, a template, a command, a statement or a scheme.
pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars().peekable();
    let starts = chars.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '@' | '#' | '.' | '*'));
    if !starts
        || text.len() > LONGEST
        || text.ends_with("--")
        || text.contains("//")
        || climbs(text)
        || !is_without_scheme(text)
    {
        return false;
    }
    let padded = text.trim_end_matches('=');
    if text.len() - padded.len() > 2 {
        return false;
    }
    let mut before = ' ';
    let mut rest = padded.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        let joins = before.is_alphanumeric() && next.is_some_and(char::is_alphanumeric);
        let fits = match c {
            '_' | '-' | '.' | '@' | '#' | '+' | '*' => true,
            ':' | '/' => before != ':' || c == ':',
            // `HEAD~1`, `HEAD^`, `Sheet1!A1`.
            '~' => next.is_none_or(|next| next.is_ascii_digit()) && before.is_alphanumeric(),
            '^' => next.is_none_or(|next| next.is_ascii_digit()) && before.is_alphanumeric(),
            '!' => joins,
            '[' => before.is_alphanumeric() && next.is_some_and(|next| next.is_ascii_digit() || next == ']'),
            ']' => before.is_ascii_digit() || before == '[',
            _ => is_letter(c),
        };
        if !fits {
            return false;
        }
        before = c;
    }
    !(text.starts_with('.') && text.contains(['(', ' ']))
}

/// A letter, a mark on one, or a digit, of any script.
pub fn is_letter(c: char) -> bool {
    use unicode_general_category::{GeneralCategory as G, get_general_category};
    c.is_ascii_alphanumeric()
        || (!c.is_ascii()
            && (c.is_alphanumeric() && !('\u{ff00}'..='\u{ff5e}').contains(&c)
                || matches!(get_general_category(c), G::NonspacingMark | G::SpacingMark)))
}

/// Whether a text is letters, digits, and signs of a list alone.
fn is_of(text: &str, signs: Signs, listed: u128) -> bool {
    signs.are(listed) && (signs.are_all(listed) || text.chars().all(|c| c.is_ascii() || is_letter(c)))
}

/// Signs that paths and their globs are written with.
const PATH: u128 = WORDS | signs(b"/._- +@,()[]#'*?{}=~");

/// Whether there is no scheme before a colon. `word:word` is a name with its kind (`sha256:…`, `is:open`, `crate::module`) unless
/// the word before it is one that programs follow.
pub fn is_without_scheme(text: &str) -> bool {
    const FOLLOWED: [&str; 38] = [
        "file", "data", "javascript", "vbscript", "ext", "fd", "gopher", "ftp", "ftps", "sftp", "ssh", "scp", "git",
        "ldap", "ldaps", "dict", "tftp", "smb", "jar", "php", "phar", "expect", "view-source", "blob", "about",
        "chrome", "ws", "wss", "telnet", "rsync", "svn", "netdoc", "mailto", "tel", "http", "https", "zip", "glob",
    ];
    let Some((scheme, rest)) = text.split_once(':') else { return true };
    let scheme =
        scheme.rsplit(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.')).next().unwrap_or(scheme);
    let first = scheme.split('+').next().unwrap_or(scheme);
    let is_followed = |word: &str| FOLLOWED.iter().any(|known| word.eq_ignore_ascii_case(known));
    // A query may look for files: `file:main.rs` has no place of its own.
    !rest.starts_with("//") && !is_followed(scheme) && !is_followed(first)
}

/// Whether the text is names with commas between them: `id,name, created_at`.
pub fn are_identifiers(text: &str) -> bool {
    text.contains(',')
        && text.len() <= LONGEST
        && text.split(',').all(|part| {
            let part = part.trim_matches(' ');
            part.is_empty() || is_identifier(part) || is_number(part) || is_email(part)
        })
}

/// Whether the text is a path of this machine's shape, or a glob of such paths: no scheme, no option, nothing a shell or a
/// template reads.
pub fn is_path(text: &str) -> bool {
    let bytes = text.as_bytes();
    let drive = matches!(bytes, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    let local = if drive { text.get(2..).unwrap_or_default() } else { text };
    let begins = local.starts_with(['/', '.', '~', '*'])
        || drive
        || local.chars().next().is_some_and(is_letter)
        || local.starts_with('_');
    // `src/main.rs:42:7`: a place in a file.
    let place = local.rfind('/').and_then(|slash| local.get(slash..)).and_then(|file| file.split_once(':'));
    let named = match place {
        Some((_, place)) if place.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') => {
            local.get(..local.len() - place.len() - 1).unwrap_or_default()
        }
        _ => local,
    };
    let signs = Signs::of(named);
    let has = |sign: &[u8; 1]| signs.has(1 << sign[0]);
    let has_space = has(b" ");
    begins
        && text.len() <= LONGEST
        && is_of(named, signs, if drive { PATH | 1 << b'\\' } else { PATH })
        && signs.has(A_PATH.one_of)
        && !named.contains("//")
        && (!has_space || named.contains(['/', '\\']) || is_file_name(named))
        && (!has_space || !named.contains(" -") && !named.contains(" /"))
        && (!has(b"'") || is_possessive(named))
        && (!has(b".") || !climbs(named))
        && (!has(b"-") || !named.split(['/', '\\']).any(|part| part.starts_with('-')))
        && (!has(b"{") || !named.contains("{{"))
        // `year=2026/part.csv` is a folder below another; `core.editor=x` is a setting.
        && (!has(b"=") || named.split_once('=').is_none_or(|(before, _)| before.contains('/') && !has_space))
        && (!named.starts_with('~') || named == "~" || named.starts_with("~/"))
        && !named.starts_with(". ")
        && (!has_space || !named.split(' ').skip(1).any(|word| word.starts_with('~')))
        && (!has(b"(") || is_worded(named))
}

/// Whether a part of a path leads out of what is before it.
pub fn climbs(text: &str) -> bool {
    text.contains("..") && text.split(['/', '\\', ' ']).any(|part| part == "..") && text.contains(['/', '\\'])
}

/// Whether every bracket in a file's name is behind a space or a word and closes: `Report (final).pdf`.
fn is_worded(text: &str) -> bool {
    let opens = text.matches('(').count();
    let is_after_word =
        text.match_indices('(').any(|(at, _)| text.get(..at).is_some_and(|before| before.ends_with(is_letter)));
    opens == text.matches(')').count() && !is_after_word && !text.contains("()") && !text.contains("(/")
}

/// Whether a text with spaces is the name of one file: it ends in a short extension.
fn is_file_name(text: &str) -> bool {
    let ends = |extension: &str| {
        (1..=5).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    !text.contains('@') && text.rsplit_once('.').is_some_and(|(_, extension)| ends(extension))
}

/// Whether every apostrophe is within a word: `Bob's notes.txt`.
fn is_possessive(text: &str) -> bool {
    text.match_indices('\'').all(|(at, _)| {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
        before.ends_with(is_letter) && after.starts_with(is_letter)
    })
}

/// Whether the text is a color as CSS writes it: `rgb(250, 250, 245)`.
pub fn is_color(text: &str) -> bool {
    let Some((name, rest)) = text.split_once('(') else { return false };
    let Some(numbers) = rest.strip_suffix(')') else { return false };
    matches!(name, "rgb" | "rgba" | "hsl" | "hsla" | "oklch" | "lab" | "lch")
        && numbers.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | ' ' | '%' | '/'))
}
