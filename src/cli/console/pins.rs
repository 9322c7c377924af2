//! The pins for the console's Tools screen: read when they have changed, settled as `tools review` settles them.

use crate::behavior::identity::Identity;
use crate::behavior::profile::Profile;
use crate::behavior::tags;
use crate::capability::types;
use crate::cli::config;
use crate::cli::error::Error;
use crate::cli::tools::{person, show};
use crate::console::pinned::{Difference, Former, PinBook, PinnedProgram, PinnedTool, Settled, Settling};
use crate::gate::data::pin::Pin;
use crate::home::places::Places;
use crate::home::policy_file;
use crate::interpose::clock;
use crate::pins::reading::{Known, Server};
use crate::pins::{Memory, review};
use crate::policy::rule::{Decision, Rule};
use crate::wire::digest::Digest;

/// What was read last, so that nothing is concluded twice.
pub(super) struct Reader {
    places: Places,
    memory: Option<Memory>,
    generation: Option<i64>,
    last: Option<PinBook>,
}

impl Reader {
    pub(super) fn new(places: Places) -> Self {
        Self { places, memory: None, generation: None, last: None }
    }

    /// Everything that is remembered; `None` where it is as it was read last.
    pub(super) fn read(&mut self) -> Result<Option<PinBook>, String> {
        let read = self.look().map_err(|error| told("what is remembered of tools cannot be read: ", &error));
        if read.is_err() {
            (self.memory, self.last) = (None, None);
        }
        read
    }

    fn look(&mut self) -> Result<Option<PinBook>, Error> {
        if self.memory.is_none() {
            self.generation = None;
            self.memory = Memory::open_existing(&self.places.pins_db())?;
        }
        let mut book = match &self.memory {
            None => PinBook::default(),
            Some(memory) => {
                let generation = memory.generation()?;
                match self.last.clone().filter(|_| self.generation == Some(generation)) {
                    Some(last) => last,
                    None => {
                        self.generation = Some(generation);
                        of_memory(memory)?
                    }
                }
            }
        };
        let rules = allows(&self.places);
        let named = |server: &str, tool: Option<&str>| {
            let names = rules.iter().filter(|rule| names(rule, server, tool));
            names.map(|rule| rule.id.clone()).collect::<Vec<_>>()
        };
        for tool in &mut book.tools {
            tool.rules = if tool.waits() { named(&tool.server, Some(&tool.tool)) } else { Vec::new() };
        }
        for program in &mut book.programs {
            program.rules = named(&program.server, None);
        }
        if self.last.as_ref() == Some(&book) {
            return Ok(None);
        }
        self.last = Some(book.clone());
        Ok(Some(book))
    }
}

/// The allow rules of the files as they stand; a broken file suspends its own and is told elsewhere.
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

fn of_memory(memory: &Memory) -> Result<PinBook, Error> {
    let tools = memory.tools()?;
    let programs = memory.servers()?;
    Ok(PinBook {
        tools: tools.iter().map(|known| tool(memory, known)).collect::<Result<_, _>>()?,
        programs: programs.iter().filter_map(program).collect(),
    })
}

fn tool(memory: &Memory, known: &Known) -> Result<PinnedTool, Error> {
    let (tool, behavior) = (&known.tool, &known.behavior);
    let profile = Profile::of(tool, behavior.identity);
    let changes = show::changes(memory, known)?.into_iter();
    Ok(PinnedTool {
        server: known.server.name.clone(),
        fingerprint: known.server.fingerprint.clone(),
        tool: tool.name.clone(),
        signature: types::signature(tool),
        tags: tags::of(behavior, &tool.name),
        effects: format!("{}; idempotent: {}", profile.side_effects.word(), profile.idempotence.word()),
        identity: behavior.identity,
        was: known.pin.identity,
        said: known.pin.said,
        evidence: behavior.evidence.clone(),
        disputed: behavior.disputed,
        hazards: behavior.hazards.clone(),
        pin: known.pin_state,
        version: known.pin.version,
        latest: known.pin.latest,
        definition: serde_json::to_string_pretty(&tool.definition).unwrap_or_else(|_| tool.definition.to_string()),
        changes: changes.map(|one| Difference { place: one.place, before: one.before, after: one.after }).collect(),
        rules: Vec::new(),
        first_seen: known.pin.first_seen,
        last_seen: known.last_seen,
    })
}

fn program(server: &Server) -> Option<PinnedProgram> {
    Some(PinnedProgram {
        why: server.change()?,
        server: server.name.clone(),
        fingerprint: server.fingerprint.clone(),
        command: server.command.clone(),
        program: server.program.clone(),
        trusted: server.trusted.clone(),
        rules: Vec::new(),
        last_seen: server.last_seen,
    })
}

