//! E6: who takes the wrapper out of a host's list is seen there, whichever host it is and however the list is written.

use std::fs;
use std::path::Path;

use mcp_approve::console::keymap::Key;
use mcp_approve::console::update::Msg;
use mcp_approve::hosts::{self, Lists, Search, Start};
use mcp_approve::link::client::ClientEvent;
use mcp_approve::operator::found::{Finding, Unwrapped};

use crate::desk::{Desk, wrapper};

fn lists(home: &Path, folder: Option<&Path>) -> Lists {
    let folder = folder.map(Path::to_path_buf);
    hosts::lists(&Search { home: home.into(), folder, ..Search::default() }.files())
}

fn write(folder: &Path, place: &str, text: &str) {
    let file = folder.join(place);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn starts(lists: &Lists) -> Vec<(&'static str, &str, Start)> {
    lists.servers.iter().map(|one| (one.host, one.name.as_str(), one.start)).collect()
}

/// One JSON list with this entry under this key.
fn json(key: &str, entry: &str) -> String {
    format!("{{\n  // mine\n  \"{key}\": {{ \"s\": {entry}, }},\n}}")
}

const BARE: &str = r#"{ "command": "npx", "args": ["-y", "server", "mcp-approve", "--"] }"#;
const WRAPPED: &str = r#"{ "command": "/opt/bin/mcp-approve", "args": ["--name", "s", "--", "npx", "--observe"] }"#;

#[test]
fn e6_a_server_that_a_host_starts_without_us_is_told_whichever_host_it_is() {
    for (host, place, key, own) in [
        ("Claude Code", ".claude.json", "mcpServers", true),
        ("Claude Code", ".mcp.json", "mcpServers", false),
        ("Claude Desktop", ".config/Claude/claude_desktop_config.json", "mcpServers", true),
        ("Claude Desktop", "Library/Application Support/Claude/claude_desktop_config.json", "mcpServers", true),
        ("Cursor", ".cursor/mcp.json", "mcpServers", true),
        ("Cursor", ".cursor/mcp.json", "mcpServers", false),
        ("Gemini CLI", ".gemini/settings.json", "mcpServers", true),
        ("Gemini CLI", ".gemini/settings.json", "mcpServers", false),
        ("VS Code", ".config/Code/User/mcp.json", "servers", true),
        ("VS Code", "Library/Application Support/Code/User/mcp.json", "servers", true),
        ("VS Code", ".vscode/mcp.json", "servers", false),
        ("Zed", ".config/zed/settings.json", "context_servers", true),
        ("Zed", ".zed/settings.json", "context_servers", false),
        ("Claude Code", ".claude/.config.json", "mcpServers", true),
        ("Gemini CLI", ".gemini/extensions/weather/gemini-extension.json", "mcpServers", true),
        ("Qwen Code", ".qwen/extensions/weather/qwen-extension.json", "mcpServers", false),
        ("opencode", ".opencode/opencode.json", "mcp", true),
        ("Kiro", ".kiro/agents/reviewer.json", "mcpServers", true),
        ("Antigravity", ".gemini/config/mcp_config.json", "mcpServers", true),
        ("Antigravity", ".agents/mcp_config.json", "mcpServers", false),
        ("mcp.json", ".config/mcp/mcp.json", "mcpServers", true),
        ("mcp.json", "mcp.json", "mcpServers", false),
    ] {
        for (entry, start) in [(BARE, Start::Unwrapped), (WRAPPED, Start::Wrapped)] {
            let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            write(if own { home.path() } else { project.path() }, place, &json(key, entry));
            let found = lists(home.path(), Some(project.path()));
            assert_eq!(starts(&found), [(host, "s", start)], "{place}");
            assert_eq!((found.files, &found.unread[..]), (1, &[][..]), "{place}");
        }
    }
}

#[test]
fn e6_only_the_program_that_is_started_counts_and_not_a_word_behind_it() {
    let home = tempfile::tempdir().unwrap();
    let start = |entry: &str| {
        write(home.path(), ".cursor/mcp.json", &json("mcpServers", entry));
        lists(home.path(), None).servers.first().map(|one| one.start)
    };
    for (entry, wanted) in [
        (r#"{ "command": "sh", "args": ["-c", "mcp-approve -- x"] }"#, Some(Start::Unwrapped)),
        (r#"{ "command": "mcp-approve-not", "args": ["--", "x"] }"#, Some(Start::Unwrapped)),
        (r#"{ "command": "env", "args": ["A=1", "mcp-approve", "--", "x"] }"#, Some(Start::Wrapped)),
        (r#"{ "command": "env", "args": ["A=1", "x", "mcp-approve"] }"#, Some(Start::Unwrapped)),
        (r#"{ "command": { "path": "mcp-approve", "args": ["--observe", "--", "x"] } }"#, Some(Start::Observed)),
        (r#"{ "command": "mcp-approve", "args": ["--", "x", "--observe"] }"#, Some(Start::Wrapped)),
        (r#"{ "url": "https://example.com/mcp" }"#, Some(Start::Remote)),
        (r#"{ "command": "x", "url": "https://example.com/mcp" }"#, Some(Start::Unwrapped)),
        ("{}", Some(Start::Elsewhere)),
        (r#"{ "command": "x", "disabled": true }"#, None),
        (r#"{ "command": "x", "enabled": false }"#, None),
    ] {
        assert_eq!(start(entry), wanted, "{entry}");
    }
}

#[test]
fn e6_projects_and_tables_are_read_and_what_cannot_be_read_is_told() {
    let home = tempfile::tempdir().unwrap();
    let projects = r#"{ "mcpServers": {}, "projects": { "/work/a": { "mcpServers": { "s": { "command": "x" } } } } }"#;
    write(home.path(), ".claude.json", projects);
    let table =
        "[mcp_servers.one]\ncommand = \"mcp-approve\"\nargs = [\"--\", \"x\"]\n[mcp_servers.two]\ncommand = \"x\"\n";
    write(home.path(), ".codex/config.toml", table);
    write(home.path(), ".cursor/mcp.json", "{ not json");
    fs::create_dir_all(home.path().join(".gemini/settings.json")).unwrap();
    let found = lists(home.path(), Some(home.path()));
    let wanted =
        [("Claude Code", "s", Start::Unwrapped), ("Codex", "one", Start::Wrapped), ("Codex", "two", Start::Unwrapped)];
    assert_eq!(starts(&found), wanted);
    assert_eq!(found.servers[0].project.as_deref(), Some("/work/a"));
    let unread: Vec<&str> = found.unread.iter().map(|one| one.host).collect();
    assert_eq!(unread, ["Cursor", "Gemini CLI"]);
    assert_eq!(lists(&home.path().join("nobody"), None), Lists::default());
}

#[test]
fn e6_a_pipe_in_a_lists_place_keeps_nobody_waiting() {
    let home = tempfile::tempdir().unwrap();
    let pipe = home.path().join(".mcp.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (tell, told) = std::sync::mpsc::channel();
    let project = home.path().to_owned();
    std::thread::spawn(move || tell.send(lists(Path::new("/nowhere"), Some(&project))));
    let found = told.recv_timeout(std::time::Duration::from_secs(20)).expect("it waits for somebody to write");
    assert_eq!(found.unread[0].why, "it is not a plain file");
}

#[test]
fn e6_the_console_shows_what_is_not_wrapped_and_how_to_mend_it() {
    let mut desk = Desk::new(80, 24);
    desk.link(ClientEvent::Connected(wrapper("filesystem", "files")));
    desk.keys("6");
    let server = "evil\u{1b}[2J".to_owned();
    let unwrapped = Unwrapped { server, host: "Cursor".into(), list: "/home/ada/.cursor/mcp.json".into() };
    desk.send(Msg::Found(Finding::Hosts(vec![unwrapped])));
    desk.line("1 running · 1 NOT wrapped");
    desk.line("✗ evil␛[2J");
    desk.press(Key::Down);
    desk.press(Key::Enter);
    desk.line("its host starts it without mcp-approve: none of its calls is");
    desk.line("/home/ada/.cursor/mcp.json");
    desk.line("run mcp-approve install");
}
