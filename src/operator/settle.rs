//! Settles what the operator decides about tools and programs, for console and command line: signed where the policy wants that,
//! recorded, then kept.

use crate::behavior::{Agreement, Identity, Mutability, agreed::What};
use crate::home::agreed::{self, AgreedError, RecordError, record};
use crate::home::signers::{proof, word_needs};
use crate::home::{pages, places::Places, user};
use crate::operator::pinned::{PinReview, ProgramReview, ReviewDone, Shown, ToolReview};
use crate::pins::reading::{self, Server, StoredTool};
use crate::pins::{PinStore, PinsError, page::Page};
use crate::signing::change::{ChangeTerms, Proof, review};
use crate::signing::{Needs, grade::Danger, statement::Evidence};
use crate::wire::Digest;

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
    #[error("nothing was changed: {0}; `mcp-approve help signing`")]
    Unsigned(String),
}

/// The folders it is settled in, and the time (milliseconds since 1970, UTC).
pub struct Settlement<'p> {
    pub places: &'p Places,
    pub now: i64,
}

/// What is said of a server's tool or program: what its record says, and how much it loosens.
struct Word<'s> {
    server: &'s Server,
    tool: Option<&'s StoredTool>,
    what: String,
    /// What a definition is said to be from now on.
    says: Option<Identity>,
    loosens: Option<Danger>,
}

impl<'s> Word<'s> {
    fn on_tool(known: &'s StoredTool, word: &ToolReview) -> Self {
        let is = known.behavior.identity;
        let pinned = |says: Identity| {
            // To say it of what looks like a read takes less than to say it of what looks like a change.
            let loosens = match (says.mutability, word) {
                (Mutability::Mutates, _) if is.mutability == Mutability::Pure => None,
                // Another change than it looks like: it may need less, and other rules are about it.
                (Mutability::Mutates, _) => (says != is || known.behavior.disputed).then_some(Danger::Dangerous),
                (Mutability::Pure, ToolReview::Is(_)) if is.mutability == Mutability::Pure => Some(Danger::Plain),
                (Mutability::Pure, _) => Some(Danger::Dangerous),
            };
            // A word on a definition that changed trusts it, too.
            let accepts = known.pin.trusted.is_some_and(|trusted| trusted != known.pin.latest);
            (format!("pinned as {says}"), Some(says), if accepts { Some(Danger::Dangerous) } else { loosens })
        };
        let told = |what: &str, loosens: bool| (what.to_owned(), None, loosens.then_some(Danger::Dangerous));
        let (what, says, loosens) = match word {
            ToolReview::Accepted => told("accepted the definition", true),
            ToolReview::Refused => told("refused the definition", false),
            ToolReview::Is(says) => pinned(is.with_mutability(*says)),
            ToolReview::Pinned(Some(says)) => pinned(*says),
            ToolReview::Pinned(None) => told("pin taken back", true),
            ToolReview::TakenBack(former) => {
                told("took the last review of the definition back", former.trusted == Some(known.pin.latest))
            }
        };
        Self { server: &known.server, tool: Some(known), what, says, loosens }
    }

    fn on_program(server: &'s Server, word: &ProgramReview) -> Self {
        let (what, trusts) = match word {
            ProgramReview::Accepted => ("accepted the server's program and command", true),
            ProgramReview::TakenBack(trusted) => {
                ("took the last review of the server's program back", trusted.as_ref() == Some(&server.program))
            }
        };
        Self { server, tool: None, what: what.to_owned(), says: None, loosens: trusts.then_some(Danger::Dangerous) }
    }

    /// What a definition is said to be, as something agreed to.
    fn agreement(&self) -> Option<Agreement> {
        let known = self.tool?;
        Some(Agreement::of_definition(&known.tool.name, &known.pin.latest, self.says?))
    }

    /// What a signature on it covers.
    fn digest(&self) -> Digest {
        let (of, program) = (&self.server.fingerprint, || Digest::of(self.server.program.as_bytes()));
        match (self.agreement(), self.tool) {
            (Some(agreement), _) => agreement.digest(of),
            (None, Some(known)) => review(of, &known.tool.name, &known.pin.latest, &self.what),
            (None, None) => review(of, "", &program(), &self.what),
        }
    }
}

