//! Reads SSH public keys and armored SSH signatures, and verifies them. The one door to ring. Does not know whose key it is,
//! nor whether a touch was needed: [`Presence`] is a fact that the caller grades.
//!
//! Formats: OpenSSH's `PROTOCOL.sshsig`, `PROTOCOL.u2f`; RFC 4253 section 6.6, RFC 5656 section 3.1, RFC 8709.

use data_encoding::{BASE64, BASE64_NOPAD};
use ring::digest::{SHA512, digest};
use ring::signature::{ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, UnparsedPublicKey};

use crate::wire::{Digest, words::words};

/// The longest armored signature that is read, in bytes. Those of the key types we know have less than 1 KiB.
pub const LONGEST: usize = 8 << 10;

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
const MAGIC: &[u8; 6] = b"SSHSIG";
const VERSION: u32 = 1;

words! {
    /// The types of keys whose signatures are verified.
    KeyKind {
        Ed25519 = "ssh-ed25519",
        P256 = "ecdsa-sha2-nistp256",
        P384 = "ecdsa-sha2-nistp384",
        /// In a FIDO authenticator.
        SkEd25519 = "sk-ssh-ed25519@openssh.com",
        /// In a FIDO authenticator.
        SkP256 = "sk-ecdsa-sha2-nistp256@openssh.com",
    }
}

impl KeyKind {
    /// Whether its signatures say if a person touched the device that holds the key.
    pub const fn states_presence(self) -> bool {
        match self {
            Self::SkEd25519 | Self::SkP256 => true,
            Self::Ed25519 | Self::P256 | Self::P384 => false,
        }
    }

    /// The curve's name in the key and the bytes of one coordinate; `None` for Ed25519.
    const fn curve(self) -> Option<(&'static str, usize)> {
        match self {
            Self::Ed25519 | Self::SkEd25519 => None,
            Self::P256 | Self::SkP256 => Some(("nistp256", 32)),
            Self::P384 => Some(("nistp384", 48)),
        }
    }
}

words! {
    /// What the message is hashed with before it is signed.
    HashKind {
        Sha256 = "sha256",
        Sha512 = "sha512",
    }
}

impl HashKind {
    fn of(self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => Digest::of(message).as_bytes().to_vec(),
            Self::Sha512 => digest(&SHA512, message).as_ref().to_vec(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("it is longer than {LONGEST} bytes")]
    TooLong,
    #[error("it does not lie between the lines `{BEGIN}` and `{END}`")]
    Armor,
    #[error("its Base64 is not well-formed")]
    Base64,
    #[error("it ends too early")]
    Truncated,
    #[error("bytes follow its end")]
    Trailing,
    #[error("it does not begin with SSHSIG")]
    Magic,
    #[error("it has version {0} of the signature format; only version {VERSION} is known")]
    Version(u32),
    #[error("its namespace is not UTF-8")]
    Namespace,
    #[error("its reserved field is not empty")]
    Reserved,
    #[error("its hash algorithm is neither sha256 nor sha512")]
    Hash,
    #[error(
        "keys of type {0} are not supported; use ed25519, ecdsa (P-256, P-384), or a FIDO key (ed25519-sk, ecdsa-sk)"
    )]
    KeyType(String),
    #[error("the key is not a well-formed {0}")]
    Key(&'static str),
    #[error("the key says {word} before its Base64 and another type in it")]
    OtherType { word: String },
    #[error("the signature is of type {found}, the key of type {key}")]
    SignatureType { key: &'static str, found: String },
    #[error("the signature is not a well-formed {0}")]
    Signature(&'static str),
}

/// A public key of a type that we verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    kind: KeyKind,
    blob: Vec<u8>,
    /// 32 bytes of Ed25519, or an uncompressed point.
    point: Vec<u8>,
    /// Of a key in an authenticator: what it is for, usually `ssh:`.
    application: Vec<u8>,
}

impl PublicKey {
    /// Reads a key in the wire format.
    /// Errors: [`Unreadable`] for another type, a malformed key, or bytes after it.
    pub fn of_blob(blob: &[u8]) -> Result<Self, Unreadable> {
        let mut fields = Fields(blob);
        let kind = fields.string()?;
        let kind = key_kind(kind)?;
        let malformed = Unreadable::Key(kind.word());
        let point = match kind.curve() {
            None => fields.string().map(|point| (point, point.len() == 32))?,
            Some((curve, size)) => {
                let named = fields.string()?;
                let point = fields.string()?;
                let is_point = named == curve.as_bytes() && point.len() == 1 + 2 * size && point.first() == Some(&4);
                (point, is_point)
            }
        };
        let (point, true) = point else { return Err(malformed) };
        let application = if kind.states_presence() { fields.string()? } else { &[] };
        fields.end()?;
        Ok(Self { kind, blob: blob.to_vec(), point: point.to_vec(), application: application.to_vec() })
    }

    pub const fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The key in the wire format: two keys are the same when these bytes are.
    pub fn blob(&self) -> &[u8] {
        &self.blob
    }

    /// `SHA256:…`, as ssh-keygen prints it.
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.blob)
    }

    /// `TYPE BASE64`: a line of a `.pub` file without its comment.
    pub fn line(&self) -> String {
        format!("{} {}", self.kind.word(), BASE64.encode(&self.blob))
    }
}

