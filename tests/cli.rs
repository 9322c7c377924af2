//! cli: the binary's surface. Help, exit codes, bad input; always under a home of its own.

mod doctor;
mod edits;
mod every;
mod help;
mod imports;
mod install;
mod lattice;
mod man;
mod recorded;
mod remote;
mod rules;
mod signers;
mod terminal;
mod wrapped;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A home for one test.
struct Home(TempDir);

/// What a run left behind.
#[derive(Debug)]
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn with_policy(text: &str) -> Self {
        let home = Self::new();
        home.write("config/policy.toml", text);
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.mode(name, 0o600);
        path
    }

    fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Runs the binary without a terminal, `input` on stdin. The home's own path is shown as HOME.
    fn run_with(&self, input: &str, args: &[&str]) -> Run {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-approve"))
            .arg("--home")
            .arg(self.0.path())
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The program may end before it reads.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let home = self.0.path().display().to_string();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(&home, "HOME");
        Run { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Runs the binary into a pipe that nobody reads: its exit code, and what it writes to stderr.
    fn unread(&self, line: &[String]) -> (Option<i32>, String) {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-approve"));
        let command = command.arg("--home").arg(self.0.path()).args(line).stdin(Stdio::null());
        let output = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    fn run(&self, args: &[&str]) -> Run {
        self.run_with("", args)
    }
}

#[test]
fn help_names_every_command_and_exits_0() {
    let home = Home::new();
    for args in [&["--help"][..], &["-h"], &["help"]] {
        let run = home.run(args);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{args:?}");
        for command in ["wrap", "demo", "log", "rules", "tools", "install", "uninstall", "doctor", "completions"] {
            assert!(run.out.contains(&format!("\n  {command} ")), "{args:?} without {command}");
        }
        assert!(!run.out.contains("demo-server") && !run.out.contains("demo-agent"), "hidden commands are shown");
    }
    let nested: &[&[&str]] = &[
        &["wrap"],
        &["demo"],
        &["log"],
        &["rules"],
        &["rules", "explain"],
        &["rules", "add"],
        &["rules", "edit"],
        &["rules", "replay"],
        &["rules", "suggest"],
        &["rules", "import"],
        &["tools", "classify"],
        &["doctor"],
        &["install"],
        &["uninstall"],
        &["completions"],
    ];
    for command in nested {
        let run = home.run(&[command, &["--help"][..]].concat());
        assert_eq!(run.code, 0, "{command:?}: {}", run.err);
        assert!(run.out.lines().all(|line| line.chars().count() <= 100), "{command:?} is too wide");
    }
    assert!(home.run(&["--version"]).out.starts_with("mcp-approve "));
}

#[test]
fn a_wrapper_without_a_servers_command_says_so() {
    let run = Home::new().run(&["--"]);
    assert!(run.code == 2 && run.err.contains("no command follows --") && run.err.contains("npx SERVER"), "{run:?}");
}

#[test]
fn without_a_terminal_it_says_what_to_do_and_exits_2() {
    let run = Home::new().run(&[]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    let says = "error: the console needs a terminal\n  hint: run `mcp-approve --home HOME` in one; `mcp-approve --home HOME -- CMD` wraps";
    assert!(run.err.starts_with(says) && run.err.lines().count() == 2, "{}", run.err);
}

#[test]
fn what_a_pipe_no_longer_reads_ends_quietly() {
    let home = Home::new();
    for args in [&["--help"][..], &["help", "rules"], &["rules", "schema"], &["completions", "zsh"], &["doctor"]] {
        let line: Vec<String> = args.iter().map(|word| (*word).to_owned()).collect();
        // As a shell says it of a program that SIGPIPE ended; never the 0 of an answer that was whole.
        assert_eq!(home.unread(&line), (Some(141), String::new()), "{args:?}");
    }
}

#[test]
fn a_hint_names_the_home_it_is_about() {
    let home = Home::new();
    home.write("config/policy.toml", "version = 2\n");
    let run = home.run(&["rules", "list"]);
    assert!(run.err.contains("`mcp-approve --home HOME rules check`"), "{}", run.err);
    let run = home.run(&["demo"]);
    assert!(run.err.contains("`mcp-approve --home HOME demo`"), "{}", run.err);
}

#[test]
fn wrong_usage_exits_2_and_says_what_to_do() {
    let home = Home::new();
    for (args, says) in [
        (&["--bogus"][..], "unexpected argument '--bogus'"),
        (&["npx", "some-server"], "hint: to wrap a server, put `--` before its command: mcp-approve -- npx"),
        (&["lgo", "list"], "there is no command \"lgo\"\n  hint: did you mean `mcp-approve log`?"),
        (&["lgo", "--", "x"], "hint: did you mean `mcp-approve log`?"),
        (&["wrap"], "no server command was given"),
        (&["--name", "x"], "hint: put it after `--`"),
        (&["--name", "a b", "--", "x"], "use 1 to 64"),
        (&["--observe", "log", "list"], "--observe belongs to wrapping a server"),
        (&["--approval-timeout", "5", "--", "x"], "500ms, 60s, 5m or 1h"),
        (&["--approval-timeout", "0s", "--", "x"], "longer than 0"),
        (&["--host-timeout", "99999999999999999999h", "--", "x"], "at most 30 days"),
        (&["--unattended", "allow", "--", "x"], "invalid value 'allow'"),
        (&["rules", "explain", "HOME/none.json"], "none.json cannot be read"),
        (&["rules", "check", "--policy", "HOME/none.toml"], "none.toml cannot be read"),
        (&["completions", "tcsh"], "invalid value 'tcsh'"),
    ] {
        let run = home.run(args);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}");
        assert!(run.err.contains(says), "{args:?}: {}", run.err);
        assert!(!run.err.contains("use '--"), "{args:?}: {}", run.err);
    }
}

/// A text without its line breaks.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_slip_behind_a_command_is_no_server() {
    for args in [&["log", "lst"][..], &["rules", "lst"], &["doctor", "lst"]] {
        let run = Home::new().run(args);
        assert!(run.code == 2 && !run.err.contains("to wrap a server"), "{args:?}: {}", run.err);
    }
}

#[test]
fn doctor_tells_what_is_broken_and_exits_1() {
    let home = Home::new();
    let run = home.run(&["doctor"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(run.out.contains("L0: stops tool calls"), "{}", run.out);
    home.write("config/policy.toml", "version = 2\n");
    home.write("config/config.toml", "inlin = true\nnmae = 1\n");
    home.write("state/log", "a file\n");
    let run = home.run(&["doctor"]);
    assert_eq!(run.code, 1);
    let out = unwrapped(&run.out);
    for says in [
        "has an error in line 1",
        "unknown key \"inlin\"; did you mean `inline`?",
        "HOME/state/log is not a plain folder",
    ] {
        assert!(out.contains(says), "{says} in {}", run.out);
    }
    assert!(!run.out.contains(['␊', '␠']), "each error on a line: {}", run.out);
    let rows: Value = serde_json::from_str(&home.run(&["doctor", "--json"]).out).unwrap();
    let rows = || rows.as_array().unwrap().iter();
    assert!(rows().any(|row| row["about"] == "policy" && row["state"] == "broken"));
    // The hosts of whoever runs this may have a finding of their own.
    let broken: Vec<_> = rows().filter(|row| row["about"] != "hosts" && row["state"] == "broken").collect();
    assert!(broken.len() == 3 && broken.iter().all(|row| row["mend"].is_string()), "{broken:?}");
}

#[test]
fn linked_state_folders_are_refused() {
    let home = Home::new();
    fs::create_dir_all(home.path("elsewhere")).unwrap();
    fs::create_dir_all(home.path("state")).unwrap();
    symlink(home.path("elsewhere"), home.path("state/run")).unwrap();
    let run = home.run(&["doctor"]);
    assert_eq!(run.code, 1);
    assert!(unwrapped(&run.out).contains("HOME/state/run is not a plain folder: it is a link"), "{}", run.out);
}

#[test]
fn a_wrapper_does_not_start_on_a_broken_configuration() {
    let home = Home::new();
    home.write("config/config.toml", "approval-timeout = 5\n[server.x]\ntrust = \"all\"\n[console]\nthem = 1\n");
    let run = home.run(&["--", "true"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains("config.toml:1:20: `approval-timeout` is of type integer"), "{}", run.err);
    assert!(run.err.contains("config.toml:3:9: `trust` cannot be \"all\""), "{}", run.err);
    assert!(run.err.contains("config.toml:5:1: unknown key \"them\""), "{}", run.err);
}

#[test]
fn no_environment_variable_moves_the_places() {
    let path = |name: &str, value: &str| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_mcp-approve")).env(name, value).args(["rules", "path"]).output().unwrap();
        output.stdout
    };
    let usual = path("UNRELATED", "/nowhere");
    assert!(usual.ends_with(b"/.config/mcp-approve/policy.toml\n"));
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "MCP_APPROVE_HOME"] {
        assert_eq!(path(name, "/nowhere"), usual, "{name}");
    }
}

#[test]
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = Home::new().run(&["completions", shell]);
        assert_eq!(run.code, 0);
        assert!(run.out.contains("mcp-approve"), "{shell}");
    }
}
