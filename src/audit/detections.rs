//! Counts tools that were not what they claimed to be, over the records that a search wants. Reads only records that may
//! say so.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::Deserialize;

use super::fields::{Call, Field, Fields, HazardDetail};
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
    let mut found = Detections::default();
    let calls = |words: &str, is: &dyn Fn(&Detail) -> bool| {
        let mut calls: BTreeSet<Call> = BTreeSet::new();
        let decides = |kind: Option<Kind>| matches!(kind, Some(Kind::Decision | Kind::DecisionAsked));
        each(reader, index, search.clone().with_text(words), &mut |fields, detail| {
            // A call that was edited, or asked again, has several such records.
            if decides(fields.kind()) && is(detail) {
                calls.insert(fields.call());
            }
        })?;
        Ok::<u64, StoreError>(calls.len() as u64)
    };
    found.disputed = calls("\"disputed\":true", &|detail| detail.disputed)?;
    found.unexpected = calls(unexpected, &|detail| detail.hazards.iter().any(|one| one.hazard == unexpected))?;
    found.violations = calls(VIOLATION, &|detail| detail.reason == VIOLATION)?;
    let of_tools = search.clone().with(Field::Kind, Some(Kind::Tools.word()));
    each(reader, index, of_tools, &mut |_, detail| {
        let says = |words: &str| u64::from(detail.review.starts_with(words));
        found.changed += u64::from(detail.definition == "changed");
        found.added += u64::from(detail.definition == "new");
        found.confirmed += says("pinned as PURE|");
        found.refused += says("pinned as MUTATES|") + says("refused the definition");
    })?;
    Ok(found)
}

fn each(
    reader: &Reader,
    index: Option<&Index>,
    search: Search,
    see: &mut dyn FnMut(&Fields<'_>, &Detail),
) -> Result<(), StoreError> {
    let wanted = search.clone();
    Walk::new(search, ReadOrder::NewestFirst, reader.newest()?).to_the_end(reader, index, &mut |row| {
        if wanted.takes(row.body)
            && let Some(fields) = Fields::of(row.body)
            && let Some(detail) = fields.detail()
        {
            see(&fields, &detail);
        }
        ControlFlow::Continue(())
    })
}
