//! What a forger may try with the acceptance of a policy: none is accepted, and each refusal says why.

use jiff::tz::TimeZone;
use mcp_approve::signing::change::{Change, ChangeKind, ChangeTerms, NAMESPACE, SignedChange, review};
use mcp_approve::signing::signers::Signers;
use mcp_approve::signing::statement::Evidence;
use mcp_approve::wire::digest::Digest;

use super::bed::{Key, Making, NOW, armored, statement};

fn terms() -> ChangeTerms {
    ChangeTerms {
        changes: vec![Digest::of(b"policy")],
        kind: ChangeKind::Policy,
        machine: "build-7".into(),
        of: "/home/mara/.config/mcp-approve/policy.toml".into(),
        user: "mara".into(),
    }
}

struct Attempt {
    change: ChangeTerms,
    signer: &'static str,
    time: i64,
    kind: &'static str,
    making: Making,
    edit: fn(String) -> String,
    /// `KEY` for the key.
    allowed: &'static str,
    revoked: &'static str,
}

type Row = (&'static str, fn(&mut Attempt), &'static str);

const ROWS: &[Row] = &[
    ("another text", |a| a.change.changes = vec![Digest::of(b"other")], "what is changed"),
    ("no text", |a| a.change.changes.clear(), "what is changed"),
    ("more than one signature covers", |a| a.change.changes.extend([Digest::of(b""); 256]), "what is changed"),
    ("the same of another kind", |a| a.change.kind = ChangeKind::Tools, "its kind"),
    ("another file", |a| a.change.of = "/etc/mcp-approve/policy.toml".into(), "the file"),
    ("another machine", |a| a.change.machine = "build-8".into(), "the machine"),
    ("another user", |a| a.change.user = "tom".into(), "the user"),
    ("the namespace of verdicts", |a| a.making.namespace = "verdict@mcp-approve", "another purpose"),
    ("the namespace of git", |a| a.making.namespace = "git", "another purpose"),
    ("a key that is not in the list", |a| a.allowed = "", "is not in the list"),
    ("a revoked key", |a| a.revoked = "KEY", "was revoked"),
    ("a key of another signer", |a| a.allowed = "tom@example.com KEY", "is not one of mara@example.com"),
    ("another signer's name", |a| a.signer = "tom@example.com", "is not one of tom@example.com"),
    (
        "a key for verdicts alone",
        |a| a.allowed = "mara@example.com namespaces=\"verdict@mcp-approve\" KEY",
        "does not allow this namespace",
    ),
    (
        "a key that is no longer valid",
        |a| a.allowed = "mara@example.com valid-before=\"20261127095959Z\" KEY",
        "no longer valid",
    ),
    (
        "an authenticator without a touch",
        |a| (a.kind, a.making.flags) = ("sk-ssh-ed25519@openssh.com", 0),
        "without a touch",
    ),
    ("a text edited after signing", |a| a.edit = |text| text.replace("build-7", "build-8"), "does not match"),
    ("a later time, edited after signing", |a| a.edit = |text| text.replace("1795", "1895"), "does not match"),
    ("no statement", |a| a.edit = |_| String::new(), "does not match"),
];

fn check(evidence: Evidence, signers: &Signers) -> Result<(), String> {
    SignedChange::check(evidence, signers).and_then(|signed| signed.covers(&terms())).map_err(|why| why.to_string())
}

fn attempt(change: impl FnOnce(&mut Attempt)) -> Result<(), String> {
    let mut attempt = Attempt {
        change: terms(),
        signer: "mara@example.com",
        time: NOW,
        kind: "ssh-ed25519",
        making: Making { namespace: NAMESPACE, ..Making::default() },
        edit: |text| text,
        allowed: "mara@example.com KEY",
        revoked: "",
    };
    change(&mut attempt);
    let key = Key::new(attempt.kind, 1);
    let statement = Change::new(attempt.change.clone(), attempt.signer.into(), attempt.time).to_json();
    let signature = armored(&key.sign(statement.as_bytes(), &attempt.making));
    let list = |text: &str| text.replace("KEY", &key.line());
    let signers = Signers::read(&list(attempt.allowed), &list(attempt.revoked), &TimeZone::UTC).unwrap();
    let evidence = Evidence { statement: (attempt.edit)(statement), signature };
    check(evidence, &signers)
}

#[test]
fn no_forged_acceptance_counts() {
    assert_eq!(attempt(|_| {}), Ok(()));
    assert_eq!(attempt(|a| a.kind = "sk-ssh-ed25519@openssh.com"), Ok(()));
    for (name, change, why) in ROWS {
        let refused = attempt(change).expect_err(name);
        assert!(refused.contains(why), "{name}: {refused}");
    }
}

#[test]
fn a_signed_verdict_is_no_acceptance_and_an_acceptance_no_verdict() {
    let key = Key::new("ssh-ed25519", 1);
    let signers = Signers::read(&format!("mara@example.com {}", key.line()), "", &TimeZone::UTC).unwrap();
    let making = Making { namespace: NAMESPACE, ..Making::default() };
    // Even a statement of a verdict that was signed for this purpose.
    let verdict = statement().to_json();
    let evidence = Evidence { signature: armored(&key.sign(verdict.as_bytes(), &making)), statement: verdict };
    assert!(check(evidence, &signers).unwrap_err().contains("cannot be read"));
    for text in ["{}".to_owned(), Change::new(terms(), "mara@example.com".into(), NOW).to_json().replace(":2}", ":1}")]
    {
        let evidence = Evidence { signature: armored(&key.sign(text.as_bytes(), &making)), statement: text };
        assert!(check(evidence.clone(), &signers).is_err(), "{evidence:?}");
    }
}

#[test]
fn one_signature_covers_what_it_lists_and_no_word_on_another_definition() {
    let of = |tool: &str, definition: &[u8], says: &str| review("print", tool, &Digest::of(definition), says);
    let signed = of("read", b"1", "accepted the definition");
    for other in [
        of("reads", b"1", "accepted the definition"),
        of("read", b"2", "accepted the definition"),
        of("read", b"1", ""),
    ] {
        assert_ne!(signed, other);
    }
    let several = ChangeTerms { changes: vec![signed, Digest::of(b"policy")], ..terms() };
    assert_eq!(attempt(|a| a.change = several), Ok(()), "the one that is asked for is among them");
}
