//! Reads and writes the pins on a thread beside the loop: at the start, when something must be kept, and after an
//! operator's review elsewhere. Of what is agreed to, only what the log has a record of counts; a record may be on its way
//! there, so one that is missing is looked for again before the operator is alarmed. Owns no judgement.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use super::memory::give_back;
use super::threads::{FromThreads, ToLoop};
use super::watch::Watcher;
use super::{clock, notice};
use crate::behavior::{Agreement, Agreements, Trust, agreed::Backing};
use crate::gate::data::event::{ConsoleId, Event};
use crate::gate::data::pin::{PinUpdate, Pinning, Pins};
use crate::home::{agreed::standings, places::Places};
use crate::pins::agreed::{Kept, Proofs, Standing};
use crate::pins::{Launch, PinStore, PinsError, Program, reading::Applied};
use crate::wire::Digest;

/// How long to retry while others write, so that many wrappers can start at once.
const BUSY: Duration = Duration::from_secs(15);
const AGAIN: Duration = Duration::from_millis(20);
/// How long to wait between two reads of others' changes: a hundred wrappers that start at once all change something.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// After how long without work the database is closed.
const QUIET: Duration = Duration::from_secs(4);
/// How long the end waits for a disk that does not answer.
const PATIENCE: Duration = Duration::from_millis(500);

enum PinJob {
    Keep(Box<PinUpdate>),
    Pin(Pinning, ConsoleId),
    Agree(Vec<Agreement>, Backing, ConsoleId),
    UseAgreed(Vec<Agreement>),
    NoteServer,
    Look,
    /// What counts may have changed, with the policy or the lists of signers.
    Weigh,
}

/// The loop's side. Dropping it waits, within `PATIENCE`, until everything is kept.
pub struct PinWriter {
    jobs: Option<Sender<PinJob>>,
    ended: Receiver<()>,
}

impl PinWriter {
    /// Starts the thread, which reads the pins of a server, so starting costs the loop nothing. The loop gets the pins
    /// once they are read, and again after a review that [`Self::look`] finds.
    ///
    /// Returns the pins that the gate begins with. If none can be read, nothing is trusted, and every call asks.
    pub fn start(
        (places, log): (Places, PathBuf),
        launch: Launch,
        trust: Trust,
        watcher: Watcher,
        to_loop: ToLoop,
    ) -> (Pins, Self) {
        let (jobs, inbox) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let work = move || {
            let mut is_said = false;
            let path = places.pins_db();
            let mut proving = Proving::new(places, log);
            loop {
                match patiently(|| read(&path, &launch, &mut proving)) {
                    Ok((store, pins, program)) => {
                        let told = (pins.agreed.clone(), pins.signed.clone(), Vec::new());
                        to_loop.tell(remembered(pins));
                        let generation = store.generation().ok();
                        let book = Book { path, store: Some(store), used: Instant::now(), generation, stamp: None };
                        break Writer { book, launch, program, trust, watcher, to_loop, proving, told }.work(&inbox);
                    }
                    // Until the others are done, every call asks; then the pins count after all.
                    Err(PinsError::Busy { .. }) if is_said => {}
                    Err(error) => {
                        to_loop.tell(remembered(untrusted(&error.to_string(), &error.hint())));
                        if !matches!(error, PinsError::Busy { .. }) {
                            break;
                        }
                        is_said = true;
                    }
                }
            }
            // The wrapper no longer listens if it gave up waiting.
            let _ = end.send(());
        };
        let pins = match Builder::new().name("pins".to_owned()).spawn(work) {
            Ok(_) => Pins::awaited(),
            Err(error) => untrusted(&error.to_string(), "look at the limit on processes (ulimit -u)"),
        };
        (pins, Self { jobs: Some(jobs), ended })
    }

    /// Keeps how the server was started, now that it has answered. Never waits.
    pub fn note_server(&self) {
        // A thread that has ended has said why.
        let _ = self.send(PinJob::NoteServer);
    }

    /// Keeps a definition. Never waits.
    pub fn keep(&self, update: PinUpdate) {
        // A thread that has ended has said why.
        let _ = self.send(PinJob::Keep(Box::new(update)));
    }

    /// Keeps what an operator says of a definition; the pins follow as an event. `false` if nothing can be kept.
    pub fn pin(&self, pinning: Pinning, console: ConsoleId) -> bool {
        self.send(PinJob::Pin(pinning, console))
    }

    /// Keeps what an operator agreed to, which the log has. `false` if nothing can be kept.
    pub fn agree(&self, agreed: Vec<Agreement>, backing: Backing, console: ConsoleId) -> bool {
        self.send(PinJob::Agree(agreed, backing, console))
    }

