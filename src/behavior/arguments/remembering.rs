//! Takes a text from the memory, or has it read and learns it. Decides what may be remembered; reads no text.

use serde_json::Value;

use super::MOST;
use super::explain::Explanation;
use super::explain::place::Place;
use super::memory::{Cost, Memory, Remembered};
use super::walk::{At, Walk};

impl<'a> Walk<'a> {
    /// Reads a text at the top of the arguments. The result depends only on the tool, the name, the text and what is
    /// left of the budgets, so a text that was explained and had no finding is remembered.
    pub(super) fn remembered(
        &mut self,
        memory: &Memory,
        above: &At<'_>,
        place: &Place<'a>,
        (name, text, field): (&str, &str, &Value),
        url: Option<&str>,
    ) {
        if let Some(known) = memory.find(name, text).filter(|known| self.affords(known.cost)) {
            self.left -= known.cost.text;
            self.leaves -= known.cost.leaves;
            self.schema.spend(known.cost.schema);
            return self.explained(known.kind);
        }
        let before = self.noted();
        let (left, leaves, schema, carried) = (self.left, self.leaves, self.schema.left(), self.carried);
        self.field(above, place, (name, field), url, 0);
        // Remembered if it added one explanation and nothing else, nothing to count with other addresses, and no budget
        // ran out. Once the list of findings is full, a new one would not show in its length.
        let (found, unexplained, explained) = before;
        if self.noted() == (found, unexplained, explained + 1)
            && self.carried == carried
            && self.found.len() <= MOST
            && self.leaves > 0
            && self.schema.left() > 0
            && let Some(kind) = self.explanation.last_kind()
        {
            let cost =
                Cost { text: left - self.left, leaves: leaves - self.leaves, schema: schema - self.schema.left() };
            self.learnt.extend(Remembered::new(name, text, kind, cost));
        }
    }

    /// Whether the budgets are more than this, so that a reading that took it ends as it did then.
    fn affords(&self, cost: Cost) -> bool {
        self.left >= cost.text && self.leaves > cost.leaves && self.schema.left() > cost.schema
    }

    /// How much was found, not explained and explained so far.
    fn noted(&self) -> (usize, usize, usize) {
        let Explanation { leaves, more, unexplained, more_unexplained } = &self.explanation;
        (self.found.len(), unexplained.len() + more_unexplained, leaves.len() + more)
    }
}
