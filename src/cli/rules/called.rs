//! Rules that call a server as its host does, where its wrapper has another name: they never match it. Reads the hosts' lists.

use std::collections::BTreeSet;

use crate::cli::lattice::hosts::known_as;
use crate::home::user;
use crate::hosts::{self, Search};
use crate::policy::lint::Warning;
use crate::policy::rule::Policy;

/// A warning for each such rule and server; none where the hosts' lists cannot be found.
pub(super) fn otherwise(policy: &Policy) -> Vec<Warning> {
    let mut aliases = policy.rules.iter().flat_map(|rule| rule.tool.iter().map(move |tool| (rule, tool))).peekable();
    if aliases.peek().is_none() {
        return Vec::new();
    }
    let Ok(user) = user::current() else { return Vec::new() };
    let servers = hosts::lists(&Search::here(user.home).files()).servers;
    let mut said = BTreeSet::new();
    let mut warnings = Vec::new();
    for (rule, tool) in aliases {
        let Some(alias) = tool.server() else { continue };
        for one in servers.iter().filter(|one| one.wrapping.is_some()) {
            let name = known_as(one);
            let meant = spellings(&one.name).iter().any(|spelling| alias.matches(spelling));
            if meant && !alias.matches(&name) && said.insert((rule.id.clone(), one.name.clone(), name.clone())) {
                let (alias, id, key, host) = (tool.text(), &rule.id, &one.name, one.host);
                warnings.push(Warning {
                    rule: id.clone(),
                    line: rule.line,
                    column: 1,
                    what: format!(
                        "{alias} in rule {id} never matches a call of {key}, which {host} starts: its wrapper is named {name}"
                    ),
                    hint: format!("write mcp__{name}__TOOL, or name its wrapper as the rule does, with --name"),
                });
            }
        }
    }
    warnings
}

/// How hosts write a server's name before its tools: as it is, or with `_` for all but letters and digits, with or
/// without `-`.
fn spellings(key: &str) -> [String; 3] {
    let with = |kept: &str| -> String {
        key.chars().map(|c| if c.is_ascii_alphanumeric() || kept.contains(c) { c } else { '_' }).collect()
    };
    [key.to_owned(), with("_-"), with("_")]
}
