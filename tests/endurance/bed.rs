//! What every figure needs: its share of the work, chance that can be repeated, threads that fail aloud, memory's peak.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How much of the suite is run, and with which chances.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub part: u64,
    pub seed: u64,
}

impl Run {
    /// This run's share of a count; never nothing.
    pub fn of(&self, whole: u64) -> u64 {
        (whole / self.part).max(1)
    }

    /// Chances for one worker.
    pub fn chance(&self, worker: u64) -> Chance {
        Chance(self.seed.wrapping_mul(0x9E37_79B9).wrapping_add(worker << 32))
    }
}

/// What came out of a figure.
#[derive(Clone, Debug)]
pub struct Measured {
    pub text: String,
    pub stands: Stands,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    Met,
    Missed,
    Skipped,
}

impl Measured {
    pub fn held(met: bool, text: impl Into<String>) -> Self {
        Self { text: text.into(), stands: if met { Stands::Met } else { Stands::Missed } }
    }

    pub fn skipped(why: impl Into<String>) -> Self {
        Self { text: why.into(), stands: Stands::Skipped }
    }
}

/// SplitMix64: the same in every run of the same seed.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % (n as u64)).unwrap()
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    pub fn word<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    pub fn millis(&mut self, most: usize) -> Duration {
        Duration::from_micros(self.below(most * 1000) as u64)
    }
}

thread_local! {
    /// What the last panic of this thread said.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The panic hook: keeps what was said, for whoever catches it.
pub fn remember(info: &PanicHookInfo<'_>) {
    let said = info.payload();
    let what = said
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| said.downcast_ref::<&str>().map(|said| (*said).to_owned()))
        .unwrap_or_default();
    let place = info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
    SAID.with(|last| last.replace(format!("{}{place}", what.chars().take(2_000).collect::<String>())));
}

/// Runs something; what panics in it is the error.
pub fn caught<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|_| SAID.with(RefCell::take))
}

/// A figure that panics was missed.
pub fn guarded(measure: impl FnOnce() -> Measured) -> Measured {
    caught(measure).unwrap_or_else(|why| Measured::held(false, why))
}

/// Does `count` pieces of work on `threads` threads; every result, in no order. The first panic is passed on.
pub fn in_parallel<T: Send>(threads: u64, count: u64, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        let worker = || {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return Ok(done);
                }
                done.push(caught(|| work(number))?);
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let done: Result<Vec<Vec<T>>, String> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        done.unwrap_or_else(|why| panic!("{why}")).into_iter().flatten().collect()
    })
}

/// The most memory a living process has had resident, in KiB; `None` where the system does not tell.
pub fn peak_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").trim().parse().ok()
}

/// Waits, at most so long, until something is so.
pub fn comes(within: Duration, mut so: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + within;
    while Instant::now() < deadline {
        if so() {
            return true;
        }
        thread::sleep(Duration::from_millis(2));
    }
    so()
}

/// A number as people read it: `12,345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
