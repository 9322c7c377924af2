//! Whether one type is as narrow as another: every value of the first is one of the second. What cannot be shown is not so.

use super::types::{Record, Shape, Type, is_of_kind, with_tag};

/// Pairs of types that one comparison looks at; beyond it nothing is shown.
const PAIRS: usize = 20_000;
/// How deep it goes, definitions looked into: the stack holds no more.
const DEPTH: usize = 200;

/// Whether every value of one shape is a value of the other. A shape that was cut is within nothing, and holds nothing.
pub fn is_within(one: &Shape, other: &Shape) -> bool {
    let mut order = Order { one, other, assumed: Vec::new(), left: PAIRS, depth: 0 };
    !one.cut && !other.cut && order.holds(&one.of, &other.of)
}

struct Order<'s> {
    one: &'s Shape,
    other: &'s Shape,
    /// Definitions that are being compared, or were shown to hold: a recursive one is compared once.
    assumed: Vec<(&'s str, &'s Type)>,
    left: usize,
    depth: usize,
}

impl<'s> Order<'s> {
    fn holds(&mut self, one: &'s Type, other: &'s Type) -> bool {
        let Some(left) = self.left.checked_sub(1).filter(|_| self.depth < DEPTH) else { return false };
        self.left = left;
        self.depth += 1;
        let holds = self.compares(one, other);
        self.depth -= 1;
        holds
    }

    fn compares(&mut self, one: &'s Type, other: &'s Type) -> bool {
        match (one, other) {
            (_, Type::Any) | (Type::Never, _) => true,
            (Type::Named(name), _) => {
                let (shape, before) = (self.one, self.assumed.len());
                if self.assumed.iter().any(|(known, of)| known == name && std::ptr::eq(*of, other)) {
                    return true;
                }
                // Assumed to hold while it is looked into, as recursive types are compared.
                self.assumed.push((name, other));
                let holds = shape.definitions.get(name).is_some_and(|one| self.holds(one, other));
                if !holds {
                    self.assumed.truncate(before);
                }
                holds
            }
            (_, Type::Named(name)) => {
                let shape = self.other;
                shape.definitions.get(name).is_some_and(|other| self.holds(one, other))
            }
            (Type::Nullable(one), _) => self.holds(&Type::Null, other) && self.holds(one, other),
            (Type::Union(parts), _) => parts.iter().all(|part| self.holds(part, other)),
            (Type::Null, Type::Nullable(_)) => true,
            (_, Type::Nullable(other)) => self.holds(one, other),
            (_, Type::Union(parts)) if parts.iter().any(|part| self.holds(one, part)) => true,
            (Type::Choice(values), _) => values.iter().all(|value| is_value(value, other)),
            (Type::Null, Type::Null) | (Type::Boolean, Type::Boolean) => true,
            (Type::Integer, Type::Integer | Type::Number) | (Type::Number, Type::Number) => true,
            (Type::Text(one), Type::Text(other)) => other.is_none() || one == other,
            (Type::List(one), Type::List(other)) | (Type::Map(one), Type::Map(other)) => self.holds(one, other),
            (Type::Record(one), Type::Record(other)) => self.records(one, other),
            (Type::Record(one), Type::Map(other)) => {
                one.fields.iter().all(|field| self.holds(&field.of, other))
                    && one.rest.as_deref().is_none_or(|rest| self.holds(rest, other))
            }
            (Type::Tagged(one), Type::Tagged(other)) => {
                let variant = |text: &String| other.variants.iter().find(|(known, _)| known == text);
                one.tag == other.tag
                    && one
                        .variants
                        .iter()
                        .all(|(text, one)| variant(text).is_some_and(|(_, other)| self.records(one, other)))
            }
            (Type::Tagged(one), Type::Record(_)) => one.variants.iter().all(|(text, record)| {
                let whole = Shape { of: Type::Record(with_tag(&one.tag, text, record.clone())), ..self.one.clone() };
                is_within(&whole, &Shape { of: other.clone(), ..self.other.clone() })
            }),
            _ => false,
        }
    }

    /// Fields that only one side has: the first may have none that the second does not know, and must have what it requires.
    fn records(&mut self, one: &'s Record, other: &'s Record) -> bool {
        let fits = one.fields.iter().all(|field| match other.fields.iter().find(|known| known.name == field.name) {
            Some(known) => (field.required || !known.required) && self.holds(&field.of, &known.of),
            None => other.rest.as_deref().is_some_and(|rest| self.holds(&field.of, rest)),
        });
        let mut missing = other.fields.iter().filter(|known| one.fields.iter().all(|field| field.name != known.name));
        fits && match (one.rest.as_deref(), other.rest.as_deref()) {
            (None, _) => missing.all(|known| !known.required),
            (Some(rest), Some(others)) => {
                self.holds(rest, others) && missing.all(|known| !known.required && self.holds(rest, &known.of))
            }
            (Some(_), None) => false,
        }
    }
}

/// Whether a value of a choice has a type. Structures are not looked into.
fn is_value(value: &str, of: &Type) -> bool {
    match of {
        Type::Choice(values) => values.iter().any(|one| one == value),
        Type::Union(parts) => parts.iter().any(|part| is_value(value, part)),
        Type::Text(None) | Type::Boolean | Type::Null | Type::Number | Type::Integer => is_of_kind(value, of),
        _ => false,
    }
}
