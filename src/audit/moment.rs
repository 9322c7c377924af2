//! Moments as people and records write them. Pure.

use std::str::FromStr;

/// A moment as a person names it: `30d`, `12h`, `5m`, `90s`, `2w` ago, or an RFC 3339 time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// So many milliseconds ago.
    Ago(i64),
    /// Milliseconds since 1970, UTC.
    At(i64),
}

impl Since {
    /// The moment, in milliseconds since 1970, UTC.
    pub fn moment(self, now: i64) -> i64 {
        match self {
            Self::Ago(millis) => now.saturating_sub(millis),
            Self::At(moment) => moment,
        }
    }
}

/// A text that names no moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("say how long ago (30d, 12h, 5m, 90s, 2w), or a time like 2026-11-21T10:00:00Z")]
pub struct NotAMoment;

impl FromStr for Since {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        const SECOND: i64 = 1000;
        const UNITS: &[(char, i64)] = &[
            ('s', SECOND),
            ('m', 60 * SECOND),
            ('h', 3600 * SECOND),
            ('d', 86_400 * SECOND),
            ('w', 7 * 86_400 * SECOND),
        ];
        for (unit, millis) in UNITS {
            if let Some(number) = text.strip_suffix(*unit)
                && let Ok(number) = number.parse::<u32>()
            {
                return Ok(Self::Ago(i64::from(number).saturating_mul(*millis)));
            }
        }
        let time: jiff::Timestamp = text.parse().map_err(|_| NotAMoment)?;
        Ok(Self::At(time.as_millisecond()))
    }
}

/// RFC 3339, UTC, with milliseconds. A moment beyond the calendar becomes its beginning.
pub fn rfc3339(millis: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}
