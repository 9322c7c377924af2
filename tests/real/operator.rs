//! The operator of a real-server test: decides everything that waits in one way, and keeps what it saw.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcp_approve::link::client::{ClientEvent, Clients, Me};
use mcp_approve::link::message::{FromConsole, FromWrapper, OperatorVerdict};

/// One call that waited.
#[derive(Debug)]
pub struct Asked {
    pub tool: String,
    /// What the disk looked like while it waited.
    pub disk: String,
}

/// An operator at work on a thread of its own.
pub struct Operator {
    work: JoinHandle<Vec<Asked>>,
    home: Sender<ClientEvent>,
}

impl Operator {
    /// Attaches to every wrapper under `home`; `look` tells the disk's state.
    pub fn attach(home: &Path, verdict: OperatorVerdict, look: impl Fn() -> String + Send + 'static) -> Self {
        let (tell, events) = mpsc::channel();
        let say = tell.clone();
        let me = Me { operator: "test".into(), version: env!("CARGO_PKG_VERSION").into(), pid: std::process::id() };
        let clients = Clients::watch(&home.join("state/run"), me, move |event| {
            drop(say.send(event));
        })
        .unwrap();
        let work = thread::spawn(move || {
            let mut asked = Vec::new();
            loop {
                match events.recv_timeout(Duration::from_mins(5)) {
                    Ok(ClientEvent::Said { session, message: FromWrapper::Held { call } }) => {
                        asked.push(Asked { tool: call.tool.clone(), disk: look() });
                        let verdict = FromConsole::Decide {
                            ticket: call.ticket.clone(),
                            digest: call.digest,
                            verdict: verdict.clone(),
                        };
                        clients.send(&session, &verdict).unwrap();
                    }
                    Ok(ClientEvent::Trouble(end)) if end == GO_HOME => return asked,
                    Ok(ClientEvent::Trouble(what)) => panic!("{what}"),
                    Ok(_) => {}
                    Err(RecvTimeoutError::Timeout) => panic!("nothing happened in five minutes"),
                    Err(RecvTimeoutError::Disconnected) => return asked,
                }
            }
        });
        Self { work, home: tell }
    }

    /// Ends the shift; what was asked in it.
    pub fn leave(self) -> Vec<Asked> {
        self.home.send(ClientEvent::Trouble(GO_HOME.into())).unwrap();
        self.work.join().unwrap()
    }
}

/// Sent by the test itself through the operator's own ears.
const GO_HOME: &str = "the test is over";
