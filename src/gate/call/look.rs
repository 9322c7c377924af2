//! Looks at what a call would touch: before it is judged or asked, when it is approved, and once more before it runs.

use crate::audit::record::By;
use crate::behavior::arguments::base::{self, Bases};
use crate::gate::call::held::{Approval, Approving, Asking, Case, Forwarding, Held, Looking};
use crate::gate::call::judged::Judged;
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::OperatorWord;
use crate::gate::data::facts::{Facts, Findings, Look};
use crate::gate::{Gate, Mode};

impl Gate {
    /// What must be looked at before the ruling counts, or before the call is shown: `None` where all of it was.
    pub(in crate::gate) fn look_needed(&self, held: &Held, judged: &Judged) -> Option<Look> {
        let seen = &held.seen.look;
        if seen.covers(&judged.wanted) {
            return None;
        }
        let mut wanted = judged.wanted.clone();
        if !judged.awaits_look && (self.config.mode == Mode::Observe || self.denies_unattended()) {
            // No card will show the files, and no grant depends on them.
            wanted.files.clear();
        }
        (!seen.covers(&wanted)).then_some(wanted)
    }

    /// Has the shell look at what a call would touch, so that it can be judged.
    pub(in crate::gate) fn look_to_judge(&mut self, mut held: Held, case: Case, wanted: Look) {
        held.seen.look = wanted;
        let look = self.look(&held);
        self.calls.put(held, Looking { case, look });
    }

    /// Asks the shell for a look, and gives its number.
    pub(in crate::gate) fn look(&mut self, held: &Held) -> u64 {
        let look = self.calls.next_question();
        self.out.push(Effect::LookUp { ticket: held.ticket.to_string(), look, wanted: held.seen.look.clone() });
        self.out.wake_for(held);
        look
    }

    /// What the shell has found. An answer that nothing waits for any more is dropped.
    pub(in crate::gate) fn on_facts(&mut self, ticket: &str, look: u64, found: Findings) {
        let Some(number) = self.calls.by_ticket(ticket) else {
            return;
        };
        if let Some((mut held, waits)) = self.calls.take_if(number, |_, waits: &Looking| waits.look == look) {
            held.seen.found = Some(all_of(&held, found));
            self.judge_again(held, waits.case);
        } else if let Some((held, waits)) = self.calls.take_if(number, |_, waits: &Asking| waits.look == Some(look)) {
            let found = all_of(&held, found);
            self.refresh(held, waits, found);
        } else if let Some((held, waits)) = self.calls.take_if(number, |_, waits: &Approving| waits.look == look) {
            let found = all_of(&held, found);
            self.approve_if_unchanged(held, waits.approval, found);
        } else if let Some((held, waits)) = self.calls.take_if(number, |_, waits: &Forwarding| waits.look == look) {
            let found = all_of(&held, found);
            match difference(&held, &found) {
                None => self.forward(held, waits.approval, &waits.receipt),
                Some(what) => {
                    let reply = replies::changed(&held.call, what);
                    let why = format!("{what} after it was approved");
                    self.stop((&held, &waits.approval.case.judged), (By::Fault, &why), reply);
                }
            }
            self.close_server_when_done();
        }
    }

    /// The operator has approved what was shown: that counts if nothing has changed; otherwise the card is shown again.
    fn approve_if_unchanged(&mut self, mut held: Held, approval: Approval, found: Findings) {
        let Approval { case, verdict, unread, grant } = approval;
        let (ticket, digest) = (held.ticket.to_string(), held.call.digest());
        let why = match difference(&held, &found) {
            None => match self.if_still_described(held, case) {
                Ok((held, case)) => return self.approve(held, Approval { case, verdict, unread, grant }),
                Err(why) => why,
            },
            Some(what) => {
                held.seen.found = Some(found);
                held.asked_again = Some(what);
                self.judge_again(held, case);
                format!("{what} since the card was shown; look again")
            }
        };
        if let Some(operator) = verdict.operator {
            self.report_ineffective_verdict(&OperatorWord { ticket, digest, operator }, "approve", &why);
        }
    }
}

/// What was found at paths that are surely meant, and how many paths were not looked at.
fn all_of(held: &Held, mut found: Findings) -> Findings {
    forget_relative(held.call.arguments_text(), &mut found.files);
    found.files.extend(held.seen.look.beyond());
    found
}

/// Drops what was found at relative paths if the server may resolve them from another folder than we did.
fn forget_relative(arguments: &str, files: &mut [Facts]) {
    let is_relative = |one: &Facts| !one.is_beyond() && base::is_relative(&one.path);
    if !files.iter().any(is_relative) {
        return;
    }
    let bases = Bases::of(&serde_json::from_str(arguments).unwrap_or_default());
    for one in files.iter_mut().filter(|one| is_relative(one)) {
        if !bases.leave(&one.argument) {
            *one = Facts::unseen(&one.argument, &one.path, base::CHOSEN);
        }
    }
}

fn difference(held: &Held, found: &Findings) -> Option<&'static str> {
    held.seen.found.as_ref().and_then(|before| before.difference(found))
}
