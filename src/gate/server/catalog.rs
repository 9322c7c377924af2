//! The tools as their server describes them: learned from the host's own `tools/list`, or asked under our own id.
//! Owns what is known and how fresh it is; judges nothing.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use crate::behavior::conclude::{self, Trust};
use crate::behavior::curated::Curated;
use crate::behavior::hazards::lookalike;
use crate::gate::data::effect::Question;
use crate::gate::data::event::Now;
use crate::gate::data::pin::{Arrival, PinState, Pins, Sighting};
use crate::gate::deadline::DESCRIBE;
use crate::gate::server::described::Described;
use crate::mcp::tool::{Page, Tool};
use crate::wire::digest::Digest;
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::reply;

/// How much of the server's list is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knowledge {
    /// Nothing, or parts.
    Partial,
    /// All of it, and no change was announced since.
    Whole,
}

/// What is known of a tool.
pub enum Known {
    /// This is it.
    Yes(Arc<Described>),
    /// The complete, fresh list does not have it.
    No,
    /// The list is not known or not fresh: ask.
    Ask,
}

/// A `tools/list` request on its way.
struct Listing {
    id: Id,
    /// The pages before it; `None` for a page of the host's whose predecessors we did not see.
    before: Option<Vec<Tool>>,
    /// Set for our own question: when to stop waiting, and what to send along.
    own: Option<Own>,
}

struct Own {
    /// Of all pages together.
    until: u64,
    pages: usize,
    meta: Option<String>,
}

/// What became of the server's answer to a `tools/list`.
#[derive(Debug)]
pub enum ListReply {
    /// Not an answer to our own question: relay it.
    Relay,
    /// Ours: swallow it; there is another page to ask for.
    More(Question),
    /// Ours: swallow it; the whole list is known afresh. Waiting calls can be judged.
    Fresh,
    /// Ours: swallow it; the server gave no list. Waiting calls are judged by what is known.
    Failed,
}

/// The catalog of one server.
pub struct Catalog {
    /// As described since the last announced change.
    tools: HashMap<String, Arc<Described>>,
    /// As described before it: to tell what changed, never to judge by.
    stale: HashMap<String, Arc<Described>>,
    /// The first tool of each look, by the skeleton of its name.
    looks: HashMap<String, String>,
    knowledge: Knowledge,
    listings: Vec<Listing>,
    /// Relayed `tools/list` pages not parsed yet.
    unparsed: VecDeque<(Id, Line)>,
    /// The pages the host has read so far, until it asks for the next one.
    pages: Option<Vec<Tool>>,
    trust: Trust,
    pins: Pins,
    /// Our list of this server's package, once there is a definition to look up.
    curated: Option<Curated>,
    /// New and changed definitions not handed out yet.
    sightings: Vec<Sighting>,
    nonce: Arc<str>,
    asked: u64,
    /// Rises with everything learned.
    version: u64,
}

/// How many unfinished listings of a host are followed; older ones are forgotten.
const LISTINGS: usize = 16;
/// How many pages of a list are asked for.
const PAGES: usize = 1_000;
/// How many tools a list may have before the rest is ignored (then the list never counts as whole).
const TOOLS: usize = 20_000;

impl Catalog {
    /// An empty catalog, with what is remembered from before. `nonce` makes our ids unlike any of the host's.
    pub fn new(trust: Trust, pins: Pins, nonce: Arc<str>) -> Self {
        Self {
            tools: HashMap::new(),
            stale: HashMap::new(),
            looks: HashMap::new(),
            knowledge: Knowledge::Partial,
            listings: Vec::new(),
            unparsed: VecDeque::new(),
            pages: None,
            trust,
            pins,
            curated: None,
            sightings: Vec::new(),
            nonce,
            asked: 0,
            version: 0,
        }
    }

    /// What is known of a tool now.
    pub fn find(&self, name: &str) -> Known {
        match (self.tools.get(name), self.knowledge) {
            (Some(described), _) => Known::Yes(Arc::clone(described)),
            (None, Knowledge::Whole) => Known::No,
            (None, Knowledge::Partial) => Known::Ask,
        }
    }

    /// How many tools are known.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether no tool is known.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Every tool that is known now, in no order.
    pub fn known(&self) -> impl Iterator<Item = &Described> {
        self.tools.values().map(Arc::as_ref)
    }

    /// Rises with everything learned; 0 before anything was.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether an answer to some `tools/list` is on its way: then long lines are worth buffering.
    pub fn is_listening(&self) -> bool {
        !self.listings.is_empty()
    }