    /// Notes that these agreements were used today. Never waits.
    pub fn use_agreed(&self, used: Vec<Agreement>) {
        // A thread that has ended has said why.
        let _ = self.send(PinJob::UseAgreed(used));
    }

    /// Has the thread check whether an operator has reviewed the pins.
    pub fn look(&self) {
        // A thread that has ended has said why.
        let _ = self.send(PinJob::Look);
    }

    /// Has the thread look again at what counts of what was agreed to.
    pub fn weigh(&self) {
        // A thread that has ended has said why.
        let _ = self.send(PinJob::Weigh);
    }

    fn send(&self, job: PinJob) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
    }
}

impl Drop for PinWriter {
    fn drop(&mut self) {
        self.jobs = None;
        if self.ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            tracing::error!("the definitions seen last may not be remembered");
        }
    }
}

fn read(path: &Path, launch: &Launch, proving: &mut Proving) -> Result<(PinStore, Pins, Program), PinsError> {
    let mut store = PinStore::open(path)?;
    let (mut pins, program) = store.greet(launch, clock::wall_ms())?;
    proving.fill(&mut store, &mut pins)?;
    Ok((store, pins, program))
}

fn remembered(pins: Pins) -> FromThreads {
    FromThreads::Event(Event::Reviewed(Box::new(pins)))
}

/// Retries while others write, for [`BUSY`] at most.
fn patiently<T>(mut act: impl FnMut() -> Result<T, PinsError>) -> Result<T, PinsError> {
    let until = Instant::now() + BUSY;
    loop {
        match act() {
            Err(PinsError::Busy { .. }) if Instant::now() < until => thread::sleep(AGAIN),
            done => return done,
        }
    }
}

/// The pins if nothing could be read: none is trusted.
fn untrusted(why: &str, hint: &str) -> Pins {
    let why = format!("what is remembered of this server cannot be read, so nothing it says is trusted: {why}; {hint}");
    notice::say(&why);
    Pins { changed: Some(why.into()), ..Pins::default() }
}

/// The thread's side.
struct Writer {
    book: Book,
    launch: Launch,
    program: Program,
    trust: Trust,
    watcher: Watcher,
    to_loop: ToLoop,
    proving: Proving,
    /// What was agreed to when the gate was told last, and what had no record.
    told: Told,
}

/// What counts, what of it is signed, and what does not count.
type Told = (Agreements, Agreements, Vec<String>);

