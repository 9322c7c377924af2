//! Zed's `settings.json`: `agent.tool_permissions` with `mcp:SERVER:TOOL`. Knows no other program.
//!
//! There, a tool's own default goes before the general one, and patterns before both. Names have no wildcards.

use serde_json::Value;

use super::imported::{DEFAULT, HIDES_TOOLS, Imported, NotTheirs, OWN_TOOL, fields, short};
use super::reach::Name;
use crate::policy::rule::Decision;

/// Reads the settings.
pub(super) fn settings(settings: &Value) -> Result<Imported, NotTheirs> {
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
                of_tool(&mut found, name, server, of_server, tool);
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

fn of_tool(found: &mut Imported, name: &str, server: &str, tool: &str, options: &Value) {
    let (of_server, of_tool) = (Name::Is(server), Name::Is(tool));
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
