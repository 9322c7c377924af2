//! Cuts tools out of the bytes of a `tools/list` page. Reads strictly, so that any parser in the host finds the same
//! tools in it; the bytes that stay are the bytes received.

use std::ops::Range;

use crate::wire::fold;
use crate::wire::line::Line;
use crate::wire::strict::{Fault, Reader};

/// The page with only the tools to keep; `keep` has one entry for each tool, in their order. `None` where the page
/// cannot be read strictly, or has another number of tools.
pub fn cut(line: &Line, keep: &[bool]) -> Option<Line> {
    let bytes = line.bytes();
    let tools = tools(line.content()).ok().flatten().filter(|tools| tools.len() == keep.len())?;
    let (Some(first), Some(last)) = (tools.first(), tools.last()) else { return Some(line.clone()) };
    let mut out = bytes.get(..first.start)?.to_vec();
    let begin = out.len();
    let mut before = first.start;
    for (tool, keep) in tools.iter().zip(keep) {
        // The comma between a tool and the one before it. The first tool that stays needs none.
        let between = std::mem::replace(&mut before, tool.end)..tool.start;
        if *keep {
            let from = if out.len() == begin { tool.start } else { between.start };
            out.extend_from_slice(bytes.get(from..tool.end)?);
        }
    }
    out.extend_from_slice(bytes.get(last.end..)?);
    Some(Line::new(out))
}

/// Where the tools of a page are written; `None` where it has no list of them.
fn tools(content: &[u8]) -> Result<Option<Vec<Range<usize>>>, Fault> {
    let mut reader = Reader::new(content)?;
    let mut found = None;
    let mut is_shadowed = false;
    let mut message = reader.enter()?;
    while let Some(key) = reader.member(&mut message)? {
        let key = reader.decoded(&key);
        is_shadowed |= fold::shadows(&key, fold::ENVELOPE);
        if key != "result" {
            reader.skip()?;
            continue;
        }
        let mut result = reader.enter()?;
        while let Some(key) = reader.member(&mut result)? {
            let key = reader.decoded(&key);
            is_shadowed |= fold::shadows(&key, &["tools"]);
            if key == "tools" {
                let mut tools = Vec::new();
                reader.items(|tool| tools.push(tool))?;
                found = Some(tools);
            } else {
                reader.skip()?;
            }
        }
    }
    reader.end()?;
    Ok(found.filter(|_| !is_shadowed))
}

#[cfg(test)]
mod tests {
    use super::cut;
    use crate::wire::line::Line;

    fn cut_to(page: &str, keep: &[bool]) -> Option<String> {
        let line = cut(&Line::new(page.as_bytes().to_vec()), keep)?;
        Some(String::from_utf8(line.into_bytes()).expect("text"))
    }

    #[test]
    fn what_stays_is_as_it_was_received() {
        let page = "{ \"id\":1.0,\"result\" : {\"nextCursor\":\"\\u0041\", \"tools\":[ {\"name\":\"a\"} , {\"n\":2}\t,{\"c\":3} ] ,\"_meta\":{}}}\r\n";
        let with = |tools: &str| Some(page.replace("{\"name\":\"a\"} , {\"n\":2}\t,{\"c\":3}", tools));
        assert_eq!(cut_to(page, &[true; 3]).as_deref(), Some(page));
        assert_eq!(cut_to(page, &[true, false, false]), with("{\"name\":\"a\"}"));
        assert_eq!(cut_to(page, &[false, true, false]), with("{\"n\":2}"));
        assert_eq!(cut_to(page, &[false, true, true]), with("{\"n\":2}\t,{\"c\":3}"));
        assert_eq!(cut_to(page, &[true, false, true]), with("{\"name\":\"a\"}\t,{\"c\":3}"));
        assert_eq!(cut_to(page, &[false; 3]), with(""));
        assert_eq!(cut_to(page, &[false; 2]), None, "it was read with another number of tools");
        assert_eq!(cut_to("{\"result\":{\"tools\":[]}}", &[]).as_deref(), Some("{\"result\":{\"tools\":[]}}"));
    }

    #[test]
    fn a_page_that_parsers_read_differently_is_not_cut() {
        for page in [
            "{\"result\":{\"tools\":[1],\"tools\":[2]}}",
            "{\"result\":{\"tools\":[1],\"Tools\":[2]}}",
            "{\"result\":{\"tools\":[1]},\"RESULT\":{\"tools\":[2]}}",
            "{\"result\":{\"tools\":[1]}} {}",
            "{\"result\":{\"tools\":{}}}",
            "{\"result\":[]}",
            "[{\"result\":{\"tools\":[1]}}]",
        ] {
            assert_eq!(cut_to(page, &[true]), None, "{page}");
        }
    }
}
