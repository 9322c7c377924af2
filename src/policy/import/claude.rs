//! Claude Code's `settings.json`: `permissions.{allow,ask,deny}` and the lists of servers. Knows no other program.
//!
//! There, deny beats ask beats allow. An MCP rule is `mcp__SERVER`, `mcp__SERVER__TOOL` or a glob; an allow must name its
//! server without `*`, else it is skipped; so is a rule with a condition in parentheses.

use serde_json::Value;

use super::imported::{DEFAULT, Imported, NotTheirs, OWN_TOOL, fields, short};
use super::reach::{Name, splits};
use crate::policy::rule::Decision;

const PERMISSIONS: &[&str] = &[
    "allow", "ask", "deny", "defaultMode", "additionalDirectories", "disableBypassPermissionsMode", "disableAutoMode",
];
const SERVERS: &[&str] = &[
    "deniedMcpServers", "disabledMcpjsonServers", "allowedMcpServers", "enabledMcpjsonServers",
    "enableAllProjectMcpServers",
];
const HIDES_SERVERS: &str = "it hides the other servers, and a rule cannot do that";

/// Reads the settings.
pub(super) fn settings(settings: &Value) -> Result<Imported, NotTheirs> {
    let permissions = settings.get("permissions");
    if permissions.is_none() && !SERVERS.iter().any(|key| settings.get(key).is_some()) {
        return Err(NotTheirs::Nothing("`permissions` is missing"));
    }
    let mut found = Imported::default();
    for decision in Decision::ALL.iter().copied() {
        let list = permissions.and_then(|permissions| permissions.get(decision.word()));
        for entry in found.texts(decision.word(), list, decision) {
            rule(&mut found, decision, entry);
        }
    }
    if let Some(mode) = permissions.and_then(|permissions| permissions.get("defaultMode")) {
        found.leave(format!("defaultMode {}", mode.as_str().map_or_else(|| short(mode), str::to_owned)), DEFAULT);
    }
    for key in &PERMISSIONS[4..] {
        let value = permissions.and_then(|permissions| permissions.get(key));
        found.leave_setting(key, value, "it is about the program's own modes and folders");
    }
    found.leave_unknown("permissions.", permissions, PERMISSIONS);
    servers(&mut found, settings);
    if fields(settings.get("hooks")).any(|(event, _)| event == "PreToolUse" || event == "PermissionRequest") {
        found.leave(
            "hooks",
            "the program still runs its hooks; to have a program of yours see each call here, write an [[approver]]",
        );
    }
    Ok(found)
}

fn servers(found: &mut Imported, settings: &Value) {
    for name in found.texts("disabledMcpjsonServers", settings.get("disabledMcpjsonServers"), Decision::Deny) {
        found.carry(Decision::Deny, Name::Is(name), Name::Any);
    }
    for entry in settings.get("deniedMcpServers").and_then(Value::as_array).into_iter().flatten() {
        match entry.get("serverName").and_then(Value::as_str) {
            Some(name) => found.carry(Decision::Deny, Name::Is(name), Name::Any),
            None => {
                let what = format!("deniedMcpServers {}", short(entry));
                let why = "it says how a server is started, not its name; rules go by names";
                found.leave_unclear(Decision::Deny, &what, why);
            }
        }
    }
    for (key, why) in [
        ("allowedMcpServers", HIDES_SERVERS),
        ("enabledMcpjsonServers", "it lets servers start, and asks about their calls all the same"),
        ("enableAllProjectMcpServers", "it lets servers start, and asks about their calls all the same"),
    ] {
        found.leave_setting(key, settings.get(key), why);
    }
}

fn rule(found: &mut Imported, decision: Decision, entry: &str) {
    let (name, condition) = entry.split_once('(').map_or((entry, None), |(name, rest)| (name, Some(rest)));
    let Some(alias) = name.strip_prefix("mcp__") else {
        own(found, decision, entry, name);
        return;
    };
    let (server, tool) = alias.split_once("__").map_or((alias, None), |(server, tool)| (server, Some(tool)));
    let of_tool = tool.map_or(Name::Any, Name::Like);
    if condition.is_some() {
        let why = "its condition on arguments cannot be read; write it as `when`";
        found.leave_one(decision, entry, why, Name::Like(server), of_tool);
    } else if server.is_empty() || tool == Some("") {
        found.leave_unclear(decision, entry, "it is not mcp__SERVER__TOOL");
    } else if decision == Decision::Allow {
        if server.contains('*') {
            found.leave(entry, "an allow must name its server; the program skips it too");
        } else {
            found.carry(decision, Name::Is(server), of_tool);
        }
    } else if tool.is_none() {
        found.carry(decision, Name::Like(server), Name::Any);
    } else {
        // Either name may contain `__`, and `*` matches it too: every split counts, so that no name is missed.
        for (server, tool) in splits(alias, "__") {
            found.carry(decision, Name::Like(server), Name::Like(tool));
            if server.contains('*') && !tool.starts_with('*') {
                found.carry(decision, Name::Like(server), Name::Like(&format!("*__{tool}")));
            }
        }
    }
}

/// A rule that does not begin with `mcp__`: with a `*` before that, it may still match MCP tools.
fn own(found: &mut Imported, decision: Decision, entry: &str, name: &str) {
    let reaches = name.split_once('*').is_some_and(|(before, _)| "mcp__".starts_with(before));
    match decision {
        _ if !reaches => found.leave(entry, OWN_TOOL),
        Decision::Allow => found.leave(entry, "an allow must name its server; the program skips it too"),
        Decision::Ask | Decision::Deny if entry == "*" => found.carry(decision, Name::Any, Name::Any),
        Decision::Ask | Decision::Deny => {
            let why = "its `*` covers parts of both names, the server's and the tool's; write a rule for each server \
                 you mean";
            found.leave_unclear(decision, entry, why);
        }
    }
}
