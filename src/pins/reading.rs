//! Reads everything ever seen, for lists and searches, and keeps what an operator settles: a definition, a server's program, what a
//! tool is. Each settling call names what was shown, so that a later change is not accepted with it.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{OptionalExtension as _, Row};

use super::columns::{Argument, FORMER, PIN, arguments, changed, pin, words};
use super::store::{PinStore, PinsError, views};
use crate::audit::{Entry, Kind};
use crate::behavior::conclude::{self, Overrides};
use crate::behavior::{
    Behavior, Hazard, HazardKind, Identity, Source, Trust, curated::Curated, hazards::lookalike, shape::Given,
};
use crate::gate::data::pin::{Other, Pin, PinState, Pinning, Pins};
use crate::mcp::Tool;
use crate::wire::Digest;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub name: String,
    /// The digest of the command line, 64 hex characters.
    pub fingerprint: String,
    pub command: String,
    pub package: Option<String>,
    pub trust: Trust,
    /// The files that ran last, one a line.
    pub program: String,
    /// The files that are trusted; `None`: this command is not accepted yet.
    pub trusted: Option<String>,
    /// Milliseconds since 1970, UTC.
    pub first_seen: i64,
    pub last_seen: i64,
    /// The whole command line without its secrets; empty where an older version noted it.
    pub words: Vec<String>,
    /// The command line that was trusted last under this name, if this one is not.
    pub former: Vec<String>,
}

/// One tool as it was seen last, with everything concluded about it now.
#[derive(Clone, Debug)]
pub struct StoredTool {
    pub id: i64,
    pub server: Server,
    pub tool: Tool,
    pub pin: Pin,
    pub pin_state: PinState,
    pub behavior: Behavior,
    /// What our list of well-known servers says of its parameters.
    pub given: Option<Arc<Given>>,
    /// Milliseconds since 1970, UTC.
    pub last_seen: i64,
}

impl Server {
    /// What changed since the server was trusted; `None` when nothing did.
    pub fn change(&self) -> Option<String> {
        changed(&self.program, self.trusted.as_deref(), &self.arguments())
    }

    /// The command line, argument by argument, beside the one that was trusted before.
    pub fn arguments(&self) -> Vec<Argument> {
        arguments(&self.former, &self.words)
    }
}

impl PinStore {
    /// Every server, the one seen last first.
    pub fn servers(&self) -> Result<Vec<Server>, PinsError> {
        self.read(|db| {
            let mut rows = db.prepare(&format!("SELECT {} FROM server ORDER BY last_seen DESC, name", columns()))?;
            rows.query_map([], |row| server(row, 0))?.collect()
        })
    }

    /// Every tool, by server and name.
    pub fn tools(&self) -> Result<Vec<StoredTool>, PinsError> {
        let rows: Vec<(i64, Server, Pin, i64, String)> = self.read(|db| {
            let columns = columns();
            let mut rows = db.prepare(&format!(
                "SELECT tool.id, {columns}, {PIN}, tool.last_seen, definition.text FROM tool
                 JOIN server USING (fingerprint) JOIN definition ON definition.digest = tool.latest
                 ORDER BY server.name, server.fingerprint, tool.name"
            ))?;
            let row = |row: &Row<'_>| Ok((row.get(0)?, server(row, 1)?, pin(row, 12)?, row.get(20)?, row.get(21)?));
            rows.query_map([], row)?.collect()
        })?;
        let views = self.read(views)?;
        let mut lists = HashMap::new();
        let mut tools: Vec<StoredTool> = rows
            .into_iter()
            .filter_map(|(id, server, pin, last_seen, definition)| {
                let tool = Tool::read(serde_json::from_str(&definition).ok()?)?;
                let package = server.package.clone().unwrap_or_default();
                let curated: &Curated = lists.entry(package).or_insert_with_key(|package| Curated::of_package(package));
                let outside = views.get(&pin.latest).cloned().unwrap_or_default();
                let (pinned, curated_as) = (pin.said_of(&pin.latest), curated.find(&pin.latest));
                let hints = Overrides { pinned, curated: curated_as, outside };
                let mut behavior = conclude::of_tool_with(&tool, server.trust, hints);
                let pin_state = pin.state_of(pin.latest);
                behavior.hazards.extend(pin_state.hazard(behavior.identity));
                if let Some(what) = server.change() {
                    behavior.hazards.push(Hazard { kind: HazardKind::ChangedServer, what });
                }
                let given = curated.given(&pin.latest);
                Some(StoredTool { id, server, tool, pin, pin_state, behavior, given, last_seen })
            })
            .collect();
        look_alikes(&mut tools);
        Ok(tools)
    }

