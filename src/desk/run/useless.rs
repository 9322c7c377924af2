//! Verdicts that are for no wrapper, counted: whoever may fill a table fills no log with it. Writes one record of many.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task;
use tokio::time::Instant;

use super::part::{Site, now};
use crate::audit::recording::Recording;
use crate::audit::{Entry, Kind};

/// How long the first ones are counted before there is a record, and how long those after that.
const FIRST: Duration = Duration::from_secs(2);
const NEXT: Duration = Duration::from_secs(60);
/// How many roles are counted separately, and how many characters of a reason are kept.
const ROLES: usize = 64;
const LONGEST: usize = 256;

/// The session of the records that say so.
const SESSION: &str = "desk verdicts";

pub(super) struct Useless {
    log: PathBuf,
    key: PathBuf,
    /// How many rows each role wrote since the last record, and what the last one lacked.
    rows: BTreeMap<String, u64>,
    why: String,
    /// When the next record is written, at the earliest.
    next: Option<Instant>,
}

impl Useless {
    pub(super) fn new(Site { places, log }: &Site) -> Self {
        let (log, key) = (log.clone(), places.redaction_key());
        Self { log, key, rows: BTreeMap::new(), why: String::new(), next: None }
    }

    pub(super) fn count(&mut self, role: String, why: &str) {
        let is_known = self.rows.contains_key(&role) || self.rows.len() < ROLES;
        *self.rows.entry(if is_known { role } else { "other roles".to_owned() }).or_default() += 1;
        self.why = why.chars().take(LONGEST).collect();
        self.next.get_or_insert_with(|| Instant::now() + FIRST);
    }

    /// When a record is written.
    pub(super) fn due(&self) -> Option<Instant> {
        self.next.filter(|_| !self.rows.is_empty())
    }

    /// Writes a record of what was counted, once it is time.
    pub(super) fn write(&mut self) {
        let time = Instant::now();
        if self.due().is_none_or(|due| due > time) {
            return;
        }
        let rows = std::mem::take(&mut self.rows);
        self.next = Some(time + NEXT);
        let server: Arc<str> = "mcp-approve".into();
        let entry = Entry::new(now(), Kind::Fault, &server, &SESSION.into())
            .with(
                "what",
                "verdicts on the desk had no effect: no one who may sign them signed them, or they came again",
            )
            .with("verdicts", rows.values().sum::<u64>())
            .with("roles", serde_json::json!(rows))
            .with("reason", &*self.why);
        let (log, key) = (self.log.clone(), self.key.clone());
        // Another process may hold the log: cards do not wait for that.
        task::spawn_blocking(move || {
            let written = Recording::open(&log, &key).and_then(|mut log| log.record(&[(1, entry)]));
            if let Err(error) = written {
                tracing::warn!(%error, "verdicts that had no effect are not in the log");
            }
        });
    }
}
