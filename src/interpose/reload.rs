//! Reads the policy files, and what operators have signed for this machine, again when they may have changed, on a thread: a disk that
//! hangs does not delay the loop.

use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread::Builder;

use super::clock;
use super::threads::{FromThreads, ToLoop};
use super::watch::Watcher;
use crate::gate::data::event::{ConsoleId, Event};
use crate::home::{layers::Layers, standing};
use crate::signing::statement::Evidence;
use crate::wire::digest::Digest;

/// What to accept: the text of this file, if it still has this digest.
#[derive(Debug)]
pub struct Accept {
    pub file: String,
    pub digest: Digest,
    pub signed: Option<Evidence>,
    pub console: ConsoleId,
}

enum Job {
    Look,
    Accept(Accept),
}

/// The loop's side. Dropping it ends the thread.
pub struct Reload {
    /// Until the thread is started.
    reader: Option<Reader>,
    jobs: Option<Sender<Job>>,
}

/// The thread's side.
struct Reader {
    layers: Layers,
    standing: standing::Reader,
    watcher: Watcher,
    to_loop: ToLoop,
}

impl Reload {
    /// What is found of these files goes to the loop.
    pub fn new(layers: Layers, standing: standing::Reader, watcher: Watcher, to_loop: ToLoop) -> Self {
        Self { reader: Some(Reader { layers, standing, watcher, to_loop }), jobs: None }
    }

    /// Has the thread look at the files; `false` if it cannot be started now.
    pub fn look(&mut self) -> bool {
        self.send(Job::Look)
    }

    /// Has the thread accept a text; `false` if it cannot be started now.
    pub fn accept(&mut self, what: Accept) -> bool {
        self.send(Job::Accept(what))
    }

    fn send(&mut self, job: Job) -> bool {
        if self.reader.is_some() {
            let ((jobs, inbox), (hand, handed)) = (mpsc::channel(), mpsc::channel::<Reader>());
            let work = move || {
                // Passed on once the thread runs: if it cannot be started, the next try still has the reader.
                let Ok(mut reader) = handed.recv() else { return };
                for job in inbox {
                    reader.work(job);
                }
            };
            if let Err(error) = Builder::new().name("policy".to_owned()).spawn(work) {
                tracing::error!(%error, "the policy cannot be read again now");
                return false;
            }
            if let Some(reader) = self.reader.take() {
                // The thread waits for exactly this.
                let _ = hand.send(reader);
            }
            self.jobs = Some(jobs);
        }
        self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
    }
}

impl Reader {
    fn work(&mut self, job: Job) {
        if let Job::Accept(Accept { file, digest, signed, console }) = job
            && let Err(why) = self.layers.accept(Path::new(&file), digest, signed.as_ref(), clock::wall_ms())
        {
            self.to_loop.tell(FromThreads::Refused { console, why: why.to_string() });
        }
        self.look();
    }

    fn look(&mut self) {
        // Watched before they are read: a change in between is reported.
        let added = self.watcher.add(&[self.layers.paths(), self.standing.paths().into()].concat());
        if let Some(standing) = self.standing.changed(clock::wall_ms()) {
            self.to_loop.tell(FromThreads::Event(Event::Standing(Box::new(standing))));
        }
        if let Some(policy) = self.layers.changed() {
            self.to_loop.tell(FromThreads::Policy(Box::new(policy)));
        }
        self.to_loop.tell(FromThreads::Watched(added));
    }
}
