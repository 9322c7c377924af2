//! A stop for all begins or ends: it is recorded, the time of the calls that wait stands still, and they are judged again. Judges none.

use serde_json::json;

use crate::audit::Kind;
use crate::gate::Gate;
use crate::gate::held::Asking;
use crate::gate::state::frozen::Records;
use crate::gate::waiting::answer;
use crate::signing::standing::{FROZEN, LifeSign, Standing};

impl Gate {
    pub(super) fn on_standing(&mut self, standing: Standing) {
        self.rules.stops.take(standing, self.out.now);
        self.watch_stops(self.rules.policy.life);
    }

    /// Looks whether calls are frozen now, and has that followed if it has changed.
    pub(super) fn watch_stops(&mut self, required: LifeSign) {
        let frozen = self.rules.stops.frozen_at(required, self.out.now);
        let is_new = frozen != self.rules.stops.frozen;
        self.rules.stops.frozen = frozen;
        self.out.wake_by(self.rules.stops.ends(required));
        if !is_new {
            return;
        }
        if self.rules.stops.records == Records::Made {
            self.record_stop();
        }
        let is_frozen = self.rules.stops.frozen.is_some();
        // What passes now is not put before the operator again.
        if !is_frozen {
            self.rejudge();
        }
        for number in self.calls.waiting::<Asking>() {
            let Some(held) = self.calls.held_mut::<Asking>(number) else { continue };
            if is_frozen {
                answer::pause(&mut self.waiting, held, &self.host, &mut self.out);
            } else {
                answer::resume(&mut self.waiting, held, &self.host, &mut self.out);
            }
            self.show_again(number);
        }
        if is_frozen {
            self.rejudge();
        }
    }

    /// The log begins: it says at once that calls are frozen.
    pub(super) fn begin_stop_records(&mut self) {
        self.rules.stops.records = Records::Made;
        if self.rules.stops.frozen.is_some() {
            self.record_stop();
        }
    }

    fn record_stop(&mut self) {
        let entry = self.out.entry(Kind::Policy);
        let entry = match &self.rules.stops.frozen {
            None => entry.with("what", "calls are no longer frozen"),
            Some(frozen) => {
                let mut entry = entry.with("what", FROZEN).with("reason", frozen.says.as_str());
                if let Some(signed) = &frozen.signed {
                    entry.uncut.add("signatures", json!([signed]));
                }
                entry
            }
        };
        self.out.record(entry);
    }
}
