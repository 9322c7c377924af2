//! What a forger may try with the acceptance of a policy: none is accepted, and each refusal says why.

use jiff::tz::TimeZone;
use mcp_approve::signing::change::{Change, ChangeTerms, NAMESPACE, check};
use mcp_approve::signing::signers::Signers;
use mcp_approve::signing::verdict::Evidence;
use mcp_approve::wire::digest::Digest;

use super::bed::{Key, Making, NOW, armored, statement};

fn terms() -> ChangeTerms {
    ChangeTerms {
        file: "/home/mara/.config/mcp-approve/policy.toml".into(),
        machine: "build-7".into(),
        text: Digest::of(b"policy"),
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
    ("another text", |a| a.change.text = Digest::of(b"other"), "the text"),
    ("another file", |a| a.change.file = "/etc/mcp-approve/policy.toml".into(), "the file"),
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
    ("no text", |a| a.edit = |_| String::new(), "does not match"),
];

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
    check(&evidence, &signers, &terms()).map(drop).map_err(|why| why.to_string())
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
    assert!(check(&evidence, &signers, &terms()).unwrap_err().to_string().contains("cannot be read"));
    for text in ["{}".to_owned(), Change::new(terms(), "mara@example.com".into(), NOW).to_json().replace(":1}", ":2}")]
    {
        let evidence = Evidence { signature: armored(&key.sign(text.as_bytes(), &making)), statement: text };
        assert!(check(&evidence, &signers, &terms()).is_err(), "{evidence:?}");
    }
}
