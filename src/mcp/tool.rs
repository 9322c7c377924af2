//! A tool as its server describes it, and pages of them: read, and cut by the bytes. All of it is untrusted. Cutting reads
//! strictly, so that any host's parser finds the same tools; the bytes that stay are the bytes received.

use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::wire::strict::{Fault, Reader};
use crate::wire::{Digest, Line, fold};

/// A longer page is not read: its tools stay unknown, and each call of them asks.
pub const LONGEST_PAGE: usize = 16 << 20;
/// A longer definition is known by its name alone: every reader goes through all of its words, and no honest one has so many.
const LONGEST: usize = 256 << 10;
/// A tool of a longer name is left out: no one could tell it from another.
const LONGEST_NAME: usize = 1024;

#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name on the wire: arbitrary Unicode, case-sensitive.
    pub name: String,
    /// Display name: `title`, else `annotations.title`.
    pub title: Option<String>,
    pub description: Option<String>,
    /// `inputSchema`; `true` (anything) where missing or not a schema.
    pub input_schema: Value,
    pub output_schema: Option<Value>,
    pub annotations: Annotations,
    /// The whole definition as read, for declared fields, pins and display.
    pub definition: Value,
}

/// MCP's tool annotations; `None`: not said. Defaults: not read-only, destructive, not idempotent, open world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

/// One page of `tools/list`, its entries cut but not read.
#[derive(Debug)]
pub struct Page {
    pub tools: Vec<Box<RawValue>>,
    /// The opaque cursor of the next page; an empty string is a valid cursor.
    pub next_cursor: Option<String>,
}

impl Tool {
    /// Reads one entry of a page; `None` when it has no usable `name`. What is too long or too deep to be read is known by its
    /// name alone: nothing is declared, and its schema cannot be used, so each call of it asks.
    pub fn of_entry(entry: &RawValue) -> Option<Self> {
        #[derive(Deserialize)]
        struct Named {
            name: String,
        }
        let text = entry.get();
        let whole = if text.len() <= LONGEST { serde_json::from_str(text).ok() } else { None };
        let tool = match whole {
            Some(definition) => Self::read(definition)?,
            None => {
                let Named { name } = serde_json::from_str(text).ok()?;
                let unread =
                    format!("a definition of {} bytes that was not read: {}", text.len(), Digest::of(text.as_bytes()));
                let unusable = Value::from("it is not known: the definition is too long or too deep to be read");
                let definition = serde_json::json!({ "name": name, "unread": unread });
                Self { input_schema: unusable, ..Self::read(definition)? }
            }
        };
        (tool.name.len() <= LONGEST_NAME).then_some(tool)
    }

    /// Reads one definition; `None` when it has no `name`.
    pub fn read(definition: Value) -> Option<Self> {
        let text = |key: &str| definition.get(key).and_then(text_of);
        let hints = definition.get("annotations");
        let hint = |key: &str| hints?.get(key)?.as_bool();
        let hinted_title = || hints?.get("title").and_then(text_of);
        let schema = |key: &str| {
            let is_schema = |value: &&Value| value.is_object() || value.is_boolean();
            definition.get(key).filter(is_schema).cloned()
        };
        Some(Self {
            name: text("name")?,
            title: text("title").or_else(hinted_title),
            description: text("description"),
            input_schema: schema("inputSchema").unwrap_or(Value::Bool(true)),
            output_schema: schema("outputSchema"),
            annotations: Annotations {
                read_only: hint("readOnlyHint"),
                destructive: hint("destructiveHint"),
                idempotent: hint("idempotentHint"),
                open_world: hint("openWorldHint"),
            },
            definition,
        })
    }

    /// The digest of the canonical definition: keys sorted, annotations included.
    ///
    /// Canonical is compact JSON with every object's keys in byte order and every number as its text, so that a server
    /// may write the same definition in another order or spacing without a change.
    pub fn digest(&self) -> Digest {
        Digest::of(self.canonical().as_bytes())
    }

    pub fn canonical(&self) -> String {
        canonical(self.definition.clone())
    }

    /// The digest of what the definition says, apart from the order of unordered lists and dates in texts for people.
    pub fn sense(&self) -> Digest {
        let mut sense = self.definition.clone();
        settle(&mut sense);
        Digest::of(canonical(sense).as_bytes())
    }
}

/// Keywords of JSON Schema whose lists are sets: their order means nothing.
const SETS: [&str; 3] = ["required", "enum", "type"];
/// Members that hold values, in which any order may mean something.
const VALUES: [&str; 4] = ["default", "const", "examples", "_meta"];
/// Members that hold text for people.
const TEXTS: [&str; 2] = ["description", "title"];

