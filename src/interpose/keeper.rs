//! What is remembered between sessions, beside the loop: read once at the start, kept on a thread, and read again when
//! an operator has reviewed it elsewhere. Owns no judgement.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::Builder;
use std::time::Duration;

use super::clock;
use super::notice;
use crate::behavior::conclude::Trust;
use crate::gate::pins::{Pins, Sighting};
use crate::pins::{Launch, Memory, Program};

/// How soon a review takes effect.
const LOOK: Duration = Duration::from_secs(2);
/// How long the end waits for a disk that does not answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// The loop's side. Dropped, it has everything kept first.
pub struct Keeper {
    seen: Option<Sender<Sighting>>,
    ended: Option<Receiver<()>>,
}

impl Keeper {
    /// Reads what is remembered of a server, and starts the thread. `on_review` is called on it.
    ///
    /// Where nothing can be read, nothing is trusted: the pins say so, and every call asks.
    pub fn start(
        path: &Path,
        launch: Launch,
        trust: Trust,
        on_review: impl FnMut(Pins) + Send + 'static,
    ) -> (Pins, Self) {
        let read = Memory::open(path).and_then(|mut memory| {
            let (pins, program) = memory.greet(&launch, trust, clock::wall_ms())?;
            Ok((memory, pins, program))
        });
        let (memory, pins, program) = match read {
            Ok(read) => read,
            Err(error) => {
                let why = format!(
                    "what is remembered of this server cannot be read, so nothing it says is trusted: {error}; {}",
                    error.hint()
                );
                notice::say(&why);
                let pins = Pins { changed: Some(why.into()), ..Pins::default() };
                return (pins, Self { seen: None, ended: None });
            }
        };
        let (seen, inbox) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let desk = Desk { memory, launch, program, inbox, on_review };
        let started = Builder::new().name("keeper".to_owned()).spawn(move || {
            desk.work();
            // Nobody listens any more when the wrapper gave up waiting.
            let _ = end.send(());
        });
        match started {
            Ok(_) => (pins, Self { seen: Some(seen), ended: Some(ended) }),
            Err(error) => {
                tracing::error!(%error, "new definitions will not be remembered");
                (pins, Self { seen: None, ended: None })
            }
        }
    }

    /// Keeps a definition. Never waits.
    pub fn keep(&self, sighting: Sighting) {
        if let Some(seen) = &self.seen {
            // A thread that is gone has said why.
            let _ = seen.send(sighting);
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.seen = None;
        if let Some(ended) = &self.ended
            && ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout)
        {
            tracing::error!("the definitions seen last may not be remembered");
        }
    }
}

/// The thread's side.
struct Desk<F> {
    memory: Memory,
    launch: Launch,
    program: Program,
    inbox: Receiver<Sighting>,
    on_review: F,
}

impl<F: FnMut(Pins)> Desk<F> {
    fn work(mut self) {
        let mut generation = self.memory.generation().ok();
        let mut told = false;
        loop {
            match self.inbox.recv_timeout(LOOK) {
                Ok(sighting) => {
                    if let Err(error) = self.memory.keep(&self.launch, &sighting, clock::wall_ms())
                        && !told
                    {
                        told = true;
                        notice::say(&format!("tools seen now will not be remembered: {error}; {}", error.hint()));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    let now = self.memory.generation().ok();
                    if now != generation
                        && let Ok(pins) = self.memory.load(&self.launch, &self.program)
                    {
                        generation = now;
                        (self.on_review)(pins);
                    }
                }
            }
        }
    }
}
