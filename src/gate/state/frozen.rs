//! Whether calls are frozen: by a stop that an operator signed for this machine, or for want of the sign of life that the policy wants.

use std::borrow::Cow;

use serde_json::Value;

use crate::gate::data::event::Now;
use crate::policy::{Decision, Ruling};
use crate::signing::standing::{LIFE, LifeSign, Standing, moment};

/// Calls are frozen: none passes unasked.
#[derive(Clone, Debug, PartialEq)]
pub struct Frozen {
    /// Who or what froze them, since when, and what ends it.
    pub says: String,
    /// The signature on the stop, as a record keeps it.
    pub signed: Option<Value>,
}

/// What is known of stops and signs of life.
#[derive(Debug, Default)]
pub struct Stops {
    standing: Option<Standing>,
    life: Option<Life>,
    pub frozen: Option<Frozen>,
    pub records: Records,
}

/// Whether the log has begun to hear of stops: it does not before there is something to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    #[default]
    NotYet,
    Made,
}

/// The sign of life with the highest counter.
#[derive(Clone, Copy, Debug)]
struct Life {
    counter: u64,
    /// When it was signed, in milliseconds since 1970, UTC.
    time: i64,
    /// Until when it counts (monotonic microseconds).
    until: u64,
}

impl Life {
    /// By both clocks: the time of day may be set back, and the monotonic clock stops while the machine sleeps.
    const fn counts(self, now: Now) -> bool {
        self.until > now.mono && self.time.saturating_add(LIFE) > now.wall
    }
}

impl Stops {
    pub fn take(&mut self, standing: Standing, now: Now) {
        if let Some(alive) = standing.alive().map(|signed| signed.statement())
            && self.life.is_none_or(|known| known.counter < alive.alive)
        {
            let by_wall = alive.time.saturating_add(LIFE).saturating_sub(now.wall);
            let left = by_wall.min(standing.left.unwrap_or(LIFE)).clamp(0, LIFE);
            let until = now.mono.saturating_add(left.unsigned_abs() * 1000);
            self.life = Some(Life { counter: alive.alive, time: alive.time, until });
        }
        self.standing = Some(standing);
    }

    /// Whether calls are frozen at a moment.
    pub fn frozen_at(&self, required: LifeSign, now: Now) -> Option<Frozen> {
        let standing = self.standing.as_ref();
        if let Some((stop, worth)) = standing.and_then(Standing::stop) {
            return Some(Frozen { says: stop.says(), signed: Some(stop.record(worth)) });
        }
        if let Some(trouble) = standing.and_then(|standing| standing.trouble.as_ref()) {
            let says = format!("whether calls are frozen cannot be read, so each is asked: {trouble}");
            return Some(Frozen { says, signed: None });
        }
        let since = match (required, self.life) {
            (LifeSign::Optional, _) => return None,
            (LifeSign::Required, Some(life)) if life.counts(now) => return None,
            (LifeSign::Required, Some(life)) => format!("since {}", moment(life.time)),
            (LifeSign::Required, None) => "so far".to_owned(),
        };
        let says = format!(
            "no sign of life of the desk {since}, and the policy requires one: each call is asked until a new one comes"
        );
        Some(Frozen { says, signed: None })
    }

    /// When the sign of life ends that keeps calls from being frozen (monotonic microseconds).
    pub fn ends(&self, required: LifeSign) -> Option<u64> {
        self.life.filter(|_| required == LifeSign::Required && self.frozen.is_none()).map(|life| life.until)
    }

    /// The ruling on what a host asks for, or on a result that waits: while calls are frozen, what would pass is asked.
    pub fn hold(&self, ruling: Ruling) -> Ruling {
        match &self.frozen {
            Some(frozen) if ruling.decision == Decision::Allow => {
                Ruling::of(Decision::Ask, Cow::Owned(frozen.says.clone()))
            }
            Some(_) | None => ruling,
        }
    }
}
