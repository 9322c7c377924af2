//! What a record counts as in the figures of deciding: the one meaning that `log stats` and the console's tally share. Pure.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::query::Fields;
use super::record::{By, Kind, VerdictWord};
use super::sketch::number_of;

/// Which call a record is of: numbers of its session and its ticket.
pub type Call = (i64, Option<i64>);

/// What one record adds to the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// A call was put before an operator.
    Asked,
    Decided {
        verdict: Option<VerdictWord>,
        by: Option<By>,
    },
    /// A call ended before, or instead of, its verdict.
    Withdrawn,
}

impl Counted {
    /// Whether a person decided.
    pub fn by_a_person(self) -> bool {
        matches!(self, Self::Decided { by: Some(By::Operator | By::Approver), .. })
    }

    /// Whether a rule let the call run without a question.
    pub fn saved_by_a_rule(self) -> bool {
        self == Self::Decided { verdict: Some(VerdictWord::Approve), by: Some(By::Rule) }
    }
}

/// The calls that were asked and not decided yet: one that is asked again, after an edit or a change, counts once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Askings(BTreeSet<Call>);

/// Calls of wrappers that were killed are never decided; beyond so many the oldest numbers are forgotten.
const MOST: usize = 20_000;

impl Askings {
    /// What a record of this kind, about a tool, counts as; `None` where that is nothing.
    pub fn count(
        &mut self,
        kind: &str,
        verdict: Option<&str>,
        by: Option<&str>,
        call: impl FnOnce() -> Call,
    ) -> Option<Counted> {
        match kind.parse().ok()? {
            Kind::DecisionAsked => {
                if self.0.len() >= MOST {
                    self.0.pop_first();
                }
                self.0.insert(call()).then_some(Counted::Asked)
            }
            Kind::Decision => {
                if !self.0.is_empty() {
                    self.0.remove(&call());
                }
                let (verdict, by) = (verdict.and_then(|word| word.parse().ok()), by.and_then(|word| word.parse().ok()));
                Some(Counted::Decided { verdict, by })
            }
            Kind::Withdrawn => Some(Counted::Withdrawn),
            _ => None,
        }
    }
}

/// The call of a record.
pub fn call_of(fields: &Fields<'_>) -> Call {
    let ticket = fields.ticket.as_ref().map(|ticket| number_of(&ticket.to_lowercase()));
    (number_of(&fields.session), ticket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_is_asked_again_counts_once_and_a_verdict_as_what_it_is() {
        let mut askings = Askings::default();
        let mut count = |kind, verdict, by| askings.count(kind, verdict, by, || (1, Some(2)));
        assert_eq!(count("decision-asked", None, None), Some(Counted::Asked));
        assert_eq!(count("decision-asked", None, None), None);
        let decided = count("decision", Some("approve"), Some("operator")).unwrap();
        assert!(decided.by_a_person() && !decided.saved_by_a_rule());
        assert!(count("decision", Some("approve"), Some("rule")).unwrap().saved_by_a_rule());
        assert!(!count("decision", Some("deny"), Some("rule")).unwrap().saved_by_a_rule());
        assert_eq!(count("withdrawn", None, Some("cancel")), Some(Counted::Withdrawn));
        assert_eq!(count("outcome", None, None), None);
        assert_eq!(count("decision-asked", None, None), Some(Counted::Asked), "the ticket of another day");
    }
}
