//! The tools as their server describes them, from the host's `tools/list` or our own. Owns how fresh that is; judges nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::behavior::agreed::Backing;
use crate::behavior::conclude::{self, Overrides};
use crate::behavior::{Agreement, Agreements, Trust, curated::Curated, hazards::lookalike};
use crate::gate::config::{Config, Discover};
use crate::gate::data::pin::{AddedIn, PinState, PinUpdate, Pins, PinsArrival, UpdateKind};
use crate::gate::data::{effect::OwnLine, event::Now};
use crate::gate::deadline::DESCRIBE;
use crate::gate::server::described::{Described, Visibility};
use crate::gate::server::pages::{ListExtent, ListReply, Listing, Named, OwnListing, Pages, Relaying, Step};
use crate::mcp::Tool;
use crate::policy::{Scope, scope::Asked};
use crate::wire::{Digest, Id, Line, reply};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Knowledge {
    /// Nothing, or only parts of the server's list.
    #[default]
    Partial,
    /// The whole list, and no change was announced since.
    Whole,
}

pub enum ToolLookup {
    Found(Arc<Described>),
    /// The complete, fresh list does not have it.
    NotListed,
    /// The list is not known or not fresh: ask.
    AskServer,
}

#[derive(Default)]
pub struct Catalog {
    /// As described since the last announced change.
    tools: BTreeMap<String, Arc<Described>>,
    /// As described before that change: to detect what changed, never to judge by.
    stale: BTreeMap<String, Arc<Described>>,
    /// The first tool of each group of names that look alike, by the skeleton of the names.
    looks: BTreeMap<String, String>,
    knowledge: Knowledge,
    listings: Vec<Listing>,
    /// Answers not read to their end yet.
    unread: Pages,
    /// The tools of the pages that the host has read so far, until it asks for the next one.
    pages: Option<Named>,
    /// Bytes of all definitions in `tools`.
    bytes: usize,
    trust: Trust,
    pins: Pins,
    /// Our curated list for this server's package, loaded with the first definition to look up.
    curated: Option<Curated>,
    /// New and changed definitions not handed out yet.
    pin_updates: Vec<PinUpdate>,
    nonce: Arc<str>,
    /// The server's name, and what may be used of it.
    scope: (Arc<str>, Arc<Scope>),
    asked: u64,
    /// Rises with everything learned.
    version: u64,
}

/// How many unfinished listings of a host are followed; older ones are forgotten.
const LISTINGS: usize = 16;
const PAGES: usize = 1_000;
/// How many tools are known, and how many bytes of definitions, before the rest is ignored (then the list never counts as
/// whole, and each call of the rest asks): no honest server comes near, and one that renames its tools without end must not
/// fill the memory. As many names are remembered to tell what changed, and for look-alikes.
const TOOLS: usize = 20_000;
const BYTES: usize = 16 << 20;

impl Catalog {
    /// An empty catalog, with what is remembered from before. The nonce makes our ids unlike any of the host's.
    pub fn new(config: &Config, pins: Pins) -> Self {
        let Config { trust, nonce, server, scope, discover, .. } = config;
        let is_whole = scope.is_whole() && *discover == Discover::Off;
        let relay = if is_whole { Relaying::AtOnce } else { Relaying::Cut };
        let scope = (Arc::clone(server), Arc::clone(scope));
        Self { unread: Pages::new(relay), trust: *trust, pins, nonce: Arc::clone(nonce), scope, ..Self::default() }
    }

    pub fn find(&self, name: &str) -> ToolLookup {
        match (self.tools.get(name), self.knowledge) {
            (Some(described), _) => ToolLookup::Found(Arc::clone(described)),
            (None, Knowledge::Whole) => ToolLookup::NotListed,
            (None, Knowledge::Partial) => ToolLookup::AskServer,
        }
    }

    /// Whether the server could have a tool of this name: it has described one, or its list is not known.
    pub fn could_have(&self, name: &str) -> bool {
        self.knowledge == Knowledge::Partial || self.tools.contains_key(name)
    }

    /// Whether the server is known to have a tool of this name.
    pub fn lists(&self, name: &str) -> bool {
        let was_listed = self.knowledge == Knowledge::Partial && self.stale.contains_key(name);
        self.tools.contains_key(name) || was_listed
    }

