//! What `--discover` shows a host: one search tool, and the tools that its searches have found. Ranks nothing.

use std::collections::VecDeque;

use crate::gate::config::{Config, Discover};
use crate::gate::server::catalog::Catalog;
use crate::policy::role::ToolProfile;
use crate::wire::{Call, Id};

/// The name of the search tool. A server's own tool of this name wins.
pub const SEARCH: &str = "mcp_approve_search";
/// Its definition, as the host gets it.
pub const DEFINITION: &str = include_str!("../../../assets/search_tool.json");

/// How many found tools are listed; those found longest ago go.
const FOUND: usize = 64;
/// How many searches wait for the server's list.
const WAITING: usize = 64;

#[derive(Debug, Default)]
pub struct Discovery {
    /// Names, the latest found last.
    found: VecDeque<String>,
    waiting: Vec<Call>,
    /// Whether a page with the search tool has reached the host.
    offered: Offered,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Offered {
    #[default]
    No,
    Yes,
}

/// What of the server's list a host is shown, beside what the scope hides.
#[derive(Clone, Copy, Debug)]
pub enum Shown<'a> {
    All,
    /// The search tool, and these.
    Found(&'a VecDeque<String>),
}

impl Shown<'_> {
    pub fn has(self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Found(found) => found.iter().any(|name| name == tool),
        }
    }
}

impl Discovery {
    pub fn shown(&self, config: &Config, catalog: &Catalog) -> Shown<'_> {
        if profiles(config, catalog).is_some() { Shown::Found(&self.found) } else { Shown::All }
    }

    pub fn has_waiting(&self, id: &Id) -> bool {
        self.waiting.iter().any(|call| call.id() == id)
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Keeps a search until the server's list is known; gives it back where too many wait.
    pub fn wait(&mut self, call: Box<Call>) -> Result<(), Box<Call>> {
        if self.waiting.len() >= WAITING {
            return Err(call);
        }
        self.waiting.push(*call);
        Ok(())
    }

    pub fn take_waiting(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.waiting)
    }

    /// The host has cancelled this search.
    pub fn forget(&mut self, id: &Id) {
        self.waiting.retain(|call| call.id() != id);
    }

    /// Lists these tools from now on; whether the list is another than before.
    pub fn list<'n>(&mut self, names: impl DoubleEndedIterator<Item = &'n str>) -> ListChange {
        let mut change = ListChange::None;
        for name in names.rev() {
            match self.found.iter().position(|known| known == name) {
                Some(at) => drop(self.found.remove(at)),
                None => change = ListChange::Some,
            }
            self.found.push_back(name.to_owned());
        }
        while self.found.len() > FOUND {
            self.found.pop_front();
        }
        change
    }

    pub fn note_offered(&mut self) {
        self.offered = Offered::Yes;
    }

    /// Whether the host has the search tool in its list, which its server's own has taken the place of since. Said once.
    pub fn take_withdrawn(&mut self) -> bool {
        std::mem::take(&mut self.offered) == Offered::Yes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListChange {
    None,
    Some,
}

/// What the operator writes of tools, if the search tool is ours: with `--discover`, and no tool of its name on the server.
pub fn profiles<'c>(config: &'c Config, catalog: &Catalog) -> Option<&'c [ToolProfile]> {
    match &config.discover {
        Discover::On { profiles } if !catalog.lists(SEARCH) => Some(profiles),
        Discover::On { .. } | Discover::Off => None,
    }
}
