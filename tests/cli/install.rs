//! `mcp-approve install`, `uninstall` and what `doctor` says of hosts, through the real binary.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use portable_pty::CommandBuilder;
use serde_json::Value;

use super::{Home, Run};
use crate::e2e::console::arms;
use crate::fake::terminal::Terminal;
use crate::fake::{BINARY, copy_binary, log};

const CLAUDE: &str = include_str!("../fixtures/hosts/claude-code.json");
const CODEX: &str = include_str!("../fixtures/hosts/codex.toml");
const GOOSE: &str = include_str!("../fixtures/hosts/goose.yaml");

const FILES: [(&str, &str); 4] = [
    ("user/.claude.json", CLAUDE),
    ("user/.codex/config.toml", CODEX),
    ("user/.config/goose/config.yaml", GOOSE),
    ("user/.cursor/mcp.json", "{}"),
];

fn home() -> Home {
    let home = Home::new();
    for (name, text) in FILES {
        home.write(name, text);
    }
    home
}

impl Home {
    /// Runs a command on this home's hosts.
    fn hosts(&self, args: &[&str]) -> Run {
        let user = self.path("user").display().to_string();
        let run = self.run(&[args, &["--hosts-home", &user]].concat());
        assert!(!run.out.contains("sk-hidden") && !run.err.contains("sk-hidden"), "{}{}", run.out, run.err);
        run
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn is_as_before(&self) -> bool {
        FILES.iter().all(|(name, text)| self.text(name) == *text)
    }
}

#[test]
fn without_a_choice_the_servers_are_listed_and_nothing_changes() {
    let home = home();
    let run = home.hosts(&["install"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    for says in [
        "Claude Code (HOME/user/.claude.json)\n  1  fs: NOT wrapped",
        "     web: reached over the network",
        "Claude Code (HOME/user/.claude.json, for /home/ada/work)\n  5  fs: NOT wrapped",
        "mcp-approve --home HOME install --hosts-home HOME/user --all, or with --host HOST or --server NAME",
    ] {
        assert!(run.out.contains(says), "{says} in {}", run.out);
    }
    let rows: Value = serde_json::from_str(&home.hosts(&["install", "--json"]).out).unwrap();
    assert!(rows.as_array().unwrap().iter().any(|row| row["server"] == "slow one" && row["start"] == "unwrapped"));
    assert!(home.hosts(&["uninstall"]).out.contains("There is no server to unwrap"));
    assert!(home.is_as_before());
}

#[test]
fn all_are_wrapped_and_unwrapped_and_nothing_is_left() {
    let home = home();
    home.mode("user/.claude.json", 0o640);
    let dry = home.hosts(&["install", "--all", "--dry-run"]);
    assert_eq!(dry.code, 0, "{}", dry.out);
    assert!(home.is_as_before() && dry.out.contains("Nothing was changed."));
    assert!(dry.out.contains(": would be wrapped") && !dry.out.contains(": wrapped"), "{}", dry.out);
    let run = home.hosts(&["install", "--all", "--codex-approve"]);
    assert!(
        run.out.contains("slow one: wrapped; rules name it slow_one; `timeout` is raised from 5s to 300s"),
        "{}",
        run.out
    );
    for says in [
        "open the console with `mcp-approve --home HOME`",
        "To undo all of this: mcp-approve --home HOME uninstall --all --hosts-home HOME/user",
    ] {
        assert!(run.out.contains(says), "{says} in {}", run.out);
    }
    let program = env!("CARGO_BIN_EXE_mcp-approve");
    let claude: Value = serde_json::from_str(&home.text("user/.claude.json")).unwrap();
    let fs = &claude["mcpServers"]["fs"];
    assert_eq!(
        (fs["command"].as_str(), fs["args"][0].as_str(), fs["args"][2].as_str()),
        (Some(program), Some("--home"), Some("--name"))
    );
    assert_eq!(fs["env"]["TOKEN"], "sk-hidden-1");
    assert!(home.text("user/.codex/config.toml").contains("default_tools_approval_mode = \"approve\""));
    let again = home.hosts(&["install", "--all", "--codex-approve", "--json"]);
    assert!(!again.out.contains("\"done\":\"wrapped\"") && again.out.contains("\"done\":\"already\""), "{}", again.out);
    assert_eq!(fs::metadata(home.path("user/.claude.json")).unwrap().permissions().mode() & 0o777, 0o640);
    // What Codex is to pass on is written while its servers are wrapped, and asked of wrapped ones it says so.
    let codex = home.text("user/.codex/config.toml");
    let quiet = home.hosts(&["uninstall", "--host", "codex"]);
    assert_eq!((quiet.code, home.hosts(&["install", "--host", "codex"]).code), (0, 0), "{}", quiet.out);
    let late = home.hosts(&["install", "--host", "codex", "--codex-approve"]);
    assert!(late.code == 1 && late.out.contains("--codex-approve counts only while wrapping"), "{}", late.out);
    home.hosts(&["uninstall", "--host", "codex"]);
    home.hosts(&["install", "--host", "codex", "--codex-approve"]);
    assert_eq!(home.text("user/.codex/config.toml"), codex);
    let listed = home.hosts(&["uninstall"]);
    assert!(listed.out.contains("mcp-approve --home HOME uninstall --hosts-home HOME/user --all"), "{}", listed.out);
    let back = home.hosts(&["uninstall", "--all"]);
    assert_eq!((back.code, back.err.as_str()), (0, ""), "{}", back.out);
    assert!(home.is_as_before() && !home.path("state/installed").exists());
    let names = |folder: &str| fs::read_dir(home.path(folder)).unwrap().count();
    assert_eq!((names("user"), names("user/.codex"), names("user/.config/goose")), (4, 1, 1));
}

#[test]
fn limits_that_another_home_has_raised_stay_and_that_is_said() {
    let home = home();
    home.hosts(&["install", "--host", "claude-code"]);
    fs::remove_dir_all(home.path("state/installed")).unwrap();
    let run = home.hosts(&["uninstall", "--host", "claude-code"]);
    let says = "claude.json is not known here; changed limits stay";
    assert!(run.out.contains("unwrapped; the old text of ") && run.out.contains(says), "{}", run.out);
}

#[test]
fn one_host_or_one_server_is_chosen() {
    let home = home();
    assert_eq!(home.hosts(&["install", "--host", "claude-code", "--server", "fs"]).code, 0);
    let claude: Value = serde_json::from_str(&home.text("user/.claude.json")).unwrap();
    let command = |entry: &Value| entry["command"].as_str().unwrap().ends_with("/mcp-approve");
    let servers = &claude["mcpServers"];
    assert!(command(&servers["fs"]) && command(&claude["projects"]["/home/ada/work"]["mcpServers"]["fs"]));
    assert!(!command(&servers["slow one"]));
    assert_eq!(home.text("user/.codex/config.toml"), CODEX);
    let none = home.hosts(&["install", "--server", "nowhere"]);
    assert!(none.code == 2 && none.err.contains("no server of a host matches that"), "{}", none.err);
    let host = home.hosts(&["install", "--host", "emacs"]);
    assert!(host.code == 2 && host.err.contains("claude-code"), "{}", host.err);
    let remote = home.hosts(&["install", "--server", "web"]);
    assert!(
        remote.code == 1 && remote.out.contains("web: left as it is: it is reached over the network"),
        "{}",
        remote.out
    );
    assert!(remote.out.contains("--remote wraps that too"), "{}", remote.out);
    // What --remote would refuse is not offered with it.
    let keyed =
        format!("{CODEX}\n[mcp_servers.keyed]\nurl = \"https://example.com/\"\nhttp_headers = {{ A = \"b\" }}\n");
    fs::write(home.path("user/.codex/config.toml"), keyed).unwrap();
    let refused = home.hosts(&["install", "--server", "keyed"]);
    let why = "keyed: left as it is: it is reached over the network; it has \"http_headers\"";
    assert!(refused.code == 1 && refused.out.contains(why) && !refused.out.contains("--remote"), "{}", refused.out);
    fs::write(home.path("user/.codex/config.toml"), CODEX).unwrap();
    let bridged = home.hosts(&["install", "--host", "codex", "--server", "web", "--remote"]);
    assert!(bridged.code == 0 && bridged.out.contains("web: wrapped; mcp-remote reaches it"), "{}", bridged.out);
    assert!(home.text("user/.codex/config.toml").contains("\"--name\", \"web\", \"--\", \"https://example.com/mcp\"]"));
    assert_eq!(home.hosts(&["uninstall", "--server", "fs", "--server", "web"]).code, 0);
    assert!(home.is_as_before());
}

#[test]
fn a_diff_shows_names_and_command_lines_and_no_other_value() {
    let home = home();
    home.write("user/.cursor/mcp.json", "{\"mcpServers\":{\"a\":{\"type\":\"stdio\",\"disabled\":false,\"timeout\":4711,\"command\":\"npx\",\"args\":[\"a\",\"stdio\",\"--api-key\",\"sk-hidden-a\",\"https://u:sk-hidden-b@x.org\"],\"env\":{\"KEY\":\"sk-hidden-c\"}}}} // sk-hidden-d");
    let run = home.hosts(&["install", "--host", "cursor", "--dry-run"]);
    let program = env!("CARGO_BIN_EXE_mcp-approve");
    let shown = run.out.replace(program, "PROGRAM").replace(&home.path("").display().to_string(), "HOME/");
    insta::assert_snapshot!(shown);
    let rows: Value = serde_json::from_str(&home.hosts(&["install", "--all", "--dry-run", "--json"]).out).unwrap();
    assert!(rows.as_array().unwrap().iter().all(|row| row["diff"].is_string() && row["done"] != "wrapped"));
}

/// Headers, names and indents are shown as they are written; a comment is one mark, whatever it holds.
#[test]
fn a_diff_of_toml_and_yaml_reads_like_the_file() {
    let home = home();
    home.write(
        "user/.codex/config.toml",
        "[mcp_servers.a]\ncommand = \"a\" # sk-hidden-a {b}\ntool_timeout_sec = 60\n\n[mcp_servers.\"two words\"]\n\
         command = \"b\"\nenv.KEY = \"sk-hidden-b\"\n[profiles.\"a.b\".mcp_servers.c]\nurl = \"https://u:sk-hidden-c@x\"\n\
         [profiles.\"a.b\".mcp_servers.d]\ncommand = \"d\"\n",
    );
    home.write(
        "user/.continue/config.yaml",
        "mcpServers:\n  - name: My server # sk-hidden-d - {e}\n    command: a\n    env:\n      L: |\n        sk-hidden-e\n      \
         K: sk-hidden-f\n",
    );
    home.write(
        "user/.gemini/settings.json",
        "{\n            \"mcpServers\": {\n\n                \"a\": { \"command\": \"a\" }\n            }\n}\n",
    );
    let run = home.hosts(&["install", "--host", "codex", "--host", "continue", "--host", "gemini", "--dry-run"]);
    let program = env!("CARGO_BIN_EXE_mcp-approve");
    insta::assert_snapshot!(run.out.replace(program, "PROGRAM").replace(&home.path("").display().to_string(), "HOME/"));
}

/// A host may start what its extensions bring: no command is written anywhere, so none can be wrapped.
#[test]
fn a_server_without_a_command_is_neither_offered_nor_fixed_by_install() {
    let home = home();
    home.write("user/.config/zed/settings.json", "{ \"context_servers\": { \"e\": { \"settings\": {} } } }");
    home.hosts(&["install", "--all"]);
    let listed = home.hosts(&["install"]).out;
    assert!(
        listed.contains("     e: NOT wrapped: its entry has no command to wrap, so mcp-approve sees none of its calls"),
        "{listed}"
    );
    let doctor = home.hosts(&["doctor", "--strict"]);
    let out = super::unwrapped(&doctor.out);
    assert!(doctor.code == 1 && out.contains("e of Zed") && !out.contains("install --all"), "{out}");
}

#[test]
fn what_cannot_be_changed_is_said_and_the_rest_is_done() {
    let home = home();
    home.mode("user/.claude.json", 0o400);
    home.write("user/.cursor/mcp.json", "{ \"mcpServers\": }");
    let run = home.hosts(&["install", "--all"]);
    assert_eq!(run.code, 1);
    for says in ["left as it is: it is read-only: make it writable", "left as it is: line 1", "files: wrapped"] {
        assert!(run.out.contains(says), "{says} in {}", run.out);
    }
    assert!(home.text("user/.claude.json") == CLAUDE && home.text("user/.config/goose/config.yaml") != GOOSE);
    for (program, says) in [("/bin/sh", "is not named mcp-approve"), ("/nowhere/mcp-approve", "is not a file")] {
        let run = home.hosts(&["install", "--all", "--program", program]);
        assert!(run.code == 2 && run.err.contains(says) && run.err.contains("--program FILE"), "{}", run.err);
    }
    let cached = home.path("_npx/1/mcp-approve");
    fs::create_dir_all(cached.parent().unwrap()).unwrap();
    copy_binary(&cached);
    let run =
        std::process::Command::new(cached).args(["install", "--hosts-home"]).arg(home.path("user")).output().unwrap();
    assert!(String::from_utf8(run.stderr).unwrap().contains("lies in a cache"));
}

#[test]
fn a_projects_file_is_found_again_from_any_folder() {
    let home = home();
    home.write("project/.mcp.json", "{ \"mcpServers\": { \"p\": { \"command\": \"p\" } } }\n");
    let user = home.path("user").display().to_string();
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_mcp-approve"))
        .arg("--home")
        .arg(home.path(""))
        .args(["install", "--server", "p", "--hosts-home", &user])
        .current_dir(home.path("project"))
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    assert!(home.text("project/.mcp.json").contains("mcp-approve"));
    let back = home.hosts(&["uninstall", "--all"]);
    assert_eq!(back.code, 0, "{}", back.out);
    assert_eq!(home.text("project/.mcp.json"), "{ \"mcpServers\": { \"p\": { \"command\": \"p\" } } }\n");
}

#[test]
fn doctor_names_the_command_that_fixes_most_and_is_strict_when_asked() {
    let home = home();
    let run = home.hosts(&["doctor"]);
    assert_eq!(run.code, 0, "{}", run.out);
    let out = super::unwrapped(&run.out);
    assert!(out.contains("files of Goose (HOME/user/.config/goose/config.yaml) is NOT wrapped"), "{out}");
    let last = out.rsplit("note").next().unwrap();
    assert!(last.contains("--home HOME install --all --hosts-home HOME/user` fixes 16 of these"), "{last}");
    assert_eq!(home.hosts(&["doctor", "--strict"]).code, 1);
    home.hosts(&["install", "--all"]);
    let run = home.hosts(&["doctor", "--strict"]);
    assert!(
        run.code == 1 && run.out.contains("web of Codex (HOME/user/.codex/config.toml) is reached over"),
        "{}",
        run.out
    );
    assert_eq!(run.out.matches("`allow-unwrapped`").count(), 1, "a hint is said once: {}", run.out);
    home.write("config/config.toml", "allow-unwrapped = [\"web\", \"remote\"]\n");
    let run = home.hosts(&["doctor", "--strict"]);
    assert_eq!(run.code, 0, "{}", run.out);
    home.write("user/.cursor/mcp.json", "{ \"mcpServers\": }");
    assert_eq!(home.hosts(&["doctor"]).code, 0);
    let run = home.hosts(&["doctor", "--strict"]);
    let out = super::unwrapped(&run.out);
    assert!(run.code == 1 && out.contains("broken hosts") && out.contains("what it starts may be unwrapped"), "{out}");
}

#[test]
fn at_a_terminal_servers_are_picked_by_number() {
    let home = home();
    let mut command = CommandBuilder::new(BINARY);
    let (own, user) = (home.path("").display().to_string(), home.path("user").display().to_string());
    command.args(["--home", &own, "install", "--host", "goose", "--hosts-home", &user]);
    let mut terminal = Terminal::running(command, (120, 60));
    assert!(terminal.wait().success(), "what is chosen needs no question");
    let mut command = CommandBuilder::new(BINARY);
    command.args(["--home", &own, "install", "--hosts-home", &user]);
    let mut terminal = Terminal::running(command, (140, 60));
    terminal.shows(&[
        "  2  slow one: NOT wrapped",
        "     files: wrapped",
        "Which to wrap? Numbers, all, or Enter for none >",
    ]);
    terminal.types("2 77\r");
    terminal.shows(&["Give numbers from 1 to"]);
    terminal.types("2, 1\r");
    terminal.shows(&["fs: wrapped", "slow one: wrapped; rules name it slow_one", "Wrapped 2 servers."]);
    // Both are on our list: their pages can be answered before they ever ran.
    terminal.shows(&["We reviewed 2 of these servers"]);
    terminal.types("y\r");
    terminal.shows(&["The page of fs", "[x] list_directory"]);
    terminal.types("\u{1b}");
    terminal.shows(&["The page of slow_one", "[x] git_status", "git_commit", "Enter agrees to the"]);
    arms(&terminal);
    terminal.types("\r");
    terminal.shows(&["Agreed to", "of slow_one."]);
    assert!(terminal.wait().success());
    let agreed = log::of_kind(home.0.path(), "agreed");
    assert!(
        agreed.iter().any(|one| one["tool"] == "git_status") && agreed.iter().all(|one| one["tool"] != "git_commit")
    );
    let claude: Value = serde_json::from_str(&home.text("user/.claude.json")).unwrap();
    assert_eq!(claude["mcpServers"]["none"]["command"], "/opt/bin/server");
    assert_eq!(claude["projects"]["/home/ada/work"]["mcpServers"]["fs"]["command"], "node");
}