    pub fn is_whole(&self) -> bool {
        self.knowledge == Knowledge::Whole
    }

    /// Whether the host gets its pages only once they were read, without the tools that are hidden from it.
    pub fn cuts_pages(&self) -> bool {
        self.unread.relaying() == Relaying::Cut
    }

    /// A tool as the server described it last, even if a change was announced since.
    pub fn seen(&self, name: &str) -> Option<&Described> {
        self.tools.get(name).or_else(|| self.stale.get(name)).map(Arc::as_ref)
    }

    pub fn fingerprint(&self) -> &str {
        &self.pins.fingerprint
    }

    pub fn agreed(&self) -> &Agreements {
        &self.pins.agreed
    }

    /// What of it has a signature that counts.
    pub fn signed(&self) -> &Agreements {
        &self.pins.signed
    }

    pub fn agree(&mut self, one: Agreement, backing: Backing) {
        if backing == Backing::Signed {
            self.pins.signed.insert(one.clone());
        }
        self.pins.agreed.insert(one);
    }

    pub fn count(&self) -> usize {
        self.tools.len()
    }

    pub fn known(&self) -> impl Iterator<Item = &Described> {
        self.tools.values().map(Arc::as_ref)
    }

    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether an answer to some `tools/list` is on its way: then long lines are worth buffering.
    pub fn is_listening(&self) -> bool {
        !self.listings.is_empty()
    }

    pub fn is_asking(&self) -> bool {
        self.listings.iter().any(|listing| listing.own.is_some())
    }

    /// When to stop waiting for our own question.
    pub fn wake_at(&self) -> Option<u64> {
        self.listings.iter().filter_map(|listing| listing.own.as_ref().map(|own| own.until)).min()
    }

    /// The server announced a change: what is known may be wrong.
    pub fn changed(&mut self) {
        if self.is_whole() && !self.tools.is_empty() {
            // What it adds from here on was not there when the server was accepted.
            self.pins.added_in = AddedIn::LaterSession;
        }
        if !self.tools.is_empty() {
            self.stale = std::mem::take(&mut self.tools);
        }
        self.bytes = 0;
        self.knowledge = Knowledge::Partial;
        self.pages = None;
    }

    /// `first` if it gives no cursor.
    pub fn host_asks(&mut self, id: &Id, first: bool) {
        let before = if first { Some(Named::default()) } else { self.pages.take() };
        if self.listings.len() >= LISTINGS {
            self.listings.remove(0);
        }
        self.listings.push(Listing { id: id.clone(), before, own: None, first });
    }

    /// Whether another page of the host's can be followed without forgetting one.
    pub fn has_room(&self) -> bool {
        self.listings.len() + 1 < LISTINGS
    }

    /// The host has cancelled its request for this page, or has its answer already.
    pub fn host_cancels(&mut self, id: &Id) {
        self.listings.retain(|listing| listing.own.is_some() || listing.id != *id);
    }

    /// Asks the server ourselves; `None` when a question is on its way already. `meta` for the stateless era.
    pub fn ask(&mut self, now: Now, meta: Option<String>) -> Option<OwnLine> {
        if self.is_asking() {
            return None;
        }
        let own = OwnListing { until: now.mono + DESCRIBE, pages: 1, meta };
        Some(self.question(Named::default(), None, own))
    }

    /// Keeps an answer to a `tools/list`: it is read once the host has it, piece by piece.
    pub fn receive(&mut self, id: Id, failed: bool, line: Line) {
        self.unread.receive(id, failed, line);
    }

    pub fn has_unparsed_lists(&self) -> bool {
        self.is_reading() && self.is_ready()
    }

    /// Whether answers wait to be read: what they say of a tool is not known yet.
    pub fn is_reading(&self) -> bool {
        !self.unread.is_empty()
    }

