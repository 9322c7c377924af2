//! Our list of well-known servers: reviewed identities, each for exactly one definition of one package's tool.
//!
//! The lists lie in `assets/identities/`, one file a package, and are read one at a time, when that package is run.
//! A tool whose definition is another than the reviewed one is not on the list. Made by `tests/bench/curate.rs`.

mod table;

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::arguments::sql::Dialect;
use super::evidence::{Claim, Evidence, Source, Strength};
use super::identity::Identity;
use super::shape::{Given, Roles};
use super::taxonomy::{ContentType, Mutability};
use crate::wire::digest::Digest;
use crate::wire::words::words;

pub use table::LISTS;

words! {
    /// What a curated package requires of whoever changes something with it, in a role's words: things and an act.
    Entitlement {
        Containers = "containers:write",
        Databases = "databases:write",
        Files = "files:write",
        Issues = "issues:write",
        Memories = "memories:write",
        Messages = "messages:send",
        Pages = "pages:write",
        Repositories = "repositories:write",
    }
}

/// What a reviewer found of one definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reviewed {
    pub identity: Identity,
    pub content_type: Option<ContentType>,
    /// What a role must grant for it, where the operator says nothing of the tool.
    pub requires: Option<Entitlement>,
    /// The package, `npm:NAME` or `pypi:NAME`.
    pub package: &'static str,
}

impl Reviewed {
    /// The finding as evidence.
    pub fn evidence(self) -> Evidence {
        Evidence {
            source: Source::Curated,
            says: Claim::of(self.identity, self.content_type),
            span: format!("reviewed for this definition of {}", self.package),
            strength: Strength::Strong,
        }
    }
}

/// The list of one package, by tool definition.
#[derive(Clone, Debug, Default)]
pub struct Curated {
    by_digest: HashMap<Digest, (Reviewed, Arc<Given>)>,
}

/// One file of `assets/identities/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// `npm:NAME` or `pypi:NAME`.
    pub package: String,
    /// The version that was looked at; others count as far as their definitions are the same.
    pub version: String,
    /// What each tool that may change something requires, where that is plain.
    pub changing_requires: Option<Entitlement>,
    /// Hosts that the server may read from unasked: as an agreement about a host names them.
    #[serde(default)]
    pub hosts: Vec<String>,
    #[serde(rename = "tool")]
    pub tools: Vec<Row>,
}

/// One reviewed definition.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub name: String,
    /// SHA-256 of the canonical definition, 64 hex characters.
    pub digest: String,
    /// `MUTABILITY|ACTION|OUTPUT_DOMAIN`.
    pub identity: String,
    pub content_type: Option<ContentType>,
    /// Reading roles by key, each `ROLE` or `ROLE|ROLE`.
    #[serde(default)]
    pub roles: HashMap<String, String>,
    /// By key, the switches and members of enums that read.
    #[serde(default)]
    pub reads: HashMap<String, Vec<Value>>,
    /// `sqlite`, `postgresql`, `mysql` or `mssql`.
    pub dialect: Option<String>,
}

impl Row {
    /// What is said of its parameters; `None` where a word of it is unknown.
    fn given(self, hosts: &Arc<[String]>) -> Option<Given> {
        let role = |(key, words): (String, String)| Some((key, Roles::from_words(&words)?));
        let dialect = match self.dialect {
            Some(word) => Some(Dialect::from_word(&word)?),
            None => None,
        };
        let roles = self.roles.into_iter().map(role).collect::<Option<_>>()?;
        Some(Given { roles, reads: self.reads, dialect, hosts: Arc::clone(hosts) })
    }
}

impl Curated {
    /// The list of one package; empty where we have none.
    pub fn of_package(package: &str) -> Self {
        LISTS
            .iter()
            .find(|(known, _)| *known == package)
            .map(|(known, text)| Self::read(known, text))
            .unwrap_or_default()
    }

    /// What was found of a definition; `None` where it was not reviewed.
    pub fn find(&self, digest: &Digest) -> Option<Reviewed> {
        self.by_digest.get(digest).map(|(reviewed, _)| *reviewed)
    }

