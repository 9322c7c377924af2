//! The consoles of this wrapper: makes it visible, keeps who is attached, sends what the gate shows. Decides nothing.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::notice;
use crate::gate::data::event::{ConsoleId, Event, Now, Operator, OperatorWord, Place, Signature};
use crate::gate::{Gate, Mode, data::snapshot::Snapshot};
use crate::home::{places::Places, signers};
use crate::link::folder::{self, LinkError, NameClaim};
use crate::link::message::{ConsoleKind, FromConsole, FromWrapper, Wrapper};
use crate::link::server::{FromConsoles, Server};
use crate::signing::change::SignedChange;
use crate::signing::statement::{Evidence, Refused, Signed};
use crate::signing::{Attested, signers::Signers};
use crate::wire::Digest;

/// Microseconds between two status reports.
const STATUS: u64 = 100_000;

/// What consoles learn about this wrapper, from the first message on that is not a host's probe.
#[derive(Debug)]
pub struct Registration {
    pub run_dir: PathBuf,
    /// Where the lists of signers are.
    pub places: Places,
    /// Shows notices that a call waits while no console is open.
    pub waiting: notice::Waiting,
    /// The name without `#2`.
    pub name: String,
    pub session: Arc<str>,
    pub command: Vec<String>,
    pub started: i64,
    pub mode: Mode,
}

pub struct Consoles {
    registration: Registration,
    /// `None` before the wrapper is visible, and where it cannot be.
    link: Option<Link>,
    to_us: mpsc::UnboundedSender<FromConsoles>,
    /// Who is attached, by connection.
    consoles: BTreeMap<ConsoleId, Guest>,
    visible: Visible,
    /// When the next status report is due, and when the last one was sent.
    status_at: Option<u64>,
    status_sent: u64,
    /// The version of the server's tools that was last sent to the consoles.
    tools_sent: u64,
}

struct Guest {
    who: Arc<str>,
    kind: ConsoleKind,
    /// Calls that waited when it attached and that it was not shown yet. They are sent one at a time, as fast as it
    /// reads, so that many waiting calls neither keep it out nor fill the memory.
    unseen: VecDeque<Snapshot>,
}

/// A name and its socket. The name is ours for as long as the claim lives.
struct Link {
    server: Server,
    claim: NameClaim,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visible {
    NotYet,
    Tried,
}

impl Consoles {
    /// No console yet. What consoles do comes through `to_us`.
    pub fn new(registration: Registration, to_us: mpsc::UnboundedSender<FromConsoles>) -> Self {
        Self {
            registration,
            link: None,
            to_us,
            consoles: BTreeMap::new(),
            visible: Visible::NotYet,
            status_at: None,
            status_sent: 0,
            tools_sent: 0,
        }
    }

    /// Whether the wrapper has become visible, or tried to.
    pub fn is_registered(&self) -> bool {
        self.visible == Visible::Tried
    }

    /// Becomes visible, the first time: a name, a socket, and the event that starts the record. A failure here costs
    /// visibility, never a verdict. `child` is the wrapped server's process: nothing it starts may decide.
    pub fn register(&mut self, child: u32) -> Option<Event> {
        if self.visible == Visible::Tried {
            return None;
        }
        self.visible = Visible::Tried;
        match self.open(child) {
            Ok(link) => self.link = Some(link),
            Err(err) => {
                tracing::error!(%err, "no console can attach");
                notice::say(&format!("no console can attach: {err}"));
            }
        }
        let server = self.link.as_ref().map_or(self.registration.name.as_str(), |link| link.claim.name()).into();
        Some(Event::Started { server, command: self.registration.command.clone(), pid: std::process::id() })
    }

    fn open(&self, child: u32) -> Result<Link, LinkError> {
        let registration = &self.registration;
        folder::prepare(&registration.run_dir)?;
        let claim = NameClaim::claim(&registration.run_dir, &registration.name)?;
        let me = Wrapper {
            server: claim.name().to_owned(),
            session: registration.session.to_string(),
            pid: std::process::id(),
            command: registration.command.clone(),
            started: registration.started,
            observe: registration.mode == Mode::Observe,
            at: None,
        };
        let server = Server::start(&registration.run_dir, &claim, me, self.to_us.clone())?;
        server.forbid(child);
        Ok(Link { server, claim })
    }