    /// Whether our own question is on its way.
    pub fn is_asking(&self) -> bool {
        self.listings.iter().any(|listing| listing.own.is_some())
    }

    /// When to stop waiting for our own question.
    pub fn wake_at(&self) -> Option<u64> {
        self.listings.iter().filter_map(|listing| listing.own.as_ref().map(|own| own.until)).min()
    }

    /// The server announced a change: what is known may be wrong.
    pub fn changed(&mut self) {
        self.stale.extend(self.tools.drain());
        self.knowledge = Knowledge::Partial;
        self.pages = None;
    }

    /// The host asks for a page; `first` when without a cursor.
    pub fn host_asks(&mut self, id: &Id, first: bool) {
        let before = if first { Some(Vec::new()) } else { self.pages.take() };
        if self.listings.len() >= LISTINGS {
            self.listings.remove(0);
        }
        self.listings.push(Listing { id: id.clone(), before, own: None });
    }

    /// Asks the server ourselves; `None` when a question is on its way already. `meta` for the stateless era.
    pub fn ask(&mut self, now: Now, meta: Option<String>) -> Option<Question> {
        if self.is_asking() {
            return None;
        }
        let own = Own { until: now.mono + DESCRIBE, pages: 1, meta };
        Some(self.question(Vec::new(), None, own))
    }

    /// Takes a response of the server; learns from it when it answers a `tools/list`.
    pub fn on_response(&mut self, now: Now, id: &Id, failed: bool, content: &[u8]) -> ListReply {
        let Some(at) = self.listings.iter().position(|listing| &listing.id == id) else {
            if self.is_ours(id) {
                // Too late for whoever waited, and still worth knowing.
                if let Some(page) = Page::read(content) {
                    self.learn(now, page.tools);
                }
                return ListReply::Failed;
            }
            return ListReply::Relay;
        };
        let listing = self.listings.remove(at);
        let page = if failed { None } else { Page::read(content) };
        match (page, listing.own) {
            (None, None) => ListReply::Relay,
            (None, Some(_)) => ListReply::Failed,
            (Some(page), None) => {
                self.host_reads(now, page, listing.before);
                ListReply::Relay
            }
            (Some(page), Some(own)) => {
                let mut tools = listing.before.unwrap_or_default();
                tools.extend(page.tools);
                match page.next_cursor {
                    Some(cursor) if tools.len() <= TOOLS && own.pages < PAGES && own.until > now.mono => {
                        let own = Own { pages: own.pages + 1, ..own };
                        ListReply::More(self.question(tools, Some(&cursor), own))
                    }
                    Some(_) => {
                        self.learn(now, tools);
                        ListReply::Failed
                    }
                    None => {
                        self.replace(now, tools);
                        ListReply::Fresh
                    }
                }
            }
        }
    }

    /// Keeps a page that the host has asked for: it is parsed once the host has it, for that can take longer than the
    /// host should wait.
    pub fn relayed(&mut self, id: Id, line: Line) {
        self.unparsed.push_back((id, line));
    }

    /// Whether there is a page to parse.
    pub fn has_unparsed_lists(&self) -> bool {
        !self.unparsed.is_empty() && self.is_ready()
    }

    /// Parses the oldest relayed page; `false` when there is none.
    pub fn parse_relayed(&mut self, now: Now) -> bool {
        let Some((id, line)) = self.unparsed.pop_front() else { return false };
        // The host's own list is relayed already: nothing is left to send.
        let _ = self.on_response(now, &id, false, line.content());
        true
    }

    /// Gives up on our own question when its time is over; `true` when it was.
    pub fn expire(&mut self, now: Now) -> bool {
        let before = self.listings.len();
        self.listings.retain(|listing| listing.own.as_ref().is_none_or(|own| own.until > now.mono));
        self.listings.len() != before
    }

    fn question(&mut self, tools: Vec<Tool>, cursor: Option<&str>, own: Own) -> Question {
        self.asked += 1;
        let name = format!("{}{}", self.prefix(), self.asked);
        let line = reply::list_tools(&name, cursor, own.meta.as_deref());
        let id = Id::text(&name, &Value::from(name.as_str()).to_string());
        self.listings.push(Listing { id, before: Some(tools), own: Some(own) });
        Question(line)
    }

    /// Whether an id is one of our own, answered or not: it never reaches the host.
    pub fn is_ours(&self, id: &Id) -> bool {
        id.raw().strip_prefix('"').is_some_and(|raw| raw.starts_with(&self.prefix()))
    }

    /// Whether this is the answer to a `tools/list` of the host's.
    pub fn awaits(&self, id: &Id) -> bool {
        self.listings.iter().any(|listing| listing.own.is_none() && listing.id == *id)
    }

