//! What a call does, in the words of a rule's `effect`: finer than the effects that the card tells apart. Reads no argument.

use super::glob::Holds;
use crate::behavior::arguments::effect::{Analysis, Effect};
use crate::behavior::{Action, Behavior, Identity, OutputDomain};
use crate::wire::words::words;

words! {
    EffectClass {
        /// It reads what the server itself keeps.
        Read = "read",
        /// It asks another service, and changes nothing there.
        ReadElsewhere = "read-elsewhere",
        Unknown = "unknown",
        /// It makes or changes data.
        Write = "write",
        Delete = "delete",
        /// It delivers something to others.
        Send = "send",
        /// It is about money, and does not only read.
        Pay = "pay",
        Execute = "execute",
        /// It changes who may do what, or how a service runs.
        Administer = "administer",
    }
}

impl EffectClass {
    /// All that a call does: what its tool is, and what its arguments show.
    pub fn all_of(behavior: &Behavior) -> Vec<Self> {
        let mut all = Self::of_identity(behavior.identity);
        behavior.analyses.iter().for_each(|analysis| all.extend(Self::of_analysis(analysis)));
        all.sort();
        all.dedup();
        all
    }

    fn of_action(action: Action) -> Self {
        match action {
            Action::Read | Action::Search => Self::Read,
            Action::Delete => Self::Delete,
            Action::Send => Self::Send,
            Action::Execute => Self::Execute,
            Action::Unknown => Self::Unknown,
            Action::Create | Action::Update | Action::Merge | Action::Overwrite | Action::Append | Action::Move => {
                Self::Write
            }
        }
    }

    fn of_identity(identity: Identity) -> Vec<Self> {
        let does = Self::of_action(identity.action);
        match (does, identity.output_domain) {
            (Self::Read | Self::Unknown, _) => vec![does],
            (Self::Write | Self::Send, OutputDomain::Money) => vec![Self::Pay],
            (_, OutputDomain::Money) => vec![does, Self::Pay],
            (_, OutputDomain::User | OutputDomain::Infra) => vec![does, Self::Administer],
            _ => vec![does],
        }
    }

    fn of_analysis(analysis: &Analysis) -> Vec<Self> {
        let does = match analysis.effect {
            Effect::ReadHere => return vec![Self::Read],
            Effect::ReadElsewhere => return vec![Self::ReadElsewhere],
            Effect::Unlisted | Effect::Unknown => return vec![Self::Unknown],
            Effect::Write => None,
            Effect::Execute => Some(Self::Execute),
            Effect::Administer => Some(Self::Administer),
        };
        // Of a statement that reads and writes, only what it changes counts; without a word of it, it writes.
        let actions = analysis.also.iter().chain([&analysis.action]).map(|action| Self::of_action(*action));
        let finer = actions.filter(|class| matches!(class, Self::Delete | Self::Send));
        let all: Vec<Self> = does.into_iter().chain(finer).collect();
        if all.is_empty() { vec![Self::Write] } else { all }
    }

    /// Whether it is one of those that a rule names. `write` once meant the finer ones too: an allow that says only `write`
    /// does not cover them, and an ask or a deny still does.
    pub fn is_among(self, named: &[Self]) -> Holds {
        let once_write = matches!(self, Self::Delete | Self::Send | Self::Pay | Self::Administer);
        if named.contains(&self) {
            Holds::Yes
        } else if self == Self::Unknown || once_write && named.contains(&Self::Write) {
            // What is not known could be any of them.
            Holds::Undecided
        } else {
            Holds::No
        }
    }
}
