//! What an operator settles: a definition that is accepted or refused, a server's program, what a tool is. Each call
//! names what was shown, so that a later change is not accepted with it.

use std::collections::HashMap;

use rusqlite::OptionalExtension as _;

use super::reading::{Server, StoredTool};
use super::store::{PinStore, PinsError};
use crate::audit::record::{Entry, Kind};
use crate::behavior::identity::Identity;
use crate::gate::data::pin::Pin;
use crate::gate::data::pinning::Pinning;
use crate::wire::digest::Digest;

/// Whether a review took effect.
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
        // An operator who accepts a definition has seen that the outside view of it differs.
        if known.outside_view.is_some() && settled == Applied::Done {
            self.keep_view(&known.pin.latest, known.behavior.identity, known.behavior.identity)?;
        }
        Ok(settled)
    }

    /// Refuses the definition that was shown: its calls are denied. A definition that was trusted before stays trusted.
    pub fn refuse(&mut self, known: &StoredTool) -> Result<Applied, PinsError> {
        let sql = "UPDATE tool SET refused = ?2, trusted = nullif(trusted, ?2) WHERE id = ?1 AND latest = ?2";
        self.settle(sql, (known.id, known.pin.latest.to_string()))
    }

    /// Trusts the command and the files that were shown.
    pub fn accept_server(&mut self, server: &Server) -> Result<Applied, PinsError> {
        let sql = "UPDATE server SET trusted = program WHERE fingerprint = ?1 AND name = ?2 AND program = ?3";
        self.settle(sql, (&server.fingerprint, &server.name, &server.program))
    }

    /// Puts a tool's pin back to what it was before it was settled, while its definition is still the same.
    pub fn put_back(&mut self, known: &StoredTool, former: &Pin) -> Result<Applied, PinsError> {
        let digest = |digest: Option<Digest>| digest.map(|digest| digest.to_string());
        let sql = "UPDATE tool SET trusted = ?2, refused = ?3, identity = ?4, said = ?5
            WHERE id = ?1 AND latest = ?6";
        let words = |identity: Option<Identity>| identity.map(|identity| identity.to_string());
        let (trusted, refused) = (digest(former.trusted), digest(former.refused));
        let (identity, said) = (words(former.identity), words(former.said));
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

    /// Removes what the operator said of a tool.
    pub fn unpin(&mut self, known: &StoredTool) -> Result<Applied, PinsError> {
        let sql = "UPDATE tool SET said = NULL WHERE id = ?1 AND latest = ?2";
        self.settle(sql, (known.id, known.pin.latest.to_string()))
    }

    /// Keeps what an outside classifier says of a definition, if it differs from our view; drops an older one.
    pub fn keep_view(&mut self, definition: &Digest, says: Identity, ours: Identity) -> Result<(), PinsError> {
        let definition = definition.to_string();
        let kept = || {
            self.db.execute_batch("CREATE TABLE IF NOT EXISTS view (digest TEXT PRIMARY KEY, says TEXT NOT NULL)")?;
            if says == ours {
                return self.db.execute("DELETE FROM view WHERE digest = ?1", [&definition]);
            }
            self.db.execute("INSERT OR REPLACE INTO view VALUES (?1, ?2)", [&definition, &says.to_string()])
        };
        kept().map(drop).map_err(|error| self.fault(&error))
    }

    /// The views of outside classifiers that differ from ours, by definition.
    pub fn views(&self) -> Result<HashMap<Digest, Identity>, PinsError> {
        self.read(|db| {
            // The first view that is kept creates the table.
            let made = "SELECT 1 FROM sqlite_schema WHERE name = 'view'";
            if db.query_row(made, [], |_| Ok(())).optional()?.is_none() {
                return Ok(HashMap::new());
            }
            let mut rows = db.prepare("SELECT digest, says FROM view")?;
            let rows = rows.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
            let rows: Vec<(String, String)> = rows.collect::<Result<_, _>>()?;
            Ok(rows.into_iter().filter_map(|(digest, says)| Some((digest.parse().ok()?, says.parse().ok()?))).collect())
        })
    }

    fn settle(&mut self, sql: &str, values: impl rusqlite::Params) -> Result<Applied, PinsError> {
        let changed = self.db.execute(sql, values).map_err(|error| self.fault(&error))?;
        Ok(if changed == 0 { Applied::Outdated } else { Applied::Done })
    }
}
