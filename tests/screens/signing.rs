//! The last line while a key signs: which one, what one signature covers, why there is none, and the way back.

use std::path::Path;

use mcp_approve::console::view::signing_row;
use mcp_approve::link::message::FromWrapper;
use mcp_approve::operator::sign::OwnKey;
use mcp_approve::signing::sshsig::PublicKey;

use crate::desk::*;
use crate::screens::frames::at_every_size;
use crate::signing_bed::Key;

fn authenticator() -> OwnKey {
    let key = PublicKey::of_blob(&Key::new("sk-ssh-ed25519@openssh.com", 1).blob()).unwrap();
    OwnKey { signer: "mara@example.com".into(), key, file: Some(Path::new("/home/mara/.ssh/id_verdict.pub").into()) }
}

#[test]
fn the_last_line_says_which_key_signs_what_and_how_to_go_back() {
    let refused =
        "ssh-keygen did not sign: sign_and_send_pubkey: signing failed for ED25519-SK: agent refused operation";
    let mara = authenticator();
    for (name, key, what, keys) in [
        ("one", Ok(&mara), "", 1),
        ("several_keys", Ok(&mara), "", 2),
        ("several_approvals", Ok(&mara), "12 approvals in one, ", 1),
        ("refused", Err(refused), "", 2),
        ("hostile", Err("\u{1b}[2Jgone\nnext\u{202e}"), "", 1),
    ] {
        at_every_size(&format!("signing_{name}"), |desk| {
            desk.hold(delete("filesystem-1"));
            desk.look();
            desk.model.note = Some(signing_row(key, what, keys));
            assert!(desk.screen().contains("Esc back"), "{name}: {}", desk.screen());
        });
    }
}

#[test]
fn who_goes_back_reads_that_nothing_was_sent_and_the_call_waits_on() {
    at_every_size("signing_gave_up", |desk| {
        desk.hold(delete("filesystem-1"));
        desk.look();
        let why = "not sent: you went back".to_owned();
        desk.say("files", FromWrapper::Refused { ticket: "filesystem-1".into(), why });
        assert!(desk.model.queue.calls[0].waits() && desk.screen().contains("you went back"), "{}", desk.screen());
    });
}
