//! The runtime folder: names, sockets that killed wrappers leave, squatters, paths that are too long.
//!
//! A wrapper to be killed is this test binary itself, run again with the test that is ignored otherwise.

use mcp_approve::link::LinkError;
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::folder::NameClaim;
use mcp_approve::link::server::Server;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::timeout;

use super::DEADLINE;
use super::bed::*;

#[test]
fn a_console_says_what_is_odd_in_the_folder_and_goes_on() {
    within(async {
        let place = place();
        fs::write(place.run.join("a.sock"), "").unwrap();
        symlink("/dev/null", place.run.join("b.sock")).unwrap();
        let _loose = UnixListener::bind(place.run.join("c.sock")).unwrap();
        fs::set_permissions(place.run.join("c.sock"), fs::Permissions::from_mode(0o666)).unwrap();
        // A dead wrapper's socket is nothing to talk about.
        drop(UnixListener::bind(place.run.join("d.sock")).unwrap());
        fs::set_permissions(place.run.join("d.sock"), fs::Permissions::from_mode(0o600)).unwrap();
        let _house = open(&place.run, "filesystem", "s1");
        let mut ann = console(&place.run, "ann");
        let (mut said, mut connected) = (Vec::new(), 0);
        while said.len() < 3 || connected == 0 {
            match ann.next().await {
                ClientEvent::Trouble(what) => said.push(what),
                ClientEvent::Connected(_) => connected += 1,
                other => panic!("{other:?}"),
            }
        }
        said.sort();
        for (what, name) in said.iter().zip(["a.sock", "b.sock", "c.sock"]) {
            assert!(what.contains(name), "{what}");
        }
        // Once is enough: the next event is the new wrapper's.
        let _second = open(&place.run, "git", "s2");
        assert_eq!(ann.connected().await.session, "s2");
    });
}

#[test]
fn names_are_numbered_and_free_again_with_their_wrapper() {
    let place = place();
    let claim = || NameClaim::claim(&place.run, "filesystem").unwrap();
    let (first, second, third) = (claim(), claim(), claim());
    let names = [&first, &second, &third].map(|claim| claim.name().to_owned());
    assert_eq!(names, ["filesystem", "filesystem#2", "filesystem#3"]);
    let other = NameClaim::claim(&place.run, "git").unwrap();
    assert_eq!(other.name(), "git");
    // Another test's child may hold a copy of the lock until it has become what it runs.
    let comes_free = |name: &str| {
        let until = std::time::Instant::now() + DEADLINE;
        while claim().name() != name {
            assert!(std::time::Instant::now() < until, "{name}");
        }
    };
    drop(second);
    comes_free("filesystem#2");
    drop(first);
    comes_free("filesystem");
}

#[test]
fn a_killed_wrapper_is_missed_and_its_name_and_socket_are_free() {
    within(async {
        let place = place();
        let mut ann = console(&place.run, "ann");
        let mut killed = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "link::folder::wrapper_to_be_killed", "--ignored"])
            .env("RUN", &place.run)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        assert_eq!(ann.connected().await.session, "killed");
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert_eq!(ann.next().await, ClientEvent::Gone { session: "killed".to_owned() });
        assert!(place.run.join("filesystem.sock").exists(), "left behind, as kill -9 does");
        let mut house = open(&place.run, "filesystem", "next");
        assert_eq!(house.claim.name(), "filesystem");
        assert_eq!(ann.connected().await.session, "next");
        house.attached().await;
    });
}

#[test]
#[ignore = "a wrapper to be killed: run by the test above"]
fn wrapper_to_be_killed() {
    let Some(run) = std::env::var_os("RUN") else {
        return;
    };
    within(async {
        let _house = open(Path::new(&run), "filesystem", "killed");
        tokio::time::sleep(Duration::from_secs(600)).await;
    });
}

