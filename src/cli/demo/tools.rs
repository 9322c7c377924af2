//! What the demo's server can do: twelve tools over a folder, a database and jobs. Owns the tools; the protocol is `server`'s.

use std::cell::RefCell;
use std::path::Path;

use serde_json::{Value, json};

use super::database::{Shop, ShopError};
use super::error::DemoError;
use super::folder::{Folder, FolderError};

/// The file of the shop's database, in the workspace.
pub(super) const SHOP_FILE: &str = "shop.db";

const DEFINITIONS: &str = include_str!("tools.json");

/// A result, before the protocol dresses it.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    /// One text block.
    Text(String),
    /// `structuredContent`, repeated as text for older hosts.
    Structured(Value),
    /// A tool error: `isError`.
    Trouble(String),
}

/// The tools at work.
#[derive(Debug)]
pub(super) struct Tools {
    definitions: Value,
    folder: Folder,
    shop: Shop,
    /// What became of jobs, for whoever listens.
    events: RefCell<Vec<Value>>,
}

#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Shop(#[from] ShopError),
    #[error("the argument {0:?} is missing or not of the type in the schema")]
    Argument(&'static str),
    #[error("there is no artifact {0:?}; the parts of a job are params.json and, once it is done, metrics.json")]
    Artifact(String),
}

impl Tools {
    /// Takes a workspace that the stage set up.
    pub(super) fn over(work: &Path) -> Result<Self, DemoError> {
        let folder = Folder::at(work).map_err(|cause| DemoError::io("opening the workspace", work, cause))?;
        Ok(Self {
            definitions: serde_json::from_str(DEFINITIONS).map_err(DemoError::Definitions)?,
            shop: Shop::at(folder.place(SHOP_FILE)),
            folder,
            events: RefCell::default(),
        })
    }

    /// The definitions as `tools/list` shows them.
    pub(super) fn definitions(&self) -> &Value {
        &self.definitions
    }

    /// Runs one tool; `None` when there is none of that name.
    pub(super) fn run(&self, name: &str, arguments: &Value) -> Option<Outcome> {
        let done = match name {
            "list_directory" => self.list_directory(arguments),
            "read_file" => self.read_file(arguments),
            "write_file" => self.write_file(arguments),
            "delete_file" => self.delete_file(arguments),
            "move_file" => self.move_file(arguments),
            "read_query" => self.read_query(arguments),
            "write_query" => self.write_query(arguments),
            "cleanup_sessions" => self.cleanup_sessions(arguments),
            "run_job" => self.run_job(arguments),
            "get_status" => self.get_status(arguments),
            "fetch_artifact" => self.fetch_artifact(arguments),
            "get_environment" => Ok(environment()),
            _ => return None,
        };
        Some(done.unwrap_or_else(|trouble| Outcome::Trouble(trouble.to_string())))
    }

    fn list_directory(&self, arguments: &Value) -> Result<Outcome, Trouble> {
        Ok(Outcome::Text(self.folder.list(text(arguments, "path")?)?.join("\n")))
    }

    fn read_file(&self, arguments: &Value) -> Result<Outcome, Trouble> {
        Ok(Outcome::Text(self.folder.read(text(arguments, "path")?)?))
    }

    fn write_file(&self, arguments: &Value) -> Result<Outcome, Trouble> {
        let (path, content) = (text(arguments, "path")?, text(arguments, "content")?);
        self.folder.write(path, content)?;
        Ok(Outcome::Text(format!("Wrote {} bytes to {path}.", content.len())))
    }

    fn delete_file(&self, arguments: &Value) -> Result<Outcome, Trouble> {
        let path = text(arguments, "path")?;
        self.folder.delete(path)?;
        Ok(Outcome::Text(format!("Deleted {path}.")))
    }

    fn move_file(&self, arguments: &Value) -> Result<Outcome, Trouble> {
        let (source, destination) = (text(arguments, "source")?, text(arguments, "destination")?);
        self.folder.rename(source, destination)?;
        Ok(Outcome::Text(format!("Moved {source} to {destination}.")))
    }

    fn read_query(&self, arguments: &Value) -> Result<Outcome, Trouble> {
        let rows = self.shop.rows(text(arguments, "query")?)?;
        Ok(Outcome::Text(Value::from(rows).to_string()))
    }

    fn write_query(&self, arguments: &Value) -> Result<Outcome, Trouble> {
        let changed = self.shop.change(text(arguments, "query")?)?;
        Ok(Outcome::Text(format!("{changed} rows changed.")))
    }

    fn cleanup_sessions(&self, arguments: &Value) -> Result<Outcome, Trouble> {
        let days = arguments["idle_days"].as_u64().ok_or(Trouble::Argument("idle_days"))?;
        let removed = self.shop.remove_sessions(days)?;
        Ok(Outcome::Text(format!("Removed {removed} sessions.")))
    }

    /// A job is a file in `jobs/`, so that running one has an effect that can be seen. A synthetic one is done at once.
    fn run_job(&self, arguments: &Value) -> Result<Outcome, Trouble> {
        let kind = text(arguments, "kind")?;
        let params = arguments.get("params").filter(|params| params.is_object());
        let params = params.ok_or(Trouble::Argument("params"))?;
        let runs = self.folder.list("jobs")?.iter().filter(|name| name.starts_with("run-")).count();
        let run_id = format!("run-{}", runs + 1);
        let mut events = vec!["on_job_started"];
        let mut job = json!({ "kind": kind, "params": params, "state": "pending" });
        if kind == "synthetic" {
            job["state"] = "done".into();
            job["metrics"] = json!({ "steps": 1000, "energy": -4.25 });
            events.push("on_job_complete");
        }
        self.folder.write(&format!("jobs/{run_id}.json"), &format!("{job}\n"))?;
        self.events.borrow_mut().extend(events.iter().map(|event| json!({ "event": event, "run_id": run_id })));
        Ok(Outcome::Structured(json!({ "run_id": run_id })))
    }

    fn get_status(&self, arguments: &Value) -> Result<Outcome, Trouble> {
        let job = self.job(arguments)?;
        let mut status = json!({ "state": job["state"] });
        if let Some(metrics) = job.get("metrics") {
            status["metrics"] = metrics.clone();
        }
        Ok(Outcome::Structured(status))
    }

    /// An artifact of a job is a part of its file.
    fn fetch_artifact(&self, arguments: &Value) -> Result<Outcome, Trouble> {
        let (job, path) = (self.job(arguments)?, text(arguments, "path")?);
        let part = path.strip_suffix(".json").filter(|part| ["params", "metrics"].contains(part));
        let artifact = part.and_then(|part| job.get(part)).ok_or_else(|| Trouble::Artifact(path.to_owned()))?;
        Ok(Outcome::Text(artifact.to_string()))
    }

    fn job(&self, arguments: &Value) -> Result<Value, Trouble> {
        let run_id = text(arguments, "run_id")?;
        let job = self.folder.read(&format!("jobs/{run_id}.json"))?;
        serde_json::from_str(&job).map_err(|_| Trouble::Artifact(run_id.to_owned()))
    }

    /// What has become of jobs since this was asked last.
    pub(super) fn take_events(&self) -> Vec<Value> {
        self.events.take()
    }
}

/// A pretended environment: the real one must not end up in the demo's files.
fn environment() -> Outcome {
    Outcome::Text("HOME=/home/shop\nLANG=C.UTF-8\nSHOP_API_TOKEN=demo-only-not-a-secret".into())
}

fn text<'a>(arguments: &'a Value, name: &'static str) -> Result<&'a str, Trouble> {
    arguments[name].as_str().ok_or(Trouble::Argument(name))
}
