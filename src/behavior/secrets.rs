//! What looks like a secret: keys that name one, and spans of text that are one. Pure; replaces nothing.
//!
//! It errs towards "secret": a word too many in the log is hidden sooner than a password kept.

use std::ops::Range;

mod assigned;
mod clear;
mod flags;
mod kept;
mod known;

use assigned::{assigned, in_element, in_login};
pub use clear::is_clear;
use flags::Program;
use kept::{in_key, run};
use known::{jwt, pem, scheme, token, url_password};

/// Parts of a key's name (letters and digits only, lower case) that make its value a secret.
const IN_KEY: &[&str] = &[
    "password", "passwd", "passphrase", "secret", "apikey", "privatekey", "accesskey", "signingkey", "encryptionkey",
    "accountkey", "sshkey", "masterkey", "credential", "authorization", "cookie", "connectionstring", "bearer",
];

/// Whole names of such keys.
const WHOLE_KEY: &[&str] = &["pwd", "pass", "auth", "jwt", "pat", "otp", "pin", "cvv", "cvc"];

/// How many bytes the longest of them has.
const LONGEST_WHOLE: usize = 4;

/// Last words of such keys: `DB_PASS`, `mysql-pwd`.
const LAST_OF_KEY: &[&str] = &["pwd", "pass", "pat", "jwt"];

/// Names that end in "token" and are places in a listing, not secrets.
const PLACE_TOKEN: &[&str] = &["page", "next", "continuation", "sync", "progress", "cursor", "resume"];

/// By first byte, which of [`IN_KEY`] begin so.
static IN_KEY_STARTS: [u64; 256] = {
    let mut starts = [0; 256];
    let mut at = 0;
    while at < IN_KEY.len() {
        starts[IN_KEY[at].as_bytes()[0] as usize] |= 1 << at;
        at += 1;
    }
    starts
};

/// No text of fewer bytes holds a secret that is known as one: `://:p@` is the shortest.
const SHORTEST: usize = 6;

/// Whether a key of this name holds a secret.
pub fn is_secret_key(key: &str) -> bool {
    let mut buffer = [0; 128];
    // Of a longer name the end counts: it says what the value is.
    let key = key.get(key.ceil_char_boundary(key.len().saturating_sub(buffer.len()))..).unwrap_or_default();
    let (mut length, mut is_pointer) = (0, false);
    for byte in key.bytes() {
        // Every byte is written; the next overwrites one that is no letter or digit. A branch for each costs more.
        buffer[length] = byte.to_ascii_lowercase();
        length += usize::from(byte.is_ascii_alphanumeric());
        is_pointer |= byte == b'/';
    }
    let name = &buffer[..length];
    let begins = |(at, &byte): (usize, &u8)| {
        each(IN_KEY_STARTS[usize::from(byte)]).any(|part| name[at..].starts_with(IN_KEY[part].as_bytes()))
    };
    name.iter().enumerate().any(begins)
        || name.len() <= LONGEST_WHOLE && WHOLE_KEY.iter().any(|whole| name == whole.as_bytes())
        || LAST_OF_KEY.iter().any(|last| is_last_word(key.as_bytes(), last.as_bytes()))
        || name
            .strip_suffix(b"token")
            .is_some_and(|of_what| !PLACE_TOKEN.iter().any(|place| of_what.ends_with(place.as_bytes())))
        // A JSON Pointer: its last word is the key.
        || is_pointer && key.rsplit_once('/').is_some_and(|(_, last)| is_secret_key(last))
}

/// Whether a key ends in this word, behind a sign.
fn is_last_word(key: &[u8], word: &[u8]) -> bool {
    key.len() > word.len()
        && key[key.len() - word.len()..].eq_ignore_ascii_case(word)
        && !key[key.len() - word.len() - 1].is_ascii_alphanumeric()
}

/// The places of the bits that are set, lowest first.
fn each(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = bits.trailing_zeros() as usize;
        bits &= bits.checked_sub(1)?;
        Some(at)
    })
}

/// The secret of a command-line flag is in the next argument: `--password`, `-token`.
pub fn is_secret_flag(argument: &str) -> bool {
    argument.starts_with('-') && argument.bytes().all(in_key) && is_secret_key(argument)
}

/// The spans of a text that look like secrets, in order, not overlapping. Linear in the text's length: a span that
/// could be long is tried only where a word is fresh, or is certain to be found.
pub fn spans(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    if bytes.len() < SHORTEST {
        return Vec::new();
    }
    if is_clear(text, |_, _| true) {
        return Vec::new();
    }
    search(text)
}

