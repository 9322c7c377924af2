//! The operator of a real-server test: decides everything that waits in one way, and keeps what it saw.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mcp_approve::link::client::{ClientEvent, Clients, Me};
use mcp_approve::link::message::{FromConsole, FromWrapper, OperatorVerdict, Wrapper};

/// One call that waited.
#[derive(Debug)]
pub struct Asked {
    pub tool: String,
    /// What the disk looked like while it waited.
    pub disk: String,
    /// The process of the wrapper that held it.
    pub wrapper: u32,
}

/// How an operator decides everything that waits.
#[derive(Clone, Debug)]
pub struct Manner {
    pub verdict: OperatorVerdict,
    /// How long it takes to decide.
    pub after: Duration,
}

impl Manner {
    /// How long a wrapper may take to refuse a late decision.
    fn last_words(&self) -> Duration {
        if self.after.is_zero() { Duration::ZERO } else { Duration::from_millis(500) }
    }
}

/// An operator at work on a thread of its own.
pub struct Operator {
    work: JoinHandle<Vec<String>>,
    home: Sender<ClientEvent>,
    asked: Receiver<Asked>,
}

/// Everything of one operator's time at work.
pub struct Shift {
    pub asked: Vec<Asked>,
    /// Why decisions came to nothing.
    pub refused: Vec<String>,
}

impl Operator {
    /// Attaches to every wrapper under `home`; `look` reads the disk's state.
    pub fn attach(home: &Path, manner: Manner, look: impl Fn() -> String + Send + 'static) -> Self {
        let (tell, events) = mpsc::channel();
        let (ask, asked) = mpsc::channel();
        let say = tell.clone();
        let me = Me { operator: "test".into(), version: env!("CARGO_PKG_VERSION").into(), pid: std::process::id() };
        let clients = Clients::watch(&home.join("state/run"), me, move |event| {
            drop(say.send(event));
        })
        .unwrap();
        let work = thread::spawn(move || {
            let (mut wrappers, mut refused) = (Vec::<Wrapper>::new(), Vec::new());
            let mut due: Vec<(Instant, String, FromConsole)> = Vec::new();
            let mut end: Option<Instant> = None;
            loop {
                let now = Instant::now();
                for (_, session, decide) in due.extract_if(.., |(when, ..)| *when <= now) {
                    clients.send(&session, &decide).unwrap();
                    end = end.map(|end| end.max(now + manner.last_words()));
                }
                if due.is_empty() && end.is_some_and(|end| now >= end) {
                    return refused;
                }
                match events.recv_timeout(if due.is_empty() && end.is_none() { PATIENCE } else { TICK }) {
                    Ok(ClientEvent::Connected(wrapper)) => wrappers.push(wrapper),
                    Ok(ClientEvent::Said { session, message: FromWrapper::Held { call } }) => {
                        let wrapper = wrappers.iter().find(|wrapper| wrapper.session == session).unwrap().pid;
                        drop(ask.send(Asked { tool: call.tool.clone(), disk: look(), wrapper }));
                        let verdict = manner.verdict.clone();
                        let decide = FromConsole::Decide {
                            ticket: call.ticket.clone(),
                            digest: call.digest,
                            verdict,
                            signed: None,
                        };
                        due.push((Instant::now() + manner.after, session, decide));
                    }
                    Ok(ClientEvent::Said { message: FromWrapper::Refused { why, .. }, .. }) => refused.push(why),
                    Ok(ClientEvent::Trouble(what)) if what == GO_HOME => {
                        end = Some(Instant::now() + manner.last_words());
                    }
                    // A wrapper may be gone before a late decision.
                    Ok(ClientEvent::Trouble(what)) if !manner.after.is_zero() => refused.push(what),
                    Ok(ClientEvent::Trouble(what)) => panic!("{what}"),
                    Err(RecvTimeoutError::Timeout) if due.is_empty() && end.is_none() => {
                        panic!("nothing happened in five minutes")
                    }
                    Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return refused,
                }
            }
        });
        Self { work, home: tell, asked }
    }

    /// Waits until a call waits for this operator.
    pub fn asked(&self) -> Asked {
        self.asked.recv_timeout(Duration::from_mins(2)).unwrap()
    }

    /// Ends the shift, once every decision was sent.
    pub fn leave(self) -> Shift {
        self.home.send(ClientEvent::Trouble(GO_HOME.into())).unwrap();
        let refused = self.work.join().unwrap();
        Shift { asked: self.asked.try_iter().collect(), refused }
    }
}

/// Sent by the test itself through the operator's own ears.
const GO_HOME: &str = "the test is over";

const PATIENCE: Duration = Duration::from_mins(5);
const TICK: Duration = Duration::from_millis(100);
