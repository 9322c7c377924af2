//! Other programs' permissions as rules: what is carried over, what is left and named, and that nothing gets looser.

use mcp_approve::policy::import::{Host, Imported, NotTheirs, import};
use mcp_approve::policy::lint::lint;
use mcp_approve::policy::parse::parse;

fn imported(host: Host, text: &str) -> Imported {
    let found = import(host, text).unwrap();
    let rules = found.rules(host, |_| false).join("\n");
    let problems = parse(&format!("version = 1\n{rules}")).err();
    assert!(problems.is_none(), "{problems:?}\n{rules}");
    found
}

const FILES: [(Host, &str, &str); 7] = [
    (Host::Claude, "claude", include_str!("../fixtures/import/claude.settings.json")),
    (Host::Cursor, "cursor-ide", include_str!("../fixtures/import/cursor.permissions.json")),
    (Host::Cursor, "cursor-cli", include_str!("../fixtures/import/cursor.cli-config.json")),
    (Host::Gemini, "gemini-settings", include_str!("../fixtures/import/gemini.settings.json")),
    (Host::Gemini, "gemini-policy", include_str!("../fixtures/import/gemini.policy.toml")),
    (Host::Codex, "codex", include_str!("../fixtures/import/codex.config.toml")),
    (Host::Zed, "zed", include_str!("../fixtures/import/zed.settings.json")),
];

/// A file as people have it, with the odd ends: what is written, and what is named.
#[test]
fn realistic_files() {
    for (host, name, text) in FILES {
        let found = imported(host, text);
        let left: Vec<String> = found.left.iter().map(|left| format!("# {}: {}", left.what, left.why)).collect();
        let told = format!("{}\n{}", found.rules(host, |_| false).join("\n"), left.join("\n"));
        insta::assert_snapshot!(format!("imported_{name}"), told);
        let policy = parse(&format!("version = 1\n{}", found.rules(host, |_| false).join("\n"))).unwrap();
        let never: Vec<_> = lint(&policy, super::NOW).into_iter().filter(|one| one.what.contains("never")).collect();
        assert!(never.is_empty(), "{name}: {never:?}");
    }
}

/// `allow server.tool` for each that was carried over, `-` and the words for each that was not.
fn told(host: Host, text: &str) -> Vec<String> {
    let found = imported(host, text);
    let carried = found.carried.iter().map(|one| format!("{} {}.{}", one.decision.word(), one.server, one.tool));
    carried.chain(found.left.iter().map(|left| format!("- {}", left.what))).collect()
}

#[test]
fn claude() {
    let settings = r#"{ "permissions": { "allow": ["mcp__github__*", "mcp__memory", "mcp__fs__read_file", "Bash(ls:*)"],
        "ask": ["mcp__fs__write_file"], "deny": ["mcp__fs__delete_*", "Read(./.env)"], "defaultMode": "acceptEdits" } }"#;
    assert_eq!(
        told(Host::Claude, settings),
        [
            "allow github.*", "allow memory.*", "allow fs.read_file", "ask fs.write_file", "deny fs.delete_*",
            "- Bash(ls:*)", "- Read(./.env)", "- defaultMode acceptEdits",
        ]
    );
    // A denial that could not be carried over takes the allow that it narrowed with it.
    let narrowed = r#"{ "permissions": { "allow": ["mcp__a__x", "mcp__a__y"], "deny": ["mcp__a__x(path:/etc)"] } }"#;
    assert_eq!(told(Host::Claude, narrowed), ["allow a.y", "- mcp__a__x(path:/etc)", "- allow a: x"]);
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
            "deny fs.delete_file", "allow fs.a", "deny c.*", "- fs: includeTools a", "- mcp.allowed fs",
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
            "deny docs.purge",
            "allow docs.*",
            "ask docs.publish",
            "ask mail.*",
            "- db: enabled_tools query",
            "- db: default_tools_approval_mode \"writes\"",
            "- allow mail: list",
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
            "allow github.list_issues", "deny github.delete_repo", "- tool_permissions.default \"confirm\"",
            "- always_allow_tool_actions", "- mcp:github:search always_deny", "- terminal", "- allow github: search",
        ]
    );
}

