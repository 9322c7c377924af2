//! Attacks from beside the pipe: processes that pose as a console, kill what decides, or squat on where the two meet.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mcp_approve::interpose::guardian::Guardian;
use mcp_approve::link::client::{ClientEvent, Clients, Me};
use mcp_approve::link::folder::{NameClaim, prepare};
use mcp_approve::link::message::{FromConsole, OperatorVerdict, PROTOCOL, Wrapper};
use mcp_approve::link::server::{FromConsoles, Rejection, Server};
use mcp_approve::wire::digest::Digest;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

const DEADLINE: Duration = Duration::from_secs(20);

struct House {
    _home: tempfile::TempDir,
    run: PathBuf,
    claim: NameClaim,
    server: Server,
    consoles: UnboundedReceiver<FromConsoles>,
}

impl House {
    async fn next(&mut self) -> FromConsoles {
        tokio::time::timeout(DEADLINE, self.consoles.recv()).await.expect("something happens").unwrap()
    }
}

/// A wrapper's side of the link, in a folder of its own.
fn house() -> House {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    let claim = NameClaim::claim(&run, "filesystem").unwrap();
    let me = Wrapper {
        server: "filesystem".to_owned(),
        session: "s1".to_owned(),
        pid: std::process::id(),
        command: Vec::new(),
        started: 0,
        assurance: "L0".to_owned(),
        observe: false,
    };
    let (on, consoles) = unbounded_channel();
    let server = Server::start(&run, &claim, me, on).unwrap();
    House { _home: home, run, claim, server, consoles }
}

fn within(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

/// This test binary again, as one of its ignored tests, started by a shell in a process group of its own: a server.
fn server(test: &str, script: &str, socket: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", script])
        .env("AGAIN", std::env::current_exe().unwrap())
        .env("TEST", format!("process::{test}"))
        .env("SOCKET", socket)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    command
}

const RUN: &str = r#""$AGAIN" --exact "$TEST" --ignored"#;

/// Ends a server and all it started, whatever becomes of the test.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.0.wait();
    }
}

fn approval() -> String {
    let decide = FromConsole::Decide {
        ticket: "filesystem-1".to_owned(),
        digest: Digest::of(b"line"),
        verdict: OperatorVerdict::Approve { unread: false },
    };
    serde_json::to_string(&decide).unwrap()
}

