//! What an operator approves beyond one call: for this session, for a while, for some calls. Owns them; decides nothing.
//!
//! A grant answers in advance what a default would ask. It never answers a rule that asks or denies, nor a call with a
//! hazard, and it ends with the tool's definition that it was given for.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::gate::call::held::Held;
use crate::gate::data::event::Now;
use crate::gate::data::facts::Findings;
use crate::gate::data::terms::{Covers, GrantCard, GrantTerms, Lasts};
use crate::gate::server::catalog::Described;
use crate::policy::decide::{Question, Ruling};
use crate::policy::paths::Paths;
use crate::policy::rule::{Decision, Policy};
use crate::policy::under::{Folder, Roots};
use crate::policy::when::Holds;
use crate::wire::digest::Digest;

/// How many grants may stand at once.
const MOST: usize = 64;
/// The longest time a grant may be given for, in minutes: a day.
const LONGEST: u32 = 24 * 60;

#[derive(Debug)]
struct Grant {
    card: GrantCard,
    /// Monotonic microseconds.
    until: Option<u64>,
    /// The arguments of the call it was given with.
    arguments: Value,
    folder: Option<Folder>,
}

/// A call that a grant may be for.
pub struct Asked<'a> {
    pub call: &'a Question<'a>,
    pub described: Option<&'a Described>,
    pub roots: &'a Roots,
}

/// All grants of one wrapper.
#[derive(Debug, Default)]
pub struct Grants {
    list: Vec<Grant>,
    given: u64,
}

/// Why nothing more than this call can be granted; `None` where it can.
pub(in crate::gate) fn refusal(held: &Held, terms: &GrantTerms) -> Option<String> {
    let judged = held.judged.as_ref()?;
    if judged.described.is_none() {
        return Some("the server has not described this tool, so each call of it is asked; approve it alone".into());
    }
    if !judged.behavior.hazards.is_empty() {
        return Some("a call with a hazard is asked each time; approve it alone".into());
    }
    if let Some(rule) = &judged.ruling.rule {
        return Some(format!("rule {rule} asks for each such call; add an `unless` to it, or approve this one alone"));
    }
    match terms.lasts {
        Lasts::Minutes(minutes) if minutes == 0 || minutes > LONGEST => {
            return Some(format!("a grant lasts 1 to {LONGEST} minutes"));
        }
        Lasts::Calls(0) => return Some("a grant is for one call more at least".into()),
        Lasts::Minutes(_) | Lasts::Calls(_) | Lasts::Session => {}
    }
    match &terms.covers {
        Covers::Under { argument: name, folder } => {
            let arguments: Value = serde_json::from_str(held.call.arguments_text()).unwrap_or(Value::Null);
            if argument(&arguments, name).is_none() {
                return Some("the call has no such path among its arguments".into());
            }
            Folder::new(folder).is_none().then(|| "a folder is absolute, or begins with ~/, without ..".to_owned())
        }
        Covers::ThisCall | Covers::Tool => None,
    }
}

impl Grants {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All that stand, oldest first.
    pub fn cards(&self) -> Vec<GrantCard> {
        self.list.iter().map(|grant| grant.card.clone()).collect()
    }

    /// Gives one. Beyond the most that may stand, the oldest ends.
    pub(in crate::gate) fn give(
        &mut self,
        now: Now,
        held: &Held,
        tool: Digest,
        who: &str,
        terms: &GrantTerms,
    ) -> GrantCard {
        self.given += 1;
        let minutes = match terms.lasts {
            Lasts::Minutes(minutes) => Some(u64::from(minutes)),
            Lasts::Session | Lasts::Calls(_) => None,
        };
        let card = GrantCard {
            id: format!("grant:{}", self.given),
            tool: held.call.name().to_owned(),
            definition: tool,
            terms: terms.clone(),
            who: who.to_owned(),
            ticket: held.ticket.to_string(),
            given: now.wall,
            until: minutes.map(|minutes| now.wall + i64::try_from(minutes * 60_000).unwrap_or(i64::MAX)),
            left: if let Lasts::Calls(calls) = terms.lasts { Some(calls) } else { None },
            used: 0,
        };
        if self.list.len() >= MOST {
            self.list.remove(0);
        }
        self.list.push(Grant {
            card: card.clone(),
            until: minutes.map(|minutes| now.mono + minutes * 60_000_000),
            arguments: serde_json::from_str(held.call.arguments_text()).unwrap_or(Value::Null),
            folder: if let Covers::Under { folder, .. } = &terms.covers { Folder::new(folder) } else { None },
        });
        card
    }

