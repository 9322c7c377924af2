//! How a wrapper passes its scope on: told while it lives and by no other process, and widened by nobody.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use mcp_approve::link::delegation::{Record, home_of, inherited, serve, take_name, wraps};
use mcp_approve::policy::scope::{Limit, Scope};

fn record() -> Record {
    let scope = Scope::of(Limit::Nothing("a test".into()));
    Record { server: "agents".into(), session: "s1".into(), scope, above: vec!["outer".into()] }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// A server below us, and the number of a process below that one. Both end with the server's input.
fn server() -> (Child, u32) {
    let mut server = Command::new("sh");
    server.args(["-c", "sh -c 'echo $$; read -r end'; :"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let mut inner = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut inner).unwrap();
    (server, inner.trim().parse().unwrap())
}

#[tokio::test]
async fn a_record_is_told_while_its_wrapper_lives_and_by_no_other_process() {
    let run = tempfile::tempdir().unwrap();
    let run = run.path().join("run");
    let us = std::process::id();
    let place = |pid: u32| run.join(format!("{pid}.scope"));
    let run_of = |_: Option<&Path>| Some(run.clone());
    let (mut server, inner) = server();
    let served = serve(&run, &record()).unwrap();
    assert_eq!(inherited(inner, &run_of).await, Ok(Some(record())));
    assert_eq!(record().chain(), ["outer", "agents (nothing, session s1)"]);
    assert_eq!(fs::metadata(place(us)).unwrap().permissions().mode() & 0o777, 0o600);
    // We answer at a place whose name is another process's: nobody believes it, and that process is no wrapper.
    fs::rename(place(us), place(server.id())).unwrap();
    assert_eq!(inherited(inner, &run_of).await, Ok(None));
    fs::rename(place(server.id()), place(us)).unwrap();
    drop(served);
    assert!(!place(us).exists());
    drop(server.stdin.take());
    server.wait().unwrap();
}

#[tokio::test]
async fn a_record_that_a_server_tells_of_itself_or_of_another_widens_nothing() {
    let run = tempfile::tempdir().unwrap();
    let run = run.path().join("run");
    let _served = serve(&run, &record()).unwrap();
    let (mut server, inner) = server();
    let run_of = |_: Option<&Path>| Some(run.clone());
    assert_eq!(inherited(inner, &run_of).await, Ok(Some(record())));
    let spoofed = Record { server: "x".into(), session: "s2".into(), scope: Scope::default(), above: vec![] };
    let mut told = serde_json::to_value(&spoofed).unwrap();
    (told["version"], told["pid"], told["started"]) = (1.into(), server.id().into(), "now".into());
    let listener = UnixListener::bind(run.join(format!("{}.scope", server.id()))).unwrap();
    std::thread::spawn(move || drop(listener.accept().unwrap().0.write_all(told.to_string().as_bytes())));
    assert_eq!(inherited(inner, &run_of).await, Ok(Some(record())), "it is not the process of that number");
    // Even if it were read, it would widen nothing.
    let found = spoofed.under(record());
    assert_eq!((found.scope.clone(), found.above.clone()), (record().scope, record().chain()));
    assert_eq!(found.clone().under(record()), found, "an honest one names those above it already");
    drop(server.stdin.take());
    server.wait().unwrap();
}

#[test]
fn a_wrapper_is_known_by_its_command_line() {
    for (line, is_wrapper) in [
        ("mcp-approve -- npx server", true),
        ("/usr/bin/mcp-approve --role viewer -- npx server", true),
        ("mcp-approve wrap --home=/x -- npx", true),
        ("mcp-approve --home /x -- npx", true),
        ("mcp-approve --name lattice -- npx", true),
        ("mcp-approve lattice caps -- npx server", false),
        ("mcp-approve --home /x lattice caps -- npx server", false),
        ("mcp-approve demo-agent -- mcp-approve -- npx server", false),
        ("mcp-approve demo", false),
        ("node server.js -- x", false),
    ] {
        assert_eq!(wraps(&words(line), false), is_wrapper, "{line}");
    }
    assert!(!wraps(&[], true));
    // With another file name, it is recognised by its process name.
    let renamed = words("/opt/held --name files -- server");
    assert!(wraps(&renamed, true) && !wraps(&renamed, false));
    assert!(!wraps(&words("/opt/held console"), true));
    if cfg!(target_os = "linux") {
        let kept = fs::read_to_string("/proc/self/comm").unwrap();
        take_name();
        assert_eq!(fs::read_to_string("/proc/self/comm").unwrap().trim_end(), "mcp-approve");
        fs::write("/proc/self/comm", kept).unwrap();
    }
    assert_eq!(home_of(&words("mcp-approve --home /x -- --home /y")), Some(PathBuf::from("/x")));
    assert_eq!(home_of(&words("mcp-approve --home=/x -- y")), Some(PathBuf::from("/x")));
    assert_eq!(home_of(&words("mcp-approve -- --home /y")), None);
}
