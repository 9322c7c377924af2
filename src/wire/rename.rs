//! The same message under another id, progress token or task id: one JSON token is replaced, every other byte stays.

use std::ops::Range;

use super::digest::Line;
use super::id::Id;
use super::stream::EnvelopeScanner;
use super::strict::{Fault, JsonKind, Reader};

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

/// A message with another text at the end of a path of keys; `None` where it is not strict JSON, or the text is not `from`.
pub fn with_text(line: &Line, path: &[&str], from: &str, to: &str) -> Option<Line> {
    let span = span(line.content(), path).ok().flatten()?;
    let text: String = serde_json::from_slice(line.content().get(span.clone())?).ok()?;
    if text != from {
        return None;
    }
    replaced(line, span, &serde_json::Value::from(to).to_string())
}

/// A message whose object at the end of a path has this member; `None` where it is not strict JSON, or has no object there.
pub fn with_member(line: &Line, path: &[&str], member: &str, token: &str) -> Option<Line> {
    let content = line.content();
    let object = span(content, path).ok().flatten()?;
    let text = content.get(object.clone())?;
    let inside = text.strip_prefix(b"{")?;
    if let Some(old) = span(text, &[member]).ok()? {
        return replaced(line, object.start + old.start..object.start + old.end, token);
    }
    let comma = if inside.trim_ascii() == b"}" { "" } else { "," };
    replaced(line, object.start + 1..object.start + 1, &format!("\"{member}\":{token}{comma}"))
}

fn replaced(line: &Line, span: Range<usize>, token: &str) -> Option<Line> {
    let bytes = line.bytes();
    Some(line.with_bytes([bytes.get(..span.start)?, token.as_bytes(), bytes.get(span.end..)?].concat()))
}

/// Where the value at the end of a path of keys is written, if there is one. Errors: it cannot be read strictly.
pub fn span(content: &[u8], path: &[&str]) -> Result<Option<Range<usize>>, Fault> {
    let mut reader = Reader::new(content)?;
    let found = find(&mut reader, path)?;
    reader.end()?;
    Ok(found)
}

fn find(reader: &mut Reader<'_>, path: &[&str]) -> Result<Option<Range<usize>>, Fault> {
    let Some((first, rest)) = path.split_first() else { return reader.skip().map(Some) };
    if reader.kind()? != JsonKind::Object {
        reader.skip()?;
        return Ok(None);
    }
    let mut found = None;
    reader.members(|reader, key| {
        if key == *first {
            found = find(reader, rest)?;
        }
        Ok(())
    })?;
    Ok(found)
}