    pub fn read(&mut self, now: Now) -> ListReply {
        let listings = &mut self.listings;
        let listing = |id: &Id| {
            let at = listings.iter().position(|listing| &listing.id == id)?;
            Some(listings.remove(at))
        };
        match self.unread.step(listing) {
            Step::Nothing => ListReply::Relayed,
            Step::Tools(tools) => {
                self.learn(now, tools);
                ListReply::Reading
            }
            Step::NoPage(Some(Listing { own: None, id, .. })) => match self.unread.relaying() {
                Relaying::AtOnce => ListReply::Relayed,
                Relaying::Cut => ListReply::Page(Err(id)),
            },
            // A late answer of ours is still worth knowing.
            Step::NoPage(_) | Step::End { listing: None, .. } => ListReply::Failed,
            Step::End { listing: Some(Listing { own: None, before, id, .. }), next_cursor, whole } => {
                match (next_cursor, before) {
                    (None, Some(named)) => self.complete(&named),
                    (Some(_), Some(named)) if named.names.len() <= TOOLS => self.pages = Some(named),
                    (_, _) => {}
                }
                whole.map_or(ListReply::Relayed, |whole| ListReply::Page(Ok((id, whole))))
            }
            Step::End { listing: Some(Listing { own: Some(own), before, .. }), next_cursor, .. } => {
                let named = before.unwrap_or_default();
                match next_cursor {
                    Some(cursor) if named.names.len() <= TOOLS && own.pages < PAGES && own.until > now.mono => {
                        let own = OwnListing { pages: own.pages + 1, ..own };
                        ListReply::More(self.question(named, Some(&cursor), own))
                    }
                    Some(_) => ListReply::Failed,
                    None => {
                        self.complete(&named);
                        ListReply::Fresh
                    }
                }
            }
        }
    }

    /// Gives up on our own question when its time is over; `true` when it was.
    pub fn expire(&mut self, now: Now) -> bool {
        let before = self.listings.len();
        self.listings.retain(|listing| listing.own.as_ref().is_none_or(|own| own.until > now.mono));
        self.listings.len() != before
    }

    fn question(&mut self, named: Named, cursor: Option<&str>, own: OwnListing) -> OwnLine {
        self.asked += 1;
        let name = format!("{}{}", self.prefix(), self.asked);
        let line = reply::list_tools(&name, cursor, own.meta.as_deref());
        let id = Id::text(&name, &Value::from(name.as_str()).to_string());
        self.listings.push(Listing { id, before: Some(named), own: Some(own), first: cursor.is_none() });
        OwnLine(line)
    }

    /// Whether an id is one of our own, answered or not: it never reaches the host.
    pub fn is_ours(&self, id: &Id) -> bool {
        id.as_text().is_some() && id.raw().strip_prefix('"').is_some_and(|raw| raw.starts_with(&self.prefix()))
    }

    /// Whether this is the answer to a `tools/list` of the host's.
    pub fn awaits(&self, id: &Id) -> bool {
        self.listings.iter().any(|listing| listing.own.is_none() && listing.id == *id)
    }

    fn prefix(&self) -> String {
        format!("mcp-approve:{}:", self.nonce)
    }

    /// A list was read to its end: a tool that is not in it is gone.
    fn complete(&mut self, named: &Named) {
        // A tool that is gone is remembered, to detect a change if it comes back.
        let gone = self.tools.extract_if(.., |name, _| !named.names.contains(name));
        for (name, known) in gone {
            self.bytes = self.bytes.saturating_sub(known.bytes);
            if self.stale.len() < TOOLS {
                self.stale.insert(name, known);
            }
        }
        self.knowledge = if named.extent == ListExtent::All { Knowledge::Whole } else { Knowledge::Partial };
    }

    fn learn(&mut self, now: Now, tools: Vec<Tool>) {
        self.version += 1;
        for tool in tools {
            let name = tool.name.clone();
            if self.looks.len() < TOOLS {
                self.looks.entry(lookalike::shape(&name)).or_insert_with(|| name.clone());
            }
            let extent = self.learn_one(now, tool);
            if let Some(named) = self.unread.named() {
                named.names.insert(name);
                named.extent = named.extent.max(extent);
            }
        }
    }

