//! What an operator approves beyond one call: for this session, for a while, for some calls. Owns them; decides nothing.
//!
//! A grant answers in advance what a default would ask. It never answers a rule that asks or denies, nor a dangerous
//! call unless it was given with one, nor a call with a hazard. One hazard is the exception: a grant for a folder
//! outside those that the host declared covers paths in that folder, if one key approves calls of this kind. A grant
//! ends when the tool's definition changes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::behavior::arguments::path::{LeftOut, possible_paths};
use crate::behavior::conclude::{self, Replaced};
use crate::behavior::{Action, Behavior, Hazard, HazardKind, Identity, arguments::base};
use crate::gate::data::terms::{Covers, GrantCard, GrantTerms, Lasts};
use crate::gate::data::{event::Now, facts::Findings};
use crate::policy::under::{Folder, Paths};
use crate::policy::{Decision, Policy, Question, Roots, Ruling, glob::Holds};
use crate::wire::{Call, Digest};

/// How many grants may be in force at once.
const MOST: usize = 64;
/// The longest time a grant may be given for, in minutes: a day.
pub const LONGEST: u32 = 24 * 60;

#[derive(Debug)]
struct Grant {
    card: GrantCard,
    /// Monotonic microseconds.
    until: Option<u64>,
    arguments: Value,
    folder: Option<Folder>,
    area: GrantArea,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantArea {
    /// In the folders that the host declared, where it declared any.
    Declared,
    Outside,
}

pub struct GrantQuestion<'a> {
    pub call: &'a Question<'a>,
    /// The digest of its tool's definition, as the server describes it now.
    pub definition: Option<Digest>,
    pub roots: &'a Roots,
    /// Whether one key would approve it; read only where a grant may be for it.
    pub care: &'a dyn Fn() -> Care,
}

/// How many keys an approval of a call by itself would take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// One key.
    Plain,
    /// A second one.
    Dangerous,
    /// That depends on what is on the disk, which was not looked at.
    Unseen,
}

/// What grants make of a ruling.
pub struct Loosened {
    pub ruling: Ruling,
    /// A grant covers this call unless what is on the disk makes it dangerous, which was not looked at.
    pub awaits_look: bool,
}

pub struct GivenGrant<'a> {
    pub call: &'a Call,
    pub ticket: &'a str,
    pub definition: Digest,
    pub area: GrantArea,
    /// Whether its card asked twice.
    pub dangerous: bool,
    pub who: &'a str,
    /// When it ends at the latest, as it was signed, in milliseconds since 1970, UTC.
    pub until: Option<i64>,
}

#[derive(Debug, Default)]
pub struct Grants {
    list: Vec<Grant>,
    given: u64,
}

impl Grants {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All grants in force, oldest first.
    pub fn cards(&self) -> Vec<GrantCard> {
        self.list.iter().map(|grant| grant.card.clone()).collect()
    }

    /// Gives a grant. If there are too many, the oldest ends.
    pub(in crate::gate) fn give(&mut self, now: Now, given: &GivenGrant<'_>, terms: &GrantTerms) -> GrantCard {
        self.given += 1;
        let ends = terms.lasts.minutes().map(|minutes| now.wall.saturating_add(minutes * 60_000));
        let until = ends.into_iter().chain(given.until).min();
        let card = GrantCard {
            id: format!("grant:{}", self.given),
            tool: given.call.name().to_owned(),
            definition: given.definition,
            terms: terms.clone(),
            who: given.who.to_owned(),
            ticket: given.ticket.to_owned(),
            given: now.wall,
            until,
            left: if let Lasts::Calls(calls) = terms.lasts { Some(calls) } else { None },
            used: 0,
            dangerous: given.dangerous,
        };
        if self.list.len() >= MOST {
            self.list.remove(0);
        }
        self.list.push(Grant {
            card: card.clone(),
            until: until.map(|until| now.mono + u64::try_from(until - now.wall).unwrap_or(0).saturating_mul(1000)),
            arguments: serde_json::from_str(given.call.arguments_text()).unwrap_or(Value::Null),
            folder: if let Covers::Under { folder, .. } = &terms.covers { Folder::new(folder) } else { None },
            area: given.area,
        });
        card
    }

