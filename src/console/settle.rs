//! What the operator settles of tools and programs, as `tools review` does: recorded first, then kept. Reads no pin for a
//! screen.

use super::pinned::{Former, Settled, Settling, Shown};
use crate::behavior::taxonomy::Mutability;
use crate::gate::data::pin::Pin;
use crate::gate::data::pinning::PinWord;
use crate::home::places::Places;
use crate::home::record::{RecordError, record};
use crate::home::user;
use crate::pins::reading::{Known, Server};
use crate::pins::{Memory, PinsError, review};

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
    #[error("it changed again since it was shown; review it again")]
    Outdated,
}

/// What the operator says of a definition.
enum Word {
    Accepted,
    Refused,
    Is(Mutability),
    TakenBack(Pin),
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
            Settling::Accept(shown) => self.tools(memory, vec![(shown.clone(), Word::Accepted)]),
            Settling::Refuse(shown) => self.tools(memory, vec![(shown.clone(), Word::Refused)]),
            Settling::Say { shown, mutability } => {
                self.tools(memory, shown.iter().map(|shown| (shown.clone(), Word::Is(*mutability))).collect())
            }
            Settling::AcceptProgram { fingerprint, server, program } => {
                self.program(memory, (fingerprint, server, program), None)
            }
            Settling::TakeBack(Former::Tools(former)) => {
                let taken_back = |(fingerprint, tool, pin): &(String, String, Pin)| {
                    let (fingerprint, tool, latest) = (fingerprint.clone(), tool.clone(), pin.latest);
                    (Shown { fingerprint, tool, latest }, Word::TakenBack(pin.clone()))
                };
                self.tools(memory, former.iter().map(taken_back).collect())
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

    /// Settles each of these; those that changed since they were shown are left as they are, and counted.
    fn tools(&self, memory: &mut Memory, words: Vec<(Shown, Word)>) -> Result<(review::Settled, Settled), SettleError> {
        let all = memory.tools()?;
        let (mut done, mut outdated, mut former) = (Vec::new(), 0, Vec::new());
        for (shown, word) in words {
            let same = |known: &&Known| {
                known.server.fingerprint == shown.fingerprint
                    && known.tool.name == shown.tool
                    && known.pin.latest == shown.latest
            };
            let settled = match all.iter().find(same) {
                Some(known) => self.tool(memory, known, &word)?.map(|says| (says, known)),
                None => None,
            };
            let Some((says, known)) = settled else {
                outdated += 1;
                continue;
            };
            if !matches!(word, Word::TakenBack(_)) {
                former.push((shown.fingerprint, shown.tool, known.pin.clone()));
            }
            done.push(says);
        }
        let Some(first) = done.first() else { return Err(SettleError::Outdated) };
        let mut says = match done.len() {
            1 => first.clone(),
            more => format!("{first} And {} more.", more - 1),
        };
        if outdated > 0 {
            says.push_str(&format!(" {outdated} changed since and stay as they were."));
        }
        let former = (!former.is_empty()).then_some(Former::Tools(former));
        Ok((review::Settled::Done, Settled { says, former }))
    }

    /// What was done; `None` where the definition changed since it was shown.
    fn tool(&self, memory: &mut Memory, known: &Known, word: &Word) -> Result<Option<String>, SettleError> {
        let record = |what: &str| self.record(&known.server, Some(known), what);
        let name = format!("{} of {}", known.tool.name, known.server.name);
        let (settled, says) = match word {
            Word::Accepted => {
                record("accepted the definition")?;
                (memory.accept(known)?, format!("Accepted: this definition of {name} is trusted from now on."))
            }
            Word::Refused => {
                record("refused the definition")?;
                (memory.refuse(known)?, format!("Refused: calls of {name} are denied."))
            }
            Word::Is(mutability) => {
                let word = PinWord::Is(known.behavior.identity.with_mutability(*mutability));
                record(&word.to_string())?;
                (memory.pin(known, word)?, format!("Remembered: {name} is {}.", mutability.word()))
            }
            Word::TakenBack(former) => {
                record("took the last review of the definition back")?;
                (memory.put_back(known, former)?, format!("Taken back: the review of {name}."))
            }
        };
        Ok((settled == review::Settled::Done).then_some(says))
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
                let says = format!("Accepted: the program of {name} is trusted, and its allow rules apply again.");
                let former = Former::Program { fingerprint, server: name, program, trusted };
                (memory.accept_server(&server)?, Settled { says, former: Some(former) })
            }
        })
    }
}
