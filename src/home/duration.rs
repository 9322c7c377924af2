//! Durations as people write them: `500ms`, `60s`, `5m`, `1h`.

use std::time::Duration;

/// Why a text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    #[error("write a whole number and its unit, like 500ms, 60s, 5m or 1h")]
    Shape,
    #[error("it must be longer than 0, and at most 30 days (720h)")]
    Range,
}

/// Reads one duration, up to 30 days.
///
/// # Errors
/// [`DurationError`].
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(DurationError::Shape),
    };
    if number.is_empty() {
        return Err(DurationError::Shape);
    }
    let total = number.parse::<u64>().ok().and_then(|number| number.checked_mul(millis));
    match total {
        Some(total @ 1..=2_592_000_000) => Ok(Duration::from_millis(total)),
        _ => Err(DurationError::Range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, millis) in [
            ("500ms", Ok(500)),
            ("60s", Ok(60_000)),
            ("5m", Ok(300_000)),
            ("720h", Ok(2_592_000_000)),
            ("721h", Err(DurationError::Range)),
            ("0s", Err(DurationError::Range)),
            ("99999999999999999999s", Err(DurationError::Range)),
            ("60", Err(DurationError::Shape)),
            ("s", Err(DurationError::Shape)),
            ("", Err(DurationError::Shape)),
            ("-5s", Err(DurationError::Shape)),
            ("1.5h", Err(DurationError::Shape)),
            ("5 m", Err(DurationError::Shape)),
            ("5M", Err(DurationError::Shape)),
            ("٥s", Err(DurationError::Shape)),
        ] {
            assert_eq!(parse(text), millis.map(Duration::from_millis), "{text}");
        }
    }
}
