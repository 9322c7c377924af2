//! What an operator gives to others, as a file that a repository, `/etc` or a desk can hold: what was agreed to, rules, roles. It names
//! servers as people know them, and not by the command line of one machine. Taking any of it over is a review.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::audit::rfc3339;
use crate::behavior::agreed::{Agreement, What};
use crate::home::agreed::Known;
use crate::home::config::{CarriedRole, carried_roles};
use crate::home::policy_file::roots;
use crate::pins::reading::Server;
use crate::policy::carried::Carried;
use crate::wire::{counted, json};

/// Version 1 has only what was agreed to; it is still written where there is nothing else.
const VERSION: u32 = 2;
/// How long a file may be, in bytes, and how much of each kind it may hold.
const LONGEST: usize = 4 << 20;
const MOST: usize = 10_000;
const MOST_RULES: usize = 1_000;
const MOST_ROLES: usize = 100;
/// How long the text of one rule or role may be, in bytes: its change is shown whole.
const LONGEST_TEXT: usize = 6 << 10;

/// A set of nothing: whoever took something over from the one before it is offered to take it back.
pub const NOTHING: &str = "{\"version\":1,\"agreed\":[]}\n";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    agreed: Vec<Line>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rules: Vec<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    roles: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// Empty for a key of `_meta`, which holds for every server.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    server: String,
    /// `npm:NAME` or `pypi:NAME`, where that is certain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    package: String,
    /// The program and what it runs, where the package is not certain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    command: String,
    what: What,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    tool: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    key: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    schema: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    value: String,
    /// The day it was agreed to; does not count.
    since: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementOffer {
    pub agreement: Agreement,
    pub server: String,
    package: String,
    command: String,
    /// The day it was agreed to, as the file says.
    pub since: String,
}

/// What a file offers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set {
    pub agreed: Vec<AgreementOffer>,
    pub rules: Vec<Carried>,
    pub roles: Vec<CarriedRole>,
}

impl Set {
    /// How much of each kind it holds: `3 agreements, 1 rule`.
    pub fn says(&self) -> String {
        amounts(self.agreed.len(), self.rules.len(), self.roles.len())
    }
}

/// `3 agreements, 1 rule`; without any, `nothing`.
pub fn amounts(agreed: usize, rules: usize, roles: usize) -> String {
    let all = [(agreed, "agreement"), (rules, "rule"), (roles, "role")];
    let some: Vec<String> =
        all.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(count, what)).collect();
    if some.is_empty() { "nothing".to_owned() } else { some.join(", ") }
}

/// What is wrong with a file: each problem, in order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct NoSet(Vec<String>);

impl AgreementOffer {
    /// Whether it is about this server: its name, and its package or command.
    pub fn is_of(&self, server: &Server) -> bool {
        let is_same = match server.package.as_deref() {
            Some(package) => package == self.package,
            None => self.package.is_empty() && self.command == server.command,
        };
        server.name == self.server && is_same
    }
}

/// The file of what counts today.
pub fn to_file(
    known: &[Known],
    servers: &[Server],
    (rules, roles): (Vec<Map<String, Value>>, Map<String, Value>),
) -> Value {
    let line = |known: &Known| {
        let Agreement { what, tool, key, schema, value } = known.kept.agreement.clone();
        let server = servers.iter().find(|server| server.fingerprint == known.kept.fingerprint);
        // A server that is not remembered cannot be named.
        if server.is_none() && what != What::Meta {
            return None;
        }
        let package = server.and_then(|server| server.package.clone()).unwrap_or_default();
        let command = server.filter(|_| package.is_empty()).map(|server| server.command.clone()).unwrap_or_default();
        let since = rfc3339(known.kept.since).split('T').next().unwrap_or_default().to_owned();
        let server = known.server.clone();
        Some(Line { server, package, command, what, tool, key, schema, value, since })
    };
    let agreed = known.iter().filter(|known| known.trouble().is_none()).filter_map(line).collect();
    let version = if rules.is_empty() && roles.is_empty() { 1 } else { VERSION };
    serde_json::to_value(File { version, agreed, rules, roles }).unwrap_or_default()
}

