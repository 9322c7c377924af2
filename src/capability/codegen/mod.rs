//! Source code for a server's capabilities: argument and result types, one capability a tool, the server's union of them.
//! Deterministic: the same manifest gives the same text. Owns no file.

mod csharp;
mod plan;
mod rust;

use crate::mcp::tool::Tool;
use crate::wire::words::words;

words! {
    CodeLanguage {
        Rust = "rust",
        CSharp = "csharp",
    }
}

/// What to generate beside the types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    pub language: CodeLanguage,
    /// Rust only: the typed interface (`assets/typed.rs`) as well, with each tool as a type of it.
    pub typed: bool,
}

/// Generates the code of one server. `server` is its name, foreign text.
pub fn generate(server: &str, tools: &[Tool], options: Options) -> String {
    let plan = plan::plan(server, tools, options.language);
    match options.language {
        CodeLanguage::Rust => rust::source(&plan, options.typed),
        CodeLanguage::CSharp => csharp::source(&plan),
    }
}
