//! What a tool's schema says of one place in the arguments: which values it lists, which keys it declares. Checks no value.

use serde_json::Value;

/// Schema nodes and listed values looked at for one call. Beyond it a schema says nothing, which proves nothing.
const MAX_WORK: usize = 50_000;
/// Steps through `$ref`s and branches that belong to one place.
const MAX_DEPTH: usize = 16;
/// How many schemas may describe one place.
const MOST: usize = 64;

/// Everything that a schema says of one place: itself, what it refers to, and its branches.
pub type Schemas<'a> = Vec<&'a Value>;

/// Reads one schema, within a budget for the whole call.
pub struct Schema<'a> {
    root: Option<&'a Value>,
    work: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Declared {
    #[default]
    Named,
    Free,
}

impl<'a> Schema<'a> {
    /// Of a tool's arguments; `None` where the server has not described it.
    pub fn new(root: Option<&'a Value>) -> Self {
        Self { root, work: MAX_WORK }
    }

    pub fn top(&mut self) -> Schemas<'a> {
        let mut place = Schemas::default();
        if let Some(root) = self.root {
            self.gather(root, &mut place, 0);
        }
        place
    }

    pub fn field(&mut self, place: &Schemas<'a>, key: &str) -> (Schemas<'a>, Declared) {
        let mut below = Schemas::default();
        let mut declared = Declared::Free;
        for schema in place {
            if !self.spend(1) {
                return (Schemas::default(), Declared::Free);
            }
            if let Some(property) = schema.get("properties").and_then(|all| all.get(key)) {
                declared = Declared::Named;
                self.gather(property, &mut below, 0);
            }
        }
        if declared == Declared::Free {
            for rest in place.iter().filter_map(|schema| schema.get("additionalProperties")) {
                self.gather(rest, &mut below, 0);
            }
        }
        (below, declared)
    }

    pub fn items(&mut self, place: &Schemas<'a>) -> Schemas<'a> {
        let mut below = Schemas::default();
        for schema in place {
            for items in [schema.get("items"), schema.get("prefixItems")].into_iter().flatten() {
                match items {
                    Value::Array(first) => first.iter().for_each(|one| self.gather(one, &mut below, 0)),
                    one => self.gather(one, &mut below, 0),
                }
            }
        }
        below
    }

    /// Whether the schema lists this text among the values that may be here.
    pub fn lists(&mut self, place: &Schemas<'a>, text: &str) -> bool {
        for schema in place {
            if schema.get("const").and_then(Value::as_str) == Some(text) {
                return true;
            }
            let Some(values) = schema.get("enum").and_then(Value::as_array) else { continue };
            if !self.spend(values.len()) {
                return false;
            }
            if values.iter().any(|value| value.as_str() == Some(text)) {
                return true;
            }
        }
        false
    }

    fn gather(&mut self, schema: &'a Value, place: &mut Schemas<'a>, depth: usize) {
        let Value::Object(fields) = schema else { return };
        let is_known = place.iter().any(|known| std::ptr::eq(*known, schema));
        if is_known || depth > MAX_DEPTH || place.len() >= MOST || !self.spend(1 + place.len()) {
            return;
        }
        place.push(schema);
        for (word, part) in fields {
            match (word.as_str(), part) {
                ("anyOf" | "oneOf" | "allOf", Value::Array(branches)) => {
                    branches.iter().for_each(|branch| self.gather(branch, place, depth + 1));
                }
                ("then" | "else", branch) => self.gather(branch, place, depth + 1),
                ("$ref", Value::String(text)) => {
                    let target = text.strip_prefix('#').and_then(|pointer| self.root?.pointer(pointer));
                    if let Some(target) = target {
                        self.gather(target, place, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }

    /// Takes this much from the budget; false where not enough is left.
    fn spend(&mut self, work: usize) -> bool {
        let left = self.work.checked_sub(work);
        self.work = left.unwrap_or_default();
        left.is_some()
    }
}
