//! The approval is in the log: a token is made from its receipt, and the original bytes go to the server.

use crate::audit::record::{By, Receipt, VerdictWord};
use crate::gate::Gate;
use crate::gate::call::held::{Approval, AskRecord, Case, Held};
use crate::gate::call::judged::Judged;
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::token::GuardrailToken;
use crate::gate::server::flight::{Flight, Wanted};
use crate::gate::state::tasks::Progress;
use crate::wire::call::Origin;
use crate::wire::id::Id;
use crate::wire::line::Line;

impl Gate {
    /// Forwards an approved call, with all that proves it.
    pub(in crate::gate) fn forward(&mut self, held: Held, approval: Approval, receipt: &Receipt) {
        let Approval { case: Case { session, scope, judged }, verdict, grant, .. } = approval;
        let minted = GuardrailToken::mint(&self.config.session, &held.call, &scope, &session, receipt);
        let token = match minted {
            Ok(token) => token,
            Err(unproven) => {
                let reply = replies::not_proven(&held.call, &unproven);
                return self.stop((&held, &judged), (By::Fault, &unproven.to_string()), reply);
            }
        };
        // A retry that continues an operator's approval is `By::Operator` too, but the operator was not asked again.
        let by_person = verdict.operator.is_some() || verdict.by == By::Elicitation;
        if by_person {
            self.out.status.approved_by_operator += 1;
        } else {
            self.out.status.approved_by_policy += 1;
        }
        if let (Some(terms), Some(operator)) = (&grant, &verdict.operator) {
            self.record_grant(&held, &judged, operator, terms);
        }
        if by_person {
            self.out.record(self.forward_entry(&held, &judged, receipt.entry()));
        }
        // A rule or a grant that came while the call waited may have decided it; the consoles still show it.
        if by_person || held.asked != AskRecord::NotAsked {
            self.out.settle(&held, Some(VerdictWord::Approve), verdict.by, verdict.who());
        }
        self.out.show_decision(&held, VerdictWord::Approve, &verdict, Some(&judged));
        let progress_token = held.call.meta().progress_token.as_deref().and_then(Id::from_token);
        let heartbeats = held.heartbeat.filter(|beat| beat.sent > 0).map(|beat| beat.progress());
        let is_renamed = !held.round_trips.later.is_empty() || held.round_trips.task.is_some();
        let reported = progress_token.zip(heartbeats.or(is_renamed.then_some(0.0)));
        let call = held.call;
        match call.origin() {
            Origin::Host => {}
            Origin::Server => return self.out.push(Effect::Forward(token, call)),
            Origin::Answer => {
                // From here on the host can answer what is asked, under the approval of its call.
                self.flights.resume(self.out.now, call.id());
                return self.out.push(Effect::Forward(token, call));
            }
        }
        if let Some(task) = &held.round_trips.task {
            self.tasks.advance(task, Progress::Runs(call.id().clone()), self.out.now.wall);
        }
        let flight = Flight {
            ticket: held.ticket,
            method: call.method().map(str::to_owned),
            tool: call.shared_name(),
            target: judged.target,
            digest: call.digest(),
            forwarded: self.out.now,
            badge: judged.behavior.badge(),
            identity: judged.behavior.identity,
            described: judged.described,
            modern: call.is_modern(),
            wanted: Wanted::Yes,
            by: verdict.by,
            rule: verdict.rule,
            repeated: (call.is_modern() && held.round_trips.task.is_none()).then(|| call.repeated()),
            later: held.round_trips.later,
            reported,
            task: held.round_trips.task,
        };
        self.flights.insert(call.id().clone(), flight);
        self.out.push(Effect::Forward(token, call));
        if grant.is_some() {
            self.rejudge();
        }
    }

    /// The approval is in the log, and still the call does not run.
    pub(in crate::gate) fn stop(&mut self, (held, judged): (&Held, &Judged), (by, why): (By, &str), reply: Line) {
        self.host.history.note(&held.call, &held.ticket, by, None, self.out.now.wall);
        self.out.record(self.withdrawn_entry(held, Some(judged), by, why));
        self.out.status.denied += 1;
        self.out.settle(held, Some(VerdictWord::Deny), by, format!("{why}, so it did not run"));
        self.answer(held, reply);
    }
}
