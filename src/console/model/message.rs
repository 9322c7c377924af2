//! What happens to the console, and what its shell is to do: messages go into an update, commands come out.

use std::path::PathBuf;

use super::call::Armed;
use crate::console::keymap::Key;
use crate::link::client::ClientEvent;
use crate::link::message::FromConsole;
use crate::operator::found::{Finding, LogRequest};
use crate::operator::own_rules::{Except, RuleChange};
use crate::operator::pinned::{PinReview, ReviewDone};

/// What happened.
#[derive(Clone, Debug)]
pub enum Msg {
    Key(Key),
    /// Text that was pasted, not typed.
    Paste(String),
    /// The next event of the keyboard waited this many milliseconds while the console was busy: that was no pause.
    Late(i64),
    /// Keys were thrown away: see [`Command::Drain`].
    Drained,
    Resize(u16, u16),
    /// Time passed.
    Tick,
    /// A frame of this size was drawn from the model as it is.
    Drawn(u16, u16),
    Link(ClientEvent),
    /// The log reader found something.
    Found(Finding),
    /// A click at this column and row.
    Click(u16, u16),
    /// The wheel turned over this column and row.
    Wheel(Turn, u16, u16),
    /// The editor came back.
    Edited {
        armed: Armed,
        outcome: Edit,
    },
    /// A rule was written to this file, or why it was not.
    RuleWritten(Result<String, String>),
    /// What was done to the rules, or why nothing was.
    RulesChanged(Result<String, String>),
    /// The editor left this of a rule.
    RuleEdited {
        id: String,
        file: PathBuf,
        outcome: Edit,
    },
    /// The result of a tool's review, or why nothing was settled.
    PinsReviewed(Result<ReviewDone, String>),
}

/// Which way the wheel turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Up,
    Down,
}

/// What the editor left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    Unchanged,
    Text(String),
    /// It could not be run, or failed: why.
    Failed(String),
}

/// What the shell must do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Send {
        session: String,
        message: FromConsole,
    },
    /// Opens this text in the operator's editor.
    OpenEditor {
        armed: Armed,
        text: String,
    },
    /// Adds this text to the operator's policy file, and excepts its calls from the rule that asks for them.
    WriteRule {
        toml: String,
        except: Option<Except>,
    },
    ChangeRules(RuleChange),
    /// Opens a rule of the operator's own file in the editor, and changes it to what that leaves.
    EditRule {
        id: String,
        file: PathBuf,
    },
    /// Settles whether a changed tool or program is trusted.
    ReviewPins(PinReview),
    /// Throws away keys that were typed before the screen changed; [`Msg::Drained`] says if there were any.
    Drain,
    /// Calls the operator: by the bell, and by a notice where there is one.
    Bell,
    /// Looks something up in the log or the policy.
    Look(LogRequest),
    /// Puts this text on the clipboard, where the terminal allows that.
    Copy(String),
    /// Stops the console until the shell brings it back.
    Suspend,
    Quit,
}
