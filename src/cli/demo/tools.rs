//! What the demo's server can do: twelve tools over a folder, a database (the demo's one door to SQLite) and jobs. Knows nothing
//! of MCP; the protocol is `server`'s.

use std::cell::RefCell;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};

use crate::cli::demo::error;
use crate::cli::error::Error;

/// The file of the shop's database, in the workspace.
pub(super) const SHOP_FILE: &str = "shop.db";

const DEFINITIONS: &str = include_str!("../../../assets/demo/tools.json");

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

/// What went wrong with a file, in the tool's answer to the agent.
#[derive(Debug, thiserror::Error)]
enum FolderError {
    #[error("{0:?} leads out of the workspace; give a path inside it, relative to its root")]
    Outside(String),
    #[error("{0:?} exists already; choose another destination")]
    Exists(String),
    #[error("{path:?}: {cause}")]
    Failed { path: String, cause: io::Error },
}

/// The folder that all paths are relative to.
#[derive(Debug)]
struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Takes an existing folder.
    fn at(root: &Path) -> io::Result<Self> {
        Ok(Self { root: fs::canonicalize(root)? })
    }

    /// A path in the folder that no caller chose.
    fn place(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Names in a folder, sorted, folders with a trailing slash.
    fn list(&self, path: &str) -> Result<Vec<String>, FolderError> {
        let inside = self.inside(path)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(inside).map_err(|cause| failed(path, cause))? {
            let entry = entry.map_err(|cause| failed(path, cause))?;
            let slash = if entry.path().is_dir() { "/" } else { "" };
            names.push(format!("{}{slash}", entry.file_name().to_string_lossy()));
        }
        names.sort();
        Ok(names)
    }

    /// The text of a file.
    fn read(&self, path: &str) -> Result<String, FolderError> {
        fs::read_to_string(self.inside(path)?).map_err(|cause| failed(path, cause))
    }

    /// Creates or replaces a file.
    fn write(&self, path: &str, content: &str) -> Result<(), FolderError> {
        fs::write(self.inside(path)?, content).map_err(|cause| failed(path, cause))
    }

    /// Deletes a file.
    fn delete(&self, path: &str) -> Result<(), FolderError> {
        fs::remove_file(self.inside(path)?).map_err(|cause| failed(path, cause))
    }

    /// Moves a file to a place that is free.
    fn rename(&self, source: &str, destination: &str) -> Result<(), FolderError> {
        let (from, to) = (self.inside(source)?, self.inside(destination)?);
        if to.exists() {
            return Err(FolderError::Exists(destination.into()));
        }
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(|cause| failed(destination, cause))?;
        }
        fs::rename(from, to).map_err(|cause| failed(source, cause))
    }

    /// The real path, if no part of it leaves the folder: neither by `..` nor over a link.
    fn inside(&self, path: &str) -> Result<PathBuf, FolderError> {
        let asked = Path::new(path);
        let relative = asked.strip_prefix(&self.root).unwrap_or(asked);
        let mut real = self.root.clone();
        for part in relative.components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) => real.push(name),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(FolderError::Outside(path.into()));
                }
            }
            if real.is_symlink() {
                return Err(FolderError::Outside(path.into()));
            }
        }
        Ok(real)
    }
}

fn failed(path: &str, cause: io::Error) -> FolderError {
    FolderError::Failed { path: path.into(), cause }
}

const SEED: &str = include_str!("../../../assets/demo/shop.sql");

const TABLES: [&str; 3] = ["customers", "orders", "sessions"];

/// SQLite's own words on what went wrong.
#[derive(Debug, thiserror::Error)]
#[error("SQLite says: {0}")]
pub(super) struct ShopError(#[from] rusqlite::Error);

/// The shop's database file. Opened anew for every question, so that others see each effect at once.
#[derive(Debug)]
pub(super) struct Shop {
    file: PathBuf,
}

impl Shop {
    /// Makes the file with its three small tables.
    pub(super) fn create(file: &Path) -> Result<(), ShopError> {
        Ok(Connection::open(file)?.execute_batch(SEED)?)
    }

    /// Takes a file that [`Self::create`] made.
    pub(super) fn at(file: PathBuf) -> Self {
        Self { file }
    }

    /// Runs one statement and returns its rows as objects. It trusts its caller to have sent a SELECT, as many real
    /// servers do: a DELETE runs just as well.
    pub(super) fn rows(&self, statement: &str) -> Result<Vec<Value>, ShopError> {
        let shop = self.open()?;
        let mut prepared = shop.prepare(statement)?;
        let names: Vec<String> = prepared.column_names().map(Into::into).collect();
        let mut found = prepared.query([])?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            let mut object = Map::new();
            for (at, name) in names.iter().enumerate() {
                object.insert(name.clone(), json_of(row.get_ref(at)?));
            }
            rows.push(Value::Object(object));
        }
        Ok(rows)
    }

    /// Runs one statement that returns no rows; how many it changed.
    pub(super) fn change(&self, statement: &str) -> Result<usize, ShopError> {
        Ok(self.open()?.execute(statement, [])?)
    }

    /// Removes sessions idle for more than so many days; how many.
    pub(super) fn remove_sessions(&self, idle_days: u64) -> Result<usize, ShopError> {
        let days = i64::try_from(idle_days).unwrap_or(i64::MAX);
        Ok(self.open()?.execute("DELETE FROM sessions WHERE idle_days > ?1", [days])?)
    }

    /// Every table with its rows as text, for comparing before and after.
    pub(super) fn contents(&self) -> Result<Vec<(&'static str, Vec<String>)>, ShopError> {
        TABLES
            .into_iter()
            .map(|table| {
                let rows = self.rows(&format!("SELECT * FROM {table} ORDER BY id"))?;
                Ok((table, rows.iter().map(Value::to_string).collect()))
            })
            .collect()
    }

    fn open(&self) -> Result<Connection, rusqlite::Error> {
        Connection::open_with_flags(&self.file, OpenFlags::SQLITE_OPEN_READ_WRITE)
    }
}

fn json_of(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()).into(),
    }
}

impl From<ShopError> for Error {
    fn from(cause: ShopError) -> Self {
        error::room("the demo's database failed".to_owned(), cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leaves_the_workspace() {
        let around = tempfile::tempdir().unwrap();
        let root = around.path().join("work");
        fs::create_dir(&root).unwrap();
        fs::write(around.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink(around.path(), root.join("up")).unwrap();
        let folder = Folder::at(&root).unwrap();
        for path in ["../secret", "a/../../secret", "/etc/passwd", "up/secret", "up"] {
            assert!(folder.read(path).is_err(), "{path} was read");
            assert!(folder.write(path, "x").is_err(), "{path} was written");
            assert!(folder.delete(path).is_err(), "{path} was deleted");
        }
        folder.write("./inside.txt", "x").unwrap();
        let absolute = folder.place("inside.txt");
        assert_eq!(folder.read(absolute.to_str().unwrap()).unwrap(), "x");
        assert_eq!(fs::read_to_string(around.path().join("secret")).unwrap(), "s");
    }

    #[test]
    fn a_move_never_replaces() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::at(root.path()).unwrap();
        folder.write("a", "1").unwrap();
        folder.write("b", "2").unwrap();
        assert!(matches!(folder.rename("a", "b"), Err(FolderError::Exists(_))));
        folder.rename("a", "deep/er/c").unwrap();
        assert_eq!(folder.read("deep/er/c").unwrap(), "1");
        assert_eq!(folder.list(".").unwrap(), ["b", "deep/"]);
    }
}
