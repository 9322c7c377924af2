//! The words that many records have in common, numbered from 0: shapes and sessions. Pure.

use std::collections::HashMap;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::audit::fields::{Field, Fields};

/// How many words a list may have; records with further ones are odd. A log of foreign names could add words without
/// end.
const MOST: usize = 100_000;

/// What many records have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    pub kind: String,
    pub server: String,
    pub tool: Option<String>,
    pub badge: Option<String>,
    pub ruling: Option<String>,
    pub verdict: Option<String>,
    pub by: Option<String>,
    pub rule: Option<String>,
}

impl Shape {
    pub(super) fn of(fields: &Fields<'_>) -> Self {
        Self {
            kind: fields.kind.to_string(),
            server: fields.server.to_string(),
            tool: fields.tool.clone(),
            badge: fields.badge.clone(),
            ruling: fields.ruling.clone(),
            verdict: fields.verdict.clone(),
            by: fields.by.clone(),
            rule: fields.rule.clone(),
        }
    }

    /// The text of a field that a search can name; `None` also for those that a shape does not have.
    pub(super) fn text(&self, field: Field) -> Option<&str> {
        match field {
            Field::Server => Some(&self.server),
            Field::Kind => Some(&self.kind),
            Field::Tool => self.tool.as_deref(),
            Field::Badge => self.badge.as_deref(),
            Field::Ruling => self.ruling.as_deref(),
            Field::Verdict => self.verdict.as_deref(),
            Field::By => self.by.as_deref(),
            Field::Rule => self.rule.as_deref(),
            Field::Session | Field::Ticket | Field::Target | Field::Operator | Field::Reason | Field::Agent => None,
        }
    }
}

/// A list of words, each with its number.
#[derive(Debug, Default)]
pub(super) struct Numbered<W> {
    words: Vec<W>,
    numbers: HashMap<W, u32>,
}

impl<W: Clone + Eq + Hash> Numbered<W> {
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn get(&self, number: u32) -> Option<&W> {
        self.words.get(number as usize)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &W> {
        self.words.iter()
    }

    /// The words from this number on.
    pub(super) fn from(&self, first: usize) -> impl Iterator<Item = (u32, &W)> {
        (number(first)..).zip(self.words.iter().skip(first))
    }

    /// Adds a word at the end.
    pub(super) fn push(&mut self, word: W) {
        self.numbers.insert(word.clone(), number(self.words.len()));
        self.words.push(word);
    }

    /// The number of a word, which may be new; `None` when there are too many.
    pub(super) fn number(&mut self, word: W) -> Option<u32> {
        if let Some(number) = self.numbers.get(&word) {
            return Some(*number);
        }
        let new = number(self.words.len());
        (self.words.len() < MOST).then(|| {
            self.push(word);
            new
        })
    }

    /// Forgets the words from this number on.
    pub(super) fn forget(&mut self, first: usize) {
        for word in self.words.drain(first..) {
            self.numbers.remove(&word);
        }
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
