//! The secrets that came in this session, and by what digest records name a call: none confirms a guess of a secret. Owns no record.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::audit::redact::{Redactor, is_clear};
use crate::audit::repeats::{Known, Seen, TooMany};
use crate::audit::{Entry, Kind};
use crate::behavior::{Hazard, HazardKind};
use crate::wire::{Call, Digest, digest::Key};

#[derive(Debug)]
pub struct Secrets {
    redactor: Redactor,
    seen: Seen,
    /// The same, as entries have them; `None` where there is none.
    known: Option<Arc<[Known]>>,
    /// The calls with more secrets than are remembered, by their digests.
    crowded: HashSet<Digest>,
}

/// From how many such calls on every call is taken for one.
const MOST_CROWDED: usize = 10_000;
const CROWDED: &str =
    "it has too many secrets to look for each where it comes again, so the log keeps nothing that it says";

impl Secrets {
    pub fn new(redactor: Redactor) -> Self {
        Self { redactor, seen: Seen::default(), known: None, crowded: HashSet::new() }
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
        match self.seen.add(&found) {
            Ok(()) if found.is_empty() => {}
            Ok(()) => self.renew(),
            Err(TooMany) => drop(self.crowded.insert(call.digest())),
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
        let what = match self.is_crowded(call.digest()) {
            true => CROWDED,
            false if self.redactor.repeats(text, self.all()) => {
                "a secret of this session comes again in another place, where records hide it, too"
            }
            false => return None,
        };
        Some(Hazard { kind: HazardKind::RepeatedSecret, what: what.to_owned() })
    }

    fn is_crowded(&self, call: Digest) -> bool {
        self.crowded.len() >= MOST_CROWDED || self.crowded.contains(&call)
    }

    /// A whole JSON text with the secrets in it replaced.
    pub fn hidden_in_json<'t>(&self, json: &'t str) -> Cow<'t, str> {
        self.redactor.json(json, self.all(), &mut Vec::new())
    }

    /// Has them replaced in an entry on calls and lines. What was agreed to, and texts, are told by what they say.
    pub fn hide_in(&self, entry: &mut Entry) {
        if !matches!(entry.kind, Kind::Agreed | Kind::Policy | Kind::Tools | Kind::Text) {
            entry.known.clone_from(&self.known);
            if entry.digest.is_some_and(|call| self.is_crowded(call)) {
                entry.keep_no_texts(CROWDED);
            }
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
