//! Cursor's `permissions.json`, `cli-config.json` and `mcp.json`: lists of `SERVER:TOOL`. Knows no other program.

use serde_json::Value;

use super::imported::{DEFAULT, Imported, NotTheirs, OWN_TOOL, fields};
use super::reach::Name;
use crate::policy::rule::Decision;

/// Lists in an entry of `mcpServers` of tools that are not asked about, in Cursor's descendants and editors near it.
const APPROVED: [&str; 2] = ["autoApprove", "alwaysAllow"];

/// Reads any of the three.
pub(super) fn settings(settings: &Value) -> Result<Imported, NotTheirs> {
    let (list, permissions) = (settings.get("mcpAllowlist"), settings.get("permissions"));
    let servers = settings.get("mcpServers");
    if list.is_none() && permissions.is_none() && servers.is_none() {
        return Err(NotTheirs::Nothing("`mcpAllowlist`, `permissions` and `mcpServers` are missing"));
    }
    let mut found = Imported::default();
    for entry in found.texts("mcpAllowlist", list, Decision::Allow) {
        pair(&mut found, Decision::Allow, entry, entry);
    }
    for decision in Decision::ALL.iter().copied() {
        let list = permissions.and_then(|permissions| permissions.get(decision.word()));
        for entry in found.texts(decision.word(), list, decision) {
            match entry.strip_prefix("Mcp(") {
                Some(inner) => pair(&mut found, decision, entry, inner.strip_suffix(')').unwrap_or_default()),
                None => found.leave(entry, OWN_TOOL),
            }
        }
    }
    found.leave_unknown("permissions.", permissions, &["allow", "ask", "deny"]);
    for (name, server) in fields(servers) {
        of_server(&mut found, name, server);
    }
    for entry in found.texts("terminalAllowlist", settings.get("terminalAllowlist"), Decision::Allow) {
        found.leave(entry, OWN_TOOL);
    }
    let why = "it is an instruction to a model; a rule compares values";
    found.leave_setting("autoRun", settings.get("autoRun"), why);
    found.leave_setting("approvalMode", settings.get("approvalMode"), DEFAULT);
    Ok(found)
}

fn pair(found: &mut Imported, decision: Decision, entry: &str, inner: &str) {
    let (server, tool) =
        inner.split_once(':').map_or((inner.trim(), ""), |(server, tool)| (server.trim(), tool.trim()));
    if server.is_empty() || tool.is_empty() {
        let server = if server.is_empty() { Name::Any } else { Name::Like(server) };
        found.leave_one(decision, entry, "it is not SERVER:TOOL", server, Name::Any);
    } else if inner.contains(['?', '[', ']', '{', '}']) {
        let why = "only `*` is known as a wildcard there; write the rule yourself";
        found.leave_unclear(decision, entry, why);
    } else {
        found.carry(decision, Name::Like(server), Name::Like(tool));
    }
}

fn of_server(found: &mut Imported, name: &str, server: &Value) {
    for key in APPROVED {
        for tool in found.texts(&format!("{name}: {key}"), server.get(key), Decision::Allow) {
            if tool.contains('*') {
                let why = "programs differ in what `*` means here; name the tools you mean";
                found.leave(format!("{name}: {key} {tool}"), why);
            } else {
                found.carry(Decision::Allow, Name::Is(name), Name::Is(tool));
            }
        }
    }
    found.deny_tools(name, server, "disabledTools");
    if server.get("disabled") == Some(&Value::Bool(true)) {
        found.leave_off(&format!("{name}: disabled"), name);
    }
}
