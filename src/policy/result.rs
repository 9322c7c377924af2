//! What a rule says of a tool's answer: which answers it is about, and what the host gets instead. Reads an answer up to 1 MiB;
//! of a longer one only its size is known, and whatever else a rule asks for counts as being so.

use std::ops::ControlFlow;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use crate::behavior::{arguments::path::visit, hazards::reading, secrets};
use crate::policy::glob::Glob;
use crate::wire::json as wire_json;
use crate::wire::task;
use crate::wire::words::words;

/// A longer answer is not read.
const READ: usize = 1 << 20;

words! {
    /// What becomes of an answer. Ordered: the strictest of several is the maximum.
    ResultAct {
        /// The host gets it without what the rule is about.
        Redact = "redact",
        /// The host gets it once an operator has approved it.
        Ask = "ask",
        Deny = "deny",
    }
}

words! {
    ContentKind {
        Text = "text",
        Image = "image",
        Audio = "audio",
        Resource = "resource",
        ResourceLink = "resource_link",
        Structured = "structured",
        /// `isError`, or a JSON-RPC error.
        Error = "error",
    }
}

/// One thing that must be so of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Its line has more bytes than this.
    Size(u64),
    Kind(Vec<ContentKind>),
    /// A line of a text in it matches one of these.
    Glob(Vec<Glob>),
    Secret,
    /// It holds a private key, or words that address the model.
    Hazard,
    Host(Vec<Glob>),
}

/// `result` of a rule, with its decision: the rule is about answers for which all of this is so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultTest {
    pub act: ResultAct,
    pub findings: Vec<Finding>,
}

/// An answer, and what is read of it.
pub struct Read<'a> {
    content: &'a [u8],
    /// `None`: too long, or not to be read.
    message: Option<Value>,
}

impl<'a> Read<'a> {
    pub fn of(content: &'a [u8]) -> Self {
        // Strictly: what parsers read differently may hold for one of them what it does not for another.
        let text = std::str::from_utf8(content).ok().filter(|text| text.len() <= READ);
        let message = text.and_then(wire_json::value);
        Self { content, message }
    }

    /// Whether it was read: it is short enough, and all readers agree on it.
    pub fn is_read(&self) -> bool {
        self.message.is_some()
    }

    /// Whether it says how far a task is, and nothing else.
    pub fn is_bare_state(&self) -> bool {
        let state = self.message.as_ref().and_then(|message| message.get("result"));
        state.is_some_and(task::is_bare_state)
    }

    /// Whether some text in it is like this.
    fn any(&self, is: impl Fn(&str) -> bool) -> bool {
        let Some(message) = &self.message else { return true };
        visit(message, "", &mut String::new(), &mut |_, _, value| match value {
            Value::String(text) if is(text) => ControlFlow::Break(()),
            // A key is as good a place to put something as a value.
            Value::Object(members) if members.keys().any(|key| is(key)) => ControlFlow::Break(()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                ControlFlow::Continue(())
            }
        })
        .is_break()
    }

    fn has(&self, kind: ContentKind) -> bool {
        let Some(message) = &self.message else { return true };
        match kind {
            ContentKind::Structured => results(message).any(|result| result.get("structuredContent").is_some()),
            ContentKind::Error => {
                let failed =
                    |result: &Value| result.get("isError") == Some(&json!(true)) || result.get("error").is_some();
                message.get("error").is_some() || results(message).any(failed)
            }
            ContentKind::Text
            | ContentKind::Image
            | ContentKind::Audio
            | ContentKind::Resource
            | ContentKind::ResourceLink => blocks(message).any(|block| match block.get("type") {
                Some(word) => *word == kind.word(),
                // The content of a resource has no type.
                None => kind == ContentKind::Resource || kind == ContentKind::Text && block.get("text").is_some(),
            }),
        }
    }

    /// The answer without what these tests find, as the text of a `result`; `None` where it cannot be redacted: it was not read,
    /// or is no plain result. Only text blocks stay, with nothing beside their text.
    pub fn redacted(&self, tests: &[&ResultTest]) -> Option<Value> {
        let message = self.message.as_ref()?;
        let result = message.get("result")?;
        let is_plain = result.get("resultType").is_none_or(|word| word == "complete") && result.get("task").is_none();
        let (list, blocks) = List::of(result).filter(|_| is_plain)?;
        let redact = |text: &str| tests.iter().fold(text.to_owned(), |text, test| test.redact(&text));
        let text_of = |block: &Value| match (block.get("type").and_then(Value::as_str), block.get("text")) {
            (Some("text"), Some(Value::String(text))) => redact(text),
            // The content of a resource has no type.
            (None, Some(Value::String(text))) if list == List::Contents => redact(text),
            (_, _) => "[content other than text: left out by mcp-approve]".to_owned(),
        };
        let block = |block: &Value| {
            let said = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
            match list {
                List::Content => json!({ "type": "text", "text": text_of(block) }),
                List::Contents => json!({ "uri": redact(said("uri")), "text": text_of(block) }),
                List::Messages => {
                    let role = if said("role") == "assistant" { "assistant" } else { "user" };
                    let text = text_of(block.get("content").unwrap_or(&Value::Null));
                    json!({ "role": role, "content": { "type": "text", "text": text } })
                }
            }
        };
        let mut redacted = json!({ list.word(): blocks.iter().map(block).collect::<Vec<_>>() });
        let is_safe = |value: &&Value| {
            value.is_boolean() || value.is_u64() || ["complete", "private", "public"].iter().any(|word| *value == word)
        };
        for member in ["isError", "resultType", "ttlMs", "cacheScope"] {
            if let Some(value) = result.get(member).filter(is_safe) {
                redacted[member] = value.clone();
            }
        }
        Some(redacted)
    }
}

