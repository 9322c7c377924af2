//! Keys that sign as OpenSSH does, a software authenticator, and a card with a verdict on it.

use data_encoding::BASE64;
use mcp_approve::signing::statement::{CardTerms, Challenge, LogHead, NAMESPACE, Said, SignedWord, Statement, VERSION};
use mcp_approve::wire::digest::Digest;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};

/// The moment of the tests: 2026-11-27T10:00:00Z.
pub const NOW: i64 = 1_795_773_600_000;

pub const KINDS: [&str; 5] = [
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
];

enum Pair {
    Ed25519(Ed25519KeyPair),
    Ecdsa(EcdsaKeyPair),
}

/// A private key.
pub struct Key {
    pub kind: &'static str,
    pair: Pair,
}

/// How a signature is made: as it should be, but for what a forger changes.
pub struct Making {
    pub magic: &'static [u8],
    pub version: u32,
    pub namespace: &'static str,
    pub reserved: &'static [u8],
    pub hash: &'static str,
    /// The type in the signature; the key's own when absent.
    pub kind: Option<&'static str>,
    pub flags: u8,
    pub counter: u32,
    /// Bytes after the signature's last field, and after the whole.
    pub within: &'static [u8],
    pub after: &'static [u8],
    /// The key that the signature names; its maker when absent.
    pub key: Option<Vec<u8>>,
}

impl Default for Making {
    fn default() -> Self {
        Self {
            magic: b"SSHSIG",
            version: 1,
            namespace: NAMESPACE,
            reserved: b"",
            hash: "sha512",
            kind: None,
            flags: 1,
            counter: 7,
            within: b"",
            after: b"",
            key: None,
        }
    }
}

impl Key {
    pub fn new(kind: &'static str, seed: u8) -> Self {
        let random = SystemRandom::new();
        let ecdsa = |way| {
            let pkcs8 = EcdsaKeyPair::generate_pkcs8(way, &random).unwrap();
            Pair::Ecdsa(EcdsaKeyPair::from_pkcs8(way, pkcs8.as_ref(), &random).unwrap())
        };
        let pair = match kind {
            _ if kind.contains("ed25519") => Pair::Ed25519(Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()),
            _ if kind.contains("256") => ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING),
            _ => ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING),
        };
        Self { kind, pair }
    }

    fn is_sk(&self) -> bool {
        self.kind.starts_with("sk-")
    }

    /// The public key in the wire format.
    pub fn blob(&self) -> Vec<u8> {
        let mut blob = string(self.kind.as_bytes());
        match &self.pair {
            Pair::Ed25519(pair) => blob.extend(string(pair.public_key().as_ref())),
            Pair::Ecdsa(pair) => {
                let curve = if self.kind.contains("384") { "nistp384" } else { "nistp256" };
                blob.extend(string(curve.as_bytes()));
                blob.extend(string(pair.public_key().as_ref()));
            }
        }
        if self.is_sk() {
            blob.extend(string(b"ssh:"));
        }
        blob
    }

    /// `TYPE BASE64`.
    pub fn line(&self) -> String {
        format!("{} {}", self.kind, BASE64.encode(&self.blob()))
    }

    /// The signature over a message, not yet armored.
    pub fn sign(&self, message: &[u8], making: &Making) -> Vec<u8> {
        let hashed = match making.hash {
            "sha256" => Digest::of(message).as_bytes().to_vec(),
            _ => ring::digest::digest(&ring::digest::SHA512, message).as_ref().to_vec(),
        };
        let mut signed = b"SSHSIG".to_vec();
        for field in [making.namespace.as_bytes(), making.reserved, making.hash.as_bytes(), &hashed] {
            signed.extend(string(field));
        }
        let flags = [&[making.flags][..], &making.counter.to_be_bytes()].concat();
        if self.is_sk() {
            signed = [Digest::of(b"ssh:").as_bytes(), &flags[..], Digest::of(&signed).as_bytes()].concat();
        }
        let raw = match &self.pair {
            Pair::Ed25519(pair) => pair.sign(&signed).as_ref().to_vec(),
            Pair::Ecdsa(pair) => {
                let both = pair.sign(&SystemRandom::new(), &signed).unwrap();
                let (r, s) = both.as_ref().split_at(both.as_ref().len() / 2);
                [mpint(r), mpint(s)].concat()
            }
        };
        let mut signature = [string(making.kind.unwrap_or(self.kind).as_bytes()), string(&raw)].concat();
        if self.is_sk() {
            signature.extend(flags);
        }
        signature.extend(making.within);
        let mut blob = [making.magic, &making.version.to_be_bytes()].concat();
        let key = making.key.clone().unwrap_or_else(|| self.blob());
        for field in [&key, making.namespace.as_bytes(), making.reserved, making.hash.as_bytes(), &signature] {
            blob.extend(string(field));
        }
        blob.extend(making.after);
        blob
    }
}

/// A field of the wire format.
pub fn string(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
}

fn mpint(digits: &[u8]) -> Vec<u8> {
    let zeros = digits.iter().take_while(|digit| **digit == 0).count();
    let digits = &digits[zeros..];
    let sign: &[u8] = if digits[0] & 0x80 == 0 { &[] } else { &[0] };
    string(&[sign, digits].concat())
}

/// As ssh-keygen writes it.
pub fn armored(blob: &[u8]) -> String {
    let base64 = BASE64.encode(blob);
    let lines: Vec<&str> = base64.as_bytes().chunks(70).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n", lines.join("\n"))
}

/// A dangerous call that waits.
pub fn card() -> CardTerms {
    CardTerms {
        approval: 1,
        approvals: 1,
        call: Digest::of(b"call"),
        card: Digest::of(b"card"),
        challenge: Challenge::of([9; 32]),
        definition: Some(Digest::of(b"definition")),
        machine: "build-7".into(),
        policy: Digest::of(b"policy"),
        role: Some("editor".into()),
        server: "5f3a".into(),
        session: "s-1".into(),
        ticket: "filesystem-12".into(),
        user: "mara".into(),
    }
}

pub fn said() -> Said {
    Said { grants: None, reason: None, until: None, verdict: SignedWord::Approve }
}

/// What an honest console signs for that card.
pub fn statement() -> Statement {
    Statement {
        also: Vec::new(),
        card: card(),
        log: Some(LogHead { head: Digest::of(b"log"), seq: 41 }),
        not_after: NOW + 60_000,
        said: said(),
        signer: "mara@example.com".into(),
        time: NOW,
        version: VERSION,
    }
}