fn told(what: &str, error: &Error) -> String {
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{what}{error}{hint}")
}

/// Settles what the operator has read, once that is on record.
pub(super) fn settle(places: &Places, settling: &Settling) -> Result<Settled, String> {
    let done = match settling {
        Settling::Accept { fingerprint, tool, latest } => {
            of_tool(places, (fingerprint, tool, *latest), &Word::Accepted)
        }
        Settling::Refuse { fingerprint, tool, latest } => of_tool(places, (fingerprint, tool, *latest), &Word::Refused),
        Settling::AcceptProgram { fingerprint, server, program } => {
            of_program(places, (fingerprint, server, program), None)
        }
        Settling::TakeBack(Former::Tool { fingerprint, tool, latest, trusted, refused, identity }) => {
            let word = Word::TakenBack { trusted: *trusted, refused: *refused, identity: *identity };
            of_tool(places, (fingerprint, tool, *latest), &word)
        }
        Settling::TakeBack(Former::Program { fingerprint, server, program, trusted }) => {
            of_program(places, (fingerprint, server, program), Some(trusted.as_deref()))
        }
    };
    match done.map_err(|error| told("", &error))? {
        Some((review::Settled::Done, settled)) => Ok(settled),
        Some((review::Settled::Outdated, _)) | None => {
            Err("it changed again since it was shown; review it anew".to_owned())
        }
    }
}

/// What the operator says of a definition.
enum Word {
    Accepted,
    Refused,
    TakenBack { trusted: Option<Digest>, refused: Option<Digest>, identity: Option<Identity> },
}

/// `None` where what was shown is not there any more.
type Done = Option<(review::Settled, Settled)>;

fn of_tool(places: &Places, shown: (&str, &str, Digest), word: &Word) -> Result<Done, Error> {
    let (fingerprint, tool, latest) = shown;
    let Some(mut memory) = Memory::open_existing(&places.pins_db())? else { return Ok(None) };
    let same = |known: &Known| {
        known.server.fingerprint == fingerprint && known.tool.name == tool && known.pin.latest == latest
    };
    let Some(known) = memory.tools()?.into_iter().find(same) else { return Ok(None) };
    let record = |what: &str| {
        person::record(places, clock::wall_ms(), &known.server, Some((&known.tool.name, known.pin.latest)), what)
    };
    let name = format!("{tool} of {}", known.server.name);
    let Pin { trusted, refused, identity, .. } = known.pin;
    let former =
        Former::Tool { fingerprint: fingerprint.to_owned(), tool: tool.to_owned(), latest, trusted, refused, identity };
    Ok(Some(match word {
        Word::Accepted => {
            record("accepted the definition")?;
            let says = format!("Accepted: this definition of {name} is trusted from now on.");
            (memory.accept(&known)?, Settled { says, former: Some(former) })
        }
        Word::Refused => {
            record("refused the definition")?;
            let says = format!("Refused: calls of {name} are denied.");
            (memory.refuse(&known)?, Settled { says, former: Some(former) })
        }
        Word::TakenBack { trusted, refused, identity } => {
            record("took the last review of the definition back")?;
            let was = Pin { trusted: *trusted, refused: *refused, identity: *identity, ..known.pin.clone() };
            (
                memory.put_back(&known, &was)?,
                Settled { says: format!("Taken back: the review of {name}."), former: None },
            )
        }
    }))
}

/// `back`: the files that were trusted before, where a review is taken back.
fn of_program(places: &Places, shown: (&str, &str, &str), back: Option<Option<&str>>) -> Result<Done, Error> {
    let Some(mut memory) = Memory::open_existing(&places.pins_db())? else { return Ok(None) };
    let same = |one: &Server| (&*one.fingerprint, &*one.name, &*one.program) == shown;
    let Some(server) = memory.servers()?.into_iter().find(same) else { return Ok(None) };
    let record = |what: &str| person::record(places, clock::wall_ms(), &server, None, what);
    let Server { name, fingerprint, program, trusted, .. } = server.clone();
    Ok(Some(match back {
        Some(trusted) => {
            record("took the last review of the server's program back")?;
            let says = format!("Taken back: the review of the program of {name}.");
            (memory.put_back_server(&server, trusted)?, Settled { says, former: None })
        }
        None => {
            record("accepted the server's program and command")?;
            let says = format!("Accepted: the program of {name} is trusted, and its allow rules stand again.");
            let former = Former::Program { fingerprint, server: name, program, trusted };
            (memory.accept_server(&server)?, Settled { says, former: Some(former) })
        }
    }))
}
