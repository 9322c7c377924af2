//! Judges a host's message that was read: a call, something that passes, or why not. Owns the grammar's rules.

use super::call::Parts;
use super::envelope::{Envelope, Name, Params, Value, Word};
use super::fold;
use super::stream::Gist;
use super::strict::Kind;

/// The notification whose `requestId` withdraws a request.
pub(super) const CANCELLED: &str = "notifications/cancelled";

/// The method that is held.
const CALL: &str = "tools/call";

/// What a message is, once it is known to be canonical.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is on the stack until the call is made of it; a box would be one more allocation"
)]
pub(super) enum Message {
    Call(Parts),
    Plain(Gist),
}

/// Judges one message. An error is the sentence for the host's developer.
pub(super) fn judge(message: &Envelope<'_>) -> Result<Message, &'static str> {
    if message.shadowed {
        return Err("a key of the message differs from a protocol key only in case or form");
    }
    if message.jsonrpc != Word::Text("2.0".into()) {
        return Err("`jsonrpc` is not \"2.0\"");
    }
    match &message.method {
        Word::Other => Err("`method` is not a string"),
        Word::Absent => response(message).map(Message::Plain),
        Word::Text(_) if message.has_result || message.has_error => {
            Err("the message has both `method` and `result` or `error`")
        }
        Word::Text(method) if method == CALL => call(message).map(Message::Call),
        Word::Text(method) if resembles_call(method) => {
            Err("`method` differs from `tools/call` only in case, form or the space around it")
        }
        Word::Text(method) => passing(message, method).map(Message::Plain),
    }
}

/// Whether a laxer server could take a method for a call: by another case or form, by trimming it, or because its text
/// ends for it at a NUL.
fn resembles_call(method: &str) -> bool {
    let head = method.split('\0').next().unwrap_or_default();
    let bare = head.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    bare == CALL || fold::shadows(bare, &[CALL])
}

/// A response to a request of the server's.
fn response(message: &Envelope<'_>) -> Result<Gist, &'static str> {
    match (&message.id, message.has_result, message.has_error) {
        (_, false, false) => Err("the message has neither `method` nor `result` nor `error`"),
        (_, true, true) => Err("the response has both `result` and `error`"),
        (Name::Id(id), _, failed) => Ok(Gist::Response { id: id.clone(), failed }),
        // JSON-RPC's error for a message that could not be read. It names no request, so nothing here depends on it.
        (Name::Absent | Name::Null, false, true) => Ok(Gist::Unreadable),
        (Name::Absent | Name::Null, _, _) => Err("the response has no id"),
        (Name::Other, _, _) => Err(NO_ID),
    }
}

/// A request or notification that is not held.
fn passing(message: &Envelope<'_>, method: &str) -> Result<Gist, &'static str> {
    let params = &message.params;
    if params.shadowed {
        return Err(SHADOWED);
    }
    let method = method.to_owned();
    match (&message.id, &params.request_id) {
        (Name::Other, _) => Err(NO_ID),
        (Name::Null, _) => Err("`id` is null"),
        (Name::Id(id), _) => {
            Ok(Gist::Request { id: id.clone(), method, modern: params.meta.protocol_version.is_some() })
        }
        (Name::Absent, request) if method == CANCELLED => match request {
            Name::Id(id) => Ok(Gist::Notification { method, cancels: Some(id.clone()) }),
            // Since 2025-11-25 a cancellation may name a task instead.
            Name::Absent => Ok(Gist::Notification { method, cancels: None }),
            Name::Null | Name::Other => Err("`requestId` is neither a string nor an integer within ±2^53"),
        },
        (Name::Absent, _) => Ok(Gist::Notification { method, cancels: None }),
    }
}

fn call(message: &Envelope<'_>) -> Result<Parts, &'static str> {
    let id = match &message.id {
        Name::Id(id) => id.clone(),
        Name::Other => return Err(NO_ID),
        Name::Absent | Name::Null => {
            return Err("a call without an id cannot be answered, so it is not accepted");
        }
    };
    let params = &message.params;
    if params.shadowed_as_call {
        return Err(SHADOWED);
    }
    let Value::Present(Kind::Object, span) = &params.value else {
        return Err("`params` of a call is not an object");
    };
    let Word::Text(name) = &params.name else {
        return Err("`name` of a call is not a string");
    };
    fits(params)?;
    Ok(Parts {
        id,
        method: None,
        name: (&**name).into(),
        params: span.clone(),
        arguments: params.arguments.span(),
        meta: params.meta.clone(),
        request_state: params.request_state.span(),
        input_responses: params.input_responses.span(),
        questions: Vec::new(),
        answer_to: None,
        values: message.values,
        longest_key: message.longest_key,
        has_unknown: message.has_unknown || params.has_unknown,
    })
}

/// The parts of a request that is no call; `None` for what is no request.
pub(super) fn request(message: &Envelope<'_>) -> Option<Parts> {
    let (Word::Text(method), Name::Id(id)) = (&message.method, &message.id) else { return None };
    let params = &message.params;
    Some(Parts {
        id: id.clone(),
        method: Some(method.clone().into_owned()),
        name: (&**method).into(),
        params: params.value.span().unwrap_or_default(),
        arguments: params.value.span(),
        meta: params.meta.clone(),
        request_state: None,
        input_responses: None,
        questions: Vec::new(),
        answer_to: None,
        values: message.values,
        longest_key: message.longest_key,
        has_unknown: false,
    })
}

/// Whether the optional members of a call are of their kinds.
fn fits(params: &Params<'_>) -> Result<(), &'static str> {
    if !params.arguments.is_absent_or(Kind::Object) {
        return Err("`arguments` of a call is not an object");
    }
    if !params.meta_value.is_absent_or(Kind::Object) {
        return Err("`_meta` of a call is not an object");
    }
    if !params.input_responses.is_absent_or(Kind::Object) {
        return Err("`inputResponses` of a call is not an object");
    }
    if !params.request_state.is_absent_or(Kind::Text) {
        return Err("`requestState` of a call is not a string");
    }
    if params.protocol_version == Word::Other {
        return Err("the protocol version in `_meta` is not a string");
    }
    Ok(())
}

const NO_ID: &str = "`id` is neither a string nor an integer within ±2^53";
const SHADOWED: &str = "a key of `params` or `_meta` differs from a protocol key only in case or form";
