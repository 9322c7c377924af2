//! Three independent readers of one definition: its name, its text, and a linear model of the rest. They share no list of
//! words but the stems of other scripts, and a verb that two of them read counts once, so they rarely err together. `conclude` joins their votes; none of them reads the server's hints.

pub mod description;
pub mod learned;
pub mod name;

use super::evidence::{Claim, Evidence, Source, Strength};
use super::taxonomy::{Action, Mutability};
use super::words;
use crate::mcp::tool::Tool;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    Reads,
    /// It looks like a read, not surely enough to count as one of two that prove it.
    MayRead,
    Changes,
    /// Nothing that this voter knows.
    Silent,
}

/// One voter's word, with what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vote {
    pub voter: Source,
    pub says: Says,
    pub action: Option<Action>,
    /// The words it rests on, as they are in the definition: foreign text. Empty where it is silent.
    pub span: String,
}

impl Vote {
    /// A voter that knows nothing of this definition.
    pub fn silent(voter: Source) -> Self {
        Self { voter, says: Says::Silent, action: None, span: String::new() }
    }

    pub fn mutability(&self) -> Option<Mutability> {
        match self.says {
            Says::Reads | Says::MayRead => Some(Mutability::Pure),
            Says::Changes => Some(Mutability::Mutates),
            Says::Silent => None,
        }
    }

    pub fn evidence(&self) -> Option<Evidence> {
        let strength = match self.says {
            Says::Reads | Says::Changes => Strength::Fair,
            Says::MayRead => Strength::Weak,
            Says::Silent => return None,
        };
        let says = Claim { mutability: self.mutability(), action: self.action, ..Claim::default() };
        Some(Evidence { source: self.voter, says, span: self.span.clone(), strength })
    }
}

/// The votes about one definition: name, description, learned.
pub fn votes(tool: &Tool) -> [Vote; 3] {
    [name::vote(tool), description::vote(tool), learned::vote(tool)]
}

/// How many pieces of evidence these votes are that it only reads: a verb that name and description share is one.
pub fn reading(votes: &[Vote; 3]) -> usize {
    let [name, description, _] = votes;
    let all = votes.iter().filter(|vote| vote.says == Says::Reads).count();
    let both = name.says == Says::Reads && description.says == Says::Reads;
    all - usize::from(both && words::same(&name.span, &description.span))
}