    /// Ends a grant; `None` when it has ended already.
    pub(in crate::gate) fn end(&mut self, id: &str) -> Option<GrantCard> {
        let at = self.list.iter().position(|grant| grant.card.id == id)?;
        Some(self.list.remove(at).card)
    }

    pub(in crate::gate) fn end_all(&mut self) -> Vec<GrantCard> {
        self.list.drain(..).map(|grant| grant.card).collect()
    }

    /// Ends the grants that are over; `definition` gives a tool's current definition, if it is known.
    pub(in crate::gate) fn prune(
        &mut self,
        now: Now,
        definition: impl Fn(&str) -> Option<Digest>,
    ) -> Vec<(GrantCard, &'static str)> {
        let over = |grant: &Grant| {
            // By both clocks: the time of day may be set back, and the monotonic clock stops while the machine sleeps.
            let shown = grant.card.until.is_some_and(|until| until <= now.wall);
            if shown || grant.until.is_some_and(|until| until <= now.mono) {
                Some("its time is over")
            } else if grant.card.left == Some(0) {
                Some("its calls are used up")
            } else if definition(&grant.card.tool).is_some_and(|digest| digest != grant.card.definition) {
                Some("the tool's definition has changed")
            } else {
                None
            }
        };
        let ended = self.list.iter().filter_map(|grant| Some((grant.card.clone(), over(grant)?))).collect();
        self.list.retain(|grant| over(grant).is_none());
        ended
    }

    /// When the next grant ends by itself (monotonic microseconds).
    pub fn next_end(&self) -> Option<u64> {
        self.list.iter().filter_map(|grant| grant.until).min()
    }

    /// The paths whose links must be followed before a grant can answer.
    pub(in crate::gate) fn paths_wanted(&self, asked: &GrantQuestion<'_>) -> BTreeSet<String> {
        let mut wanted = BTreeSet::new();
        for grant in self.of_tool(asked) {
            if let (Covers::Under { argument: name, .. }, Some(folder)) = (&grant.card.terms.covers, &grant.folder)
                && let Some(path) = argument(asked.call.arguments, name)
            {
                wanted.extend(base::readings(asked.call.arguments, name, path).unwrap_or_default());
                wanted.extend(folder.path(asked.roots));
                if grant.area == GrantArea::Outside {
                    let paths = possible_paths(asked.call.arguments).paths;
                    let read = |(at, path): &(String, String)| base::readings(asked.call.arguments, at, path);
                    wanted.extend(paths.iter().filter_map(read).flatten());
                }
            }
        }
        wanted
    }

    /// The ruling, where a grant answers what a default asks.
    pub(in crate::gate) fn loosen(
        &self,
        ruling: Ruling,
        asked: &GrantQuestion<'_>,
        policy: &Policy,
        found: Option<&Findings>,
    ) -> Loosened {
        let as_it_was = |ruling, awaits_look| Loosened { ruling, awaits_look };
        let by_default = ruling.decision == Decision::Ask && ruling.rule.is_none();
        let Some(area) = area(&asked.call.behavior.hazards).filter(|_| by_default && policy.allows_count) else {
            return as_it_was(ruling, false);
        };
        let real = found.map(|found| found.real.clone()).unwrap_or_default();
        let roots = Roots { paths: Paths::Followed(real), ..asked.roots.clone() };
        let are_for_it = || self.of_tool(asked).filter(|grant| grant.is_for(asked, area, &roots));
        if are_for_it().next().is_none() {
            return as_it_was(ruling, false);
        }
        let care = (asked.care)();
        match are_for_it().find(|grant| grant.card.dangerous || care == Care::Plain) {
            Some(grant) => {
                let reason = format!("{} covers it, given with {}", grant.card.id, grant.card.ticket);
                let ruling = Ruling { rule: Some(grant.card.id.clone()), ..Ruling::of(Decision::Allow, reason) };
                as_it_was(ruling, false)
            }
            None => as_it_was(ruling, care == Care::Unseen),
        }
    }

