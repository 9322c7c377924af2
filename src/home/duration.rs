//! Durations as people write them: `500ms`, `60s`, `5m`, `1h`.

use std::time::Duration;

const SHAPE: &str = "write a whole number and its unit, like 500ms, 60s, 5m or 1h";

/// Reads one duration, up to 30 days.
///
/// # Errors
/// What to write instead.
pub fn parse(text: &str) -> Result<Duration, &'static str> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(SHAPE),
    };
    if number.is_empty() {
        return Err(SHAPE);
    }
    let total = number.parse::<u64>().ok().and_then(|number| number.checked_mul(millis));
    match total {
        Some(total @ 1..=2_592_000_000) => Ok(Duration::from_millis(total)),
        _ => Err("it must be longer than 0, and at most 30 days (720h)"),
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
            ("721h", Err("it must be longer than 0, and at most 30 days (720h)")),
            ("0s", Err("it must be longer than 0, and at most 30 days (720h)")),
            ("99999999999999999999s", Err("it must be longer than 0, and at most 30 days (720h)")),
            ("60", Err(SHAPE)),
            ("s", Err(SHAPE)),
            ("", Err(SHAPE)),
            ("-5s", Err(SHAPE)),
            ("1.5h", Err(SHAPE)),
            ("5 m", Err(SHAPE)),
            ("5M", Err(SHAPE)),
            ("٥s", Err(SHAPE)),
        ] {
            assert_eq!(parse(text), millis.map(Duration::from_millis), "{text}");
        }
    }
}
