//! Adds one rule's text for the console, the way `rules add` does: locked, checked, written whole, and to be taken back.

use super::change::{self, Drafted};
use crate::cli::places::Places;
use crate::cli::policy_file::PolicyPlace;
use crate::policy::edit;

/// The text of the policy before a change (`None`: there was no file), and the one that was written.
#[derive(Debug)]
pub struct Written {
    pub before: Option<String>,
    pub after: String,
}

/// Adds a rule; returns what the file was and is. `now` is milliseconds since 1970, UTC.
///
/// # Errors
/// Why nothing was written, and what to do next.
pub fn append(places: &Places, rule: &str, now: i64) -> Result<Written, String> {
    let place = PolicyPlace::Usual(places.policy_file());
    let told = |error: crate::error::Error| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    let draft = match change::draft(&place, places, |text| edit::add(text, rule)).map_err(told)? {
        Drafted::Sound(draft) => draft,
        Drafted::Broken { problems, .. } => {
            let first = problems.first().map(|first| format!("line {}: {}; {}", first.line, first.what, first.mend));
            return Err(first.unwrap_or_else(|| "the policy would be broken".to_owned()));
        }
    };
    let what = format!("added rule {}", edit::ids(rule).join(", "));
    draft.write(&place, places, &what, now).map_err(told)?;
    Ok(Written { before: draft.before, after: draft.after })
}
