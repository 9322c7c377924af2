//! Endings: a call is withdrawn, an end of the pipe is gone, the wrapper stops. Every call ends exactly once.

use crate::audit::record::{By, Kind};
use crate::gate::Gate;
use crate::gate::call::deadline::GRACE;
use crate::gate::call::held::{Held, Stage, Withdrawal};
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::{Now, Side};
use crate::gate::data::report::Settled;

impl Gate {
    /// Withdraws a held call: at once, and before any approval that comes later.
    pub(in crate::gate) fn withdraw(&mut self, now: Now, number: u64, why: Withdrawal, out: &mut Vec<Effect>) {
        let Some(held) = self.held.get_mut(number) else {
            return;
        };
        match std::mem::replace(&mut held.stage, Stage::Describing) {
            Stage::Deciding { entry, verdict } | Stage::Withdrawn { entry, verdict, .. } => {
                held.stage = Stage::Withdrawn { entry, verdict, why };
            }
            stage @ (Stage::Opening
            | Stage::Describing
            | Stage::Looking { .. }
            | Stage::Consulting { .. }
            | Stage::Asking { .. }) => {
                held.stage = stage;
                if let Some(held) = self.held.remove(number) {
                    self.end_withdrawn(now, &held, why, out);
                }
            }
        }
    }

    /// Records the withdrawal, tells the consoles, and answers the host where an answer is due.
    pub(in crate::gate) fn end_withdrawn(&mut self, now: Now, held: &Held, why: Withdrawal, out: &mut Vec<Effect>) {
        let (by, reason, reply) = match why {
            Withdrawal::Cancelled => (By::Cancel, "the host cancelled the call", None),
            Withdrawal::HostGone => (By::Shutdown, "the host is gone", None),
            Withdrawal::ServerGone => {
                let how = self.server_gone.as_deref().unwrap_or("it ended");
                (By::Fault, "the server is gone", Some(replies::server_gone(&held.call, how)))
            }
            Withdrawal::Stopping => (By::Shutdown, "the wrapper stops", Some(replies::stopping(&held.call))),
        };
        let entry = self.withdrawn_entry(now, held, by, reason);
        self.record(entry, out);
        out.push(Effect::Settle(Settled {
            ticket: held.ticket.to_string(),
            time: now.wall,
            verdict: None,
            by,
            who: reason.into(),
        }));
        if let Some(reply) = reply {
            out.push(Effect::Answer(reply));
        }
    }

    /// The host is gone: what waits for the operator is withdrawn. What was decided before stands, and what the policy
    /// alone decides still is: the host had sent it, as a script does that closes the pipe after its last line.
    pub(in crate::gate) fn on_host_closed(&mut self, now: Now, out: &mut Vec<Effect>) {
        self.host_gone = Some(now.mono);
        for number in self.held.numbers(|held| matches!(held.stage, Stage::Asking { .. })) {
            self.withdraw(now, number, Withdrawal::HostGone, out);
        }
        self.wake_by(now.mono + GRACE, out);
        self.close_server_when_done(out);
    }

    /// The host has been gone for long enough: what still waits for a description or the log is withdrawn.
    pub(in crate::gate) fn host_long_gone(&mut self, now: Now, out: &mut Vec<Effect>) {
        for number in self.held.numbers(|held| !matches!(held.stage, Stage::Withdrawn { .. })) {
            self.withdraw(now, number, Withdrawal::HostGone, out);
        }
        out.push(Effect::Close(Side::Server));
    }

    /// Lets the server go once nothing is on its way to it any more.
    pub(in crate::gate) fn close_server_when_done(&self, out: &mut Vec<Effect>) {
        if self.host_gone.is_some() && self.is_quiet() {
            out.push(Effect::Close(Side::Server));
        }
    }

    /// The wrapper stops: what waits is withdrawn and answered while the host's pipe lives.
    pub(in crate::gate) fn on_shutdown(&mut self, now: Now, why: &str, out: &mut Vec<Effect>) {
        let entry = self.entry(now, Kind::Fault).with("what", "the wrapper was told to stop").with("reason", why);
        self.record(entry, out);
        self.stopping = true;
        for number in self.held.numbers(|_| true) {
            self.withdraw(now, number, Withdrawal::Stopping, out);
        }
        out.push(Effect::Close(Side::Server));
    }

    /// The server takes nothing more: what waits did not run, and nothing more will. What it still says is heard.
    pub(in crate::gate) fn on_deaf(&mut self, now: Now, how: String, out: &mut Vec<Effect>) {
        if self.server_gone.is_some() {
            return;
        }
        self.server_gone = Some(how);
        self.lifecycle.close();
        for number in self.held.numbers(|_| true) {
            self.withdraw(now, number, Withdrawal::ServerGone, out);
        }
    }

    /// The server is gone: what waits did not run, what ran has an unknown outcome.
    pub(in crate::gate) fn on_server_closed(&mut self, now: Now, how: String, out: &mut Vec<Effect>) {
        if self.server_ended {
            return;
        }
        self.on_deaf(now, how.clone(), out);
        self.server_ended = true;
        for (id, flight) in self.flights.drain() {
            let entry = self.outcome_entry(now, &flight, "unknown").with("reason", format!("the server ended: {how}"));
            self.record(entry, out);
            out.push(Effect::Answer(replies::outcome_unknown(&id, flight.modern, &how)));
        }
        let runs = self.refusals.all();
        self.record_refused_runs(now, runs, out);
        // Why it was brought to its end, where it did not end by itself.
        let reason = self.server_gone.clone().filter(|reason| *reason != how);
        let mut entry = self.entry(now, Kind::ServerEnd).with("how", how);
        if let Some(reason) = reason {
            entry = entry.with("reason", reason);
        }
        self.record(entry, out);
        out.push(Effect::Close(Side::Host));
    }
}