    /// The text of a definition that was seen at some time.
    pub fn definition(&self, digest: Digest) -> Result<Option<String>, PinsError> {
        let sql = "SELECT text FROM definition WHERE digest = ?1";
        self.read(|db| db.query_row(sql, [digest.to_string()], |row| row.get(0)).optional())
    }
}

/// Marks tools whose names look like those of other servers.
fn look_alikes(tools: &mut [StoredTool]) {
    let mut by_shape: HashMap<String, Vec<Other>> = HashMap::new();
    for known in tools.iter() {
        let (server, tool) = (known.server.name.clone(), known.tool.name.clone());
        let other = Other { server, tool, first_seen: known.pin.first_seen };
        by_shape.entry(lookalike::shape(&other.tool)).or_default().push(other);
    }
    by_shape.retain(|_, alike| alike.iter().any(|one| one.tool != alike[0].tool));
    for known in tools {
        let shape = lookalike::shape(&known.tool.name);
        let Some(alike) = by_shape.get(&shape) else { continue };
        let others = alike.iter().filter(|other| other.server != known.server.name).cloned();
        let pins = Pins {
            tools: [(known.tool.name.clone(), known.pin.clone())].into(),
            others: [(shape, others.collect())].into(),
            ..Pins::default()
        };
        known.behavior.hazards.extend(pins.look_alike(&known.tool.name));
    }
}

/// The columns of a server, as [`server`] reads them.
fn columns() -> String {
    format!(
        "server.name, server.fingerprint, server.command, server.package, server.trust, server.program,
         server.trusted, server.first_seen, server.last_seen, server.words,
         iif(server.trusted IS NULL, {FORMER}, NULL)"
    )
}