/// Reads a file whole, or says everything that is wrong with it. Rules read as they would on this machine.
pub fn of_file(text: &str) -> Result<Set, NoSet> {
    let wrong = |why: String| NoSet(vec![why]);
    if text.len() > LONGEST {
        return Err(wrong(format!("it is longer than {LONGEST} bytes")));
    }
    let File { version, agreed, rules, roles } =
        serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    if version == 0 || version > VERSION {
        return Err(wrong(format!("it has version {version}; this program knows versions 1 and {VERSION}")));
    }
    if version == 1 && !(rules.is_empty() && roles.is_empty()) {
        return Err(wrong("it has rules or roles, which version 1 has not".to_owned()));
    }
    // It is JSON, so its line breaks are between values; the strict reader reads one line.
    if json::value(&text.replace(['\n', '\r', '\t'], " ")).is_none() {
        return Err(wrong("programs read it differently, as with a key that is there twice".to_owned()));
    }
    let most =
        [(agreed.len(), MOST, "agreements"), (rules.len(), MOST_RULES, "rules"), (roles.len(), MOST_ROLES, "roles")];
    if let Some((_, most, what)) = most.into_iter().find(|(count, most, _)| count > most) {
        return Err(wrong(format!("it holds more than {most} {what}")));
    }
    let mut problems = Vec::new();
    let agreed = agreements(agreed, &mut problems);
    let (mut read, mut ids, roots) = (Vec::new(), BTreeSet::new(), roots());
    for (number, object) in (1..).zip(&rules) {
        match Carried::read(object, &roots) {
            Err(why) => problems.push(format!("rule {number}: {why}")),
            Ok(carried) if !ids.insert(carried.rule.id.clone()) => {
                problems.push(format!("rule {number}: another has the id {} already", carried.rule.id));
            }
            Ok(carried) if carried.text(None).len() > LONGEST_TEXT => {
                problems.push(format!("rule {number}: it is longer than {LONGEST_TEXT} bytes"));
            }
            Ok(carried) => read.push(carried),
        }
    }
    let roles = carried_roles(&roles).unwrap_or_else(|why| {
        problems.extend(why);
        Vec::new()
    });
    for role in roles.iter().filter(|role| role.text(None).len() > LONGEST_TEXT) {
        problems.push(format!("role {}: it is longer than {LONGEST_TEXT} bytes", role.name));
    }
    if problems.is_empty() { Ok(Set { agreed, rules: read, roles }) } else { Err(NoSet(problems)) }
}

fn agreements(lines: Vec<Line>, problems: &mut Vec<String>) -> Vec<AgreementOffer> {
    let (mut offers, mut seen) = (Vec::<AgreementOffer>::new(), HashMap::new());
    for (at, line) in lines.into_iter().enumerate() {
        let Line { server, package, command, what, tool, key, schema, value, since } = line;
        let offer =
            AgreementOffer { agreement: Agreement { what, tool, key, schema, value }, server, package, command, since };
        let mut problem = |why: &str| problems.push(format!("number {}: {why}", at + 1));
        if let Err(why) = offer.agreement.check() {
            problem(why);
        }
        if offer.since.parse::<jiff::civil::Date>().is_err() {
            problem("`since` is not a day like 2026-11-23");
        }
        let is_named = !offer.server.is_empty() && offer.package.is_empty() != offer.command.is_empty();
        if !is_named && what != What::Meta {
            problem("it needs `server`, and either `package` or `command`");
        }
        let same = (offer.server.clone(), offer.package.clone(), offer.command.clone(), offer.agreement.clone());
        if let Some(first) = seen.insert(same, at) {
            problem(&format!("it is the same as number {}", first + 1));
        }
        offers.push(offer);
    }
    offers
}
