//! What binds a key to a call: only what the last frame showed, long enough and untouched, can be decided; when keys are
//! ignored; when the screen changes by itself; lists read before `y` counts; the word that approves a dangerous call.

use crate::console::rows::{Areas, content_rows};
use std::sync::Arc;

use super::batch::{Batch, Fate, Unlisted};
use super::call::{ARMING, Armed, CallKey, Drawn, Held, Question, Seen, Shown};
use super::rule::ReviewOf;
use super::state::{Model, Overlay, Screen};
use crate::behavior::arguments::reading::{self, Part};
use crate::console::card::Card;

/// After a key that was refused, keys are ignored until none has come for this long, in milliseconds.
pub const SILENCE: i64 = 400;

/// How long a word to type may be: shorter words are typed by mistake, and no one types longer ones.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unarmed {
    Nothing,
    /// What is selected is not what the last frame showed.
    NotDrawn,
    /// It has not been on screen long enough, or a key came meanwhile.
    TooSoon,
    /// It is decided already, or on its way.
    NotWaiting,
}

impl Model {
    /// The selected call, if a key may decide it now.
    pub fn armed(&self) -> Result<Armed, Unarmed> {
        let armed = self.in_view()?;
        let stood = self.drawn.as_ref().is_some_and(|drawn| self.now - drawn.since >= ARMING);
        if stood && self.stood() { Ok(armed) } else { Err(Unarmed::TooSoon) }
    }

    /// The selected call, if it is what the last frame showed and waits: enough to ask why it is denied.
    pub fn in_view(&self) -> Result<Armed, Unarmed> {
        let held = self.queue.selection().ok_or(Unarmed::Nothing)?;
        if !held.waits() {
            return Err(Unarmed::NotWaiting);
        }
        let drawn = self.drawn.as_ref().filter(|drawn| drawn.armed == Armed::of(held));
        drawn.map(|drawn| drawn.armed.clone()).ok_or(Unarmed::NotDrawn)
    }

    /// Whether what is on screen has stood there long enough, with no key pressed.
    pub fn stood(&self) -> bool {
        !self.ignores_keys() && self.untouched.is_some_and(|since| self.now - since >= ARMING)
    }

    pub fn asks_about(&self, armed: &Armed) -> bool {
        let drawn = self.drawn.as_ref();
        drawn.is_some_and(|drawn| drawn.question == Question::Asked && drawn.armed == *armed)
    }

    /// Whether what is on screen has just appeared: no key decides it yet, until some time has passed.
    pub fn is_arming(&self) -> bool {
        match &self.overlay {
            Some(Overlay::Batch(batch)) => self.may(batch) == Err(Unlisted::TooSoon),
            Some(Overlay::Confirm { .. } | Overlay::Rule(_)) => !self.stood(),
            Some(Overlay::Word { text, .. }) => text.is_empty() && !self.stood(),
            Some(Overlay::Review(review)) => review.subject != ReviewOf::Written && !self.stood(),
            None if matches!(self.screen, Screen::Queue | Screen::Detail) => {
                matches!(self.armed(), Err(Unarmed::TooSoon | Unarmed::NotDrawn))
            }
            Some(_) | None => false,
        }
    }

    /// Whether keys are ignored until a pause: one was refused, and those behind it were meant for what it did not do.
    pub fn ignores_keys(&self) -> bool {
        self.ignored.is_some_and(|last| (0..SILENCE).contains(&(self.now - last)))
    }

    /// How soon the screen changes by itself, in milliseconds; `None` when only a message can change it.
    pub fn next_tick(&self) -> Option<u64> {
        if let Some(last) = self.ignored.filter(|_| self.ignores_keys()) {
            return u64::try_from(last + SILENCE - self.now).ok();
        }
        match self.screen {
            _ if self.armed() == Err(Unarmed::TooSoon) || self.overlay.is_some() && self.is_arming() => Some(100),
            _ if self.note_until.is_some() => Some(1000),
            Screen::Queue | Screen::Detail if self.queue.calls.is_empty() => None,
            Screen::Activity => None,
            Screen::Queue | Screen::Detail | Screen::Log | Screen::Tools | Screen::Rules | Screen::Servers => {
                Some(1000)
            }
        }
    }

    /// The selected call, for keys that decide nothing: it need not have been on screen long, nor be drawn right now.
    pub fn chosen(&self) -> Result<Armed, Unarmed> {
        let held = self.queue.selection().ok_or(Unarmed::Nothing)?;
        if held.waits() { Ok(Armed::of(held)) } else { Err(Unarmed::NotWaiting) }
    }

    /// The call that was armed, if it still waits with the bytes and the card that were shown: an approval needs both.
    pub fn still(&self, armed: &Armed) -> Option<&Held> {
        self.waits(armed).filter(|held| armed.is_alike(held))
    }

    /// The call that was armed, if it still waits with the bytes that were shown, whatever its card says by now: enough
    /// for a denial.
    pub fn waits(&self, armed: &Armed) -> Option<&Held> {
        let held = self.queue.call(armed.key())?;
        let same = held.waits() && held.snapshot.digest == armed.digest();
        same.then_some(held)
    }

