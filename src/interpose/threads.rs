//! What the threads and tasks beside the loop bring it, all through one channel. Owns no thread.

use tokio::sync::mpsc::UnboundedSender;

use super::watch::Added;
use crate::gate::data::event::{ConsoleId, Event};
use crate::gate::data::facts::Findings;
use crate::policy::rule::Policy;

/// What one of them brings.
#[derive(Debug)]
pub enum FromThreads {
    /// For the gate as it is: what approvers said, or what is remembered now.
    Event(Event),
    /// What a look found, by its number.
    Looked { look: u64, found: Findings },
    /// This policy applies from now on.
    Policy(Box<Policy>),
    /// What an operator said was not accepted or not kept, for this reason.
    Refused { console: ConsoleId, why: String },
    /// These files were looked at.
    Watched(Added),
}

/// The way to the loop.
#[derive(Clone, Debug)]
pub struct ToLoop(pub UnboundedSender<FromThreads>);

impl ToLoop {
    /// Brings it something.
    pub fn tell(&self, what: FromThreads) {
        // The loop outlives the threads, and whatever a task finds out after it is of no use.
        let _ = self.0.send(what);
    }
}
