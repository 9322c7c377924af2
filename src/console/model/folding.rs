//! Where the operator is among the parts of the arguments that fold.

use super::Model;
use crate::console::card::{Anchor, Fold};

impl Model {
    /// What a key would fold or unfold: what was chosen last, as long as it is on screen; else the first that is folded
    /// there, else the first that folds.
    pub fn fold_cursor(&self) -> Option<Anchor> {
        let anchors = self.card.as_ref()?.anchors(self.scroll, self.card_rows());
        let chosen = anchors.iter().find(|anchor| Some(anchor.at) == self.fold_at);
        let folded = || anchors.iter().find(|anchor| anchor.fold == Fold::Closed);
        chosen.or_else(folded).or(anchors.first()).copied()
    }
}
