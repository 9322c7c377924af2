//! A request that can be held, parsed strictly: a `tools/call`, or another that rules are about. Owns no judgement.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::digest::{Digest, Hasher, Line};
use super::envelope::Meta;
use super::fold::{self, in_pointer};
use super::id::Id;
use super::inputs::{InputRequest, Inputs};
use super::json::Json;
use super::strict::Reader;
use super::task;

/// A call: the line as received, and where its parts are in it. Only [`super::message`] makes one.
#[derive(Clone, Debug)]
pub struct Call {
    pub(super) line: Line,
    plain: Digest,
    digest: Digest,
    origin: Origin,
    pub(super) parts: Parts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    Host,
    Server,
    /// The server, inside its answer to a request of the host's (2026-07-28). The id is that request's.
    Answer,
    /// The server: a whole answer to a request of the host's. The id is that request's.
    Result,
}

/// What stands for the method of an answer.
pub const RESULT: &str = "result";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerTo {
    Call,
    Request,
}

/// The parts of a call, as the judge found them in the line's content.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) id: Id,
    /// `None` for a `tools/call`.
    pub(super) method: Option<String>,
    /// The tool's name; of another request its method.
    pub(super) name: Arc<str>,
    pub(super) params: Range<usize>,
    pub(super) arguments: Option<Range<usize>>,
    pub(super) meta: Meta,
    pub(super) request_state: Option<Range<usize>>,
    pub(super) input_responses: Option<Range<usize>>,
    pub(super) questions: Vec<InputRequest>,
    pub(super) answer_to: Option<AnswerTo>,
    pub(super) values: usize,
    pub(super) longest_key: usize,
    /// A call has a member that no revision of the protocol has.
    pub(super) has_unknown: bool,
}

impl Parts {
    /// Those of a call of this name and nothing else.
    pub(super) fn of(id: Id, name: &str) -> Self {
        Self {
            id,
            method: None,
            name: name.into(),
            params: 0..0,
            arguments: None,
            meta: Meta::default(),
            request_state: None,
            input_responses: None,
            questions: Vec::new(),
            answer_to: None,
            values: 0,
            longest_key: 0,
            has_unknown: false,
        }
    }
}

impl Call {
    pub(super) fn new(line: Line, origin: Origin, parts: Parts) -> Self {
        let plain = Digest::of(line.content());
        let digest = line.named(plain);
        Self { line, plain, digest, origin, parts }
    }

    /// Names it by the plain digest of its bytes, which anybody can check. The caller knows that there is nothing to guess in it, and
    /// no one has asked for its digest yet.
    pub fn open(&mut self) {
        self.digest = self.plain;
    }

    /// The requests inside an answer of the server's to the request `id`, as something that can be held: its bytes are the
    /// whole answer. `modern` where that request declared the stateless era.
    pub fn inside(line: Line, id: Id, inputs: Inputs, answer_to: AnswerTo, modern: Option<&str>) -> Self {
        let name = inputs.methods().collect::<Vec<_>>().join(" + ");
        let Inputs { span, questions, values, longest_key } = inputs;
        let params = match questions.as_slice() {
            [one] => one.params.clone(),
            _ => Some(span),
        };
        let parts = Parts {
            method: Some(name.clone()),
            params: params.clone().unwrap_or_default(),
            arguments: params,
            meta: Meta { protocol_version: modern.map(str::to_owned), ..Meta::default() },
            questions,
            answer_to: Some(answer_to),
            values,
            longest_key,
            ..Parts::of(id, &name)
        };
        Self::new(line, Origin::Answer, parts)
    }

    /// The server's answer to the request `id`, held because a rule about answers asks: what is shown is its result or its error.
    /// `name` is the tool, or the method, that was asked; `meta` is that request's. `None` where readers could differ on it.
    pub fn result(line: Line, id: Id, name: &str, answer_to: AnswerTo, meta: Meta) -> Option<Self> {
        let mut reader = Reader::new(line.content()).ok()?;
        let (mut shown, mut is_clear) = (None, true);
        let read = reader.members(|reader, key| {
            let value = reader.skip()?;
            match &*key {
                "result" | "error" => is_clear &= shown.replace(value).is_none(),
                "jsonrpc" | "id" => {}
                _ => is_clear = false,
            }
            Ok(())
        });
        read.ok()?;
        let (values, longest_key) = (reader.values(), reader.longest_key());
        reader.end().ok()?;
        let shown = shown.filter(|_| is_clear)?;
        let parts = Parts {
            method: Some(RESULT.to_owned()),
            params: shown.clone(),
            arguments: Some(shown),
            meta: Meta { span: None, ..meta },
            answer_to: Some(answer_to),
            values,
            longest_key,
            ..Parts::of(id, name)
        };
        Some(Self::new(line, Origin::Result, parts))
    }

    /// The requests that rules decide on, each by its method and the text of its `params`: none for a `tools/call`, the request
    /// itself for another, and all of those inside an answer.
    pub fn questions(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.method().filter(|_| self.parts.questions.is_empty() && self.origin != Origin::Result);
        let inside = self.parts.questions.iter();
        let inside = inside.map(|one| (one.method.as_str(), self.text(one.params.as_ref()).unwrap_or("{}")));
        own.map(|method| (method, self.arguments_text())).into_iter().chain(inside)
    }

    /// What an answer is to; `None` for a request.
    pub fn answer_to(&self) -> Option<AnswerTo> {
        self.parts.answer_to
    }

    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// The method of a request other than `tools/call`, which is its [`Self::name`] too; its `params` are the arguments. For several
    /// requests inside one answer: all their methods, and the object that holds them. For a whole answer: [`RESULT`].
    pub fn method(&self) -> Option<&str> {
        self.parts.method.as_deref()
    }

