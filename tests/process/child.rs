//! The server as a process: how it starts, what it is told, how it ends.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use mcp_approve::interpose::child::{self, Child, Exit, Manner, ServerInput, ServerOutput};
use mcp_approve::interpose::guardian::Guardian;
use rustix::process::Pid;

use super::{is_alive, pids, poll, runtime};

fn shell(script: &str) -> Vec<OsString> {
    ["/bin/sh", "-c", script].map(OsString::from).to_vec()
}

fn start(script: &str) -> (Child, ServerInput, ServerOutput) {
    child::spawn(&shell(script), None).unwrap()
}

async fn read_all(output: &mut ServerOutput) -> String {
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        match output.read(&mut buffer).await.unwrap() {
            0 => return String::from_utf8(all).unwrap(),
            got => all.extend_from_slice(&buffer[..got]),
        }
    }
}

#[test]
fn the_wrapper_exits_as_the_server_did() {
    let table = [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -TERM $$", 143), ("kill -KILL $$", 137)];
    runtime().block_on(async {
        for (script, code) in table {
            let (mut server, _input, _output) = start(script);
            assert_eq!(server.wait().await.unwrap().code(), code, "{script}");
            // Asked again, it says the same.
            assert_eq!(server.wait().await.unwrap().code(), code, "{script}");
        }
    });
}

#[test]
fn a_server_that_cannot_be_run_is_told_with_its_mend_and_the_shells_code() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.into_os_string()
    };
    let table = [
        (vec![], 2, "after --"),
        (vec![OsString::from("no-such-server-anywhere")], 127, "install it"),
        (vec![folder.path().join("none").into_os_string()], 127, "was not found"),
        (vec![file("plain", "#!/bin/sh\n", 0o644)], 126, "chmod +x"),
        (vec![folder.path().as_os_str().to_owned()], 126, "cannot be run"),
        (vec![file("lost", "#!/no/such/interpreter\n", 0o755)], 126, "interpreter"),
        (vec![file("odd", "\u{1}\u{2}", 0o755)], 126, "cannot be run"),
    ];
    let runtime = runtime();
    let _inside = runtime.enter();
    for (command, code, says) in table {
        let error = child::spawn(&command, None).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn the_server_has_our_folder_and_environment_and_a_group_of_its_own() {
    runtime().block_on(async {
        let (mut server, input, mut output) = start("pwd -P; echo \"$CARGO_MANIFEST_DIR\"; cat");
        let id = Pid::from_raw(i32::try_from(server.id()).unwrap()).unwrap();
        assert_eq!(rustix::process::getpgid(Some(id)).unwrap(), id);
        let mut input = input;
        input.writable().await.unwrap();
        assert_eq!(input.try_write(b"said\n").unwrap(), 5);
        drop(input);
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        let environment = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        let expected = format!("{}\n{environment}\nsaid\n", here.display());
        assert_eq!(read_all(&mut output).await, expected);
        assert_eq!(server.wait().await.unwrap(), Exit::Code(0));
    });
}

#[test]
fn a_server_is_stopped_as_gently_as_it_lets_us_and_always_in_time() {
    let table = [
        ("ends with its input", "echo up; cat", Manner::Patient, Exit::Code(0)),
        ("ignores the end of its input", "echo up; exec sleep 600", Manner::Patient, Exit::Signal(15)),
        (
            "ends in its own way on SIGTERM",
            "trap 'exit 3' TERM; echo up; while :; do sleep 0.02; done",
            Manner::Patient,
            Exit::Code(3),
        ),
        ("ignores SIGTERM too", "trap '' TERM; echo up; while :; do sleep 0.1; done", Manner::Patient, Exit::Signal(9)),
        ("we were told to go", "echo up; exec sleep 600", Manner::Prompt, Exit::Signal(15)),
        (
            "we were told to go, it ignores that",
            "trap '' TERM; echo up; while :; do sleep 0.1; done",
            Manner::Prompt,
            Exit::Signal(9),
        ),
    ];
    runtime().block_on(async {
        for (what, script, manner, end) in table {
            let (mut server, input, mut output) = start(script);
            assert_eq!(output.read(&mut [0; 16]).await.unwrap(), 3, "{what}");
            // Hosts kill us after four seconds.
            let stopped = tokio::time::timeout(Duration::from_secs(4), server.stop(Some(input), manner));
            assert_eq!(stopped.await.expect(what).unwrap(), end, "{what}");
        }
    });
}

#[test]
fn children_that_outlive_their_server_hold_nothing_up_and_are_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    runtime().block_on(async {
        let script = format!("sleep 600 & echo $! > {}; echo last words", file.display());
        let (mut server, _input, mut output) = start(&script);
        assert_eq!(server.wait().await.unwrap(), Exit::Code(0));
        let left = pids(&file, 1);
        assert!(is_alive(left[0]));
        let mut words = Vec::new();
        child::drain(&mut output, |piece| words.extend_from_slice(piece)).await.unwrap();
        assert_eq!(words, b"last words\n");
        server.end_group().await;
        poll("the grandchild ends", || !is_alive(left[0]));
    });
}

#[test]
fn a_server_that_reads_nothing_makes_us_wait_not_spin() {
    runtime().block_on(async {
        let (mut server, mut input, _output) = start("exec sleep 600");
        let block = vec![b'x'; 64 * 1024];
        let mut whole = 0;
        loop {
            match input.try_write(&block) {
                Ok(put) => whole += put,
                Err(error) => {
                    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
                    if whole > 0 {
                        break;
                    }
                    input.writable().await.unwrap();
                }
            }
        }
        let ready = tokio::time::timeout(Duration::from_millis(50), input.writable()).await;
        assert!(ready.is_err(), "a full pipe is not writable");
        server.stop(Some(input), Manner::Prompt).await.unwrap();
    });
}

#[test]
fn a_server_under_a_guardian_ends_with_it_or_without() {
    runtime().block_on(async {
        // Stopped in order, the guardian has nothing to do.
        let guardian = Guardian::start().unwrap();
        let (mut server, input, _output) = child::spawn(&shell("exec sleep 600"), Some(guardian)).unwrap();
        assert_eq!(server.stop(Some(input), Manner::Prompt).await.unwrap(), Exit::Signal(15));
        // Dropped, as a panic would, it is the guardian's.
        let guardian = Guardian::start().unwrap();
        let (server, _input, _output) = child::spawn(&shell("exec sleep 600"), Some(guardian)).unwrap();
        let id = i32::try_from(server.id()).unwrap();
        drop(server);
        poll("the server ends", || !is_alive(id));
    });
}
