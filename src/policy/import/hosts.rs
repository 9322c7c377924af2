//! Where each program writes what it asks and allows, and what its words mean here. Owns no rule text.
//!
//! As documented by each program in November 2026: Claude Code's `permissions`, Cursor's `mcpAllowlist` and CLI
//! `permissions`, Gemini CLI's settings and policy engine, Codex's `mcp_servers`, Zed's `agent.tool_permissions`.

use serde_json::Value;

use super::{Imported, NotTheirs};
use crate::policy::rule::Decision;

const OWN_TOOL: &str = "it is about a tool of the program itself, which is not called through MCP";
const DECISIONS: [(&str, Decision); 3] = [("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny)];

fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.chain(value.filter(|value| value.is_string())).filter_map(Value::as_str)
}

/// `permissions.{allow,ask,deny}` with `mcp__SERVER`, `mcp__SERVER__*`, `mcp__SERVER__TOOL`.
pub(super) fn claude(settings: &Value) -> Result<Imported, NotTheirs> {
    let permissions = settings.get("permissions").ok_or(NotTheirs::Nothing("`permissions` is missing"))?;
    let mut found = Imported::default();
    for (key, decision) in DECISIONS {
        for entry in strings(permissions.get(key)) {
            let Some(alias) = entry.strip_prefix("mcp__") else {
                found.leave(entry, OWN_TOOL);
                continue;
            };
            let (server, tool) = match alias.split_once("__") {
                Some((server, tool)) => (server, Some(tool)),
                None => (alias, None),
            };
            if let Some((bare, _)) = alias.split_once('(') {
                let why = "its condition on arguments cannot be read; write it as `when`".to_owned();
                let (server, tool) = bare.split_once("__").map_or((bare, None), |(server, tool)| (server, Some(tool)));
                match decision {
                    Decision::Allow => found.leave(entry, why),
                    Decision::Ask | Decision::Deny => found.leave_stricter(entry.to_owned(), why, Some(server), tool),
                }
            } else {
                found.carry(decision, Some(server), tool);
            }
        }
    }
    if let Some(mode) = permissions.get("defaultMode").and_then(Value::as_str) {
        found.leave(format!("defaultMode {mode}"), "what no rule matches is up to [defaults] here");
    }
    Ok(found)
}

/// `mcpAllowlist` with `SERVER:TOOL`, and `permissions.{allow,deny}` with `Mcp(SERVER:TOOL)`.
pub(super) fn cursor(settings: &Value) -> Result<Imported, NotTheirs> {
    let (list, permissions) = (settings.get("mcpAllowlist"), settings.get("permissions"));
    if list.is_none() && permissions.is_none() {
        return Err(NotTheirs::Nothing("`mcpAllowlist` and `permissions` are missing"));
    }
    let mut found = Imported::default();
    let pair = |found: &mut Imported, decision, entry: &str, inner: &str| match inner.split_once(':') {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
            found.carry(decision, Some(server.trim()), Some(tool.trim()));
        }
        _ => found.leave(entry, "it is not SERVER:TOOL"),
    };
    for entry in strings(list) {
        pair(&mut found, Decision::Allow, entry, entry);
    }
    for (key, decision) in DECISIONS {
        for entry in strings(permissions.and_then(|permissions| permissions.get(key))) {
            match entry.strip_prefix("Mcp(").and_then(|rest| rest.strip_suffix(')')) {
                Some(inner) => pair(&mut found, decision, entry, inner),
                None => found.leave(entry, OWN_TOOL),
            }
        }
    }
    for entry in strings(settings.get("terminalAllowlist")) {
        found.leave(entry, OWN_TOOL);
    }
    Ok(found)
}

/// `settings.json`: `mcpServers.NAME.{trust,includeTools,excludeTools}`, `mcp.{allowed,excluded}`.
pub(super) fn gemini_settings(settings: &Value) -> Result<Imported, NotTheirs> {
    let servers = settings.get("mcpServers").and_then(Value::as_object);
    let (mcp, tools) = (settings.get("mcp"), settings.get("tools"));
    if servers.is_none() && mcp.is_none() && tools.is_none() {
        return Err(NotTheirs::Nothing("`mcpServers`, `mcp` and `tools` are missing"));
    }
    let mut found = Imported::default();
    for (name, server) in servers.into_iter().flatten() {
        if server.get("trust").and_then(Value::as_bool) == Some(true) {
            found.carry(Decision::Allow, Some(name), None);
        }
        for tool in strings(server.get("excludeTools")) {
            found.carry(Decision::Deny, Some(name), Some(tool));
        }
        for tool in strings(server.get("includeTools")) {
            found.leave(format!("{name}: includeTools {tool}"), "it hides the other tools, which a rule does not");
        }
    }
    for name in strings(mcp.and_then(|mcp| mcp.get("excluded"))) {
        found.carry(Decision::Deny, Some(name), None);
    }
    for name in strings(mcp.and_then(|mcp| mcp.get("allowed"))) {
        found.leave(format!("mcp.allowed {name}"), "it hides the other servers, which a rule does not");
    }
    for key in ["allowed", "exclude", "core"] {
        for tool in strings(tools.and_then(|tools| tools.get(key))) {
            found.leave(format!("tools.{key} {tool}"), OWN_TOOL);
        }
    }
    Ok(found)
}

