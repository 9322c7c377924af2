//! Lists of allowed signers and of revoked keys: what each line lets a key do, and what is wrong with one.

use jiff::tz::TimeZone;
use mcp_approve::signing::signers::{EntryKey, Signers};
use mcp_approve::signing::sshsig::PublicKey;
use mcp_approve::signing::statement::NAMESPACE;

use super::bed::{Key, NOW};

fn key(seed: u8) -> (Key, PublicKey) {
    let key = Key::new("ssh-ed25519", seed);
    let public = PublicKey::of_blob(&key.blob()).unwrap();
    (key, public)
}

/// What `mara@example.com` may do with the key that stands in the list as `KEY`, at the tests' moment in New York.
fn outcome(list: &str, revoked: &str) -> String {
    let (key, public) = key(1);
    let zone = TimeZone::get("America/New_York").unwrap();
    let fill = |text: &str| text.replace("KEY", &key.line()).replace("OTHER", &Key::new("ssh-ed25519", 2).line());
    match Signers::read(&fill(list), &fill(revoked), &zone) {
        Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        Ok(signers) => match signers.may_sign("mara@example.com", &public, NAMESPACE, NOW) {
            Ok(entry) => format!("line {}", entry.line),
            Err(why) => why.to_string().replace(&public.fingerprint(), "KEY"),
        },
    }
}

#[test]
fn each_line_says_who_may_sign() {
    const NONE: &str = "the key KEY is not in the list of allowed signers";
    const OTHER: &str = "the key is not one of mara@example.com (line 1 of the list of allowed signers)";
    const LATER: &str = "line 1 of the list of allowed signers makes the key valid only later";
    const OVER: &str = "the key is no longer valid, by line 1 of the list of allowed signers";
    const PURPOSE: &str = "line 1 of the list of allowed signers does not allow this namespace";
    for (list, says) in [
        ("", NONE),
        ("# mara@example.com KEY", NONE),
        ("mara@example.com OTHER", NONE),
        ("mara@example.com KEY", "line 1"),
        ("mara@example.com KEY a comment of words", "line 1"),
        ("\t mara@example.com \t KEY  ", "line 1"),
        ("\n# one\n\n  mara@example.com KEY\r\n", "line 4"),
        ("mara@example.com OTHER\nmara@example.com KEY", "line 2"),
        // Patterns and negation.
        ("*@example.com KEY", "line 1"),
        ("mara@* KEY", "line 1"),
        ("m?ra@example.com KEY", "line 1"),
        ("m?@example.com KEY", OTHER),
        ("tom@example.com,mara@example.com KEY", "line 1"),
        ("*,!mara@* KEY", OTHER),
        ("!mara@*,* KEY", OTHER),
        ("!tom@example.com KEY", OTHER),
        ("MARA@example.com KEY", OTHER),
        ("\"mara@example.com\" KEY", "line 1"),
        ("\"tom@example.com,mara@example.com\" KEY", "line 1"),
        ("tom@example.com KEY\nmara@example.com KEY", "line 2"),
        ("mara@example.com KEY\n!mara@* KEY", "line 1"),
        // Options.
        ("mara@example.com namespaces=\"verdict@mcp-approve\" KEY", "line 1"),
        ("mara@example.com NameSpaces=\"git,verdict@*\" KEY", "line 1"),
        ("mara@example.com namespaces=\"git,file\" KEY", PURPOSE),
        ("mara@example.com namespaces=\"*,!verdict@*\" KEY", PURPOSE),
        ("mara@example.com namespaces=\"a\\\"b\" KEY", PURPOSE),
        ("mara@example.com cert-authority KEY", NONE),
        ("mara@example.com Cert-Authority,namespaces=\"*\" KEY", NONE),
        ("mara@example.com valid-after=\"20261127Z\" KEY", "line 1"),
        ("mara@example.com valid-after=\"20261128Z\" KEY", LATER),
        ("mara@example.com valid-after=\"202611271000Z\" KEY", "line 1"),
        ("mara@example.com valid-after=\"20261127100001Z\" KEY", LATER),
        ("mara@example.com valid-after=\"20261127100001UTC\" KEY", LATER),
        ("mara@example.com valid-before=\"20261127100000Z\" KEY", "line 1"),
        ("mara@example.com valid-before=\"20261127095959Z\" KEY", OVER),
        ("mara@example.com valid-before=\"20261127Z\" KEY", OVER),
        // Local: New York is five hours behind.
        ("mara@example.com valid-after=\"202611270500\" KEY", "line 1"),
        ("mara@example.com valid-after=\"202611270501\" KEY", LATER),
        ("mara@example.com valid-before=\"20261127\" KEY", OVER),
        ("mara@example.com valid-before=\"0x6a096560\" KEY", OVER),
        ("mara@example.com valid-after=\"0x6a096560\" KEY", "line 1"),
        ("mara@example.com valid-after=\"20260101\",valid-before=\"20270101Z\" KEY c", "line 1"),
    ] {
        assert_eq!(outcome(list, ""), says, "{list}");
    }
}