fn hello() -> String {
    format!(r#"{{"say":"hello","protocol":{PROTOCOL},"version":"0.1.0","operator":"root","pid":1}}"#)
}

#[test]
fn e2_what_the_server_started_cannot_attach_as_a_console() {
    let table = [
        ("the server itself", format!("exec {RUN}")),
        ("a child of the server", format!("{RUN}; exit $?")),
        ("a grandchild, orphaned, in the server's group", format!("( {RUN} & ) ; sleep 600")),
        ("a child in a session of its own", format!("command -v setsid || exec {RUN}; setsid -w {RUN}; exit $?")),
    ];
    within(async {
        for (what, script) in table {
            let mut house = house();
            let group = Group(server("attacker", &script, house.claim.socket()).spawn().unwrap());
            house.server.forbid(group.0.id());
            // Whether it came before the ban or after: it hears the alarm or the end, and has no say.
            loop {
                match house.next().await {
                    FromConsoles::Rejected { why: why @ Rejection::FromServer { .. } } => {
                        assert!(why.is_alarm() && why.to_string().contains("ALARM"), "{what}: {why}");
                        break;
                    }
                    FromConsoles::Said { .. } => panic!("{what}: a verdict was taken"),
                    FromConsoles::Rejected { why } => panic!("{what}: {why}"),
                    FromConsoles::Attached { .. } | FromConsoles::Detached { .. } | FromConsoles::Shown { .. } => {}
                }
            }
            assert_eq!(house.server.attached(), 0, "{what}");
        }
    });
}

#[test]
fn e2_others_of_the_same_user_may_attach() {
    within(async {
        let mut house = house();
        let wrapped = Group(Command::new("sleep").arg("600").process_group(0).spawn().unwrap());
        house.server.forbid(wrapped.0.id());
        let mut stream = UnixStream::connect(house.claim.socket()).unwrap();
        writeln!(stream, "{}", hello()).unwrap();
        let FromConsoles::Attached { pid, .. } = house.next().await else { panic!("not attached") };
        assert_eq!(pid, std::process::id(), "the kernel's word counts, not the console's");
    });
}

#[test]
#[ignore = "a process of the wrapped server that wants to approve: run by the test above"]
fn attacker() {
    let Some(socket) = std::env::var_os("SOCKET") else {
        return;
    };
    let mut stream = UnixStream::connect(&socket).unwrap();
    // Neither is heard.
    let _ = writeln!(stream, "{}\n{}", hello(), approval());
    let _ = stream.read_to_end(&mut Vec::new());
}

#[test]
fn e2_what_the_server_started_is_let_go_when_the_server_is_named_late() {
    within(async {
        let mut house = house();
        let script = format!("exec {RUN}");
        let group = Group(server("early_attacker", &script, house.claim.socket()).spawn().unwrap());
        assert!(matches!(house.next().await, FromConsoles::Attached { .. }));
        house.server.forbid(group.0.id());
        assert!(matches!(house.next().await, FromConsoles::Rejected { why: Rejection::FromServer { .. } }));
        assert!(matches!(house.next().await, FromConsoles::Detached { .. }));
    });
}

#[test]
#[ignore = "a process of the wrapped server that greets and waits: run by the test above"]
fn early_attacker() {
    let Some(socket) = std::env::var_os("SOCKET") else {
        return;
    };
    let mut stream = UnixStream::connect(&socket).unwrap();
    writeln!(stream, "{}", hello()).unwrap();
    let _ = stream.read_to_end(&mut Vec::new());
}

#[test]
fn e12_a_killed_console_leaves_the_decision_open() {
    within(async {
        let mut house = house();
        let mut console =
            Group(server("killed_console", &format!("exec {RUN}"), house.claim.socket()).spawn().unwrap());
        assert!(matches!(house.next().await, FromConsoles::Attached { .. }));
        console.0.kill().unwrap();
        // Half a verdict was written; what comes is the end, and no verdict.
        assert!(matches!(house.next().await, FromConsoles::Detached { .. }));
        assert_eq!(house.server.attached(), 0);
    });
}

#[test]
#[ignore = "a console to be killed in the middle of a verdict: run by the test above"]
fn killed_console() {
    let Some(socket) = std::env::var_os("SOCKET") else {
        return;
    };
    let mut stream = UnixStream::connect(socket).unwrap();
    // A whole message but for its line end: only a whole line counts.
    write!(stream, "{}\n{}", hello(), approval()).unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn e12_a_killed_interposer_takes_its_server_with_it_and_no_verdict_reaches_anybody() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    prepare(&run).unwrap();
    let (tell, events) = std::sync::mpsc::channel();
    let me = Me { operator: "ann".to_owned(), version: "0.1.0".to_owned(), pid: std::process::id() };
    let clients = Clients::watch(&run, me, move |event| drop(tell.send(event))).unwrap();
    let next = || events.recv_timeout(DEADLINE).unwrap();
    let mut wrapper = Group(server("killed_wrapper", &format!("exec {RUN}"), &run).spawn().unwrap());
    let ClientEvent::Connected(is) = next() else { panic!("not connected") };
    // The test wrapper's command line is its server's process id.
    let server: i32 = is.command[0].parse().unwrap();
    wrapper.0.kill().unwrap();
    wrapper.0.wait().unwrap();
    assert_eq!(next(), ClientEvent::Gone { session: "s1".to_owned() });
    let verdict = serde_json::from_str(&approval()).unwrap();
    clients.send("s1", &verdict).unwrap();
    assert!(matches!(next(), ClientEvent::Trouble(what) if what.contains("not delivered")));
    let until = Instant::now() + DEADLINE;
    while is_alive(server) {
        assert!(Instant::now() < until, "the server lives on without its wrapper");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A process that only waits to be reaped is dead: in a container there may be nobody to do it.
fn is_alive(pid: i32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit_once(')').unwrap().1.starts_with(" Z"),
        Err(_) if Path::new("/proc/self/stat").exists() => false,
        Err(_) => rustix::process::test_kill_process(rustix::process::Pid::from_raw(pid).unwrap()).is_ok(),
    }
}

#[test]
#[ignore = "a wrapper to be killed: run by the test above"]
fn killed_wrapper() {
    let Some(run) = std::env::var_os("SOCKET").map(PathBuf::from) else {
        return;
    };
    let guardian = Guardian::start().unwrap();
    let mut command = Command::new("sleep");
    command.arg("600").process_group(0);
    guardian.enlist(&mut command);
    let server = command.spawn().unwrap();
    within(async {
        let claim = NameClaim::claim(&run, "filesystem").unwrap();
        let me = Wrapper {
            server: "filesystem".to_owned(),
            session: "s1".to_owned(),
            pid: std::process::id(),
            command: vec![server.id().to_string()],
            started: 0,
            assurance: "L0".to_owned(),
            observe: false,
        };
        let (on, _consoles) = unbounded_channel();
        let _open = Server::start(&run, &claim, me, on).unwrap();
        tokio::time::sleep(Duration::from_secs(600)).await;
    });
}

#[test]
fn e13_a_runtime_folder_that_others_could_meddle_with_is_refused() {
    type Spoil = fn(&Path);
    let loosen = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let table: [(&str, Spoil, &str); 7] = [
        ("a link in its place", |run| symlink("..", run).unwrap(), "symbolic link"),
        ("a link to nothing in its place", |run| symlink("nothing", run).unwrap(), "symbolic link"),
        ("a file in its place", |run| fs::write(run, "").unwrap(), "not a folder"),
        ("others may look into it", |run| make(run, 0o755), "chmod 700"),
        ("others may write into it", |run| make(run, 0o777), "chmod 700"),
        ("another user's", |run| (make(run, 0o700), lchown(run, Some(4321), None).unwrap()).1, "user 4321"),
        (
            "below another user's",
            |run| (make(run, 0o700), lchown(run.parent().unwrap(), Some(4321), None).unwrap()).1,
            "user 4321",
        ),
    ];
    for (what, spoil, says) in table {
        if says.contains("4321") && !rustix::process::geteuid().is_root() {
            continue;
        }
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state");
        make(&state, 0o700);
        let run = state.join("run");
        spoil(&run);
        refused(what, &run, says);
    }
    // Whoever may rename a folder above may put another in its place.
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join("state");
    make(&state, 0o700);
    loosen(&state, 0o777);
    refused("below a folder that all may write", &state.join("run"), "chmod o-w");
    loosen(&state, 0o1777);
    prepare(&state.join("run")).unwrap();
}

fn make(folder: &Path, mode: u32) {
    fs::create_dir(folder).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
}

/// Both sides refuse, and say so.
fn refused(what: &str, run: &Path, says: &str) {
    let me = Me { operator: "ann".to_owned(), version: "0.1.0".to_owned(), pid: 1 };
    let wrapper = NameClaim::claim(run, "filesystem").unwrap_err();
    let console = Clients::watch(run, me, |_| {}).unwrap_err();
    for error in [wrapper, console] {
        assert!(error.to_string().contains(says), "{what}: {error}");
    }
}

#[test]
fn e13_the_runtime_folder_is_made_for_its_user_alone() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("state/mcp-approve/run");
    prepare(&run).unwrap();
    for folder in ["state", "state/mcp-approve", "state/mcp-approve/run"] {
        let mode = fs::metadata(home.path().join(folder)).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700, "{folder}");
    }
    // Again, it is found as it should be.
    prepare(&run).unwrap();
}
