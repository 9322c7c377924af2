//! Verdicts that somebody else signs, or has signed. Forged statements and signatures are in `tests/signing/forgeries.rs`, what the
//! gate does with them in `tests/playbook/signed.rs`.

use std::fs;
use std::path::Path;

use mcp_approve::home::signers::program;
use mcp_approve::signing::grade::{ConsoleUser, Grade, Owner};
use mcp_approve::signing::sshsig::Presence;

use crate::world::{Did, World, config};

#[test]
fn g2_a_key_without_a_touch_and_a_list_of_the_users_are_worth_l0() {
    let touched = Presence::Touched { counter: 1, verified: false };
    let untouched = Presence::NotTouched { counter: 1 };
    for (owner, presence, console, worth) in [
        (Owner::Root, Presence::NotStated, ConsoleUser::Same, Some("L0 software key")),
        (Owner::Root, Presence::NotStated, ConsoleUser::Other, Some("L0 software key")),
        (Owner::User, touched, ConsoleUser::Other, Some("L0 user's list")),
        (Owner::Root, touched, ConsoleUser::Same, Some("L1 same user")),
        (Owner::Root, touched, ConsoleUser::Other, Some("L1")),
        (Owner::Root, untouched, ConsoleUser::Other, None),
        (Owner::User, untouched, ConsoleUser::Same, None),
    ] {
        assert_eq!(Grade::of(owner, presence, console).map(Grade::word), worth, "{owner:?} {presence:?} {console:?}");
    }
}

#[test]
fn g7_a_desk_that_is_cut_off_frees_no_call() {
    // The whole of it is in `tests/playbook/frozen.rs`, and on a real PostgreSQL in `tests/many/stop.rs`.
    let required = "version = 1\n[desk]\nrequired = true\n";
    let mut world = World::with(config(), required).ready();
    assert_eq!(world.call("1", "read_file", r#"{"path":"/a"}"#), [Did::Ask("files-1".into())]);
    world.freezes(Some("the desk's file is damaged".into()));
    assert_eq!(world.call("2", "read_file", r#"{"path":"/a"}"#), [Did::Ask("files-2".into())]);
    world.freezes(None);
    assert_eq!(world.call("3", "read_file", r#"{"path":"/a"}"#), [Did::Ask("files-3".into())]);
    world.close(mcp_approve::gate::data::event::Side::Server);
    world.finish();
}

#[test]
fn g8_only_a_program_that_root_alone_can_change_is_run_to_sign() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("ssh-keygen");
    fs::write(&own, "#!/bin/sh\n").unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("/bin/sh", &link).unwrap();
    // A link that the user can change leads to root's program only until it is changed.
    for named in [&own, &link, Path::new("ssh-keygen"), Path::new("./ssh-keygen"), Path::new("/nowhere/ssh-keygen")] {
        assert!(program(named.to_owned()).is_err(), "{named:?}");
    }
}
