//! Has the host ask its user, where no console is open and the operator wants that (`--unattended elicit`). The answer goes the
//! way of every verdict; it approves only what the question showed.

use crate::audit::record::By;
use crate::gate::Gate;
use crate::gate::config::Unattended;
use crate::gate::data::effect::Effect;
use crate::gate::held::context::Context;
use crate::gate::held::next::Next;
use crate::gate::held::replies;
use crate::gate::held::{Asking, Held, Verdict, Withdrawal};
use crate::gate::state::{Forms, Host};
use crate::gate::waiting::question::{self, FormAnswer};
use crate::gate::waiting::returns::{Open, ShownForm};
use crate::mcp::lifecycle;
use crate::wire::call::{Call, Origin};
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::reply;

impl Gate {
    /// Cancels the open question if its call no longer waits, and asks the next one.
    pub(in crate::gate) fn elicit(&mut self) {
        if self.config.unattended != Unattended::Elicit || self.ends.host_gone.is_some() {
            return;
        }
        if let Some(open) = self.elicited.open() {
            if self.is_asked(&open.form) {
                return;
            }
            if let Some(open) = self.elicited.close() {
                self.out.push(Effect::WriteToHost(reply::cancel(&open.id)));
            }
        }
        if self.out.attached > 0 || self.returns.forms().any(|form| self.is_asked(form)) {
            return;
        }
        let ask = |(held, asking): (&Held, &Asking)| {
            let is_open = !held.call.is_modern() || held.round_trips.may_end(&held.call);
            let text = (is_open && declares_forms(&self.host, &held.call)).then(|| self.form(held, asking))??;
            Some((held.call.is_modern(), ShownForm { number: held.number, entry: asking.entry, text }))
        };
        let next = self.calls.iter::<Asking>().find_map(ask);
        match next {
            Some((true, form)) => self.end_round_trip(form.number, Some(form)),
            Some((false, form)) => {
                let held = self.calls.get::<Asking>(form.number);
                let task = held.and_then(|(held, _)| held.round_trips.task.clone());
                let Open { id, form } = self.elicited.ask(form);
                self.out.push(Effect::WriteToHost(reply::elicit(id, &form.text, task.as_deref())));
            }
            None => {}
        }
    }

    /// Whether the call of a form still waits with the same card that the form shows.
    fn is_asked(&self, form: &ShownForm) -> bool {
        self.calls.get::<Asking>(form.number).is_some_and(|(_, asking)| asking.entry == form.entry)
    }

    fn form(&self, held: &Held, asking: &Asking) -> Option<String> {
        let folder = self.rules.policy.roots.folder.as_deref();
        question::text(&self.config.server, &self.config.console, folder, held, &asking.case.judged)
    }

    /// The host answers a question of ours. No answer of that kind reaches the server, whenever it comes.
    pub(in crate::gate) fn on_elicited(&mut self, id: &Id, failed: bool, line: &Line) {
        let Some(Open { form, .. }) = self.elicited.answered(id) else {
            return self.record_ineffective_answer(None, "the question was answered or taken back before");
        };
        if failed {
            // The host declared forms, and failed. The call waits for a console, as it would without forms.
            self.host.forms = Forms::No;
            let why = "the host could not ask its user, and is not asked again in this session";
            return self.record_ineffective_answer(Some(&form), why);
        }
        self.on_form_answered(&form, question::answer(line.content()));
    }

    /// The host's user has answered a form.
    pub(in crate::gate) fn on_form_answered(&mut self, form: &ShownForm, answer: FormAnswer) {
        let is_same = |_: &Held, asking: &Asking| asking.entry == form.entry;
        let Some((held, asking)) = self.calls.take_if(form.number, is_same) else {
            // A no counts as long as the call has not run, whoever approved it before.
            if let FormAnswer::Deny(why) = answer {
                self.withdraw(form.number, Withdrawal::Declined(why));
            }
            return self.record_ineffective_answer(Some(form), "the call was decided, or judged again, before");
        };
        let rule = asking.case.judged.ruling.rule.clone();
        let host = self.host.words(&held.call).unwrap_or_else(|| "the host".to_owned());
        match answer {
            FormAnswer::Deny(why) | FormAnswer::Dismiss(why) => {
                let verdict = Verdict::by(By::Elicitation, rule, format!("{host} asked its user, and {why}"));
                let reply = replies::denied_by_elicitation(&held.call, &self.config.console, why);
                self.drive(Next::deny(held, Some(asking.case.judged), verdict, reply));
            }
            FormAnswer::Approve if self.form(&held, &asking).as_ref() != Some(&form.text) => {
                self.calls.put(held, asking);
                self.record_ineffective_answer(Some(form), "the call is not as the question showed it any more");
            }
            FormAnswer::Approve => {
                let verdict = Verdict::by(By::Elicitation, rule, format!("{host} asked its user, who approved it"));
                if let Err(why) = self.approve_as_shown(held, asking.case, (verdict, false, None)) {
                    self.record_ineffective_answer(Some(form), &why);
                }
            }
        }
    }

    /// Records that an answer of the host's decided nothing.
    pub(in crate::gate) fn record_ineffective_answer(&mut self, form: Option<&ShownForm>, why: &str) {
        let mut entry = self.out.fault("an answer of the host to a question of mcp-approve had no effect", None);
        entry.ticket = form.map(|form| self.ticket(form.number).into());
        self.out.record(entry.with("reason", why));
    }
}

/// Whether the host shows forms: it said so in its handshake, or in this very request.
fn declares_forms(host: &Host, call: &Call) -> bool {
    match call.is_modern() {
        true => call.meta_text().is_some_and(lifecycle::declares_forms),
        false => host.forms == Forms::Shows,
    }
}

/// Why a call waits for a console, where the host was to ask its user and cannot.
pub(super) fn without_form(context: Context<'_>, call: &Call) -> Option<&'static str> {
    let is_wanted = context.config.unattended == Unattended::Elicit && call.origin() == Origin::Host;
    (is_wanted && !declares_forms(context.host, call))
        .then_some("it shows no forms, so `unattended = \"elicit\"` changes nothing: the call waits for a console")
}