#[test]
fn a_line_that_is_wrong_is_named_and_no_key_may_sign() {
    const TIME: &str = "is not a time: write YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS, and Z after it for UTC";
    let sound = "mara@example.com KEY\n";
    for (line, why) in [
        ("mara@example.com", "there is no key: a line is PRINCIPALS [OPTIONS] TYPE BASE64"),
        ("mara@example.com ssh-ed25519", "there is no key: a line is PRINCIPALS [OPTIONS] TYPE BASE64"),
        ("KEY", "there is no key: a line is PRINCIPALS [OPTIONS] TYPE BASE64"),
        ("\"mara@example.com KEY", "the quote around the principals does not end"),
        ("\"\" KEY", "the principals are not readable"),
        ("mara\"@example.com KEY", "the principals are not readable"),
        ("mara@example.com ssh-ed25519 %%%", "the key is not readable: its Base64 is not well-formed"),
        (
            "mara@example.com ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIIqI",
            "the key says ssh-rsa before its Base64 and another type in it",
        ),
        ("mara@example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAAA==", "the key is not a well-formed ssh-ed25519"),
        ("mara@example.com no-touch-required KEY", "the key is not readable"),
        ("mara@example.com namespaces=\"git\",colour=\"red\" KEY", "\"colour\" is not an option of allowed signers"),
        ("mara@example.com namespaces=git KEY", "an option's value is written in quotes"),
        ("mara@example.com namespaces KEY", "namespaces is written"),
        ("mara@example.com cert-authority=\"yes\" KEY", "cert-authority is written"),
        ("mara@example.com namespaces=\"git KEY", "the quote around an option's value does not end"),
        ("mara@example.com namespaces=\"git\"x KEY", "options are separated by a comma"),
        ("mara@example.com namespaces=\"git\",namespaces=\"file\" KEY", "namespaces is given twice"),
        ("mara@example.com valid-after=\"20260101\",valid-after=\"20250101\" KEY", "valid-after is given twice"),
        ("mara@example.com valid-before=\"\" KEY", TIME),
        ("mara@example.com valid-before=\"2026-01-01\" KEY", TIME),
        ("mara@example.com valid-before=\"20261301\" KEY", TIME),
        ("mara@example.com valid-before=\"202601012460\" KEY", TIME),
        ("mara@example.com valid-before=\"2026010112\" KEY", TIME),
        ("mara@example.com valid-before=\"0x+5\" KEY", TIME),
        ("mara@example.com valid-before=\"0x1ffffffff\" KEY", TIME),
        (
            "mara@example.com valid-after=\"20270101Z\",valid-before=\"20260101Z\" KEY",
            "valid-before is not after valid-after",
        ),
    ] {
        let said = outcome(&format!("{sound}{line}"), "");
        assert!(said.starts_with("line 2: ") && said.contains(why), "{line}: {said}");
    }
    let both = outcome("a\nb\nmara@example.com KEY", "x");
    let lines: Vec<&str> = both.split("; ").map(|error| error.split(':').next().unwrap()).collect();
    assert_eq!(lines, ["line 1", "line 2", "line 1"], "all of both lists at once: {both}");
}

#[test]
fn a_revoked_key_never_signs() {
    let list = "mara@example.com KEY";
    for (revoked, says) in [
        ("# KEY\n\nOTHER", "line 1"),
        ("OTHER\nKEY stolen in May", "the key KEY was revoked"),
        ("SSHKRL\n", "line 1: key revocation lists in binary form are not supported: list the public keys, one a line"),
        ("mara@example.com KEY", "line 1: the key is not readable"),
    ] {
        assert!(outcome(list, revoked).starts_with(says), "{revoked}: {}", outcome(list, revoked));
    }
}

#[test]
fn keys_of_other_types_are_kept_and_match_nothing() {
    let rsa = "AAAAB3NzaC1yc2EAAAADAQABAAAAAQM=";
    let signers =
        Signers::read(&format!("a ssh-rsa {rsa}\nb cert-authority ssh-rsa {rsa}"), "", &TimeZone::UTC).unwrap();
    let whys: Vec<&str> = signers
        .entries()
        .iter()
        .map(|entry| match &entry.key {
            EntryKey::Unsupported { why, .. } => why.as_str(),
            EntryKey::Supported(_) => "supported",
        })
        .collect();
    assert!(whys[0].starts_with("keys of type ssh-rsa are not supported"), "{whys:?}");
    assert_eq!(whys[1], "certificate authorities are not supported");
}

#[test]
fn a_line_has_a_name_to_sign_as_where_one_is_no_pattern() {
    let (key, _) = key(1);
    for (principals, name) in [
        ("mara@example.com", Some("mara@example.com")),
        ("*@example.com,mara@example.com", Some("mara@example.com")),
        ("*@example.com", None),
        ("mara@example.com,!mara@*", None),
        ("tom,mara", Some("tom")),
    ] {
        let signers = Signers::read(&format!("{principals} {}", key.line()), "", &TimeZone::UTC).unwrap();
        assert_eq!(signers.entries()[0].principals.literal(), name, "{principals}");
    }
}

#[test]
fn a_pattern_of_many_stars_takes_no_time() {
    let (key, public) = key(1);
    let stars = "*a".repeat(2_000);
    let signers = Signers::read(&format!("{stars}b {}", key.line()), "", &TimeZone::UTC).unwrap();
    assert!(signers.may_sign(&"a".repeat(20_000), &public, NAMESPACE, NOW).is_err());
}
