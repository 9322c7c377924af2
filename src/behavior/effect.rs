//! What a call does to the world, as one word a rule can match. Joins what the arguments show with the identity; adds no
//! evidence.

use super::conclude::Behavior;
use super::evidence::Source;
use super::taxonomy::{Action, Mutability};

/// The kinds of effect; the words are what a policy matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectKind {
    /// It reads what this machine or this server holds.
    Read,
    /// It reads from somewhere else.
    ReadElsewhere,
    /// It makes, changes, removes, moves or sends something.
    Write,
    /// It runs code or a command.
    Execute,
    /// It changes who may do what, or how a server runs.
    Administer,
    /// Nobody knows.
    Unknown,
}

impl EffectKind {
    /// Every kind, the least serious first.
    pub const ALL: &'static [Self] =
        &[Self::Read, Self::ReadElsewhere, Self::Write, Self::Execute, Self::Administer, Self::Unknown];

    /// The word in a policy.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ReadElsewhere => "read-elsewhere",
            Self::Write => "write",
            Self::Execute => "execute",
            Self::Administer => "administer",
            Self::Unknown => "unknown",
        }
    }
}

/// Every effect that a call has, each once, the least serious first; never empty.
pub fn of_call(behavior: &Behavior) -> Vec<EffectKind> {
    let shown = behavior.evidence.iter().filter(|evidence| evidence.source == Source::Arguments);
    let shown = shown.filter_map(|evidence| {
        let mutates = evidence.says.mutability == Some(Mutability::Mutates);
        evidence.says.action.map(of_action).or(mutates.then_some(EffectKind::Unknown))
    });
    let mut all: Vec<EffectKind> = shown.chain([of_action(behavior.identity.action)]).collect();
    all.sort();
    all.dedup();
    all
}

fn of_action(action: Action) -> EffectKind {
    match action {
        Action::Read | Action::Search => EffectKind::Read,
        Action::Execute => EffectKind::Execute,
        Action::Unknown => EffectKind::Unknown,
        Action::Create
        | Action::Update
        | Action::Delete
        | Action::Merge
        | Action::Overwrite
        | Action::Append
        | Action::Send
        | Action::Move => EffectKind::Write,
    }
}