    /// What a console did, as an event for the gate; a newcomer is shown what waits.
    pub fn hear(&mut self, said: FromConsoles, gate: &Gate) -> Option<Event> {
        match said {
            FromConsoles::Attached { console, operator, pid, kind } => {
                let who: Arc<str> = format!("{operator} (pid {pid})").into();
                let waiting = gate.snapshots().into_iter();
                let unseen = match kind {
                    ConsoleKind::Local => waiting.collect(),
                    ConsoleKind::Desk => waiting.filter_map(|call| signable(gate, &call)).collect(),
                };
                self.consoles.insert(console, Guest { who: Arc::clone(&who), kind, unseen });
                self.show_next(console);
                self.tell(console, &FromWrapper::Status(gate.status()));
                if kind == ConsoleKind::Desk {
                    return Some(Event::Desks { who, desks: self.desks() });
                }
                if gate.tools_version() > 0 {
                    self.tell(console, &FromWrapper::Tools { tools: gate.tools() });
                }
                Some(Event::Attached { who, attached: self.attached() })
            }
            FromConsoles::Peeked { console } => {
                self.tell(console, &FromWrapper::Waiting { calls: gate.waiting(), consulted: gate.consulted() });
                None
            }
            FromConsoles::Shown { console } => {
                self.show_next(console);
                None
            }
            FromConsoles::Detached { console } => {
                let Guest { who, kind, .. } = self.consoles.remove(&console)?;
                Some(match kind {
                    ConsoleKind::Local => Event::Detached { who, attached: self.attached() },
                    ConsoleKind::Desk => Event::Desks { who, desks: self.desks() },
                })
            }
            FromConsoles::Rejected { why } => {
                if why.is_alarm() {
                    notice::say(&why.to_string());
                }
                Some(Event::Intruded { what: why.to_string() })
            }
            FromConsoles::Said { console, message } => {
                let Guest { who, kind, .. } = self.consoles.get(&console)?;
                if *kind == ConsoleKind::Desk {
                    return self.hear_desk(console, Arc::clone(who), message);
                }
                let operator = Operator { who: Arc::clone(who), console, place: Place::Here };
                let word = |ticket, digest| OperatorWord { ticket, digest, operator: operator.clone() };
                Some(match message {
                    FromConsole::Decide { ticket, digest, verdict, signed } => {
                        Event::Decided(word(ticket, digest), verdict, self.checked(signed, Attested::check))
                    }
                    FromConsole::Edit { ticket, digest, arguments } => {
                        Event::Edited { word: word(ticket, digest), arguments }
                    }
                    FromConsole::Grant { ticket, digest, terms, signed } => {
                        Event::Granted(word(ticket, digest), terms, self.checked(signed, Attested::check))
                    }
                    FromConsole::Pin { ticket, digest, word: says, signed } => {
                        Event::Pinned(word(ticket, digest), says, self.checked(signed, SignedChange::check))
                    }
                    FromConsole::Look { ticket, digest } => Event::Looked { ticket, digest },
                    FromConsole::Extend { ticket, digest } => Event::Extended(word(ticket, digest)),
                    FromConsole::EndGrant { grant } => Event::GrantEnded { grant, operator },
                    FromConsole::AcceptPolicy { file, digest, signed } => {
                        let signature = self.checked(signed, SignedChange::check);
                        Event::PolicyAccepted { file, digest, operator, signature }
                    }
                    FromConsole::Hello { .. } | FromConsole::Peek { .. } => return None,
                })
            }
        }
    }

    /// A word that came over the desk: a verdict, in the name of whoever signed it; nothing else counts from there.
    fn hear_desk(&self, console: ConsoleId, who: Arc<str>, message: FromConsole) -> Option<Event> {
        let FromConsole::Decide { ticket, digest, verdict, signed } = message else {
            let why = "this can be done only at its machine".to_owned();
            self.tell(console, &FromWrapper::Refused { ticket: message.ticket().to_owned(), why });
            return None;
        };
        let statement = signed.as_ref().map_or("", |signed| &*signed.statement);
        let place = Place::Desk(Digest::of(statement.as_bytes()));
        let signature = self.checked(signed, Attested::check);
        let who = match &signature {
            Signature::Attested(signed, _) => format!("{} at the desk", signed.signer().principal).into(),
            Signature::None | Signature::Unusable(_) => who,
        };
        let operator = Operator { who, console, place };
        Some(Event::Decided(OperatorWord { ticket, digest, operator }, verdict, signature))
    }

    /// Verifies a signature against the signers as their files are now, so that a key revoked a moment ago no longer counts.
    fn checked<T>(
        &self,
        signed: Option<Evidence>,
        check: fn(Evidence, &Signers) -> Result<Signed<T>, Refused>,
    ) -> Signature<T> {
        let Some(evidence) = signed else { return Signature::None };
        match signers::load(&self.registration.places) {
            Err(error) => Signature::Unusable(error.to_string()),
            Ok(None) => Signature::Unusable("there is no list of signers".to_owned()),
            Ok(Some(in_force)) => match check(evidence, &in_force.signers) {
                Ok(signed) => Signature::Attested(Box::new(signed), Box::new(in_force)),
                Err(refused) => Signature::Unusable(refused.to_string()),
            },
        }
    }

