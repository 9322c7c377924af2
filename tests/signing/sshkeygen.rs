//! The real ssh-keygen and ours agree: on what it signs, and on what we sign. Skipped, with a word, where it is missing.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use jiff::tz::TimeZone;
use mcp_approve::signing::signers::Signers;
use mcp_approve::signing::statement::{Evidence, NAMESPACE, Refused, Statement};
use mcp_approve::signing::verdict::Attested;

use super::bed::{KINDS, Key, Making, armored, statement};

/// Whether it is there.
fn is_here() -> bool {
    let found = Command::new("ssh-keygen").arg("-?").output().is_ok();
    if !found {
        println!("skipped: there is no ssh-keygen here (openssh-client)");
    }
    found
}

/// Runs it with a text on stdin: its success and its stdout.
fn keygen(folder: &Path, args: &[&str], stdin: &str) -> (bool, String) {
    let mut command = Command::new("ssh-keygen");
    command.current_dir(folder).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may end without reading all of it.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn ours(list: &str, revoked: &str, evidence: &Evidence) -> Result<(), Refused> {
    let signers = Signers::read(list, revoked, &TimeZone::UTC).unwrap();
    Attested::check(evidence.clone(), &signers).map(|_| ())
}

#[test]
fn what_ssh_keygen_signs_is_verified_by_ours() {
    if !is_here() {
        return;
    }
    for kind in [&["ed25519"][..], &["ecdsa", "-b", "256"], &["ecdsa", "-b", "384"]] {
        let folder = tempfile::tempdir().unwrap();
        let mut args = vec!["-q", "-N", "", "-f", "key", "-C", "mara's key", "-t"];
        args.extend(kind);
        assert!(keygen(folder.path(), &args, "").0, "{kind:?}");
        let public = fs::read_to_string(folder.path().join("key.pub")).unwrap();
        let list = format!("mara@example.com namespaces=\"{NAMESPACE}\" {public}");
        let text = statement().to_json();
        for hash in ["sha256", "sha512"] {
            let option = format!("hashalg={hash}");
            let args = ["-Y", "sign", "-n", NAMESPACE, "-f", "key.pub", "-O", &option];
            let (signed, signature) = keygen(folder.path(), &args, &text);
            assert!(signed, "{kind:?}");
            let evidence = Evidence { statement: text.clone(), signature };
            assert_eq!(ours(&list, "", &evidence), Ok(()), "{kind:?} {hash}");
            let edited = Evidence { statement: text.replace("mara", "tara"), ..evidence };
            assert_eq!(ours(&list, "", &edited), Err(Refused::Forged), "{kind:?} {hash}");
        }
        let (_, for_git) = keygen(folder.path(), &["-Y", "sign", "-n", "git", "-f", "key"], &text);
        let evidence = Evidence { statement: text, signature: for_git };
        assert_eq!(ours(&list, "", &evidence), Err(Refused::Namespace("verdict@mcp-approve")), "{kind:?}");
    }
}

/// Lists, moments and touches on which both must agree. A touch is ours alone to check: ssh-keygen accepts its absence.
#[test]
fn ssh_keygen_and_ours_accept_the_same() {
    if !is_here() {
        return;
    }
    let mut accepted = 0;
    for kind in KINDS {
        let (key, other) = (Key::new(kind, 1), Key::new("ssh-ed25519", 2));
        for (list, revoked) in [
            ("mara@example.com KEY", ""),
            ("*@example.com KEY", ""),
            ("*,!mara@* KEY", ""),
            ("tom,mara@example.com KEY", ""),
            ("tom KEY", ""),
            ("\"mara@example.com\" KEY some comment", ""),
            ("mara@example.com OTHER\n\n# x\nmara@example.com KEY", ""),
            ("mara@example.com namespaces=\"verdict@mcp-approve\" KEY", ""),
            ("mara@example.com NAMESPACES=\"git,verdict@*\" KEY", ""),
            ("mara@example.com namespaces=\"git\" KEY", ""),
            ("mara@example.com namespaces=\"*,!verdict@*\" KEY", ""),
            ("mara@example.com cert-authority KEY", ""),
            ("mara@example.com valid-after=\"20261127Z\" KEY", ""),
            ("mara@example.com valid-after=\"20261128Z\" KEY", ""),
            ("mara@example.com valid-after=\"202611271000Z\" KEY", ""),
            ("mara@example.com valid-before=\"20261127095959Z\" KEY", ""),
            ("mara@example.com valid-after=\"20261101Z\",valid-before=\"20261201Z\" KEY", ""),
            ("mara@example.com KEY", "KEY"),
            ("mara@example.com KEY", "OTHER"),
            ("mara@example.com KEY", "# KEY\nOTHER\nKEY lost"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let fill = |text: &str| format!("{}\n", text.replace("KEY", &key.line()).replace("OTHER", &other.line()));
            let (list, revoked) = (fill(list), fill(revoked));
            fs::write(folder.path().join("list"), &list).unwrap();
            fs::write(folder.path().join("revoked"), &revoked).unwrap();
            let second = if kind.starts_with("sk-") { (0, statement()) } else { (1, at(1_700_000_000_000)) };
            for (flags, statement) in [(1, statement()), second] {
                let text = statement.to_json();
                let signature = armored(&key.sign(text.as_bytes(), &Making { flags, ..Making::default() }));
                fs::write(folder.path().join("signature"), &signature).unwrap();
                let moment = jiff::Timestamp::from_millisecond(statement.time)
                    .unwrap()
                    .strftime("verify-time=%Y%m%d%H%M%SZ")
                    .to_string();
                let args = [
                    "-Y", "verify", "-n", NAMESPACE, "-I", "mara@example.com", "-f", "list", "-r", "revoked", "-s",
                    "signature", "-O", &moment,
                ];
                let theirs = keygen(folder.path(), &args, &text).0;
                let ours = ours(&list, &revoked, &Evidence { statement: text.clone(), signature });
                let without_touch = ours == Err(Refused::NotTouched);
                assert_eq!(
                    ours.is_ok() || without_touch,
                    theirs,
                    "{kind} flags {flags} at {moment}\n{list}{revoked}{ours:?}"
                );
                assert_eq!(without_touch, theirs && flags == 0 && kind.starts_with("sk-"), "{kind} {flags}");
                accepted += usize::from(theirs);
            }
        }
    }
    assert!(accepted > 100, "{accepted}");
}

fn at(time: i64) -> Statement {
    Statement { time, not_after: time + 60_000, ..statement() }
}
