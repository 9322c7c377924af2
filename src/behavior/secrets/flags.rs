//! Command-line flags whose letter alone says nothing: which program they are given to decides whether a secret follows.

use std::ops::Range;

use super::kept::{self, run};

/// How many bytes behind the word a fallback is looked for.
const NEAR: usize = 128;

/// A program whose flags are known, or a subcommand that takes a password.
#[derive(Clone, Copy)]
pub(super) struct Program(Flags);

/// By its letter, how each flag takes its secret.
type Flags = &'static [(u8, Takes)];

/// How a flag takes its secret.
#[derive(Clone, Copy)]
enum Takes {
    /// In the same word: `-psecret`.
    Attached,
    /// In the same word or in the next: `-psecret`, `-p secret`.
    Value,
    /// The same, as `user:secret`; what is before the colon stays.
    Pair,
}

use Takes::{Attached, Pair, Value};

/// By their names, the flags of programs and subcommands.
const PROGRAMS: &[(&[&str], Flags)] = &[
    (
        &["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck", "mariadb"],
        // `-p` by itself asks; the next word is a database.
        &[(b'p', Attached)],
    ),
    (&["curl"], &[(b'u', Pair), (b'U', Pair)]),
    (&["http", "https", "xh"], &[(b'a', Pair)]),
    (&["sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "login", "sqlcmd"], &[(b'p', Value), (b'P', Value)]),
    (&["7z", "7za", "unrar", "rar"], &[(b'p', Attached)]),
    (&["zip", "unzip", "mosquitto"], &[(b'P', Value)]),
    (&["redis", "valkey"], &[(b'a', Value)]),
    (&["ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami"], &[(b'w', Value)]),
    (&["openssl"], &[(b'k', Value)]),
];

/// The program that a word names; `None` where it is any other.
pub(super) fn program(word: &[u8]) -> Option<Program> {
    // Nearly every word ends here: no name is longer, and each begins with one of these.
    if word.len() > 12 || !word.first().is_some_and(|first| b"mchsluzrvox7".contains(first)) {
        return None;
    }
    let named = PROGRAMS.iter().find(|(names, _)| names.iter().any(|name| name.as_bytes() == word));
    named.map(|(_, flags)| Program(flags))
}

impl Program {
    /// The secret of a flag that begins at `at`, behind white space.
    pub(super) fn secret(self, bytes: &[u8], at: usize) -> Option<Range<usize>> {
        let letter = *bytes.get(at + 1)?;
        let (_, takes) = self.0.iter().find(|(known, _)| *known == letter)?;
        let attached = at + 2;
        let is_alone = bytes.get(attached).is_none_or(u8::is_ascii_whitespace);
        let open = match takes {
            Attached if is_alone => return None,
            Attached | Value | Pair => run(bytes, attached, |b| matches!(b, b' ' | b'\t' | b'=')),
        };
        let start = run(bytes, open, |b| matches!(b, b'"' | b'\'' | b'\\'));
        let end = match bytes.get(open..start).and_then(<[u8]>::last) {
            Some(&quote) => run(bytes, start, |b| b != quote && b != b'\n'),
            None => run(bytes, start, |b| !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b';' | b'|')),
        };
        let value = bytes.get(start..end)?;
        let start = match takes {
            Pair => start + value.iter().position(|b| *b == b':')? + 1,
            Attached | Value => start,
        };
        // Bounded, because otherwise each flag would search an unclosed bracket or quote to the end of the text.
        let near = bytes.get(..bytes.len().min(end + NEAR))?;
        let is_kept = kept::elsewhere(near, start).is_some_and(|kept| kept.default.is_none());
        // The next word is another flag, not the secret: `-p -u`.
        let is_none = open > attached && bytes.get(start) == Some(&b'-');
        (end >= start + 3 && !is_kept && !is_none).then_some(start..end)
    }
}
