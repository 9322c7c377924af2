//! What keeps hosts waiting while their calls are held: heartbeats, states that they bring back, forms for their users, and
//! tasks that they poll for. One state, and the steps that change it. Decides no call.
//!
//! What one call needs of it is in [`crate::gate::held::wait`]; this is what outlives the request that a host waits with.

pub mod answer;
pub mod come_back;
pub mod given;
pub mod question;
pub mod requests;
pub mod tasks;

use std::sync::Arc;

use crate::gate::config::{Config, Polling, Unattended};
use crate::gate::held::Withdrawal;
use crate::wire::message::Plain;
use given::{FormQuestions, Kept, Owed, Return};
use tasks::{Progress, Tasks};

/// What hosts were given while their calls wait.
#[derive(Debug)]
pub struct Waiting {
    pub limits: Limits,
    /// The form that the host puts to its user for us.
    pub forms: FormQuestions,
    pub returns: Kept<Return>,
    pub tasks: Tasks,
    /// Requests about tasks that waited, and can be answered now.
    ready: Vec<Plain>,
}

/// How hosts may be kept waiting, as the operator has set it. Times are microseconds.
#[derive(Debug)]
pub struct Limits {
    /// Known to neither end: what hosts are given cannot be guessed.
    pub secret: Arc<str>,
    pub console: Arc<str>,
    pub approval: u64,
    /// How long a host waits for one request, where the operator knows better than our table.
    pub host: Option<u64>,
    pub polling: Polling,
    pub unattended: Unattended,
}

impl Waiting {
    pub fn new(config: &Config) -> Self {
        Self {
            limits: Limits {
                secret: Arc::clone(&config.secret),
                console: Arc::clone(&config.console),
                approval: config.approval_timeout,
                host: config.host_timeout,
                polling: config.polling,
                unattended: config.unattended,
            },
            forms: FormQuestions::new(&config.secret),
            returns: Kept::default(),
            tasks: Tasks::default(),
            ready: Vec::new(),
        }
    }

    /// Sets how far a task is. Requests that waited for that are answered at the end of the step.
    pub fn advance(&mut self, task: &str, progress: Progress, now: i64) {
        let waited = self.tasks.advance(task, progress, now);
        self.ready.extend(waited);
    }

    pub fn take_ready(&mut self) -> Vec<Plain> {
        std::mem::take(&mut self.ready)
    }

    /// Forgets what hosts did not come back for by `now`; returns the calls that are still held for it.
    pub fn expire(&mut self, now: u64) -> Vec<(u64, Withdrawal)> {
        let mut calls = Vec::new();
        for given in self.returns.due(now) {
            if let Owed::Wait(number) = given.owed {
                calls.push((number, Withdrawal::NoReturn));
            }
        }
        for task in self.tasks.due(now) {
            if let Progress::Held(number) = task.progress {
                calls.push((number, Withdrawal::TaskOver));
            }
            self.ready.extend(task.waiting);
        }
        calls
    }

    pub fn wake_at(&self) -> Option<u64> {
        self.returns.wake_at().into_iter().chain(self.tasks.wake_at()).min()
    }
}
