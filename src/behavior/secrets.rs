//! What looks like a secret: keys that name one, and spans of text that are one. Pure; replaces nothing.
//!
//! It errs towards "secret": a word too many in the log is hidden sooner than a password kept.

use std::ops::Range;

use super::kept::{self, in_key, run};

/// Parts of a key's name (letters and digits only, lower case) that make its value a secret.
const IN_KEY: &[&str] = &[
    "password", "passwd", "passphrase", "secret", "apikey", "privatekey", "accesskey", "signingkey", "encryptionkey",
    "accountkey", "sshkey", "masterkey", "credential", "authorization", "cookie", "connectionstring", "bearer",
];

/// Whole names of such keys.
const WHOLE_KEY: &[&str] = &["pwd", "pass", "auth", "jwt", "pat", "otp", "pin", "cvv", "cvc"];

/// Names that end in "token" and are places in a listing, not secrets.
const PLACE_TOKEN: &[&str] = &["page", "next", "continuation", "sync", "progress", "cursor", "resume"];

/// Beginnings of well-known tokens, and how many characters must follow at least.
const PREFIXES: &[(&str, usize)] = &[
    // AWS
    ("AKIA", 12),
    ("ASIA", 12),
    ("ABIA", 12),
    ("ACCA", 12),
    // GitHub, GitLab
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 16),
    // OpenAI, Anthropic, Hugging Face
    ("sk-", 16),
    ("hf_", 20),
    // Slack
    ("xoxb-", 8),
    ("xoxp-", 8),
    ("xoxa-", 8),
    ("xoxr-", 8),
    ("xoxs-", 8),
    ("xoxe", 8),
    ("xapp-", 8),
    // Stripe and its like
    ("sk_live_", 8),
    ("sk_test_", 8),
    ("rk_live_", 8),
    ("rk_test_", 8),
    ("whsec_", 8),
    // Google, npm, PyPI, SendGrid, DigitalOcean, Shopify
    ("AIza", 30),
    ("ya29.", 16),
    ("npm_", 30),
    ("pypi-", 16),
    ("SG.", 30),
    ("dop_v1_", 30),
    ("shpat_", 20),
];

/// By its first byte and by its second, which of the [`PREFIXES`] it may be, one bit each. Every word of every call comes by
/// here.
static PREFIX_STARTS: [[u64; 256]; 2] = {
    let mut starts = [[0; 256]; 2];
    let mut at = 0;
    while at < PREFIXES.len() {
        let prefix = PREFIXES[at].0.as_bytes();
        starts[0][prefix[0] as usize] |= 1 << at;
        starts[1][prefix[1] as usize] |= 1 << at;
        at += 1;
    }
    starts
};

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

/// What a byte may be part of: a word, the beginning of a secret, an assignment, a flag.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    // No byte above those of ASCII is part of any of them.
    while byte < 128 {
        let begins = PREFIX_STARTS[0][byte as usize] != 0 || matches!(byte, b'e' | b'b' | b'B');
        classes[byte as usize] = match byte {
            b':' | b'=' => SIGN,
            b'-' => DASH,
            _ if byte.is_ascii_alphanumeric() && begins => WORD | BEGINS,
            _ if byte.is_ascii_alphanumeric() => WORD,
            _ => 0,
        };
        byte += 1;
    }
    classes
};
const WORD: u8 = 1;
const BEGINS: u8 = 2;
const SIGN: u8 = 4;
const DASH: u8 = 8;

/// The length of the shortest token that any of the [`PREFIXES`] allows.
const SHORTEST_TOKEN: usize = {
    let mut shortest = usize::MAX;
    let mut at = 0;
    while at < PREFIXES.len() {
        let (prefix, least) = PREFIXES[at];
        if prefix.len() + least < shortest {
            shortest = prefix.len() + least;
        }
        at += 1;
    }
    shortest
};