/// What becomes of a squatter.
enum Fate {
    /// It is removed, and the wrapper has its socket.
    Replace,
    /// The wrapper says this, and the squatter is untouched.
    Refuse(&'static str),
}

#[test]
fn squatters_are_refused_or_safely_replaced() {
    use Fate::{Refuse, Replace};
    let is_root = rustix::process::geteuid().is_root();
    let chown = |path: &Path| std::os::unix::fs::lchown(path, Some(4321), None).unwrap();
    type Squat<'a> = Box<dyn Fn(&Path) + 'a>;
    let table: Vec<(&str, Squat<'_>, Fate)> = vec![
        ("a dead wrapper's socket", Box::new(|run| drop(UnixListener::bind(run.join("fs.sock")).unwrap())), Replace),
        (
            "a living squatter's socket, without the name's lock",
            Box::new(|run| std::mem::forget(UnixListener::bind(run.join("fs.sock")).unwrap())),
            Replace,
        ),
        ("a dead wrapper's draft", Box::new(|run| drop(UnixListener::bind(run.join("fs.new")).unwrap())), Replace),
        ("a link to a file", Box::new(|run| symlink(run.join("../precious"), run.join("fs.sock")).unwrap()), Replace),
        ("a link to nothing", Box::new(|run| symlink(run.join("../nothing"), run.join("fs.sock")).unwrap()), Replace),
        (
            "a draft that links to a file",
            Box::new(|run| symlink(run.join("../precious"), run.join("fs.new")).unwrap()),
            Replace,
        ),
        ("a file", Box::new(|run| fs::write(run.join("fs.sock"), "mine").unwrap()), Refuse("is not a socket")),
        ("a folder", Box::new(|run| fs::create_dir(run.join("fs.sock")).unwrap()), Refuse("is a folder")),
        (
            "a pipe",
            Box::new(|run| {
                let pipe = std::process::Command::new("mkfifo").arg(run.join("fs.sock")).status();
                assert!(pipe.unwrap().success());
            }),
            Refuse("is not a socket"),
        ),
        (
            "a lock that is a link",
            Box::new(|run| symlink(run.join("../precious"), run.join("fs.lock")).unwrap()),
            Refuse("is a symbolic link"),
        ),
        (
            "a lock that is a folder",
            Box::new(|run| fs::create_dir(run.join("fs.lock")).unwrap()),
            Refuse("is a folder"),
        ),
        (
            "a lock that is a socket",
            Box::new(|run| drop(UnixListener::bind(run.join("fs.lock")).unwrap())),
            Refuse("is a socket"),
        ),
        (
            "another user's socket",
            Box::new(move |run| {
                drop(UnixListener::bind(run.join("fs.sock")).unwrap());
                chown(&run.join("fs.sock"));
            }),
            Refuse("another user's"),
        ),
        (
            "another user's lock",
            Box::new(move |run| {
                fs::write(run.join("fs.lock"), "").unwrap();
                chown(&run.join("fs.lock"));
            }),
            Refuse("another user's"),
        ),
    ];
    within(async {
        for (what, squat, fate) in table {
            if what.starts_with("another user") && !is_root {
                continue;
            }
            let place = place();
            let precious = place.run.join("../precious");
            fs::write(&precious, "precious").unwrap();
            squat(&place.run);
            let before = listing(&place.run);
            let (on, _consoles) = unbounded_channel();
            let tried = NameClaim::claim(&place.run, "fs").and_then(|claim| {
                Server::start(&place.run, &claim, wrapper("fs", "s1"), on).map(|server| (claim, server))
            });
            match (fate, tried) {
                (Replace, Ok((claim, _server))) => {
                    let stream = UnixStream::connect(claim.socket()).await.unwrap();
                    let mut hello = String::new();
                    timeout(DEADLINE, BufReader::new(stream).read_line(&mut hello)).await.expect(what).unwrap();
                    assert!(hello.contains("s1"), "{what}");
                }
                (Refuse(says), Err(error)) => {
                    assert!(error.to_string().contains(says), "{what}: {error}");
                    assert!(error.to_string().contains("remove it"), "{what}: {error}");
                    // Our own lock file may have come.
                    let after = listing(&place.run);
                    assert!(before.iter().all(|entry| after.contains(entry)), "{what}");
                }
                (Replace, Err(error)) => panic!("{what}: {error}"),
                (Refuse(_), Ok(_)) => panic!("{what}: not refused"),
            }
            assert_eq!(fs::read_to_string(&precious).unwrap(), "precious", "{what}");
            assert!(!place.run.join("../nothing").exists(), "{what}");
        }
    });
}

fn listing(run: &Path) -> Vec<(PathBuf, u64)> {
    fs::read_dir(run)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::symlink_metadata(path).unwrap().ino()))
        .collect()
}

#[test]
fn a_socket_path_that_the_system_would_cut_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("x".repeat(90)).join("run");
    match NameClaim::claim(&run, "filesystem") {
        Err(error @ LinkError::TooLong { .. }) => assert!(error.to_string().contains("--home")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_name_leaves_the_folder_or_takes_anothers_file() {
    let place = place();
    let file = |name: &str| {
        let claim = NameClaim::claim(&place.run, name).unwrap();
        assert_eq!(claim.socket().parent(), Some(&*place.run), "{name:?}");
        claim.socket().file_stem().unwrap().to_str().unwrap().to_owned()
    };
    for name in ["filesystem", "git-2", "my_server.v1"] {
        assert_eq!(file(name), name, "a plain name is its own file's name");
    }
    let odd = ["", ".", "..", "../../etc/passwd", "a/b", "a b", "a\u{0}b", "filesystem#2", "名前", &"x".repeat(200)];
    let files: std::collections::BTreeSet<String> = odd.iter().map(|name| file(name)).collect();
    assert_eq!(files.len(), odd.len(), "{files:?}");
    for file in files {
        assert!(file.len() <= 40 && !file.contains(['/', '#', '\0']), "{file}");
    }
}
