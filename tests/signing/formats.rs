//! Keys and signatures of every type are read and verified; any other byte is refused, and none makes a reader panic.

use jiff::tz::TimeZone;
use mcp_approve::signing::signers::Signers;
use mcp_approve::signing::sshsig::{Presence, PublicKey, SshSignature};
use mcp_approve::signing::statement::{Evidence, Statement};
use mcp_approve::signing::verdict::Attested;
use proptest::prelude::*;

use super::bed::{KINDS, Key, Making, armored, statement};

#[test]
fn a_signature_of_each_type_is_verified_and_says_whether_there_was_a_touch() {
    for kind in KINDS {
        let key = Key::new(kind, 1);
        for hash in ["sha512", "sha256"] {
            for (flags, touched, verified) in [(0, false, false), (1, true, false), (5, true, true), (4, false, false)]
            {
                let made = key.sign(b"message", &Making { hash, flags, ..Making::default() });
                let read = SshSignature::read(&armored(&made)).unwrap();
                assert_eq!(read.key().line(), key.line());
                let presence = match (kind.starts_with("sk-"), touched) {
                    (false, _) => Presence::NotStated,
                    (true, false) => Presence::NotTouched { counter: 7 },
                    (true, true) => Presence::Touched { counter: 7, verified },
                };
                assert_eq!(read.verify(b"message"), Some(presence), "{kind} {hash} {flags}");
                assert_eq!(read.verify(b"massage"), None, "{kind} {hash} {flags}");
            }
        }
    }
}

/// Each bit of a signature and its key, and each fifth of its armor: turned over, it is not read, or does not verify.
#[test]
fn a_signature_with_one_bit_turned_over_never_counts() {
    for kind in KINDS {
        let key = Key::new(kind, 1);
        let text = statement().to_json();
        let signers = Signers::read(&format!("mara@example.com {}", key.line()), "", &TimeZone::UTC).unwrap();
        let counts =
            |signature: String| Attested::check(Evidence { statement: text.clone(), signature }, &signers).is_ok();
        let made = key.sign(text.as_bytes(), &Making::default());
        assert!(counts(armored(&made)), "{kind}");
        for bit in 0..made.len() * 8 {
            let mut flipped = made.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!counts(armored(&flipped)), "{kind}: bit {bit}");
        }
        let armor = armored(&made);
        for bit in (0..armor.len() * 8).step_by(5) {
            let mut flipped = armor.clone().into_bytes();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(flipped) = String::from_utf8(flipped) {
                assert!(!counts(flipped), "{kind}: bit {bit} of the armor");
            }
        }
        for length in 0..made.len() {
            assert!(!counts(armored(&made[..length])), "{kind}: cut to {length} bytes");
        }
    }
}

#[test]
fn a_statement_with_one_bit_turned_over_never_counts() {
    let key = Key::new("ssh-ed25519", 1);
    let text = statement().to_json();
    let signature = armored(&key.sign(text.as_bytes(), &Making::default()));
    let signers = Signers::read(&format!("* {}", key.line()), "", &TimeZone::UTC).unwrap();
    for bit in 0..text.len() * 8 {
        let mut flipped = text.clone().into_bytes();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(statement) = String::from_utf8(flipped) {
            let checked = Attested::check(Evidence { statement, signature: signature.clone() }, &signers);
            assert!(checked.is_err(), "bit {bit}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), text in ".{0,200}") {
        let _ = PublicKey::of_blob(&bytes);
        let _ = SshSignature::read(&armored(&bytes));
        let _ = SshSignature::read(&armored(&[b"SSHSIG\0\0\0\x01", &bytes[..]].concat()));
        let _ = SshSignature::read(&text);
        let _ = Statement::read(&text);
        let lossy = String::from_utf8_lossy(&bytes);
        let _ = Signers::read(&text, &lossy, &TimeZone::UTC);
        let _ = Signers::read(&lossy, &text, &TimeZone::UTC);
    }

    /// Fields of a signature cut, swapped and lengthened: what is read and verified is what was made.
    #[test]
    fn only_what_was_made_verifies(kind in 0..KINDS.len(), at in any::<prop::sample::Index>(), with in any::<Vec<u8>>(), cut in 0..9usize) {
        let key = Key::new(KINDS[kind], 1);
        let made = key.sign(b"message", &Making::default());
        let at = at.index(made.len());
        let changed = [&made[..at], &with, &made[(at + cut).min(made.len())..]].concat();
        if changed != made && let Ok(read) = SshSignature::read(&armored(&changed)) {
            prop_assert_eq!(read.verify(b"message"), None);
        }
    }

    /// Words that lists are made of, in any order: no panic, and no key that is not in the list may sign.
    #[test]
    fn no_list_lets_another_key_sign(words in proptest::collection::vec(prop::sample::select(vec![
        "*", "mara@example.com", "\"", ",", "!", " ", "\t", "\n", "#", "cert-authority", "namespaces=\"*\"", "valid-after=\"20260101\"",
        "valid-before=", "\\\"", "ssh-ed25519", "AAAAC3NzaC1lZDI1NTE5AAAAIIqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c",
    ]), 0..20)) {
        let other = Key::new("ssh-ed25519", 77);
        if let Ok(signers) = Signers::read(&words.concat(), "", &TimeZone::UTC) {
            let other = PublicKey::of_blob(&other.blob()).unwrap();
            prop_assert!(signers.may_sign("mara@example.com", &other, "verdict@mcp-approve", 0).is_err());
        }
    }
}
