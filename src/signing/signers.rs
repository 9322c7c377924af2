//! Reads OpenSSH's `allowed_signers` and a list of revoked keys, and says whether a key may sign as a principal at a moment.
//!
//! Sources: ssh-keygen(1), ALLOWED SIGNERS; ssh_config(5), PATTERNS. A line that OpenSSH reads and we do not support (a
//! certificate authority, RSA) is kept and matches nothing; a line that is wrong makes the whole list unusable.

use std::path::PathBuf;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::signing::grade::Owner;
use crate::signing::sshsig::{PublicKey, Unreadable, fingerprint, key_blob};

/// The longest list that is read, in bytes.
pub const LONGEST: usize = 1 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signers {
    entries: Vec<Entry>,
    /// Revoked keys in the wire format.
    revoked: Vec<Vec<u8>>,
}

/// The lists in force on a machine, and who can change them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    pub file: PathBuf,
    pub owner: Owner,
    pub signers: Signers,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number in the file, from 1.
    pub line: usize,
    pub principals: Patterns,
    pub key: EntryKey,
    /// Milliseconds since 1970, UTC: the key counts from here on.
    pub after: Option<i64>,
    /// The key counts up to this moment.
    pub before: Option<i64>,
    /// Absent: every namespace.
    pub namespaces: Option<Patterns>,
    pub comment: String,
    /// The whole line, as it is written.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKey {
    Supported(PublicKey),
    /// It matches nothing.
    Unsupported {
        fingerprint: String,
        why: String,
    },
}

/// A pattern list: `*`, `?`, and `!` before what must not match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patterns(String);

impl Patterns {
    /// Whether one pattern matches and no negated one does.
    pub fn matches(&self, text: &str) -> bool {
        let mut matched = false;
        for pattern in self.0.split(',') {
            match pattern.strip_prefix('!') {
                Some(negated) if matches_pattern(negated.as_bytes(), text.as_bytes()) => return false,
                Some(_) => {}
                None => matched |= matches_pattern(pattern.as_bytes(), text.as_bytes()),
            }
        }
        matched
    }

    /// The first name in it that is no pattern, and that the whole list matches.
    pub fn literal(&self) -> Option<&str> {
        let mut names = self.0.split(',').filter(|name| !name.is_empty() && !name.contains(['*', '?', '!']));
        names.find(|name| self.matches(name))
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    Allowed,
    Revoked,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct LineError {
    pub list: List,
    pub line: usize,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MayNotSign {
    #[error("the key {fingerprint} is not in the list of allowed signers")]
    UnknownKey { fingerprint: String },
    #[error("the key is not one of {signer} (line {line} of the list of allowed signers)")]
    OtherPrincipal { signer: String, line: usize },
    #[error("line {line} of the list of allowed signers does not allow this namespace")]
    OtherNamespace { line: usize },
    #[error("line {line} of the list of allowed signers makes the key valid only later")]
    NotYet { line: usize },
    #[error("the key is no longer valid, by line {line} of the list of allowed signers")]
    NoLonger { line: usize },
    #[error("the key {fingerprint} was revoked")]
    Revoked { fingerprint: String },
    #[error(
        "line {line} of the list of allowed signers lets this key sign under several names, so it does not say which person has it: give each key one name, without * or ?"
    )]
    SeveralNames { line: usize },
    #[error(
        "line {line} of the list of allowed signers lets this key sign more than signs of life: give it namespaces=\"alive@mcp-approve\" and no other line, since an unattended process has it"
    )]
    MoreThanLife { line: usize },
}

impl Signers {
    /// Reads both lists. Times without `Z` are local to `zone`. Errors: every line that cannot be read; then no key may sign.
    pub fn read(allowed: &str, revoked: &str, zone: &TimeZone) -> Result<Self, Vec<LineError>> {
        let mut errors = Vec::new();
        let entries = lines(allowed, List::Allowed, &mut errors, |line, text| entry(line, text, zone));
        let mut read = Self { entries, revoked: Vec::new() };
        errors.extend(read.revoke(revoked).err().into_iter().flatten());
        if errors.is_empty() { Ok(read) } else { Err(errors) }
    }

