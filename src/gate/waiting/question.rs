//! The host asks its user for us: which call it asks about next, when the question is taken back, what the form says in visible
//! characters only, and what its answer says. In the stateless era it is inside the answer to the call's request. Owns no state.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::behavior::Badge;
use crate::behavior::arguments::path::{self, Leads, LeftOut};
use crate::gate::config::Unattended;
use crate::gate::held::{Asking, Held, Judged, context::Context, out::Out};
use crate::gate::state::{Forms, Host};
use crate::gate::waiting::{Waiting, given::ShownForm};
use crate::mcp::lifecycle;
use crate::wire::{Call, Origin, reply};

/// How long the arguments of a call may be to fit into a form, in characters.
const ARGUMENTS: usize = 1_000;
/// The same for its effect, its target and each name.
const EFFECT: usize = 300;
/// A run of spaces that could move the text after it out of sight in a host's form.
const GAP: &str = "                ";

/// What the form says; `None` if the call must not be approved in a form: a dangerous one, one with a hazard, one that
/// changes something and may name a place elsewhere than below the server's folder, one that a person has edited, one
/// that brings more than its arguments, or one that does not fit.
pub(in crate::gate) fn text(context: Context<'_>, held: &Held, judged: &Judged) -> Option<String> {
    let (call, folder) = (&held.call, context.rules.policy.roots.folder.as_deref());
    let is_plain = call.method().is_none() && call.origin() == Origin::Host;
    let is_plain = is_plain && call.request_state_text().is_none() && call.input_responses_text().is_none();
    let is_harmless = judged.described.is_some() && judged.danger.is_none() && judged.behavior.hazards.is_empty();
    let is_harmless = is_harmless && (judged.behavior.badge() == Badge::Pure || is_near(call.arguments_text(), folder));
    if !is_plain || !is_harmless || held.original.is_some() {
        return None;
    }
    let arguments = shown(call.arguments_text(), ARGUMENTS)?;
    let effect = shown(&judged.effect, EFFECT)?;
    let target = judged.target.as_deref().map_or(Some(String::new()), |target| shown(target, EFFECT))?;
    let (server, tool) = (shown(&context.config.server, EFFECT)?, shown(call.name(), EFFECT)?);
    // Some hosts show the first line only. An effect names its target, unless it had to be cut.
    let names = if effect.contains(&*target) { effect.clone() } else { format!("{effect} — {target}") };
    let mut text = format!("Run `{tool}`: `{names}`? mcp-approve holds it until you answer.\n\n```\n");
    // Writing to a String does not fail.
    let _ = write!(text, "call: {}\nserver: {server}\ntool: {tool}\neffect: {effect}\n", held.ticket);
    if !target.is_empty() {
        let _ = writeln!(text, "target: {target}");
    }
    let _ = write!(
        text,
        "arguments: {arguments}\n```\n\nTick `approve` and accept to run it once; anything else denies it. \
         Or decide in the console: run `{}` in a terminal.",
        context.config.console
    );
    Some(text)
}

/// Whether all that could be a path among the arguments leads below the folder that the server runs in, by names that do not
/// begin with a dot: whatever configures a program, or starts one later, is elsewhere or hidden.
fn is_near(arguments: &str, folder: Option<&str>) -> bool {
    // The strict reader has read it already; what could not be read would not be shown either.
    let Ok(arguments) = serde_json::from_str::<Value>(arguments) else { return false };
    let named = path::possible_paths(&arguments);
    let is_hidden = |word: &str| word.starts_with('.') && word != ".";
    let is_below = |path: &str| match path::leads(path) {
        Leads::Below => true,
        Leads::Absolute => folder.is_some_and(|folder| Path::new(path).starts_with(folder)),
        Leads::Home | Leads::Climbs => false,
    };
    let is_near = |path: &str| is_below(path) && !path.split(['/', '\\']).any(is_hidden);
    named.left_out == LeftOut::None && named.paths.iter().all(|(_, path)| is_near(path))
}

/// A text for a code block in the host's form; `None` if it is too long, or has a gap that could hide what follows.
fn shown(text: &str, most: usize) -> Option<String> {
    let out = written_out(text);
    (out.len() <= most && !out.contains(GAP)).then_some(out)
}

/// A text for a place that we do not draw: invisible characters are written as JSON escapes, and so are those that
/// could be taken for markup. JSON has these only inside strings, where the escape means the same.
pub fn written_out(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '`' | '<' | '>' | '&' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            // Ours, between an effect and its target.
            ' '..='~' | '—' => out.push(c),
            _ => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out
}

