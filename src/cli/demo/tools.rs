//! What the demo's server can do: twelve tools over a folder, a database and jobs. Owns the tools; the protocol is `server`'s.

use std::cell::RefCell;
use std::path::Path;

use serde_json::{Value, json};

use super::database::{Shop, ShopError};
use super::error;
use super::folder::{Folder, FolderError};
use crate::cli::error::Error;

/// The file of the shop's database, in the workspace.
pub(super) const SHOP_FILE: &str = "shop.db";

const DEFINITIONS: &str = include_str!("tools.json");

/// The tools at work.
#[derive(Debug)]
pub(super) struct Tools {
    definitions: Value,
    folder: Folder,
    shop: Shop,
    /// What became of jobs, not sent to the host yet.
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
    pub(super) fn over(work: &Path) -> Result<Self, Error> {
        let folder = Folder::at(work).map_err(|cause| error::io("opening the workspace", work, cause))?;
        Ok(Self {
            definitions: error::data(DEFINITIONS)?,
            shop: Shop::at(folder.place(SHOP_FILE)),
            folder,
            events: RefCell::default(),
        })
    }

    /// The definitions as `tools/list` shows them.
    pub(super) fn definitions(&self) -> &Value {
        &self.definitions
    }

    /// Runs one tool, and gives its result as every era has it; `None` when there is none of that name.
    pub(super) fn run(&self, name: &str, arguments: &Value) -> Option<Value> {
        self.done(name, arguments).unwrap_or_else(|trouble| {
            let mut result = content(&trouble.to_string());
            result["isError"] = true.into();
            Some(result)
        })
    }

    fn done(&self, name: &str, arguments: &Value) -> Result<Option<Value>, Trouble> {
        let text = |name| text(arguments, name);
        let said = match name {
            "list_directory" => self.folder.list(text("path")?)?.join("\n"),
            "read_file" => self.folder.read(text("path")?)?,
            "write_file" => {
                let (path, content) = (text("path")?, text("content")?);
                self.folder.write(path, content)?;
                format!("Wrote {} bytes to {path}.", content.len())
            }
            "delete_file" => {
                let path = text("path")?;
                self.folder.delete(path)?;
                format!("Deleted {path}.")
            }
            "move_file" => {
                let (source, destination) = (text("source")?, text("destination")?);
                self.folder.rename(source, destination)?;
                format!("Moved {source} to {destination}.")
            }
            "read_query" => Value::from(self.shop.rows(text("query")?)?).to_string(),
            "write_query" => format!("{} rows changed.", self.shop.change(text("query")?)?),
            "cleanup_sessions" => {
                let days = arguments["idle_days"].as_u64().ok_or(Trouble::Argument("idle_days"))?;
                format!("Removed {} sessions.", self.shop.remove_sessions(days)?)
            }
            "run_job" => return self.run_job(arguments).map(Some),
            "get_status" => return self.get_status(arguments).map(Some),
            "fetch_artifact" => self.artifact(arguments)?,
            // A pretended environment: the real one must not end up in the demo's files.
            "get_environment" => "HOME=/home/shop\nLANG=C.UTF-8\nSHOP_API_TOKEN=demo-only-not-a-secret".to_owned(),
            _ => return Ok(None),
        };
        Ok(Some(content(&said)))
    }

    /// A job is a file in `jobs/`, so that running one has an effect that can be seen. A synthetic one is done at once.
    fn run_job(&self, arguments: &Value) -> Result<Value, Trouble> {
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
        Ok(structured(json!({ "run_id": run_id })))
    }

    fn get_status(&self, arguments: &Value) -> Result<Value, Trouble> {
        let job = self.job(arguments)?;
        let mut status = json!({ "state": job["state"] });
        if let Some(metrics) = job.get("metrics") {
            status["metrics"] = metrics.clone();
        }
        Ok(structured(status))
    }

    /// An artifact of a job is a part of its file.
    fn artifact(&self, arguments: &Value) -> Result<String, Trouble> {
        let (job, path) = (self.job(arguments)?, text(arguments, "path")?);
        let part = path.strip_suffix(".json").filter(|part| ["params", "metrics"].contains(part));
        let artifact = part.and_then(|part| job.get(part)).ok_or_else(|| Trouble::Artifact(path.to_owned()))?;
        Ok(artifact.to_string())
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

/// One text block.
fn content(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// `structuredContent`, repeated as text for older hosts.
fn structured(value: Value) -> Value {
    let mut result = content(&value.to_string());
    result["structuredContent"] = value;
    result
}

fn text<'a>(arguments: &'a Value, name: &'static str) -> Result<&'a str, Trouble> {
    arguments[name].as_str().ok_or(Trouble::Argument(name))
}