    /// Adds the keys of a list of revoked ones.
    /// Errors: every line that cannot be read.
    pub fn revoke(&mut self, revoked: &str) -> Result<(), Vec<LineError>> {
        let mut errors = Vec::new();
        self.revoked.extend(lines(revoked, List::Revoked, &mut errors, |_, text| revoked_key(text)));
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// The lines of allowed signers, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether a key in the wire format was revoked.
    pub fn is_revoked(&self, key: &PublicKey) -> bool {
        self.revoked.iter().any(|revoked| revoked == key.blob())
    }

    /// The line that lets a key sign as this principal in a namespace at a moment, in milliseconds since 1970, UTC.
    /// Errors: [`MayNotSign`] says what the line that comes nearest does not allow.
    pub fn may_sign(&self, signer: &str, key: &PublicKey, namespace: &str, at: i64) -> Result<&Entry, MayNotSign> {
        let fingerprint = key.fingerprint();
        if self.is_revoked(key) {
            return Err(MayNotSign::Revoked { fingerprint });
        }
        let mut why = MayNotSign::UnknownKey { fingerprint };
        for entry in self.of_key(key) {
            let line = entry.line;
            match entry.allows(namespace, at) {
                _ if !entry.principals.matches(signer) => {
                    why = MayNotSign::OtherPrincipal { signer: signer.escape_debug().take(64).collect(), line };
                }
                Ok(()) => return Ok(entry),
                Err(not) => why = not,
            }
        }
        Err(why)
    }

    /// Checks that a key belongs to one person: all its lines for this namespace, whatever their time, have one name.
    /// Errors: [`MayNotSign::SeveralNames`] names the first line that lets it sign under another name too.
    pub fn is_of_one_person(&self, key: &PublicKey, namespace: &str) -> Result<(), MayNotSign> {
        let mut name: Option<&str> = None;
        for entry in self.of_key(key).filter(|entry| entry.is_for(namespace)) {
            let single = entry.principals.literal().filter(|name| *name == entry.principals.text());
            match single {
                Some(single) if name.is_none_or(|name| same_person(name, single)) => name = Some(single),
                _ => return Err(MayNotSign::SeveralNames { line: entry.line }),
            }
        }
        Ok(())
    }

    /// Whether a line of a key names a user of this machine: `mara`, `Mara@…`, `mara+x@…`, or a pattern for one of these.
    pub fn is_of_user(&self, key: &PublicKey, user: &str) -> bool {
        let user = user.to_lowercase();
        self.of_key(key).flat_map(|entry| entry.principals.text().split(',')).any(|name| {
            let name = name.to_lowercase();
            let name = name.split(['@', '+']).next().unwrap_or_default();
            matches_pattern(name.as_bytes(), user.as_bytes())
        })
    }

    pub fn of_key(&self, key: &PublicKey) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| matches!(&entry.key, EntryKey::Supported(known) if known == key))
    }
}

impl Entry {
    /// Whether its key may sign in a namespace at any time.
    pub fn is_for(&self, namespace: &str) -> bool {
        self.namespaces.as_ref().is_none_or(|allowed| allowed.matches(namespace))
    }

    /// Whether its key may sign in a namespace at a moment.
    pub fn allows(&self, namespace: &str, at: i64) -> Result<(), MayNotSign> {
        let line = self.line;
        if !self.is_for(namespace) {
            Err(MayNotSign::OtherNamespace { line })
        } else if self.after.is_some_and(|after| at < after) {
            Err(MayNotSign::NotYet { line })
        } else if self.before.is_some_and(|before| at > before) {
            Err(MayNotSign::NoLonger { line })
        } else {
            Ok(())
        }
    }
}