/// What the host's answer to a form says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormAnswer {
    /// Accepted, with the box ticked.
    Approve,
    /// A person said no, or the answer cannot be read as anything else; and why.
    Deny(&'static str),
    /// No person chose, so it is no approval; and why.
    Dismiss(&'static str),
}

#[derive(Deserialize)]
struct Answered {
    action: String,
    content: Option<Value>,
}

const UNREADABLE: FormAnswer = FormAnswer::Deny("its answer could not be read");

/// Reads the host's answer to a request of ours.
pub fn answer(content: &[u8]) -> FormAnswer {
    #[derive(Deserialize)]
    struct Message {
        result: Answered,
    }
    serde_json::from_slice(content).map_or(UNREADABLE, |message: Message| read(&message.result))
}

/// Reads the `inputResponses` of a request that comes back: they may hold the answer to our form, and nothing else.
pub fn answer_inside(responses: Option<&str>) -> FormAnswer {
    let Some(text) = responses else { return FormAnswer::Dismiss("the host came back without an answer") };
    let Ok(mut answers) = serde_json::from_str::<BTreeMap<String, Value>>(text) else { return UNREADABLE };
    match (answers.remove(reply::FORM), answers.is_empty()) {
        (None, true) => FormAnswer::Dismiss("the host came back without an answer"),
        (Some(answer), true) => serde_json::from_value(answer).map_or(UNREADABLE, |answer| read(&answer)),
        (_, false) => UNREADABLE,
    }
}

fn read(Answered { action, content }: &Answered) -> FormAnswer {
    let ticked = content.as_ref().and_then(|content| content.get("approve")) == Some(&Value::Bool(true));
    match (action.as_str(), ticked) {
        ("accept", true) => FormAnswer::Approve,
        ("accept", false) => FormAnswer::Deny("it was accepted without `approve: true`"),
        ("decline", _) => FormAnswer::Deny("the user declined it"),
        ("cancel", _) => FormAnswer::Dismiss("it was cancelled, by the user or by the host itself"),
        _ => UNREADABLE,
    }
}

/// Records that an answer of the host's decided nothing.
pub(in crate::gate) fn record_ineffective_answer(out: &mut Out, form: Option<&ShownForm>, why: &str) {
    let mut entry = out.fault("an answer of the host to a question of mcp-approve had no effect", None);
    entry.ticket = form.map(|form| out.ticket(form.number).into());
    out.record(entry.with("reason", why));
}

/// What the host's user is to be asked now.
#[derive(Debug, Default)]
pub(in crate::gate) struct NextForm {
    /// The call of the open question no longer waits for it.
    pub(super) takes_back: bool,
    pub(super) asks: Option<ShownForm>,
}

/// Whether the open question is to be cancelled, and what is asked next.
pub(in crate::gate) fn next(context: Context<'_>, waiting: &Waiting) -> NextForm {
    let mut next = NextForm::default();
    if waiting.limits.unattended != Unattended::Elicit || context.host.gone.is_some() {
        return next;
    }
    // What its user says would not count.
    if context.rules.stops.frozen.is_some() {
        next.takes_back = waiting.forms.open.is_some();
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
            let text = (is_open && declares_forms(context.host, &held.call))
                .then(|| text(context, held, &asking.case.judged))??;
            Some(ShownForm { number: held.number, entry: asking.entry, text })
        });
    }
    next
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

#[cfg(test)]
mod tests {
    use super::{is_near, shown};

    #[test]
    fn only_what_is_below_the_folder_and_not_hidden_is_near() {
        for (arguments, expected) in [
            (r#"{"path":"a/b.md"}"#, true),
            (r#"{"path":"./a"}"#, true),
            (r#"{"path":"/w/a"}"#, true),
            (r#"{"text":"plain words","n":1}"#, true),
            (r#"{"path":"/wide/a"}"#, false),
            (r#"{"path":"~/a"}"#, false),
            (r#"{"path":"../a"}"#, false),
            (r#"{"path":"a/.hidden"}"#, false),
            (r#"{"path":"/w/.hidden/a"}"#, false),
            (r#"{"path":"a\\.hidden\\b"}"#, false),
            (r#"{"path":"a/b.md","target":"~/a"}"#, false),
            ("{", false),
        ] {
            assert_eq!(is_near(arguments, Some("/w")), expected, "{arguments}");
        }
        assert!(!is_near(r#"{"path":"/w/a"}"#, None), "no folder is known");
    }

    #[test]
    fn what_a_host_could_hide_is_written_out() {
        let hostile = "a`b<!-- c -->\u{202e}é\n\u{1f600}";
        let expected = r"a\u0060b\u003c!-- c --\u003e\u202e\u00e9\u000a\ud83d\ude00";
        assert_eq!(shown(hostile, 100).as_deref(), Some(expected));
        assert_eq!(shown("four", 4).as_deref(), Some("four"));
        assert_eq!(shown("fives", 4), None);
    }
}
