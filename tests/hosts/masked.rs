//! What `install --dry-run` shows of a host's file: no value but command lines, limits and known words, and no comment.

use mcp_approve::hosts::table::{HOSTS, Host};
use mcp_approve::hosts::{Syntax, masked};

const JSON: (&str, Syntax) = ("cursor", Syntax::Json);
const TOML: (&str, Syntax) = ("codex", Syntax::Toml);
const YAML: (&str, Syntax) = ("continue", Syntax::Yaml);

/// A text, and what is shown of it; each `SECRET` is where somebody might keep one.
const CASES: [((&str, Syntax), &str, &str); 14] = [
    (JSON, r#"{"a": "SECRET", "b": 1, "c": [true, null, "http"]}"#, r#"{"a": …, "b": …, "c": [true, null, "http"]}"#),
    (JSON, r#"{"url": "https://u:SECRET@x.org/{a},[b]"}"#, r#"{"url": …}"#),
    (JSON, "{ // SECRET {a}\n  /* SECRET */ \"a\": {} // SECRET }\n}", "{ …\n  … \"a\": {} …\n}"),
    (JSON, "/* SECRET\n * SECRET, {\n   SECRET: } */\n{}", "…\n …\n   …\n{}"),
    (
        JSON,
        r#"{"mcpServers": {"s": {"command": "c", "args": ["a", "--key", "SECRET"], "env": {"K": "SECRET"}}}}"#,
        r#"{"mcpServers": {"s": {"command": "c", "args": ["a", "--key", …], "env": {"K": …}}}}"#,
    ),
    (
        TOML,
        "[mcp_servers.a]\ncommand = \"c\" # SECRET\ntool_timeout_sec = 60\nport = 60\n",
        "[mcp_servers.a]\ncommand = \"c\" …\ntool_timeout_sec = 60\nport = …\n",
    ),
    (TOML, "[a.b]\nx = 1\n[ a . \"c d\" ] # SECRET\ny.z = 'SECRET'\n", "[a.b]\nx = …\n[ a . \"c d\" ] …\ny.z = …\n"),
    (
        TOML,
        "[[a]]\nx = \"\"\"\nSECRET\n[b]\nSECRET\"\"\"\n[[a]]\nx = [\n  # SECRET\n  \"SECRET\",\n]\n",
        "[[a]]\nx = …\n[[…\nx = [\n  …\n  …,\n]\n",
    ),
    (TOML, "x = 1979-05-27T07:32:00Z\n[a] # ] SECRET [\n", "x = …\n[a] …\n"),
    (YAML, "a: SECRET # SECRET - {b}\nb: 'SECRET: SECRET'\nc: [x, true]\n", "a: … …\nb: …\nc: […, true]\n"),
    (YAML, "---\na: |\n  SECRET\n  SECRET: x\nb: >-\n  SECRET\n\n  SECRET\nc: SECRET\n  SECRET\n", ""),
    (YAML, "a: &x SECRET\nb: *x\nc: !t SECRET\nd: &y {k: SECRET}\n", ""),
    (
        YAML,
        "mcpServers:\n  - name: the name # SECRET\n    command: c\n    env:\n      - SECRET\n",
        "mcpServers:\n  - name: the name …\n    command: c\n    env:\n      - …\n",
    ),
    (
        YAML,
        "mcpServers: [{name: one, command: c, args: [--key, SECRET]}]\n",
        "mcpServers: [{name: one, command: c, args: [--key, …]}]\n",
    ),
];

fn host(word: &str) -> &'static Host {
    HOSTS.iter().find(|host| host.word == word).unwrap()
}

#[test]
fn nothing_but_keys_commands_and_limits_is_shown() {
    let hides = |before: Option<&str>, _: &str| before == Some("--key");
    for ((word, syntax), text, shown) in CASES {
        let masked = masked(host(word), syntax, text, &hides).unwrap();
        assert!(!masked.contains("SECRET"), "{text:?} is shown as {masked:?}");
        assert!(shown.is_empty() || masked == shown, "{text:?}\n   {masked:?}\nnot {shown:?}");
    }
}
