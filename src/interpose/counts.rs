//! What the wrappers of one user ran under rules with a rate: a small file that they share and that outlives them.
//!
//! A call is written down before the policy rules on it, and what others wrote is read under the same lock: of two wrappers
//! that ask at once, the second counts the first one's call. One that was denied after all counts for the others too.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::home::replace::replace;
use crate::policy::rate::{Counted, LONGEST, MOST, Recent};

/// How long the file may get, in bytes: what is longer was not written by us.
const LARGEST: u64 = 64 << 20;

#[derive(Clone, Debug)]
pub struct Counts {
    pub path: PathBuf,
    /// The session of this wrapper, whose own calls the gate counts.
    pub session: String,
}

#[derive(Serialize, Deserialize)]
struct Run {
    /// Milliseconds since 1970, UTC.
    time: i64,
    session: String,
    ticket: String,
    #[serde(flatten)]
    call: Counted,
}

impl Counts {
    /// Writes down calls under one ticket, in the place of what was written for it before, and returns those of other wrappers.
    /// Errors: what could not be locked, read or written: then it is not known how many ran.
    pub fn note(&self, ticket: &str, calls: &[Counted], now: i64) -> io::Result<Recent> {
        let open = |path: PathBuf| {
            let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(path)
        };
        let lock = open(self.path.with_extension("lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        let mut runs = self.read()?;
        runs.retain(|run| {
            run.time > now.saturating_sub(LONGEST) && !(run.session == self.session && run.ticket == ticket)
        });
        let new = calls.iter().map(|call| Run {
            time: now,
            session: self.session.clone(),
            ticket: ticket.to_owned(),
            call: call.clone(),
        });
        runs.extend(new);
        let mut others = Recent::default();
        runs.sort_by_key(|run| run.time);
        for run in runs.iter().filter(|run| run.session != self.session) {
            others.add(run.call.clone(), run.time);
        }
        self.write(&runs)?;
        Ok(others)
    }

    fn read(&self) -> io::Result<Vec<Run>> {
        let found = match std::fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            found => found?,
        };
        if !found.is_file() || found.len() > LARGEST {
            return Err(io::Error::other("it was not written by mcp-approve"));
        }
        std::fs::read_to_string(&self.path)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
    }

    /// Writes as many calls of each name as a rate can ask for, the newest.
    fn write(&self, runs: &[Run]) -> io::Result<()> {
        let mut kept = BTreeMap::<&Counted, usize>::new();
        let mut lines = Vec::new();
        for run in runs.iter().rev() {
            let count = kept.entry(&run.call).or_default();
            *count += 1;
            if *count <= MOST {
                lines.push(serde_json::to_string(run)?);
            }
        }
        lines.reverse();
        replace(&self.path, &(lines.join("\n") + "\n"))
    }
}