    pub(in crate::console) fn note_drawn(&mut self, size: (u16, u16), areas: &Areas) {
        if size == self.size {
            self.untouched = self.untouched.or(Some(self.now));
            self.note_list_drawn(content_rows(areas.body));
        } else if let Some(Overlay::Batch(batch)) = &mut self.overlay {
            batch.interrupted();
        }
        // A question takes the place of its card, which may have no room beside it.
        let shows_card = match &self.overlay {
            Some(Overlay::Search { .. } | Overlay::Palette { .. } | Overlay::Leave) => false,
            Some(open) => !open.is_whole(),
            None => areas.card.height > 2,
        };
        let shown = match (self.queue.selection(), &self.card.laid) {
            (Some(held), Some(card))
                if shows_card && size == self.size && Arc::ptr_eq(&card.snapshot, &held.snapshot) =>
            {
                Some((Armed::of(held), card.rows, card.arguments_end, card.folded()))
            }
            _ => None,
        };
        let Some((armed, rows, end, folded)) = shown else {
            self.leave();
            self.drawn = None;
            return;
        };
        let last = self.drawn.take().filter(|drawn| drawn.armed == armed);
        let question = match &self.overlay {
            Some(Overlay::Confirm { .. } | Overlay::Word { .. }) => Question::Asked,
            _ => Question::NotAsked,
        };
        self.card.shown.add(self.card.scroll..(self.card.scroll + content_rows(areas.card)).min(rows));
        // What is folded was not shown, wherever the screen is.
        let seen = if folded == 0 { self.card.shown.seen(end) } else { Seen::Partly };
        let class = self.queue.selection().map(|held| held.class);
        let before =
            last.as_ref().map_or(self.queue.selection().map(|held| held.seen).unwrap_or_default(), |last| last.before);
        // An operator who has read one of several identical cards has read them all.
        for held in self.queue.calls.iter_mut().filter(|held| seen != Seen::Partly && Some(held.class) == class) {
            held.seen = held.seen.and(seen);
        }
        self.drawn = Some(Drawn { armed, since: last.map_or(self.now, |drawn| drawn.since), question, before });
    }

    /// The selection leaves a call: a card that only flashed by does not count as seen.
    pub(in crate::console) fn leave(&mut self) {
        let Some(drawn) = self.drawn.as_ref().filter(|drawn| self.now - drawn.since < ARMING) else { return };
        let (key, before) = (drawn.armed.key().clone(), drawn.before);
        self.card.shown = Shown::default();
        let class = self.queue.call(&key).map(|held| held.class);
        for held in self.queue.calls.iter_mut().filter(|held| Some(held.class) == class) {
            held.seen = before;
        }
    }

    pub fn bind(&self, keys: &[CallKey]) -> Vec<Armed> {
        keys.iter().filter_map(|key| self.queue.call(key)).map(Armed::of).collect()
    }

    /// A listed call, if it still waits, with the same card if it is to be approved.
    pub fn as_listed(&self, batch: &Batch, armed: &Armed) -> Option<&Held> {
        match batch.fate {
            Fate::Approve(_) => self.still(armed),
            Fate::Deny { .. } => self.waits(armed),
        }
    }

    pub fn may(&self, batch: &Batch) -> Result<(), Unlisted> {
        batch.may(self.now, self.stood())
    }

    fn note_list_drawn(&mut self, page: usize) {
        let Some(Overlay::Batch(batch)) = &mut self.overlay else { return };
        batch.drawn(batch.top..batch.top + page, self.now);
        for armed in batch.newly_read() {
            if self.still(&armed).is_some() {
                self.queue
                    .calls
                    .iter_mut()
                    .filter(|held| armed.is_alike(held))
                    .for_each(|held| held.seen = Seen::Whole);
            }
        }
    }

    pub fn effect_of<'a>(&'a self, held: &'a Held) -> &'a str {
        let laid = self.card.laid.as_ref().filter(|card| Arc::ptr_eq(&card.snapshot, &held.snapshot));
        laid.map_or(held.snapshot.effect.as_str(), Card::effect)
    }

    /// The word to type for this call, from the effect line on its card; `None` once it no longer waits as shown.
    pub fn word(&self, armed: &Armed) -> Option<String> {
        let held = self.still(armed)?;
        let (effect, call) = (self.effect_of(held), &held.snapshot);
        let part = reading::gravest(&call.readings);
        Some(word(effect, part, call.target.as_deref().unwrap_or_default(), &call.arguments))
    }
}

/// What the call acts on, if the effect line has it in a word that can be typed; otherwise the line's first such word. Of a
/// statement its reader says what it acts on; otherwise it is a word of the call's target that the arguments contain.
fn word(effect: &str, part: Option<&Part>, about: &str, arguments: &str) -> String {
    let said: Vec<&str> = words(effect).collect();
    let named = |word: &&str| said.iter().skip(1).any(|one| one == word);
    let target = match part {
        Some(part) => words(part.object.as_deref().unwrap_or_default()).filter(named).last(),
        // The arguments may be long: they are looked through last.
        None => words(about).filter(|word| named(word) && arguments.contains(*word)).last(),
    };
    target.or(said.first().copied()).unwrap_or("approve").to_owned()
}

/// The plain words of a text; a file keeps its extension.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let inside = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let typed = |word: &&str| word.bytes().all(|b| b.is_ascii_graphic()) && LENGTHS.contains(&word.len());
    text.split(move |c| !inside(c)).map(|word| word.trim_matches(['.', '-', '_'])).filter(typed)
}
