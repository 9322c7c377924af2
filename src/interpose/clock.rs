//! The one clock: everything else in the shell asks here, and pure layers are told.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

static START: OnceLock<Instant> = OnceLock::new();

/// The time now: microseconds since this process first asked (monotonic), and milliseconds since 1970, UTC.
///
/// Deadlines and latencies are counted in the first, which no change of the clock moves; records and screens show
/// the second.
pub fn now() -> (u64, i64) {
    let start = *START.get_or_init(Instant::now);
    let since = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    let wall = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    };
    (since, wall)
}

#[cfg(test)]
mod tests {
    use super::now;

    #[test]
    fn the_monotonic_time_never_goes_back() {
        let times: Vec<u64> = (0..1000).map(|_| now().0).collect();
        assert!(times.is_sorted());
    }

    #[test]
    fn the_wall_time_is_milliseconds_of_this_century() {
        // 2025-01-01 and 2100-01-01.
        assert!((1_735_689_600_000..4_102_444_800_000).contains(&now().1));
    }
}
