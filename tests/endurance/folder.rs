//! Somebody was in the runtime folder first: each squatter is refused or safely replaced, by the real program.

use std::fs;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use crate::bed::{Measured, Run, caught};
use crate::fake::host::Host;
use crate::fake::operator::Operator;
use crate::fake::server::{Server, writer};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The wrapper takes the place, and an operator can decide.
    Replaced,
    /// The wrapper says why no console can attach; the call waits and nothing runs.
    Refused,
}

type Squat = fn(&Path);

const CASES: [(&str, Squat, Fate); 12] = [
    ("a dead socket", |run| drop(UnixListener::bind(run.join("s.sock")).unwrap()), Fate::Replaced),
    ("a living socket", |run| std::mem::forget(UnixListener::bind(run.join("s.sock")).unwrap()), Fate::Replaced),
    ("a link to a file", |run| symlink(run.join("../precious"), run.join("s.sock")).unwrap(), Fate::Replaced),
    ("a link to nothing", |run| symlink(run.join("../nothing"), run.join("s.sock")).unwrap(), Fate::Replaced),
    ("a draft that links", |run| symlink(run.join("../precious"), run.join("s.new")).unwrap(), Fate::Replaced),
    ("a file", |run| fs::write(run.join("s.sock"), "mine").unwrap(), Fate::Refused),
    ("a folder", |run| fs::create_dir(run.join("s.sock")).unwrap(), Fate::Refused),
    ("a lock that links", |run| symlink(run.join("../precious"), run.join("s.lock")).unwrap(), Fate::Refused),
    ("a lock that is a folder", |run| fs::create_dir(run.join("s.lock")).unwrap(), Fate::Refused),
    ("a loose folder", |run| fs::set_permissions(run, PermissionsExt::from_mode(0o777)).unwrap(), Fate::Refused),
    (
        "a linked folder",
        |run| {
            fs::rename(run, run.with_file_name("elsewhere")).unwrap();
            symlink("elsewhere", run).unwrap();
        },
        Fate::Refused,
    ),
    (
        "another user's socket",
        |run| {
            drop(UnixListener::bind(run.join("s.sock")).unwrap());
            lchown(run.join("s.sock"), Some(4321), None).unwrap();
        },
        Fate::Refused,
    ),
];

/// R16.
pub fn squatters(_run: &Run) -> Measured {
    let is_root = rustix::process::geteuid().is_root();
    let (mut good, mut asked, mut why) = (0, 0, String::new());
    for (what, squat, fate) in CASES {
        if what.starts_with("another user") && !is_root {
            why += "; another user's socket NOT TRIED (it takes root)";
            continue;
        }
        asked += 1;
        match caught(|| plays(squat, fate)) {
            Ok(()) => good += 1,
            Err(error) => why += &format!("; {what}: {error}"),
        }
    }
    Measured::held(good == asked, format!("{good} of {asked}{why}"))
}

fn plays(squat: Squat, fate: Fate) {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("state/run");
    fs::create_dir_all(&run).unwrap();
    for folder in [run.as_path(), run.parent().unwrap()] {
        fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).unwrap();
    }
    let precious = run.join("../precious");
    fs::write(&precious, "precious").unwrap();
    squat(&run);
    let server = Server::with(&[writer("ask")]);
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    host.handshake("2025-11-25");
    if fate == Fate::Replaced {
        let mut operator = Operator::attach(home.path(), "ada");
        host.call(1, "ask", &serde_json::json!({}));
        let asked = operator.asked("ask");
        operator.approve(&asked);
        assert_eq!(host.answer(1)["result"]["content"][0]["text"], "done");
        assert_eq!(server.executed().len(), 1);
    } else {
        host.call(1, "ask", &serde_json::json!({}));
        host.request(2, "ping", &serde_json::json!({}));
        host.answer(2);
        assert!(server.executed().is_empty(), "it ran");
    }
    host.hang_up();
    host.wait();
    let words = host.last_words();
    assert_eq!(words.contains("no console can attach"), fate == Fate::Refused, "{words}");
    assert_eq!(fs::read_to_string(home.path().join("state/precious")).unwrap(), "precious");
    assert!(!home.path().join("state/nothing").exists());
}
