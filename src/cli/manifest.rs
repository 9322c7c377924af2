//! Lists of tools as commands take them: from a file, or from the answer of a server. Owns no judgement of tools.

use std::io::{self, Read as _};
use std::path::Path;

use serde_json::Value;

use super::error::Error;
use crate::mcp::tool::Tool;

/// How long a manifest may be, in bytes.
const LONGEST: u64 = 64 << 20;

/// A text that is no list of tools.
#[derive(Debug, thiserror::Error)]
#[error("{0}. Give the answer of tools/list, an object with `tools`, or an array of tools")]
pub struct NotTools(String);

impl From<NotTools> for Error {
    fn from(error: NotTools) -> Self {
        Self::wrong(error.to_string(), "`mcp-approve tools classify --help` shows an example")
    }
}

/// What a server can do, and how it names itself. Foreign text.
#[derive(Clone, Debug)]
pub struct Manifest {
    pub name: Option<String>,
    pub tools: Vec<Tool>,
}

/// The text of a file, `-` for standard input.
pub fn text(file: &Path) -> Result<String, Error> {
    let unreadable = |cause| Error::Unreadable { path: file.to_path_buf(), cause };
    let mut text = String::new();
    let read = if file == Path::new("-") {
        io::stdin().take(LONGEST + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text))
    };
    if read.map_err(unreadable)? as u64 > LONGEST {
        return Err(unreadable(io::Error::other("it is longer than 64 MiB")));
    }
    Ok(text)
}

/// The definitions in a JSON-RPC `tools/list` response, an object with `tools`, or an array; and the server's name where the
/// text has it.
pub fn definitions(text: &str) -> Result<(Option<String>, Vec<Value>), NotTools> {
    let read = serde_json::from_str(text);
    let mut input: Value = read.map_err(|error| NotTools(format!("this is not JSON: {error}")))?;
    if let Value::Array(list) = &mut input {
        return Ok((None, std::mem::take(list)));
    }
    let named = |value: &Value| Some(value.get("name")?.as_str()?.to_owned());
    let name = input.get("serverInfo").and_then(named).or_else(|| named(&input));
    let holder = if input.get("result").is_some() { &mut input["result"] } else { &mut input };
    match holder.get_mut("tools") {
        Some(Value::Array(list)) => Ok((name, std::mem::take(list))),
        _ => Err(NotTools("no list of tools in this JSON".to_owned())),
    }
}

impl Manifest {
    /// Reads the manifest in a file. It is named after the file where it does not say its server's name; entries without a
    /// name are left out, since no call can name them.
    pub fn of_file(file: &Path) -> Result<Self, Error> {
        let (name, definitions) = definitions(&text(file)?).map_err(|error| {
            Error::wrong(
                format!("{}: {error}", file.display()),
                "`mcp-approve lattice caps -- CMD` asks a server for its tools",
            )
        })?;
        let stem = || Some(file.file_stem()?.to_str()?.to_owned());
        Ok(Self { name: name.or_else(stem), tools: definitions.into_iter().filter_map(Tool::read).collect() })
    }
}
