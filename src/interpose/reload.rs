//! Notices that a policy file has changed, on a thread of its own: a disk that hangs costs the reload, never the loop.
//!
//! A look costs one `stat` for each file and its accepted copy, twice a second; no watching crate is worth its weight for
//! that, and polling sees every kind of change on every file system.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::Builder;
use std::time::Duration;

use crate::gate::data::event::ConsoleId;
use crate::home::layers::{AcceptError, Layers};
use crate::policy::rule::Policy;
use crate::wire::digest::Digest;

/// How often the files are looked at.
const EVERY: Duration = Duration::from_millis(500);

/// What is to be accepted: the text of this file, if it still has this digest.
#[derive(Debug)]
pub struct Accept {
    pub file: String,
    pub digest: Digest,
    pub console: ConsoleId,
}

/// What came of a look or an acceptance.
#[derive(Debug)]
pub enum Reloaded {
    /// This policy applies from now on.
    Policy(Box<Policy>),
    /// Nothing was accepted, for this reason.
    Refused { console: ConsoleId, why: AcceptError },
}

/// The loop's side. Dropping it ends the thread.
pub struct Reload {
    accept: Option<Sender<Accept>>,
}

impl Reload {
    /// Starts the thread. What it finds comes through `on_reload`, on that thread.
    pub fn start(mut layers: Layers, on_reload: impl Fn(Reloaded) + Send + 'static) -> Self {
        let (accept, inbox) = mpsc::channel::<Accept>();
        let started = Builder::new().name("policy".to_owned()).spawn(move || {
            loop {
                match inbox.recv_timeout(EVERY) {
                    Ok(Accept { file, digest, console }) => {
                        if let Err(why) = layers.accept(Path::new(&file), digest) {
                            on_reload(Reloaded::Refused { console, why });
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                }
                if let Some(policy) = layers.changed() {
                    on_reload(Reloaded::Policy(Box::new(policy)));
                }
            }
        });
        match started {
            Ok(_) => Self { accept: Some(accept) },
            Err(error) => {
                tracing::error!(%error, "the policy is not read again while this wrapper runs");
                Self { accept: None }
            }
        }
    }

    /// Has a text accepted; `false` where the thread could not be started.
    pub fn accept(&self, what: Accept) -> bool {
        self.accept.as_ref().is_some_and(|accept| accept.send(what).is_ok())
    }
}
