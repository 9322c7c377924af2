//! A list of capabilities that may be used, as `--scope` takes it: names, and types where the list gives them; with them resources
//! and prompts. Decides whether a tool is one of them; knows no role and no call.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::shape::{Shape, is_within};
use crate::mcp::tool::Tool;

/// Names are foreign text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Listed {
    tools: BTreeMap<String, Option<Typed>>,
    /// Globs over addresses of resources.
    resources: BTreeSet<String>,
    prompts: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Typed {
    /// The schemas as the list has them; the result's is null where it has none.
    schemas: (Value, Value),
    arguments: Shape,
    result: Shape,
}

#[derive(Debug, thiserror::Error)]
pub enum NotAScope {
    #[error("it is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("it is not a list of tools")]
    NoList,
    #[error("one of its tools has no name")]
    NoName,
    #[error("it has two tools called {0:?}, of different types")]
    Twice(String),
    #[error("`{0}` in it is not a list of texts")]
    NoTexts(&'static str),
}

impl Listed {
    /// Reads a list: a JSON array of names or definitions, an object with `tools`, `resources` (globs over addresses) and `prompts`
    /// (names), or an answer to `tools/list`. A definition with a schema gives the tool's type, a name does not.
    /// Errors: [`NotAScope`] when the text names no tools. A list with nothing in it is a list: nothing may be used.
    pub fn read(text: &str) -> Result<Self, NotAScope> {
        let read: Value = serde_json::from_str(text)?;
        Self::of(read.get("result").unwrap_or(&read))
    }

    fn of(holder: &Value) -> Result<Self, NotAScope> {
        let texts = |key: &'static str| -> Result<Option<BTreeSet<String>>, NotAScope> {
            let Some(list) = holder.get(key) else { return Ok(None) };
            let text = |entry: &Value| entry.as_str().map(str::to_owned);
            let all = list.as_array().and_then(|list| list.iter().map(text).collect());
            all.map(Some).ok_or(NotAScope::NoTexts(key))
        };
        let (resources, prompts) = (texts("resources")?, texts("prompts")?);
        let none = Value::Array(Vec::new());
        let list = match holder.get("tools") {
            // Who names resources or prompts alone means no tools.
            None if resources.is_some() || prompts.is_some() => &none,
            list => list.unwrap_or(holder),
        };
        let list = list.as_array().ok_or(NotAScope::NoList)?;
        let mut tools = BTreeMap::new();
        for entry in list {
            let name = entry.as_str().or_else(|| entry.get("name")?.as_str()).ok_or(NotAScope::NoName)?;
            let typed = Typed::of(entry);
            if tools.insert(name.to_owned(), typed.clone()).is_some_and(|before| before != typed) {
                return Err(NotAScope::Twice(name.to_owned()));
            }
        }
        Ok(Self { tools, resources: resources.unwrap_or_default(), prompts: prompts.unwrap_or_default() })
    }

    pub fn count(&self) -> usize {
        self.tools.len()
    }

    /// The globs over addresses of resources.
    pub fn resources(&self) -> impl Iterator<Item = &str> {
        self.resources.iter().map(String::as_str)
    }

    pub fn names_prompt(&self, prompt: &str) -> bool {
        self.prompts.contains(prompt)
    }

    /// Whether it has a tool of this name, of whatever type.
    pub fn names(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// What keeps a tool of this name out; `tool` is `None` where its server has not described it.
    pub fn lacks(&self, name: &str, tool: Option<&Tool>) -> Option<&'static str> {
        let Some(typed) = self.tools.get(name) else { return Some("is not in it") };
        let Some(typed) = typed else { return None };
        let Some(tool) = tool else { return Some("has a type in it, and the server has not described the tool") };
        let output = tool.output_schema.as_ref().unwrap_or(&Value::Null);
        if tool.input_schema == typed.schemas.0 && *output == typed.schemas.1 {
            return None;
        }
        if !is_within(&Shape::read(&tool.input_schema), &typed.arguments) {
            return Some("takes other or more arguments than the scope allows");
        }
        let result = tool.output_schema.as_ref().map_or(Shape::ANY, Shape::read);
        (!is_within(&result, &typed.result)).then_some("gives another or a wider result than the scope allows")
    }
}

impl TryFrom<Value> for Listed {
    type Error = NotAScope;

    fn try_from(holder: Value) -> Result<Self, NotAScope> {
        Self::of(&holder)
    }
}

impl From<Listed> for Value {
    fn from(listed: Listed) -> Self {
        let entry = |(name, typed)| match typed {
            None => json!(name),
            Some(Typed { schemas: (input, Self::Null), .. }) => json!({ "name": name, "inputSchema": input }),
            Some(Typed { schemas: (input, output), .. }) => {
                json!({ "name": name, "inputSchema": input, "outputSchema": output })
            }
        };
        let tools: Vec<Self> = listed.tools.into_iter().map(entry).collect();
        json!({ "tools": tools, "resources": listed.resources, "prompts": listed.prompts })
    }
}

impl Typed {
    fn of(entry: &Value) -> Option<Self> {
        let output = entry.get("outputSchema").filter(|schema| schema.is_object() || schema.is_boolean());
        let input = entry.get("inputSchema").or(output.map(|_| &Value::Bool(true)))?;
        Some(Self {
            arguments: Shape::read(input),
            result: output.map_or(Shape::ANY, Shape::read),
            schemas: (input.clone(), output.cloned().unwrap_or_default()),
        })
    }
}