/// Reads a text word by word for [`spans`].
fn search(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let has_flags = bytes.array_windows().any(|[before, byte]| before.is_ascii_whitespace() && *byte == b'-');
    let mut found = Vec::new();
    let mut at = 0;
    // What the command line of this line runs, where its flags are known.
    let mut program: Option<Program> = None;
    while at < bytes.len() {
        let byte = bytes[at];
        let word = byte.is_ascii_alphanumeric();
        if !word && !matches!(byte, b':' | b'-' | b'_' | b'<') {
            if matches!(byte, b'\n' | b';' | b'|') {
                program = None;
            }
            at += 1;
            continue;
        }
        // A word is read from its beginning only: see where it is left, below.
        let is_method = at > 1 && &bytes[at - 2..at] == b").";
        let fresh = at == 0 || !in_key(bytes[at - 1]) || is_method;
        let is_flag = byte == b'-' && at > 0 && bytes[at - 1].is_ascii_whitespace();
        let span = match byte {
            b':' => url_password(bytes, at),
            b'<' => in_element(text, at),
            _ if is_flag && let Some(secret) = program.and_then(|program| program.secret(bytes, at)) => Some(secret),
            b'-' if bytes[at..].starts_with(b"-----BEGIN ") => Some(pem(text, at)),
            _ if word => {
                if fresh && has_flags {
                    let end = run(bytes, at, |b| b.is_ascii_alphanumeric());
                    program = flags::program(&bytes[at..end]).or(program);
                }
                token(bytes, at).or_else(|| scheme(bytes, at)).or_else(|| {
                    fresh.then(|| jwt(bytes, at).or_else(|| assigned(text, at)).or_else(|| in_login(bytes, at)))?
                })
            }
            _ if fresh => assigned(text, at),
            _ => None,
        };
        let span = span.map(|span| with_block(text, span));
        at = match span {
            Some(span) => {
                found.push(span.clone());
                // A span may end within a word; the rest of that word begins no other span.
                if span.end > 0 && bytes[span.end - 1].is_ascii_alphanumeric() {
                    run(bytes, span.end, |b| b.is_ascii_alphanumeric())
                } else {
                    span.end
                }
            }
            None if word => run(bytes, at, |b| b.is_ascii_alphanumeric()),
            None => at + 1,
        };
    }
    found
}

