//! The requests that a server puts inside a result or a notification (`inputRequests`, 2026-07-28), read strictly.

use std::ops::Range;

use super::fold;
use super::strict::{Fault, JsonKind, Reader};

/// The member that holds them, by keys of the server's choice.
const INPUTS: &str = "inputRequests";

#[derive(Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Where the object that holds them begins and ends.
    pub(super) span: Range<usize>,
    pub(super) questions: Vec<InputRequest>,
    pub(super) values: usize,
    pub(super) longest_key: usize,
}

/// One request: its method, decoded, and where its `params` are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRequest {
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
    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.questions.iter().map(|one| one.method.as_str())
    }
}

/// Reads the requests inside a message; `None` where there are none.
/// Errors: [`Odd`]: readers could differ on what is asked.
pub fn read(content: &[u8]) -> Result<Option<Inputs>, Odd> {
    let mut reader = Reader::new(content)?;
    let (mut found, mut odd) = (None, None);
    reader.members(|reader, key| {
        if matches!(&*key, "result" | "params") && reader.kind()? == JsonKind::Object {
            reader.members(|reader, key| body(reader, &key, &mut found, &mut odd))?;
        }
        Ok(())
    })?;
    let (values, longest_key) = (reader.values(), reader.longest_key());
    reader.end()?;
    if let Some(odd) = odd {
        return Err(odd);
    }
    let inputs = found.map(|(span, questions)| Inputs { span, questions, values, longest_key });
    Ok(inputs.filter(|inputs| !inputs.questions.is_empty()))
}

/// Reads a member of a result, or of the `params` of a notification.
fn body(
    reader: &mut Reader<'_>,
    key: &str,
    found: &mut Option<(Range<usize>, Vec<InputRequest>)>,
    odd: &mut Option<Odd>,
) -> Result<(), Fault> {
    if key != INPUTS {
        if fold::shadows(key, &[INPUTS]) {
            *odd = Some(Odd::Shadowed);
        }
        return Ok(());
    }
    if reader.kind()? != JsonKind::Object {
        let value = reader.skip()?;
        // Every reader takes null for no requests.
        if reader.raw(value) != "null" {
            *odd = Some(Odd::NoObject);
        }
        return Ok(());
    }
    let (start, mut questions) = (reader.at(), Vec::new());
    reader.members(|reader, _| {
        match question(reader)? {
            Ok(question) => questions.push(question),
            Err(why) => *odd = Some(why),
        }
        Ok(())
    })?;
    *found = Some((start..reader.at(), questions));
    Ok(())
}

fn question(reader: &mut Reader<'_>) -> Result<Result<InputRequest, Odd>, Fault> {
    if reader.kind()? != JsonKind::Object {
        return Ok(Err(Odd::NoRequest));
    }
    let (mut method, mut params, mut shadowed) = (None, None, false);
    reader.members(|reader, key| {
        match &*key {
            "method" if reader.kind()? == JsonKind::Text => method = Some(reader.string()?.into_owned()),
            "params" => params = Some(reader.skip()?),
            key => shadowed |= fold::shadows(key, &["method", "params"]),
        }
        Ok(())
    })?;
    Ok(match method {
        _ if shadowed => Err(Odd::ShadowedInside),
        None => Err(Odd::NoMethod),
        Some(method) => Ok(InputRequest { method, params }),
    })
}
