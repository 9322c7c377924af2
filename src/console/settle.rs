//! What the operator settles of tools and programs, as `tools review` does: recorded first, then kept. Reads no pin for a
//! screen.

use super::pinned::{Former, Settled, Settling};
use crate::behavior::identity::Identity;
use crate::gate::data::pin::Pin;
use crate::home::places::Places;
use crate::home::record::{RecordError, record};
use crate::home::user;
use crate::pins::reading::{Known, Server};
use crate::pins::{Memory, PinsError, review};
use crate::wire::digest::Digest;

/// Why nothing was settled.
#[derive(Debug, thiserror::Error)]
pub(super) enum SettleError {
    #[error("{error}; {}", error.hint())]
    Pins {
        #[from]
        error: PinsError,
    },
    #[error("{error}; {}", error.hint())]
    NotRecorded {
        #[from]
        error: RecordError,
    },
    #[error("it changed again since it was shown; review it anew")]
    Outdated,
}

/// What the operator says of a definition.
enum Word {
    Accepted,
    Refused,
    TakenBack { trusted: Option<Digest>, refused: Option<Digest>, identity: Option<Identity> },
}

/// Where it is settled, and when (milliseconds since 1970, UTC).
pub(super) struct Settlement<'p> {
    pub(super) places: &'p Places,
    pub(super) now: i64,
}

impl Settlement<'_> {
    /// Settles what the operator has read, once that is on record.
    ///
    /// # Errors
    /// It changed meanwhile, or cannot be recorded or kept.
    pub(super) fn of(&self, settling: &Settling) -> Result<Settled, SettleError> {
        let memory = &mut Memory::open_existing(&self.places.pins_db())?.ok_or(SettleError::Outdated)?;
        let (done, settled) = match settling {
            Settling::Accept { fingerprint, tool, latest } => {
                self.tool(memory, (fingerprint, tool, *latest), &Word::Accepted)
            }
            Settling::Refuse { fingerprint, tool, latest } => {
                self.tool(memory, (fingerprint, tool, *latest), &Word::Refused)
            }
            Settling::AcceptProgram { fingerprint, server, program } => {
                self.program(memory, (fingerprint, server, program), None)
            }
            Settling::TakeBack(Former::Tool { fingerprint, tool, latest, trusted, refused, identity }) => {
                let word = Word::TakenBack { trusted: *trusted, refused: *refused, identity: *identity };
                self.tool(memory, (fingerprint, tool, *latest), &word)
            }
            Settling::TakeBack(Former::Program { fingerprint, server, program, trusted }) => {
                self.program(memory, (fingerprint, server, program), Some(trusted.as_deref()))
            }
        }?;
        match done {
            review::Settled::Done => Ok(settled),
            review::Settled::Outdated => Err(SettleError::Outdated),
        }
    }

    fn record(&self, server: &Server, tool: Option<&Known>, what: &str) -> Result<(), SettleError> {
        let entry = review::entry(self.now, server, tool, what, &user::name());
        Ok(record(self.places, entry)?)
    }

    fn tool(
        &self,
        memory: &mut Memory,
        (fingerprint, tool, latest): (&str, &str, Digest),
        word: &Word,
    ) -> Result<(review::Settled, Settled), SettleError> {
        let shown = |known: &Known| {
            known.server.fingerprint == fingerprint && known.tool.name == tool && known.pin.latest == latest
        };
        let known = memory.tools()?.into_iter().find(shown).ok_or(SettleError::Outdated)?;
        let record = |what| self.record(&known.server, Some(&known), what);
        let name = format!("{tool} of {}", known.server.name);
        let Pin { trusted, refused, identity, .. } = known.pin;
        let (fingerprint, tool) = (fingerprint.to_owned(), tool.to_owned());
        let former = Some(Former::Tool { fingerprint, tool, latest, trusted, refused, identity });
        Ok(match word {
            Word::Accepted => {
                record("accepted the definition")?;
                let says = format!("Accepted: this definition of {name} is trusted from now on.");
                (memory.accept(&known)?, Settled { says, former })
            }
            Word::Refused => {
                record("refused the definition")?;
                let says = format!("Refused: calls of {name} are denied.");
                (memory.refuse(&known)?, Settled { says, former })
            }
            Word::TakenBack { trusted, refused, identity } => {
                record("took the last review of the definition back")?;
                let was = Pin { trusted: *trusted, refused: *refused, identity: *identity, ..known.pin.clone() };
                let says = format!("Taken back: the review of {name}.");
                (memory.put_back(&known, &was)?, Settled { says, former: None })
            }
        })
    }

    /// `back`: the files that were trusted before, where a review is taken back.
    fn program(
        &self,
        memory: &mut Memory,
        shown: (&str, &str, &str),
        back: Option<Option<&str>>,
    ) -> Result<(review::Settled, Settled), SettleError> {
        let same = |one: &Server| (&*one.fingerprint, &*one.name, &*one.program) == shown;
        let server = memory.servers()?.into_iter().find(same).ok_or(SettleError::Outdated)?;
        let Server { name, fingerprint, program, trusted, .. } = server.clone();
        Ok(match back {
            Some(trusted) => {
                self.record(&server, None, "took the last review of the server's program back")?;
                let says = format!("Taken back: the review of the program of {name}.");
                (memory.put_back_server(&server, trusted)?, Settled { says, former: None })
            }
            None => {
                self.record(&server, None, "accepted the server's program and command")?;
                let says = format!("Accepted: the program of {name} is trusted, and its allow rules stand again.");
                let former = Former::Program { fingerprint, server: name, program, trusted };
                (memory.accept_server(&server)?, Settled { says, former: Some(former) })
            }
        })
    }
}
