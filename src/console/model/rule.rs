//! A rule that is being made from a call: the scopes on offer, narrowest first, and how far the operator has come.

use super::Armed;

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

/// The open rule maker. It decides nothing about the call it starts from: that call waits on.
#[derive(Clone, Debug)]
pub struct RuleMaker {
    pub armed: Armed,
    pub choices: Vec<Choice>,
    pub at: usize,
    /// The first row on screen.
    pub top: usize,
    pub stage: RuleStage,
}

/// How far the operator has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleStage {
    /// Looking at the scopes.
    Choosing,
    /// Enter was pressed once on this very text: once more writes it.
    Sure,
}

impl RuleMaker {
    /// The choice on show.
    pub fn choice(&self) -> Option<&Choice> {
        self.choices.get(self.at)
    }
}
