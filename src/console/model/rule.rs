//! The panel that makes a grant or a rule from a call, and the review of a change. Owns the offers, and how far both are.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::call::Armed;
use crate::link::message::{Covers, GrantTerms, Lasts};
use crate::operator::pinned::{PinnedProgram, PinnedTool};
use crate::operator::rule_book::Except;
use crate::operator::tried::{Attempt, Matched, Replayed, SuggestedRule};
use crate::pins::page::{Beforehand, Page};
use crate::policy::rule::{Decision, Pending};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What it covers, in our words; names in it are foreign text.
    pub label: String,
    pub toml: String,
    /// The rule that asks for such calls, and the condition that excepts them from it.
    pub except: Option<Except>,
    pub warnings: Vec<String>,
    /// What it covers beyond what this call does: shown, without another question.
    pub also: Option<&'static str>,
    /// How many of the calls that wait now it matches, the one it was made from among them.
    pub waiting: usize,
    /// The key that goes to it in the panel, and what that chooses in a word or two.
    pub letter: (char, &'static str),
    pub decision: Decision,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantOffer {
    pub terms: GrantTerms,
    /// How many other calls that wait now pass with it.
    pub waiting: usize,
    /// Whether the next digit replaces the number.
    pub number: Number,
    pub presses: Presses,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presses {
    Once,
    /// It has a warning, which should be read again.
    Twice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    Ours,
    Typed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    Grant(GrantOffer),
    Rule(Choice),
}

/// The open panel, grants first. A grant approves the call it starts from; under a rule that call waits on.
#[derive(Clone, Debug)]
pub struct RuleMaker {
    /// The ticket of the call that it was opened for: foreign text.
    pub ticket: String,
    /// That call, if it waits; `None` for a call from the log.
    pub armed: Option<Armed>,
    pub offers: Vec<Offer>,
    pub at: usize,
    pub top: usize,
    pub stage: RuleStage,
    pub no_grant: Option<&'static str>,
    pub opened: i64,
    /// What past calls say of each rule on offer.
    pub past: Attempt<Vec<Matched>>,
    pub chosen: Chosen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    ByOperator,
    /// The narrowest rule that fits past calls, as soon as these are counted.
    ToFit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleStage {
    Choosing,
    /// Enter was pressed once on this very text, which should be read again: a second Enter does it.
    Sure,
}

impl RuleMaker {
    pub fn offer(&self) -> Option<&Offer> {
        self.offers.get(self.at)
    }

    pub fn choice(&self) -> Option<&Choice> {
        match self.offer()? {
            Offer::Rule(choice) => Some(choice),
            Offer::Grant(_) => None,
        }
    }

    /// The known past calls that the rule on show would have matched.
    pub fn matched(&self) -> Option<&Matched> {
        let before = self.offers.iter().take(self.at).filter(|offer| matches!(offer, Offer::Rule(_))).count();
        self.choice().and(self.past.found.as_ref())?.get(before)
    }

    /// The narrowest allow rule that would have matched calls that ran, none that was denied, and none that is not known.
    pub fn fitting(&self) -> Option<usize> {
        let rules = self.offers.iter().enumerate().filter_map(|(at, offer)| match offer {
            Offer::Rule(choice) => Some((at, choice.decision)),
            Offer::Grant(_) => None,
        });
        let matched = self.past.found.as_ref()?.iter();
        let fits = |one: &Matched| one.calls > one.denied && one.denied == 0 && one.undecided == 0;
        let mut fitting = rules.zip(matched).filter(|((_, decision), one)| *decision == Decision::Allow && fits(one));
        fitting.next().map(|((at, _), _)| at)
    }

    /// Whether one Enter is enough: for a rule that only tightens, or one without a warning.
    pub fn goes_at_once(&self) -> bool {
        if let Some(Offer::Grant(grant)) = self.offer() {
            return grant.presses == Presses::Once;
        }
        let Some(choice) = self.choice() else { return false };
        if choice.decision != Decision::Allow {
            return true;
        }
        // A call whose match is unknown may have been denied.
        let never = |matched: &Matched| matched.denied == 0 && matched.undecided == 0;
        let never_denied = self.past.failed.is_none() && !self.past.goes_on() && self.matched().is_some_and(never);
        choice.warnings.is_empty() && never_denied
    }

    /// Puts another offer on show, and drops any question about the one before.
    pub fn show(&mut self, at: usize) {
        if let Some(Offer::Grant(grant)) = self.offers.get_mut(self.at) {
            grant.number = Number::Ours;
        }
        (self.at, self.top, self.stage, self.chosen) = (at, 0, RuleStage::Choosing, Chosen::ByOperator);
    }

    /// The next offer of this letter after the one on show, from the top again after the last.
    pub fn lettered(&self, letter: char) -> Option<usize> {
        let is = |at: &usize| self.offers.get(*at).is_some_and(|offer| offer.letter().0 == letter);
        let mut after = (self.at + 1..self.offers.len()).chain(0..=self.at).filter(is);
        let first = (0..self.offers.len()).find(is);
        // From an offer of another letter to the narrowest one, then on to the next.
        if is(&self.at) { after.next() } else { first }
    }
}

impl Offer {
    pub fn letter(&self) -> (char, &'static str) {
        match self {
            Self::Rule(rule) => rule.letter,
            Self::Grant(grant) => match grant.terms.lasts {
                Lasts::Minutes(_) => ('m', "minutes"),
                Lasts::Session => ('s', "session"),
                Lasts::Calls(_) => ('x', "calls"),
            },
        }
    }
}

impl GrantOffer {
    /// The most minutes or calls that may be typed.
    const MOST: (u32, u32) = (24 * 60, 999);

    /// Takes a digit; ignores one that would make the number too large.
    pub fn digit(&mut self, digit: u32) {
        let (now, most) = match self.terms.lasts {
            Lasts::Session => return,
            Lasts::Minutes(now) => (now, Self::MOST.0),
            Lasts::Calls(now) => (now, Self::MOST.1),
        };
        let number = if self.number == Number::Typed { now.saturating_mul(10).saturating_add(digit) } else { digit };
        if (1..=most).contains(&number) {
            self.number = Number::Typed;
            self.terms.lasts =
                if let Lasts::Minutes(_) = self.terms.lasts { Lasts::Minutes(number) } else { Lasts::Calls(number) };
        }
    }

    /// `create_file under ~/notes, for 15 min`; names in it are foreign text.
    pub fn says(&self, tool: &str) -> String {
        let covers = match &self.terms.covers {
            Covers::ThisCall => "the same call again".to_owned(),
            Covers::Under { argument, folder } => format!("{tool} with {argument} under {folder}"),
            Covers::Tool => format!("every {tool}"),
        };
        match self.terms.lasts {
            Lasts::Session => format!("{covers}, for this session"),
            Lasts::Minutes(minutes) => format!("{covers}, for {minutes} min"),
            Lasts::Calls(1) => format!("{covers}, once more"),
            Lasts::Calls(calls) => format!("{covers}, for the next {calls} calls"),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Review {
    pub subject: ReviewOf,
    pub top: usize,
    pub stage: RuleStage,
    /// What it would change of past rulings, where it is about the policy.
    pub past: Attempt<Replayed>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ReviewOf {
    // A policy file that loosens something, as the wrapper of this session reported it.
    Policy { session: String, pending: Pending },
    Definition(Box<PinnedTool>),
    Program(Box<PinnedProgram>),
    // The files as they are written, against the log; there is nothing to accept.
    Written,
    Suggested(Arc<SuggestedRule>),
    Page(Box<OpenPage>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct OpenPage {
    pub page: Page,
    pub at: usize,
    /// Lines that are agreed to with Enter.
    pub marked: BTreeSet<usize>,
}

impl OpenPage {
    pub fn of(page: Page) -> Self {
        let lines = page.lines.iter().enumerate();
        let marked = lines.filter(|(_, line)| line.beforehand == Beforehand::Marked).map(|(at, _)| at).collect();
        Self { page, at: 0, marked }
    }
}

impl Review {
    /// A review that was just opened; `trial` finds what it would do to past rulings, 0 for none.
    pub fn of(subject: ReviewOf, trial: u64) -> Self {
        Self { subject, top: 0, stage: RuleStage::Choosing, past: Attempt::asked(trial) }
    }
}