    /// What was found of the parameters of a definition.
    pub fn given(&self, digest: &Digest) -> Option<Arc<Given>> {
        self.by_digest.get(digest).map(|(_, given)| Arc::clone(given))
    }

    /// A row that does not parse is left out, and a test sees to it that none is.
    fn read(package: &'static str, text: &str) -> Self {
        let Ok(List { tools, changing_requires, hosts, .. }) = toml::from_str(text) else { return Self::default() };
        let hosts = hosts.into();
        let read = |row: Row| {
            let identity: Identity = row.identity.parse().ok()?;
            let requires = changing_requires.filter(|_| identity.mutability == Mutability::Mutates);
            let reviewed = Reviewed { identity, content_type: row.content_type, requires, package };
            Some((row.digest.parse().ok()?, (reviewed, Arc::new(row.given(&hosts)?))))
        };
        Self { by_digest: tools.into_iter().filter_map(read).collect() }
    }
}

/// Each tool of a package's list: its name, the definition that was reviewed, and what was found of it. Empty where we have none.
pub fn tools(package: &str) -> Vec<(String, Digest, Reviewed)> {
    let Some((known, text)) = LISTS.iter().find(|(known, _)| *known == package) else { return Vec::new() };
    let (list, curated) = (toml::from_str::<List>(text), Curated::read(known, text));
    let row = |row: Row| {
        let digest = row.digest.parse().ok()?;
        Some((row.name, digest, curated.find(&digest)?))
    };
    list.map(|list| list.tools.into_iter().filter_map(row).collect()).unwrap_or_default()
}

