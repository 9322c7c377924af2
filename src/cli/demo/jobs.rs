//! The demo's simulation jobs: pretended, each in a thread and a folder of its own, with a log as LAMMPS writes it; what such a log
//! says; and which parameters come next, for what tunes them.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const LOG: &str = include_str!("../../../assets/demo/log.lammps");

/// How long a job waits for its turn, and how long it runs.
const QUEUED: Duration = Duration::from_millis(150);
const RUNS: Duration = Duration::from_millis(300);
/// How many lines of its log the state of a job has.
const TAIL: usize = 40;
/// The longest timestep at which the pretended atoms stay together, in picoseconds.
const STABLE: f64 = 0.004;

/// What the server waits for.
pub(super) enum Input {
    Line(String),
    /// A notification.
    Notice(Value),
    End,
}

/// What somebody who asked for log messages is told.
pub(super) fn notice(logger: &str, data: &Value) -> Value {
    let params = json!({ "level": "info", "logger": logger, "data": data });
    json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
}

/// Timestep in picoseconds, neighbor skin in angstroms.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Params {
    timestep: f64,
    skin: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Metrics {
    ns_per_day: f64,
    /// Of the total energy, in parts per million.
    drift_ppm: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Pending,
    Running,
    Finished,
    Error,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Job {
    kind: String,
    params: Params,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    rc: Option<i32>,
}

impl Metrics {
    /// What a log says: its own speed, or that which follows from its loop time; and the first and last total energy.
    pub(super) fn of(log: &str, params: Params) -> Self {
        let before = |mark: &str| log.split(mark).next().filter(|text| text.len() < log.len());
        let number = |text: Option<&str>| text?.split_whitespace().last()?.parse::<f64>().ok();
        let after = |mark: &str| log.split_once(mark)?.1.split_whitespace().next()?.parse::<f64>().ok();
        let by_time = || Some(after(" for ")? / after("Loop time of ")? * params.timestep * 1e-3 * 86_400.0);
        let speed = number(before(" ns/day")).or_else(by_time).unwrap_or(0.0);
        let mut lines = log.lines().skip_while(|line| !line.starts_with("Step "));
        let column = lines.next().and_then(|line| line.split_whitespace().position(|word| word == "TotEng"));
        let energy = |line: &str| {
            let mut words = line.split_whitespace();
            words.clone().next()?.parse::<u64>().ok()?;
            words.nth(column?)?.parse::<f64>().ok()
        };
        let energies: Vec<f64> = lines.filter_map(energy).collect();
        let drift = match energies[..] {
            [first, .., last] if first.abs() > 1e-12 => 1e6 * (last - first) / first.abs(),
            _ => 0.0,
        };
        let rounded = |number: f64, parts: f64| (number * parts).round() / parts;
        Self { ns_per_day: rounded(speed, 1000.0), drift_ppm: rounded(drift, 100.0) }
    }

    /// Whether it is accurate and fast enough.
    pub(super) fn is_enough(self) -> bool {
        self.drift_ppm <= 50.0 && self.ns_per_day >= 2.0
    }
}

impl Params {
    /// Those that a log was made with.
    pub(super) fn of(log: &str) -> io::Result<Self> {
        let after = |mark: &str| log.split_once(mark)?.1.split_whitespace().next()?.parse().ok();
        let (timestep, skin) = (after("Time step     :"), after("Neighbor skin :"));
        let params = timestep.zip(skin).map(|(timestep, skin)| Self { timestep, skin });
        params.ok_or_else(|| io::Error::other("the log does not say its parameters"))
    }

    /// Quality first: a shorter timestep where energy drifts, a wider skin where only the speed lacks.
    pub(super) fn next(self, metrics: Metrics) -> Self {
        let Self { timestep, skin } = self;
        if metrics.drift_ppm > 50.0 {
            return Self { timestep: 0.8 * timestep, skin: (0.8 * skin).max(1.0) };
        }
        Self { timestep, skin: if metrics.ns_per_day < 2.0 { 1.2 * skin } else { skin } }
    }

    /// The log of a run, and its return code.
    fn simulated(self, kind: &str) -> (String, i32) {
        let Self { timestep, skin } = self;
        let drift = 20.62e-6 * (timestep / 0.001).powi(2);
        let row = |step: u32| {
            let done = f64::from(step) / 2000.0;
            let (kinetic, total) = (33.465 - 18.289 * done, 7496.4263 * (1.0 + drift * done));
            let potential = total - kinetic;
            format!("{step} {:.3} {total:.6} {potential:.6} {kinetic:.6} {:.1} 9420.6689", kinetic * 8.965, 5.6e6)
        };
        let last = if timestep > STABLE { 1 } else { 20 };
        let rows: Vec<String> = (0..=last).map(|nth| row(nth * 100)).collect();
        let log = LOG
            .replace("{timestep}", &timestep.to_string())
            .replace("{skin}", &skin.to_string())
            .replace("{rows}", &rows.join("\n"));
        if timestep > STABLE {
            return (format!("{log}ERROR: Lost atoms: original 864 current 861\n"), 1);
        }
        let seconds = 1.6495 * (1.0 + 0.06 * (skin - 2.0).powi(2));
        let speed = 2000.0 / seconds * timestep * 1e-3 * 86_400.0;
        let mut log = log + &format!("Loop time of {seconds:.4} on 1 procs for 2000 steps with 864 atoms\n");
        // Not every program says its speed.
        if kind == "lammps" {
            log.push_str(&format!("Performance: {speed:.3} ns/day\n"));
        }
        (log, 0)
    }
}

/// Starts a job in this folder, which names it; what becomes of it is told as events.
pub(super) fn start(folder: &Path, kind: &str, params: &Value, events: Sender<Input>) -> Result<(), String> {
    let params = serde_json::from_value(params.clone()).map_err(|error| format!("params: {error}"))?;
    let job = Job { kind: kind.to_owned(), params, state: State::Pending, rc: None };
    fs::create_dir_all(folder).and_then(|()| keep(folder, &job)).map_err(|error| error.to_string())?;
    let folder = folder.to_path_buf();
    thread::spawn(move || {
        // Where its folder or the server is gone, there is nobody to tell.
        let _ = run(&folder, job, &events);
    });
    Ok(())
}

fn run(folder: &Path, job: Job, events: &Sender<Input>) -> io::Result<()> {
    let run_id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let tell = |event: &str| {
        let told = events.send(Input::Notice(notice("jobs", &json!({ "event": event, "run_id": run_id }))));
        told.map_err(io::Error::other)
    };
    let Params { timestep, skin } = job.params;
    fs::write(folder.join("params.vars"), format!("variable timestep equal {timestep}\nvariable skin equal {skin}\n"))?;
    thread::sleep(QUEUED);
    keep(folder, &Job { state: State::Running, ..job.clone() })?;
    tell("on_job_started")?;
    thread::sleep(RUNS);
    let (log, rc) = job.params.simulated(&job.kind);
    fs::write(folder.join("log.lammps"), &log)?;
    let (state, event) = match rc {
        0 => (State::Finished, "on_job_complete"),
        _ => (State::Error, "on_job_failed"),
    };
    fs::write(folder.join("metrics.json"), json!(Metrics::of(&log, job.params)).to_string())?;
    keep(folder, &Job { state, rc: Some(rc), ..job })?;
    tell(event)
}

/// How a job is, as its tool says it; `workdir` is how it names the folder.
pub(super) fn status(folder: &Path, workdir: &str) -> io::Result<Value> {
    let job = read(folder)?;
    let mut says = json!({ "state": job.state, "workdir": workdir });
    if let Some(rc) = job.rc {
        let log = fs::read_to_string(folder.join("log.lammps")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        says["rc"] = rc.into();
        says["metrics"] = json!(Metrics::of(&log, job.params));
        says["logs_tail"] = lines[lines.len().saturating_sub(TAIL)..].join("\n").into();
    }
    Ok(says)
}

/// A job that an earlier server did not see end has failed.
pub(super) fn end_interrupted(folder: &Path) -> io::Result<()> {
    let job = read(folder)?;
    if matches!(job.state, State::Finished | State::Error) {
        return Ok(());
    }
    fs::write(folder.join("log.lammps"), "ERROR: interrupted, since the server ended while the job waited or ran\n")?;
    keep(folder, &Job { state: State::Error, rc: Some(-1), ..job })
}

fn read(folder: &Path) -> io::Result<Job> {
    Ok(serde_json::from_str(&fs::read_to_string(folder.join("job.json"))?)?)
}

/// Whole or not at all: it is read while it is written.
fn keep(folder: &Path, job: &Job) -> io::Result<()> {
    fs::write(folder.join("job.new"), json!(job).to_string())?;
    fs::rename(folder.join("job.new"), folder.join("job.json"))
}