words! {
    /// The member of a result that has its blocks.
    List {
        /// Of a tool.
        Content = "content",
        /// Of a resource.
        Contents = "contents",
        /// Of a prompt.
        Messages = "messages",
    }
}

impl List {
    /// The one list of a result; `None` where it has none, or several.
    fn of(result: &Value) -> Option<(Self, &Vec<Value>)> {
        let lists = Self::WORDS.iter().filter_map(|(word, list)| Some((*list, result.get(word)?)));
        let [(list, Value::Array(blocks))] = lists.collect::<Vec<_>>()[..] else { return None };
        Some((list, blocks))
    }
}

/// The result, and the one that a task ended with.
fn results(message: &Value) -> impl Iterator<Item = &Value> {
    let result = message.get("result");
    result.into_iter().chain(result.and_then(|result| result.get("result")))
}

/// The blocks of a result, of whatever list.
fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    let lists =
        results(message).flat_map(|result| List::WORDS.iter().filter_map(|(word, _)| result.get(word)?.as_array()));
    lists.flatten().map(|block| block.get("content").filter(|content| content.is_object()).unwrap_or(block))
}

const REDACTED: &str = "[redacted by mcp-approve]";

impl ResultTest {
    pub fn holds(&self, read: &Read<'_>) -> bool {
        self.findings.iter().all(|finding| match finding {
            Finding::Size(more) => read.content.len() as u64 > *more,
            Finding::Kind(kinds) => kinds.iter().any(|kind| read.has(*kind)),
            Finding::Glob(globs) => read.any(|text| text.lines().any(|line| matches(globs, line))),
            Finding::Secret => read.any(|text| !secrets::spans(text).is_empty()),
            Finding::Hazard => read.message.is_none() || reading::brought(read.content).is_some(),
            Finding::Host(globs) => read.any(|text| links(text).any(|(_, host)| matches(globs, &host))),
        })
    }

    /// The text without what it finds; without all of it, where it finds no part.
    fn redact(&self, text: &str) -> String {
        let mut out = text.to_owned();
        let mut in_part = false;
        for finding in &self.findings {
            let spans: Vec<_> = match finding {
                Finding::Secret => secrets::spans(&out),
                Finding::Host(globs) => {
                    links(&out).filter(|(_, host)| matches(globs, host)).map(|(span, _)| span).collect()
                }
                Finding::Glob(globs) => {
                    let redacted = |one: &str| {
                        let (line, end) = one.split_at(one.trim_end_matches(['\r', '\n']).len());
                        let end = if end.ends_with('\n') { "\n" } else { "" };
                        if matches(globs, line) { format!("{REDACTED}{end}") } else { one.to_owned() }
                    };
                    out = out.split_inclusive('\n').map(redacted).collect();
                    Vec::new()
                }
                Finding::Size(_) | Finding::Kind(_) | Finding::Hazard => continue,
            };
            in_part = true;
            for span in spans.into_iter().rev() {
                out.replace_range(span, REDACTED);
            }
        }
        if in_part { out } else { REDACTED.to_owned() }
    }

    pub fn words(&self) -> String {
        let listed = |globs: &[Glob]| globs.iter().map(Glob::text).collect::<Vec<_>>().join("|");
        let words = |finding: &Finding| match finding {
            Finding::Size(more) => format!("more than {more} bytes"),
            Finding::Kind(kinds) => kinds.iter().map(|kind| kind.word()).collect::<Vec<_>>().join("|"),
            Finding::Glob(globs) => format!("a line like {}", listed(globs)),
            Finding::Secret => "a secret".to_owned(),
            Finding::Hazard => "a private key or an instruction".to_owned(),
            Finding::Host(globs) => format!("a link to {}", listed(globs)),
        };
        self.findings.iter().map(words).collect::<Vec<_>>().join(", and ")
    }
}

fn matches(globs: &[Glob], text: &str) -> bool {
    globs.iter().any(|glob| glob.matches(text))
}

static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)\b[a-z][a-z0-9+.-]{1,20}://(?:[^\s/?#"'<>\\]*@)?([^\s/?#"'<>\\:@]+)[^\s"'<>\\]*"#).ok()
});

/// The links of a text, and their hosts in lower case.
fn links(text: &str) -> impl Iterator<Item = (std::ops::Range<usize>, String)> {
    let captures = LINK.iter().flat_map(|link| link.captures_iter(text));
    captures.filter_map(|found| Some((found.get(0)?.range(), found.get(1)?.as_str().to_lowercase())))
}
