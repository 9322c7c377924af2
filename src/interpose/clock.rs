//! The one clock: monotonic microseconds for waiting, wall milliseconds for records.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

use crate::gate::data::event::Now;

/// Counts from its own start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    pub fn now(&self) -> Now {
        Now { mono: u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX), wall: wall_ms() }
    }

    /// The instant at which the monotonic microseconds will be `mono`.
    pub fn instant(&self, mono: u64) -> Instant {
        self.start + Duration::from_micros(mono)
    }
}

/// Milliseconds since 1970, UTC; 0 for a clock set before that.
pub fn wall_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
