//! The automatic operator: attaches to the wrapper as a console does, follows a cue for each call that waits, and
//! checks after every decision that it had its effect and no other. Knows no bytes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Write;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use super::chain::Chain;
use super::cues::{self, Act, Cue};
use super::effects::State;
use super::error;
use super::ledger;
use super::stage::Stage;
use crate::audit::record::VerdictWord;
use crate::cli::error::Error;
use crate::gate::data::snapshot::Snapshot;
use crate::link::client::{ClientEvent, Clients, Me};
use crate::link::message::{Activity, ActivityKind, FromConsole, FromWrapper, OperatorVerdict};

/// How long the whole play may wait for any one thing.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The play as it goes on.
pub(super) struct Play<'a> {
    stage: &'a Stage,
    out: &'a mut dyn Write,
    clients: Clients,
    events: Receiver<ClientEvent>,
    held: VecDeque<(String, Snapshot)>,
    settled: BTreeMap<String, Option<VerdictWord>>,
    answered: BTreeSet<String>,
    cues: Vec<Cue>,
    /// The calls that the operator dealt with, by ticket.
    dealt: Vec<(String, Act)>,
    state: State,
    wrong: Vec<String>,
}

impl<'a> Play<'a> {
    /// Attaches to whatever wrapper appears in the stage's home.
    pub(super) fn new(stage: &'a Stage, out: &'a mut dyn Write) -> Result<Self, Error> {
        let (tell, events) = mpsc::channel();
        let me = Me {
            operator: "automatic operator".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
        };
        // A play that is over does not listen.
        let on = move |event| drop(tell.send(event));
        let clients = Clients::watch(&stage.home.join("state/run"), me, on)
            .map_err(|cause| error::between(format!("the automatic operator could not attach: {cause}")))?;
        Ok(Self {
            state: State::of(&stage.work)?,
            stage,
            out,
            clients,
            events,
            held: VecDeque::new(),
            settled: BTreeMap::new(),
            answered: BTreeSet::new(),
            cues: cues::ALL.to_vec(),
            dealt: Vec::new(),
            wrong: Vec::new(),
        })
    }

    /// Deals with calls until every cue was given, then lets the agent leave.
    pub(super) fn perform(&mut self, chain: &mut Chain) -> Result<(), Error> {
        while !self.cues.is_empty() {
            let deadline = Instant::now() + TIMEOUT;
            while self.held.is_empty() && self.listen(deadline)? {}
            let Some((session, call)) = self.held.pop_front() else {
                let never = |cue: &Cue| format!("{} {} never waited for a decision", cue.tool, cue.shows);
                self.wrong.extend(self.cues.iter().map(never));
                break;
            };
            self.deal(&session, &call)?;
        }
        chain.dismiss();
        Ok(())
    }

    /// The last look, after the chain has ended: what is not as it should be.
    pub(super) fn close(mut self) -> Result<Vec<String>, Error> {
        writeln!(self.out, "the agent left")?;
        self.compare(&[], "after the last decision")?;
        let rows = match ledger::read(self.stage) {
            Ok(rows) => rows,
            Err(error) => {
                self.wrong.push(error.to_string());
                return Ok(self.wrong);
            }
        };
        for (ticket, act) in &self.dealt {
            let of_call = |row: &&ledger::Row| row.field("ticket") == ticket;
            let of_kind = |kind: &'static str| rows.iter().filter(of_call).filter(move |row| row.field("kind") == kind);
            let verdicts: Vec<&str> = of_kind("decision").map(|row| row.field("verdict")).collect();
            let expected: &[&str] = match act {
                Act::Approve | Act::Edit(_) => &["approve"],
                Act::Deny(_) => &["deny"],
                Act::LetBe => &[],
            };
            if verdicts != expected {
                self.wrong.push(format!("{ticket}: the log decides {verdicts:?}, not {expected:?}"));
            }
            let is_edited = of_kind("decision").any(ledger::Row::was_edited);
            if is_edited != matches!(act, Act::Edit(_)) {
                self.wrong.push(format!("{ticket}: whether it was edited is not in the log as it was"));
            }
            if *act == Act::LetBe && of_kind("withdrawn").next().is_none() {
                self.wrong.push(format!("{ticket}: the log does not say that it was withdrawn"));
            }
        }
        Ok(self.wrong)
    }

    fn deal(&mut self, session: &str, call: &Snapshot) -> Result<(), Error> {
        let (badge, reason) = (call.badge().word(), &call.ruling.reason);
        writeln!(self.out, "{:<8} {} {}", call.ticket, call.tool, brief(&call.arguments))?;
        writeln!(self.out, "         {badge}; {reason}")?;
        let found = self.cues.iter().position(|cue| cue.tool == call.tool && call.arguments.contains(cue.shows));
        let Some(cue) = found.map(|at| self.cues.remove(at)) else {
            self.wrong.push(format!("{} {} waited, but no such call should", call.ticket, call.tool));
            return self.decide(session, call, deny("not in the script"));
        };
        self.dealt.push((call.ticket.clone(), cue.act));
        match cue.act {
            Act::Approve => {
                writeln!(self.out, "         approved")?;
                self.decide(session, call, OperatorVerdict::Approve { unread: false })?;
            }
            Act::Deny(reason) => {
                writeln!(self.out, "         denied: {reason}")?;
                self.decide(session, call, deny(reason))?;
            }
            Act::Edit(arguments) => {
                let Some(edited) = self.edit(session, call, arguments)? else {
                    self.wrong.push(format!("{}: the edit did not come back", call.ticket));
                    return self.decide(session, call, deny("the edit failed"));
                };
                writeln!(self.out, "         edited to {}, approved", brief(&edited.arguments))?;
                self.decide(session, &edited, OperatorVerdict::Approve { unread: false })?;
            }
            Act::LetBe => writeln!(self.out, "         left undecided")?,
        }
        self.compare(cue.effects, &format!("{} {}", call.ticket, call.tool))
    }

