//! What happens when the host, the server or the wrapper ends: what waits is withdrawn, what runs is accounted for.

use crate::audit::record::{Kind, Outcome};
use crate::gate::Gate;
use crate::gate::call::held::{Approved, Asking, Held, Stage, Withdrawal};
use crate::gate::call::log::Log;
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Side;
use crate::gate::deadline::GRACE;
use crate::gate::state::{ServerEnd, WrapperEnd};

impl Gate {
    /// The host is gone: what waits for the operator is withdrawn. Earlier decisions still count, and the policy still
    /// decides on calls that need no operator: a script may close the pipe right after its last line.
    pub(in crate::gate) fn on_host_closed(&mut self) {
        self.ends.host_gone = Some(self.out.now.mono);
        for number in self.calls.waiting::<Asking>() {
            self.withdraw(number, Withdrawal::HostGone);
        }
        for number in self.calls.waiting::<Approved>() {
            // Its host cannot come back for it.
            let is_gone =
                |(held, _): (&Held, &Approved)| held.round_trips.away.is_some() || held.round_trips.task.is_some();
            if self.calls.get::<Approved>(number).is_some_and(is_gone) {
                self.withdraw(number, Withdrawal::HostGone);
            }
        }
        self.out.wake_by(self.out.now.mono + GRACE);
        self.close_server_when_done();
    }

    /// The host has been gone for long enough: what still waits for a description or the log is withdrawn.
    pub(in crate::gate) fn host_long_gone(&mut self) {
        for number in self.calls.numbers(|stage| !matches!(stage, Stage::Withdrawn(_))) {
            self.withdraw(number, Withdrawal::HostGone);
        }
        self.out.push(Effect::Close(Side::Server));
    }

    /// Closes the server's pipe once nothing is on its way to it any more.
    pub(in crate::gate) fn close_server_when_done(&mut self) {
        if self.ends.host_gone.is_some() && self.is_quiet() {
            self.out.push(Effect::Close(Side::Server));
        }
    }

    /// The wrapper stops: what waits is withdrawn and answered while the host's pipe lives.
    pub(in crate::gate) fn on_shutdown(&mut self, why: &str) {
        self.ends.wrapper = WrapperEnd::Stops { why: why.to_owned() };
        for number in self.calls.waiting::<Stage>() {
            self.withdraw(number, Withdrawal::Stopping);
        }
        self.out.push(Effect::Close(Side::Server));
    }

    /// The server reads nothing more: what waits did not run, and nothing more will. What it still writes is relayed.
    pub(in crate::gate) fn on_server_input_closed(&mut self, how: String) {
        if let ServerEnd::Open = self.ends.server {
            self.ends.server = ServerEnd::InputClosed { how };
            self.host.lifecycle.close();
            for number in self.calls.waiting::<Stage>() {
                self.withdraw(number, Withdrawal::ServerGone);
            }
        }
    }

    /// The server is gone: what waits did not run, what ran has an unknown outcome.
    pub(in crate::gate) fn on_server_closed(&mut self, how: &str) {
        self.on_server_input_closed(how.to_owned());
        // The reason that counts is why nothing more was written to the server, which comes before its end.
        let reason = match std::mem::take(&mut self.ends.server) {
            ServerEnd::Open => how.to_owned(),
            ServerEnd::InputClosed { how: reason } => reason,
            ended @ ServerEnd::Ended { .. } => {
                self.ends.server = ended;
                return;
            }
        };
        self.ends.server = ServerEnd::Ended { how: reason.clone() };
        // A page of tools that the host does not have yet is still due to it.
        while !self.config.scope.is_whole() && self.catalog.has_unparsed_lists() {
            self.parse_lists();
        }
        for (id, flight) in self.flights.drain() {
            let entry =
                self.outcome_entry(&flight, Outcome::Unknown).with("reason", format!("the server ended: {how}"));
            self.out.record(entry);
            self.answer_flight(&flight, replies::outcome_unknown(&id, &flight, how));
        }
        let runs = self.log.refusals.all();
        Log::record_refused_runs(&mut self.out, runs);
        self.log.record_passed(&mut self.out);
        let mut entry = self.out.entry(Kind::ServerEnd).with("how", how);
        // Why we ended the server, if it did not end by itself.
        if let WrapperEnd::Stops { why } = &self.ends.wrapper {
            entry = entry.with("reason", format!("mcp-approve was stopped by {why}"));
        } else if reason != how {
            entry = entry.with("reason", reason);
        }
        self.out.record(entry);
        self.out.push(Effect::Close(Side::Host));
    }
}