    /// Ends one; `None` when it has ended already.
    pub(in crate::gate) fn end(&mut self, id: &str) -> Option<GrantCard> {
        let at = self.list.iter().position(|grant| grant.card.id == id)?;
        Some(self.list.remove(at).card)
    }

    /// Ends what is over; `definition` is a tool's now, where that is known.
    pub(in crate::gate) fn prune(
        &mut self,
        now: Now,
        definition: impl Fn(&str) -> Option<Digest>,
    ) -> Vec<(GrantCard, &'static str)> {
        let over = |grant: &Grant| {
            // By both clocks: the one may be set back, the other stands still while the machine sleeps.
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

    /// When the next one ends by itself (monotonic microseconds).
    pub fn next_end(&self) -> Option<u64> {
        self.list.iter().filter_map(|grant| grant.until).min()
    }

    /// The paths whose links must be followed before a grant can answer.
    pub(in crate::gate) fn paths_wanted(&self, asked: &Asked<'_>) -> BTreeSet<String> {
        let mut wanted = BTreeSet::new();
        for grant in self.of_tool(asked) {
            if let (Covers::Under { argument: name, .. }, Some(folder)) = (&grant.card.terms.covers, &grant.folder)
                && let Some(path) = argument(asked.call.arguments, name)
            {
                wanted.insert(path.to_owned());
                wanted.extend(folder.path(asked.roots));
            }
        }
        wanted
    }

    /// The ruling, where a grant answers what a default asks.
    pub(in crate::gate) fn loosen(
        &self,
        ruling: Ruling,
        asked: &Asked<'_>,
        policy: &Policy,
        found: Option<&Findings>,
    ) -> Ruling {
        let by_default = ruling.decision == Decision::Ask && ruling.rule.is_none();
        if !by_default || !policy.allows_count || !asked.call.behavior.hazards.is_empty() {
            return ruling;
        }
        let real = found.map(|found| found.real.clone()).unwrap_or_default();
        let roots = Roots { paths: Paths::Followed(real), ..asked.roots.clone() };
        match self.of_tool(asked).find(|grant| grant.is_for(asked, &roots)) {
            Some(grant) => Ruling {
                decision: Decision::Allow,
                rule: Some(grant.card.id.clone()),
                reason: format!("{} covers it, given with {}", grant.card.id, grant.card.ticket),
            },
            None => ruling,
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
    fn of_tool<'a>(&'a self, asked: &'a Asked<'_>) -> impl Iterator<Item = &'a Grant> {
        let definition = asked.described.map(|described| described.digest);
        self.list.iter().filter(move |grant| {
            grant.card.tool == asked.call.tool
                && Some(grant.card.definition) == definition
                && grant.card.left != Some(0)
        })
    }
}

impl Grant {
    fn is_for(&self, asked: &Asked<'_>, roots: &Roots) -> bool {
        match &self.card.terms.covers {
            Covers::ThisCall => self.arguments == *asked.call.arguments,
            Covers::Tool => true,
            Covers::Under { argument: name, .. } => {
                let path = argument(asked.call.arguments, name);
                path.zip(self.folder.as_ref()).is_some_and(|(path, folder)| folder.holds(path, roots) == Holds::Yes)
            }
        }
    }
}

/// An argument that is a text, by its name, or by JSON Pointer where the name begins with `/`.
fn argument<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    let value = if name.starts_with('/') { arguments.pointer(name) } else { arguments.get(name) };
    value?.as_str()
}
