//! The scripted operator: attaches over the real link, waits for what the wrappers say, and answers as told.

use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::client::{ClientEvent, Clients, Me};
use mcp_approve::link::message::{CallEnd, FromConsole, FromWrapper, OperatorVerdict, Status};
use mcp_approve::wire::digest::Digest;

use super::DEADLINE;

/// One attached operator. Dropping it is a console that goes away.
pub struct Operator {
    clients: Clients,
    events: Receiver<ClientEvent>,
    /// Heard, and not asked for yet.
    kept: Vec<ClientEvent>,
    /// The cards given out: one that arrives while a console attaches may be told twice.
    given: Vec<(String, Digest, Option<String>)>,
}

/// A call put before the operator.
#[derive(Clone, Debug)]
pub struct Asked {
    pub session: String,
    pub call: Snapshot,
}

impl Operator {
    /// Attaches to every wrapper under `home`, also to those that come later.
    pub fn attach(home: &Path, name: &str) -> Self {
        let (tell, events) = mpsc::channel();
        let me = Me { operator: name.into(), version: env!("CARGO_PKG_VERSION").into(), pid: std::process::id() };
        let on = move |event| drop(tell.send(event));
        Self {
            clients: Clients::watch(&home.join("state/run"), me, on).unwrap(),
            events,
            kept: Vec::new(),
            given: Vec::new(),
        }
    }

    /// The first event of that kind, heard before or to come; it is taken, the others stay.
    pub fn hear<T>(&mut self, what: &str, mut look: impl FnMut(&ClientEvent) -> Option<T>) -> T {
        let deadline = Instant::now() + DEADLINE;
        let mut next = 0;
        loop {
            while let Some(event) = self.kept.get(next) {
                if let Some(found) = look(event) {
                    self.kept.remove(next);
                    return found;
                }
                next += 1;
            }
            match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(event) => self.kept.push(event),
                Err(_) => panic!("the operator never heard of {what}; instead: {:#?}", self.kept),
            }
        }
    }

    /// A wrapper of this name is here.
    pub fn meets(&mut self, server: &str) {
        self.hear(server, |event| match event {
            ClientEvent::Connected(wrapper) => (wrapper.server == server).then_some(()),
            _ => None,
        });
    }

    /// The next call that is held for this tool, or the next edit of one.
    pub fn asked(&mut self, tool: &str) -> Asked {
        loop {
            let asked = self.held(tool);
            let card = (asked.call.ticket.clone(), asked.call.digest, asked.call.asked_again.clone());
            if !self.given.contains(&card) {
                self.given.push(card);
                return asked;
            }
        }
    }

    fn held(&mut self, tool: &str) -> Asked {
        self.hear(&format!("a call of {tool}"), |event| match event {
            ClientEvent::Said { session, message: FromWrapper::Held { call } } if call.tool == tool => {
                Some(Asked { session: session.clone(), call: (**call).clone() })
            }
            _ => None,
        })
    }

    /// How a call ended.
    pub fn settled(&mut self, ticket: &str) -> CallEnd {
        self.hear(&format!("the end of {ticket}"), |event| match event {
            ClientEvent::Said { message: FromWrapper::Settled(end), .. } if end.ticket == ticket => Some(end.clone()),
            _ => None,
        })
    }

    /// Why what this operator said came to nothing.
    pub fn refused(&mut self, ticket: &str) -> String {
        self.hear(&format!("a refusal for {ticket}"), |event| match event {
            ClientEvent::Said { message: FromWrapper::Refused { ticket: of, why }, .. } if of == ticket => {
                Some(why.clone())
            }
            _ => None,
        })
    }

    /// A status that is as wanted.
    pub fn status(&mut self, what: &str, wanted: impl Fn(&Status) -> bool) -> Status {
        self.hear(what, |event| match event {
            ClientEvent::Said { message: FromWrapper::Status(status), .. } if wanted(status) => Some(status.clone()),
            _ => None,
        })
    }

    /// How the wrapper stands now, once that is as wanted; with its session. Older words of it do not count.
    pub fn stands(&mut self, what: &str, wanted: impl Fn(&Status) -> bool) -> (String, Status) {
        let deadline = Instant::now() + DEADLINE;
        loop {
            while let Ok(event) = self.events.recv_timeout(Duration::from_millis(20)) {
                self.kept.push(event);
            }
            let last = self.kept.iter().rev().find_map(|event| match event {
                ClientEvent::Said { session, message: FromWrapper::Status(status) } => Some((session, status)),
                _ => None,
            });
            match last {
                Some((session, status)) if wanted(status) => return (session.clone(), status.clone()),
                _ => assert!(Instant::now() < deadline, "it never stood so: {what}; {last:#?}"),
            }
        }
    }

    /// Says anything to the wrapper of a session.
    pub fn says(&self, session: &str, message: &FromConsole) {
        self.clients.send(session, message).unwrap();
    }

    /// Approves exactly what was asked.
    pub fn approve(&self, asked: &Asked) {
        self.decide(asked, OperatorVerdict::Approve { unread: false });
    }

    /// Denies it.
    pub fn deny(&self, asked: &Asked, reason: &str) {
        self.decide(asked, OperatorVerdict::Deny { reason: reason.into() });
    }

    /// Sends a verdict.
    pub fn decide(&self, asked: &Asked, verdict: OperatorVerdict) {
        let (ticket, digest) = (asked.call.ticket.clone(), asked.call.digest);
        self.clients.send(&asked.session, &FromConsole::Decide { ticket, digest, verdict, signed: None }).unwrap();
    }

    /// Sends other arguments.
    pub fn edit(&self, asked: &Asked, arguments: &str) {
        let (ticket, digest) = (asked.call.ticket.clone(), asked.call.digest);
        let edit = FromConsole::Edit { ticket, digest, arguments: arguments.into() };
        self.clients.send(&asked.session, &edit).unwrap();
    }
}
