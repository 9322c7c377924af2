//! What was agreed to as a file that a repository or `/etc` can hold: it names servers as people know them, and not by the
//! command line of one machine. Pure; importing such a file is a review.

use serde::{Deserialize, Serialize};

use super::agreed::Known;
use crate::audit::moment::rfc3339;
use crate::behavior::agreed::{Agreement, What};
use crate::pins::reading::Server;

const VERSION: u32 = 1;
/// How long a file may be, in bytes, and how many agreements it may hold.
pub const LONGEST: usize = 4 << 20;
const MOST: usize = 10_000;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    agreed: Vec<Line>,
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

/// What is wrong with a file: each problem, in order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct NoAgreements(Vec<String>);

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
pub fn write(known: &[Known], servers: &[Server]) -> serde_json::Value {
    let line = |known: &Known| {
        let Agreement { what, tool, key, schema, value } = known.kept.agreement.clone();
        let server = servers.iter().find(|server| server.fingerprint == known.kept.fingerprint);
        // Of a server that is not remembered nobody could say which one it is.
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
    serde_json::to_value(File { version: VERSION, agreed }).unwrap_or_default()
}

/// Reads a file whole, or says everything that is wrong with it.
pub fn read(text: &str) -> Result<Vec<AgreementOffer>, NoAgreements> {
    let wrong = |why: String| NoAgreements(vec![why]);
    if text.len() > LONGEST {
        return Err(wrong(format!("it is longer than {LONGEST} bytes")));
    }
    let file: File = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    if file.version != VERSION {
        return Err(wrong(format!("it has version {}; this program knows version {VERSION}", file.version)));
    }
    if file.agreed.len() > MOST {
        return Err(wrong(format!("it holds more than {MOST} agreements")));
    }
    let (mut offers, mut problems) = (Vec::<AgreementOffer>::new(), Vec::new());
    let mut seen = std::collections::HashMap::new();
    for (at, line) in file.agreed.into_iter().enumerate() {
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
    if problems.is_empty() { Ok(offers) } else { Err(NoAgreements(problems)) }
}
