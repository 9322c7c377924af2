//! Roles: which tools a person or agent may use, by capability tags. Only searches for tools use them, no ruling does.

use super::glob::Glob;

/// One role: `[roles.NAME]` of `config.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    pub name: String,
    /// Tags that it grants: `documents:read`, `*:read`. None grants nothing.
    pub capabilities: Vec<Glob>,
    /// Servers whose tools it may use; any where none is named.
    pub servers: Vec<Glob>,
}

/// Why a role may not use a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lacks {
    Server,
    /// The role has none of these tags, which are the tool's; the list is empty where the tool's action is unknown.
    Capability(Vec<String>),
}

impl Role {
    /// What keeps the role from a tool with these tags, of a server of this name; `None` where nothing does.
    ///
    /// A tool's tags are several words for one capability, so one of them is enough. A tool without any is not known to
    /// be covered by anything.
    pub fn lacks(&self, server: &str, tags: &[String]) -> Option<Lacks> {
        if !self.servers.is_empty()
            && !self.servers.iter().any(|glob| glob.matches(super::question::rules_name(server)))
        {
            return Some(Lacks::Server);
        }
        let granted = tags.iter().any(|tag| self.capabilities.iter().any(|glob| glob.matches(tag)));
        (!granted).then(|| Lacks::Capability(tags.to_vec()))
    }
}
