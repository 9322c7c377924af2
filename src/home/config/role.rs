//! `[roles.NAME]` in `config.toml`: which tools somebody may use, for `tools search --role NAME`.

use toml::Spanned;
use toml::de::DeValue;

use super::value::check_name;
use crate::policy::glob::Glob;
use crate::policy::parse::lists::globs;
use crate::policy::reading::Reading;
use crate::policy::role::Role;

const KEYS: &[&str] = &["capabilities", "servers"];

/// Reads all of them.
pub(super) fn read_all<'t>(reading: &mut Reading<'t>, value: &Spanned<DeValue<'t>>) -> Vec<Role> {
    let mut roles = Vec::new();
    for (key, value) in reading.table(value, "roles").into_iter().flatten() {
        let called = key.get_ref().to_string();
        check_name(reading, key.span(), &called, || format!("{called:?} cannot be a role's name"));
        let mut role = Role { name: called, capabilities: Vec::new(), servers: Vec::new() };
        let table = reading.table(value, "roles");
        for (key, value) in table.into_iter().flatten() {
            match key.get_ref().as_ref() {
                "capabilities" => role.capabilities = globs(reading, value, "capabilities", Glob::new),
                "servers" => role.servers = globs(reading, value, "servers", Glob::new),
                other => reading.unknown_key(key.span(), other, KEYS),
            }
        }
        if role.servers.is_empty() && table.is_some_and(|table| table.get("servers").is_some()) {
            // Without the key it may use any: a list that was emptied does not mean that.
            let what = format!("`servers` of the role {} names none", role.name);
            reading.problem(value.span(), what, "name its servers, or take the key away: then it may use any");
        }
        for glob in role.capabilities.iter().filter(|glob| !glob.text().contains([':', '*'])) {
            let what = format!("`capabilities` of the role {} cannot be {:?}", role.name, glob.text());
            reading.problem(value.span(), what, "write THINGS:ACT, as documents:read, *:read or issues:*");
        }
        roles.push(role);
    }
    roles
}