/// Whether two principals are one person, for all that their spelling says.
pub fn same_person(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Reads what each line of a list says; blank lines and comments say nothing.
fn lines<T>(
    text: &str,
    list: List,
    errors: &mut Vec<LineError>,
    read: impl Fn(usize, &str) -> Result<T, String>,
) -> Vec<T> {
    if text.len() > LONGEST {
        errors.push(LineError { list, line: 1, why: format!("the list is longer than {LONGEST} bytes") });
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, text) in text.lines().enumerate() {
        let text = text.trim_matches([' ', '\t']);
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        match read(at + 1, text) {
            Ok(entry) => found.push(entry),
            Err(why) => errors.push(LineError { list, line: at + 1, why }),
        }
    }
    found
}

/// `PRINCIPALS [OPTIONS] TYPE BASE64 [COMMENT]`.
fn entry(line: usize, text: &str, zone: &TimeZone) -> Result<Entry, String> {
    let (principals, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').ok_or("the quote around the principals does not end")?,
        None => word(text),
    };
    if principals.is_empty() || principals.contains('"') {
        return Err("the principals are not readable: put all of them between one pair of quotes, or none".into());
    }
    let rest = rest.trim_start_matches([' ', '\t']);
    let mut options = Options::default();
    // As OpenSSH: what is no key are options, and the key follows them.
    let (key, comment) = match blob(rest) {
        Ok(found) => found,
        Err(_) if rest.split([' ', '\t', '=', ',']).next().is_some_and(is_option) => {
            blob(options.read(rest, zone)?.trim_start_matches([' ', '\t']))?
        }
        Err(why) => return Err(why),
    };
    if let (Some(after), Some(before)) = (options.after, options.before)
        && before <= after
    {
        return Err("valid-before is not after valid-after".into());
    }
    let key = match PublicKey::of_blob(&key) {
        _ if options.cert_authority => {
            let why = "certificate authorities are not supported".to_owned();
            EntryKey::Unsupported { fingerprint: fingerprint(&key), why }
        }
        Ok(key) => EntryKey::Supported(key),
        Err(why @ Unreadable::KeyType(_)) => {
            EntryKey::Unsupported { fingerprint: fingerprint(&key), why: why.to_string() }
        }
        Err(why) => return Err(why.to_string()),
    };
    Ok(Entry {
        line,
        principals: Patterns(principals.to_owned()),
        key,
        after: options.after,
        before: options.before,
        namespaces: options.namespaces.map(Patterns),
        comment: comment.to_owned(),
        text: text.to_owned(),
    })
}

/// A line of the list of revoked keys: `TYPE BASE64 [COMMENT]`, of any type.
fn revoked_key(text: &str) -> Result<Vec<u8>, String> {
    match text.starts_with("SSHKRL") {
        true => Err("key revocation lists in binary form are not supported: list the public keys, one a line".into()),
        false => blob(text).map(|(blob, _)| blob),
    }
}

/// The key that a text begins with, in the wire format, and the comment after it.
fn blob(text: &str) -> Result<(Vec<u8>, &str), String> {
    let (kind, rest) = word(text);
    let (base64, comment) = word(rest.trim_start_matches([' ', '\t']));
    if base64.is_empty() {
        return Err("there is no key: a line is PRINCIPALS [OPTIONS] TYPE BASE64".into());
    }
    let blob = key_blob(kind, base64).map_err(|why| format!("the key is not readable: {why}"))?;
    Ok((blob, comment.trim_matches([' ', '\t'])))
}

fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find([' ', '\t']).unwrap_or(text.len()))
}

#[derive(Default)]
struct Options {
    cert_authority: bool,
    namespaces: Option<String>,
    after: Option<i64>,
    before: Option<i64>,
}

const OPTIONS: [&str; 4] = ["cert-authority", "namespaces", "valid-after", "valid-before"];

fn is_option(word: &str) -> bool {
    OPTIONS.iter().any(|option| option.eq_ignore_ascii_case(word))
}