    pub fn line(&self) -> &Line {
        &self.line
    }

    /// The digest by which records name a text of the call: made as that of its bytes is.
    pub fn digest_of(&self, text: &str) -> Digest {
        let plain = Digest::of(text.as_bytes());
        if self.digest == self.plain { plain } else { self.line.named(plain) }
    }

    /// Consumes the call for its bytes: the last step before the server's pipe.
    pub fn into_line(self) -> Line {
        self.line
    }

    /// The digest by which the bytes that will be forwarded are named (line end aside): of no other bytes.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    pub fn id(&self) -> &Id {
        &self.parts.id
    }

    /// The tool's name, decoded.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// The same, for what outlives the call.
    pub fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.parts.name)
    }

    /// The exact JSON text of `arguments`; `{}` where the host sent none.
    pub fn arguments_text(&self) -> &str {
        self.text(self.parts.arguments.as_ref()).unwrap_or("{}")
    }

    /// The same, for what outlives the call.
    pub fn arguments(&self) -> Json {
        Json::of_strict(self.arguments_text())
    }

    pub fn values(&self) -> usize {
        self.parts.values
    }

    /// How many bytes the longest key in the line has.
    pub fn longest_key(&self) -> usize {
        self.parts.longest_key
    }

    pub fn meta(&self) -> &Meta {
        &self.parts.meta
    }

    /// The exact JSON text of `_meta`, for a question of our own in the same era.
    pub fn meta_text(&self) -> Option<&str> {
        self.text(self.parts.meta.span.as_ref())
    }

    /// The exact JSON token of `requestState` (multi-round-trip retries).
    pub fn request_state_text(&self) -> Option<&str> {
        self.text(self.parts.request_state.as_ref())
    }

    /// The exact JSON text of `inputResponses` (multi-round-trip retries).
    pub fn input_responses_text(&self) -> Option<&str> {
        self.text(self.parts.input_responses.as_ref())
    }

    /// The exact JSON text of `task` (2025-11-25): the request asks to become a task.
    pub fn task_text(&self) -> Option<&str> {
        self.members()?.into_iter().find(|(key, _)| key == "task").map(|(_, value)| value)
    }

    /// The digest of what a multi-round-trip retry must repeat: every member of `params` as it is written, but `_meta`, the
    /// server's state and the answers to its questions. Their order does not matter: a host may serialize them again.
    pub fn repeated(&self) -> Digest {
        let mut members = self.members().unwrap_or_default();
        members.retain(|(key, _)| !matches!(&**key, "_meta" | "requestState" | "inputResponses"));
        members.sort_unstable();
        let mut hasher = Hasher::default();
        for part in members.iter().flat_map(|(key, value)| [&**key, value]) {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finish()
    }

    /// The members of the message and of its `params` that no revision of the protocol gives a call, as one JSON object: each
    /// under its JSON Pointer, its value as it is written. `None` where there are none.
    pub fn unknown_parts(&self) -> Option<String> {
        if !self.parts.has_unknown {
            return None;
        }
        let known_above = |key: &str, _: &str| matches!(key, "jsonrpc" | "id" | "method" | "params");
        let known = |key: &str, value: &str| match key {
            "task" => task::is_known(value),
            key => fold::CALL.contains(&key),
        };
        let above = members(self.line.content()).unwrap_or_default();
        let above = above.into_iter().filter(|(key, value)| !known_above(key, value)).map(|one| ("", one));
        let of_params = self.members().unwrap_or_default();
        let of_params = of_params.into_iter().filter(|(key, value)| !known(key, value)).map(|one| ("/params", one));
        let mut text = String::from("{");
        for (place, (key, value)) in above.chain(of_params) {
            let pointer = format!("{place}/{}", in_pointer(&key));
            text.push_str(if text.len() > 1 { "," } else { "" });
            text.push_str(&Value::from(pointer).to_string());
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
        Some(text)
    }

    /// The members of `params`: each key decoded, its value as it is written.
    fn members(&self) -> Option<Vec<(Cow<'_, str>, &str)>> {
        members(self.text(Some(&self.parts.params))?.as_bytes())
    }

    /// Whether the request declares the stateless era.
    pub fn is_modern(&self) -> bool {
        self.parts.meta.protocol_version.is_some()
    }

    /// Whether this call carries exactly the state that a server asked to have back (multi-round-trip retries).
    ///
    /// `token` is the JSON token the server wrote, `None` for no state. Hosts write anew, so the decoded texts are compared.
    pub fn carries_state(&self, token: Option<&str>) -> bool {
        let decoded = |token: &str| serde_json::from_str::<String>(token).ok();
        match (self.request_state_text(), token) {
            (None, None) => true,
            (Some(sent), Some(asked)) => decoded(sent).is_some_and(|sent| Some(sent) == decoded(asked)),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    fn text(&self, span: Option<&Range<usize>>) -> Option<&str> {
        self.line.content().get(span?.clone()).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }
}

/// The members of an object: each key decoded, its value as it is written.
fn members(object: &[u8]) -> Option<Vec<(Cow<'_, str>, &str)>> {
    let (mut reader, mut found) = (Reader::new(object).ok()?, Vec::new());
    let kept = reader.members(|reader, key| {
        let value = reader.skip()?;
        found.push((key, reader.raw(value)));
        Ok(())
    });
    kept.ok().map(|()| found)
}
