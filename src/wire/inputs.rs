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

impl Inputs {
    /// The methods of the requests, in the order they are written in.
    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.questions.iter().map(|one| one.method.as_str())
    }
}

/// Reads the requests inside a message; `None` where there are none.
///
/// # Errors
/// Why readers could differ on what is asked, for the record: one sentence, no foreign text.
pub fn read(content: &[u8]) -> Result<Option<Inputs>, String> {
    let mut reader = Reader::new(content).map_err(text)?;
    let mut found = None;
    let mut message = reader.enter().map_err(text)?;
    while let Some(key) = reader.member(&mut message).map_err(text)? {
        let is_body = matches!(&*reader.decoded(&key), "result" | "params");
        if is_body && reader.kind().map_err(text)? == Kind::Object {
            body(&mut reader, &mut found)?;
        } else {
            reader.skip().map_err(text)?;
        }
    }
    let (values, longest_key) = (reader.values(), reader.longest_key());
    reader.end().map_err(text)?;
    let inputs = found.map(|(span, questions)| Inputs { span, questions, values, longest_key });
    Ok(inputs.filter(|inputs| !inputs.questions.is_empty()))
}

/// Reads a result, or the `params` of a notification.
fn body(reader: &mut Reader<'_>, found: &mut Option<(Range<usize>, Vec<Question>)>) -> Result<(), String> {
    let mut members = reader.enter().map_err(text)?;
    while let Some(key) = reader.member(&mut members).map_err(text)? {
        let key = reader.decoded(&key);
        if fold::shadows(&key, INPUTS) {
            return Err("a key of the result differs from `inputRequests` only in case or form".to_owned());
        }
        let is_inputs = INPUTS.contains(&&*key);
        if is_inputs && reader.kind().map_err(text)? == Kind::Object {
            *found = Some(inputs(reader)?);
            continue;
        }
        let value = reader.skip().map_err(text)?;
        // Null is no requests, as every reader has it.
        if is_inputs && reader.raw(value) != "null" {
            return Err("`inputRequests` is not an object".to_owned());
        }
    }
    Ok(())
}

fn inputs(reader: &mut Reader<'_>) -> Result<(Range<usize>, Vec<Question>), String> {
    let (start, mut questions) = (reader.at(), Vec::new());
    let mut members = reader.enter().map_err(text)?;
    while reader.member(&mut members).map_err(text)?.is_some() {
        if reader.kind().map_err(text)? != Kind::Object {
            return Err("a request in `inputRequests` is not an object".to_owned());
        }
        questions.push(question(reader)?);
    }
    Ok((start..reader.at(), questions))
}

fn question(reader: &mut Reader<'_>) -> Result<Question, String> {
    let (mut method, mut params) = (None, None);
    let mut members = reader.enter().map_err(text)?;
    while let Some(key) = reader.member(&mut members).map_err(text)? {
        match &*reader.decoded(&key) {
            "method" if reader.kind().map_err(text)? == Kind::Text => {
                let found = reader.string().map_err(text)?;
                method = Some(reader.decoded(&found).into_owned());
            }
            "params" => params = Some(reader.skip().map_err(text)?),
            key if fold::shadows(key, &["method", "params"]) => {
                return Err(
                    "a key in `inputRequests` differs from `method` or `params` only in case or form".to_owned()
                );
            }
            _ => {
                reader.skip().map_err(text)?;
            }
        }
    }
    let method = method.ok_or_else(|| "a request in `inputRequests` has no `method`".to_owned())?;
    Ok(Question { method, params })
}

fn text(fault: Fault) -> String {
    fault.to_string()
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn requests_inside_a_result_are_read_as_every_reader_reads_them() {
        let asks = r#""inputRequests":{"a":{"method":"sampling/createMessage","params":{"x":1}},"b":{"method":"roots\/list"}}"#;
        for line in [format!(r#"{{"id":1,"result":{{{asks}}}}}"#), format!(r#"{{"method":"n","params":{{{asks}}}}}"#)] {
            let found = read(line.as_bytes()).unwrap().unwrap();
            assert_eq!(found.methods().collect::<Vec<_>>(), ["sampling/createMessage", "roots/list"], "{line}");
            let params = found.questions.first().and_then(|one| one.params.clone()).unwrap();
            assert_eq!(&line[params], r#"{"x":1}"#);
            assert!(line[found.span].starts_with(r#"{"a":"#));
        }
        for none in [
            r#"{"id":1,"result":{}}"#,
            r#"{"id":1,"result":[1]}"#,
            r#"{"id":1,"result":{"inputRequests":null}}"#,
            r#"{"id":1,"result":{"inputRequests":{}}}"#,
            r#"{"id":1,"result":{"structuredContent":{"inputRequests":{"a":{}}}}}"#,
            r#"{"id":1,"error":{"data":{"inputRequests":{"a":{}}}}}"#,
        ] {
            assert_eq!(read(none.as_bytes()), Ok(None), "{none}");
        }
    }

    #[test]
    fn what_readers_could_differ_on_is_no_request() {
        for odd in [
            r#"{"result":{"InputRequests":{}}}"#,
            r#"{"result":{"inputRequests":[]}}"#,
            r#"{"result":{"inputRequests":true}}"#,
            r#"{"result":{"inputRequests":{"a":1}}}"#,
            r#"{"result":{"inputRequests":{"a":{}}}}"#,
            r#"{"result":{"inputRequests":{"a":{"method":1}}}}"#,
            r#"{"result":{"inputRequests":{"a":{"method":"x","METHOD":"y"}}}}"#,
            r#"{"result":{"inputRequests":{"a":{"method":"x","method":"y"}}}}"#,
            r#"{"result":{"inputRequests":{},"inputRequests":{}}}"#,
            r#"{"result":{}"#,
        ] {
            assert!(read(odd.as_bytes()).is_err(), "{odd}");
        }
    }
}
