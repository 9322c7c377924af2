//! A stop for all begins or ends: it is recorded, and calls that wait have as long as their host, or their own time again. Judges none.

use serde_json::json;

use super::held::Held;
use super::held::out::Out;
use super::state::frozen::{Records, Stops};
use super::state::{Host, Rules};
use super::waiting::{Waiting, answer};
use crate::audit::Kind;
use crate::signing::standing::{FROZEN, LifeSign};

/// Looks whether calls are frozen now; whether that has changed.
pub fn has_changed(rules: &mut Rules, required: LifeSign, out: &mut Out) -> bool {
    let stops = &mut rules.stops;
    let frozen = stops.frozen_at(required, out.now);
    let is_new = frozen != stops.frozen;
    stops.frozen = frozen;
    out.wake_by(stops.ends(required));
    if is_new && stops.records == Records::Made {
        record(stops, out);
    }
    is_new
}

/// A call that waits does so for as long as its host, or has the operator's time again.
pub fn follow(stops: &Stops, held: &mut Held, waiting: &mut Waiting, host: &Host, out: &mut Out) {
    match stops.frozen {
        Some(_) => answer::pause(waiting, held, host, out),
        None => answer::resume(waiting, held, host, out),
    }
}

/// The log begins: it says at once that calls are frozen.
pub fn begin_records(stops: &mut Stops, out: &mut Out) {
    stops.records = Records::Made;
    if stops.frozen.is_some() {
        record(stops, out);
    }
}

fn record(stops: &Stops, out: &mut Out) {
    let entry = out.entry(Kind::Policy);
    let entry = match &stops.frozen {
        None => entry.with("what", "calls are no longer frozen"),
        Some(frozen) => {
            let mut entry = entry.with("what", FROZEN).with("reason", frozen.says.as_str());
            if let Some(signed) = &frozen.signed {
                entry.uncut.add("signatures", json!([signed]));
            }
            entry
        }
    };
    out.record(entry);
}