    fn desks(&self) -> usize {
        self.consoles.values().filter(|guest| guest.kind == ConsoleKind::Desk).count()
    }

    /// How many consoles on this machine there are. An operator at the desk hears of a call there: whoever is here hears of it as before.
    pub fn attached(&self) -> usize {
        self.link.as_ref().map_or(0, |link| link.server.attached())
    }

    /// Puts a call before every console; where there is none, a notice says that it waits.
    pub fn ask(&mut self, now: Now, call: Box<Snapshot>, gate: &Gate) {
        if self.attached() == 0 {
            let about = (&*call.ticket, &*call.server, &*call.effect);
            self.registration.waiting.say(now, about, call.silence.as_deref(), call.bare);
        }
        if self.desks() > 0
            && let Some(call) = signable(gate, &call)
        {
            self.put_before(ConsoleKind::Desk, Box::new(call));
        }
        self.put_before(ConsoleKind::Local, call);
    }

    fn put_before(&mut self, kind: ConsoleKind, call: Box<Snapshot>) {
        let mut current = Vec::new();
        for (console, guest) in self.consoles.iter_mut().filter(|(_, guest)| guest.kind == kind) {
            match guest.unseen.iter().position(|unseen| unseen.ticket == call.ticket) {
                // The call was edited since.
                Some(at) => guest.unseen[at].clone_from(&call),
                None if guest.unseen.is_empty() => current.push(*console),
                None => guest.unseen.push_back((*call).clone()),
            }
        }
        if let Some(link) = &self.link {
            link.server.tell(current.into_iter(), &FromWrapper::Held { call });
        }
    }

    fn show_next(&mut self, console: ConsoleId) {
        let Some(call) = self.consoles.get_mut(&console).and_then(|guest| guest.unseen.pop_front()) else { return };
        let held = FromWrapper::Held { call: Box::new(call) };
        if let Some(link) = &self.link {
            link.server.show(console, &held);
        }
    }

    /// Tells every console that we know of. A console that attached, but whose arrival we have not read yet, is left
    /// out: it is shown what waits once we do, and would otherwise get the same call twice.
    pub fn broadcast(&mut self, message: &FromWrapper) {
        if let FromWrapper::Settled(settled) = message {
            for guest in self.consoles.values_mut() {
                guest.unseen.retain(|unseen| unseen.ticket != settled.ticket);
            }
        }
        // The desk hears of calls that wait, not of all that passes.
        let is_for_all = matches!(message, FromWrapper::Settled(_) | FromWrapper::Status(_));
        let hears = |guest: &Guest| is_for_all || guest.kind == ConsoleKind::Local;
        let consoles: Vec<ConsoleId> = self.consoles.iter().filter(|(_, it)| hears(it)).map(|(id, _)| *id).collect();
        if let Some(link) = &self.link {
            link.server.tell(consoles.into_iter(), message);
        }
    }

    pub fn tell(&self, console: ConsoleId, message: &FromWrapper) {
        if let Some(link) = &self.link {
            link.server.send(console, message);
        }
    }

    /// Something has changed: a status report is due soon.
    pub fn changed(&mut self, now: Now) {
        if self.status_at.is_none() && self.attached() + self.desks() > 0 {
            self.status_at = Some(now.mono.max(self.status_sent + STATUS));
        }
    }

    pub fn report(&mut self, now: Now, gate: &Gate) {
        if self.status_at.is_some_and(|at| at <= now.mono) {
            self.status_at = None;
            self.status_sent = now.mono;
            self.broadcast(&FromWrapper::Status(gate.status()));
            if gate.tools_version() != self.tools_sent {
                self.tools_sent = gate.tools_version();
                self.broadcast(&FromWrapper::Tools { tools: gate.tools() });
            }
        }
    }

    /// Sends the last status report: nothing follows.
    pub fn report_end(&mut self, gate: &Gate) {
        self.broadcast(&FromWrapper::Status(gate.status()));
    }

    /// When the next status report is due.
    pub fn wake_at(&self) -> Option<u64> {
        self.status_at
    }
}

/// A card for the desk: with what must be signed, whatever the policy asks for. `None` where its call waits no more.
fn signable(gate: &Gate, call: &Snapshot) -> Option<Snapshot> {
    Some(Snapshot { signs: Some(gate.terms(call)?), ..call.clone() })
}
