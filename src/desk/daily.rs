//! The day's witness, signed by the console of an operator who may: in the background where the key asks for no person, else the operator is
//! asked to. It watches beside the console, over a connection of its own while it looks.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use super::engine::{Program, Target};
use super::log::Central;
use super::witness::{Done, Witnessing};
use crate::audit::StoreError;
use crate::home::{places::Places, signers};
use crate::link::message::{ClientEvent, WitnessNews};
use crate::operator::sign::{self, OwnKey};
use crate::signing::witness::NAMESPACE;
use crate::wire::counted;

/// How old the last witness may be, in milliseconds.
pub const DAY: i64 = 86_400_000;
/// How often it is looked at.
const EVERY: Duration = Duration::from_secs(600);
/// Consoles that are opened together do not look together: each waits for some of these seconds first.
const SPREAD: u32 = 60;

const BY_HAND: &str = "`mcp-approve desk witness` signs one";

/// Watches until the sender is dropped. `on` is called from the thread, and must not block.
pub fn watch(
    target: Target,
    places: Places,
    now: fn() -> i64,
    on: impl Fn(ClientEvent) + Send + 'static,
) -> Sender<()> {
    let (open, closed) = channel();
    let run = move || {
        let mut daily = Daily::default();
        let mut wait = Duration::from_secs(u64::from(5 + std::process::id() % SPREAD));
        while is_open(&closed, wait) {
            wait = EVERY;
            // An operator who may sign none is asked for none; a desk that cannot be reached is said elsewhere.
            let (Ok(keys), Ok(Some(lists))) = (sign::keys(&places, NAMESPACE, now()), signers::load(&places)) else {
                continue;
            };
            let (Ok(desk), before) = (Central::open(&target, Program::Command), daily.news.clone()) else { continue };
            let witnessing = Witnessing { desk: &desk, target: &target, places: &places, signers: &lists.signers };
            if daily.look(&witnessing, &keys, now()).is_ok() && daily.news != before {
                on(ClientEvent::Witness(daily.news.clone()));
            }
        }
    };
    // Without the thread there is no witness, which each other console says.
    let _ = thread::Builder::new().name("witness".to_owned()).spawn(run);
    open
}

fn is_open(closed: &Receiver<()>, wait: Duration) -> bool {
    matches!(closed.recv_timeout(wait), Err(RecvTimeoutError::Timeout))
}

/// What is known of the day's witness.
#[derive(Debug, Default)]
pub struct Daily {
    pub news: WitnessNews,
    /// When signing failed last: it is tried again a day later, since a key may ask somebody all the same.
    failed: Option<i64>,
}

impl Daily {
    /// Looks whether a witness is due, and signs one if that takes no person. `keys` are those of the operator that may.
    pub fn look(&mut self, witnessing: &Witnessing<'_>, keys: &[OwnKey], now: i64) -> Result<(), StoreError> {
        let Witnessing { desk, places, .. } = witnessing;
        let is_due = || {
            let latest = witnessing.latest(now)?;
            Ok::<_, StoreError>((latest.is_none_or(|time| now - time >= DAY), latest))
        };
        let (true, latest) = is_due()? else {
            // What was wrong with it is said until the next.
            if self.failed.take().is_some() {
                self.news.wrong = None;
            }
            return Ok(());
        };
        if desk.machines()?.is_empty() || self.failed.is_some_and(|at| now - at < DAY) {
            return Ok(());
        }
        let age = latest.map_or_else(
            || "no witness of all logs was ever signed".to_owned(),
            |time| format!("no witness of all logs for {}", counted((now - time) / DAY, "day")),
        );
        let Some(key) = keys.iter().find(|key| !key.key.kind().states_presence()) else {
            self.failed = Some(now);
            self.news.wrong = Some(format!("{age}: {BY_HAND}, with a touch"));
            return Ok(());
        };
        let signed = witnessing.sign(now, key, &mut |text| text.sign_unasked(places), &|| Ok(is_due()?.0));
        match signed {
            // Another console was quicker.
            Ok(None) => {}
            Ok(Some(Done { logs, left_out })) => {
                let ends = counted(logs as u64, "log");
                self.news.signed = Some((now, format!("the ends of {ends}, as {}", key.signer)));
                let (first, more) = (left_out.first(), left_out.len().saturating_sub(1));
                let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
                self.news.wrong = first.map(|first| {
                    format!("left out of the witness: {first}{more}; `mcp-approve log verify --desk` says more")
                });
                self.failed = None;
            }
            Err(why) => {
                self.failed = Some(now);
                self.news.wrong = Some(format!("{age}: {BY_HAND}; in the background it failed: {why}"));
            }
        }
        Ok(())
    }
}