impl Writer {
    fn work(mut self, inbox: &Receiver<PinJob>) {
        let mut noticed = false;
        self.look();
        let (mut looked, mut look_at) = (Instant::now(), None::<Instant>);
        loop {
            let quiet_at = self.book.store.as_ref().map(|_| self.book.used + QUIET);
            let job = match look_at.into_iter().chain(self.proving.again).chain(quiet_at).min() {
                None => inbox.recv().map_err(RecvTimeoutError::from),
                Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            let job = match job {
                Ok(PinJob::Look) if looked.elapsed() < LOOK_EVERY => {
                    look_at.get_or_insert(looked + LOOK_EVERY);
                    continue;
                }
                Ok(job) => job,
                Err(RecvTimeoutError::Timeout) if quiet_at.is_some_and(|at| at <= Instant::now()) => {
                    self.book.close();
                    PinJob::Look
                }
                Err(RecvTimeoutError::Timeout) => PinJob::Look,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match job {
                PinJob::Keep(update) => {
                    if let Err(error) = patiently(|| self.book.open()?.keep(&self.launch, &update, clock::wall_ms()))
                        && !noticed
                    {
                        noticed = true;
                        notice::say(&format!("tools seen now will not be remembered: {error}; {}", error.hint()));
                    }
                }
                PinJob::Pin(pinning, console) => match self.pin(&pinning) {
                    Ok(pins) => self.to_loop.tell(remembered(pins)),
                    Err(why) => {
                        let why = format!("your answer about {} is not remembered: {why}", pinning.tool);
                        self.to_loop.tell(FromThreads::Refused { console, why });
                    }
                },
                PinJob::Agree(agreed, backing, console) => {
                    let fingerprint = self.launch.fingerprint.to_string();
                    self.proving.recorded(&fingerprint, &agreed, backing);
                    let kept = patiently(|| self.book.open()?.agree(&fingerprint, &agreed, clock::wall_ms()));
                    match kept.and_then(|()| self.load()) {
                        // The gate may have got other pins since, without this.
                        Ok(pins) => self.to_loop.tell(remembered(pins)),
                        Err(error) => {
                            let why = format!("what you agreed to is not remembered: {error}; {}", error.hint());
                            self.to_loop.tell(FromThreads::Refused { console, why });
                        }
                    }
                }
                PinJob::UseAgreed(used) => {
                    let fingerprint = self.launch.fingerprint.to_string();
                    if let Err(error) =
                        patiently(|| self.book.open()?.use_agreed(&fingerprint, &used, clock::wall_ms()))
                    {
                        tracing::warn!(%error, "the last use of what was agreed to is not noted");
                    }
                }
                PinJob::NoteServer => self.note_server(),
                PinJob::Weigh => {
                    self.proving.again = Some(Instant::now());
                    self.look();
                }
                PinJob::Look => {
                    self.look();
                    (looked, look_at) = (Instant::now(), None);
                }
            }
        }
    }

    fn look(&mut self) {
        // Watched before it is read: a change in between is reported.
        let added = self.watcher.add_in_place(&self.book.path);
        let is_due = self.proving.again.take_if(|again| *again <= Instant::now()).is_some();
        let (told, now) = (self.told.clone(), self.book.now());
        let has_changed = now != self.book.generation;
        if (is_due || has_changed)
            && let Ok(pins) = self.load()
            && (has_changed || told != self.told)
        {
            self.book.generation = now;
            self.to_loop.tell(remembered(pins));
        }
        self.to_loop.tell(FromThreads::Watched(added));
    }

    /// The pins as they are now, with what is agreed to.
    fn load(&mut self) -> Result<Pins, PinsError> {
        let mut pins = self.book.open()?.load(&self.launch, &self.program)?;
        patiently(|| self.proving.fill(self.book.open()?, &mut pins))?;
        for one in pins.unproven.iter().filter(|one| !self.told.2.contains(one)) {
            notice::say(&format!("ALARM: an agreement without its record: {one}"));
        }
        self.told = (pins.agreed.clone(), pins.signed.clone(), pins.unproven.clone());
        Ok(pins)
    }

    fn note_server(&mut self) {
        let noted = patiently(|| self.book.open()?.note(&self.launch, &self.program, self.trust, clock::wall_ms()));
        match noted.and_then(|()| self.load()) {
            // Another command line may have been first under this name.
            Ok(pins) => self.to_loop.tell(remembered(pins)),
            Err(error) => {
                notice::say(&format!("how this server was started is not remembered: {error}; {}", error.hint()));
            }
        }
    }

    fn pin(&mut self, pinning: &Pinning) -> Result<Pins, String> {
        let told = |error: PinsError| format!("{error}; {}", error.hint());
        let fingerprint = self.launch.fingerprint.to_string();
        match patiently(|| self.book.open()?.pin_tool(&fingerprint, pinning)).map_err(told)? {
            Applied::Done => self.load().map_err(told),
            Applied::Outdated => Err("its definition changed again since it was shown".to_owned()),
        }
    }
}

/// The database of pins, closed while there is nothing to do: its files and its memory are given back.
struct Book {
    path: PathBuf,
    store: Option<PinStore>,
    used: Instant,
    /// The database's generation when the pins were last read; `None` if they have to be read again.
    generation: Option<i64>,
    /// What its file was when it was closed: whoever writes changes that ([`PinStore::write`]).
    stamp: Option<Stamp>,
}

/// Number, time and nanoseconds of the last change, size.
type Stamp = (u64, i64, i64, u64);

impl Book {
    fn open(&mut self) -> Result<&mut PinStore, PinsError> {
        self.used = Instant::now();
        let store = match self.store.take() {
            Some(store) => store,
            None => {
                let store = PinStore::open(&self.path)?;
                self.generation = if self.stamp() == self.stamp { store.generation().ok() } else { None };
                store
            }
        };
        Ok(self.store.insert(store))
    }

    /// The database's generation now. A file that was not written is not opened for it.
    fn now(&mut self) -> Option<i64> {
        if self.store.is_none() && self.stamp == self.stamp() {
            return self.generation;
        }
        self.open().ok()?.generation().ok()
    }

    /// Closes it. A change from before this is seen by the next look.
    fn close(&mut self) {
        let Some(store) = &self.store else { return };
        // Nothing is left for SQLite to write as it closes. It may fail: then the next look reads once more.
        let _ = store.checkpoint();
        let stamp = self.stamp();
        if store.generation().ok() == self.generation {
            (self.store, self.stamp) = (None, stamp);
            give_back();
        }
    }

    fn stamp(&self) -> Option<Stamp> {
        let found = self.path.metadata().ok()?;
        Some((found.ino(), found.mtime(), found.mtime_nsec(), found.len()))
    }
}

/// How soon a missing record is looked for again: another wrapper's entry is in the log within 50 ms.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// How long one may be missing before that is an alarm.
const ALARM_AFTER: Duration = Duration::from_secs(1);
/// When to stop looking for it.
const ENOUGH: Duration = Duration::from_secs(60);
/// How many agreements an alarm names.
const NAMED: usize = 20;

/// What one wrapper knows of the records of agreements.
pub(super) struct Proving {
    places: Places,
    log: PathBuf,
    /// Those whose record this wrapper has written: it may not be in the log yet.
    ours: HashMap<Digest, Backing>,
    missing: HashMap<Digest, Instant>,
    pub(super) again: Option<Instant>,
}

impl Proving {
    pub(super) fn new(places: Places, log: PathBuf) -> Self {
        Self { places, log, ours: HashMap::new(), missing: HashMap::new(), again: None }
    }

    /// This wrapper's own log has the record of these.
    pub(super) fn recorded(&mut self, fingerprint: &str, agreed: &[Agreement], backing: Backing) {
        self.ours.extend(agreed.iter().map(|one| (one.digest(fingerprint), backing)));
    }

    /// Fills in what is agreed to, what has lapsed, and what has no record. Removes what has lapsed.
    pub(super) fn fill(&mut self, store: &mut PinStore, pins: &mut Pins) -> Result<(), PinsError> {
        self.again = None;
        let kept = store.agreed(Some(&pins.fingerprint))?;
        if kept.is_empty() {
            self.missing.clear();
            return Ok(());
        }
        let now = Instant::now();
        let proofs = Proofs::open_as_is(&self.log);
        let (mut lapsed, mut unproven) = (Vec::new(), Vec::new());
        let standings = standings(&proofs, &kept, &self.places, clock::wall_ms());
        for (one, standing) in kept.into_iter().zip(standings) {
            let ours = self.ours.get(&one.digest()).filter(|_| proofs.trouble().is_none());
            match (standing, ours) {
                (Standing::Proven(backing), _) | (Standing::Unproven, Some(&backing)) => {
                    if backing == Backing::Signed {
                        pins.signed.insert(one.agreement.clone());
                    }
                    pins.agreed.insert(one.agreement);
                }
                (Standing::Lapsed, _) => lapsed.push(one),
                // It is there by right, and counts again once the policy lets teams loosen.
                (Standing::OfTeam, _) => {}
                (Standing::Unproven | Standing::TakenBack | Standing::Unsigned, _) => unproven.push((one, standing)),
            }
        }
        let removed = store.disagree(&lapsed.iter().map(Kept::digest).collect::<Vec<_>>())?;
        // Another wrapper of this server may have removed it, and says so in its log.
        pins.lapsed =
            lapsed.into_iter().filter(|one| removed.contains(&one.digest())).map(|one| one.agreement).collect();
        self.alarm(now, &unproven, pins, &proofs);
        Ok(())
    }

    fn alarm(&mut self, now: Instant, unproven: &[(Kept, Standing)], pins: &mut Pins, proofs: &Proofs) {
        let before = std::mem::take(&mut self.missing);
        for (one, standing) in unproven {
            let since = *before.get(&one.digest()).unwrap_or(&now);
            self.missing.insert(one.digest(), since);
            let missing = now.saturating_duration_since(since);
            if missing < ENOUGH {
                let next = now + LOOK_AGAIN.max(missing / 2);
                self.again = Some(self.again.map_or(next, |again| again.min(next)));
            }
            if missing >= ALARM_AFTER && pins.unproven.len() < NAMED {
                pins.unproven.push(named(one, *standing, proofs));
            }
        }
    }
}

fn named(one: &Kept, standing: Standing, proofs: &Proofs) -> String {
    let of = if one.agreement.tool.is_empty() { String::new() } else { format!("{}: ", one.agreement.tool) };
    let why = match (proofs.trouble(), standing) {
        (Some(error), _) => format!(" ({error})"),
        (None, Standing::Unsigned) => " (the policy asks for a signature, and none on it counts)".to_owned(),
        (None, _) => String::new(),
    };
    format!("{of}{}{why}", one.agreement.says())
}

#[cfg(test)]
mod tests {
    use super::{PinsError, patiently};

    #[test]
    fn what_is_busy_is_tried_again_and_what_is_broken_is_not() {
        let path = || "pins.db".into();
        let mut tries = 0;
        let done = patiently(|| {
            tries += 1;
            if tries < 4 { Err(PinsError::Busy { path: path() }) } else { Ok(tries) }
        });
        assert_eq!(done.ok(), Some(4));
        let mut tries = 0;
        let broken = patiently(|| -> Result<(), _> {
            tries += 1;
            Err(PinsError::Unusable { path: path(), why: "it is no database".to_owned() })
        });
        assert!(matches!(broken, Err(PinsError::Unusable { .. })) && tries == 1, "{tries}");
    }
}
