//! The host asks its user for us: which call it asks about next, and when the question is taken back. In the stateless era the
//! question is inside the answer to the call's own request. Decides nothing.

use crate::gate::config::Unattended;
use crate::gate::data::effect::Effect;
use crate::gate::held::context::Context;
use crate::gate::held::out::Out;
use crate::gate::held::table::Calls;
use crate::gate::held::{Asking, Held};
use crate::gate::state::{Forms, Host};
use crate::gate::waiting::come_back::end_request;
use crate::gate::waiting::given::ShownForm;
use crate::gate::waiting::{Waiting, question};
use crate::mcp::lifecycle;
use crate::wire::call::{Call, Origin};
use crate::wire::reply;

/// What the host's user is to be asked now.
#[derive(Debug, Default)]
pub(in crate::gate) struct NextForm {
    /// The call of the open question no longer waits for it.
    takes_back: bool,
    asks: Option<ShownForm>,
}

/// Whether the open question is to be cancelled, and what is asked next.
pub(in crate::gate) fn next(context: Context<'_>, waiting: &Waiting) -> NextForm {
    let mut next = NextForm::default();
    if waiting.limits.unattended != Unattended::Elicit || context.host.gone.is_some() {
        return next;
    }
    // Whether the call of a form still waits with the same card that the form shows.
    let is_asked = |form: &ShownForm| {
        context.calls.get::<Asking>(form.number).is_some_and(|(_, asking)| asking.entry == form.entry)
    };
    match &waiting.forms.open {
        Some(open) if is_asked(&open.form) => return next,
        Some(_) => next.takes_back = true,
        None => {}
    }
    let mut inside = waiting.returns.iter().filter_map(|(_, given)| given.form.as_ref());
    if context.out.attached == 0 && !inside.any(is_asked) {
        next.asks = context.calls.iter::<Asking>().find_map(|(held, asking)| {
            let is_open = !held.call.is_modern() || held.wait.may_end(&held.call);
            let text = (is_open && declares_forms(context.host, &held.call)).then(|| text(context, held, asking))??;
            Some(ShownForm { number: held.number, entry: asking.entry, text })
        });
    }
    next
}

pub(in crate::gate) fn ask(next: NextForm, waiting: &mut Waiting, calls: &mut Calls, out: &mut Out) {
    if next.takes_back
        && let Some(open) = waiting.forms.open.take()
    {
        out.push(Effect::WriteToHost(reply::cancel(&open.id)));
    }
    let Some(form) = next.asks else { return };
    match calls.get::<Asking>(form.number) {
        Some((held, _)) if held.call.is_modern() => end_request(waiting, calls, (form.number, Some(form)), out),
        Some((held, _)) => {
            let open = waiting.forms.ask(form);
            out.push(Effect::WriteToHost(reply::elicit(&open.id, &open.form.text, held.wait.task.as_deref())));
        }
        None => {}
    }
}

/// What the form of a call shows; `None` if it must not be approved in a form.
pub(in crate::gate) fn text(context: Context<'_>, held: &Held, asking: &Asking) -> Option<String> {
    let folder = context.rules.policy.roots.folder.as_deref();
    question::text(&context.config.server, &context.config.console, folder, held, &asking.case.judged)
}

/// Whether the host shows forms: it said so in its handshake, or in this very request.
fn declares_forms(host: &Host, call: &Call) -> bool {
    match call.is_modern() {
        true => call.meta_text().is_some_and(lifecycle::declares_forms),
        false => host.forms == Forms::Shows,
    }
}

/// Why a call waits for a console, where the host was to ask its user and cannot.
pub(in crate::gate) fn without_form(context: Context<'_>, call: &Call) -> Option<&'static str> {
    let is_wanted = context.config.unattended == Unattended::Elicit && call.origin() == Origin::Host;
    (is_wanted && !declares_forms(context.host, call))
        .then_some("it shows no forms, so `unattended = \"elicit\"` changes nothing: the call waits for a console")
}
