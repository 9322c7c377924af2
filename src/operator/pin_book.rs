//! What is remembered of tools, for the Tools screen: read when it has changed. Settles nothing.

use super::pinned::{PinBook, PinnedProgram, PinnedTool};
use crate::behavior::tags;
use crate::capability::types;
use crate::home::agreed::{self, AgreedError, Known};
use crate::home::{config, offered, pages, places::Places, policy_file};
use crate::link::message::KnownTool;
use crate::pins::reading::{Server, StoredTool};
use crate::pins::{PinStore, PinsError};
use crate::policy::role::{ToolProfile, profile_of};
use crate::policy::{Decision, Rule, rule::FirstUse};

/// Keeps what was read last, so that nothing is concluded twice.
pub(super) struct PinReader {
    places: Places,
    store: Option<PinStore>,
    generation: Option<i64>,
    last: Option<PinBook>,
    /// The tools of the generation that was read last.
    tools: Vec<StoredTool>,
    /// What the pages were made by.
    paged: Option<(FirstUse, Vec<Known>)>,
}

impl PinReader {
    pub(super) fn new(places: Places) -> Self {
        Self { places, store: None, generation: None, last: None, tools: Vec::new(), paged: None }
    }

    /// `None` where it is as it was read last. `now` is milliseconds since 1970, UTC.
    pub(super) fn read(&mut self, now: i64) -> Result<Option<PinBook>, String> {
        self.look(now).map_err(|error| {
            (self.store, self.last) = (None, None);
            format!("what is remembered of tools cannot be read: {error}; {}", error.hint())
        })
    }

    fn look(&mut self, now: i64) -> Result<Option<PinBook>, AgreedError> {
        if self.store.is_none() {
            self.generation = None;
            self.store = PinStore::open_existing(&self.places.pins_db())?;
        }
        let mut book = match &self.store {
            None => PinBook::default(),
            Some(store) => {
                let generation = store.generation()?;
                let mut book = match self.last.clone().filter(|_| self.generation == Some(generation)) {
                    Some(last) => last,
                    None => {
                        (self.generation, self.paged) = (Some(generation), None);
                        self.tools = store.tools()?;
                        of_store(store, &self.tools, &config::tools(&self.places).unwrap_or_default())?
                    }
                };
                // Not by the generation: whether it counts is in the log.
                book.agreed = agreed::all(store, &self.places, now)?;
                let paged = Some((pages::first_use(&self.places), book.agreed.clone()));
                if self.paged != paged {
                    let first_use = paged.as_ref().map_or(FirstUse::Allow, |(first_use, _)| *first_use);
                    book.pages = pages::of(&self.tools, &book.agreed, first_use, &pages::SeenOf::new());
                    self.paged = paged;
                }
                book
            }
        };
        let teams = offered::waiting((self.store.as_ref(), &self.places), now);
        book.teams = teams.into_iter().map(|(author, _)| author).collect();
        let rules = allows(&self.places);
        let named = |server: &str, tool: Option<&str>| {
            let names = rules.iter().filter(|rule| names(rule, server, tool));
            names.map(|rule| rule.id.clone()).collect::<Vec<_>>()
        };
        for tool in &mut book.tools {
            tool.rules = if tool.waits() { named(&tool.server, Some(&tool.known.tool)) } else { Vec::new() };
        }
        for program in &mut book.programs {
            program.rules = named(&program.server.name, None);
        }
        if self.last.as_ref() == Some(&book) {
            return Ok(None);
        }
        self.last = Some(book.clone());
        Ok(Some(book))
    }
}

/// The allow rules of the files as they are now; a broken file has none here, and the Rules screen says so.
fn allows(places: &Places) -> Vec<Rule> {
    let files = config::policies(places).unwrap_or_default();
    let rules = files.iter().filter_map(|file| policy_file::load(file).ok()).flat_map(|policy| policy.rules);
    rules.filter(|rule| rule.decision == Decision::Allow).collect()
}

/// Whether a rule's names reach this tool, or with `None` any tool of the server.
fn names(rule: &Rule, server: &str, tool: Option<&str>) -> bool {
    let of_server = rule.server.is_empty() || rule.server.iter().any(|glob| glob.matches(server));
    let of_tool = |tool: &str| rule.tool.is_empty() || rule.tool.iter().any(|glob| glob.matches(server, tool));
    of_server && tool.is_none_or(of_tool)
}

fn of_store(store: &PinStore, tools: &[StoredTool], profiles: &[ToolProfile]) -> Result<PinBook, PinsError> {
    let programs = store.servers()?;
    let program = |server: Server| Some(PinnedProgram { why: server.change()?, server, rules: Vec::new() });
    Ok(PinBook {
        tools: tools.iter().map(|known| tool(store, known, profiles)).collect::<Result<_, _>>()?,
        programs: programs.into_iter().filter_map(program).collect(),
        agreed: Vec::new(),
        pages: Vec::new(),
        teams: Vec::new(),
    })
}

fn tool(store: &PinStore, known: &StoredTool, profiles: &[ToolProfile]) -> Result<PinnedTool, PinsError> {
    let (tool, behavior) = (&known.tool, &known.behavior);
    Ok(PinnedTool {
        server: known.server.name.clone(),
        fingerprint: known.server.fingerprint.clone(),
        known: KnownTool {
            tool: tool.name.clone(),
            signature: types::signature(tool),
            identity: behavior.identity,
            confidence: behavior.confidence,
            evidence: behavior.evidence.to_vec(),
            disputed: behavior.disputed,
            hazards: behavior.hazards.clone(),
            digest: known.pin.latest,
            pin: known.pin_state,
        },
        tags: tags::of(behavior, &tool.name),
        effects: profile_of(profiles, &known.server.name, tool, behavior).effects(),
        was: known.pin.identity,
        version: known.pin.version,
        definition: serde_json::to_string_pretty(&tool.definition).unwrap_or_else(|_| tool.definition.to_string()),
        changes: store.changes(known)?,
        grown: store.grown(known)?,
        rules: Vec::new(),
        last_seen: known.last_seen,
    })
}