/// What any list says of a definition, whatever runs it: for listings only, where nothing is called.
pub fn of_any_package(digest: &Digest) -> Option<Reviewed> {
    let text = digest.to_string();
    let (package, list) = LISTS.iter().find(|(_, list)| list.contains(&text))?;
    Curated::read(package, list).find(digest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Curated, LISTS, List};
    use crate::behavior::agreed::Agreements;
    use crate::behavior::arguments::choice;
    use crate::behavior::conclude::{Overrides, Trust, of_tool_with};
    use crate::behavior::identity::Identity;
    use crate::behavior::shape::{self, Keys, Known, PathStates, Places, Role, Roles};
    use crate::behavior::taxonomy::Mutability;
    use crate::behavior::words;
    use crate::mcp::tool::Tool;
    use crate::wire::digest::Digest;

    /// Tools that read although a word of their name is firmly an act, and why.
    const READ_ALL_THE_SAME: &[(&str, &str)] = &[
        ("pypi:awslabs-cloudwatch-mcp-server execute_log_insights_query", "the language of log queries has no act"),
        ("pypi:awslabs-cloudwatch-mcp-server execute_promql_query", "PromQL has no act"),
        ("pypi:awslabs-cloudwatch-mcp-server execute_promql_range_query", "PromQL has no act"),
        ("pypi:mcp-atlassian jira_get_create_fields", "the fields of the form for new issues"),
        ("pypi:prometheus-mcp-server execute_query", "PromQL has no act"),
        ("pypi:prometheus-mcp-server execute_range_query", "PromQL has no act"),
    ];

    fn lists() -> impl Iterator<Item = (&'static str, List)> {
        LISTS.iter().map(|(package, text)| {
            (*package, toml::from_str(text).unwrap_or_else(|error| panic!("{package}: {error}")))
        })
    }

    #[test]
    fn every_row_of_every_list_counts() {
        assert!(LISTS.len() >= 80, "{} packages", LISTS.len());
        for (package, list) in lists() {
            let curated = Curated::of_package(package);
            for row in list.tools {
                let digest: Digest = row.digest.parse().unwrap_or_else(|_| panic!("{package} {}", row.name));
                let given = curated.given(&digest).unwrap_or_else(|| panic!("{package} {}", row.name));
                assert_eq!(given.hosts[..], list.hosts[..], "{package}");
                assert_eq!(given.roles.len(), row.roles.len(), "{package} {}", row.name);
                let says_nothing = row.roles.is_empty() && row.reads.is_empty() && row.dialect.is_none();
                let reads = row.identity.starts_with("PURE");
                assert!(says_nothing || reads, "{package} {}: its parameters prove nothing", row.name);
            }
        }
    }

    #[test]
    fn a_tool_that_reads_is_not_named_for_an_act() {
        let mut found = Vec::new();
        for (package, list) in lists() {
            for row in list.tools {
                let identity: Identity = row.identity.parse().unwrap();
                let acts = words::of_name(&row.name).iter().any(|word| choice::is_firm_change(word));
                if acts && identity.mutability == Mutability::Pure {
                    found.push(format!("{package} {}", row.name));
                }
            }
        }
        let known: Vec<&str> = READ_ALL_THE_SAME.iter().map(|(tool, _)| *tool).collect();
        assert_eq!(found, known);
    }

    #[test]
    fn a_key_that_says_what_acts_has_no_role() {
        const ACTS: &str = "to recipient recipients cc bcc destination output out save code command script program shell \
                            exec webhook callback password secret filename";
        // Named for an end of a span, a way or a comparison, or for a person to filter by.
        const KNOWN: &[&str] = &[
            "npm:@amap/amap-maps-mcp-server destination",
            "npm:@azure-devops/mcp assignedTo",
            "npm:@modelcontextprotocol/server-google-maps destination",
            "npm:@modelcontextprotocol/server-google-maps destinations",
            "npm:@zereight/mcp-gitlab to",
        ];
        for (package, list) in lists() {
            for row in list.tools {
                for (key, role) in &row.roles {
                    let acts = words::of_name(key).iter().any(|word| words::among(word, ACTS));
                    let is_harmless =
                        Roles::from_words(role).is_some_and(|roles| roles.has(Role::Time) || roles.has(Role::Switch));
                    let is_known = KNOWN.contains(&&*format!("{package} {key}"));
                    assert!(!acts || is_harmless || is_known, "{package} {} {key}", row.name);
                }
            }
        }
    }

    #[test]
    fn what_a_list_gives_counts_in_a_call() {
        assert_eq!(Roles::from_words("id|name|nothing"), None);
        let definition =
            json!({"name": "get_thing", "description": "Gets a thing.", "inputSchema": {"type": "object"}});
        let tool = Tool::read(definition).unwrap();
        let row = "name = 'get_thing'\ndigest = 'DIGEST'\nidentity = 'PURE|READ|DATA'\ndialect = 'sqlite'\n\
                   roles = { zorb = 'id|name' }\nreads = { mode = ['fast'], dryRun = [true] }";
        let list = format!("package = 'npm:x'\nversion = '1'\nhosts = ['docs.example.com']\n[[tool]]\n{row}");
        let curated = Curated::read("npm:x", &list.replace("DIGEST", &tool.digest().to_string()));
        let told = Overrides { pinned: None, curated: curated.find(&tool.digest()) };
        let behavior = of_tool_with(&tool, Trust::Corroborate, told);
        let (agreed, places, path_states) = (Agreements::default(), Places::default(), PathStates::new());
        let known = Known { agreed: &agreed, places: &places, roots: &[], path_states: &path_states };
        for (arguments, passes) in [
            (json!({"zorb": "a-1"}), true),
            (json!({"zorb": "$(id)"}), false),
            (json!({"mode": "fast", "dryRun": true}), true),
            (json!({"mode": "purge"}), false),
            (json!({"dryRun": false}), false),
            (json!({"url": "https://docs.example.com/guide"}), true),
            (json!({"url": "https://x.docs.example.com/guide"}), false),
            (json!({"url": "https://docs.example.com/delete"}), false),
            (json!({"sql": "SELECT a FROM b"}), true),
            (json!({"sql": "DELETE FROM b"}), false),
        ] {
            let keys = Keys::of(&tool, &behavior, curated.given(&tool.digest()).as_ref());
            assert_eq!(shape::of_call(Some(&tool), &keys, &arguments, known).holds(), passes, "{arguments}");
            let keys = Keys::of(&tool, &behavior, None);
            assert!(!shape::of_call(Some(&tool), &keys, &arguments, known).holds(), "{arguments}: not given");
        }
    }
}
