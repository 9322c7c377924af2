//! What a walk found: kept up to a bound, the worst of all among them.

use std::cmp::Ordering;

use super::MOST;
use super::effect::{Analysis, Language, Meaning};
use super::reading::{Part, Reading};
use super::walk::{Walk, Wants};

impl Walk<'_> {
    /// Notes what was found in a text; its parts only where the walk wants them.
    pub(super) fn read(
        &mut self,
        language: Language,
        key: &str,
        text: &str,
        found: Meaning,
        parts: impl FnOnce() -> Vec<Part>,
    ) {
        if matches!(self.wants, Wants::Parts) {
            match self.readings.len().cmp(&MOST) {
                Ordering::Less => {
                    self.readings.push(Reading::new(Analysis::new(language, key, found.clone()), text, parts()));
                }
                // One entry for all texts beyond those that are listed.
                Ordering::Equal => {
                    let beyond = Analysis::new(Language::Unread, key, found.clone());
                    self.readings.push(Reading::new(beyond, "", Vec::new()));
                }
                Ordering::Greater => {}
            }
        }
        self.push(language, key, found);
    }

    pub(super) fn push(&mut self, language: Language, key: &str, found: Meaning) {
        let analysis = Analysis::new(language, key, found);
        match self.found.len().cmp(&MOST) {
            Ordering::Less => self.found.push(analysis),
            Ordering::Equal => {
                let found = unread("more statements than can be listed one by one");
                self.found.push(Analysis::new(Language::Unread, key, found));
                self.crowd(analysis);
            }
            Ordering::Greater => self.crowd(analysis),
        }
    }

    /// Puts a finding in the place of the mildest one that is listed, if that is milder.
    fn crowd(&mut self, analysis: Analysis) {
        let kept = self.found.iter_mut().take(MOST);
        if let Some(mildest) = kept.min_by_key(|one| one.effect)
            && mildest.effect < analysis.effect
        {
            *mildest = analysis;
        }
    }
}

/// What is shown in place of all that was not read.
pub(super) fn unread(says: &str) -> Meaning {
    Meaning::unknown("…", says)
}
