//! Where the calls come from and verdicts go to: the wrappers of this user, or all machines of a desk. Knows what cannot be done through a
//! desk; decides nothing.

use crate::console::model::{CallKey, Command, Edit, Model, Msg};
use crate::desk::operator::{ONLY_THERE, Operator, WITHHELD, refusal};
use crate::link::client::{ClientEvent, Clients};
use crate::link::folder::LinkError;
use crate::link::message::{FromConsole, FromWrapper, OperatorVerdict};
use crate::operator::found::LogRequest;

pub(super) enum Source {
    Own(Clients),
    Desk(Operator),
}

impl Source {
    pub(super) fn send(&self, session: &str, message: &FromConsole) -> Result<(), LinkError> {
        match self {
            Self::Own(clients) => clients.send(session, message),
            Self::Desk(operator) => {
                operator.send(session, message);
                Ok(())
            }
        }
    }

    /// The commands that can be carried out, before anything is signed for them. For the others `more` says why not.
    pub(super) fn possible(&self, model: &Model, todo: Vec<Command>, more: &mut Vec<Msg>) -> Vec<Command> {
        match self {
            Self::Own(_) => todo,
            Self::Desk(_) => todo.into_iter().filter_map(|command| through_a_desk(model, command, more)).collect(),
        }
    }
}

fn through_a_desk(model: &Model, command: Command, more: &mut Vec<Msg>) -> Option<Command> {
    let why = || ONLY_THERE.to_owned();
    more.push(match command {
        Command::Send { session, message } => {
            let Some((ticket, why)) = refused(model, &session, &message) else {
                return Some(Command::Send { session, message });
            };
            let message = FromWrapper::Refused { ticket, why: why.to_owned() };
            Msg::Link(ClientEvent::Said { session, message })
        }
        Command::OpenEditor { armed, .. } => Msg::Edited { armed, outcome: Edit::Failed(why()) },
        Command::WriteRule { .. } => Msg::RuleWritten(Err(why())),
        Command::ChangeRules(_) => Msg::RulesChanged(Err(why())),
        Command::EditRule { id, file } => Msg::RuleEdited { id, file, outcome: Edit::Failed(why()) },
        Command::ReviewPins(_) => Msg::PinsReviewed(Err(why())),
        Command::Look(request @ (LogRequest::Page(_) | LogRequest::Record { .. })) => {
            return Some(Command::Look(request));
        }
        // The rules and the tools that are known here are those of this machine.
        Command::Look(_) => return None,
        other @ (Command::Drain | Command::Bell | Command::Copy(_) | Command::Suspend | Command::Quit) => {
            return Some(other);
        }
    });
    None
}

/// The ticket that a message is about, and why it is not sent; `None` where it is.
fn refused(model: &Model, session: &str, message: &FromConsole) -> Option<(String, &'static str)> {
    let ticket = message.ticket().to_owned();
    let call = CallKey { session: session.to_owned(), ticket: ticket.clone() };
    let approves = matches!(message, FromConsole::Decide { verdict: OperatorVerdict::Approve { .. }, .. });
    let is_withheld = approves && model.queue.call(&call).is_some_and(|held| held.is_withheld());
    let why = if is_withheld { Some(WITHHELD) } else { refusal(message) };
    why.map(|why| (ticket, why))
}
