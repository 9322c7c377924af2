//! The server as a process: how it is started, how it ends, and that nothing of it is left whatever kills the wrapper.
//!
//! A wrapper to be killed is this test binary itself, run again with one of the two tests that are ignored otherwise.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mcp_approve::interpose::child::{self, Child, Exit, Manner, ServerInput, ServerOutput};
use mcp_approve::interpose::guardian::Guardian;
use mcp_approve::interpose::stdio::{HostInput, HostOutput};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal};

const DEADLINE: Duration = Duration::from_secs(20);

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn shell(script: &str) -> Vec<OsString> {
    ["/bin/sh", "-c", script].map(OsString::from).to_vec()
}

fn start(script: &str) -> (Child, ServerInput, ServerOutput) {
    child::spawn(&shell(script), None).unwrap()
}

fn poll(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < until, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A process that only waits to be reaped is dead: in a container there may be nobody to do it.
fn is_alive(pid: i32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit_once(')').unwrap().1.starts_with(" Z"),
        Err(_) if Path::new("/proc/self/stat").exists() => false,
        Err(_) => rustix::process::test_kill_process(Pid::from_raw(pid).unwrap()).is_ok(),
    }
}

/// Waits until a script has written `count` process ids, one a line.
fn pids(file: &Path, count: usize) -> Vec<i32> {
    let mut found = Vec::new();
    poll("the script names its processes", || {
        let text = fs::read_to_string(file).unwrap_or_default();
        found = text.lines().filter_map(|line| line.parse().ok()).collect();
        found.len() == count && text.ends_with('\n')
    });
    found
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
    let table = [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 255", 255),
        ("kill -TERM $$", 143),
        ("kill -KILL $$", 137),
    ];
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
        (
            vec![OsString::from("no-such-server-anywhere")],
            127,
            "install it",
        ),
        (
            vec![folder.path().join("none").into_os_string()],
            127,
            "was not found",
        ),
        (vec![file("plain", "#!/bin/sh\n", 0o644)], 126, "chmod +x"),
        (
            vec![folder.path().as_os_str().to_owned()],
            126,
            "cannot be run",
        ),
        (
            vec![file("lost", "#!/no/such/interpreter\n", 0o755)],
            126,
            "interpreter",
        ),
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
        (
            "ends with its input",
            "echo up; cat",
            Manner::Patient,
            Exit::Code(0),
        ),
        (
            "ignores the end of its input",
            "echo up; exec sleep 600",
            Manner::Patient,
            Exit::Signal(15),
        ),
        (
            "ends in its own way on SIGTERM",
            "trap 'exit 3' TERM; echo up; while :; do sleep 0.02; done",
            Manner::Patient,
            Exit::Code(3),
        ),
        (
            "ignores SIGTERM too",
            "trap '' TERM; echo up; while :; do sleep 0.1; done",
            Manner::Patient,
            Exit::Signal(9),
        ),
        (
            "we were told to go",
            "echo up; exec sleep 600",
            Manner::Prompt,
            Exit::Signal(15),
        ),
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
            let stopped =
                tokio::time::timeout(Duration::from_secs(4), server.stop(Some(input), manner));
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
        child::drain(&mut output, |piece| words.extend_from_slice(piece))
            .await
            .unwrap();
        assert_eq!(words, b"last words\n");
        server.end_group().await;
        poll("the grandchild ends", || !is_alive(left[0]));
    });
}

