//! What the console changes of the rules, the way `rules` does: locked, checked, written whole, and to be taken back.

use super::change::{self, Drafted};
use crate::cli::error::Error;
use crate::console::model::Except;
use crate::home::accepted::Written;
use crate::home::places::Places;
use crate::home::policy_file::PolicyPlace;
use crate::policy::edit::{self, EditError, Switch};

/// Adds a rule, and excepts its calls from one that asks for them. `now` is milliseconds since 1970, UTC.
///
/// # Errors
/// Why nothing was written, and what to do next.
pub fn append(places: &Places, rule: &str, except: Option<&Except>, now: i64) -> Result<Written, String> {
    let what = format!("added rule {}", edit::ids(rule).join(", "));
    match except {
        None => change(places, &what, now, |text| edit::add(text, rule)),
        Some(Except { rule: from, condition }) => {
            let what = format!("{what}, excepted from rule {from}");
            change(places, &what, now, |text| edit::add(&edit::except(text, from, condition)?, rule))
        }
    }
}

/// Takes a rule out.
///
/// # Errors
/// Why nothing was written, and what to do next.
pub fn take_out(places: &Places, id: &str, now: i64) -> Result<Written, String> {
    change(places, &format!("removed rule {id}"), now, |text| edit::remove(text, id).map(|(text, _)| text))
}

/// Switches a rule on or off.
///
/// # Errors
/// Why nothing was written, and what to do next.
pub fn switch(places: &Places, id: &str, switch: Switch, now: i64) -> Result<Written, String> {
    change(places, &format!("switched rule {id} {switch}"), now, |text| edit::switch(text, id, switch))
}

/// The text of a rule as it stands in the operator's own policy.
///
/// # Errors
/// There is no such rule, or the file cannot be read.
pub fn text_of(places: &Places, id: &str) -> Result<String, String> {
    let place = PolicyPlace::Usual(places.policy_file());
    let text = change::text(&place).map_err(|error| told(&error))?.unwrap_or_default();
    edit::rule(&text, id).map_err(|error| error.to_string())
}

/// Puts another text in a rule's place.
///
/// # Errors
/// Why nothing was written, and what to do next.
pub fn put(places: &Places, id: &str, rule: &str, now: i64) -> Result<Written, String> {
    change(places, &format!("changed rule {id}"), now, |text| edit::replace(text, id, rule))
}

/// Takes the last change back; returns what that was.
///
/// # Errors
/// There is none, or the file was changed since by other means.
pub fn take_back(places: &Places) -> Result<String, String> {
    change::undo(&PolicyPlace::Usual(places.policy_file()), places).map_err(|error| told(&error))
}

fn told(error: &Error) -> String {
    match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

fn change(
    places: &Places,
    what: &str,
    now: i64,
    edit: impl FnOnce(&str) -> Result<String, EditError>,
) -> Result<Written, String> {
    let place = PolicyPlace::Usual(places.policy_file());
    let draft = match change::draft(&place, places, edit).map_err(|error| told(&error))? {
        Drafted::Sound(draft) => draft,
        Drafted::Broken { problems, .. } => {
            let first = problems.first().map(|first| format!("line {}: {}; {}", first.line, first.what, first.hint));
            return Err(first.unwrap_or_else(|| "the policy would be broken".to_owned()));
        }
    };
    draft.write(&place, places, what, now).map_err(|error| told(&error))?;
    Ok(Written { before: draft.before, after: draft.after })
}
