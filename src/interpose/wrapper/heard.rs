//! What the loop hears from its threads and its consoles: receipts, looks at the disk, the policy, words of operators.

use std::sync::Arc;

use super::Wrapper;
use crate::gate::data::event::{Event, Now};
use crate::interpose::notice;
use crate::interpose::scribe::{Ack, Done};
use crate::interpose::threads::FromThreads;
use crate::interpose::watch::Files;
use crate::link::message::FromWrapper;
use crate::link::server::FromConsoles;

impl Wrapper {
    pub(super) fn recorded(&mut self, done: Done) {
        let now = self.clock.now();
        let acks = self.scribe.done(now.mono, done);
        self.acknowledged(now, acks);
    }

    pub(super) fn acknowledged(&mut self, now: Now, acks: Vec<Ack>) {
        for ack in acks {
            match ack {
                Ack::Recorded(receipt) => self.step(now, Event::Recorded(receipt)),
                Ack::Failed { entry, why } => self.step(now, Event::RecordFailed { entry, why: why.into() }),
            }
        }
    }

    /// Takes what a thread or a task sends.
    pub(super) fn hear(&mut self, what: FromThreads) {
        let now = self.clock.now();
        match what {
            FromThreads::Event(event) => self.step(now, event),
            FromThreads::Looked { look, found } => {
                if let Some(facts) = self.facts.came(look, found) {
                    self.step(now, facts);
                }
            }
            FromThreads::Policy(policy) => {
                if let Some(banner) = &policy.banner {
                    notice::say(banner);
                }
                self.step(now, Event::PolicyChanged(Arc::from(policy)));
            }
            FromThreads::Refused { console, why } => self.refuse(console, String::new(), why),
            FromThreads::Watched(added) => self.watch.added(now.mono, added),
        }
    }

    /// Has the threads look at files that may have changed.
    pub(super) fn look_at_files(&mut self, now: Now) {
        if self.watch.is_due(now.mono, Files::Policy) && !self.reload.look() {
            self.watch.again(now.mono, Files::Policy);
        }
        if self.watch.is_due(now.mono, Files::Pins)
            && let Some(pin_writer) = &self.pin_writer
        {
            pin_writer.look();
        }
    }

    pub(super) fn refuse(&self, console: u64, ticket: String, why: String) {
        self.consoles.tell(console, &FromWrapper::Refused { ticket, why });
    }

    pub(super) fn console(&mut self, said: FromConsoles) {
        let now = self.clock.now();
        if let Some(event) = self.consoles.hear(said, &self.gate) {
            self.step(now, event);
        }
    }
}
