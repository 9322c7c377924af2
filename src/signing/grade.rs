//! What a signed verdict is worth, and where one is required. Facts come from the signature and from who owns the files.

use serde::{Deserialize, Serialize};

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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Needs {
    #[default]
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

words! {
    /// What a verdict is worth, worst first.
    #[derive(Default)]
    Grade {
        #[default]
        Unsigned = "L0",
        UsersList = "L0 user's list",
        SoftwareKey = "L0 software key",
        SameUser = "L1 same user",
        Keyed = "L1",
    }
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
    pub fn of_key(owner: Owner, key: KeyKind) -> Self {
        let presence = match key.states_presence() {
            true => Presence::Touched { counter: 0, verified: false },
            false => Presence::NotStated,
        };
        Self::of(owner, presence, ConsoleUser::Same).unwrap_or_default()
    }

    /// Whether a process of the user can make one by itself.
    pub const fn is_l0(self) -> bool {
        match self {
            Self::Unsigned | Self::UsersList | Self::SoftwareKey => true,
            Self::SameUser | Self::Keyed => false,
        }
    }

    /// What it stops or does not, in a few words.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Unsigned => "stops tool calls, not an agent's own shell",
            Self::UsersList => "an agent with a shell can add its key to your list",
            Self::SoftwareKey => "any process of yours can sign with your key",
            Self::SameUser => "a touch does not show what is signed",
            Self::Keyed => "each verdict is signed where no agent can reach",
        }
    }
}
