//! The words of a definition that a search looks through, and those of a query that tell anything. Owns no index.

use serde_json::Value;

use crate::behavior::words::{self, among};
use crate::mcp::tool::Tool;

/// The words of a query that tell anything.
pub fn asked(query: &str) -> Vec<String> {
    const MUTE: &str =
        "a an the of to in on at for from with by and or is are that this it its my me all some any i want";
    let words = words::of_name(query);
    let telling: Vec<String> = words.iter().filter(|word| !among(word, MUTE)).cloned().collect();
    if telling.is_empty() { words } else { telling }
}

/// The words of a definition, for a full-text search. Foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The name, and the same cut into words.
    pub name: String,
    pub title: String,
    pub description: String,
    /// Names and descriptions of the parameters.
    pub parameters: String,
}

impl Words {
    /// Takes the words out of a definition.
    pub fn of(tool: &Tool) -> Self {
        let mut parameters = String::new();
        if let Some(Value::Object(properties)) = tool.input_schema.get("properties") {
            for (key, schema) in properties {
                parameters.push_str(&words::of_name(key).join(" "));
                parameters.push(' ');
                parameters.push_str(schema.get("description").and_then(Value::as_str).unwrap_or_default());
                parameters.push('\n');
            }
        }
        Self {
            name: format!("{} {}", tool.name, words::of_name(&tool.name).join(" ")),
            title: tool.title.clone().unwrap_or_default(),
            description: tool.description.clone().unwrap_or_default(),
            parameters,
        }
    }
}