    fn learn_one(&mut self, now: Now, tool: Tool) -> ListExtent {
        let digest = tool.digest();
        let known = self.tools.get(&tool.name);
        let instead = known.map_or(0, |known| known.bytes);
        let described = match known.or_else(|| self.stale.get(&tool.name)) {
            Some(known) if known.digest == digest => Arc::clone(known),
            Some(_) | None => {
                let (pin_state, kind) = self.pins.note(now.wall, &tool, digest, self.trust);
                let described = Arc::new(self.describe(tool, digest, pin_state));
                if let Some(kind) = kind {
                    self.keep_update(&described, kind);
                }
                described
            }
        };
        let bytes = self.bytes.saturating_sub(instead) + described.bytes;
        let is_new = instead == 0;
        if bytes > BYTES || is_new && self.tools.len() >= TOOLS {
            // It may differ from the definition known so far: now nothing is known of the tool.
            self.bytes = self.bytes.saturating_sub(instead);
            self.tools.remove(&described.tool.name);
            return ListExtent::Some;
        }
        self.bytes = bytes;
        self.tools.insert(described.tool.name.clone(), described);
        ListExtent::All
    }

    /// The pins were reviewed: the tools that this concerns are described again.
    pub fn repin(&mut self, now: Now, mut pins: Pins) {
        // A definition that was just seen may not be stored yet; it must not be taken for new.
        let mut before = std::mem::take(&mut self.pins);
        for (name, pin) in &before.tools {
            pins.tools.entry(name.clone()).or_insert_with(|| pin.clone());
        }
        if before.added_in == AddedIn::LaterSession {
            pins.added_in = before.added_in;
        }
        let alike = (&before.package, &before.others, &before.views) == (&pins.package, &pins.others, &pins.views);
        self.pins = pins;
        self.version += 1;
        self.stale.clear();
        let tools: Vec<Arc<Described>> = self.tools.values().map(Arc::clone).collect();
        for known in tools {
            // A review mostly concerns one of thousands of tools: the others keep their descriptions.
            if alike && before.tools.remove(&known.tool.name).as_ref() == self.pins.tools.get(&known.tool.name) {
                continue;
            }
            let (pin_state, _) = self.pins.note(now.wall, &known.tool, known.digest, self.trust);
            let described = self.describe(known.tool.clone(), known.digest, pin_state);
            self.tools.insert(known.tool.name.clone(), Arc::new(described));
        }
    }

    pub fn take_pin_updates(&mut self) -> Vec<PinUpdate> {
        std::mem::take(&mut self.pin_updates)
    }

    /// Whether the pins have been read: before that, nothing is learnt and nothing judged.
    pub fn is_ready(&self) -> bool {
        self.pins.arrival == PinsArrival::Here
    }

    pub fn unproven(&self) -> &[String] {
        &self.pins.unproven
    }

    pub fn server_change(&self) -> Option<&Arc<str>> {
        self.pins.changed.as_ref()
    }

    fn keep_update(&mut self, described: &Described, kind: UpdateKind) {
        let Some(pin) = self.pins.tools.get_mut(&described.tool.name) else { return };
        if pin.identity.is_none() && described.pin_state == PinState::Trusted {
            pin.identity = Some(described.behavior.identity);
        }
        let (tool, pin, pin_state) = (described.tool.clone(), pin.clone(), described.pin_state);
        self.pin_updates.push(PinUpdate { tool, pin, pin_state, kind });
    }

    fn describe(&mut self, tool: Tool, digest: Digest, pin_state: PinState) -> Described {
        let package = self.pins.package.as_deref();
        let curated = self.curated.get_or_insert_with(|| package.map(Curated::of_package).unwrap_or_default());
        let overrides = self.pins.said_of(curated, &tool.name, &digest);
        let given = curated.given(&digest);
        let behavior_by = |overrides| {
            let mut behavior = conclude::of_tool_with(&tool, self.trust, overrides);
            behavior.hazards.extend(pin_state.hazard(behavior.identity));
            behavior.hazards.extend(self.pins.look_alike(&tool.name));
            let first = self.looks.get(&lookalike::shape(&tool.name));
            behavior.hazards.extend(first.and_then(|first| lookalike::within(&tool.name, first)));
            behavior
        };
        let unsaid = overrides.pinned.map(|_| Box::new(behavior_by(Overrides { pinned: None, ..overrides.clone() })));
        let behavior = behavior_by(overrides);
        let (server, scope) = &self.scope;
        let asked = Asked { server, name: &tool.name, tool: Some(&tool), behavior: &behavior };
        let visibility = if scope.holds(asked).is_ok() { Visibility::Listed } else { Visibility::Hidden };
        let mut described = Described::of(tool, digest, pin_state, (behavior, visibility, given));
        described.unsaid = unsaid;
        described
    }
}
