//! The requests that a server puts inside a result or a notification (`inputRequests`, 2026-07-28), read strictly. Owns no
//! judgement.

use std::ops::Range;

use super::fold;
use super::strict::{Fault, Kind, Reader};

/// The member that holds them, by keys of the server's choice.
const INPUTS: &[&str] = &["inputRequests"];

/// The requests inside one message.
#[derive(Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Where the object that holds them begins and ends.
    pub(super) span: Range<usize>,
    pub(super) questions: Vec<Question>,
    pub(super) values: usize,
    pub(super) longest_key: usize,
}

/// One request: its method, decoded, and where its `params` are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub(super) method: String,
    pub(super) params: Option<Range<usize>>,
}

/// Why readers could differ on the requests of a message, for the record: one sentence, no foreign text.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Odd {
    #[error(transparent)]
    Json(#[from] Fault),
    #[error("a key of the result differs from `inputRequests` only in case or form")]
    Shadowed,
    #[error("`inputRequests` is not an object")]
    NoObject,
    #[error("a request in `inputRequests` is not an object")]
    NoRequest,
    #[error("a key in `inputRequests` differs from `method` or `params` only in case or form")]
    ShadowedInside,
    #[error("a request in `inputRequests` has no `method`")]
    NoMethod,
}

impl Inputs {
    /// The methods of the requests, in the order they are written in.
    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.questions.iter().map(|one| one.method.as_str())
    }
}

/// Reads the requests inside a message; `None` where there are none.
///
/// # Errors
/// [`Odd`]: readers could differ on what is asked.
pub fn read(content: &[u8]) -> Result<Option<Inputs>, Odd> {
    let mut reader = Reader::new(content)?;
    let mut found = None;
    let mut message = reader.enter()?;
    while let Some(key) = reader.member(&mut message)? {
        let is_body = matches!(&*reader.decoded(&key), "result" | "params");
        if is_body && reader.kind()? == Kind::Object {
            body(&mut reader, &mut found)?;
        } else {
            reader.skip()?;
        }
    }
    let (values, longest_key) = (reader.values(), reader.longest_key());
    reader.end()?;
    let inputs = found.map(|(span, questions)| Inputs { span, questions, values, longest_key });
    Ok(inputs.filter(|inputs| !inputs.questions.is_empty()))
}

/// Reads a result, or the `params` of a notification.
fn body(reader: &mut Reader<'_>, found: &mut Option<(Range<usize>, Vec<Question>)>) -> Result<(), Odd> {
    let mut members = reader.enter()?;
    while let Some(key) = reader.member(&mut members)? {
        let key = reader.decoded(&key);
        if fold::shadows(&key, INPUTS) {
            return Err(Odd::Shadowed);
        }
        let is_inputs = INPUTS.contains(&&*key);
        if is_inputs && reader.kind()? == Kind::Object {
            *found = Some(inputs(reader)?);
            continue;
        }
        let value = reader.skip()?;
        // Every reader takes null for no requests.
        if is_inputs && reader.raw(value) != "null" {
            return Err(Odd::NoObject);
        }
    }
    Ok(())
}

fn inputs(reader: &mut Reader<'_>) -> Result<(Range<usize>, Vec<Question>), Odd> {
    let (start, mut questions) = (reader.at(), Vec::new());
    let mut members = reader.enter()?;
    while reader.member(&mut members)?.is_some() {
        if reader.kind()? != Kind::Object {
            return Err(Odd::NoRequest);
        }
        questions.push(question(reader)?);
    }
    Ok((start..reader.at(), questions))
}

fn question(reader: &mut Reader<'_>) -> Result<Question, Odd> {
    let (mut method, mut params) = (None, None);
    let mut members = reader.enter()?;
    while let Some(key) = reader.member(&mut members)? {
        match &*reader.decoded(&key) {
            "method" if reader.kind()? == Kind::Text => {
                let found = reader.string()?;
                method = Some(reader.decoded(&found).into_owned());
            }
            "params" => params = Some(reader.skip()?),
            key if fold::shadows(key, &["method", "params"]) => {
                return Err(Odd::ShadowedInside);
            }
            _ => {
                reader.skip()?;
            }
        }
    }
    let method = method.ok_or(Odd::NoMethod)?;
    Ok(Question { method, params })
}