/// What a host keeps from its agent stays kept: an allow reaches no tool that could not be called there.
#[test]
fn nothing_gets_wider() {
    for (host, text, wanted) in [
        (
            Host::Gemini,
            r#"{ "mcpServers": { "fs": { "trust": true, "includeTools": ["read(path)"] } } }"#,
            vec!["allow fs.read", "- fs: includeTools read"],
        ),
        (
            Host::Codex,
            "[mcp_servers.db]\ndefault_tools_approval_mode = 'approve'\nenabled_tools = ['q', 'x']\ntools.x.approval_mode = 'auto'",
            vec!["allow db.q", "ask db.x", "- db: enabled_tools q, x", "- db: x = \"auto\""],
        ),
        // There, these are plain names.
        (Host::Codex, "[mcp_servers.'*']\ndefault_tools_approval_mode = 'approve'", vec!["- allow *: *"]),
        (
            Host::Zed,
            r#"{ "agent": { "tool_permissions": { "tools": { "mcp:a:*": { "default": "allow" } } } } }"#,
            vec!["- allow a: *"],
        ),
        // A list that cannot be read whole takes its allows along.
        (
            Host::Claude,
            r#"{ "permissions": { "allow": ["mcp__a"], "deny": [{ "tool": "mcp__a__x" }] } }"#,
            vec!["- deny {\"tool\":\"mcp__a__x\"}", "- allow a: *"],
        ),
        (
            Host::Claude,
            r#"{ "permissions": { "allow": ["mcp__a", "*", "mcp__b*"], "deny": ["*__drop"], "ask": "mcp__c" } }"#,
            vec!["ask c.*", "- *", "- mcp__b*", "- *__drop", "- allow a: *"],
        ),
        (
            Host::Claude,
            r#"{ "permissions": { "deny": ["mcp__*__drop", "mcp__a__b__c", "*"] } }"#,
            vec!["deny *.drop", "deny *.*__drop", "deny a.b__c", "deny a__b.c", "deny *.*"],
        ),
        (
            Host::Cursor,
            r#"{ "permissions": { "allow": ["Mcp(a:x)"], "deny": ["Mcp(a)"] } }"#,
            vec!["- Mcp(a)", "- allow a: x"],
        ),
        (
            Host::Cursor,
            r#"{ "mcpServers": { "a": { "autoApprove": ["x", "*"], "disabledTools": ["z"] }, "b": { "alwaysAllow": ["y"], "disabled": true } } }"#,
            vec!["allow a.x", "deny a.z", "- a: autoApprove *", "- b: disabled", "- allow b: y"],
        ),
        // Lower than every allow, it is a default; else it is a rule.
        (
            Host::Gemini,
            "[[rule]]\nmcpName = 'a'\ndecision = 'allow'\npriority = 5\n[[rule]]\ntoolName = '*'\ndecision = 'ask_user'\npriority = 5",
            vec!["ask *.*", "- allow a: *"],
        ),
        (Host::Claude, r#"{ "permissions": { "deny": ["mcp__a___b"] } }"#, vec!["deny a._b", "deny a_.b"]),
        // No name is no tool, and not every tool.
        (Host::Gemini, "[[rule]]\nmcpName = 'a'\ntoolName = []\ndecision = 'allow'", vec![]),
        (
            Host::Gemini,
            "[[rule]]\nmcpName = 'a'\ntoolName = { x = 1 }\ndecision = 'allow'",
            vec!["- toolName {\"x\":1}"],
        ),
        (
            Host::Gemini,
            "[[rule]]\nmcpName = 'a'\ntoolName = ['get_*', 'a*b*']\ndecision = 'allow'",
            vec!["allow a.get_*", "- allow a: a*b*"],
        ),
        (
            Host::Gemini,
            "[[rule]]\ntoolName = 'mcp_my_db_drop'\ndecision = 'deny'\n[[safety_checker]]\nmcpName = 'a'\n[[rule]]\nmcpName = 'a'\ndecision = 'allow'",
            vec!["deny my.db_drop", "deny my_db.drop", "- {\"mcpName\":\"a\"}", "- allow a: *"],
        ),
    ] {
        assert_eq!(told(host, text), wanted, "{text}");
    }
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
    for host in Host::ALL.iter().copied() {
        assert!(matches!(import(host, "= {"), Err(NotTheirs::Unreadable(..))), "{host:?}");
        let empty = if host == Host::Codex { "" } else { "{}" };
        assert!(matches!(import(host, empty), Err(NotTheirs::Nothing(_))), "{host:?}");
    }
}

/// What a file may have besides, each where it takes or gives something: a denial that is left out takes the allows with it.
const ODD: &[(Host, &str)] = &[
    (
        Host::Claude,
        r#"{ "permissions": { "allow": ["mcp__a__x", "mcp__", "mcp__*__y", "mcp__b__x", 7], "deny": ["mcp__a__", "mcp__c", "mcp__b__x(1)"] },
            "hooks": { "PreToolUse": [] }, "disabledMcpjsonServers": ["off"], "deniedMcpServers": [{ "serverName": "no" }, { "command": "x" }] }"#,
    ),
    (
        Host::Claude,
        r#"{ "permissions": { "allow": ["mcp__a__x"], "strange": 1 }, "hooks": { "PermissionRequest": [] } }"#,
    ),
    (
        Host::Claude,
        r#"{ "permissions": { "allow": ["mcp__a__x"] }, "hooks": { "Stop": [] }, "enableAllProjectMcpServers": true }"#,
    ),
    (
        Host::Codex,
        r#"
approval_policy = "never"
[apps.x]
enabled = true
[profiles.one]
approval_policy = "never"
[profiles.two]
model = "x"
[profiles.three.mcp_servers.a]
enabled = true
[mcp_servers.a]
default_tools_approval_mode = "approve"
enabled_tools = ["x", "y"]
[mcp_servers.a.tools.y]
approval_mode = "writes"
[mcp_servers.a.tools.z]
approval_mode = "approve"
[mcp_servers.b]
default_tools_approval_mode = "writes"
enabled = false
[mcp_servers.b.tools.x]
approval_mode = "auto"
[mcp_servers.b.tools.y]
approval_mode = "prompt"
[mcp_servers.c]
default_tools_approval_mode = "auto"
[mcp_servers.d]
default_tools_approval_mode = "approve"
enabled = false
"#,
    ),
    (
        Host::Cursor,
        r#"{ "permissions": { "allow": ["Mcp(a:x)", "Mcp(:y)", "Mcp(b:)", "Mcp(c:[z])"], "deny": ["Mcp(b:)"], "strange": 1 }, "approvalMode": "x" }"#,
    ),
    (Host::Cursor, r#"{ "mcpAllowlist": ["a:x", "b:?", " c : y "], "autoRun": { "allow_instructions": ["x"] } }"#),
    (
        Host::Gemini,
        r#"{ "mcpServers": { "a": { "trust": true, "includeTools": ["x(1)"] }, "a_b": { "trust": true } }, "policyPaths": ["p"],
            "tools": { "core": ["ls"], "allowed": ["mcp_a_b_c", "a__x", "mcp_a_x(1)", "*", "x*"], "exclude": ["mcp_*_t", "mcp_*", "b__y__z"] },
            "mcp": { "excluded": ["*"] } }"#,
    ),
    (
        Host::Gemini,
        r#"
[[rule]]
decision = "ask_user"
priority = 1
[[rule]]
mcpName = "a"
decision = "allow"
priority = 9
[[rule]]
mcpName = "b"
toolName = ["x*", "*", "a*b"]
decision = "allow"
[[rule]]
mcpName = "*"
toolName = "mcp_no"
decision = "maybe"
[[rule]]
commandPrefix = "git"
decision = "allow"
[[safety_checker]]
mcpName = "a"
toolName = "x"
"#,
    ),
    (
        Host::Gemini,
        r#"
[[rule]]
decision = "ask_user"
priority = 5
[[rule]]
mcpName = "a"
decision = "allow"
priority = 1
[[rule]]
mcpName = "b"
decision = "allow"
priority = 7
"#,
    ),
    (
        Host::Zed,
        r#"{ "agent": { "tool_permissions": { "default": "deny", "strange": 1, "tools": {
            "mcp:a:x": { "default": "allow", "strange": 1 }, "mcp:a:y": { "default": "deny" }, "mcp:b:z": { "default": "perhaps" }, "mcp:b:w": { "default": "allow" },
            "mcp::x": { "default": "allow" }, "mcp:a:": { "default": "allow" }, "mcp:a": { "default": "allow" }, "mcp:c:x": { "default": "confirm" } } },
            "profiles": { "p": { "context_servers": {} }, "q": {} }, "always_allow_tool_actions": true },
            "context_servers": { "a": { "enabled": false }, "c": { "enabled": true } } }"#,
    ),
    (
        Host::Zed,
        r#"{ "agent": { "tool_permissions": { "default": "confirm", "tools": { "mcp:a:x": { "default": "allow" } } } } }"#,
    ),
];

#[test]
fn what_a_file_may_have_besides_is_carried_or_named() {
    let all: Vec<String> = ODD
        .iter()
        .map(|(host, text)| {
            let found = imported(*host, text);
            let left: Vec<String> = found.left.iter().map(|left| format!("# {}: {}", left.what, left.why)).collect();
            format!(
                "## {text}\n{}\n{}\n{}\n",
                told(*host, text).join("\n"),
                found.rules(*host, |_| false).join("\n"),
                left.join("\n")
            )
        })
        .collect();
    insta::assert_snapshot!(all.join("\n"));
}
