//! What a signed verdict is worth, and where one is required. Facts come from the signature and from who owns the files.

use crate::signing::sshsig::{KeyKind, Presence};
use crate::wire::words::words;

words! {
    /// Which approvals of an operator need a signature.
    #[derive(Default)]
    Required {
        #[default]
        Never = "never",
        /// Those of dangerous calls.
        Dangerous = "dangerous",
        Always = "always",
    }
}

impl Required {
    /// Whether an approval of such a call needs one.
    pub const fn asks(self, danger: Danger) -> Needs {
        match (self, danger) {
            (Self::Never, _) | (Self::Dangerous, Danger::Plain) => Needs::Nothing,
            (Self::Dangerous, Danger::Dangerous) | (Self::Always, _) => Needs::Signature,
        }
    }
}

/// Whether one careless key must not approve a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Danger {
    Plain,
    Dangerous,
}

/// What an approval needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    Signature,
}

/// Who can change a file, such as the list of signers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Root,
    /// The user whose calls wait; so an agent with a shell can add a key.
    User,
}

impl Owner {
    /// Who can change one of two files.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Root, Self::Root) => Self::Root,
            (Self::User, _) | (_, Self::User) => Self::User,
        }
    }
}

/// Where the console is that the verdict came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleUser {
    /// The same account on the same machine as the wrapper.
    Same,
    Other,
}

/// What a signed verdict is worth, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    UsersList,
    SoftwareKey,
    SameUser,
    Keyed,
}

impl Grade {
    /// The grade of a signature that was checked; `None` for one that a touch should have made and did not.
    pub const fn of(owner: Owner, presence: Presence, console: ConsoleUser) -> Option<Self> {
        match (presence, owner, console) {
            (Presence::NotTouched { .. }, ..) => None,
            (_, Owner::User, _) => Some(Self::UsersList),
            (Presence::NotStated, Owner::Root, _) => Some(Self::SoftwareKey),
            (Presence::Touched { .. }, Owner::Root, ConsoleUser::Same) => Some(Self::SameUser),
            (Presence::Touched { .. }, Owner::Root, ConsoleUser::Other) => Some(Self::Keyed),
        }
    }

    /// The best that a key can reach with this list, from a console of the same user.
    pub const fn of_key(owner: Owner, key: KeyKind) -> Self {
        match (owner, key.states_presence()) {
            (Owner::User, _) => Self::UsersList,
            (Owner::Root, false) => Self::SoftwareKey,
            (Owner::Root, true) => Self::SameUser,
        }
    }

    /// `L0` or `L1`.
    pub const fn level(self) -> &'static str {
        match self {
            Self::UsersList | Self::SoftwareKey => "L0",
            Self::SameUser | Self::Keyed => "L1",
        }
    }

    /// The word in JSON and in records.
    pub const fn word(self) -> &'static str {
        match self {
            Self::UsersList => "L0 user's list",
            Self::SoftwareKey => "L0 software key",
            Self::SameUser => "L1 same user",
            Self::Keyed => "L1",
        }
    }

    /// What it stops and what it does not, in a sentence.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::UsersList => {
                "your own account can change the list of signers, so an agent with a shell can add its own key"
            }
            Self::SoftwareKey => {
                "any process of your account that can reach the key or its agent can sign, without a touch"
            }
            Self::SameUser => {
                "every verdict needs a touch; a touch does not show what is signed, so a process of your account can put \
                 another statement under a touch that you meant for ours"
            }
            Self::Keyed => "every verdict needs a touch, at a console that the agent's account cannot reach",
        }
    }
}
