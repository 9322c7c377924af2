//! What passes, for the consoles' Activity screen. Data only.

use crate::gate::Gate;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Now;
use crate::gate::data::report::{Activity, ActivityKind, Direction};

impl Gate {
    /// Shows one thing that passed, if anybody looks.
    pub(in crate::gate) fn show(
        &self,
        now: Now,
        direction: Direction,
        kind: ActivityKind,
        out: &mut Vec<Effect>,
        fill: impl FnOnce(&mut Activity),
    ) {
        if self.consoles.attached == 0 {
            return;
        }
        let mut one = Activity {
            time: now.wall,
            direction,
            kind,
            what: String::new(),
            ticket: None,
            target: None,
            badge: None,
            ruling: None,
            verdict: None,
            by: None,
            rule: None,
            bytes: 0,
            latency_us: None,
            failed: false,
            reason: String::new(),
            explained: String::new(),
            who: String::new(),
        };
        fill(&mut one);
        out.push(Effect::Show(Box::new(one)));
    }

    pub(in crate::gate) fn show_plain(
        &self,
        now: Now,
        direction: Direction,
        kind: ActivityKind,
        what: &str,
        bytes: u64,
        out: &mut Vec<Effect>,
    ) {
        self.show(now, direction, kind, out, |one| {
            one.what = what.to_owned();
            one.bytes = bytes;
        });
    }
}
