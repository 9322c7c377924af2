//! What an operator settles: accepts or refuses a definition, accepts a server's program, says what a tool is. Each names
//! what was looked at, so that what changed in the meantime is not accepted with it.

use super::reading::{Known, Server};
use super::store::{Memory, PinsError};
use crate::audit::record::{Entry, Kind};
use crate::behavior::identity::Identity;
use crate::gate::data::pin::Pin;
use crate::wire::digest::Digest;

/// Whether a review took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Settled {
    Done,
    /// It changed again since it was shown.
    Outdated,
}

/// The entry that says what an operator settled of a server or one of its tools. `now` is milliseconds since 1970, UTC.
pub fn entry(now: i64, server: &Server, tool: Option<&Known>, what: &str, operator: &str) -> Entry {
    let mut entry = Entry::new(now, Kind::Tools, &server.name.as_str().into(), &"review".into());
    if let Some(known) = tool {
        entry.tool = Some(known.tool.name.clone());
        entry.digest = Some(known.pin.latest);
    }
    entry.with("review", what).with("operator", operator).with("fingerprint", server.fingerprint.as_str())
}

impl Memory {
    /// Trusts the definition that was shown.
    ///
    /// # Errors
    /// Why it could not be kept.
    pub fn accept(&mut self, known: &Known) -> Result<Settled, PinsError> {
        let sql = "UPDATE tool SET trusted = ?2, refused = NULL, identity = ?3 WHERE id = ?1 AND latest = ?2";
        self.settle(sql, (known.id, known.pin.latest.to_string(), known.behavior.identity.to_string()))
    }

    /// Refuses the definition that was shown: its calls are denied. What was trusted before stays so.
    ///
    /// # Errors
    /// Why it could not be kept.
    pub fn refuse(&mut self, known: &Known) -> Result<Settled, PinsError> {
        let sql = "UPDATE tool SET refused = ?2, trusted = nullif(trusted, ?2) WHERE id = ?1 AND latest = ?2";
        self.settle(sql, (known.id, known.pin.latest.to_string()))
    }

    /// Trusts the command and the files that were shown.
    ///
    /// # Errors
    /// Why it could not be kept.
    pub fn accept_server(&mut self, server: &Server) -> Result<Settled, PinsError> {
        let sql = "UPDATE server SET trusted = program WHERE fingerprint = ?1 AND name = ?2 AND program = ?3";
        self.settle(sql, (&server.fingerprint, &server.name, &server.program))
    }

    /// Puts a tool's pin back to what it was before it was settled, while its definition is still the same.
    ///
    /// # Errors
    /// Why it could not be kept.
    pub fn put_back(&mut self, known: &Known, former: &Pin) -> Result<Settled, PinsError> {
        let digest = |digest: Option<Digest>| digest.map(|digest| digest.to_string());
        let sql = "UPDATE tool SET trusted = ?2, refused = ?3, identity = ?4 WHERE id = ?1 AND latest = ?5";
        let identity = former.identity.map(|identity| identity.to_string());
        let (trusted, refused) = (digest(former.trusted), digest(former.refused));
        self.settle(sql, (known.id, trusted, refused, identity, former.latest.to_string()))
    }

    /// Puts a server's trusted files back to what they were, while the same ones run.
    ///
    /// # Errors
    /// Why it could not be kept.
    pub fn put_back_server(&mut self, server: &Server, trusted: Option<&str>) -> Result<Settled, PinsError> {
        let sql = "UPDATE server SET trusted = ?4 WHERE fingerprint = ?1 AND name = ?2 AND program = ?3";
        self.settle(sql, (&server.fingerprint, &server.name, &server.program, trusted))
    }

    /// Keeps what the operator says that a tool is, or that nothing is said any more. Whoever says what a definition is
    /// has looked at it, and trusts it.
    ///
    /// # Errors
    /// Why it could not be kept.
    pub fn say(&mut self, known: &Known, identity: Option<Identity>) -> Result<Settled, PinsError> {
        let latest = known.pin.latest.to_string();
        match identity.map(|identity| identity.to_string()) {
            Some(said) => {
                let sql = "UPDATE tool SET said = ?2, identity = ?2, trusted = ?3, refused = NULL
                    WHERE id = ?1 AND latest = ?3";
                self.settle(sql, (known.id, said, latest))
            }
            None => self.settle("UPDATE tool SET said = NULL WHERE id = ?1 AND latest = ?2", (known.id, latest)),
        }
    }

    fn settle(&mut self, sql: &str, values: impl rusqlite::Params) -> Result<Settled, PinsError> {
        let changed = self.db.execute(sql, values).map_err(|error| self.fault(&error))?;
        Ok(if changed == 0 { Settled::Outdated } else { Settled::Done })
    }
}
