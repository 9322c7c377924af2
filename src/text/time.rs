//! Times as the operator reads them: local time of day, ages, what is left. The clock is always an argument.

/// `14:05:09` for milliseconds since 1970 and the local distance from UTC in seconds.
pub fn of_day(millis: i64, offset: i32) -> String {
    let seconds = (millis.div_euclid(1000) + i64::from(offset)).rem_euclid(86_400);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
}

/// `14:05:09` for a moment of today, else `11-20 14:05`.
pub fn moment(millis: i64, now: i64, offset: i32) -> String {
    let date = day(millis, offset);
    if date == day(now, offset) {
        return of_day(millis, offset);
    }
    format!("{:02}-{:02} {}", date.month(), date.day(), &of_day(millis, offset)[..5])
}

/// `2026-11-20 14:05:09`.
pub fn date(millis: i64, offset: i32) -> String {
    format!("{} {}", day(millis, offset), of_day(millis, offset))
}

/// The local day; the first of 1970 for a moment beyond the calendar.
fn day(millis: i64, offset: i32) -> jiff::civil::Date {
    let local = millis.saturating_add(i64::from(offset) * 1000);
    let local = jiff::Timestamp::from_millisecond(local).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    local.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// `8s`, `3m`, `2h`, `4d`: how long, in the largest unit of which there is at least one.
pub fn span(millis: i64) -> String {
    let seconds = (millis / 1000).max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// `2:31`: what is left, never less than nothing.
pub fn left(millis: i64) -> String {
    let seconds = ((millis + 999) / 1000).max(0);
    match seconds {
        0..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => span(seconds * 1000),
    }
}

/// `2nd time`; `None` for the first, and where that is not known.
pub fn nth(time: usize) -> Option<String> {
    let suffix = match (time, time % 100, time % 10) {
        (0 | 1, ..) => return None,
        (_, 11..=13, _) => "th",
        (.., 1) => "st",
        (.., 2) => "nd",
        (.., 3) => "rd",
        _ => "th",
    };
    Some(format!("{time}{suffix} time"))
}

/// `640µs`, `12ms`, `3.4s`.
pub fn latency(micros: u64) -> String {
    match micros {
        0..1000 => format!("{micros}µs"),
        1000..1_000_000 => format!("{}ms", micros / 1000),
        _ => format!("{}.{}s", micros / 1_000_000, micros / 100_000 % 10),
    }
}

/// `0.6 s`, `31 s`: how long people took, in microseconds.
pub fn took(micros: f64) -> String {
    let seconds = micros / 1e6;
    if seconds < 10.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}
