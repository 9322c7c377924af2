//! Other programs' permissions as rules: what is carried over, what is left and named, and that nothing gets looser.

use mcp_approve::policy::import::{Host, Imported, NotTheirs, import};
use mcp_approve::policy::parse::parse;

fn imported(host: Host, text: &str) -> Imported {
    let found = import(host, text).unwrap();
    let rules = found.rules(host, |_| false).join("\n");
    let problems = parse(&format!("version = 1\n{rules}")).err();
    assert!(problems.is_none(), "{problems:?}\n{rules}");
    found
}

/// `allow server.tool` for each that was carried over, `-` and the words for each that was not.
fn told(host: Host, text: &str) -> Vec<String> {
    let found = imported(host, text);
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "*".to_owned());
    let carried =
        found.carried.iter().map(|one| format!("{} {}.{}", one.decision.word(), name(&one.server), name(&one.tool)));
    carried.chain(found.left.iter().map(|left| format!("- {}", left.what))).collect()
}

#[test]
fn claude() {
    let settings = r#"{ "permissions": { "allow": ["mcp__github__*", "mcp__memory", "mcp__fs__read_file", "Bash(ls:*)"],
        "ask": ["mcp__fs__write_file"], "deny": ["mcp__fs__delete_*", "Read(./.env)"], "defaultMode": "acceptEdits" } }"#;
    assert_eq!(
        told(Host::Claude, settings),
        [
            "allow github.*",
            "allow memory.*",
            "allow fs.read_file",
            "ask fs.write_file",
            "deny fs.delete_*",
            "- Bash(ls:*)",
            "- Read(./.env)",
            "- defaultMode acceptEdits",
        ]
    );
    // A denial that could not be carried over takes the allow that it narrowed with it.
    let narrowed = r#"{ "permissions": { "allow": ["mcp__a__x", "mcp__a__y"], "deny": ["mcp__a__x(path:/etc)"] } }"#;
    assert_eq!(told(Host::Claude, narrowed), ["allow a.y", "- mcp__a__x(path:/etc)", "- a: x"]);
}

#[test]
fn cursor() {
    let ide = r#"{ "mcpAllowlist": ["github:list_issues", "*:search", "nonsense"], "terminalAllowlist": ["git"] }"#;
    assert_eq!(told(Host::Cursor, ide), ["allow github.list_issues", "allow *.search", "- nonsense", "- git"]);
    let cli = r#"{ "permissions": { "allow": ["Mcp(fs:*)", "Shell(ls)"], "deny": ["Mcp(fs:delete_file)"] } }"#;
    assert_eq!(told(Host::Cursor, cli), ["allow fs.*", "deny fs.delete_file", "- Shell(ls)"]);
}

#[test]
fn gemini() {
    let settings = r#"{ // mine
        "mcpServers": { "fs": { "trust": true, "excludeTools": ["delete_file"], "includeTools": ["a"], }, "b": {} },
        "mcp": { "allowed": ["fs"], "excluded": ["c"] }, "tools": { "allowed": ["run_shell_command(git)"] } }"#;
    assert_eq!(
        told(Host::Gemini, settings),
        [
            "allow fs.*",
            "deny fs.delete_file",
            "deny c.*",
            "- fs: includeTools a",
            "- mcp.allowed fs",
            "- tools.allowed run_shell_command(git)",
        ]
    );
    let policy = r#"
[[rule]]
mcpName = "fs"
toolName = ["read_file", "list"]
decision = "allow"
priority = 100
[[rule]]
toolName = "git__push"
decision = "ask_user"
priority = 200
[[rule]]
mcpName = "web"
decision = "allow"
[[rule]]
mcpName = "web"
toolName = "fetch"
argsPattern = "secret"
decision = "deny"
[[rule]]
toolName = "run_shell_command"
decision = "deny"
"#;
    let found = told(Host::Gemini, policy);
    assert_eq!(found[..3], ["allow fs.read_file", "allow fs.list", "ask git.push"]);
    assert!(!found.iter().any(|one| one.starts_with("allow web")), "a denial of it was left out: {found:?}");
    assert_eq!(found.len(), 7, "{found:?}");
}

#[test]
fn codex() {
    let config = r#"
model = "x"
[mcp_servers.docs]
command = "docs"
default_tools_approval_mode = "approve"
disabled_tools = ["purge"]
[mcp_servers.docs.tools.publish]
approval_mode = "prompt"
[mcp_servers.mail]
default_tools_approval_mode = "prompt"
[mcp_servers.mail.tools.list]
approval_mode = "approve"
[mcp_servers.db]
default_tools_approval_mode = "writes"
enabled_tools = ["query"]
"#;
    assert_eq!(
        told(Host::Codex, config),
        [
            "allow docs.*",
            "ask docs.publish",
            "deny docs.purge",
            "ask mail.*",
            "- db = writes",
            "- db: enabled_tools query",
            "- mail: list",
        ]
    );
}

#[test]
fn zed() {
    let settings = r#"// Zed
    { "agent": { "tool_permissions": { "default": "confirm", "tools": {
        "mcp:github:list_issues": { "default": "allow" }, /* fine */
        "mcp:github:delete_repo": { "default": "deny" },
        "mcp:github:search": { "default": "allow", "always_deny": [{ "pattern": "x" }] },
        "terminal": { "default": "allow" },
    } }, "always_allow_tool_actions": true } }"#;
    assert_eq!(
        told(Host::Zed, settings),
        [
            "allow github.list_issues",
            "deny github.delete_repo",
            "- tool_permissions.default confirm",
            "- always_allow_tool_actions",
            "- mcp:github:search always_deny",
            "- terminal",
            "- github: search",
        ]
    );
}

#[test]
fn rules_are_one_for_each_server_and_decision() {
    let settings = r#"{ "permissions": { "allow": ["mcp__fs__a", "mcp__fs__b[1]", "mcp__fs__a", "mcp__x"] } }"#;
    let found = imported(Host::Claude, settings);
    insta::assert_snapshot!(found.rules(Host::Claude, |id| id == "claude-allow-fs").join("\n"), @r#"
    [[rule]]
    id = "claude-allow-fs-2"
    decision = "allow"
    server = "fs"
    tool = ["a", "b\\[1\\]"]
    note = "imported from claude"

    [[rule]]
    id = "claude-allow-x"
    decision = "allow"
    server = "x"
    note = "imported from claude"
    "#);
}

#[test]
fn what_is_no_such_file_is_told() {
    for host in Host::ALL {
        assert!(matches!(import(host, "= {"), Err(NotTheirs::Unreadable(_))), "{host:?}");
        let empty = if host == Host::Codex { "" } else { "{}" };
        assert!(matches!(import(host, empty), Err(NotTheirs::Nothing(_))), "{host:?}");
    }
}
