//! `r` on a record: the call of it is looked up, and becomes a rule for the calls to come. It decides nothing that waits.

use super::{Command, note};
use crate::console::found::Task;
use crate::console::maker;
use crate::console::model::rule::Origin;
use crate::console::model::{Model, Screen};
use crate::console::row::Tone;
use crate::policy::past::PastCall;
use crate::policy::under::Roots;

/// `r` on the Log: asks for the call of the selected record.
pub(super) fn ask(model: &mut Model) {
    let line = model.browse.window.lines.get(model.browse.log.at);
    match line.filter(|line| line.ticket.is_some() && line.tool.is_some()).map(|line| line.seq) {
        Some(seq) => {
            model.browse.rule_from = Some(seq);
            model.todo.push(Command::Look(Task::PastCall { seq }));
        }
        None => note(
            model,
            Tone::Ours,
            "A rule is made from a call, and this record is not about one. /kind:decision lists them.",
        ),
    }
}

/// The call came: the rules it could become.
pub(super) fn found(model: &mut Model, seq: u64, call: Result<Box<PastCall>, String>) {
    // Who has gone on meanwhile is not called back.
    let here = model.screen == Screen::Log && model.overlay.is_none();
    if model.browse.rule_from.take_if(|wanted| *wanted == seq).is_none() || !here {
        return;
    }
    let roots = Roots { home: model.settings.home.clone(), ..Roots::default() };
    let made = call.and_then(|call| Ok((maker::of_past(&call, &super::live(model), &roots, model.now)?, call)));
    match made {
        Ok((choices, call)) => {
            let PastCall { ticket, server, tool, .. } = *call;
            super::rule::show(model, Origin::Past { ticket }, (server, tool, roots), Vec::new(), choices, None)
        }
        Err(why) => super::rule::none(model, &why),
    }
}