impl Options {
    /// Reads comma-separated options, and returns what follows them. Values are in quotes, names in any case.
    fn read<'t>(&mut self, text: &'t str, zone: &TimeZone) -> Result<&'t str, String> {
        let mut rest = text;
        loop {
            let end = rest.find(['=', ',', ' ', '\t']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            let name = name.to_ascii_lowercase();
            let (value, after) = match after.strip_prefix('=') {
                Some(quoted) => quoted_value(quoted).map(|(value, after)| (Some(value), after))?,
                None => (None, after),
            };
            self.set(&name, value, zone)?;
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None if after.starts_with([' ', '\t']) => return Ok(after),
                None => return Err("options are separated by a comma, and a space ends them".into()),
            }
        }
    }

    fn set(&mut self, name: &str, value: Option<String>, zone: &TimeZone) -> Result<(), String> {
        let twice = || Err(format!("{name} is given twice"));
        match (name, value) {
            ("cert-authority", None) => self.cert_authority = true,
            ("namespaces", Some(_)) if self.namespaces.is_some() => return twice(),
            ("namespaces", Some(value)) => self.namespaces = Some(value),
            ("valid-after", Some(_)) if self.after.is_some() => return twice(),
            ("valid-after", Some(value)) => self.after = Some(moment(&value, zone)?),
            ("valid-before", Some(_)) if self.before.is_some() => return twice(),
            ("valid-before", Some(value)) => self.before = Some(moment(&value, zone)?),
            (known, _) if OPTIONS.contains(&known) => {
                return Err(format!("{known} is written cert-authority, or {known}=\"…\" for the others"));
            }
            (unknown, _) => {
                let unknown: String = unknown.escape_debug().take(48).collect();
                return Err(format!(
                    "\"{unknown}\" is not an option of allowed signers: they are {}",
                    OPTIONS.join(", ")
                ));
            }
        }
        Ok(())
    }
}

/// A value in quotes, `\"` for a quote in it; and what follows.
fn quoted_value(text: &str) -> Result<(String, &str), String> {
    let mut value = String::new();
    let mut rest = text.strip_prefix('"').ok_or("an option's value is written in quotes")?;
    loop {
        let at = rest.find('"').ok_or("the quote around an option's value does not end")?;
        let (before, after) = rest.split_at(at);
        let after = after.strip_prefix('"').unwrap_or(after);
        rest = after;
        match before.strip_suffix('\\') {
            Some(before) => {
                value.push_str(before);
                value.push('"');
            }
            None => {
                value.push_str(before);
                return Ok((value, after));
            }
        }
    }
}

/// `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`, with `Z` or `UTC` behind it for UTC; or `0x` and seconds since 1970.
fn moment(text: &str, zone: &TimeZone) -> Result<i64, String> {
    let wrong = || {
        let text: String = text.escape_debug().take(48).collect();
        format!("\"{text}\" is not a time: write YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS, and Z after it for UTC")
    };
    if let Some(hex) = text.strip_prefix("0x") {
        let seconds = u32::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with('+')).ok_or_else(wrong)?;
        return Ok(i64::from(seconds) * 1000);
    }
    let in_utc = text.strip_suffix("UTC").or_else(|| text.strip_suffix('Z'));
    let digits = in_utc.unwrap_or(text);
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) || ![8, 12, 14].contains(&digits.len()) {
        return Err(wrong());
    }
    let filled = format!("{digits:0<14}");
    let (day, time) = filled.split_at(8);
    let time: DateTime = format!("{day}T{time}").parse().map_err(|_| wrong())?;
    let zone = if in_utc.is_some() { TimeZone::UTC } else { zone.clone() };
    Ok(zone.to_timestamp(time).map_err(|_| wrong())?.as_millisecond())
}

/// Whether a pattern of `*`, `?` and plain bytes matches all of a text. Linear but for each `*`, which is tried from the last.
fn matches_pattern(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    // Where the last `*` is, and how much of the text it took so far.
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(read) {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(wanted) if wanted == byte || *wanted == b'?' => (at, read) = (at + 1, read + 1),
            Some(_) | None => match star {
                Some((from, taken)) => {
                    star = Some((from, taken + 1));
                    (at, read) = (from + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|rest| *rest == b'*')
}
