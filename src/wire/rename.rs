//! The same message under another id or progress token: one JSON token is replaced, every other byte stays as it was received.

use std::ops::Range;

use super::id::Id;
use super::line::Line;
use super::stream::EnvelopeScanner;
use super::strict::{Fault, Kind, Reader};

/// A response under another id; `None` where it has no unambiguous one. Read as tolerantly as any line of a server.
pub fn with_id(line: &Line, id: &Id) -> Option<Line> {
    let mut scanner = EnvelopeScanner::new();
    scanner.feed(line.content());
    replaced(line, scanner.id_span()?, id.raw())
}

/// A message with another token for a member of its `params`; `None` where it cannot be read strictly, or has no such member.
pub fn with_param(line: &Line, member: &str, token: &str) -> Option<Line> {
    replaced(line, param(line.content(), member).ok().flatten()?, token)
}

fn replaced(line: &Line, span: Range<usize>, token: &str) -> Option<Line> {
    let bytes = line.bytes();
    Some(Line::new([bytes.get(..span.start)?, token.as_bytes(), bytes.get(span.end..)?].concat()))
}

/// Where a member of `params` is written.
fn param(content: &[u8], name: &str) -> Result<Option<Range<usize>>, Fault> {
    let mut reader = Reader::new(content)?;
    let mut found = None;
    let mut message = reader.enter()?;
    while let Some(key) = reader.member(&mut message)? {
        if reader.decoded(&key) != "params" || reader.kind()? != Kind::Object {
            reader.skip()?;
            continue;
        }
        let mut params = reader.enter()?;
        while let Some(key) = reader.member(&mut params)? {
            let is_wanted = reader.decoded(&key) == name;
            let span = reader.skip()?;
            found = if is_wanted { Some(span) } else { found };
        }
    }
    reader.end()?;
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
    }
}
