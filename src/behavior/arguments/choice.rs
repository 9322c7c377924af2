//! Arguments that choose what the tool does: an HTTP method, an `action`, an `operation`. Reads one word.

use crate::behavior::lexicon::Effect;
use crate::behavior::taxonomy::Action;
use crate::behavior::{reading, words};

/// Whether an argument of this name chooses the act.
pub fn is_choice(key: &str) -> bool {
    const KEYS: &[&str] = &[
        "method",
        "http_method",
        "httpmethod",
        "request_method",
        "requestmethod",
        "verb",
        "http_verb",
        "action",
        "operation",
        "op",
    ];
    KEYS.iter().any(|known| key.eq_ignore_ascii_case(known))
}

/// The change that this choice makes; `None` where it is a read, or no word of that kind.
pub fn changing(choice: &str) -> Option<Action> {
    if choice.len() > 64 {
        return None;
    }
    match choice.to_ascii_uppercase().as_str() {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" => return None,
        "POST" => return Some(Action::Create),
        "PUT" => return Some(Action::Overwrite),
        "PATCH" => return Some(Action::Update),
        "DELETE" => return Some(Action::Delete),
        "CONNECT" => return Some(Action::Execute),
        _ => {}
    }
    match reading::of_name(&words::of_name(choice))?.effect {
        Effect::Changes(action) => Some(action),
        Effect::Reads(_) | Effect::Depends(_) => None,
    }
}
