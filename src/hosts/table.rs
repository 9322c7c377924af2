//! The known hosts (`assets/hosts.toml`): where each keeps its lists of servers, and how long it waits for a call.

use std::sync::LazyLock;

use serde::Deserialize;

/// A host. `*` in a path stands for any characters of one name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    pub name: &'static str,
    /// How `--host` names it.
    pub word: &'static str,
    /// Where the host's own documentation tells the places below.
    pub source: &'static str,
    /// Paths from the user's home.
    #[serde(default, borrow)]
    pub home: Vec<&'static str>,
    /// What an environment variable of the host names, and the path from there; empty where it names the file.
    #[serde(default, borrow)]
    pub variables: Vec<(&'static str, &'static str)>,
    /// Paths from the folder that is worked in.
    #[serde(default, borrow)]
    pub project: Vec<&'static str>,
    /// Whole paths of files for every user of the machine.
    #[serde(default, borrow)]
    pub system: Vec<&'static str>,
    /// Manifests of servers that the host installs as bundles, from the user's home. They are named, and never changed.
    #[serde(default, borrow)]
    pub bundles: Vec<&'static str>,
    /// Where the servers are in such a file; `*` stands for any key, and names the project.
    #[serde(default = "usual", borrow)]
    pub lists: Vec<Vec<&'static str>>,
    /// The host's own line that stops it from asking about the calls of a server before mcp-approve does.
    pub once: Option<Once>,
    /// Where an entry says how long the host waits for a call.
    pub limit: Option<Limit>,
}

/// A line that stops a host's own question about a server's calls; NAME in it is the server's.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Once {
    pub place: &'static str,
    pub line: &'static str,
}

/// How an entry says how long the host waits for a call.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    pub key: &'static str,
    pub unit: Unit,
    /// The host's default in milliseconds, if it is so short that no operator could decide in time.
    pub short: Option<u64>,
    /// The host ignores a limit below this, in milliseconds.
    #[serde(default)]
    pub least: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    Seconds,
    Milliseconds,
}

fn usual() -> Vec<Vec<&'static str>> {
    vec![vec!["mcpServers"]]
}

/// Every known host; none if the file were broken, which a test would say.
pub static HOSTS: LazyLock<Vec<Host>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'static"))]
    struct File {
        host: Vec<Host>,
    }
    toml::from_str(include_str!("../../assets/hosts.toml")).map(|File { host }| host).unwrap_or_default()
});
