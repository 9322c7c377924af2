//! Counts tools that were not what they claimed to be, over the records that a search wants. Reads only records that may
//! say so.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use memchr::memmem;
use serde::Deserialize;

use super::fields::{Call, Fields, HazardDetail};
use super::index::Index;
use super::record::Kind;
use super::search::Search;
use super::store::{ReadOrder, Reader, StoreError};
use super::walk::Walk;
use crate::behavior::hazards::HazardKind;

/// How often each was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detections {
    /// Calls whose evidence contradicted itself.
    pub disputed: u64,
    /// Calls of another behavior than the task expects.
    pub unexpected: u64,
    /// Calls whose arguments did not fit the schema.
    pub violations: u64,
    /// Definitions that changed since they were trusted, and tools that a known server added.
    pub changed: u64,
    pub added: u64,
    /// Tools that an operator said to read, or to change something.
    pub confirmed: u64,
    pub refused: u64,
}

/// The reason in a decision on arguments that do not fit.
pub const VIOLATION: &str = "the arguments do not fit the tool's input schema";

/// What a detection takes from a record's details.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Detail {
    disputed: bool,
    hazards: Vec<HazardDetail>,
    reason: String,
    definition: String,
    review: String,
}

/// Counts them.
pub fn count(reader: &Reader, index: Option<&Index>, search: &Search) -> Result<Detections, StoreError> {
    let unexpected = HazardKind::UnexpectedBehavior.word();
    let of_tools = format!("\"kind\":\"{}\"", Kind::Tools.word());
    let finders = ["\"disputed\":true", unexpected, VIOLATION, &of_tools].map(memmem::Finder::new);
    let mut found = Detections::default();
    // A call that was edited, or asked again, has several such records.
    let [mut disputed, mut unexpected_calls, mut violations] = [const { BTreeSet::new() }; 3];
    Walk::new(search.clone(), ReadOrder::NewestFirst, reader.newest()?).to_the_end(reader, index, &mut |row| {
        let may_say_so = finders.iter().any(|finder| finder.find(row.body).is_some()) && search.takes(row.body);
        let Some(fields) = Fields::of(row.body).filter(|_| may_say_so) else { return ControlFlow::Continue(()) };
        let Some(detail) = fields.detail::<Detail>() else { return ControlFlow::Continue(()) };
        match fields.kind() {
            Some(Kind::Decision | Kind::DecisionAsked) => {
                let call = || Some(fields.call());
                disputed.extend(call().filter(|_| detail.disputed));
                let is_unexpected = detail.hazards.iter().any(|one| one.hazard == unexpected);
                unexpected_calls.extend(call().filter(|_| is_unexpected));
                violations.extend(call().filter(|_| detail.reason == VIOLATION));
            }
            Some(Kind::Tools) => {
                let says = |words: &str| u64::from(detail.review.starts_with(words));
                found.changed += u64::from(detail.definition == "changed");
                found.added += u64::from(detail.definition == "new");
                found.confirmed += says("pinned as PURE|");
                found.refused += says("pinned as MUTATES|") + says("refused the definition");
            }
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    let count = |calls: BTreeSet<Call>| calls.len() as u64;
    (found.disputed, found.unexpected, found.violations) =
        (count(disputed), count(unexpected_calls), count(violations));
    Ok(found)
}
