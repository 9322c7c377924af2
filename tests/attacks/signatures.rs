//! Verdicts that somebody else signs, or has signed. Forged statements and signatures are in `tests/signing/forgeries.rs`, what the
//! gate does with them in `tests/playbook/signed.rs`.

use std::fs;
use std::path::Path;

use mcp_approve::home::signers::keygen;
use mcp_approve::signing::grade::{ConsoleUser, Grade, SignersOwner};
use mcp_approve::signing::sshsig::Presence;

#[test]
fn g2_a_key_without_a_touch_and_a_list_of_the_users_are_worth_l0() {
    let touched = Presence::Touched { counter: 1, verified: false };
    let untouched = Presence::NotTouched { counter: 1 };
    for (owner, presence, console, worth) in [
        (SignersOwner::Root, Presence::NotStated, ConsoleUser::Same, Some("L0 software key")),
        (SignersOwner::Root, Presence::NotStated, ConsoleUser::Other, Some("L0 software key")),
        (SignersOwner::User, touched, ConsoleUser::Other, Some("L0 user's list")),
        (SignersOwner::Root, touched, ConsoleUser::Same, Some("L1 same user")),
        (SignersOwner::Root, touched, ConsoleUser::Other, Some("L1")),
        (SignersOwner::Root, untouched, ConsoleUser::Other, None),
        (SignersOwner::User, untouched, ConsoleUser::Same, None),
    ] {
        assert_eq!(Grade::of(owner, presence, console).map(Grade::word), worth, "{owner:?} {presence:?} {console:?}");
    }
}

#[test]
fn g8_only_a_program_that_root_alone_can_change_is_run_to_sign() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("ssh-keygen");
    fs::write(&own, "#!/bin/sh\n").unwrap();
    std::os::unix::fs::symlink("/bin/sh", folder.path().join("link")).unwrap();
    for named in [own.as_path(), Path::new("ssh-keygen"), Path::new("./ssh-keygen"), Path::new("/nowhere/ssh-keygen")] {
        assert!(keygen(named).is_err(), "{named:?}");
    }
    // What is run is what the link leads to.
    let run = keygen(&folder.path().join("link"));
    assert!(run.is_err() || run.is_ok_and(|program| !program.starts_with(folder.path())));
}
