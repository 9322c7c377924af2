//! Codex's `config.toml`: `[mcp_servers.NAME]` with modes of approval and lists of tools. Knows no other program.
//!
//! There, a tool's own mode goes before its server's: `approve` runs it, `prompt` asks, `auto` or any other word leaves
//! it to the program. Names have no wildcards.

use serde_json::Value;

use super::imported::{DEFAULT, HIDES_TOOLS, Imported, NotTheirs, fields, short};
use super::reach::Name;
use crate::policy::rule::Decision;

/// Reads the configuration.
pub(super) fn config(config: &Value) -> Result<Imported, NotTheirs> {
    let (servers, plugins) = (config.get("mcp_servers"), config.get("plugins"));
    if servers.is_none() && plugins.is_none() {
        return Err(NotTheirs::Nothing("`[mcp_servers.NAME]` is missing"));
    }
    let mut found = Imported::default();
    let of_plugins = fields(plugins).flat_map(|(_, plugin)| fields(plugin.get("mcp_servers")));
    for (name, server) in fields(servers).chain(of_plugins) {
        of_server(&mut found, name, server);
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

fn of_server(found: &mut Imported, name: &str, server: &Value) {
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
            enabled.iter().filter(own).for_each(|tool| found.carry(Decision::Allow, Name::Is(name), Name::Is(tool)));
        }
        (Some("approve"), None) => found.carry(Decision::Allow, Name::Is(name), Name::Any),
        (Some("prompt"), _) => found.carry(Decision::Ask, Name::Is(name), Name::Any),
        _ => {}
    }
    if let Some(mode) = usual.filter(|mode| !matches!(mode.as_str(), Some("approve" | "prompt"))) {
        found.leave(of(&format!("default_tools_approval_mode {}", short(mode))), left_to_it(mode));
    }
    for (tool, options) in fields(server.get("tools")) {
        let Some(mode) = options.get("approval_mode") else { continue };
        match mode.as_str() {
            Some("approve") if !is_enabled(tool) => {
                found.leave(of(&format!("{tool} = approve")), "it is not among the enabled_tools");
            }
            Some("approve") => found.carry(Decision::Allow, Name::Is(name), Name::Is(tool)),
            Some("prompt") => found.carry(Decision::Ask, Name::Is(name), Name::Is(tool)),
            _ if approved => {
                // The allow of its server would cover it.
                found.carry(Decision::Ask, Name::Is(name), Name::Is(tool));
                let why = "it is asked here: its server's allow would cover it";
                found.leave(of(&format!("{tool} = {}", short(mode))), why);
            }
            _ => found.leave(of(&format!("{tool} = {}", short(mode))), left_to_it(mode)),
        }
    }
    if server.get("enabled") == Some(&Value::Bool(false)) {
        found.leave_off(&of("enabled = false"), name);
    }
}

fn left_to_it(mode: &Value) -> &'static str {
    match mode.as_str() {
        Some("writes") => "asking for what MUTATES is the default here",
        _ => "it leaves the decision to the program; here, [defaults] decide",
    }
}
