//! The same message under another id, progress token or task id: one JSON token is replaced, every other byte stays as it was
//! received.

use std::ops::Range;

use super::id::Id;
use super::line::Line;
use super::stream::EnvelopeScanner;
use super::strict::{Fault, Kind, Reader};

/// A response under another id; `None` where it has no unambiguous one. Read as tolerantly as any line of a server.
pub fn with_id(line: &Line, id: &Id) -> Option<Line> {
    let mut scanner = EnvelopeScanner::default();
    scanner.feed(line.content());
    replaced(line, scanner.id_span()?, id.raw())
}

/// A message with another token for a member of its `params`; `None` where it cannot be read strictly, or has no such member.
pub fn with_param(line: &Line, member: &str, token: &str) -> Option<Line> {
    replaced(line, span(line.content(), &["params", member]).ok().flatten()?, token)
}

/// A message with another text at the end of a path of keys; `None` where it cannot be read strictly, or the text there is not
/// `from`.
pub fn with_text(line: &Line, path: &[&str], from: &str, to: &str) -> Option<Line> {
    let span = span(line.content(), path).ok().flatten()?;
    let text: String = serde_json::from_slice(line.content().get(span.clone())?).ok()?;
    if text != from {
        return None;
    }
    replaced(line, span, &serde_json::Value::from(to).to_string())
}

fn replaced(line: &Line, span: Range<usize>, token: &str) -> Option<Line> {
    let bytes = line.bytes();
    Some(Line::new([bytes.get(..span.start)?, token.as_bytes(), bytes.get(span.end..)?].concat()))
}

/// Where the value at the end of a path of keys is written; `None` where there is none.
///
/// # Errors
/// The text cannot be read strictly.
pub fn span(content: &[u8], path: &[&str]) -> Result<Option<Range<usize>>, Fault> {
    let mut reader = Reader::new(content)?;
    let found = find(&mut reader, path)?;
    reader.end()?;
    Ok(found)
}

fn find(reader: &mut Reader<'_>, path: &[&str]) -> Result<Option<Range<usize>>, Fault> {
    let Some((first, rest)) = path.split_first() else { return reader.skip().map(Some) };
    if reader.kind()? != Kind::Object {
        reader.skip()?;
        return Ok(None);
    }
    let mut found = None;
    let mut members = reader.enter()?;
    while let Some(key) = reader.member(&mut members)? {
        if reader.decoded(&key) == *first {
            found = find(reader, rest)?;
        } else {
            reader.skip()?;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: Option<Line>) -> Option<String> {
        line.map(|line| String::from_utf8(line.into_bytes()).expect("text"))
    }

    #[test]
    fn an_answer_is_the_same_but_for_its_id() {
        let id = Id::from_token("\"b\"").expect("an id");
        for (line, wanted) in [
            ("{\"id\":7,\"result\":{\"id\":7}}\n", Some("{\"id\":\"b\",\"result\":{\"id\":7}}\n")),
            (
                "{\"result\":{\"t\":\"\\ud800\",\"a\":1,\"a\":2} , \"id\" :\"x\\\"y\" }\r\n",
                Some("{\"result\":{\"t\":\"\\ud800\",\"a\":1,\"a\":2} , \"id\" :\"b\" }\r\n"),
            ),
            ("{\"error\":{},\"\\u0069d\": 12}", Some("{\"error\":{},\"\\u0069d\": \"b\"}")),
            ("{\"id\":1,\"id\":2,\"result\":{}}", None),
            ("{\"result\":{\"id\":1}}", None),
        ] {
            assert_eq!(text(with_id(&Line::new(line.into()), &id)).as_deref(), wanted, "{line}");
        }
    }

    #[test]
    fn a_member_of_params_is_replaced_and_nothing_else() {
        let line =
            "{\"method\":\"m\",\"params\":{ \"progressToken\" : 7 ,\"x\":{\"progressToken\":7}},\"progressToken\":7}\n";
        let wanted = line.replacen(" : 7 ,", " : \"t\" ,", 1);
        assert_eq!(text(with_param(&Line::new(line.into()), "progressToken", "\"t\"")), Some(wanted));
        assert_eq!(text(with_param(&Line::new(b"{\"params\":[7]}".to_vec()), "progressToken", "1")), None);
        let line = Line::new(b"{\"result\":{\"a\" : {\"t\": \"\\u0078\" },\"t\":\"x\"}}\n".to_vec());
        let wanted = "{\"result\":{\"a\" : {\"t\": \"y\\\"\" },\"t\":\"x\"}}\n";
        assert_eq!(text(with_text(&line, &["result", "a", "t"], "x", "y\"")).as_deref(), Some(wanted));
        assert_eq!(text(with_text(&line, &["result", "a", "t"], "z", "y")), None, "another text");
        assert_eq!(text(with_text(&line, &["result", "t", "t"], "x", "y")), None, "no object");
    }
}
