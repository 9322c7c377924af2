//! Replaces text at places, so that every other byte stays.

use std::ops::Range;

use super::tree::Field;

/// Text that replaces what is at a place.
#[derive(Debug)]
pub(super) struct Splice {
    at: Range<usize>,
    put: String,
}

/// Replaces all of them.
pub(super) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| splice.at.start);
    let mut text = text.to_owned();
    for splice in splices.into_iter().rev() {
        text.replace_range(splice.at, &splice.put);
    }
    text
}

impl Splice {
    pub(super) fn of(at: Range<usize>, put: impl Into<String>) -> Self {
        Self { at, put: put.into() }
    }

    pub(super) fn within(&self, other: &Self) -> bool {
        other.at.start <= self.at.start && self.at.end <= other.at.end
    }
}

/// The change that removes a field we put before another, if nothing was written between the two since.
pub(super) fn without_field(text: &str, fields: &[Field], key: &str) -> Option<Splice> {
    let field = fields.iter().find(|field| field.key == key)?;
    let next = fields.iter().filter(|next| next.key_span.start > field.key_span.start);
    let next = next.min_by_key(|next| next.key_span.start)?;
    let between = text.get(field.node.span.end..next.key_span.start)?;
    let plain = between.chars().all(|c| c == ',' || c.is_whitespace());
    plain.then(|| Splice::of(field.key_span.start..next.key_span.start, ""))
}

/// A text as all three formats write it between double quotes.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
