//! A held call is withdrawn: at once, and before any approval that comes later.

use crate::audit::record::{By, VerdictWord};
use crate::gate::Gate;
use crate::gate::call::held::{Deciding, Held, Stage, Withdrawal, Withdrawn};
use crate::gate::call::judged::Judged;
use crate::gate::call::next::Stopped;
use crate::gate::call::{entries, replies};
use crate::wire::call::{Call, Origin};

impl Gate {
    /// Withdraws a held call. One that is decided already ends once the log has that decision.
    pub(in crate::gate) fn withdraw(&mut self, number: u64, why: Withdrawal) {
        match self.calls.take::<Stage>(number) {
            None => {}
            Some((
                held,
                Stage::Deciding(Deciding { decision, entry }) | Stage::Withdrawn(Withdrawn { decision, entry, .. }),
            )) => self.calls.put(held, Withdrawn { decision, entry, why }),
            Some((held, stage)) => self.end_withdrawn(&held, stage.judged().as_deref(), why),
        }
    }

    /// Records the withdrawal, tells the consoles, and answers the host where an answer is due.
    pub(in crate::gate) fn end_withdrawn(&mut self, held: &Held, judged: Option<&Judged>, why: Withdrawal) {
        let (by, reason, reply) = match why {
            Withdrawal::Cancelled => (By::Cancel, cancelled(&held.call), None),
            Withdrawal::HostGone => (By::Shutdown, "the host is gone", None),
            Withdrawal::ServerGone => {
                let how = self.ends.server.reason().unwrap_or("it ended");
                (By::Fault, "the server is gone", Some(replies::server_gone(&held.call, how)))
            }
            Withdrawal::NoReturn => (By::Expiry, "the host did not come back for it", None),
            Withdrawal::OtherReturn => (By::Fault, "the host came back with another call", None),
            Withdrawal::TaskOver => (By::Expiry, "the time of its task is over", None),
            Withdrawal::Revoked => {
                let why = "the policy or a grant no longer allows it unasked";
                (By::Fault, why, Some(replies::changed(&held.call, why)))
            }
            Withdrawal::Declined(why) => {
                let reply = replies::denied_by_elicitation(&held.call, &self.config.console, why);
                (By::Elicitation, why, Some(reply))
            }
            Withdrawal::Stopping => (By::Shutdown, "the wrapper stops", Some(replies::stopping(&held.call))),
        };
        self.host.history.note(&held.call, &held.ticket, by, None, self.out.now.wall);
        self.out.record(entries::withdrawn(&self.out, held, judged, by, reason));
        self.out.settle(held, None, by, reason.to_owned());
        if let (None, Some(task)) = (&reply, &held.round_trips.task) {
            self.cancel_task(task, replies::cancelled_task(held.call.id()));
        }
        match (reply, &held.round_trips.away) {
            (Some(reply), _) => self.answer(held, reply),
            (None, Some(state)) => drop(self.returns.take(state)),
            (None, None) => {}
        }
    }

    /// The approval is in the log, and still the call does not run.
    pub(in crate::gate) fn stop(&mut self, held: &Held, stopped: Stopped) {
        let Stopped { judged, by, why, reply } = stopped;
        self.host.history.note(&held.call, &held.ticket, by, None, self.out.now.wall);
        self.out.record(entries::withdrawn(&self.out, held, Some(&judged), by, &why));
        self.out.status.denied += 1;
        self.out.settle(held, Some(VerdictWord::Deny), by, format!("{why}, so it did not run"));
        self.answer(held, reply);
    }
}

fn cancelled(call: &Call) -> &'static str {
    match call.origin() {
        Origin::Host | Origin::Answer => "the host cancelled the call",
        Origin::Server => "the server cancelled its request",
    }
}
