//! Reads what operators said of this machine's calls, of each role in turn, and lets pass what a wrapper can have use of: a statement that
//! someone signed who may, once for what it says. The wrapper decides whether it counts.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Row;

use crate::desk::by_role::{ByRole, Table};
use crate::desk::engine::{Engine, EngineError};
use crate::desk::told::{Remote, Word};
use crate::home::places::Places;
use crate::home::signers;
use crate::link::message::OperatorVerdict;
use crate::signing::statement::{Evidence, LONGEST, SignedWord, Statement};
use crate::signing::{Attested, CardTerms, InForce};
use crate::wire::Digest;

static VERDICTS: Table = Table {
    name: "verdict",
    role: "operator",
    roles: 4,
    newest_first: true,
    own: "machine = session_user AND",
    key: "session",
    // A signature counts for ten minutes: nothing older is read for a wrapper that was there before us.
    past: "AND time > now() - interval '15 minutes'",
    columns: "session, ticket, statement, signature, said",
    size: "octet_length(statement) + octet_length(signature) + octet_length(said)",
    most: 32,
};

pub(super) struct Verdicts {
    /// Sessions of which nothing was read yet.
    fresh: BTreeSet<String>,
    rows: ByRole,
    /// Of each session the statements that were brought, with the call for which they say what was brought with them.
    brought: BTreeMap<String, BTreeSet<(Digest, Option<String>)>>,
}

/// One row.
pub(super) enum Found {
    Verdict(Box<Remote>),
    /// It is for no wrapper: no one who may sign verdicts signed it, or it was brought before. By the role that wrote it.
    Useless {
        role: String,
        why: String,
        of: Option<Box<Remote>>,
    },
}

impl Verdicts {
    pub(super) fn new() -> Self {
        Self { fresh: BTreeSet::new(), rows: ByRole::new(&VERDICTS), brought: BTreeMap::new() }
    }

    /// A wrapper is here: what was said of its calls before is read, too.
    pub(super) fn begin(&mut self, session: &str) {
        self.fresh.insert(session.to_owned());
        self.brought.insert(session.to_owned(), BTreeSet::new());
    }

    pub(super) fn has_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Rows are there that were not read yet.
    pub(super) fn is_behind(&self) -> bool {
        self.rows.is_behind()
    }

    /// Looks for what is new for these sessions.
    pub(super) async fn look(&mut self, engine: &Engine, live: &[String]) -> Result<(), EngineError> {
        let (fresh, known): (Vec<_>, Vec<_>) = live.iter().cloned().partition(|one| self.fresh.contains(one));
        self.rows.look(engine, &known, &fresh).await?;
        self.fresh.clear();
        self.brought.retain(|session, _| live.contains(session));
        Ok(())
    }

    /// The next rows of what is new.
    pub(super) async fn page(&mut self, engine: &Engine, places: &Places) -> Result<Vec<Found>, EngineError> {
        let rows = self.rows.page(engine).await?;
        let lists = match signers::load(places) {
            Ok(lists) => lists.ok_or_else(|| "there is no list of signers".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        Ok(rows.iter().map(|row| self.sift(row, lists.as_ref())).collect())
    }

    fn sift(&mut self, row: &Row, lists: Result<&InForce, &String>) -> Found {
        let role = row.get(3);
        let Some(remote) = remote(row) else {
            return Found::Useless { role, why: "it cannot be read".to_owned(), of: None };
        };
        let statement = lists.map_err(Clone::clone).and_then(|lists| {
            let attested = Attested::check(remote.signed.clone(), &lists.signers).map_err(|why| why.to_string())?;
            Ok(attested.statement().clone())
        });
        match statement {
            Err(why) => {
                let (why, of) = (format!("the signature does not count: {why}"), Some(Box::new(remote)));
                Found::Useless { role, why, of }
            }
            // Whoever sees a statement that was signed can write it again and again, beside other words too: that takes its place from none.
            Ok(statement) => {
                let call = says(&statement, &remote).then(|| remote.word.ticket.clone());
                let one = (Digest::of(remote.signed.statement.as_bytes()), call);
                match self.brought.entry(remote.session.clone()).or_default().insert(one) {
                    true => Found::Verdict(Box::new(remote)),
                    false => Found::Useless { role, why: "it was brought before".to_owned(), of: None },
                }
            }
        }
    }
}

/// Whether the statement names this very call, and says of it what the row says.
fn says(statement: &Statement, Remote { session, word, .. }: &Remote) -> bool {
    let said = &statement.said;
    let is_same = match &word.verdict {
        OperatorVerdict::Approve { unread: _ } => said.verdict == SignedWord::Approve,
        OperatorVerdict::Deny { reason } => {
            said.verdict == SignedWord::Deny && said.reason.as_deref().unwrap_or_default() == reason
        }
    };
    let names = |card: &CardTerms| card.session == *session && card.ticket == word.ticket && card.call == word.digest;
    is_same && statement.cards().any(names)
}

/// A row as a verdict; `None` where it is none, which blocks nothing.
fn remote(row: &Row) -> Option<Remote> {
    let text = |at| row.try_get::<_, String>(at).ok();
    let session = text(4)?;
    let signed = Evidence { statement: text(6)?, signature: text(7)? };
    let word = serde_json::from_str(&text(8)?).ok().filter(|word: &Word| Some(&word.ticket) == text(5).as_ref())?;
    let is_short = signed.statement.len() <= LONGEST && signed.signature.len() <= LONGEST;
    is_short.then_some(Remote { session, word, signed })
}
