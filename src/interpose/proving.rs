//! Puts into a wrapper's pins what is agreed to: only what the log has a record of. A record may be on its way there, so one
//! that is missing is looked for again before the operator is alarmed.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::clock;
use crate::behavior::agreed::{Agreement, day_of};
use crate::gate::data::pin::Pins;
use crate::pins::agreed::Kept;
use crate::pins::proof::{Proofs, Standing};
use crate::pins::{PinStore, PinsError};
use crate::wire::digest::Digest;

/// How soon a missing record is looked for again: another wrapper's entry is in the log within 50 ms.
const AGAIN: Duration = Duration::from_millis(50);
/// How long one may be missing before that is an alarm.
const PATIENCE: Duration = Duration::from_secs(1);
/// When to stop looking for it.
const ENOUGH: Duration = Duration::from_secs(60);
/// How many agreements an alarm names.
const NAMED: usize = 20;

/// What one wrapper knows of the records of agreements.
pub(super) struct Proving {
    log: PathBuf,
    /// Those whose record this wrapper has written: it may not be in the log yet.
    ours: HashSet<Digest>,
    /// Since when a record is missing.
    missing: HashMap<Digest, Instant>,
    /// When to look again.
    pub(super) again: Option<Instant>,
}

impl Proving {
    pub(super) fn new(log: PathBuf) -> Self {
        Self { log, ours: HashSet::new(), missing: HashMap::new(), again: None }
    }

    /// This wrapper's own log has the record of these.
    pub(super) fn recorded(&mut self, fingerprint: &str, agreed: &[Agreement]) {
        self.ours.extend(agreed.iter().map(|one| one.digest(fingerprint)));
    }

    /// Fills in what is agreed to, what has lapsed, and what has no record. Removes what has lapsed.
    pub(super) fn fill(&mut self, store: &mut PinStore, pins: &mut Pins) -> Result<(), PinsError> {
        self.again = None;
        let kept = store.agreed(Some(&pins.fingerprint))?;
        if kept.is_empty() {
            self.missing.clear();
            return Ok(());
        }
        let (now, today) = (Instant::now(), day_of(clock::wall_ms()));
        let proofs = Proofs::open_as_is(&self.log);
        let (mut lapsed, mut unproven) = (Vec::new(), Vec::new());
        let standings = proofs.standings(&kept, today);
        for (one, standing) in kept.into_iter().zip(standings) {
            match standing {
                Standing::Proven => _ = pins.agreed.insert(one.agreement),
                Standing::Unproven if proofs.trouble().is_none() && self.ours.contains(&one.digest()) => {
                    pins.agreed.insert(one.agreement);
                }
                Standing::Lapsed => lapsed.push(one),
                Standing::Unproven | Standing::TakenBack => unproven.push(one),
            }
        }
        let removed = store.disagree(&lapsed.iter().map(Kept::digest).collect::<Vec<_>>())?;
        // Another wrapper of this server may have removed it, and says so in its log.
        pins.lapsed =
            lapsed.into_iter().filter(|one| removed.contains(&one.digest())).map(|one| one.agreement).collect();
        self.alarm(now, &unproven, pins, &proofs);
        Ok(())
    }

    fn alarm(&mut self, now: Instant, unproven: &[Kept], pins: &mut Pins, proofs: &Proofs) {
        let before = std::mem::take(&mut self.missing);
        for one in unproven {
            let since = *before.get(&one.digest()).unwrap_or(&now);
            self.missing.insert(one.digest(), since);
            let missing = now.saturating_duration_since(since);
            if missing < ENOUGH {
                let next = now + AGAIN.max(missing / 2);
                self.again = Some(self.again.map_or(next, |again| again.min(next)));
            }
            if missing >= PATIENCE && pins.unproven.len() < NAMED {
                pins.unproven.push(named(one, proofs));
            }
        }
    }
}

/// One agreement in an alarm.
fn named(one: &Kept, proofs: &Proofs) -> String {
    let of = if one.agreement.tool.is_empty() { String::new() } else { format!("{}: ", one.agreement.tool) };
    let why = proofs.trouble().map(|error| format!(" ({error})")).unwrap_or_default();
    format!("{of}{}{why}", one.agreement.says())
}
