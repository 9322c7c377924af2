//! What past calls say, put where it is shown. What comes late for a panel that is closed is let go.

use std::sync::Arc;

use super::findings;
use crate::console::model::{Model, Overlay, RuleStage};
use crate::console::tried::{Attempt, Progress, Reach, Tried};

/// Takes what was found out.
pub(super) fn take(model: &mut Model, tried: Tried) {
    let now = model.now;
    let suggested = &mut model.browse.suggested;
    match (tried, &mut model.overlay) {
        (Tried::Rules { id, matched, reach }, Some(Overlay::Rule(rule))) if rule.past.id == id => {
            let (denied, at_once) = (rule.matched().map(|matched| matched.denied), rule.goes_at_once());
            put(&mut rule.past, matched, reach);
            // Enter was pressed once on less than is known now.
            if rule.matched().map(|matched| matched.denied) != denied {
                rule.stage = RuleStage::Choosing;
            }
            // An Enter that was to ask does not write.
            if rule.goes_at_once() != at_once {
                rule.shown = now;
            }
        }
        (Tried::Policy { id, replayed, reach }, Some(Overlay::Review(review))) if review.past.id == id => {
            put(&mut review.past, replayed, reach);
            review.stage = RuleStage::Choosing;
        }
        (Tried::Suggestions { id, found }, _) if suggested.id == id => {
            let reach = Reach { calls: found.calls, progress: Progress::Whole };
            put(suggested, found, reach);
            findings::rebuild(model);
        }
        (Tried::Failed { id, why }, Some(Overlay::Rule(rule))) if rule.past.id == id => rule.past.failed = Some(why),
        (Tried::Failed { id, why }, Some(Overlay::Review(review))) if review.past.id == id => {
            review.past.failed = Some(why);
        }
        (Tried::Failed { id, why }, _) if suggested.id == id => suggested.failed = Some(why),
        (Tried::Rules { .. } | Tried::Policy { .. } | Tried::Suggestions { .. } | Tried::Failed { .. }, _) => {}
    }
}

fn put<T>(attempt: &mut Attempt<T>, found: Arc<T>, reach: Reach) {
    (attempt.found, attempt.reach) = (Some(found), reach);
}
