//! Permissions of Claude Code, Codex, Cursor and Zed, one program after the other. None knows another.
//!
//! Claude Code (`settings.json`: `permissions.{allow,ask,deny}` and the lists of servers): deny beats ask beats allow. An MCP
//! rule is `mcp__SERVER`, `mcp__SERVER__TOOL` or a glob; an allow must name its server without `*`, else it is skipped; so is
//! a rule with a condition in parentheses.
//!
//! Codex (`config.toml`: `[mcp_servers.NAME]`): a tool's own mode goes before its server's: `approve` runs it, `prompt` asks,
//! `auto` or any other word leaves it to the program. Names have no wildcards.
//!
//! Cursor (`permissions.json`, `cli-config.json`, `mcp.json`): lists of `SERVER:TOOL`. Zed (`settings.json`:
//! `agent.tool_permissions`): a tool's own default goes before the general one, and patterns before both.

use serde_json::Value;

use super::{DEFAULT, ForeignName, HIDES_TOOLS, Imported, NotTheirs, OWN_TOOL, fields, short, splits};
use crate::policy::rule::Decision;

const PERMISSIONS: &[&str] = &[
    "allow", "ask", "deny", "defaultMode", "additionalDirectories", "disableBypassPermissionsMode", "disableAutoMode",
];
const SERVERS: &[&str] = &[
    "deniedMcpServers", "disabledMcpjsonServers", "allowedMcpServers", "enabledMcpjsonServers",
    "enableAllProjectMcpServers",
];
const HIDES_SERVERS: &str = "it hides the other servers, and a rule cannot do that";

