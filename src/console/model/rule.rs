//! What an operator makes of a call beyond deciding it: a grant or a rule. Owns the offers, and how far the operator has come.

use super::Armed;
use crate::link::message::{Covers, GrantTerms, Lasts};

/// One rule that could be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What it covers, in our words; names in it are foreign text.
    pub label: String,
    /// The text as it will stand in the policy file.
    pub toml: String,
    /// What the operator should know before it is written.
    pub warnings: Vec<String>,
    /// How many of the calls that wait now it matches, the one it was made from among them.
    pub waiting: usize,
}

/// An approval of the call, and of calls like it for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantOffer {
    pub terms: GrantTerms,
    /// How many other calls that wait now pass with it.
    pub waiting: usize,
    /// Whether the next digit begins the number anew.
    pub number: Number,
}

/// Where the number of minutes or calls comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    Ours,
    Typed,
}

/// What one line of the panel offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    Grant(GrantOffer),
    Rule(Choice),
}

/// The open panel, grants first. A rule decides nothing about the call it starts from: that call waits on. A grant
/// approves it.
#[derive(Clone, Debug)]
pub struct RuleMaker {
    pub armed: Armed,
    pub offers: Vec<Offer>,
    pub at: usize,
    /// The first row on screen.
    pub top: usize,
    pub stage: RuleStage,
    /// Why there is no grant among the offers.
    pub no_grant: Option<&'static str>,
    /// When it was opened.
    pub opened: i64,
}

/// How far the operator has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleStage {
    /// Looking at the offers.
    Choosing,
    /// Enter was pressed once on this very text, at this moment: once more does it.
    Sure { since: i64 },
}

impl RuleMaker {
    /// The offer on show.
    pub fn offer(&self) -> Option<&Offer> {
        self.offers.get(self.at)
    }
}

impl GrantOffer {
    /// The most minutes or calls that may be typed.
    const MOST: (u32, u32) = (24 * 60, 999);

    /// Takes a digit; one that would make no number is left out.
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

    /// The next digit begins anew.
    pub fn rest(&mut self) {
        self.number = Number::Ours;
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
