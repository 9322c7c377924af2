//! Source code for a server's capabilities: argument and result types, one capability a tool, the server's union of them.
//! Deterministic: the same manifest gives the same text. Owns no file.

mod csharp;
mod plan;
mod rust;

use std::fmt;

use crate::capability::names::plain;
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

/// Something that a reader of the generated code should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeNote {
    /// Two tools of one name and type: the second is left out.
    Twin { tool: String },
    /// A name that had to become another, since another tool's name falls together with it.
    Renamed { tool: String, name: String },
    /// A schema that is larger than is read: parts of it are untyped.
    Cut { tool: String },
}

/// One line, with foreign names made plain.
impl fmt::Display for CodeNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Twin { tool } | Self::Renamed { tool, .. } | Self::Cut { tool }) = self;
        let tool = plain(tool);
        match self {
            Self::Twin { .. } => write!(f, "`{tool}` is listed twice, and is here once."),
            Self::Renamed { name, .. } => {
                write!(f, "`{tool}` is {name} here: another name is the same in this language.")
            }
            Self::Cut { .. } => {
                write!(f, "The schema of `{tool}` is too large to be read whole; parts of it are untyped.")
            }
        }
    }
}

/// Generated code; its notes are in its head, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    pub source: String,
    pub notes: Vec<CodeNote>,
}

/// Generates the code of one server. `server` is its name, foreign text.
pub fn generate(server: &str, tools: &[Tool], options: Options) -> Generated {
    let (plan, notes) = plan::plan(server, tools, options.language);
    let source = match options.language {
        CodeLanguage::Rust => rust::source(&plan, &notes, options.typed),
        CodeLanguage::CSharp => csharp::source(&plan, &notes),
    };
    Generated { source, notes }
}
