//! Values that several tables of `config.toml` hold: texts with their own form, names, paths, durations (`500ms`, `60s`, `5m`, `1h`).

use std::fmt::Display;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;

use crate::capability::schema::Mismatch;
use crate::home::name;
use crate::policy::reading::Reading;

/// A text that another function reads, whose error is the hint.
pub(super) fn parsed<T, E: Display>(
    reading: &mut Reading<'_>,
    value: &Spanned<DeValue<'_>>,
    key: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Option<T> {
    let text = reading.text(value, key)?;
    match parse(&text) {
        Ok(parsed) => Some(parsed),
        Err(error) => {
            reading.problem(value.span(), format!("`{key}` cannot be {text:?}"), error.to_string());
            None
        }
    }
}

/// Checks a name that goes into rules, records and tickets as it is; `what` is the problem to report.
pub(super) fn check_name(reading: &mut Reading<'_>, at: Range<usize>, text: &str, what: impl FnOnce() -> String) {
    if !name::is_name(text) {
        reading.problem(at, what(), "use 1 to 64 of the characters a-z A-Z 0-9 . _ -");
    }
}

/// A relative path starts at `folder`.
pub(super) fn path(
    reading: &mut Reading<'_>,
    value: &Spanned<DeValue<'_>>,
    key: &str,
    folder: &Path,
) -> Option<PathBuf> {
    let text = reading.text(value, key)?;
    if text.is_empty() || text.starts_with('~') {
        let what = format!("`{key}` cannot be {text:?}");
        reading.problem(value.span(), what, "write the whole path, or one that starts at this file's folder");
    }
    Some(folder.join(text))
}

/// What happens to a call that does not fit its schema: a word, or the tools for which there is only a warning.
pub(super) fn mismatch(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>, key: &str) -> Option<Mismatch> {
    if value.get_ref().as_array().is_some() {
        let tools = reading.texts(value, key).into_iter().map(|(_, tool)| tool);
        return Some(Mismatch::WarnFor(tools.collect()));
    }
    let refuses = reading.word(value, key, &[("refuse", true), ("warn", false)])?;
    Some(if refuses { Mismatch::Refuse } else { Mismatch::Warn })
}

const SHAPE: &str = "write a whole number and its unit, like 500ms, 60s, 5m or 1h";

/// Reads one duration, up to 30 days.
pub fn duration(text: &str) -> Result<Duration, &'static str> {
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