pub(super) fn claude(settings: &Value) -> Result<Imported, NotTheirs> {
    let permissions = settings.get("permissions");
    if permissions.is_none() && !SERVERS.iter().any(|key| settings.get(key).is_some()) {
        return Err(NotTheirs::Nothing("`permissions` is missing"));
    }
    let mut found = Imported::default();
    for decision in Decision::ALL.iter().copied() {
        let list = permissions.and_then(|permissions| permissions.get(decision.word()));
        for entry in found.texts(decision.word(), list, decision) {
            claude_rule(&mut found, decision, entry);
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
    claude_servers(&mut found, settings);
    if fields(settings.get("hooks")).any(|(event, _)| event == "PreToolUse" || event == "PermissionRequest") {
        found.leave(
            "hooks",
            "the program still runs its hooks; to have a program of yours see each call here, write an [[approver]]",
        );
    }
    Ok(found)
}

fn claude_servers(found: &mut Imported, settings: &Value) {
    for name in found.texts("disabledMcpjsonServers", settings.get("disabledMcpjsonServers"), Decision::Deny) {
        found.carry(Decision::Deny, ForeignName::Is(name), ForeignName::Any);
    }
    for entry in settings.get("deniedMcpServers").and_then(Value::as_array).into_iter().flatten() {
        match entry.get("serverName").and_then(Value::as_str) {
            Some(name) => found.carry(Decision::Deny, ForeignName::Is(name), ForeignName::Any),
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

fn claude_rule(found: &mut Imported, decision: Decision, entry: &str) {
    let (name, condition) = entry.split_once('(').map_or((entry, None), |(name, rest)| (name, Some(rest)));
    let Some(alias) = name.strip_prefix("mcp__") else {
        claude_own(found, decision, entry, name);
        return;
    };
    let (server, tool) = alias.split_once("__").map_or((alias, None), |(server, tool)| (server, Some(tool)));
    let of_tool = tool.map_or(ForeignName::Any, ForeignName::Like);
    if condition.is_some() {
        let why = "its condition on arguments cannot be read; write it as `when`";
        found.leave_one(decision, entry, why, ForeignName::Like(server), of_tool);
    } else if server.is_empty() || tool == Some("") {
        found.leave_unclear(decision, entry, "it is not mcp__SERVER__TOOL");
    } else if decision == Decision::Allow {
        if server.contains('*') {
            found.leave(entry, "an allow must name its server; the program skips it too");
        } else {
            found.carry(decision, ForeignName::Is(server), of_tool);
        }
    } else if tool.is_none() {
        found.carry(decision, ForeignName::Like(server), ForeignName::Any);
    } else {
        // Either name may contain `__`, and `*` matches it too: every split counts, so that no name is missed.
        for (server, tool) in splits(alias, "__") {
            found.carry(decision, ForeignName::Like(server), ForeignName::Like(tool));
            if server.contains('*') && !tool.starts_with('*') {
                found.carry(decision, ForeignName::Like(server), ForeignName::Like(&format!("*__{tool}")));
            }
        }
    }
}

/// A rule that does not begin with `mcp__`: with a `*` before that, it may still match MCP tools.
fn claude_own(found: &mut Imported, decision: Decision, entry: &str, name: &str) {
    let reaches = name.split_once('*').is_some_and(|(before, _)| "mcp__".starts_with(before));
    match decision {
        _ if !reaches => found.leave(entry, OWN_TOOL),
        Decision::Allow => found.leave(entry, "an allow must name its server; the program skips it too"),
        Decision::Ask | Decision::Deny if entry == "*" => found.carry(decision, ForeignName::Any, ForeignName::Any),
        Decision::Ask | Decision::Deny => {
            let why = "its `*` covers parts of both names, the server's and the tool's; write a rule for each server \
                 you mean";
            found.leave_unclear(decision, entry, why);
        }
    }
}

pub(super) fn codex(config: &Value) -> Result<Imported, NotTheirs> {
    let (servers, plugins) = (config.get("mcp_servers"), config.get("plugins"));
    if servers.is_none() && plugins.is_none() {
        return Err(NotTheirs::Nothing("`[mcp_servers.NAME]` is missing"));
    }
    let mut found = Imported::default();
    let of_plugins = fields(plugins).flat_map(|(_, plugin)| fields(plugin.get("mcp_servers")));
    for (name, server) in fields(servers).chain(of_plugins) {
        codex_server(&mut found, name, server);
    }
    if fields(config.get("apps")).next().is_some() {
        found.leave("apps", "they are not started as servers, so there is nothing to wrap");
    }
    found.leave_setting("approval_policy", config.get("approval_policy"), DEFAULT);
    for (name, profile) in fields(config.get("profiles")) {
        if profile.get("mcp_servers").is_some() || profile.get("approval_policy").is_some() {
            found.leave(format!("profiles.{name}"), "a policy has no profiles; name another file with --policy");
        }
    }
    Ok(found)
}

fn codex_server(found: &mut Imported, name: &str, server: &Value) {
    let of = |tool: &str| format!("{name}: {tool}");
    let enabled = server.get("enabled_tools").map(|list| found.texts(&of("enabled_tools"), Some(list), Decision::Deny));
    if let Some(enabled) = &enabled {
        found.leave(of(&format!("enabled_tools {}", enabled.join(", "))), HIDES_TOOLS);
    }
    let is_enabled = |tool: &str| enabled.as_ref().is_none_or(|enabled| enabled.contains(&tool));
    found.deny_tools(name, server, "disabled_tools");
    let usual = server.get("default_tools_approval_mode");
    let approved = usual.and_then(Value::as_str) == Some("approve");
    match (usual.and_then(Value::as_str), &enabled) {
        (Some("approve"), Some(enabled)) => {
            let own = |tool: &&&str| server.pointer("/tools").and_then(|tools| tools.get(**tool)).is_none();
            enabled
                .iter()
                .filter(own)
                .for_each(|tool| found.carry(Decision::Allow, ForeignName::Is(name), ForeignName::Is(tool)));
        }
        (Some("approve"), None) => found.carry(Decision::Allow, ForeignName::Is(name), ForeignName::Any),
        (Some("prompt"), _) => found.carry(Decision::Ask, ForeignName::Is(name), ForeignName::Any),
        _ => {}
    }
    if let Some(mode) = usual.filter(|mode| !matches!(mode.as_str(), Some("approve" | "prompt"))) {
        found.leave(of(&format!("default_tools_approval_mode {}", short(mode))), codex_decides(mode));
    }
    for (tool, options) in fields(server.get("tools")) {
        let Some(mode) = options.get("approval_mode") else { continue };
        match mode.as_str() {
            Some("approve") if !is_enabled(tool) => {
                found.leave(of(&format!("{tool} = approve")), "it is not among the enabled_tools");
            }
            Some("approve") => found.carry(Decision::Allow, ForeignName::Is(name), ForeignName::Is(tool)),
            Some("prompt") => found.carry(Decision::Ask, ForeignName::Is(name), ForeignName::Is(tool)),
            _ if approved => {
                // The allow of its server would cover it.
                found.carry(Decision::Ask, ForeignName::Is(name), ForeignName::Is(tool));
                let why = "it is asked here: its server's allow would cover it";
                found.leave(of(&format!("{tool} = {}", short(mode))), why);
            }
            _ => found.leave(of(&format!("{tool} = {}", short(mode))), codex_decides(mode)),
        }
    }
    if server.get("enabled") == Some(&Value::Bool(false)) {
        found.leave_off(&of("enabled = false"), name);
    }
}

fn codex_decides(mode: &Value) -> &'static str {
    match mode.as_str() {
        Some("writes") => "asking for what MUTATES is the default here",
        _ => "it leaves the decision to the program; here, [defaults] decide",
    }
}

/// Lists in an entry of `mcpServers` of tools that are not asked about, in Cursor's descendants and editors near it.
const APPROVED: [&str; 2] = ["autoApprove", "alwaysAllow"];

pub(super) fn cursor(settings: &Value) -> Result<Imported, NotTheirs> {
    let (list, permissions) = (settings.get("mcpAllowlist"), settings.get("permissions"));
    let servers = settings.get("mcpServers");
    if list.is_none() && permissions.is_none() && servers.is_none() {
        return Err(NotTheirs::Nothing("`mcpAllowlist`, `permissions` and `mcpServers` are missing"));
    }
    let mut found = Imported::default();
    for entry in found.texts("mcpAllowlist", list, Decision::Allow) {
        cursor_entry(&mut found, Decision::Allow, entry, entry);
    }
    for decision in Decision::ALL.iter().copied() {
        let list = permissions.and_then(|permissions| permissions.get(decision.word()));
        for entry in found.texts(decision.word(), list, decision) {
            match entry.strip_prefix("Mcp(") {
                Some(inner) => cursor_entry(&mut found, decision, entry, inner.strip_suffix(')').unwrap_or_default()),
                None => found.leave(entry, OWN_TOOL),
            }
        }
    }
    found.leave_unknown("permissions.", permissions, &["allow", "ask", "deny"]);
    for (name, server) in fields(servers) {
        cursor_server(&mut found, name, server);
    }
    for entry in found.texts("terminalAllowlist", settings.get("terminalAllowlist"), Decision::Allow) {
        found.leave(entry, OWN_TOOL);
    }
    let why = "it is an instruction to a model; a rule compares values";
    found.leave_setting("autoRun", settings.get("autoRun"), why);
    found.leave_setting("approvalMode", settings.get("approvalMode"), DEFAULT);
    Ok(found)
}

fn cursor_entry(found: &mut Imported, decision: Decision, entry: &str, inner: &str) {
    let (server, tool) =
        inner.split_once(':').map_or((inner.trim(), ""), |(server, tool)| (server.trim(), tool.trim()));
    if server.is_empty() || tool.is_empty() {
        let server = if server.is_empty() { ForeignName::Any } else { ForeignName::Like(server) };
        found.leave_one(decision, entry, "it is not SERVER:TOOL", server, ForeignName::Any);
    } else if inner.contains(['?', '[', ']', '{', '}']) {
        let why = "only `*` is known as a wildcard there; write the rule yourself";
        found.leave_unclear(decision, entry, why);
    } else {
        found.carry(decision, ForeignName::Like(server), ForeignName::Like(tool));
    }
}

fn cursor_server(found: &mut Imported, name: &str, server: &Value) {
    for key in APPROVED {
        for tool in found.texts(&format!("{name}: {key}"), server.get(key), Decision::Allow) {
            if tool.contains('*') {
                let why = "programs differ in what `*` means here; name the tools you mean";
                found.leave(format!("{name}: {key} {tool}"), why);
            } else {
                found.carry(Decision::Allow, ForeignName::Is(name), ForeignName::Is(tool));
            }
        }
    }
    found.deny_tools(name, server, "disabledTools");
    if server.get("disabled") == Some(&Value::Bool(true)) {
        found.leave_off(&format!("{name}: disabled"), name);
    }
}

pub(super) fn zed(settings: &Value) -> Result<Imported, NotTheirs> {
    // Until 2025 it was called so.
    let agent = settings.get("agent").or_else(|| settings.get("assistant"));
    let agent = agent.ok_or(NotTheirs::Nothing("`agent` is missing"))?;
    let permissions = agent.get("tool_permissions");
    let mut found = Imported::default();
    if let Some(default) = permissions.and_then(|all| all.get("default")) {
        let why = match default.as_str() {
            Some("deny") => "set [defaults] pure = \"deny\" and mutates = \"deny\" where that is meant",
            Some("confirm") => "set [defaults] pure = \"ask\" where reads should ask as well",
            _ => DEFAULT,
        };
        found.leave(format!("tool_permissions.default {}", short(default)), why);
    }
    if agent.get("always_allow_tool_actions") == Some(&Value::Bool(true)) {
        found.leave("always_allow_tool_actions", "nothing here allows every call");
    }
    found.leave_unknown("tool_permissions.", permissions, &["default", "tools"]);
    for (name, tool) in fields(permissions.and_then(|all| all.get("tools"))) {
        match name.strip_prefix("mcp:").map(|rest| rest.split_once(':')) {
            None => found.leave(name, OWN_TOOL),
            Some(Some((server, of_server))) if !server.is_empty() && !of_server.is_empty() => {
                zed_tool(&mut found, name, server, of_server, tool);
            }
            Some(_) => found.leave(name, "it is not mcp:SERVER:TOOL, so it matches no tool there either"),
        }
    }
    for (profile, options) in fields(agent.get("profiles")) {
        if options.get("context_servers").is_some() {
            found.leave(format!("profiles.{profile}"), HIDES_TOOLS);
        }
    }
    for (name, server) in fields(settings.get("context_servers")) {
        if server.get("enabled") == Some(&Value::Bool(false)) {
            found.leave_off(&format!("{name}: enabled = false"), name);
        }
    }
    Ok(found)
}

fn zed_tool(found: &mut Imported, name: &str, server: &str, tool: &str, options: &Value) {
    let (of_server, of_tool) = (ForeignName::Is(server), ForeignName::Is(tool));
    match options.get("default").map(|default| (default.as_str(), default)) {
        None => {}
        Some((Some("allow"), _)) => found.carry(Decision::Allow, of_server, of_tool),
        Some((Some("confirm"), _)) => found.carry(Decision::Ask, of_server, of_tool),
        Some((Some("deny"), _)) => found.carry(Decision::Deny, of_server, of_tool),
        Some((_, other)) => {
            let what = format!("{name} default {}", short(other));
            found.leave_one(Decision::Deny, &what, "it is none of allow, confirm, deny", of_server, of_tool);
        }
    }
    for (key, decision) in
        [("always_allow", Decision::Allow), ("always_confirm", Decision::Ask), ("always_deny", Decision::Deny)]
    {
        if options.get(key).is_some_and(|patterns| patterns.as_array().is_none_or(|patterns| !patterns.is_empty())) {
            let why = "its patterns cannot be carried over; write them as `when`";
            found.leave_one(decision, &format!("{name} {key}"), why, of_server, of_tool);
        }
    }
    found.leave_unknown(
        &format!("{name} "),
        Some(options),
        &["default", "always_allow", "always_confirm", "always_deny"],
    );
}
