//! Notices that a policy file has changed, on a thread of its own: a disk that hangs costs the reload, never the loop.
//!
//! A look costs one `stat` for each file and its accepted copy, twice a second; no watching crate is worth its weight for
//! that, and polling sees every kind of change on every file system.

use std::fmt;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::Builder;
use std::time::Duration;

use crate::gate::data::event::ConsoleId;
use crate::policy::rule::Policy;
use crate::wire::digest::Digest;

/// How often the files are looked at.
const EVERY: Duration = Duration::from_millis(500);

/// What the reader of the policy is asked.
#[derive(Debug)]
pub enum Order {
    /// Whether anything has changed.
    Look,
    /// To accept the text of this file, if it still has this digest.
    Accept { file: String, digest: Digest, console: ConsoleId },
}

/// What it says.
#[derive(Debug)]
pub enum Told {
    Same,
    /// This policy stands from now on.
    Policy(Box<Policy>),
    /// Nothing was accepted, for this reason.
    Refused {
        console: ConsoleId,
        why: String,
    },
}

/// Reads the policy for one wrapper.
pub struct Reader(Box<dyn FnMut(Order) -> Told + Send>);

impl Reader {
    /// A reader; called on a thread of its own.
    pub fn new(read: impl FnMut(Order) -> Told + Send + 'static) -> Self {
        Self(Box::new(read))
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reader")
    }
}

/// The loop's side. Dropping it ends the thread.
pub struct Reload {
    orders: Option<Sender<Order>>,
}

impl Reload {
    /// Starts the thread. What it has to tell comes through `on_told`, on that thread.
    pub fn start(mut reader: Reader, on_told: impl Fn(Told) + Send + 'static) -> Self {
        let (orders, inbox) = mpsc::channel();
        let started = Builder::new().name("policy".to_owned()).spawn(move || {
            loop {
                let order = match inbox.recv_timeout(EVERY) {
                    Ok(order) => order,
                    Err(RecvTimeoutError::Timeout) => Order::Look,
                    Err(RecvTimeoutError::Disconnected) => return,
                };
                match (reader.0)(order) {
                    Told::Same => {}
                    told => on_told(told),
                }
            }
        });
        match started {
            Ok(_) => Self { orders: Some(orders) },
            Err(error) => {
                tracing::error!(%error, "the policy is not read again while this wrapper runs");
                Self { orders: None }
            }
        }
    }

    /// Asks for something beside the looks; `false` where nobody is there to do it.
    pub fn order(&self, order: Order) -> bool {
        self.orders.as_ref().is_some_and(|orders| orders.send(order).is_ok())
    }
}