    /// Counts a call that a grant has approved; `false` where the rule is no grant.
    pub(in crate::gate) fn use_up(&mut self, rule: Option<&str>) -> bool {
        let Some(grant) = self.list.iter_mut().find(|grant| Some(grant.card.id.as_str()) == rule) else {
            return false;
        };
        grant.card.used += 1;
        grant.card.left = grant.card.left.map(|left| left.saturating_sub(1));
        true
    }

    /// The grants for this very definition of the tool, with calls left.
    fn of_tool<'a>(&'a self, asked: &'a GrantQuestion<'_>) -> impl Iterator<Item = &'a Grant> {
        let definition = asked.definition;
        self.list.iter().filter(move |grant| {
            grant.card.tool == asked.call.tool
                && Some(grant.card.definition) == definition
                && grant.card.left != Some(0)
        })
    }
}

impl Grant {
    fn is_for(&self, asked: &GrantQuestion<'_>, area: GrantArea, roots: &Roots) -> bool {
        let (call, folder) = (asked.call, self.folder.as_ref());
        if area == GrantArea::Outside
            && (self.area != GrantArea::Outside
                || !may_be_outside(call.behavior.identity, call.behavior.disputed)
                || !folder.is_some_and(|folder| holds_every_path(folder, call.arguments, roots)))
        {
            return false;
        }
        match &self.card.terms.covers {
            Covers::ThisCall => self.arguments == *asked.call.arguments,
            Covers::Tool => true,
            Covers::Under { argument: name, .. } => {
                folder.is_some_and(|folder| holds_argument(folder, asked.call.arguments, name, roots))
            }
        }
    }
}

/// Where a call with these hazards is; `None` if no grant may cover one of them.
pub fn area(hazards: &[Hazard]) -> Option<GrantArea> {
    let is_outside = |hazard: &Hazard| hazard.kind == HazardKind::OutsideRoots;
    match hazards {
        [] => Some(GrantArea::Declared),
        hazards => hazards.iter().all(is_outside).then_some(GrantArea::Outside),
    }
}

/// Whether a grant may cover such calls outside of the declared folders: only a kind that is never dangerous, whatever is there.
pub fn may_be_outside(identity: Identity, disputed: bool) -> bool {
    let is_plain = match identity.action {
        Action::Read | Action::Search | Action::Update | Action::Append => true,
        // Only the disk shows what they would replace, and the server may resolve such a path differently.
        Action::Create | Action::Move => false,
        Action::Delete | Action::Merge | Action::Overwrite | Action::Execute | Action::Send | Action::Unknown => false,
    };
    let bare = Behavior { identity, disputed, ..Behavior::unknown() };
    is_plain && conclude::danger(&bare, Replaced::Perhaps).is_none()
}

/// Whether everything in a call that could be a path lies in a folder; false where that cannot be decided.
pub fn holds_every_path(folder: &Folder, arguments: &Value, roots: &Roots) -> bool {
    let named = possible_paths(arguments);
    let holds = |(at, path): &(String, String)| folder.holds_argument(path, at, arguments, roots) == Holds::Yes;
    named.left_out == LeftOut::None && named.paths.iter().all(holds)
}

/// Whether a text argument is a path in a folder; false where that cannot be decided.
pub fn holds_argument(folder: &Folder, arguments: &Value, name: &str, roots: &Roots) -> bool {
    argument(arguments, name).is_some_and(|path| folder.holds_argument(path, name, arguments, roots) == Holds::Yes)
}

/// An argument that is a text, by its name, or by JSON Pointer where the name begins with `/`.
pub fn argument<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    let value = if name.starts_with('/') { arguments.pointer(name) } else { arguments.get(name) };
    value?.as_str()
}
