//! Gemini CLI's `settings.json` and the rules of its policy engine (`policies/*.toml`). Knows no other program.
//!
//! There, of all rules that match the one of the highest priority decides. MCP tools are `mcp_SERVER_TOOL` (formerly
//! `SERVER__TOOL`), parted at the first `_`; `*` counts at the end, and for the server.

use serde_json::Value;

use super::{ForeignName, HIDES_TOOLS, Imported, NotTheirs, OWN_TOOL, fields, short, splits};
use crate::policy::rule::Decision;

/// Keys of a rule that say whom it is for and what it does; any other narrows it.
const PLAIN: &[&str] = &[
    "toolName", "mcpName", "decision", "priority", "denyMessage", "deny_message", "allowRedirection",
    "allow_redirection",
];

/// Reads `settings.json`, as it is now and as it was before its keys were grouped.
pub(super) fn settings(settings: &Value) -> Result<Imported, NotTheirs> {
    let servers = settings.get("mcpServers");
    let either = |new: &str, old: &str| settings.pointer(new).or_else(|| settings.get(old));
    let allowed = either("/mcp/allowed", "allowMCPServers");
    let excluded = either("/mcp/excluded", "excludeMCPServers");
    let tools = [
        ("tools.allowed", either("/tools/allowed", "allowedTools"), Decision::Allow),
        ("tools.exclude", either("/tools/exclude", "excludeTools"), Decision::Deny),
    ];
    let core = either("/tools/core", "coreTools");
    let paths = ["policyPaths", "adminPolicyPaths"].map(|key| (key, settings.get(key)));
    let here = [servers, allowed, excluded, tools[0].1, tools[1].1, core, paths[0].1, paths[1].1];
    if here.iter().all(Option::is_none) {
        return Err(NotTheirs::Nothing("`mcpServers`, `mcp` and `tools` are missing"));
    }
    let mut found = Imported::default();
    let shown = allowed.map(|list| found.texts("mcp.allowed", Some(list), Decision::Deny));
    for (name, server) in fields(servers) {
        of_server(&mut found, name, server, shown.as_ref().is_none_or(|shown| shown.contains(&name.as_str())));
    }
    for name in found.texts("mcp.excluded", excluded, Decision::Deny) {
        found.carry(
            Decision::Deny,
            if name == "*" { ForeignName::Any } else { ForeignName::Is(name) },
            ForeignName::Any,
        );
    }
    if let Some(shown) = shown {
        let why = "it hides the other servers, and a rule cannot do that; allow here what may run unasked";
        found.leave(format!("mcp.allowed {}", shown.join(", ")), why);
    }
    for (key, list, decision) in tools {
        for tool in found.texts(key, list, decision) {
            let what = format!("{key} {tool}");
            match parted(tool) {
                Parted::Own => found.leave(what, OWN_TOOL),
                Parted::Odd => found.leave_unclear(decision, &what, "which server it means is not clear"),
                Parted::Mcp(mut all) => {
                    // The known servers decide where the name is split.
                    let known =
                        |(server, _): &(ForeignName<'_>, _)| fields(servers).any(|(name, _)| name == server.text());
                    if all.iter().any(known) {
                        all.retain(known);
                    }
                    meant(decision, &all).iter().for_each(|(server, tool)| found.carry(decision, *server, *tool));
                }
            }
        }
    }
    for tool in found.texts("tools.core", core, Decision::Allow) {
        found.leave(format!("tools.core {tool}"), OWN_TOOL);
    }
    for (key, paths) in paths {
        found.leave_setting(key, paths, "import these files too");
    }
    Ok(found)
}

fn of_server(found: &mut Imported, name: &str, server: &Value, is_shown: bool) {
    let of = |what: &str| format!("{name}: {what}");
    found.deny_tools(name, server, "excludeTools");
    let included = server.get("includeTools").map(|list| found.texts(&of("includeTools"), Some(list), Decision::Deny));
    // `tool(…)` means the tool.
    let included =
        included.map(|all| all.iter().map(|tool| tool.split('(').next().unwrap_or(tool)).collect::<Vec<_>>());
    if let Some(included) = &included {
        found.leave(of(&format!("includeTools {}", included.join(", "))), HIDES_TOOLS);
    }
    match (server.get("trust") == Some(&Value::Bool(true)), is_shown, included) {
        (false, _, _) => {}
        (true, false, _) => found.leave(of("trust"), "the server is not among mcp.allowed"),
        (true, true, None) => found.carry(Decision::Allow, ForeignName::Is(name), ForeignName::Any),
        (true, true, Some(included)) => {
            included
                .into_iter()
                .for_each(|tool| found.carry(Decision::Allow, ForeignName::Is(name), ForeignName::Is(tool)));
        }
    }
}

/// Reads `policies/*.toml`: `[[rule]]` with `mcpName`, `toolName`, `decision`.
pub(super) fn policy(policy: &Value) -> Result<Imported, NotTheirs> {
    let rules = policy.get("rule").and_then(Value::as_array).ok_or(NotTheirs::Nothing("`[[rule]]` is missing"))?;
    let mut found = Imported::default();
    let priority = |rule: &Value| rule.get("priority").and_then(Value::as_i64).unwrap_or(0);
    let allows = rules.iter().filter(|rule| decision_of(rule) == Some(Decision::Allow));
    let least_allow = allows.map(priority).min();
    for rule in rules {
        let what = short(rule);
        let Some(decision) = decision_of(rule) else {
            found.leave_unclear(Decision::Deny, &what, "its decision is none of allow, ask_user, deny");
            continue;
        };
        let reached = reached(&mut found, decision, rule);
        if reached.is_empty() {
            continue;
        }
        let narrows = rule.as_object().into_iter().flat_map(serde_json::Map::keys);
        if let Some(condition) = narrows.into_iter().find(|key| !PLAIN.contains(&key.as_str())) {
            let why = format!("its `{condition}` cannot be carried over; write it as `when`");
            reached.iter().for_each(|(server, tool)| found.leave_one(decision, &what, &why, *server, *tool));
        } else if decision == Decision::Ask
            && reached.contains(&(ForeignName::Any, ForeignName::Any))
            && least_allow.is_some_and(|allow| allow > priority(rule))
        {
            let why = "every allow goes before it there, as before [defaults] here: set pure = \"ask\" in [defaults]";
            found.leave(what, why);
        } else {
            reached.iter().for_each(|(server, tool)| found.carry(decision, *server, *tool));
        }
    }
    for checker in policy.get("safety_checker").and_then(Value::as_array).into_iter().flatten() {
        let why = "a checker of the program; to have a program of yours see the calls here, write an [[approver]]";
        let what = short(checker);
        for (server, tool) in reached(&mut found, Decision::Deny, checker) {
            found.leave_one(Decision::Deny, &what, why, server, tool);
        }
    }
    let mut priorities: Vec<i64> = rules.iter().map(priority).collect();
    priorities.sort_unstable();
    priorities.dedup();
    if priorities.len() > 1 {
        found.leave("priority", "here the strictest matching rule wins, whatever its place");
    }
    Ok(found)
}

fn decision_of(rule: &Value) -> Option<Decision> {
    match rule.get("decision").and_then(Value::as_str)? {
        "allow" => Some(Decision::Allow),
        "ask_user" => Some(Decision::Ask),
        "deny" => Some(Decision::Deny),
        _ => None,
    }
}

/// The MCP servers and tools that a rule is for; what else it is for is named.
fn reached<'v>(found: &mut Imported, decision: Decision, rule: &'v Value) -> Vec<(ForeignName<'v>, ForeignName<'v>)> {
    let server = rule.get("mcpName").and_then(Value::as_str);
    let tools = found.texts("toolName", rule.get("toolName"), decision);
    if rule.get("commandPrefix").or_else(|| rule.get("commandRegex")).is_some() {
        found.leave(short(rule), OWN_TOOL);
        return Vec::new();
    }
    if let Some(server) = server {
        let server = if server == "*" { ForeignName::Any } else { ForeignName::Is(server) };
        // A list without a name is of no tool.
        return match rule.get("toolName") {
            None => vec![(server, ForeignName::Any)],
            Some(_) => tools.into_iter().map(|tool| (server, like(tool))).collect(),
        };
    }
    if rule.get("toolName").is_none() {
        return vec![(ForeignName::Any, ForeignName::Any)];
    }
    let mut reached = Vec::new();
    for tool in tools {
        match parted(tool) {
            Parted::Own => found.leave(tool, OWN_TOOL),
            Parted::Odd => found.leave_unclear(decision, tool, "which server it means is not clear"),
            Parted::Mcp(all) => reached.extend(meant(decision, &all)),
        }
    }
    reached
}

