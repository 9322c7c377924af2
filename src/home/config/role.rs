//! `[roles.NAME]` and `[tools.NAME]` in `config.toml`: what more roles may use, and what tools require.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::value::{check_name, duration, parsed};
use crate::policy::glob::Glob;
use crate::policy::reading::{Reading, globs};
use crate::policy::role::{CostTier, OnServers, Role, SideEffects, ToolProfile, Written as Profile};

const KEYS: &[&str] = &["capabilities", "servers", "inherits", "team"];

struct Written {
    role: Role,
    inherits: Vec<(String, Range<usize>)>,
}

/// Reads all roles; the built-in ones come first, with what the configuration adds to them. `tools` is what it says of tools.
pub(super) fn read_all<'t>(reading: &mut Reading<'t>, document: &DeTable<'t>, tools: &[ToolProfile]) -> Vec<Role> {
    let mut written = Vec::new();
    let tables = document.get("roles").and_then(|value| reading.table(value, "roles"));
    for (key, value) in tables.into_iter().flatten() {
        let called = key.get_ref().to_string();
        check_name(reading, key.span(), &called, || format!("{called:?} cannot be a role's name"));
        if let Some(table) = reading.table(value, "roles") {
            written.push(read(reading, called, value.span(), table));
        }
    }
    let mut roles = resolve(reading, written);
    for role in &mut roles {
        role.tools = tools.to_vec();
    }
    roles
}

fn read<'t>(reading: &mut Reading<'t>, name: String, at: Range<usize>, table: &DeTable<'t>) -> Written {
    let mut role = Role { name, ..Role::default() };
    let mut inherits = Vec::new();
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "capabilities" => role.capabilities = globs(reading, value, "capabilities", Glob::new),
            "servers" => role.servers = globs(reading, value, "servers", Glob::new),
            "inherits" => {
                inherits = reading.texts(value, "inherits").into_iter().map(|(at, name)| (name, at)).collect();
            }
            // Whose set it was taken over from: for whoever reads the file.
            "team" => _ = reading.text(value, "team"),
            other => reading.unknown_key(key.span(), other, KEYS),
        }
    }
    if role.servers.is_empty() && table.get("servers").is_some() {
        // Without the key the role may use any server; an emptied list does not mean that.
        let what = format!("`servers` of the role {} names none", role.name);
        reading.problem(at, what, "name its servers, or take the key away: then it may use any");
    }
    for glob in role.capabilities.iter().filter(|glob| !glob.text().contains([':', '*'])) {
        let what = format!("`capabilities` of the role {} cannot be {:?}", role.name, glob.text());
        let at = table.get("capabilities").map_or(0..0, Spanned::span);
        reading.problem(at, what, "write THINGS:ACT, as documents:read, *:read or issues:*");
    }
    Written { role, inherits }
}

/// Gives each role what it inherits. A table with a built-in role's name adds to that role, and to those that can do
/// all that it can; if it names servers, only on those.
fn resolve(reading: &mut Reading<'_>, written: Vec<Written>) -> Vec<Role> {
    let mut roles = Role::given();
    let (given, mut left): (Vec<_>, Vec<_>) =
        written.into_iter().partition(|one| roles.iter().any(|role| role.name == one.role.name));
    for Written { role, inherits } in given {
        if let Some((_, at)) = inherits.first() {
            let what = format!("the role {} is built in, and inherits nothing else", role.name);
            reading.problem(at.clone(), what, "give your role another name");
        }
        for known in roles.iter_mut().skip_while(|known| known.name != role.name) {
            if known.name == role.name {
                known.servers.clone_from(&role.servers);
            }
            if known.name == role.name || role.servers.is_empty() {
                known.capabilities.extend(role.capabilities.iter().cloned());
            } else {
                let (servers, capabilities) = (role.servers.clone(), role.capabilities.clone());
                known.on_servers.push(OnServers { servers, capabilities });
            }
        }
    }
    loop {
        let is_known = |name: &String| roles.iter().any(|role| role.name == *name);
        let Some(next) = left.iter().position(|one| one.inherits.iter().all(|(name, _)| is_known(name))) else { break };
        let Written { mut role, inherits } = left.remove(next);
        let names_servers = !role.servers.is_empty();
        for parent in roles.iter().filter(|known| inherits.iter().any(|(name, _)| *name == known.name)) {
            role.capabilities.extend(parent.capabilities.iter().cloned());
            role.on_servers.extend(parent.on_servers.iter().cloned());
            if !names_servers {
                role.servers.extend(parent.servers.iter().cloned());
            }
        }
        // What one role grants on its servers is not granted on those of another.
        let widens = |known: &&Role| {
            !known.servers.is_empty() && role.servers.iter().any(|server| !known.servers.contains(server))
        };
        for (name, at) in &inherits {
            if roles.iter().filter(|known| known.name == *name).any(|known| widens(&known)) {
                let what =
                    format!("the role {} is for servers that {name:?}, which it inherits, is not for", role.name);
                reading.problem(at.clone(), what, "give it `servers` that are in the list of each, or write two roles");
            }
        }
        roles.push(role);
    }
    for Written { role, inherits } in left {
        for (name, at) in inherits.into_iter().filter(|(name, _)| roles.iter().all(|role| role.name != *name)) {
            let known: Vec<&str> = roles.iter().map(|role| role.name.as_str()).collect();
            let what = format!("the role {} cannot inherit {name:?}", role.name);
            reading.problem(at, what, format!("one of: {}; a role cannot inherit itself", known.join(", ")));
        }
    }
    roles
}

const TOOL_KEYS: &[&str] = &["requires", "capabilities", "cost", "latency", "side_effects", "idempotent"];

/// Reads `[tools.NAME]`: what the operator writes of tools.
pub(super) fn tools<'t>(reading: &mut Reading<'t>, document: &DeTable<'t>) -> Vec<ToolProfile> {
    let mut found = Vec::new();
    let all = document.get("tools").and_then(|value| reading.table(value, "tools"));
    for (key, value) in all.into_iter().flatten() {
        let tools = match Glob::new(key.get_ref()) {
            Ok(tools) => tools,
            Err(error) => {
                let what = format!("{:?} names no tools: {error}", key.get_ref());
                reading.problem(key.span(), what, "write TOOL or SERVER/TOOL, as [tools.\"delete_*\"]");
                continue;
            }
        };
        let mut written = Profile::default();
        for (key, value) in reading.table(value, "tools").into_iter().flatten() {
            let name = key.get_ref().as_ref();
            match name {
                "requires" => written.requires = Some(words(reading, value, name)),
                "capabilities" => written.capabilities = Some(words(reading, value, name)),
                "cost" => written.cost = reading.word(value, name, CostTier::WORDS),
                "latency" => {
                    let latency = parsed(reading, value, name, duration);
                    written.latency_ms = latency.and_then(|latency| u64::try_from(latency.as_millis()).ok());
                }
                "side_effects" => written.side_effects = reading.word(value, name, SideEffects::WORDS),
                "idempotent" => written.idempotent = reading.switch(value, name),
                other => reading.unknown_key(key.span(), other, TOOL_KEYS),
            }
        }
        found.push(ToolProfile { tools, written });
    }
    found
}

fn words(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>, key: &str) -> Vec<String> {
    reading.texts(value, key).into_iter().map(|(_, text)| text).collect()
}