#[test]
fn a_killed_wrapper_leaves_no_orphan() {
    let table = [
        ("a server", "echo $$ >> $PIDS; exec sleep 600", 1),
        (
            "a runner and its server",
            "sleep 600 & echo $$ >> $PIDS; echo $! >> $PIDS; wait",
            2,
        ),
        (
            "a server and a child, both ignoring SIGTERM",
            "trap '' TERM; (while :; do sleep 0.1; done) & echo $$ >> $PIDS; echo $! >> $PIDS; while :; do sleep 0.1; done",
            2,
        ),
        (
            "children whose server has ended",
            "sleep 600 & echo $! >> $PIDS",
            1,
        ),
    ];
    for (what, script, count) in table {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        let mut holder = again("holder")
            .env("HOLD", script)
            .env("PIDS", &file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let alive = pids(&file, count);
        assert!(alive.iter().all(|pid| is_alive(*pid)), "{what}");
        holder.kill().unwrap();
        holder.wait().unwrap();
        poll(what, || !alive.iter().any(|pid| is_alive(*pid)));
    }
}

#[test]
fn the_guardian_holds_nothing_but_its_pipe() {
    if !Path::new("/proc/self/fd").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let mut holder = again("holder")
        .env("HOLD", "echo $$ > $PIDS; exec sleep 600")
        .env("PIDS", &file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    pids(&file, 1);
    let guardians: Vec<_> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            fs::read_to_string(path.join("comm")).is_ok_and(|name| name == "mcp-guardian\n")
        })
        .collect();
    assert!(!guardians.is_empty());
    for guardian in guardians {
        // Another test's may end meanwhile.
        if let Ok(open) = fs::read_dir(guardian.join("fd")) {
            assert!(open.count() <= 1, "{guardian:?}");
        }
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
}

#[test]
fn a_dismissed_guardian_ends_nothing_and_a_dropped_one_does() {
    runtime().block_on(async {
        let (mut server, _input, _output) = start("exec sleep 600");
        let guardian = Guardian::start().unwrap();
        guardian.watch(server.id()).unwrap();
        guardian.dismiss().unwrap();
        // The forgotten group is not ended either: this one is dropped without a goodbye.
        let guardian = Guardian::start().unwrap();
        guardian.watch(server.id()).unwrap();
        guardian.forget().unwrap();
        drop(guardian);
        let guardian = Guardian::start().unwrap();
        let mut second = std::process::Command::new("sleep");
        std::os::unix::process::CommandExt::process_group(second.arg("600"), 0);
        guardian.enlist(&mut second);
        let mut second = second.spawn().unwrap();
        drop(guardian);
        poll("the dropped guardian ends its group", || {
            second.try_wait().unwrap().is_some()
        });
        let id = i32::try_from(server.id()).unwrap();
        assert!(is_alive(id));
        server.stop(None, Manner::Prompt).await.unwrap();
    });
}

#[test]
fn whatever_the_host_gives_as_stdio_is_carried_whole() {
    let bytes: Vec<u8> = (0..300_000u32)
        .flat_map(|n| format!("{n:x},").into_bytes())
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in");
    fs::write(&file, &bytes).unwrap();
    let got = folder.path().join("out");
    for given in ["pipes", "sockets", "files", "one socket for all"] {
        let mut echo = again("echo");
        let (mut feed, mut fetch): (Option<Box<dyn Write + Send>>, Option<Box<dyn Read>>) =
            (None, None);
        let mut held: Option<OwnedFd> = None;
        match given {
            "pipes" => {
                let ((input, feeds), (fetches, output)) =
                    (std::io::pipe().unwrap(), std::io::pipe().unwrap());
                held = Some(input.as_fd().try_clone_to_owned().unwrap());
                echo.stdin(input).stdout(output);
                feed = Some(Box::new(feeds));
                fetch = Some(Box::new(fetches));
            }
            "sockets" => {
                let (input, feeds) = UnixStream::pair().unwrap();
                let (fetches, output) = UnixStream::pair().unwrap();
                held = Some(input.as_fd().try_clone_to_owned().unwrap());
                echo.stdin(OwnedFd::from(input))
                    .stdout(OwnedFd::from(output));
                feed = Some(Box::new(feeds));
                fetch = Some(Box::new(fetches));
            }
            "files" => {
                echo.stdin(File::open(&file).unwrap())
                    .stdout(File::create(&got).unwrap());
            }
            _ => {
                let (theirs, ours) = UnixStream::pair().unwrap();
                let end = || OwnedFd::from(theirs.try_clone().unwrap());
                echo.stdin(end()).stdout(end()).stderr(end());
                let feeds = ours.try_clone().unwrap();
                feed = Some(Box::new(Feeder(feeds)));
                fetch = Some(Box::new(ours));
            }
        }
        let mut running = echo.spawn().unwrap();
        drop(echo);
        let mut back = Vec::new();
        std::thread::scope(|scope| {
            if let Some(mut feed) = feed {
                let bytes = &bytes;
                scope.spawn(move || feed.write_all(bytes).unwrap());
            }
            if let Some(mut fetch) = fetch {
                fetch.read_to_end(&mut back).unwrap();
            }
        });
        assert!(running.wait().unwrap().success(), "{given}");
        if given == "files" {
            back = fs::read(&got).unwrap();
        }
        // The test harness has words of its own on stdout.
        assert!(
            memchr::memmem::find(&back, &bytes).is_some(),
            "{given}: {} bytes came back",
            back.len()
        );
        if let Some(held) = held {
            let flags = rustix::fs::fcntl_getfl(&held).unwrap();
            assert!(
                !flags.contains(OFlags::NONBLOCK),
                "{given}: left non-blocking for others"
            );
        }
    }
}

/// Ends its half of a socket when dropped.
struct Feeder(UnixStream);

impl Write for Feeder {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for Feeder {
    fn drop(&mut self) {
        self.0.shutdown(std::net::Shutdown::Write).unwrap();
    }
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

/// This test binary again, as one of the two below.
fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command
}

#[test]
#[ignore = "a wrapper to be killed: run by the tests above"]
fn holder() {
    let Some(script) = std::env::var_os("HOLD") else {
        return;
    };
    let guardian = Guardian::start().unwrap();
    let runtime = runtime();
    let _inside = runtime.enter();
    let server = child::spawn(&shell(script.to_str().unwrap()), Some(guardian)).unwrap();
    std::thread::sleep(Duration::from_secs(600));
    drop(server);
}

#[test]
#[ignore = "sends back what it reads: run by the tests above"]
fn echo() {
    runtime().block_on(async {
        let (mut input, mut output) = (HostInput::take().unwrap(), HostOutput::take().unwrap());
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let got = input.read(&mut buffer).await.unwrap();
            if got == 0 {
                return;
            }
            let mut rest = &buffer[..got];
            while !rest.is_empty() {
                match output.try_write(rest) {
                    Ok(put) => rest = &rest[put..],
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                        output.writable().await.unwrap()
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    });
}

#[test]
fn signals_are_named_by_their_numbers() {
    assert_eq!(Exit::Signal(Signal::KILL.as_raw()).code(), 137);
    assert_eq!(Exit::Code(3).code(), 3);
}
