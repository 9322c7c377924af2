//! Editing a held call's arguments: what the editor gets, and what follows from its result.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Command, Edit, decide, find_mut};
use crate::console::card::size;
use crate::console::model::{Armed, CallState, Model, Overlay};
use crate::link::message::FromConsole;
use crate::text::plain;

/// `e`: opens the editor on the armed call, or again on a text that could not be read.
pub(super) fn open(model: &mut Model) {
    if let Some(Overlay::Unreadable { armed, text, .. }) = model.overlay.clone() {
        model.overlay = None;
        return model.todo.push(Command::OpenEditor { armed, text });
    }
    let Some(armed) = decide::armed(model) else { return };
    let text = model.still(&armed).and_then(|held| for_editor(&held.snapshot.arguments));
    match text {
        Some(text) => model.todo.push(Command::OpenEditor { armed, text }),
        None => model.refuse("These arguments cannot be read as JSON, so they cannot be edited."),
    }
}

/// `Y`: the arguments for the clipboard, on one line, hidden characters as JSON escapes.
pub(super) fn copy(model: &mut Model) {
    /// How many bytes a terminal takes at once.
    const LONGEST: usize = 70_000;
    let Some(held) = model.selection() else {
        return model.warn("Nothing is selected.");
    };
    let arguments = &held.snapshot.arguments;
    let value = serde_json::from_str::<Value>(arguments).ok().and_then(|value| serde_json::to_string(&value).ok());
    let text = escaped(value.as_deref().unwrap_or(arguments));
    if text.len() > LONGEST {
        return model.warn("These arguments are too long for a terminal's clipboard; e opens them in your editor.");
    }
    let words = format!("{} copied, where the terminal allows it.", size(text.len()));
    model.say(words);
    model.note_until = Some(model.now + 4_000);
    model.todo.push(Command::Copy(text));
}

/// Takes what the editor left.
pub(super) fn edited(model: &mut Model, armed: Armed, outcome: Edit) {
    let text = match outcome {
        Edit::Unchanged => {
            return model.say("Nothing was changed.");
        }
        Edit::Failed(why) => {
            return model.warn(why);
        }
        Edit::Text(text) => text,
    };
    // The edited call gets a new card, so an old one does not matter here.
    let Some(held) = model.waits(&armed) else {
        return model.warn("Too late: the call no longer waits as it was shown. The edit was dropped.");
    };
    // The same value with other white space is no edit.
    if for_editor(&held.snapshot.arguments) == for_editor(&text) {
        return model.say("Nothing was changed.");
    }
    if let Err(problem) = object(&text) {
        model.overlay = Some(Overlay::Unreadable { armed, text, problem });
        return;
    }
    if let Some(held) = find_mut(model, armed.key()) {
        held.state = CallState::EditSent;
    }
    let arguments = text.trim().to_owned();
    super::send(model, &armed, |ticket, digest| FromConsole::Edit { ticket, digest, arguments });
    model.todo.push(Command::Drain);
}

/// Arguments must be one JSON object.
fn object(text: &str) -> Result<(), String> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => Ok(()),
        Ok(_) => Err("line 1: arguments are one JSON object, { … }".to_owned()),
        Err(error) => {
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            Err(format!("line {}, column {}: {what}", error.line(), error.column()))
        }
    }
}

/// The arguments as they are in the editor: indented, numbers and order kept, hidden characters as JSON escapes.
fn for_editor(arguments: &str) -> Option<String> {
    let value: Value = serde_json::from_str(arguments).ok()?;
    let pretty = serde_json::to_string_pretty(&value).ok()?;
    Some(escaped(&pretty) + "\n")
}

/// JSON with hidden characters as escapes.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if c != '\n' && plain::hides(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String does not fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}