/// Which ways of reading a name count: of an allow the program's own, of an ask or a deny every one.
fn meant<'a, 'n>(
    decision: Decision,
    all: &'a [(ForeignName<'n>, ForeignName<'n>)],
) -> &'a [(ForeignName<'n>, ForeignName<'n>)] {
    if decision == Decision::Allow { &all[..all.len().min(1)] } else { all }
}

/// A name in which `*` counts at the end.
fn like(name: &str) -> ForeignName<'_> {
    match name.strip_suffix('*') {
        Some("") => ForeignName::Any,
        // Before the end it is a plain character.
        Some(before) if !before.contains('*') => ForeignName::Like(name),
        Some(_) | None => ForeignName::Is(name),
    }
}

/// What a full name of a tool means.
enum Parted<'t> {
    /// A tool of the program itself.
    Own,
    /// A wildcard where the program knows none, or no tool.
    Odd,
    /// Servers and tools, as the program reads it first.
    Mcp(Vec<(ForeignName<'t>, ForeignName<'t>)>),
}

fn parted(full: &str) -> Parted<'_> {
    let all = |rest, between| {
        let mut found: Vec<_> = splits(rest, between).map(|(server, tool)| (like(server), like(tool))).collect();
        // `mcp_*_TOOL` is parted by its `*`.
        if found.first().is_some_and(|(server, _)| *server == ForeignName::Any) {
            found.truncate(1);
        }
        if found.is_empty() { Parted::Odd } else { Parted::Mcp(found) }
    };
    match full.strip_prefix("mcp_") {
        // A name with arguments behind it, as for the program's shell.
        Some(_) if full.contains('(') => Parted::Odd,
        None if full.contains('(') => Parted::Own,
        _ if full == "*" => Parted::Mcp(vec![(ForeignName::Any, ForeignName::Any)]),
        Some("*") => Parted::Mcp(vec![(ForeignName::Any, ForeignName::Any)]),
        Some(rest) => all(rest, "_"),
        None if full.contains("__") => all(full, "__"),
        None if full.contains('*') => Parted::Odd,
        None => Parted::Own,
    }
}
