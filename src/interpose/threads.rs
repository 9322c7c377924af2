//! What the threads and tasks beside the loop send to it, all through one channel. Owns no thread.

use tokio::sync::mpsc::UnboundedSender;

use super::watch::Added;
use crate::gate::data::event::{ConsoleId, Event};
use crate::gate::data::facts::Findings;
use crate::policy::rule::Policy;

#[derive(Debug)]
pub enum FromThreads {
    /// An event for the gate: what approvers said, or the current pins.
    Event(Event),
    /// What a look found, by its number.
    Looked { look: u64, found: Findings },
    /// This policy applies from now on.
    Policy(Box<Policy>),
    /// What an operator said was not accepted or not kept, for this reason.
    Refused { console: ConsoleId, why: String },
    /// The program that hears of waiting calls has run; why it failed, if it did.
    Notified(Option<String>),
    /// These files were looked at.
    Watched(Added),
}

#[derive(Clone, Debug)]
pub struct ToLoop(pub UnboundedSender<FromThreads>);

impl ToLoop {
    pub fn tell(&self, what: FromThreads) {
        // The loop outlives the threads, and what a task finds out later is of no use.
        let _ = self.0.send(what);
    }
}