    fn prefix(&self) -> String {
        format!("mcp-approve:{}:", self.nonce)
    }

    fn host_reads(&mut self, now: Now, page: Page, before: Option<Vec<Tool>>) {
        match (page.next_cursor, before) {
            (None, Some(mut tools)) => {
                tools.extend(page.tools);
                self.replace(now, tools);
            }
            (Some(_), Some(mut tools)) if tools.len() <= TOOLS => {
                // What the host has read so far counts at once; it may never ask for the rest.
                self.learn(now, page.tools.clone());
                tools.extend(page.tools);
                self.pages = Some(tools);
            }
            (_, _) => self.learn(now, page.tools),
        }
    }

    fn replace(&mut self, now: Now, tools: Vec<Tool>) {
        let names: HashSet<String> = tools.iter().map(|tool| tool.name.clone()).collect();
        self.learn(now, tools);
        // A tool that is gone is remembered: when it comes back changed, that is a change.
        let gone = self.tools.extract_if(|name, _| !names.contains(name));
        self.stale.extend(gone);
        self.knowledge = Knowledge::Whole;
    }

    fn learn(&mut self, now: Now, tools: Vec<Tool>) {
        self.version += 1;
        for tool in tools {
            self.looks.entry(lookalike::shape(&tool.name)).or_insert_with(|| tool.name.clone());
            let digest = tool.digest();
            let before = self.tools.get(&tool.name).or_else(|| self.stale.get(&tool.name));
            let described = match before {
                Some(known) if known.digest == digest => Arc::clone(known),
                Some(_) | None => {
                    let (pin_state, is_news) = self.pins.see(now.wall, &tool, digest, self.trust);
                    let described = Arc::new(self.describe(tool, digest, pin_state));
                    if is_news {
                        self.sighted(&described);
                    }
                    described
                }
            };
            self.tools.insert(described.tool.name.clone(), described);
        }
    }

    /// What is remembered was reviewed since: every tool is described anew.
    pub fn repin(&mut self, now: Now, mut pins: Pins) {
        // What was seen a moment ago may not be kept yet; it must not be taken for new.
        for (name, pin) in self.pins.tools.drain() {
            pins.tools.entry(name).or_insert(pin);
        }
        self.pins = pins;
        self.version += 1;
        self.stale.clear();
        let tools: Vec<Arc<Described>> = self.tools.drain().map(|(_, known)| known).collect();
        for known in tools {
            let (pin_state, _) = self.pins.see(now.wall, &known.tool, known.digest, self.trust);
            let described = self.describe(known.tool.clone(), known.digest, pin_state);
            self.tools.insert(known.tool.name.clone(), Arc::new(described));
        }
    }

    /// Hands out the definitions that are new or changed since this was asked last.
    pub fn take_sightings(&mut self) -> Vec<Sighting> {
        std::mem::take(&mut self.sightings)
    }

    /// Whether what is remembered has been read: before that, nothing is learnt and nothing judged.
    pub fn is_ready(&self) -> bool {
        self.pins.arrival == Arrival::Here
    }

    /// What changed in the server itself since it was trusted.
    pub fn server_change(&self) -> Option<&Arc<str>> {
        self.pins.changed.as_ref()
    }

    fn sighted(&mut self, described: &Described) {
        let Some(pin) = self.pins.tools.get_mut(&described.tool.name) else { return };
        if pin.identity.is_none() && described.pin_state == PinState::Trusted {
            pin.identity = Some(described.behavior.identity);
        }
        let (tool, pin, pin_state) = (described.tool.clone(), pin.clone(), described.pin_state);
        self.sightings.push(Sighting { tool, pin, pin_state });
    }

    fn describe(&mut self, tool: Tool, digest: Digest, pin_state: PinState) -> Described {
        let package = self.pins.package.as_deref();
        let curated = self.curated.get_or_insert_with(|| package.map(Curated::of_package).unwrap_or_default());
        let overrides = self.pins.said_of(curated, &tool.name, &digest);
        let mut behavior = conclude::of_tool_with(&tool, self.trust, overrides);
        behavior.hazards.extend(pin_state.hazard(behavior.identity));
        behavior.hazards.extend(self.pins.look_alike(&tool.name));
        let first = self.looks.get(&lookalike::shape(&tool.name));
        behavior.hazards.extend(first.and_then(|first| lookalike::within(&tool.name, first)));
        let plain = self.pins.tools.get(&tool.name).map(|pin| pin.plain_of(&digest).to_vec()).unwrap_or_default();
        Described::of(tool, digest, pin_state, plain, behavior)
    }
}
