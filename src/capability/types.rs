//! A tool's typed signature on one line, by the capability lattice's table, in Rust notation.

use super::names::{pascal, shortened};
use super::shape::{Shape, ShownShape, Type, fields, shown};
use crate::mcp::tool::Tool;

/// No signature is longer, whatever the schema.
const MAX_CHARS: usize = 500;
const MAX_NAME: usize = 100;
const TYPE: ShownShape = ShownShape { chars: 120, depth: 6 };

/// The tool's signature on one line: `read_file(path: String, encoding: Option<Utf8 | Base64>) -> ReadFileSuccess`.
///
/// Required properties are plain types, others `Option<T>`, nullable ones `T | null`. Foreign names stay as they are.
pub fn signature(tool: &Tool) -> String {
    let result = match tool.output_schema {
        Some(_) => format!("{}Success", shortened(&pascal(&tool.name), MAX_NAME)),
        None => "Value".to_owned(),
    };
    let mut line = format!("{}(", shortened(&tool.name, MAX_NAME));
    let room = MAX_CHARS - result.chars().count() - ", …) -> ".chars().count();
    let mut used = line.chars().count();
    if let Type::Record(record) = Shape::read(&tool.input_schema).of {
        for (index, field) in fields(&record, TYPE).enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let more = separator.len() + field.chars().count();
            line.push_str(separator);
            if used + more > room {
                line.push('…');
                break;
            }
            used += more;
            line.push_str(&field);
        }
    }
    line + ") -> " + &result
}

/// What a tool answers with, where it says so: `{ content: String, size_bytes: Option<i64> }`.
pub fn result(tool: &Tool) -> Option<String> {
    let shape = Shape::read(tool.output_schema.as_ref()?);
    Some(shown(&shape.of, ShownShape { chars: MAX_CHARS, ..TYPE }))
}
