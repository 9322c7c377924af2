//! What the operator agreed to, on disk. What counts of it has its record in the log, and was used in the last ninety days.

use std::path::Path;

use rusqlite::Row;

use super::store::{PinStore, PinsError};
use crate::audit::agreed::{Latest, Says};
use crate::audit::store::{Reader, StoreError};
use crate::behavior::agreed::{Agreement, Backing, What, day_of, has_lapsed};
use crate::wire::digest::Digest;

/// One agreement as it was kept. It counts only with its record in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub agreement: Agreement,
    /// Of the server's command line; empty for what holds for every server of a host program.
    pub fingerprint: String,
    /// Milliseconds since 1970, UTC.
    pub since: i64,
    /// The day of its last use: days since 1970, UTC.
    pub used: i64,
}

impl Kept {
    pub fn digest(&self) -> Digest {
        self.agreement.digest(&self.fingerprint)
    }
}

/// The columns of an agreement, as [`kept`] reads them.
const COLUMNS: &str = "what, tool, key, schema, value, fingerprint, since, used";

impl PinStore {
    /// Keeps what was agreed to. The log has its record already.
    pub fn agree(&mut self, fingerprint: &str, agreed: &[Agreement], now: i64) -> Result<(), PinsError> {
        self.write(|change| {
            let mut insert = change.prepare(
                "INSERT INTO agreed (fingerprint, digest, what, tool, key, schema, value, since, used)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                 ON CONFLICT DO UPDATE SET since = excluded.since, used = excluded.used",
            )?;
            for one in agreed {
                let Agreement { what, tool, key, schema, value } = one;
                let digest = one.digest(fingerprint).to_string();
                let (of, used) = (place_of(one, fingerprint), day_of(now));
                insert.execute((of, digest, what.word(), tool, key, schema, value, now, used))?;
            }
            Ok(())
        })
    }

    /// Notes that these were used on the day of `now`.
    pub fn use_agreed(&mut self, fingerprint: &str, used: &[Agreement], now: i64) -> Result<(), PinsError> {
        self.write(|change| {
            let mut note = change.prepare("UPDATE agreed SET used = max(used, ?2) WHERE digest = ?1")?;
            used.iter().try_for_each(|one| note.execute((one.digest(fingerprint).to_string(), day_of(now))).map(drop))
        })
    }

    /// Removes agreements; returns those that were there. What takes one back is its record.
    pub fn disagree(&mut self, digests: &[Digest]) -> Result<Vec<Digest>, PinsError> {
        let mut removed = Vec::new();
        if digests.is_empty() {
            return Ok(removed);
        }
        self.write(|change| {
            let mut delete = change.prepare("DELETE FROM agreed WHERE digest = ?1")?;
            for digest in digests {
                if delete.execute([digest.to_string()])? > 0 {
                    removed.push(*digest);
                }
            }
            Ok(())
        })?;
        Ok(removed)
    }

    /// Everything kept for the server of this fingerprint, and what holds for every server, in the order it was agreed to.
    pub fn agreed(&self, fingerprint: Option<&str>) -> Result<Vec<Kept>, PinsError> {
        let sql =
            format!("SELECT {COLUMNS} FROM agreed WHERE ?1 IS NULL OR fingerprint IN (?1, '') ORDER BY since, digest");
        self.read(|db| {
            let mut rows = db.prepare(&sql)?;
            let rows = rows.query_map([fingerprint], kept)?;
            // A kind that we do not know is not ours to keep, and counts as nothing.
            rows.filter_map(Result::transpose).collect()
        })
    }
}

/// What holds for every server is kept once.
fn place_of<'f>(one: &Agreement, fingerprint: &'f str) -> &'f str {
    if one.what == What::Meta { "" } else { fingerprint }
}

fn kept(row: &Row<'_>) -> rusqlite::Result<Option<Kept>> {
    let what: String = row.get(0)?;
    let Some(what) = What::from_word(&what) else { return Ok(None) };
    let agreement = Agreement { what, tool: row.get(1)?, key: row.get(2)?, schema: row.get(3)?, value: row.get(4)? };
    Ok(Some(Kept { agreement, fingerprint: row.get(5)?, since: row.get(6)?, used: row.get(7)? }))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The log has a record of it: with a signature that counts, or without one.
    Proven(Backing),
    /// The log has a record of it, and the policy wants a signature that this one lacks.
    Unsigned,
    /// The log has a record of it as taken over from a team, and the policy lets teams only tighten.
    OfTeam,
    Lapsed,
    TakenBack,
    Unproven,
}

/// The log, for looking up records of agreements.
#[derive(Debug)]
pub struct Proofs(Result<Option<Reader>, StoreError>);

impl Proofs {
    /// Opens the log at `log`, and folds into it what dead wrappers left.
    pub fn open(log: &Path) -> Self {
        Self(Reader::open(log))
    }

    /// The same without folding, which waits for other wrappers.
    pub fn open_as_is(log: &Path) -> Self {
        Self(Reader::open_as_is(log))
    }

    /// Why no record can be looked up: then nothing is agreed to.
    pub fn trouble(&self) -> Option<&StoreError> {
        self.0.as_ref().err()
    }

    /// The latest record of each; nothing where they cannot be read.
    pub fn latest(&self, kept: &[Kept]) -> Vec<Option<Latest>> {
        let digests: Vec<_> = kept.iter().map(Kept::digest).collect();
        match &self.0 {
            Ok(Some(reader)) => reader.agreed(&digests).unwrap_or_default(),
            Ok(None) | Err(_) => Vec::new(),
        }
    }

    /// Whether each counts on this day (days since 1970, UTC); `by_policy` says it of one whose record is there.
    pub fn standings(
        &self,
        kept: &[Kept],
        today: i64,
        by_policy: impl Fn(&Kept, &Latest) -> Standing,
    ) -> Vec<Standing> {
        let says = self.latest(kept);
        // What was said of a definition holds until it changes.
        let lapses = |kept: &Kept| kept.agreement.what != What::Definition && has_lapsed(kept.used, today);
        let standing = |(at, kept): (usize, &Kept)| match says.get(at).and_then(Option::as_ref) {
            Some(Latest { says: Says::Agreed, .. }) if lapses(kept) => Standing::Lapsed,
            Some(latest @ Latest { says: Says::Agreed, .. }) => by_policy(kept, latest),
            Some(Latest { says: Says::TakenBack, .. }) => Standing::TakenBack,
            None => Standing::Unproven,
        };
        kept.iter().enumerate().map(standing).collect()
    }
}