    /// Sends a verdict and waits until the wrapper has settled the call and, where it was approved, its answer came.
    fn decide(&mut self, session: &str, call: &Snapshot, verdict: OperatorVerdict) -> Result<(), Error> {
        let expected = verdict.word();
        let message = FromConsole::Decide { ticket: call.ticket.clone(), digest: call.digest, verdict };
        self.send(session, &message)?;
        let deadline = Instant::now() + TIMEOUT;
        while !self.settled.contains_key(&call.ticket) && self.listen(deadline)? {}
        let settled = self.settled.get(&call.ticket).copied().flatten();
        if settled != Some(expected) {
            self.wrong.push(format!("{}: settled as {settled:?}, not {expected:?}", call.ticket));
        }
        while expected == VerdictWord::Approve && !self.answered.contains(&call.ticket) {
            if !self.listen(deadline)? {
                self.wrong.push(format!("{}: approved, but never answered", call.ticket));
                break;
            }
        }
        Ok(())
    }

    /// Sends other arguments and waits for the changed card.
    fn edit(&mut self, session: &str, call: &Snapshot, arguments: &str) -> Result<Option<Snapshot>, Error> {
        let message =
            FromConsole::Edit { ticket: call.ticket.clone(), digest: call.digest, arguments: arguments.into() };
        self.send(session, &message)?;
        let deadline = Instant::now() + TIMEOUT;
        let is_back = |(_, held): &(String, Snapshot)| held.ticket == call.ticket && held.edited_from.is_some();
        while !self.held.iter().any(is_back) && self.listen(deadline)? {}
        let at = self.held.iter().position(is_back);
        Ok(at.and_then(|at| self.held.remove(at)).map(|(_, edited)| edited))
    }

    fn send(&self, session: &str, message: &FromConsole) -> Result<(), Error> {
        self.clients
            .send(session, message)
            .map_err(|cause| error::between(format!("the automatic operator could not attach: {cause}")))
    }

    /// Compares the workspace with the last look. What was approved has been answered by now; what comes too late or
    /// unbidden is found by the next look.
    fn compare(&mut self, expected: &[&str], when: &str) -> Result<(), Error> {
        let now = State::of(&self.stage.work)?;
        let changes = self.state.changes(&now);
        self.state = now;
        if changes != expected {
            self.wrong.push(format!("{when}: expected {expected:?} in the workspace, found {changes:?}"));
        }
        let said = if changes.is_empty() { "nothing changes".into() } else { changes.join(", ") };
        Ok(writeln!(self.out, "         -> {said}")?)
    }

    /// Takes in the next event; `false` when none came in time.
    fn listen(&mut self, deadline: Instant) -> Result<bool, Error> {
        let Ok(event) = self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) else {
            return Ok(false);
        };
        match event {
            ClientEvent::Connected(wrapper) => {
                writeln!(self.out, "attached to {}, assurance {}\n", wrapper.server, wrapper.assurance.word())?;
            }
            ClientEvent::Said { session, message } => match message {
                FromWrapper::Held { call } => self.held.push_back((session, *call)),
                FromWrapper::Settled(settled) => {
                    self.settled.insert(settled.ticket, settled.verdict);
                }
                FromWrapper::Refused { ticket, why } => self.wrong.push(format!("{ticket}: {why}")),
                FromWrapper::Activity(Activity { kind: ActivityKind::Outcome, ticket: Some(ticket), .. }) => {
                    self.answered.insert(ticket);
                }
                FromWrapper::Hello { .. }
                | FromWrapper::Activity(_)
                | FromWrapper::Status(_)
                | FromWrapper::Waiting { .. }
                | FromWrapper::Tools { .. } => {}
            },
            ClientEvent::Incompatible { name, protocol, version } => {
                self.wrong.push(format!("{name} speaks protocol {protocol} (version {version})"));
            }
            ClientEvent::Gone { .. } => self.wrong.push("the wrapper went away during the play".into()),
            ClientEvent::Trouble(what) => self.wrong.push(what),
        }
        Ok(true)
    }
}

fn deny(reason: &str) -> OperatorVerdict {
    OperatorVerdict::Deny { reason: reason.into() }
}

/// One line of bounded length in visible ASCII, whatever is in the arguments.
fn brief(arguments: &str) -> String {
    let mut line = String::new();
    for (at, c) in arguments.chars().enumerate() {
        match c {
            _ if at == 96 => return line + " ...",
            ' '..='~' => line.push(c),
            _ => line.extend(c.escape_unicode()),
        }
    }
    line
}
