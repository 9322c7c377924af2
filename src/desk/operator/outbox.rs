//! What an operator has decided and is on its way: written to the desk as often as it takes, and watched until its machine has answered or
//! its signature counts no longer. Reads nothing from the desk.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use tokio_postgres::types::ToSql;

use super::heard::parts;
use crate::desk::engine::{Engine, EngineError};
use crate::desk::told::Word;
use crate::signing::statement::{Evidence, Statement};
use crate::wire::Digest;

/// How long after its signature a machine may still have taken a verdict, in milliseconds.
const GRACE: i64 = 10_000;
/// One's look at a call is written once in this time, in milliseconds.
const LOOK: i64 = 30_000;

/// The same statement is the same row, however often it is written.
const VERDICT: &str =
    "INSERT INTO mcp_approve.verdict (machine, session, ticket, principal, digest, statement, signature, said)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";

const LOOKED: &str = "INSERT INTO mcp_approve.look (machine, session, ticket) VALUES ($1, $2, $3)";

struct Letter {
    /// The console's name of the session.
    session: String,
    word: Word,
    signed: Evidence,
    statement: Statement,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Here,
    OnTheDesk,
    /// The desk does not take it.
    Returned,
}

/// A verdict that came to nothing, for the console.
pub(super) struct Undelivered {
    pub(super) session: String,
    pub(super) ticket: String,
    pub(super) why: String,
}

#[derive(Default)]
pub(super) struct Outbox {
    letters: Vec<Letter>,
    looks: Vec<(String, String)>,
    looked: BTreeMap<(String, String), i64>,
    /// The machines that are to be woken.
    pub(super) wake: BTreeSet<String>,
    /// Whether the other operators are.
    pub(super) wakes_operators: bool,
}

impl Outbox {
    /// Takes a signed verdict. Errors: why it cannot be sent.
    pub(super) fn take(&mut self, session: String, word: Word, signed: Evidence) -> Result<(), Undelivered> {
        match Statement::read(&signed.statement) {
            Ok(statement) => {
                self.letters.push(Letter { session, word, signed, statement, state: State::Here });
                Ok(())
            }
            Err(why) => Err(Undelivered { session, ticket: word.ticket, why: format!("not sent: {why}") }),
        }
    }

    /// The operator looks at a call.
    pub(super) fn look(&mut self, session: String, ticket: String, now: i64) {
        let call = (session, ticket);
        if self.looked.get(&call).is_none_or(|at| !(0..LOOK).contains(&(now - at))) {
            self.looked.retain(|_, at| now - *at < LOOK);
            self.looked.insert(call.clone(), now);
            self.looks.push(call);
        }
    }

    /// Writes what is here. Errors: the connection is of no use; what was not written is written on the next one.
    pub(super) async fn deliver(&mut self, engine: &Engine) -> Result<Vec<Undelivered>, EngineError> {
        let mut undelivered = Vec::new();
        for letter in self.letters.iter_mut().filter(|one| one.state == State::Here) {
            let Some((session, machine)) = parts(&letter.session) else { continue };
            let Letter { word, signed: Evidence { statement, signature }, .. } = &*letter;
            let digest = Digest::of(statement.as_bytes());
            let said = serde_json::to_string(word).unwrap_or_default();
            let (ticket, principal, digest) = (&word.ticket, &letter.statement.signer, &digest.as_bytes()[..]);
            let values: [&(dyn ToSql + Sync); 8] =
                [&machine, &session, ticket, principal, &digest, statement, signature, &said];
            match engine.client.execute(VERDICT, &values).await {
                Ok(_) => {
                    self.wake.insert(machine.to_owned());
                    letter.state = State::OnTheDesk;
                }
                Err(error) if is_of_the_row(&error) => {
                    undelivered.push(letter.undelivered(&format!("not sent: {}", EngineError::from(error))));
                    letter.state = State::Returned;
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.letters.retain(|one| one.state != State::Returned);
        for (session, ticket) in mem::take(&mut self.looks) {
            let Some((session, machine)) = parts(&session) else { continue };
            // Only others would see it, and the next look says the same.
            engine.client.execute(LOOKED, &[&machine, &session, &ticket]).await?;
            self.wakes_operators = true;
        }
        Ok(undelivered)
    }

    /// The call has another card, or has ended: nothing is awaited for it any more.
    pub(super) fn answered(&mut self, session: &str, ticket: &str) {
        self.letters.retain(|one| (&*one.session, &*one.word.ticket) != (session, ticket) || one.state == State::Here);
    }

    pub(super) fn gone(&mut self, session: &str) {
        self.letters.retain(|one| one.session != session);
    }

    /// Whether a statement that had no effect was sent from here.
    pub(super) fn refused(&mut self, session: &str, ticket: &str, statement: Digest) -> bool {
        let is_it = |one: &mut Letter| {
            (&*one.session, &*one.word.ticket) == (session, ticket)
                && Digest::of(one.signed.statement.as_bytes()) == statement
        };
        self.letters.extract_if(.., is_it).count() > 0
    }

    /// What can no longer count, with the reason.
    pub(super) fn lapsed(&mut self, now: i64) -> Vec<Undelivered> {
        let is_over = |one: &mut Letter| match one.state {
            State::Here => now > one.statement.not_after,
            State::OnTheDesk | State::Returned => now > one.statement.not_after.saturating_add(GRACE),
        };
        let why = |one: &Letter| match one.state {
            State::Here => {
                "it could not be delivered before its signature ended: decide it again once the desk is reached"
            }
            State::OnTheDesk | State::Returned => {
                "its machine has not taken it before its signature ended: decide it again once the machine is there"
            }
        };
        self.letters.extract_if(.., is_over).map(|one| one.undelivered(why(&one))).collect()
    }
}

/// Whether the desk would not take the same row later either: the value, a constraint or the role's rights are against it.
fn is_of_the_row(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| ["22", "23", "42"].iter().any(|class| code.code().starts_with(class)))
}

impl Letter {
    fn undelivered(&self, why: &str) -> Undelivered {
        Undelivered { session: self.session.clone(), ticket: self.word.ticket.clone(), why: why.to_owned() }
    }
}
