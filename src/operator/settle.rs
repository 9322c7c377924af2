//! Settles what the operator decides about tools and programs, as `tools review` does: recorded first, then kept.

use crate::home::agreed::{self, AgreedError, RecordError, record};
use crate::home::places::Places;
use crate::home::{pages, user};
use crate::operator::pinned::{PinReview, ProgramReview, ReviewDone, Shown, ToolReview};
use crate::pins::page::Page;
use crate::pins::reading::{self, Server, StoredTool};
use crate::pins::{PinStore, PinsError};
use crate::wire::digest::Digest;

#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    #[error("{}; {}", .0, .0.hint())]
    Pins(#[from] PinsError),
    #[error("{}; {}", .0, .0.hint())]
    NotRecorded(#[from] RecordError),
    #[error("{}; {}", .0, .0.hint())]
    Agreed(#[from] AgreedError),
    #[error("it changed again since it was shown; review it again")]
    Outdated,
}

/// The folders it is settled in, and the time (milliseconds since 1970, UTC).
pub struct Settlement<'p> {
    pub places: &'p Places,
    pub now: i64,
}

impl Settlement<'_> {
    pub fn of(&self, review: &PinReview) -> Result<ReviewDone, SettleError> {
        let store = &mut PinStore::open(&self.places.pins_db())?;
        match review {
            PinReview::Tools(words) => self.tools(store, words),
            PinReview::Program { fingerprint, server, program, word } => {
                self.program(store, (fingerprint, server, program), word)
            }
            PinReview::Page(page, lines) => self.page(store, page, lines),
            PinReview::Forget(digests) => self.forget(store, digests),
        }
    }

    fn record(&self, server: &Server, tool: Option<&StoredTool>, what: &str) -> Result<(), SettleError> {
        let entry = reading::entry(self.now, server, tool, what, &user::name());
        Ok(record(self.places, entry)?)
    }

    fn page(&self, store: &mut PinStore, page: &Page, lines: &[usize]) -> Result<ReviewDone, SettleError> {
        let (says, agreed) = pages::answer(store, self.places, page, lines, self.now)?;
        let digests: Vec<Digest> = agreed.iter().map(|one| one.digest(&page.fingerprint)).collect();
        // What was said of a definition is taken back on Tools.
        let undo = (digests.len() == lines.len()).then_some(PinReview::Forget(digests));
        Ok(ReviewDone { says, undo })
    }

    fn forget(&self, store: &mut PinStore, digests: &[Digest]) -> Result<ReviewDone, SettleError> {
        let mut known = agreed::all(store, self.places, self.now)?;
        known.retain(|one| digests.contains(&one.kept.digest()));
        let first = known.first().ok_or(SettleError::Outdated)?;
        let more = match known.len() {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        let says = format!("Taken back: {}{more}. Calls ask about it again.", first.kept.agreement.says());
        agreed::take_back(store, self.places, &known.iter().collect::<Vec<_>>(), self.now)?;
        Ok(ReviewDone { says, undo: None })
    }

    /// Settles each of these; those that changed since they were shown are left as they are, and counted.
    fn tools(&self, store: &mut PinStore, words: &[(Shown, ToolReview)]) -> Result<ReviewDone, SettleError> {
        let all = store.tools()?;
        let (mut done, mut outdated, mut undo) = (Vec::new(), 0, Vec::new());
        for (shown, word) in words {
            let same = |known: &&StoredTool| {
                known.server.fingerprint == shown.fingerprint
                    && known.tool.name == shown.tool
                    && known.pin.latest == shown.latest
            };
            let settled = match all.iter().find(same) {
                Some(known) => self.tool(store, known, word)?.map(|says| (says, known)),
                None => None,
            };
            let Some((says, known)) = settled else {
                outdated += 1;
                continue;
            };
            if !matches!(word, ToolReview::TakenBack(_)) {
                undo.push((shown.clone(), ToolReview::TakenBack(known.pin.clone())));
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
        Ok(ReviewDone { says, undo: (!undo.is_empty()).then_some(PinReview::Tools(undo)) })
    }

    /// What was done; `None` where the definition changed since it was shown.
    fn tool(&self, store: &mut PinStore, known: &StoredTool, word: &ToolReview) -> Result<Option<String>, SettleError> {
        let record = |what: &str| self.record(&known.server, Some(known), what);
        let name = format!("{} of {}", known.tool.name, known.server.name);
        let (settled, says) = match word {
            ToolReview::Accepted => {
                record("accepted the definition")?;
                (store.accept(known)?, format!("Accepted: this definition of {name} is trusted from now on."))
            }
            ToolReview::Refused => {
                record("refused the definition")?;
                (store.refuse(known)?, format!("Refused: calls of {name} are denied."))
            }
            ToolReview::Is(mutability) => {
                let word = known.behavior.identity.with_mutability(*mutability);
                record(&format!("pinned as {word}"))?;
                (store.pin(known, word)?, format!("Remembered: {name} is {}.", mutability.word()))
            }
            ToolReview::TakenBack(former) => {
                record("took the last review of the definition back")?;
                (store.put_back(known, former)?, format!("Taken back: the review of {name}."))
            }
        };
        Ok((settled == reading::Applied::Done).then_some(says))
    }

    fn program(
        &self,
        store: &mut PinStore,
        shown: (&str, &str, &str),
        word: &ProgramReview,
    ) -> Result<ReviewDone, SettleError> {
        let same = |one: &Server| (&*one.fingerprint, &*one.name, &*one.program) == shown;
        let server = store.servers()?.into_iter().find(same).ok_or(SettleError::Outdated)?;
        let name = &server.name;
        let (settled, says, undo) = match word {
            ProgramReview::TakenBack(trusted) => {
                self.record(&server, None, "took the last review of the server's program back")?;
                let says = format!("Taken back: the review of the program of {name}.");
                (store.put_back_server(&server, trusted.as_deref())?, says, None)
            }
            ProgramReview::Accepted => {
                self.record(&server, None, "accepted the server's program and command")?;
                let says = format!("Accepted: the program of {name} is trusted, and its allow rules apply again.");
                let Server { fingerprint, program, trusted, .. } = server.clone();
                let word = ProgramReview::TakenBack(trusted);
                let undo = PinReview::Program { fingerprint, server: name.clone(), program, word };
                (store.accept_server(&server)?, says, Some(undo))
            }
        };
        match settled {
            reading::Applied::Done => Ok(ReviewDone { says, undo }),
            reading::Applied::Outdated => Err(SettleError::Outdated),
        }
    }
}
