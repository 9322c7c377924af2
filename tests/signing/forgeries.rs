//! What a forger may try with a statement, a signature, a list or the moment: none is accepted, and each refusal says why.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use mcp_approve::signing::signers::Signers;
use mcp_approve::signing::sshsig::{Presence, PublicKey};
use mcp_approve::signing::statement::{CardTerms, Challenge, Evidence, Refused, Said, SignedWord, Signer, Statement};
use mcp_approve::signing::verdict::{Attested, Expected, SignedVerdict, Spent};
use mcp_approve::wire::digest::Digest;

use super::bed::{Key, Making, NOW, armored, card, said, statement};

/// One attempt: honest, but for what a row changes.
struct Attempt {
    keys: Keys,
    /// What is signed, with which key, and how.
    statement: Statement,
    with: &'static str,
    making: Making,
    /// What is done to the texts after signing.
    edit_text: fn(String) -> String,
    edit_blob: fn(Vec<u8>) -> Vec<u8>,
    edit_armor: fn(String) -> String,
    /// What the wrapper has.
    card: CardTerms,
    said: Said,
    now: i64,
    earlier: Vec<Signer>,
    spent: Spent,
    /// The lists, `MARA`, `TOUCH` and the others for their keys.
    allowed: &'static str,
    revoked: &'static str,
}