fn server(row: &Row<'_>, at: usize) -> rusqlite::Result<Server> {
    let trust: String = row.get(at + 4)?;
    Ok(Server {
        name: row.get(at)?,
        fingerprint: row.get(at + 1)?,
        command: row.get(at + 2)?,
        package: row.get(at + 3)?,
        trust: trust.parse().unwrap_or(Trust::None),
        program: row.get(at + 5)?,
        trusted: row.get(at + 6)?,
        first_seen: row.get(at + 7)?,
        last_seen: row.get(at + 8)?,
        words: words(row, at + 9)?,
        former: words(row, at + 10)?,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Applied {
    Done,
    /// The definition or program changed again after it was shown.
    Outdated,
}

/// The entry that says what an operator settled of a server or one of its tools. `now` is milliseconds since 1970, UTC.
pub fn entry(now: i64, server: &Server, tool: Option<&StoredTool>, what: &str, operator: &str) -> Entry {
    let mut entry = Entry::new(now, Kind::Tools, &server.name.as_str().into(), &"review".into());
    if let Some(known) = tool {
        entry.tool = Some(known.tool.name.as_str().into());
        entry.digest = Some(known.pin.latest);
    }
    entry.with("review", what).with("operator", operator).with("fingerprint", server.fingerprint.as_str())
}

impl PinStore {
    /// Trusts the definition that was shown. What was said of another definition is dropped.
    pub fn accept(&mut self, known: &StoredTool) -> Result<Applied, PinsError> {
        let sql = "UPDATE tool SET trusted = ?2, refused = NULL, identity = ?3, said = iif(trusted = ?2, said, NULL)
            WHERE id = ?1 AND latest = ?2";
        let settled =
            self.settle(sql, (known.id, known.pin.latest.to_string(), known.behavior.identity.to_string()))?;
        // Whoever accepts a definition has seen that classifiers differ. Whether it reads is only settled by a pin.
        if known.behavior.has(Source::Outside) && !known.behavior.disputed && settled == Applied::Done {
            self.keep_views(&known.pin.latest, &[])?;
        }
        Ok(settled)
    }

    /// Refuses the definition that was shown: its calls are denied. A definition that was trusted before stays trusted.
    pub fn refuse(&mut self, known: &StoredTool) -> Result<Applied, PinsError> {
        let sql = "UPDATE tool SET refused = ?2, trusted = nullif(trusted, ?2) WHERE id = ?1 AND latest = ?2";
        self.settle(sql, (known.id, known.pin.latest.to_string()))
    }

    pub fn accept_server(&mut self, server: &Server) -> Result<Applied, PinsError> {
        let sql = "UPDATE server SET trusted = program WHERE fingerprint = ?1 AND name = ?2 AND program = ?3";
        self.settle(sql, (&server.fingerprint, &server.name, &server.program))
    }

    /// Puts a tool's pin back to what it was before it was settled, while its definition is still the same.
    pub fn put_back(&mut self, known: &StoredTool, former: &Pin) -> Result<Applied, PinsError> {
        let digest = |digest: Option<Digest>| digest.map(|digest| digest.to_string());
        let words = |identity: Option<Identity>| identity.map(|identity| identity.to_string());
        let (trusted, refused) = (digest(former.trusted), digest(former.refused));
        let (identity, said) = (words(former.identity), words(former.said));
        let sql = "UPDATE tool SET trusted = ?2, refused = ?3, identity = ?4, said = ?5 WHERE id = ?1 AND latest = ?6";
        self.settle(sql, (known.id, trusted, refused, identity, said, former.latest.to_string()))
    }

    /// Puts a server's trusted files back to what they were, while the same ones run.
    pub fn put_back_server(&mut self, server: &Server, trusted: Option<&str>) -> Result<Applied, PinsError> {
        let sql = "UPDATE server SET trusted = ?4 WHERE fingerprint = ?1 AND name = ?2 AND program = ?3";
        self.settle(sql, (&server.fingerprint, &server.name, &server.program, trusted))
    }

    /// Keeps what the operator says of the definition that was shown. Saying what a definition is also trusts it.
    pub fn pin(&mut self, known: &StoredTool, says: Identity) -> Result<Applied, PinsError> {
        let (tool, definition) = (known.tool.name.clone(), known.pin.latest);
        let pinning = Pinning { tool, definition, is: known.behavior.identity, says };
        self.pin_tool(&known.server.fingerprint, &pinning)
    }

    /// The same, for a tool of the server with this fingerprint.
    pub fn pin_tool(&mut self, fingerprint: &str, pinning: &Pinning) -> Result<Applied, PinsError> {
        let Pinning { tool, definition, is: _, says: identity } = pinning;
        let definition = definition.to_string();
        let sql = "UPDATE tool SET said = ?4, identity = ?4, trusted = ?3, refused = NULL
            WHERE fingerprint = ?1 AND name = ?2 AND latest = ?3";
        self.settle(sql, (fingerprint, tool, definition, identity.to_string()))
    }

    pub fn unpin(&mut self, known: &StoredTool) -> Result<Applied, PinsError> {
        let sql = "UPDATE tool SET said = NULL WHERE id = ?1 AND latest = ?2";
        self.settle(sql, (known.id, known.pin.latest.to_string()))
    }

    /// Keeps what outside classifiers say of a definition, in place of what they said before; none: all agree with us.
    pub fn keep_views(&mut self, definition: &Digest, views: &[Identity]) -> Result<(), PinsError> {
        let definition = definition.to_string();
        let words = views.iter().map(Identity::words).collect::<Vec<_>>().join(" ");
        self.write(|db| {
            db.execute_batch("CREATE TABLE IF NOT EXISTS view (digest TEXT PRIMARY KEY, says TEXT NOT NULL)")?;
            match views {
                [] => db.execute("DELETE FROM view WHERE digest = ?1", [&definition]),
                _ => db.execute("INSERT OR REPLACE INTO view VALUES (?1, ?2)", [&definition, &words]),
            }
            .map(drop)
        })
    }

    fn settle(&mut self, sql: &str, values: impl rusqlite::Params) -> Result<Applied, PinsError> {
        let mut changed = 0;
        self.write(|db| {
            changed = db.execute(sql, values)?;
            Ok(())
        })?;
        Ok(if changed == 0 { Applied::Outdated } else { Applied::Done })
    }
}
