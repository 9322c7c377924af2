//! Moments as people and records write them. Pure: where now is, and which zone counts, come in as an argument.

use std::str::FromStr;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};

const DAY: i64 = 86_400_000;

/// The moment and the time zone that times are shown in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Milliseconds since 1970, UTC.
    pub now: i64,
    /// The local time's distance from UTC, in seconds.
    pub offset: i32,
}

impl Clock {
    pub const fn utc(now: i64) -> Self {
        Self { now, offset: 0 }
    }

    /// The local day of a moment, counted from 1970.
    fn day(self, millis: i64) -> i64 {
        (millis + i64::from(self.offset) * 1000).div_euclid(DAY)
    }

    fn midnight(self, day: i64) -> i64 {
        day * DAY - i64::from(self.offset) * 1000
    }

    fn local(self, time: DateTime) -> i64 {
        let zone = TimeZone::fixed(Offset::from_seconds(self.offset).unwrap_or(Offset::UTC));
        time.to_zoned(zone).map_or(self.now, |at| at.timestamp().as_millisecond())
    }
}

/// A moment as a person names it: `yesterday`, a date, a time of today, `30d`, `12h`, `5m` or `2w` ago, or RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// So many milliseconds ago.
    Ago(i64),
    /// Milliseconds since 1970, UTC.
    At(i64),
    /// The local day so many days ago.
    DaysAgo(u32),
    On(Date),
    Local(DateTime),
    /// A local time of today.
    Today(Time),
}

impl Since {
    /// The moment, or where the named day begins, in milliseconds since 1970, UTC.
    pub fn moment(self, clock: Clock) -> i64 {
        match self {
            Self::Ago(millis) => clock.now.saturating_sub(millis),
            Self::At(moment) => moment,
            Self::DaysAgo(days) => clock.midnight(clock.day(clock.now) - i64::from(days)),
            Self::On(date) => clock.local(date.at(0, 0, 0, 0)),
            Self::Local(time) => clock.local(time),
            Self::Today(time) => {
                clock.midnight(clock.day(clock.now)) + clock.local(Date::constant(1970, 1, 1).to_datetime(time))
                    - clock.midnight(0)
            }
        }
    }

    /// The moment, or where the named day is over.
    pub fn end(self, clock: Clock) -> i64 {
        match self {
            Self::DaysAgo(_) | Self::On(_) => self.moment(clock).saturating_add(DAY),
            Self::Ago(_) | Self::At(_) | Self::Local(_) | Self::Today(_) => self.moment(clock),
        }
    }
}

/// A text that names no moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "write today, yesterday, a date (2026-11-21), a time (14:30), how long ago (30d, 12h, 5m, 90s, 2w), or \
     2026-11-21T10:00:00Z"
)]
pub struct NotAMoment;

impl FromStr for Since {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        const SECOND: i64 = 1000;
        const UNITS: &[(char, i64)] =
            &[('s', SECOND), ('m', 60 * SECOND), ('h', 3600 * SECOND), ('d', DAY), ('w', 7 * DAY)];
        match text {
            "today" => return Ok(Self::DaysAgo(0)),
            "yesterday" => return Ok(Self::DaysAgo(1)),
            _ => {}
        }
        for (unit, millis) in UNITS {
            // Not `+5m`: that would be a moment in the future.
            if let Some(number) = text.strip_suffix(*unit).filter(|number| !number.starts_with('+'))
                && let Ok(number) = number.parse::<u32>()
            {
                return Ok(Self::Ago(i64::from(number).saturating_mul(*millis)));
            }
        }
        if let Ok(time) = text.parse::<jiff::Timestamp>() {
            return Ok(Self::At(time.as_millisecond()));
        }
        // A date with a time must not count as its day: each of these readers takes more than its name says.
        let is_date = text.len() == "2026-11-21".len() && text.contains('-');
        match (text.contains(['T', ' ']), is_date) {
            (true, _) => text.parse().map(Self::Local).map_err(|_| NotAMoment),
            (false, true) => text.parse().map(Self::On).map_err(|_| NotAMoment),
            (false, false) if text.contains(':') => text.parse().map(Self::Today).map_err(|_| NotAMoment),
            (false, false) => Err(NotAMoment),
        }
    }
}

/// RFC 3339, UTC, with milliseconds. A moment beyond the calendar becomes its beginning.
pub fn rfc3339(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}
