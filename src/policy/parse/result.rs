//! `result` of a rule: what must be so of an answer. Owns its keys.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::condition;
use crate::policy::glob::Glob;
use crate::policy::reading::{Reading, any_of, globs};
use crate::policy::result::{ContentKind, Finding};

const KEYS: &[&str] = &["size", "kind", "glob", "secret", "hazard", "host"];
/// Keys of a rule that say something of a call's arguments, or of an approval.
const OF_CALLS: [&str; 9] =
    ["method", "when", "unless", "capability", "approvals", "signers", "other", "match", "not_match"];

/// All of these must be so.
pub(super) fn findings<'t>(reading: &mut Reading<'t>, value: &Spanned<DeValue<'t>>) -> Vec<Finding> {
    let Some(table) = reading.table(value, "result") else { return Vec::new() };
    reading.check_keys(table, KEYS);
    if table.is_empty() {
        let hint = "say what it has: `result = { secret = true }`; `result = { size = 0 }` is every one";
        reading.problem(value.span(), "`result` says nothing of the result", hint);
    }
    let mut found = Vec::new();
    if let Some(value) = table.get("size") {
        match condition::count(value).and_then(|count| u64::try_from(count).ok()) {
            Some(more) => found.push(Finding::Size(more)),
            None => reading.wrong_type(value, "size", "a number of bytes, which a result must have more than"),
        }
    }
    if let Some(value) = table.get("kind") {
        found.push(Finding::Kind(any_of(reading, value, "kind", ContentKind::WORDS)));
    }
    for (key, of) in [("glob", Finding::Glob as fn(Vec<Glob>) -> Finding), ("host", Finding::Host)] {
        if let Some(value) = table.get(key) {
            found.push(of(globs(reading, value, key, Glob::new)));
        }
    }
    for (key, finding) in [("secret", Finding::Secret), ("hazard", Finding::Hazard)] {
        let Some(value) = table.get(key) else { continue };
        match reading.switch(value, key) {
            Some(false) => {
                let hint = format!("write `{key} = true`, or leave it out");
                reading.problem(value.span(), format!("`{key}` can only be true"), hint);
            }
            Some(true) | None => found.push(finding),
        }
    }
    found
}

/// Notes the keys that a rule about results cannot have.
pub(super) fn check_keys(reading: &mut Reading<'_>, table: &DeTable<'_>) {
    for (key, _) in OF_CALLS.iter().filter_map(|key| table.get_key_value(*key)) {
        let what = format!("`{}` is about calls, and this rule is about their results", key.get_ref());
        reading.problem(key.span(), what, "take it out, or write a rule of its own for the calls");
    }
}
