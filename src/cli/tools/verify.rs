//! `tools classify --verify-with CMD`: an outside classifier's view of the same tools, asked over stdin and stdout. It sees
//! only parameter names and types (the behavioral identity paper's consumer verifies, section 4.3), and decides nothing.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::behavior::identity::Identity;
use crate::behavior::taxonomy::{Action, Mutability, OutputDomain};
use crate::cli::error::Error;
use crate::cli::subprocess::Subprocess;
use crate::mcp::tool::Tool;

/// How long one answer may take: it may come from a model.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How long an answer may be, in bytes.
const LONGEST: u64 = 64 << 10;

/// A running classifier; it is ended with this.
pub(super) struct Verifier {
    process: Subprocess,
    asked: usize,
}

impl Verifier {
    /// Starts the command in a shell.
    pub(super) fn start(command: &str) -> Result<Self, Error> {
        let started = Subprocess::start(Command::new("sh").args(["-c", command]), LONGEST);
        let process = started.map_err(|cause| wrong(format!("the classifier could not be started: {cause}")))?;
        Ok(Self { process, asked: 0 })
    }

    /// What the classifier says of a tool.
    pub(super) fn ask(&mut self, tool: &Tool) -> Result<Identity, Error> {
        self.asked += 1;
        let at = self.asked;
        // A failure to write is no error yet: a classifier that has ended may have printed its answers before.
        let _ = self.process.write(&nameless(tool));
        let answer = self.process.next(TIMEOUT).map_err(|_| {
            let seconds = TIMEOUT.as_secs();
            wrong(format!(
                "the classifier ended, or took more than {seconds} s, before it answered tool {at} of the list"
            ))
        })?;
        identity(&answer).ok_or_else(|| {
            let shape = r#"{"mutability": …, "action": …, "output_domain": …}"#;
            wrong(format!("the classifier's answer to tool {at} is not {shape}"))
        })
    }
}

fn wrong(what: String) -> Error {
    Error::wrong(what, "`mcp-approve tools classify --help` shows an example")
}

/// Keys of a JSON Schema that describe in words, or by example.
const WORDS: [&str; 5] = ["title", "description", "examples", "example", "$comment"];

/// The schemas on one line, without the tool's name, its description and its server's claims. Where a schema says the name,
/// it says THIS_TOOL.
fn nameless(tool: &Tool) -> Value {
    let bare = |schema: Option<&Value>| {
        let mut schema = schema.cloned();
        if let Some(schema) = &mut schema {
            strip(schema);
        }
        // Written out and read again: the name may be in any key or text.
        let text = json!(schema).to_string().replace(&tool.name, "THIS_TOOL");
        serde_json::from_str::<Value>(&text).unwrap_or(Value::Null)
    };
    json!({
        "inputSchema": bare(Some(&tool.input_schema)),
        "outputSchema": bare(tool.output_schema.as_ref()),
        "answer_with": {
            "mutability": Mutability::ALL.iter().map(|word| word.word()).collect::<Vec<_>>(),
            "action": Action::ALL.iter().map(|word| word.word()).collect::<Vec<_>>(),
            "output_domain": OutputDomain::ALL.iter().map(|word| word.word()).collect::<Vec<_>>(),
        },
    })
}

/// Removes the words of a schema and of all schemas in it; a property that is called `description` stays.
fn strip(schema: &mut Value) {
    match schema {
        Value::Object(keys) => {
            for word in WORDS {
                keys.shift_remove(word);
            }
            for (key, value) in keys.iter_mut() {
                match (key.as_str(), value) {
                    ("enum" | "const" | "default", _) => {}
                    (
                        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                        Value::Object(named),
                    ) => {
                        named.iter_mut().for_each(|(_, schema)| strip(schema));
                    }
                    (_, value) => strip(value),
                }
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(strip),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn identity(answer: &str) -> Option<Identity> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let word = |key: &str| answer.get(key).and_then(Value::as_str);
    Some(Identity {
        mutability: Mutability::from_word(word("mutability")?)?,
        action: Action::from_word(word("action")?)?,
        output_domain: OutputDomain::from_word(word("output_domain")?)?,
    })
}

/// How often an outside view is ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreement {
    tools: usize,
    badge: usize,
    action: usize,
    domain: usize,
    whole: usize,
}

impl Agreement {
    /// Counts one tool.
    pub(super) fn count(&mut self, ours: Identity, theirs: Identity) {
        self.tools += 1;
        self.badge += usize::from(ours.mutability == theirs.mutability);
        self.action += usize::from(ours.action == theirs.action);
        self.domain += usize::from(ours.output_domain == theirs.output_domain);
        self.whole += usize::from(ours == theirs);
    }
}

impl std::fmt::Display for Agreement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tools, badge, action, domain, whole } = self;
        write!(
            f,
            "The outside classifier agrees on {badge} of {tools} badges, {action} actions, {domain} output domains, and \
             {whole} whole identities"
        )
    }
}

/// How an outside view compares with ours, as JSON.
pub(super) fn compared(ours: Identity, theirs: Identity) -> Value {
    json!({
        "says": theirs.to_string(),
        "agrees": ours == theirs,
        "mutability": ours.mutability == theirs.mutability,
        "action": ours.action == theirs.action,
        "output_domain": ours.output_domain == theirs.output_domain,
    })
}
