//! What calls of a tool will ask about, told from its definition before any is made. It walks sample calls, so that nothing
//! is offered here that a call would not offer.

use serde_json::{Value, json};

use super::key::{Keys, Role};
use super::place::{PathStates, Places};
use super::walk::{Known, New, of_call};
use crate::behavior::agreed::{Agreement, Agreements, What};
use crate::behavior::secrets;
use crate::mcp::tool::Tool;
use crate::wire::words::words;

/// How many parameters of one tool are looked at, and how many values of one parameter are listed.
const MOST_KEYS: usize = 64;
const MOST_VALUES: usize = 8;

words! {
    /// What asks once each time that another one comes.
    Each {
        Folder = "folder",
        Host = "host",
        Statement = "statement",
        Value = "value",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// This, which may be agreed to before the first call.
    Once(Agreement),
    /// Each new thing of this kind under this key.
    Each(Each, String),
}

/// What calls of a tool will ask about: `keys` are of the same definition.
pub fn ahead(tool: &Tool, keys: &Keys) -> Vec<Ahead> {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let mut all = Vec::new();
    for (key, schema) in properties.into_iter().flatten().take(MOST_KEYS) {
        let roles = keys.roles(key);
        let asks = |value: &Value, agreed: &Agreements| -> Vec<New> {
            let (places, path_states) = (Places::default(), PathStates::new());
            let known = Known { agreed, places: &places, roots: &[], path_states: &path_states };
            of_call(Some(tool), keys, &json!({ key: value }), known).new
        };
        let each = |each| Ahead::Each(each, key.clone());
        let none = Agreements::default();
        // What is said of it without a sample: a call asks for what it finds there.
        let told = match roles {
            _ if secrets::is_secret_key(key) => Some(Each::Value),
            roles if roles.has(Role::Path) => Some(Each::Folder),
            roles if roles.has(Role::Address) => Some(Each::Host),
            roles if roles.has(Role::Statement) && asks(&json!("SELECT a FROM b"), &none).is_empty() => continue,
            roles if roles.has(Role::Statement) => Some(Each::Statement),
            _ => None,
        };
        if let Some(told) = told {
            all.push(each(told));
            continue;
        }
        match samples(schema) {
            Samples::All(values) if values.len() <= MOST_VALUES => {
                let new = values.iter().flat_map(|value| asks(value, &none));
                all.extend(new.map(|new| new.agree.map_or_else(|| each(Each::Value), Ahead::Once)));
            }
            Samples::Some([one, other, third]) => {
                // From the third value on a call offers the kind: here at once.
                let agreed =
                    [&one, &other].into_iter().flat_map(|value| asks(value, &none)).filter_map(|new| new.agree);
                let new = asks(&third, &agreed.collect());
                all.extend(new.into_iter().map(|new| match new.agree {
                    Some(agree) if agree.what == What::Kind => Ahead::Once(agree),
                    _ => each(Each::Value),
                }));
            }
            Samples::All(_) | Samples::Unknown => all.push(each(Each::Value)),
        }
    }
    all.dedup();
    all
}

enum Samples {
    /// There are no others.
    All(Vec<Value>),
    Some([Value; 3]),
    Unknown,
}

fn samples(schema: &Value) -> Samples {
    if let Some(members) = schema.get("enum").and_then(Value::as_array) {
        return Samples::All(members.clone());
    }
    if let Some(only) = schema.get("const") {
        return Samples::All(vec![only.clone()]);
    }
    let of_type = |word: &str| match word {
        "boolean" => Some(Samples::All(vec![true.into(), false.into()])),
        "integer" | "number" => Some(Samples::Some([7, 8, 9].map(Value::from))),
        "string" => Some(Samples::Some(["alpha", "beta", "gamma"].map(Value::from))),
        "array" => Some(match schema.get("items").map_or(Samples::Unknown, samples) {
            Samples::All(values) => Samples::All(values.into_iter().map(|value| json!([value])).collect()),
            Samples::Some(values) => Samples::Some(values.map(|value| json!([value]))),
            Samples::Unknown => Samples::Unknown,
        }),
        _ => None,
    };
    match schema.get("type") {
        Some(Value::String(word)) => of_type(word),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).find_map(of_type),
        _ => ["anyOf", "oneOf"].iter().find_map(|key| {
            let all = schema.get(key)?.as_array()?;
            all.iter().map(samples).find(|found| !matches!(found, Samples::Unknown))
        }),
    }
    .unwrap_or(Samples::Unknown)
}
