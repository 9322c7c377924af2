//! JSON Schema to a typed signature, by the capability lattice's table, in Rust notation.

use crate::mcp::tool::Tool;

/// The tool's signature on one line: `read_file(path: String, encoding: Option<Utf8 | Base64>) -> ReadFileSuccess`.
///
/// Required properties are plain types, others `Option<T>`. Foreign names are kept as they are: show them as such.
pub fn signature(_tool: &Tool) -> String {
    todo!()
}

/// The keys of `arguments` that the schema does not declare (top level only; none when the schema takes any key).
pub fn undeclared(_tool: &Tool, _arguments: &serde_json::Value) -> Vec<String> {
    todo!()
}