struct Keys(Vec<(&'static str, Key)>);

impl Keys {
    fn new() -> Self {
        let keys = [
            ("MARA", "ssh-ed25519", 1),
            ("TOUCH", "sk-ssh-ed25519@openssh.com", 2),
            ("TOM", "ssh-ed25519", 3),
            ("STRANGER", "ssh-ed25519", 4),
            ("POINT", "ecdsa-sha2-nistp256", 5),
            ("TAP", "sk-ecdsa-sha2-nistp256@openssh.com", 6),
            // The seed of MARA and TOUCH, as a key of the other type.
            ("MARASK", "sk-ssh-ed25519@openssh.com", 1),
            ("TOUCHSOFT", "ssh-ed25519", 2),
        ];
        Self(keys.map(|(name, kind, seed)| (name, Key::new(kind, seed))).into())
    }

    fn get(&self, name: &str) -> &Key {
        &self.0.iter().find(|(known, _)| *known == name).unwrap().1
    }

    fn fill(&self, list: &str) -> String {
        let word = |word: &str| self.0.iter().find(|(name, _)| *name == word).map(|(_, key)| key.line());
        let line =
            |line: &str| line.split(' ').map(|part| word(part).unwrap_or(part.into())).collect::<Vec<_>>().join(" ");
        list.lines().map(line).collect::<Vec<_>>().join("\n")
    }
}

const ALLOWED: &str =
    "mara@example.com MARA\nmara@example.com TOUCH\ntom@example.com TOM\nmara@example.com POINT\nmara@example.com TAP";

impl Attempt {
    fn new() -> Self {
        Self {
            keys: Keys::new(),
            statement: statement(),
            with: "MARA",
            making: Making::default(),
            edit_text: |text| text,
            edit_blob: |blob| blob,
            edit_armor: |armor| armor,
            card: card(),
            said: said(),
            now: NOW,
            earlier: Vec::new(),
            spent: Spent::default(),
            allowed: ALLOWED,
            revoked: "",
        }
    }

    fn signers(&self) -> Signers {
        Signers::read(&self.keys.fill(self.allowed), &self.keys.fill(self.revoked), &TimeZone::UTC).unwrap()
    }

    fn evidence(&self) -> Evidence {
        let text = self.statement.to_json();
        let blob = self.keys.get(self.with).sign(text.as_bytes(), &self.making);
        Evidence { statement: (self.edit_text)(text), signature: (self.edit_armor)(armored(&(self.edit_blob)(blob))) }
    }

    fn outcome(&mut self) -> Result<SignedVerdict, Refused> {
        let attested = Attested::check(self.evidence(), &self.signers())?;
        let expected = Expected { card: &self.card, said: &self.said, earlier: &self.earlier, now: self.now };
        SignedVerdict::accept(attested, expected, &mut self.spent)
    }

    fn signer(&self, principal: &str, key: &str) -> Signer {
        let key = PublicKey::of_blob(&self.keys.get(key).blob()).unwrap();
        Signer { principal: principal.into(), key, presence: Presence::NotStated }
    }
}

type Row = (&'static str, fn(&mut Attempt), &'static str);

const SIGNERS: &[Row] = &[
    ("a key that is not in the list", |a| a.with = "STRANGER", "is not in the list"),
    ("the key of another signer", |a| a.with = "TOM", "is not one of mara@example.com"),
    ("an empty list", |a| a.allowed = "", "is not in the list"),
    ("a revoked key", |a| a.revoked = "MARA", "was revoked"),
    (
        "a revoked key that is in the list twice",
        |a| {
            (a.allowed, a.revoked) = ("mara@example.com MARA\n* MARA", "TOM\nMARA again");
        },
        "was revoked",
    ),
    (
        "a key that is valid only later",
        |a| a.allowed = "mara@example.com valid-after=\"20261127100001Z\" MARA",
        "valid only later",
    ),
    (
        "a key that is no longer valid",
        |a| a.allowed = "mara@example.com valid-before=\"20261127095959Z\" MARA",
        "no longer valid",
    ),
    (
        "a key that is no longer valid, the statement dated back",
        |a| {
            a.allowed = "mara@example.com valid-before=\"20261127Z\" MARA";
            (a.statement.time, a.statement.not_after) = (NOW - 11 * 3_600_000, NOW + 60_000);
        },
        "more than ten minutes",
    ),
    (
        "a key for other purposes",
        |a| a.allowed = "mara@example.com namespaces=\"git,file\" MARA",
        "does not allow this namespace",
    ),
    ("a key that is negated for this signer", |a| a.allowed = "*@example.com,!mara@* MARA", "is not one of mara"),
    (
        "a key of an authority for certificates",
        |a| a.allowed = "mara@example.com cert-authority MARA",
        "is not in the list",
    ),
    (
        "another name than the list's",
        |a| a.statement.signer = "root@example.com".into(),
        "is not one of root@example.com",
    ),
    ("no name", |a| a.statement.signer = String::new(), "is not one of "),
    ("a pattern for a name", |a| a.statement.signer = "*@example.com".into(), "is not one of *@example.com"),
];

const SIGNATURES: &[Row] = &[
    ("the namespace of git", |a| a.making.namespace = "git", "another purpose"),
    ("the namespace of file", |a| a.making.namespace = "file", "another purpose"),
    ("no namespace", |a| a.making.namespace = "", "another purpose"),
    ("our namespace, and more", |a| a.making.namespace = "verdict@mcp-approve.example", "another purpose"),
    ("another magic", |a| a.making.magic = b"SSHSIH", "does not begin with SSHSIG"),
    ("version 0", |a| a.making.version = 0, "has version 0"),
    ("version 2", |a| a.making.version = 2, "has version 2"),
    ("a reserved field", |a| a.making.reserved = b"x", "reserved field"),
    ("SHA-1", |a| a.making.hash = "sha1", "neither sha256 nor sha512"),
    ("no hash", |a| a.making.hash = "", "neither sha256 nor sha512"),
    (
        "another hash named after signing",
        |a| {
            a.edit_blob = |blob| replaced(&blob, b"sha512", b"sha256");
        },
        "does not match",
    ),
    (
        "another namespace named after signing",
        |a| {
            a.making.namespace = "verdict@mcp-approvf";
            a.edit_blob = |blob| replaced(&blob, b"mcp-approvf", b"mcp-approve");
        },
        "does not match",
    ),
    ("bytes after the signature", |a| a.making.after = b"x", "bytes follow"),
    ("bytes after its last field", |a| a.making.within = b"x", "bytes follow"),
    ("flags of a touch after a software key's signature", |a| a.making.within = &[1, 0, 0, 0, 7], "bytes follow"),
    ("cut by a byte", |a| a.edit_blob = |blob| blob[..blob.len() - 1].to_vec(), "ends too early"),
    ("cut to half", |a| a.edit_blob = |blob| blob[..blob.len() / 2].to_vec(), "ends too early"),
    ("no bytes", |a| a.edit_blob = |_| Vec::new(), "does not begin with SSHSIG"),
    ("no text", |a| a.edit_armor = |_| String::new(), "does not lie between"),
    ("no armor", |a| a.edit_armor = |armor| armor.lines().nth(1).unwrap().into(), "does not lie between"),
    ("text before the armor", |a| a.edit_armor = |armor| format!("x\n{armor}"), "does not lie between"),
    ("text after the armor", |a| a.edit_armor = |armor| format!("{armor}x"), "does not lie between"),
    ("two signatures", |a| a.edit_armor = |armor| format!("{armor}{armor}"), "Base64"),
    ("a very long one", |a| a.edit_armor = |armor| armor + &"\n".repeat(9_000), "longer than"),
    (
        "the signer's key named, another key's signature",
        |a| {
            a.with = "STRANGER";
            a.making.key = Some(a.keys.get("MARA").blob());
        },
        "does not match",
    ),
    (
        "a key in an authenticator named, a software key's signature",
        |a| {
            a.with = "TOUCHSOFT";
            a.making.key = Some(a.keys.get("TOUCH").blob());
        },
        "the signature is of type ssh-ed25519, the key of type sk-ssh-ed25519@openssh.com",
    ),
    (
        "the same with the type of the authenticator's",
        |a| {
            a.with = "TOUCHSOFT";
            a.making.key = Some(a.keys.get("TOUCH").blob());
            a.making.kind = Some("sk-ssh-ed25519@openssh.com");
            a.making.within = &[1, 0, 0, 0, 7];
        },
        "does not match",
    ),
    (
        "a software key named, an authenticator's signature",
        |a| {
            a.with = "MARASK";
            a.making.key = Some(a.keys.get("MARA").blob());
            a.making.kind = Some("ssh-ed25519");
        },
        "bytes follow",
    ),
    (
        "an ECDSA key named, an Ed25519 signature",
        |a| {
            a.making.key = Some(a.keys.get("POINT").blob());
        },
        "the signature is of type ssh-ed25519, the key of type ecdsa-sha2-nistp256",
    ),
    (
        "the same with the type of the ECDSA key",
        |a| {
            a.making.key = Some(a.keys.get("POINT").blob());
            a.making.kind = Some("ecdsa-sha2-nistp256");
        },
        "ends too early",
    ),
    (
        "a key with a byte more",
        |a| {
            a.making.key = Some([a.keys.get("MARA").blob(), vec![0]].concat());
        },
        "bytes follow",
    ),
    (
        "ECDSA numbers that are zero",
        |a| {
            a.with = "POINT";
            a.edit_blob = |blob| with_signature(&blob, &[0; 4], &[0; 4]);
        },
        "not a well-formed",
    ),
    (
        "ECDSA numbers that are negative",
        |a| {
            a.with = "POINT";
            a.edit_blob = |blob| with_signature(&blob, &[0, 0, 0, 1, 0xff], &[0, 0, 0, 1, 0xff]);
        },
        "not a well-formed",
    ),
    (
        "ECDSA numbers that are one",
        |a| {
            a.with = "POINT";
            a.edit_blob = |blob| with_signature(&blob, &[0, 0, 0, 1, 1], &[0, 0, 0, 1, 1]);
        },
        "does not match",
    ),
    ("an authenticator without a touch", |a| (a.with, a.making.flags) = ("TOUCH", 0), "without a touch"),
    ("an ECDSA authenticator without a touch", |a| (a.with, a.making.flags) = ("TAP", 0), "without a touch"),
    ("a PIN, but no touch", |a| (a.with, a.making.flags) = ("TOUCH", 4), "without a touch"),
    (
        "a touch claimed after signing",
        |a| {
            (a.with, a.making.flags) = ("TOUCH", 0);
            a.edit_blob = |mut blob| {
                let at = blob.len() - 5;
                blob[at] = 1;
                blob
            };
        },
        "does not match",
    ),
    (
        "another counter after signing",
        |a| {
            a.with = "TOUCH";
            a.edit_blob = |mut blob| {
                *blob.last_mut().unwrap() += 1;
                blob
            };
        },
        "does not match",
    ),
];

const STATEMENTS: &[Row] = &[
    (
        "a reason added after signing",
        |a| {
            a.edit_text = |text| text.replace("\"verdict\"", "\"reason\":\"ok\",\"verdict\"");
        },
        "does not match",
    ),
    (
        "deny turned into approve after signing",
        |a| {
            a.statement.said.verdict = SignedWord::Deny;
            a.edit_text = |text| text.replace("\"deny\"", "\"approve\"");
        },
        "does not match",
    ),
    ("a space after signing", |a| a.edit_text = |text| text.replacen(':', ": ", 1), "does not match"),
    ("no statement", |a| a.edit_text = |_| String::new(), "does not match"),
    ("a signed deny sent as an approval", |a| a.statement.said.verdict = SignedWord::Deny, "approve or deny differs"),
    (
        "a grant sent beside it",
        |a| (a.said.grants, a.said.until) = (Some("all".into()), Some(NOW)),
        "what it grants differs",
    ),
    (
        "a wider grant than was signed",
        |a| {
            (a.statement.said.grants, a.statement.said.until) = (Some("under ~/a".into()), Some(NOW));
            (a.said.grants, a.said.until) = (Some("under ~".into()), Some(NOW));
        },
        "what it grants differs",
    ),
    (
        "a longer grant than was signed",
        |a| {
            (a.statement.said.grants, a.statement.said.until) = (Some("under ~/a".into()), Some(NOW));
            (a.said.grants, a.said.until) = (Some("under ~/a".into()), Some(NOW + 1));
        },
        "until when it is granted differs",
    ),
    (
        "an end without a grant",
        |a| {
            a.statement.said.until = Some(NOW);
            a.said.until = Some(NOW);
        },
        "and no grant",
    ),
    (
        "a grant for several cards",
        |a| {
            (a.statement.said.grants, a.said.grants) = (Some("all".into()), Some("all".into()));
            a.statement.also = vec![CardTerms { challenge: Challenge::of([7; 32]), ..card() }];
        },
        "several cards",
    ),
    (
        "a card that was not among those that were signed",
        |a| {
            a.statement.also = vec![CardTerms { challenge: Challenge::of([7; 32]), ..card() }];
            a.card.challenge = Challenge::of([6; 32]);
        },
        "another card",
    ),
    (
        "the bytes of another card of the same signature",
        |a| {
            a.statement.also =
                vec![CardTerms { challenge: Challenge::of([7; 32]), call: Digest::of(b"second"), ..card() }];
            a.card.challenge = Challenge::of([7; 32]);
        },
        "the digest of its bytes",
    ),
    (
        "a card added after signing",
        |a| {
            a.edit_text = |text| {
                let second = CardTerms { challenge: Challenge::of([7; 32]), ..card() };
                let mut with = Statement::read(&text).unwrap();
                with.also.push(second);
                with.to_json()
            };
        },
        "does not match",
    ),
    (
        "the same person by a name in another case",
        |a| a.earlier = vec![a.signer("MARA@Example.com", "TOUCH")],
        "has approved this call already",
    ),
    (
        "a grant without its end",
        |a| {
            (a.statement.said.grants, a.said.grants) = (Some("5 min".into()), Some("5 min".into()));
            a.said.until = Some(NOW + 300_000);
        },
        "until when it is granted differs",
    ),
    ("the namespace of accepted policies", |a| a.making.namespace = "change@mcp-approve", "another purpose"),
    ("another card's challenge", |a| a.statement.card.challenge = Challenge::of([8; 32]), "another card"),
    (
        "a restarted wrapper, which draws another challenge",
        |a| a.card.challenge = Challenge::of([8; 32]),
        "another card",
    ),
    ("another ticket", |a| a.statement.card.ticket = "filesystem-13".into(), "the ticket"),
    ("the digest of other bytes", |a| a.statement.card.call = Digest::of(b"other"), "the digest of its bytes"),
    ("a card that showed something else", |a| a.statement.card.card = Digest::of(b"other"), "the digest of its card"),
    ("another definition of the tool", |a| a.statement.card.definition = None, "the tool's definition"),
    ("another policy", |a| a.statement.card.policy = Digest::of(b"other"), "the policy"),
    ("another role", |a| a.statement.card.role = Some("admin".into()), "the role"),
    ("another server", |a| a.statement.card.server = "beef".into(), "the server"),
    ("another session", |a| a.statement.card.session = "s-2".into(), "the session"),
    ("another user", |a| a.statement.card.user = "tom".into(), "the user"),
    ("another machine", |a| a.statement.card.machine = "build-8".into(), "the machine"),
    (
        "the first approval, for the second",
        |a| (a.card.approval, a.card.approvals, a.statement.card.approvals) = (2, 2, 2),
        "the number of the approval",
    ),
    ("one approval, where two are needed", |a| a.card.approvals = 2, "the number of approvals needed"),
    ("expired by a millisecond", |a| a.now = NOW + 60_001, "has expired"),
    ("an end before its beginning", |a| a.statement.not_after = NOW - 1, "has expired"),
    (
        "dated in the future",
        |a| {
            (a.statement.time, a.statement.not_after) = (NOW + 120_001, NOW + 130_000);
        },
        "dated in the future",
    ),
    ("an end far away", |a| a.statement.not_after = NOW + 600_001, "more than ten minutes"),
    (
        "times at the ends of the numbers",
        |a| (a.statement.time, a.statement.not_after) = (i64::MIN, i64::MAX),
        "more than ten minutes",
    ),
    (
        "the same person twice",
        |a| a.earlier = vec![a.signer("mara@example.com", "TOUCH")],
        "has approved this call already",
    ),
    (
        "the same key under two names",
        |a| a.earlier = vec![a.signer("tom@example.com", "MARA")],
        "has approved this call already",
    ),
    ("the same once more", |a| a.spent = a.spent_once(), "was used before"),
    (
        "the same card and approval, signed again a moment later",
        |a| {
            a.spent = a.spent_once();
            a.statement.time += 1;
        },
        "was used before",
    ),
];

impl Attempt {
    /// What is spent after the honest verdict.
    fn spent_once(&self) -> Spent {
        let mut honest = Self::new();
        drop(honest.outcome().unwrap());
        honest.spent
    }
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|window| window == from).unwrap();
    [&bytes[..at], to, &bytes[at + from.len()..]].concat()
}

/// The blob with these numbers for its ECDSA signature.
fn with_signature(blob: &[u8], r: &[u8], s: &[u8]) -> Vec<u8> {
    let hash = blob.windows(6).position(|window| window == b"sha512").unwrap() + 6;
    let kind = b"\0\0\0\x13ecdsa-sha2-nistp256";
    let raw = [r, s].concat();
    let length = |bytes: usize| u32::try_from(bytes).unwrap().to_be_bytes();
    [&blob[..hash], &length(kind.len() + 4 + raw.len())[..], kind, &length(raw.len()), &raw].concat()
}

#[test]
fn what_is_honest_is_accepted() {
    for (with, touched) in [("MARA", false), ("TOUCH", true), ("POINT", false), ("TAP", true)] {
        let mut attempt = Attempt::new();
        attempt.with = with;
        let evidence = attempt.evidence();
        let accepted = attempt.outcome().unwrap();
        let signer = accepted.attested().signer();
        assert_eq!(signer.principal, "mara@example.com");
        assert_eq!(matches!(signer.presence, Presence::Touched { counter: 7, verified: false }), touched, "{with}");
        assert_eq!(accepted.attested().evidence().statement, evidence.statement);
    }
    let mut second = Attempt::new();
    second.spent = second.spent_once();
    (second.card.approval, second.card.approvals) = (2, 2);
    second.statement.card = second.card.clone();
    (second.with, second.statement.signer) = ("TOM", "tom@example.com".into());
    second.earlier = vec![second.signer("mara@example.com", "MARA")];
    assert!(second.outcome().is_ok(), "a second person, for the second approval of the same card");
    let mut granting = Attempt::new();
    granting.said = Said { grants: Some("under ~/a".into()), until: Some(NOW), ..said() };
    granting.statement.said = granting.said.clone();
    assert!(granting.outcome().is_ok());
}

#[test]
fn no_forgery_is_accepted() {
    let rows: Vec<&Row> = SIGNERS.iter().chain(SIGNATURES).chain(STATEMENTS).collect();
    let names: BTreeSet<&str> = rows.iter().map(|(name, ..)| *name).collect();
    assert!(names.len() == rows.len() && rows.len() >= 80, "{} rows", rows.len());
    for (name, change, why) in rows {
        let mut attempt = Attempt::new();
        change(&mut attempt);
        let refused = attempt.outcome().expect_err(name).to_string();
        assert!(refused.contains(why), "{name}: {refused}");
    }
}

#[test]
fn a_refused_verdict_spends_nothing() {
    let mut attempt = Attempt::new();
    attempt.said.verdict = SignedWord::Deny;
    attempt.outcome().unwrap_err();
    attempt.said = said();
    assert!(attempt.outcome().is_ok());
}