/// `SHA256:…` of a key of any type in the wire format.
pub fn fingerprint(blob: &[u8]) -> String {
    format!("SHA256:{}", BASE64_NOPAD.encode(Digest::of(blob).as_bytes()))
}

/// A key's wire format, from its type's word and its Base64. Errors: [`Unreadable`]: malformed Base64, or another type.
pub fn key_blob(word: &str, base64: &str) -> Result<Vec<u8>, Unreadable> {
    let blob = BASE64.decode(base64.as_bytes()).map_err(|_| Unreadable::Base64)?;
    match Fields(&blob).string()? == word.as_bytes() {
        true => Ok(blob),
        false => Err(Unreadable::OtherType { word: shown(word.as_bytes()) }),
    }
}

/// An armored signature's Base64 on one line, without the armor, whose inside the log hides. Empty for what is not armored.
pub fn unarmored(armored: &str) -> String {
    armored.lines().skip_while(|line| *line != BEGIN).skip(1).take_while(|line| *line != END).collect()
}

/// The same in its armor again, as ssh-keygen reads it.
pub fn rearmored(base64: &str) -> String {
    let mut armored = format!("{BEGIN}\n");
    for (at, character) in base64.chars().enumerate() {
        if at > 0 && at % 70 == 0 {
            armored.push('\n');
        }
        armored.push(character);
    }
    armored + "\n" + END + "\n"
}

/// What a signature says about the person at the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The key's type does not say: any process that can reach the key can sign.
    NotStated,
    /// The authenticator signed without a touch.
    NotTouched { counter: u32 },
    /// A person touched the authenticator; `verified` by PIN or finger too.
    Touched { counter: u32, verified: bool },
}

/// A signature as it was read; it proves nothing before [`SshSignature::verify`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshSignature {
    key: PublicKey,
    namespace: String,
    hash: HashKind,
    /// As the curve's `verify` takes it: 64 bytes of Ed25519, or both numbers at full width.
    raw: Vec<u8>,
    /// Of a key in an authenticator.
    flags: Option<(u8, u32)>,
}

impl SshSignature {
    /// Reads an armored signature. Nothing may stand before or after it but line ends.
    /// Errors: [`Unreadable`] for whatever is not exactly such a signature.
    pub fn read(armored: &str) -> Result<Self, Unreadable> {
        if armored.len() > LONGEST {
            return Err(Unreadable::TooLong);
        }
        let mut lines = armored.strip_suffix('\n').unwrap_or(armored).split('\n');
        let (Some(BEGIN), Some(END)) = (lines.next(), lines.next_back()) else { return Err(Unreadable::Armor) };
        let base64: String = lines.collect();
        Self::of_blob(&BASE64.decode(base64.as_bytes()).map_err(|_| Unreadable::Base64)?)
    }