/// Whether a key of this name holds a secret.
pub fn is_secret_key(key: &str) -> bool {
    let mut buffer = [0; 128];
    if key.len() > buffer.len() {
        return false;
    }
    let mut length = 0;
    for byte in key.bytes() {
        // Written always, kept only where it counts: a jump for each byte costs more.
        buffer[length] = byte.to_ascii_lowercase();
        length += usize::from(byte.is_ascii_alphanumeric());
    }
    let name = &buffer[..length];
    let begins = |(at, &byte): (usize, &u8)| {
        each(IN_KEY_STARTS[usize::from(byte)]).any(|part| name[at..].starts_with(IN_KEY[part].as_bytes()))
    };
    name.iter().enumerate().any(begins)
        || WHOLE_KEY.iter().any(|whole| name == whole.as_bytes())
        || name
            .strip_suffix(b"token")
            .is_some_and(|of_what| !PLACE_TOKEN.iter().any(|place| of_what.ends_with(place.as_bytes())))
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
    // What assigns nothing anywhere need not be read word by word for it: most strings hold none of these. Nor is there an
    // address or a key block in it; a token, a JWT or what follows `Bearer` begins with a word.
    let (mut all, mut before, mut may_begin) = (0, 0, false);
    for (at, byte) in bytes.iter().enumerate() {
        let class = CLASSES[usize::from(*byte)];
        all |= class;
        if class & BEGINS != 0 && before & WORD == 0 {
            may_begin |= bytes.get(at + 1).is_some_and(|next| begins(*byte, *next));
        }
        before = class;
    }
    let assigns = all & SIGN != 0 || all & DASH != 0 && text.contains("--");
    if !assigns && !may_begin {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let word = byte.is_ascii_alphanumeric();
        if !word && !matches!(byte, b':' | b'-' | b'_') {
            at += 1;
            continue;
        }
        // A word is read from its beginning only: see where it is left, below.
        let fresh = at == 0 || !in_key(bytes[at - 1]);
        let span = match byte {
            b':' => url_password(bytes, at),
            b'-' if bytes[at..].starts_with(b"-----BEGIN ") => Some(pem(text, at)),
            _ if word => token(bytes, at)
                .or_else(|| bearer(bytes, at))
                .or_else(|| fresh.then(|| jwt(bytes, at).or_else(|| assigns.then(|| assigned(text, at))?))?),
            _ if fresh && assigns => assigned(text, at),
            _ => None,
        };
        at = match span {
            Some(span) => {
                found.push(span.clone());
                // A span may end within a word, whose rest begins none.
                if word_goes_on(bytes, span.end) {
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

/// Whether a word that began before `at` has not ended there.
fn word_goes_on(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at - 1].is_ascii_alphanumeric()
}

/// Whether a secret may begin with these two.
fn begins(first: u8, second: u8) -> bool {
    prefixes(first, second) != 0 || matches!([first, second], [b'e', b'y'] | [b'b' | b'B', b'e' | b'E'])
}

/// Which of the [`PREFIXES`] may begin with these two.
fn prefixes(first: u8, second: u8) -> u64 {
    PREFIX_STARTS[0][usize::from(first)] & PREFIX_STARTS[1][usize::from(second)]
}

/// A token known by how it begins.
fn token(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let candidates = prefixes(bytes[at], *bytes.get(at + 1)?);
    // Nearly every word of every call ends here.
    if candidates == 0 || !bytes.get(at..at + SHORTEST_TOKEN)?.iter().all(|&byte| in_token(byte)) {
        return None;
    }
    let rest = &bytes[at..];
    let (prefix, least) =
        each(candidates).map(|one| PREFIXES[one]).find(|(prefix, _)| rest.starts_with(prefix.as_bytes()))?;
    let end = run(bytes, at, in_token);
    (end - at >= prefix.len() + least).then_some(at..end)
}

/// Three base64url parts of which the first is a JSON object: `eyJ….….…`.
fn jwt(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !bytes[at..].starts_with(b"eyJ") {
        return None;
    }
    let end = run(bytes, at, |b| b == b'.' || in_base64url(b));
    let parts: Vec<_> = bytes[at..end].split(|&b| b == b'.').collect();
    (parts.len() >= 3 && parts[0].len() >= 8 && parts[1].len() >= 2).then_some(at..end)
}

/// What follows `Bearer`.
fn bearer(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !matches!(bytes[at], b'b' | b'B') || !bytes.get(at..at + 7)?.eq_ignore_ascii_case(b"bearer ") {
        return None;
    }
    let start = run(bytes, at + 7, |b| b == b' ');
    let end = run(bytes, start, in_token);
    (end - start >= 4).then_some(start..end)
}

/// The password of `scheme://user:password@host`.
fn url_password(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !bytes[at..].starts_with(b"://") {
        return None;
    }
    let start = at + 3;
    let end = run(bytes, start, |b| {
        !b.is_ascii_whitespace() && !matches!(b, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>')
    });
    let authority = &bytes[start..end];
    let host = authority.iter().rposition(|&b| b == b'@')?;
    let colon = authority[..host].iter().position(|&b| b == b':')?;
    (colon + 1 < host).then_some(start + colon + 1..start + host)
}

/// A PEM block, to its end or the text's.
fn pem(text: &str, at: usize) -> Range<usize> {
    let end = text[at..].find("-----END ").and_then(|end| {
        let label = at + end + "-----END ".len();
        Some(label + text[label..].find("-----")? + 5)
    });
    at..end.unwrap_or(text.len())
}

/// The value of `KEY=value`, `"key": "value"`, `--key value`, where the key names a secret.
fn assigned(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let key_end = run(bytes, at, in_key);
    let key = &text[at..key_end];
    let after = run(bytes, key_end, |b| matches!(b, b'"' | b'\'' | b'\\'));
    let spaced = run(bytes, after, |b| b == b' ');
    let sign = match bytes.get(spaced) {
        Some(b':' | b'=') => run(bytes, spaced, |b| matches!(b, b':' | b'=' | b'>')),
        _ => spaced,
    };
    // A flag and its value need only a space between them.
    if (sign == spaced && (spaced == key_end || !key.starts_with("--"))) || !is_secret_key(key) {
        return None;
    }
    let open = run(bytes, sign, |b| matches!(b, b' ' | b'\t'));
    let start = run(bytes, open, |b| matches!(b, b'"' | b'\'' | b'\\'));
    // `$NAME` and `os.environ[…]` are where the secret is kept, not the secret.
    if let Some(kept) = kept::elsewhere(bytes, start) {
        return kept.default;
    }
    let header = key.to_ascii_lowercase();
    if start == open
        && let Some(literal) = kept::literal(bytes, start)
    {
        return Some(literal);
    }
    let end = if let Some(&quote) = bytes[open..start].last() {
        run(bytes, start, |b| b != quote && b != b'\n')
    } else if header.contains("authorization") || header.contains("cookie") {
        run(bytes, start, |b| !matches!(b, b'\r' | b'\n' | b'"' | b'\''))
    } else {
        run(bytes, start, |b| {
            !b.is_ascii_whitespace()
                && !matches!(b, b'"' | b'\'' | b'&' | b',' | b';' | b'}' | b']' | b')' | b'<' | b'|')
        })
    };
    // `password = ask()` calls something for it; `password=ask()2` does not.
    let is_call = bytes[start..end].last() == Some(&b'(')
        && bytes.get(end) == Some(&b')')
        && bytes.get(end + 1).is_none_or(|b| b.is_ascii_whitespace() || b";,)?".contains(b));
    (end - start >= 3 && !is_call).then_some(start..end)
}

#[inline]
fn in_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

#[inline]
fn in_token(byte: u8) -> bool {
    in_key(byte) || matches!(byte, b'+' | b'/' | b'=' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_the_tables_is_found() {
        for key in IN_KEY.iter().chain(WHOLE_KEY) {
            assert!(is_secret_key(key), "{key}");
            assert!(is_secret_key(&key.to_uppercase()), "{key}");
        }
        for key in IN_KEY {
            assert!(is_secret_key(&format!("my-{key}_1")), "{key}");
        }
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
