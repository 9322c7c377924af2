//! Capability sets: `Caps(S)` of a server, and their lattice (capability lattice, section 4).

use std::collections::BTreeSet;

use super::shape::{Shape, is_within};
use crate::mcp::tool::Tool;

/// One capability: (name, argument type, result type). Two are equal when their types are, however their schemas are written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability {
    /// The tool's name on the wire: foreign text.
    pub name: String,
    /// The argument type in canonical form ([`Shape::canonical`]): foreign text in it.
    pub arguments: String,
    /// The result type likewise; `any` where the server does not say.
    pub result: String,
}

/// A set of capabilities: a lattice by inclusion, where [`Caps::meet`] is the most both have, [`Caps::join`] the least that holds both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caps {
    /// ⊤: every capability there could be.
    All,
    Of(BTreeSet<Capability>),
}

impl Capability {
    pub fn of(tool: &Tool) -> Self {
        let result = tool.output_schema.as_ref().map_or(Shape::ANY, Shape::read);
        Self {
            name: tool.name.clone(),
            arguments: Shape::read(&tool.input_schema).canonical(),
            result: result.canonical(),
        }
    }
}

impl Caps {
    /// `Caps(S)`, from the tools of a manifest.
    pub fn of_tools<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        Self::Of(tools.into_iter().map(Capability::of).collect())
    }

    /// `A ∩ B`: what a delegation from one to the other can pass on.
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, other) | (other, Self::All) => other,
            (Self::Of(mut one), Self::Of(other)) => {
                one.retain(|capability| other.contains(capability));
                Self::Of(one)
            }
        }
    }

    /// `A ∪ B`: what an agent has that is both. No delegation.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::Of(mut one), Self::Of(mut other)) => {
                one.append(&mut other);
                Self::Of(one)
            }
        }
    }

    /// The capabilities in the order of their names; `None` for ⊤, which has no end.
    pub fn listed(&self) -> Option<impl Iterator<Item = &Capability>> {
        match self {
            Self::All => None,
            Self::Of(all) => Some(all.iter()),
        }
    }
}

/// How a tool's capability compares with what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// The same types, or narrower ones.
    None,
    /// It takes or gives something that it did not, or that cannot be ruled out.
    Wider,
}

impl Growth {
    pub fn between(before: &Tool, after: &Tool) -> Self {
        let result = |tool: &Tool| tool.output_schema.as_ref().map_or(Shape::ANY, Shape::read);
        let is_within = Capability::of(before) == Capability::of(after)
            || is_within(&Shape::read(&after.input_schema), &Shape::read(&before.input_schema))
                && is_within(&result(after), &result(before));
        if is_within { Self::None } else { Self::Wider }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub added: Vec<Capability>,
    pub removed: Vec<Capability>,
    /// The same name with another type: before, after.
    pub changed: Vec<(Capability, Capability)>,
}

impl Difference {
    /// What is different in `after`, where a name tells which changed its type. Nothing where one of them is ⊤.
    pub fn between(before: &Caps, after: &Caps) -> Self {
        let (Caps::Of(before), Caps::Of(after)) = (before, after) else { return Self::default() };
        let mut difference = Self::default();
        let gone: Vec<&Capability> = before.difference(after).collect();
        let mut new: Vec<&Capability> = after.difference(before).collect();
        for old in gone {
            match new.iter().position(|capability| capability.name == old.name) {
                Some(place) => difference.changed.push((old.clone(), new.remove(place).clone())),
                None => difference.removed.push(old.clone()),
            }
        }
        difference.added = new.into_iter().cloned().collect();
        difference
    }

    pub fn is_none(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}
