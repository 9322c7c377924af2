//! The secrets that came in this session, and by what digest records name a call: none confirms a guess of a secret. Owns no record.

use std::sync::Arc;

use crate::audit::redact::{Redactor, is_clear};
use crate::audit::repeats::{Known, Seen};
use crate::audit::{Entry, Kind};
use crate::behavior::{Hazard, HazardKind};
use crate::wire::{Call, digest::Key};

#[derive(Debug)]
pub struct Secrets {
    redactor: Redactor,
    seen: Seen,
    /// The same, as entries have them; `None` where there is none.
    known: Option<Arc<[Known]>>,
}

impl Secrets {
    pub fn new(redactor: Redactor) -> Self {
        Self { redactor, seen: Seen::default(), known: None }
    }

    /// What digests are made with where there is a secret to guess, or the text was not looked at.
    pub fn key(&self) -> &Arc<Key> {
        self.redactor.key()
    }

    pub fn learn_command(&mut self, command: &[String]) {
        let mut found = Vec::new();
        let _ = self.redactor.json(&serde_json::to_string(command).unwrap_or_default(), &[], &mut found);
        self.seen = Seen::of_command(&found);
        self.renew();
    }

    /// Remembers the secrets of a call, and gives it the plain digest of its bytes where it has none.
    pub fn take(&mut self, call: &mut Call) {
        let Some(found) = self.name(call) else { return };
        if !found.is_empty() {
            self.seen.add(&found);
            self.renew();
        }
    }

    /// The same without remembering: returns the secrets that it has.
    pub fn name(&self, call: &mut Call) -> Option<Vec<String>> {
        let text = str::from_utf8(call.line().content()).ok()?;
        let mut found = Vec::new();
        if !is_clear_call(text) || self.redactor.repeats(text, self.all()) {
            let _ = self.redactor.json(text, self.all(), &mut found);
        }
        if found.is_empty() {
            call.open();
        }
        Some(found)
    }

    /// The hazard of a secret of this session that comes in a call where nothing but that says that it is one: an agent could hide from
    /// the log what it does, so a person reads it whole.
    pub fn repeat_in(&self, call: &Call) -> Option<Hazard> {
        let text = str::from_utf8(call.line().content()).unwrap_or_default();
        let what = "a secret of this session comes again in another place, where records hide it, too";
        self.redactor
            .repeats(text, self.all())
            .then(|| Hazard { kind: HazardKind::RepeatedSecret, what: what.to_owned() })
    }

    /// Has them replaced in an entry on calls and lines. What was agreed to, and texts, are told by what they say.
    pub fn hide_in(&self, entry: &mut Entry) {
        if !matches!(entry.kind, Kind::Agreed | Kind::Policy | Kind::Tools | Kind::Text) {
            entry.known.clone_from(&self.known);
        }
    }

    fn all(&self) -> &[Known] {
        self.known.as_deref().unwrap_or_default()
    }

    fn renew(&mut self) {
        let all = self.seen.all();
        self.known = (!all.is_empty()).then(|| all.into());
    }
}

/// Whether there is certainly no secret in a call. Most hosts send a progress token: that key alone is no reason to read all of it.
fn is_clear_call(text: &str) -> bool {
    text.split(r#""progressToken":"#).all(is_clear)
}