    fn of_blob(blob: &[u8]) -> Result<Self, Unreadable> {
        let mut fields = Fields(blob.strip_prefix(MAGIC).ok_or(Unreadable::Magic)?);
        let version = fields.number()?;
        if version != VERSION {
            return Err(Unreadable::Version(version));
        }
        let key = PublicKey::of_blob(fields.string()?)?;
        let namespace = String::from_utf8(fields.string()?.to_vec()).map_err(|_| Unreadable::Namespace)?;
        if !fields.string()?.is_empty() {
            return Err(Unreadable::Reserved);
        }
        let hash = std::str::from_utf8(fields.string()?).ok().and_then(HashKind::from_word).ok_or(Unreadable::Hash)?;
        let mut signature = Fields(fields.string()?);
        fields.end()?;
        let kind = key.kind;
        let found = signature.string()?;
        if found != kind.word().as_bytes() {
            return Err(Unreadable::SignatureType { key: kind.word(), found: shown(found) });
        }
        let malformed = Unreadable::Signature(kind.word());
        let raw = signature.string()?;
        let raw = match kind.curve() {
            None => Some(raw.to_vec()).filter(|raw| raw.len() == 64),
            Some((_, size)) => pair(raw, size)?,
        };
        let raw = raw.ok_or(malformed)?;
        let flags = if kind.states_presence() { Some((signature.byte()?, signature.number()?)) } else { None };
        signature.end()?;
        Ok(Self { key, namespace, hash, raw, flags })
    }

    /// The key that it says it was made with.
    pub const fn key(&self) -> &PublicKey {
        &self.key
    }

    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Verifies it over a message: the key it names made it, for its namespace. `None` where that is not so.
    pub fn verify(&self, message: &[u8]) -> Option<Presence> {
        let mut signed = MAGIC.to_vec();
        let hashed = self.hash.of(message);
        for field in [self.namespace.as_bytes(), b"", self.hash.word().as_bytes(), &hashed] {
            signed.extend(u32::try_from(field.len()).ok()?.to_be_bytes());
            signed.extend(field);
        }
        let presence = match self.flags {
            None => Presence::NotStated,
            Some((flags, counter)) => {
                let (application, message) = (Digest::of(&self.key.application), Digest::of(&signed));
                signed = application.as_bytes().to_vec();
                signed.push(flags);
                signed.extend(counter.to_be_bytes());
                signed.extend(message.as_bytes());
                match flags & 1 {
                    0 => Presence::NotTouched { counter },
                    _ => Presence::Touched { counter, verified: flags & 4 != 0 },
                }
            }
        };
        let point = &self.key.point;
        let verified = match self.key.kind {
            KeyKind::Ed25519 | KeyKind::SkEd25519 => UnparsedPublicKey::new(&ED25519, point).verify(&signed, &self.raw),
            KeyKind::P256 | KeyKind::SkP256 => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(&signed, &self.raw)
            }
            KeyKind::P384 => UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point).verify(&signed, &self.raw),
        };
        verified.is_ok().then_some(presence)
    }
}

/// The fields of SSH's wire format, one after the other.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Unreadable> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Unreadable::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Unreadable> {
        self.take(1)?.first().copied().ok_or(Unreadable::Truncated)
    }

    fn number(&mut self) -> Result<u32, Unreadable> {
        let bytes = self.take(4)?.try_into().map_err(|_| Unreadable::Truncated)?;
        Ok(u32::from_be_bytes(bytes))
    }

    fn string(&mut self) -> Result<&'a [u8], Unreadable> {
        let count = self.number()?;
        self.take(usize::try_from(count).map_err(|_| Unreadable::Truncated)?)
    }

    fn end(&self) -> Result<(), Unreadable> {
        if self.0.is_empty() { Ok(()) } else { Err(Unreadable::Trailing) }
    }
}

fn key_kind(word: &[u8]) -> Result<KeyKind, Unreadable> {
    let known = std::str::from_utf8(word).ok().and_then(KeyKind::from_word);
    known.ok_or_else(|| Unreadable::KeyType(shown(word)))
}

/// The two numbers of an ECDSA signature at full width; `None` when one is negative, not minimal or too large.
fn pair(raw: &[u8], size: usize) -> Result<Option<Vec<u8>>, Unreadable> {
    let mut numbers = Fields(raw);
    let (r, s) = (numbers.string()?, numbers.string()?);
    numbers.end()?;
    let mut both = Vec::with_capacity(2 * size);
    for number in [r, s] {
        let digits = match number {
            [0, rest @ ..] if rest.first().is_some_and(|first| first & 0x80 != 0) => rest,
            [first, ..] if (1..0x80).contains(first) => number,
            _ => return Ok(None),
        };
        let Some(zeros) = size.checked_sub(digits.len()) else { return Ok(None) };
        both.extend(std::iter::repeat_n(0, zeros));
        both.extend(digits);
    }
    Ok(Some(both))
}

/// A foreign word in an error: short, and plain.
fn shown(word: &[u8]) -> String {
    word.escape_ascii().take(48).map(char::from).collect()
}