/// The span of a value; where a PEM block begins in it, up to the end of that block, which has many words and lines.
fn with_block(text: &str, span: Range<usize>) -> Range<usize> {
    // A value without quotes ends before the space.
    let value = &text[span.start..text.floor_char_boundary(span.end + 1)];
    match value.find("-----BEGIN ") {
        Some(block) => span.start..pem(text, span.start + block).end.max(span.end),
        None => span,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::known::PREFIXES;
    use super::*;

    /// A text for each way in which a secret is found.
    const FOUND: &[&str] = &[
        "password=hunter2xx",
        "DB_PASS: hunter2xx",
        "my.s-e_c.r.e.t => hunter2xx",
        "\"refresh_token\": \"hunter2xx\"",
        "pass＝hunter2xx",
        "--api-key hunter2xx",
        "run -token hunter2xx",
        "https://bob:hunter2xx@host/",
        "https://0123456789abcdefghij@host/",
        "https://host/?a=1&sig=hunter2xx",
        "https://host/?X-Amz-Signature=hunter2xx",
        "- name: DB_PASSWORD\n  value: hunter2xx",
        "Cookie: a=hunter2xx; b=c",
        "authorization: Basic eDp5",
        "x Bearer hunter2xx",
        "x BASIC eDp5",
        "x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "x AKIAIOSFODNN7EXAMPLE",
        "x-----BEGIN PRIVATE KEY-----\nMIIE",
        "curl -u bob:hunter2xx host",
        "mysql -phunter2xx",
        "<password>hunter2xx</password>",
        "<key>auth</key><string>hunter2xx</string>",
        "machine a login bob password hunter2xx",
        "user.set_password('hunter2xx')",
        "new Client().withApiKey(`hunter2xx`)",
        "create user ann identified by 'hunter2xx'",
        "CREATE USER ann IDENTIFIED BY hunter2xx",
        "ALTER ROLE ann PASSWORD 'hunter2xx'",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 20_000, ..ProptestConfig::default() })]
        #[test]
        fn in_a_clear_text_nothing_is_found(
            found in proptest::sample::select(FOUND),
            name in proptest::sample::select([IN_KEY, WHOLE_KEY, LAST_OF_KEY, PLACE_TOKEN].concat()),
            sign in proptest::sample::select(vec!["", " ", "\n", "-", " -", "--", "_", ".", "/", ":", "=", "<", ">", "\"", "\\", "é", "x", "7"]),
            (at, cut) in (0_usize..60, 0_usize..4),
            upper in any::<bool>(),
        ) {
            let (before, rest) = found.split_at(found.floor_char_boundary(at));
            let (_, after) = rest.split_at(rest.floor_char_boundary(cut));
            for put in [sign, name] {
                let text = [before, put, after].concat();
                let text = if upper { text.to_uppercase() } else { text };
                if is_clear(&text, |_, _| true) {
                    prop_assert!(search(&text).is_empty() && !is_secret_key(&text) && !is_secret_flag(&text), "{}", text);
                }
            }
        }
    }

    #[test]
    fn no_text_with_a_secret_is_clear() {
        for text in FOUND {
            assert!(!search(text).is_empty() && !is_clear(text, |_, _| true), "{text}");
        }
    }

    #[test]
    fn ordinary_texts_are_clear() {
        for text in [
            r#"{"path":"/home/user/project/src/main.rs","query":"fn main() -> Result<(), Box<dyn Error>>"}"#,
            "{\"offset\": 14, \"since\": \"2026-11-21T10:00:00Z\"}",
            "SELECT id, name FROM users WHERE id = 7",
            "The description says: it reads a pattern, and a passage of it",
        ] {
            assert!(is_clear(text, |_, _| true), "{text}");
        }
    }

    #[test]
    fn every_entry_of_the_tables_is_found() {
        for key in IN_KEY.iter().chain(WHOLE_KEY) {
            assert!(is_secret_key(key), "{key}");
            assert!(is_secret_key(&key.to_uppercase()), "{key}");
        }
        for key in IN_KEY {
            assert!(is_secret_key(&format!("my-{key}_1")), "{key}");
        }
        assert_eq!(WHOLE_KEY.iter().map(|key| key.len()).max(), Some(LONGEST_WHOLE));
        let assigned = |key| format!("{key}=abc");
        assert!(WHOLE_KEY.iter().all(|key| assigned(key).len() >= SHORTEST && !spans(&assigned(key)).is_empty()));
        for code in [
            "password = getpass.getpass()",
            "api_key: process.env.API_KEY,",
            "secret = os.environ[\"DB_SECRET\"]",
            "api_key: process.env.API_KEY, name: 'production'",
            "api_key: process.env['API_KEY'], name: 'production'",
            "password = process.env.PASSWORD; user = 'production'",
            "password=${PASSWORD} user=production",
            "secret = os.getenv(\"DB_SECRET\")",
            "let token = env::var(\"TOKEN\")?;",
            "# Notes\n\n- tokens are checked in tests/auth.rs: see there",
            "fn token(bytes: &[u8]) -> Option<Range<usize>> { spans.len() }",
        ] {
            assert!(spans(code).is_empty(), "{code}");
        }
        // Where it finds nothing, the code has a secret of its own.
        for code in [
            "password=process.env.PASSWORD||'hunter2xx'",
            "password: process.env.PASSWORD ?? \"hunter2xx\"",
            "password = process.env['PASSWORD'] || `hunter2xx`,",
            "password = os.environ.get('PASSWORD', 'hunter2xx')",
            "password = os.getenv(\"PASSWORD\", \"hunter2xx\")",
            "password = os.environ[\"PASSWORD\"] or 'hunter2xx'",
            "let password = env::var(\"PASSWORD\").unwrap_or(\"hunter2xx\".into());",
            "let password = std::env::var(\"PASSWORD\").unwrap_or_else(|_| \"hunter2xx\".into());",
            "PASSWORD=${PASSWORD:-hunter2xx}",
        ] {
            let at = code.find("hunter2xx").expect("it is there");
            assert_eq!(spans(code), std::slice::from_ref(&(at..at + 9)), "{code}");
        }
        assert_eq!(spans("password = hunter2(ab"), std::slice::from_ref(&(11..21)));
        assert_eq!(spans("password=hunter2()xyz"), std::slice::from_ref(&(9..17)));
        for (prefix, least) in PREFIXES {
            let token = format!("{prefix}{}", "1".repeat(*least));
            assert_eq!(spans(&token), std::slice::from_ref(&(0..token.len())), "{token}");
        }
    }
}
