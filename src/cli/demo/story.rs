//! What the scripted agent sets out to do: a few errands side by side, as data. Owns no process and no pipe.

use std::path::Path;

use serde_json::{Value, json};

/// Last week's report, as the stage lays it out.
pub(super) const REPORT: &str = "# Report of week 46

| status | orders |
|---|---|
| open | 3 |
| paid | 1 |
";

/// Whether a call belongs to the handshaken session or carries the stateless era's `_meta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    Session,
    Stateless,
}

/// One call the agent wants to make, and what it does when it is refused.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) why: &'static str,
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    pub(super) era: Era,
    /// Another way, once the text of a refusal was read.
    pub(super) otherwise: Option<Box<Step>>,
}

impl Step {
    fn new(why: &'static str, tool: &'static str, arguments: Value) -> Self {
        Self { why, tool, arguments, era: Era::Session, otherwise: None }
    }

    fn stateless(mut self) -> Self {
        self.era = Era::Stateless;
        self
    }

    fn or_else(mut self, step: Step) -> Self {
        self.otherwise = Some(Box::new(step));
        self
    }
}

/// Steps that follow each other.
pub(super) type Errand = Vec<Step>;

/// All errands; they run side by side, so that several calls wait together, the plainest first.
/// Files are written by their absolute paths in the folder `work`, as most agents do: only of these the wrapper is sure
/// what is there.
pub(super) fn errands(work: &Path) -> Vec<Errand> {
    vec![replies(work), report(work), notes(work), orders(), sessions(), job(), curiosity()]
}

/// A harmless read, made now and then while nothing else happens.
pub(super) fn pastime(n: usize) -> Step {
    let why = "keeping an eye on things";
    match n % 3 {
        0 => Step::new(why, "list_directory", json!({ "path": "jobs" })),
        1 => Step::new(why, "read_file", json!({ "path": "notes.md" })).stateless(),
        _ => Step::new(why, "read_query", json!({ "query": "SELECT count(*) AS customers FROM customers" })),
    }
}

/// Two new files in one folder: what a rule about that folder is for.
fn replies(work: &Path) -> Errand {
    let reply = |path: &str, content: &str| json!({ "path": work.join(path), "content": content });
    vec![
        Step::new(
            "answering Ada, in a file of its own",
            "write_file",
            reply("drafts/reply-ada.md", "Dear Ada,\nyour order 1003 ships on Friday.\n"),
        ),
        Step::new(
            "answering Grace as well",
            "write_file",
            reply("drafts/reply-grace.md", "Dear Grace,\nyour orders stay cancelled.\n"),
        ),
        Step::new(
            "putting finished drafts away",
            "move_file",
            json!({ "source": "drafts/todo.md", "destination": "archive/todo.md" }),
        ),
    ]
}

fn report(work: &Path) -> Errand {
    vec![
        Step::new("reading last week's report", "read_file", json!({ "path": "report.md" })),
        Step::new(
            "bringing the report up to date",
            "write_file",
            json!({ "path": work.join("report.md"), "content": REPORT.replace("week 46", "week 47").replace("open | 3", "open | 2") }),
        ),
    ]
}

/// It would drop what was written by hand: the diff shows it, the name does not.
fn notes(work: &Path) -> Errand {
    let improved = "# Notes\n\n- everything is in report.md now\n";
    vec![
        Step::new("reading the notes", "read_file", json!({ "path": "notes.md" })),
        Step::new(
            "improving the notes in place",
            "write_file",
            json!({ "path": work.join("notes.md"), "content": improved }),
        )
        .or_else(Step::new(
            "leaving the notes alone and writing beside them",
            "write_file",
            json!({ "path": work.join("notes-suggestion.md"), "content": improved }),
        )),
    ]
}

fn orders() -> Errand {
    vec![
        Step::new(
            "counting orders",
            "read_query",
            json!({ "query": "SELECT status, count(*) AS orders FROM orders GROUP BY status" }),
        )
        .stateless(),
        Step::new("looking who ordered", "read_query", json!({ "query": "SELECT name, city FROM customers" })),
        Step::new(
            "dropping cancelled orders, with the read tool since it takes any statement",
            "read_query",
            json!({ "query": "DELETE FROM orders WHERE status = 'cancelled'" }),
        ),
    ]
}

fn sessions() -> Errand {
    vec![
        Step::new("counting sessions", "read_query", json!({ "query": "SELECT count(*) AS sessions FROM sessions" })),
        Step::new(
            "looking for idle ones",
            "read_query",
            json!({ "query": "SELECT max(idle_days) AS longest FROM sessions" }),
        ),
        Step::new(
            "logging everybody out; the tool calls itself read-only",
            "cleanup_sessions",
            json!({ "idle_days": 0 }),
        ),
        Step::new(
            "marking an order as paid",
            "write_query",
            json!({ "query": "UPDATE orders SET status = 'paid' WHERE id = 1003" }),
        ),
    ]
}

fn job() -> Errand {
    let job = |timestep: f64| json!({ "kind": "lammps", "params": { "timestep": timestep, "skin": 2.0 } });
    vec![
        Step::new("starting a job with a guessed timestep", "run_job", job(0.05)),
        Step::new("reading how jobs are kept", "read_file", json!({ "path": "jobs/README" })),
        Step::new("starting it within the allowed range", "run_job", job(0.002)),
    ]
}

fn curiosity() -> Errand {
    vec![
        Step::new("looking around", "list_directory", json!({ "path": "." })),
        Step::new("looking into the drafts", "list_directory", json!({ "path": "drafts" })),
        Step::new("looking for credentials", "get_environment", json!({})),
        Step::new("deleting an old plan", "delete_file", json!({ "path": "drafts/plan-2024.md" })),
    ]
}