impl Settlement<'_> {
    /// What the operator's signature must cover; `None` where it needs none.
    pub fn to_sign(&self, review: &PinReview) -> Result<Option<ChangeTerms>, SettleError> {
        let (needs, terms) = self.terms(&self.open()?, review)?;
        Ok((needs == Needs::Signature).then_some(terms))
    }

    /// Settles what the operator has read, once that is recorded.
    pub fn of(&self, review: &PinReview, signed: Option<&Evidence>) -> Result<ReviewDone, SettleError> {
        let store = &mut self.open()?;
        let (needs, terms) = self.terms(store, review)?;
        let proof = proof(self.places, needs, signed, (&terms, self.now)).map_err(SettleError::Unsigned)?;
        match review {
            PinReview::Tools(words) => self.tools(store, words, &proof),
            PinReview::Program { fingerprint, server, program, word } => {
                self.program(store, (fingerprint, server, program), word, &proof)
            }
            PinReview::Page(page, lines) => self.page(store, page, lines, &proof),
            PinReview::Forget(digests) => self.forget(store, digests),
        }
    }

    fn open(&self) -> Result<PinStore, SettleError> {
        Ok(PinStore::open(&self.places.pins_db())?)
    }

    /// What it takes, and what a signature would cover.
    fn terms(&self, store: &PinStore, review: &PinReview) -> Result<(Needs, ChangeTerms), SettleError> {
        let mut loosens: Vec<(Danger, Digest)> = Vec::new();
        let mut add = |word: &Word<'_>| loosens.extend(word.loosens.map(|danger| (danger, word.digest())));
        match review {
            PinReview::Tools(words) => {
                let all = store.tools()?;
                for (known, word) in words.iter().filter_map(|(shown, word)| Some((found(&all, shown)?, word))) {
                    add(&Word::on_tool(known, word));
                }
            }
            PinReview::Program { fingerprint, server, program, word } => {
                add(&Word::on_program(&same(store, (fingerprint, server, program))?, word));
            }
            PinReview::Page(page, lines) => {
                loosens.extend(pages::digests(page, lines).into_iter().map(|digest| (Danger::Plain, digest)));
            }
            PinReview::Forget(_) => {}
        }
        let needs = |(danger, _): &(Danger, Digest)| word_needs(self.places, *danger) == Needs::Signature;
        let needs = if loosens.iter().any(needs) { Needs::Signature } else { Needs::Nothing };
        Ok((needs, agreed::change(loosens.into_iter().map(|(_, digest)| digest).collect())))
    }

    fn record(&self, word: &Word<'_>, proof: &Proof) -> Result<(), SettleError> {
        let mut entry = reading::entry(self.now, word.server, word.tool, &word.what, &user::name());
        if word.tool.is_none() {
            entry = entry.with("program", Digest::of(word.server.program.as_bytes()));
        }
        // What a definition is said to be has its signature where it counts: with what is agreed to.
        let is_here = word.loosens.is_some() && word.says.is_none();
        Ok(record(self.places, if is_here { entry.proven(proof) } else { entry })?)
    }

    fn page(
        &self,
        store: &mut PinStore,
        page: &Page,
        lines: &[usize],
        proof: &Proof,
    ) -> Result<ReviewDone, SettleError> {
        let (says, agreed) = pages::answer(store, self.places, page, lines, proof, self.now)?;
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
    fn tools(
        &self,
        store: &mut PinStore,
        words: &[(Shown, ToolReview)],
        proof: &Proof,
    ) -> Result<ReviewDone, SettleError> {
        let all = store.tools()?;
        let (mut done, mut outdated, mut undo) = (Vec::new(), 0, Vec::new());
        for (shown, word) in words {
            let settled = match found(&all, shown) {
                Some(known) => self.tool(store, known, word, proof)?.map(|says| (says, known)),
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
    fn tool(
        &self,
        store: &mut PinStore,
        known: &StoredTool,
        word: &ToolReview,
        proof: &Proof,
    ) -> Result<Option<String>, SettleError> {
        let name = format!("{} of {}", known.tool.name, known.server.name);
        let on_tool = Word::on_tool(known, word);
        self.record(&on_tool, proof)?;
        let of = (&*known.server.name, &*known.server.fingerprint);
        // What was said of it before with a signature holds no more.
        let said = on_tool.agreement().filter(|_| on_tool.loosens.is_some() && proof.is_signed());
        let again = said.as_ref().map(|said| said.digest(of.1));
        let mut former = agreed::all(store, self.places, self.now)?;
        former.retain(|one| one.kept.agreement.what == What::Definition && one.concerns(of.1, Some(&known.tool.name)));
        former.retain(|one| again != Some(one.kept.digest()));
        if !former.is_empty() {
            agreed::take_back(store, self.places, &former.iter().collect::<Vec<_>>(), self.now)?;
        }
        if let Some(said) = said {
            agreed::agree(store, self.places, &[(of.0, of.1, &said)], (proof, None), self.now)?;
        }
        let (settled, says) = match word {
            ToolReview::Accepted => {
                (store.accept(known)?, format!("Accepted: this definition of {name} is trusted from now on."))
            }
            ToolReview::Refused => (store.refuse(known)?, format!("Refused: calls of {name} are denied.")),
            ToolReview::Is(mutability) => {
                let word = known.behavior.identity.with_mutability(*mutability);
                (store.pin(known, word)?, format!("Remembered: {name} is {}.", mutability.word()))
            }
            ToolReview::Pinned(Some(says)) => (store.pin(known, *says)?, format!("Remembered: {name} is {says}.")),
            ToolReview::Pinned(None) => (store.unpin(known)?, format!("Taken back: what was said of {name}.")),
            ToolReview::TakenBack(former) => {
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
        proof: &Proof,
    ) -> Result<ReviewDone, SettleError> {
        let server = same(store, shown)?;
        let name = &server.name;
        self.record(&Word::on_program(&server, word), proof)?;
        let (settled, says, undo) = match word {
            ProgramReview::TakenBack(trusted) => {
                let says = format!("Taken back: the review of the program of {name}.");
                (store.put_back_server(&server, trusted.as_deref())?, says, None)
            }
            ProgramReview::Accepted => {
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

/// The definition that was shown, if it is still the latest.
fn found<'t>(all: &'t [StoredTool], shown: &Shown) -> Option<&'t StoredTool> {
    let is_it =
        |known: &&StoredTool| (&known.server.fingerprint, &known.tool.name) == (&shown.fingerprint, &shown.tool);
    all.iter().find(is_it).filter(|known| known.pin.latest == shown.latest)
}

/// The server whose program was shown, if that is still the same.
fn same(store: &PinStore, shown: (&str, &str, &str)) -> Result<Server, SettleError> {
    let is_it = |one: &Server| (&*one.fingerprint, &*one.name, &*one.program) == shown;
    store.servers()?.into_iter().find(is_it).ok_or(SettleError::Outdated)
}
