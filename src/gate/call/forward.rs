//! The approval is in the log: a token is made of its receipt, and the original bytes go to the server.

use crate::audit::record::{By, Receipt, VerdictWord};
use crate::gate::Gate;
use crate::gate::call::decide::settle;
use crate::gate::call::held::{Approval, AskRecord, Case, Held};
use crate::gate::call::judged::Judged;
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Now;
use crate::gate::data::report::Settled;
use crate::gate::data::token::GuardrailToken;
use crate::gate::server::flight::{Flight, Wanted};
use crate::gate::state::tasks::Progress;
use crate::wire::call::Origin;
use crate::wire::id::Id;
use crate::wire::line::Line;

impl Gate {
    /// Forwards an approved call, with all that proves it.
    pub(in crate::gate) fn forward(
        &mut self,
        now: Now,
        held: Held,
        approval: Approval,
        receipt: &Receipt,
        out: &mut Vec<Effect>,
    ) {
        let Approval { case: Case { session, scope, judged }, verdict, grant, .. } = approval;
        let minted = GuardrailToken::mint(&self.config.session, &held.call, &scope, &session, receipt);
        let token = match minted {
            Ok(token) => token,
            Err(unproven) => {
                let reply = replies::not_proven(&held.call, &unproven);
                return self.stop(now, (&held, &judged), (By::Fault, &unproven.to_string()), reply, out);
            }
        };
        // A continued call is by the operator too, but the operator was not asked again.
        let by_person = verdict.operator.is_some() || verdict.by == By::Elicitation;
        if by_person {
            self.consoles.status.approved_by_operator += 1;
        } else {
            self.consoles.status.approved_by_policy += 1;
        }
        if let (Some(terms), Some(operator)) = (&grant, &verdict.operator) {
            self.record_grant(now, &held, &judged, operator, terms, out);
        }
        if by_person {
            let entry = self.forward_entry(now, &held, &judged, receipt.entry());
            self.record(entry, out);
        }
        // A rule or a grant that came while it waited decides it without an operator's word; the consoles still show it.
        if by_person || held.asked != AskRecord::NotAsked {
            settle(now, &held, VerdictWord::Approve, &verdict, out);
        }
        self.show_decision(now, &held, VerdictWord::Approve, &verdict, Some(&judged), out);
        let told = held.call.meta().progress_token.as_deref().and_then(Id::from_token);
        let told = told.zip(
            held.beat
                .filter(|beat| beat.sent > 0)
                .map(|beat| beat.progress())
                .or((!held.round_trips.later.is_empty() || held.round_trips.task.is_some()).then_some(0.0)),
        );
        let call = held.call;
        match call.origin() {
            Origin::Host => {}
            Origin::Server => return out.push(Effect::Forward(token, call)),
            Origin::Answer => {
                // From here on the host can answer what is asked, under the approval of its call.
                self.flights.resume(now, call.id());
                return out.push(Effect::Forward(token, call));
            }
        }
        if let Some(task) = &held.round_trips.task {
            self.tasks.advance(task, Progress::Runs(call.id().clone()), now.wall);
        }
        let flight = Flight {
            ticket: held.ticket,
            method: call.method().map(str::to_owned),
            tool: call.name().to_owned(),
            target: judged.target,
            digest: call.digest(),
            forwarded: now,
            badge: judged.behavior.badge(),
            identity: judged.behavior.identity.hash(),
            described: judged.described,
            modern: call.is_modern(),
            wanted: Wanted::Yes,
            by: verdict.by,
            rule: verdict.rule,
            repeated: (call.is_modern() && held.round_trips.task.is_none()).then(|| call.repeated()),
            later: held.round_trips.later,
            told,
            task: held.round_trips.task,
        };
        self.flights.insert(call.id().clone(), flight);
        out.push(Effect::Forward(token, call));
        if grant.is_some() {
            self.rejudge(now, out);
        }
    }

    /// The approval is in the log, and still the call does not run.
    pub(in crate::gate) fn stop(
        &mut self,
        now: Now,
        (held, judged): (&Held, &Judged),
        (by, why): (By, &str),
        reply: Line,
        out: &mut Vec<Effect>,
    ) {
        self.host.history.note(&held.call, &held.ticket, by, None, now.wall);
        let entry = self.withdrawn_entry(now, held, Some(judged), by, why);
        self.record(entry, out);
        self.consoles.status.denied += 1;
        out.push(Effect::Settle(Settled {
            ticket: held.ticket.to_string(),
            time: now.wall,
            verdict: Some(VerdictWord::Deny),
            by,
            who: format!("{why}, so it did not run"),
        }));
        self.answer(now, held, reply, out);
    }
}
