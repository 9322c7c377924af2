//! Secrets that are known by how they look: tokens by their beginnings, JWTs, what follows `Bearer`, passwords in addresses, PEM
//! blocks. Reads bytes; redacts nothing.

use std::ops::Range;

use data_encoding::BASE64;

use super::each;
use super::kept::{in_key, run};

/// Beginnings of well-known tokens, and how many characters must follow at least.
pub(super) const PREFIXES: &[(&str, usize)] = &[
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
        assert!(prefix.len() + PREFIXES[at].1 >= SHORTEST_TOKEN, "it would not be looked for");
        starts[0][prefix[0] as usize] |= 1 << at;
        starts[1][prefix[1] as usize] |= 1 << at;
        at += 1;
    }
    starts
};

/// The length of the shortest token that any of the [`PREFIXES`] allows.
const SHORTEST_TOKEN: usize = 12;

/// Which of the [`PREFIXES`] may begin with these two.
fn prefixes(first: u8, second: u8) -> u64 {
    PREFIX_STARTS[0][usize::from(first)] & PREFIX_STARTS[1][usize::from(second)]
}

/// Whether a token, a JWT or what follows `Bearer` or `Basic` may begin with these two.
#[inline]
pub(super) fn begins(first: u8, second: u8) -> bool {
    prefixes(first, second) != 0 || matches!([first, second], [b'e', b'y'] | [b'b' | b'B', b'e' | b'E' | b'a' | b'A'])
}

/// A token known by how it begins.
pub(super) fn token(bytes: &[u8], at: usize) -> Option<Range<usize>> {
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

/// Base64url parts of which the first is a JSON object: `eyJ….….…`; also without its last part, or its header alone.
pub(super) fn jwt(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !bytes[at..].starts_with(b"eyJ") {
        return None;
    }
    let end = run(bytes, at, |b| b == b'.' || in_base64url(b));
    let mut parts = bytes[at..end].split(|&b| b == b'.');
    let (header, payload, more) = (parts.next()?, parts.next().unwrap_or_default(), parts.next().is_some());
    // A header that names its algorithm, type or key is one of a token, whole or cut.
    let names = [b"eyJhbGci", b"eyJ0eXAi", b"eyJraWQi"].iter().any(|head| header.starts_with(*head));
    let is_whole = more && header.len() >= 8 && payload.len() >= 2;
    (is_whole || payload.starts_with(b"eyJ") || names && end - at >= 16).then_some(at..end)
}

/// What follows `Bearer`, and what follows `Basic` where it is a name and a password in Base64.
pub(super) fn scheme(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let after =
        |scheme: &[u8]| bytes.get(at..at + scheme.len())?.eq_ignore_ascii_case(scheme).then_some(at + scheme.len());
    if !matches!(bytes[at], b'b' | b'B') {
        return None;
    }
    let (start, is_basic) = after(b"bearer ").map(|at| (at, false)).or_else(|| Some((after(b"basic ")?, true)))?;
    let start = run(bytes, start, |b| b == b' ');
    let end = run(bytes, start, in_token);
    let is_pair = || BASE64.decode(&bytes[start..end]).is_ok_and(|plain| plain.contains(&b':'));
    (end - start >= 4 && (!is_basic || is_pair())).then_some(start..end)
}

/// The password of `scheme://user:password@host`, or a token in the place of both.
pub(super) fn url_password(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !bytes[at..].starts_with(b"://") {
        return None;
    }
    let start = at + 3;
    let end = run(bytes, start, |b| {
        !b.is_ascii_whitespace() && !matches!(b, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>')
    });
    let authority = &bytes[start..end];
    let host = authority.iter().rposition(|&b| b == b'@')?;
    let is_token = |user: &[u8]| user.len() >= 20 && user.iter().all(|&b| in_token(b));
    match authority[..host].iter().position(|&b| b == b':') {
        Some(colon) => (colon + 1 < host).then_some(start + colon + 1..start + host),
        None => is_token(&authority[..host]).then_some(start..start + host),
    }
}

/// A PEM block, to its end or the text's.
pub(super) fn pem(text: &str, at: usize) -> Range<usize> {
    let end = text[at..].find("-----END ").and_then(|end| {
        let label = at + end + "-----END ".len();
        Some(label + text[label..].find("-----")? + 5)
    });
    at..end.unwrap_or(text.len())
}

#[inline]
fn in_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

#[inline]
fn in_token(byte: u8) -> bool {
    in_key(byte) || matches!(byte, b'+' | b'/' | b'=' | b'~')
}