/// Puts sets in order, and takes the dates out of texts.
fn settle(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(settle),
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::Array(items)
                        if SETS.contains(&key.as_str())
                            && !items.iter().any(|item| item.is_array() || item.is_object()) =>
                    {
                        items.sort_by_cached_key(Value::to_string);
                    }
                    Value::String(text) if TEXTS.contains(&key.as_str()) => *text = without_dates(text),
                    _ if VALUES.contains(&key.as_str()) => {}
                    _ => settle(member),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The text with a `0` for each digit of a date or time (RFC 3339, also without its second half, or with a space).
fn without_dates(text: &str) -> String {
    // Every form, the longest first; `0` is a digit.
    const FORMS: [&str; 6] = [
        "0000-00-00T00:00:00.000", "0000-00-00T00:00:00", "0000-00-00 00:00:00", "0000-00-00T00:00",
        "0000-00-00 00:00", "0000-00-00",
    ];
    let fits = |rest: &str, form: &str| {
        let digit = |(is, wanted): (u8, u8)| if wanted == b'0' { is.is_ascii_digit() } else { is == wanted };
        rest.len() >= form.len() && rest.bytes().zip(form.bytes()).all(digit) && is_of_calendar(rest, form.len())
    };
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(next) = rest.chars().next() {
        let follows_digit = out.ends_with(|c: char| c.is_ascii_digit());
        let form = if follows_digit { None } else { FORMS.into_iter().find(|form| fits(rest, form)) };
        match form {
            Some(form) => out.push_str(form),
            None => out.push(next),
        }
        rest = rest.get(form.map_or(next.len_utf8(), str::len)..).unwrap_or_default();
    }
    out
}

/// Whether the numbers of a date or time, so many bytes long, are ones that a calendar and a clock have.
fn is_of_calendar(text: &str, length: usize) -> bool {
    let within = |at: usize, least: u8, most: u8| {
        let number = text.get(at..at + 2).filter(|_| at + 2 <= length).map(str::parse::<u8>);
        number.is_none_or(|number| number.is_ok_and(|number| (least..=most).contains(&number)))
    };
    within(5, 1, 12) && within(8, 1, 31) && within(11, 0, 23) && within(14, 0, 59) && within(17, 0, 60)
}

impl Page {
    /// Reads the line content of a successful `tools/list` response. `None` when it is no such thing, or too long.
    pub fn read(content: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Message {
            result: Listed,
        }
        #[derive(Deserialize)]
        struct Listed {
            tools: Vec<Box<RawValue>>,
            #[serde(default, rename = "nextCursor")]
            next_cursor: Option<Box<RawValue>>,
        }
        if content.len() > LONGEST_PAGE {
            return None;
        }
        let Listed { tools, next_cursor } = serde_json::from_slice::<Message>(content).ok()?.result;
        let next_cursor = next_cursor.and_then(|cursor| serde_json::from_str(cursor.get()).ok());
        Some(Self { tools, next_cursor })
    }
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The digest of a value as [`Tool::digest`] writes it.
fn canonical(mut value: Value) -> String {
    value.sort_all_objects();
    value.to_string()
}

/// The page with only the tools to keep, and before them one of our own; `keep` has one entry for each tool, in their order.
/// `None` where the page cannot be read strictly, or has another number of tools.
pub fn cut_page(line: &Line, keep: &[bool], own: Option<&str>) -> Option<Line> {
    let bytes = line.bytes();
    let Written { begins, tools } =
        written(line.content()).ok().flatten().filter(|list| list.tools.len() == keep.len())?;
    let (first, last) = match (tools.first(), tools.last()) {
        (Some(first), Some(last)) => (first.start, last.end),
        (_, _) => (begins, begins),
    };
    let mut out = bytes.get(..first)?.to_vec();
    if let Some(own) = own {
        out.extend_from_slice(own.as_bytes());
        if keep.contains(&true) {
            out.push(b',');
        }
    }
    let begin_of_kept = out.len();
    let mut before = first;
    for (tool, keep) in tools.iter().zip(keep) {
        // The comma between a tool and the one before it. The first tool that stays needs none.
        let between = std::mem::replace(&mut before, tool.end)..tool.start;
        if *keep {
            let from = if out.len() == begin_of_kept { tool.start } else { between.start };
            out.extend_from_slice(bytes.get(from..tool.end)?);
        }
    }
    out.extend_from_slice(bytes.get(last..)?);
    Some(Line::new(out))
}

/// Where a page has its list of tools.
struct Written {
    /// Behind its bracket.
    begins: usize,
    tools: Vec<Range<usize>>,
}

/// Where a page has its tools; `None` where it has no list of them.
fn written(content: &[u8]) -> Result<Option<Written>, Fault> {
    let mut reader = Reader::new(content)?;
    let mut found = None;
    let mut is_shadowed = false;
    reader.members(|reader, key| {
        is_shadowed |= fold::shadows(&key, fold::ENVELOPE);
        if key != "result" {
            return Ok(());
        }
        reader.members(|reader, key| {
            is_shadowed |= fold::shadows(&key, &["tools"]);
            if key == "tools" {
                let mut tools = Vec::new();
                let begins = reader.at() + 1;
                reader.items(|tool| tools.push(tool))?;
                found = Some(Written { begins, tools });
            }
            Ok(())
        })
    })?;
    reader.end()?;
    Ok(found.filter(|_| !is_shadowed))
}