/// `policies/*.toml`: `[[rule]]` with `mcpName`, `toolName`, `decision`.
pub(super) fn gemini_policy(policy: &Value) -> Result<Imported, NotTheirs> {
    let rules = policy.get("rule").and_then(Value::as_array).ok_or(NotTheirs::Nothing("`[[rule]]` is missing"))?;
    let mut found = Imported::default();
    let mut priorities = Vec::new();
    for rule in rules {
        let what = rule.to_string();
        let decision = match rule.get("decision").and_then(Value::as_str) {
            Some("allow") => Decision::Allow,
            Some("ask_user") => Decision::Ask,
            Some("deny") => Decision::Deny,
            _ => {
                found.leave(what, "its decision is none of allow, ask_user, deny");
                continue;
            }
        };
        const CONDITIONS: [&str; 7] =
            ["argsPattern", "commandPrefix", "commandRegex", "modes", "toolAnnotations", "subagent", "interactive"];
        if let Some(condition) = CONDITIONS.iter().find(|key| rule.get(**key).is_some()) {
            let why = format!("its `{condition}` cannot be carried over; write it as `when`");
            match decision {
                Decision::Allow => found.leave(what, why),
                Decision::Ask | Decision::Deny => {
                    let server = rule.get("mcpName").and_then(Value::as_str);
                    found.leave_stricter(what, why, server, None);
                }
            }
            continue;
        }
        let server = rule.get("mcpName").and_then(Value::as_str);
        let tools: Vec<&str> = strings(rule.get("toolName")).collect();
        match (server, tools.as_slice()) {
            (Some(server), []) => found.carry(decision, Some(server), None),
            (Some(server), tools) => tools.iter().for_each(|tool| found.carry(decision, Some(server), Some(tool))),
            (None, tools) => {
                for tool in tools {
                    match tool.split_once("__") {
                        Some((server, tool)) if !server.is_empty() => found.carry(decision, Some(server), Some(tool)),
                        _ => found.leave(*tool, OWN_TOOL),
                    }
                }
                if tools.is_empty() {
                    let why = "it is about every tool, the program's own too";
                    match decision {
                        Decision::Allow => found.leave(what, why),
                        Decision::Ask | Decision::Deny => found.leave_stricter(what, why.to_owned(), None, None),
                    }
                }
            }
        }
        priorities.extend(rule.get("priority").map(ToString::to_string));
    }
    priorities.dedup();
    if priorities.len() > 1 {
        found.leave("priority", "here the strictest matching rule wins, whatever its place");
    }
    Ok(found)
}

/// `[mcp_servers.NAME]` with `default_tools_approval_mode`, `disabled_tools`, `tools.TOOL.approval_mode`.
pub(super) fn codex(config: &Value) -> Result<Imported, NotTheirs> {
    let servers = config.get("mcp_servers").and_then(Value::as_object);
    let servers = servers.ok_or(NotTheirs::Nothing("`[mcp_servers.NAME]` is missing"))?;
    let mut found = Imported::default();
    for (name, server) in servers {
        let mut mode = |tool: Option<&str>, mode: Option<&Value>| {
            let what = format!("{name}{}{}", if tool.is_some() { ": " } else { "" }, tool.unwrap_or_default());
            match mode.and_then(Value::as_str) {
                None => {}
                Some("approve") => found.carry(Decision::Allow, Some(name), tool),
                Some("prompt") => found.carry(Decision::Ask, Some(name), tool),
                Some("writes") => {
                    found.leave(format!("{what} = writes"), "asking for what MUTATES is the default here");
                }
                Some(other) => found.leave(format!("{what} = {other}"), "it leaves it to the program; [defaults] here"),
            }
        };
        mode(None, server.get("default_tools_approval_mode"));
        for (tool, options) in server.get("tools").and_then(Value::as_object).into_iter().flatten() {
            mode(Some(tool), options.get("approval_mode"));
        }
        for tool in strings(server.get("disabled_tools")) {
            found.carry(Decision::Deny, Some(name), Some(tool));
        }
        for tool in strings(server.get("enabled_tools")) {
            found.leave(format!("{name}: enabled_tools {tool}"), "it hides the other tools, which a rule does not");
        }
    }
    Ok(found)
}

/// `agent.tool_permissions.tools."mcp:SERVER:TOOL".default`.
pub(super) fn zed(settings: &Value) -> Result<Imported, NotTheirs> {
    let agent = settings.get("agent").ok_or(NotTheirs::Nothing("`agent` is missing"))?;
    let permissions = agent.get("tool_permissions");
    let mut found = Imported::default();
    if let Some(default) = permissions.and_then(|all| all.get("default")).and_then(Value::as_str) {
        found.leave(format!("tool_permissions.default {default}"), "what no rule matches is up to [defaults] here");
    }
    if agent.get("always_allow_tool_actions").and_then(Value::as_bool) == Some(true) {
        found.leave("always_allow_tool_actions", "nothing here allows every call");
    }
    let tools = permissions.and_then(|all| all.get("tools")).and_then(Value::as_object);
    for (name, tool) in tools.into_iter().flatten() {
        let Some((server, of_server)) = name.strip_prefix("mcp:").and_then(|rest| rest.split_once(':')) else {
            found.leave(name, OWN_TOOL);
            continue;
        };
        match tool.get("default").and_then(Value::as_str) {
            Some("allow") => found.carry(Decision::Allow, Some(server), Some(of_server)),
            Some("confirm") => found.carry(Decision::Ask, Some(server), Some(of_server)),
            Some("deny") => found.carry(Decision::Deny, Some(server), Some(of_server)),
            _ => {}
        }
        for key in ["always_allow", "always_deny", "always_confirm"] {
            if tool.get(key).and_then(Value::as_array).is_some_and(|patterns| !patterns.is_empty()) {
                let (what, why) =
                    (format!("{name} {key}"), "its patterns cannot be carried over; write them as `when`");
                match key {
                    "always_allow" => found.leave(what, why),
                    _ => found.leave_stricter(what, why.to_owned(), Some(server), Some(of_server)),
                }
            }
        }
    }
    Ok(found)
}
