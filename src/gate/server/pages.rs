//! Pages of `tools/list` that are read piece by piece: a server may send any number of tools, and nothing else must wait for them.
//! Owns what was asked and how far each page was read; learns nothing from it.

use std::collections::{HashSet, VecDeque};

use serde_json::value::RawValue;

use crate::gate::data::effect::OwnLine;
use crate::mcp::Tool;
use crate::mcp::tool::{LONGEST_PAGE, Page};
use crate::wire::{Digest, Id, Line};

/// How many definitions, and how many bytes of them, are read at once: some milliseconds of work.
const ENTRIES: usize = 16;
const BYTES: usize = 64 << 10;
const MOST: usize = 16;

/// The pages that are not read to their end.
#[derive(Default)]
pub struct Pages {
    received: VecDeque<Received>,
    open: Option<Open>,
    relay: Relaying,
}

/// When the host gets a page that it asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relaying {
    #[default]
    AtOnce,
    /// Once it was read, without the tools outside the scope.
    Cut,
}

/// A page as it was received, and the tools that were read in it; `None` for what is no tool.
pub struct Whole {
    pub line: Line,
    pub first: bool,
    pub tools: Vec<Option<(String, Digest)>>,
}

struct Received {
    id: Id,
    failed: bool,
    line: Line,
}

/// The page that is being read.
struct Open {
    id: Id,
    /// What it answers; `None` for a late answer to our own question.
    listing: Option<Listing>,
    rest: VecDeque<Box<RawValue>>,
    next_cursor: Option<String>,
    /// Kept where the host does not have it yet.
    whole: Option<Whole>,
}

/// A `tools/list` request on its way, or its answer that is being read.
pub struct Listing {
    pub id: Id,
    /// The tools of the pages so far; `None` for a page of the host's whose predecessors we did not see.
    pub before: Option<Named>,
    /// Whether it is the first page: its request gave no cursor.
    pub first: bool,
    /// Set for our own question: when to stop waiting, and what to send along.
    pub own: Option<OwnListing>,
}

pub struct OwnListing {
    /// For all pages together, in monotonic microseconds.
    pub until: u64,
    pub pages: usize,
    pub meta: Option<String>,
}

pub enum Step {
    Nothing,
    Tools(Vec<Tool>),
    End { listing: Option<Listing>, next_cursor: Option<String>, whole: Option<Whole> },
    NoPage(Option<Listing>),
}

/// What became of a piece of the server's answers to `tools/list`.
pub enum ListReply {
    /// There is more to read before anything follows from it.
    Reading,
    /// The host's page was read, and the host has it.
    Relayed,
    /// The host's page under this id was read, or cannot be read, and the host does not have it yet.
    Page(Result<(Id, Whole), Id>),
    /// Ours: there is another page to ask for.
    More(OwnLine),
    /// Ours: the whole list is known again. Waiting calls can be judged.
    Fresh,
    /// Ours: the server gave no list. Waiting calls are judged by what is known.
    Failed,
}

/// The tools of the part of a list that was read.
#[derive(Debug, Default)]
pub struct Named {
    pub names: HashSet<String>,
    pub extent: ListExtent,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListExtent {
    #[default]
    All,
    /// Some of it did not fit into what is kept: the list never counts as whole.
    Some,
}

impl Pages {
    pub fn new(relay: Relaying) -> Self {
        Self { relay, ..Self::default() }
    }

    pub fn relaying(&self) -> Relaying {
        self.relay
    }

    /// Keeps a page until it is read, but no second answer to one question, and only a few pages.
    pub fn receive(&mut self, id: Id, failed: bool, line: Line) {
        if self.received.len() < MOST && !self.reads(&id) {
            // A page that is too long to be read need not be kept.
            let failed = failed || line.content().len() > LONGEST_PAGE;
            let line = if failed { Line::new(Vec::new()) } else { line };
            self.received.push_back(Received { id, failed, line });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.received.is_empty() && self.open.is_none()
    }

    /// Reads a piece; `listing` finds what a page answers.
    pub fn step(&mut self, listing: impl FnOnce(&Id) -> Option<Listing>) -> Step {
        let Some(open) = &mut self.open else {
            return self.next(listing);
        };
        let (mut tools, mut bytes) = (Vec::new(), 0);
        while tools.len() < ENTRIES && bytes < BYTES {
            let Some(entry) = open.rest.pop_front() else { break };
            bytes += entry.get().len();
            // Entries without a name are left out: they cannot be called.
            let tool = Tool::of_entry(&entry);
            if let Some(whole) = &mut open.whole {
                whole.tools.push(tool.as_ref().map(|tool| (tool.name.clone(), tool.digest())));
            }
            tools.extend(tool);
        }
        if bytes > 0 {
            return Step::Tools(tools);
        }
        match self.open.take() {
            Some(Open { listing, next_cursor, whole, .. }) => Step::End { listing, next_cursor, whole },
            None => Step::Nothing,
        }
    }

    /// The list that the open page belongs to.
    pub fn named(&mut self) -> Option<&mut Named> {
        self.open.as_mut()?.listing.as_mut()?.before.as_mut()
    }

    fn reads(&self, id: &Id) -> bool {
        self.open.as_ref().is_some_and(|open| open.id == *id) || self.received.iter().any(|one| one.id == *id)
    }

    fn next(&mut self, listing: impl FnOnce(&Id) -> Option<Listing>) -> Step {
        let Some(Received { id, failed, line }) = self.received.pop_front() else { return Step::Nothing };
        let listing = listing(&id);
        let page = if failed { None } else { Page::read(line.content()) };
        let Some(Page { tools, next_cursor }) = page else { return Step::NoPage(listing) };
        let of_host = listing.as_ref().filter(|listing| listing.own.is_none() && self.relay == Relaying::Cut);
        let whole = of_host.map(|listing| Whole { line, first: listing.first, tools: Vec::new() });
        self.open = Some(Open { id, listing, rest: tools.into(), next_cursor, whole });
        Step::Tools(Vec::new())
    }
}
