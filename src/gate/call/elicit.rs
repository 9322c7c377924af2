//! Has the host ask its user, where no console is open and the operator wants that (`--unattended elicit`). The answer goes the
//! way of every verdict; it approves only what the question showed.

use crate::audit::record::{By, Kind};
use crate::gate::Gate;
use crate::gate::Unattended;
use crate::gate::call::held::{Approval, Approving, Asking, Held, Verdict};
use crate::gate::call::question::{self, FormAnswer};
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Now;
use crate::gate::state::Forms;
use crate::gate::state::elicited::Open;
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::reply;

impl Gate {
    /// Takes a question back whose call waits no longer, and puts the next one.
    pub(in crate::gate) fn elicit(&mut self, out: &mut Vec<Effect>) {
        if self.config.unattended != Unattended::Elicit || self.ends.host_gone.is_some() {
            return;
        }
        if let Some(open) = self.elicited.open() {
            let asked = self.calls.get::<Asking>(open.number);
            if asked.is_some_and(|(_, asking)| asking.entry == open.entry) {
                return;
            }
            if let Some(open) = self.elicited.close() {
                out.push(Effect::Answer(reply::cancel(&open.id)));
            }
        }
        if self.consoles.attached > 0 || self.host.forms == Forms::No {
            return;
        }
        let ask = |(held, asking): (&Held, &Asking)| {
            Some((held.number, asking.entry, self.form(held, asking)?, held.round_trips.task.clone()))
        };
        if let Some((number, entry, text, task)) = self.calls.iter::<Asking>().find_map(ask) {
            let message = text.clone();
            let id = self.elicited.ask(number, entry, text);
            out.push(Effect::Answer(reply::elicit(id, &message, task.as_deref())));
        }
    }

    fn form(&self, held: &Held, asking: &Asking) -> Option<String> {
        question::text(&self.config.server, &self.config.console, held, &asking.case.judged)
    }

    /// The host answers a question of ours. No answer of that kind reaches the server, whenever it comes.
    pub(in crate::gate) fn on_elicited(&mut self, now: Now, id: &Id, failed: bool, line: &Line, out: &mut Vec<Effect>) {
        let Some(open) = self.elicited.answered(id) else {
            return self.elicited_in_vain(now, None, "the question was answered or taken back before", out);
        };
        if failed {
            // It said that it could. The call waits for a console as it would have.
            self.host.forms = Forms::No;
            let why = "the host could not ask its user, and is not asked again in this session";
            return self.elicited_in_vain(now, Some(&open), why, out);
        }
        let is_same = |_: &Held, asking: &Asking| asking.entry == open.entry;
        let Some((held, asking)) = self.calls.take_if(open.number, is_same) else {
            return self.elicited_in_vain(now, Some(&open), "the call no longer waits", out);
        };
        let rule = asking.case.judged.ruling.rule.clone();
        let host = self
            .host_of(&held.call)
            .map_or_else(|| "the host".to_owned(), |(name, version)| format!("{name} {version}"));
        match question::answer(line.content()) {
            FormAnswer::Deny(why) => {
                let verdict = Verdict::by(By::Elicitation, rule, format!("{host} asked its user, and {why}"));
                let reply = replies::denied_by_elicitation(&held.call, &self.config.console, why);
                self.deny(now, held, Some(asking.case.judged), verdict, reply, out);
            }
            FormAnswer::Approve if self.form(&held, &asking).as_ref() != Some(&open.text) => {
                self.calls.put(held, asking);
                self.elicited_in_vain(now, Some(&open), "the call is not as the question showed it any more", out);
            }
            FormAnswer::Approve => {
                let verdict = Verdict::by(By::Elicitation, rule, format!("{host} asked its user, who approved it"));
                let (held, case) = match self.if_still_described(now, held, asking.case, out) {
                    Ok(as_shown) => as_shown,
                    Err(why) => return self.elicited_in_vain(now, Some(&open), &why, out),
                };
                let approval = Approval { case, verdict, unread: false, grant: None };
                if held.looks_again() {
                    let look = self.look(&held, out);
                    return self.calls.put(held, Approving { approval, look });
                }
                self.approve(now, held, approval, out);
            }
        }
    }

    /// Records that an answer of the host's decided nothing.
    pub(in crate::gate) fn elicited_in_vain(
        &mut self,
        now: Now,
        open: Option<&Open>,
        why: &str,
        out: &mut Vec<Effect>,
    ) {
        let mut entry = self.entry(now, Kind::Fault);
        entry.ticket = open.map(|open| self.ticket(open.number));
        let what = "an answer of the host to a question of mcp-approve had no effect";
        self.record(entry.with("what", what).with("reason", why), out);
    }
}
