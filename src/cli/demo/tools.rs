//! The demo's MCP server, a blocking loop over lines; and its twelve tools over a folder, a database (the demo's one door to
//! SQLite) and jobs.

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Component, Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};

use crate::cli::error::Error;

const DEFINITIONS: &str = include_str!("../../../assets/demo/tools.json");
const FILES: &str = include_str!("../../../assets/demo/files.json");
const SHOP: &str = include_str!("../../../assets/demo/shop.sql");

pub(super) const SHOP_FILE: &str = "shop.db";

pub(super) fn furnish(work: &Path) -> Result<(), Error> {
    let shop = work.join(SHOP_FILE);
    if shop.exists() {
        return Ok(());
    }
    let files: Map<String, Value> = serde_json::from_str(FILES).map_err(failed)?;
    for (name, content) in &files {
        write(&work.join(name), content.as_str().unwrap_or_default()).map_err(failed)?;
    }
    Connection::open(shop).and_then(|shop| shop.execute_batch(SHOP)).map_err(failed)
}

fn write(path: &Path, content: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, content)
}

pub(super) struct Tools {
    pub(super) definitions: Value,
    root: PathBuf,
    /// What became of jobs, not sent to the host yet.
    pub(super) events: Vec<Value>,
}

type Outcome<T> = Result<T, String>;

impl Tools {
    pub(super) fn over(work: &Path) -> Result<Self, Error> {
        let definitions = serde_json::from_str(DEFINITIONS).map_err(failed)?;
        Ok(Self { definitions, root: work.canonicalize().map_err(failed)?, events: Vec::new() })
    }

    pub(super) fn run(&mut self, name: &str, arguments: &Value) -> Option<Value> {
        let done = self.done(name, arguments);
        let is_error = done.is_err();
        let value = done.unwrap_or_else(|why| Some(why.into()))?;
        // What is not text alone is structured, and repeated as text for older hosts.
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut result = json!({ "content": [{ "type": "text", "text": text }] });
        if is_error {
            result["isError"] = true.into();
        } else if value.is_object() {
            result["structuredContent"] = value;
        }
        Some(result)
    }

    fn done(&mut self, name: &str, arguments: &Value) -> Outcome<Option<Value>> {
        let text = |name| text(arguments, name);
        let said = match name {
            "list_directory" => self.names(text("path")?)?.join("\n"),
            "read_file" => self.read(text("path")?)?,
            "write_file" => {
                let (path, content) = (text("path")?, text("content")?);
                of(path, write(&self.inside(path)?, content))?;
                format!("Wrote {} bytes to {path}.", content.len())
            }
            "delete_file" => {
                let path = text("path")?;
                of(path, fs::remove_file(self.inside(path)?))?;
                format!("Deleted {path}.")
            }
            "move_file" => {
                let (source, destination) = (text("source")?, text("destination")?);
                self.rename(source, destination)?;
                format!("Moved {source} to {destination}.")
            }
            "read_query" => Value::from(rows(&self.root, text("query")?)?).to_string(),
            "write_query" => format!("{} rows changed.", change(&self.root, text("query")?)?),
            "cleanup_sessions" => {
                let days = arguments["idle_days"].as_u64().ok_or_else(|| missing("idle_days"))?;
                let gone = change(&self.root, &format!("DELETE FROM sessions WHERE idle_days > {days}"))?;
                format!("Removed {gone} sessions.")
            }
            "run_job" => return self.run_job(text("kind")?, &arguments["params"]).map(Some),
            "get_status" => {
                let mut job = self.job(text("run_id")?)?;
                job.retain(|part, _| ["state", "metrics"].contains(&part.as_str()));
                return Ok(Some(job.into()));
            }
            "fetch_artifact" => {
                let (job, path) = (self.job(text("run_id")?)?, text("path")?);
                let part = path.strip_suffix(".json").filter(|part| ["params", "metrics"].contains(part));
                let artifact = part.and_then(|part| job.get(part));
                artifact.ok_or("the parts of a job are params.json and, once it is done, metrics.json")?.to_string()
            }
            // A pretended environment: the real one must not end up in the demo's files.
            "get_environment" => "HOME=/home/shop\nLANG=C.UTF-8\nSHOP_API_TOKEN=demo-only-not-a-secret".to_owned(),
            _ => return Ok(None),
        };
        Ok(Some(said.into()))
    }

    /// A job is a file in `jobs/`, so that running one has an effect that can be seen. A synthetic one is done at once.
    fn run_job(&mut self, kind: &str, params: &Value) -> Outcome<Value> {
        if !params.is_object() {
            return Err(missing("params"));
        }
        let runs = self.names("jobs")?.iter().filter(|name| name.starts_with("run-")).count();
        let run_id = format!("run-{}", runs + 1);
        let mut events = vec!["on_job_started"];
        let mut job = json!({ "kind": kind, "params": params, "state": "pending" });
        if kind == "synthetic" {
            job["state"] = "done".into();
            job["metrics"] = json!({ "steps": 1000, "energy": -4.25 });
            events.push("on_job_complete");
        }
        of(&run_id, write(&self.root.join(format!("jobs/{run_id}.json")), &format!("{job}\n")))?;
        self.events.extend(events.iter().map(|event| json!({ "event": event, "run_id": run_id })));
        Ok(json!({ "run_id": run_id }))
    }

    fn job(&self, run_id: &str) -> Outcome<Map<String, Value>> {
        let job = self.read(&format!("jobs/{run_id}.json"))?;
        serde_json::from_str(&job).map_err(|_| format!("{run_id:?} is not a job"))
    }

    fn read(&self, path: &str) -> Outcome<String> {
        of(path, fs::read_to_string(self.inside(path)?))
    }

    fn names(&self, path: &str) -> Outcome<Vec<String>> {
        let entries = of(path, fs::read_dir(self.inside(path)?))?;
        let name = |entry: fs::DirEntry| {
            let slash = if entry.path().is_dir() { "/" } else { "" };
            format!("{}{slash}", entry.file_name().to_string_lossy())
        };
        let mut names: Vec<String> = entries.flatten().map(name).collect();
        names.sort();
        Ok(names)
    }

    fn rename(&self, source: &str, destination: &str) -> Outcome<()> {
        let (from, to) = (self.inside(source)?, self.inside(destination)?);
        if to.exists() {
            return Err(format!("{destination:?} exists already; choose another destination"));
        }
        of(destination, to.parent().map_or(Ok(()), fs::create_dir_all))?;
        of(source, fs::rename(from, to))
    }

    /// The real path, if no part of it leaves the workspace: neither by `..` nor over a link.
    fn inside(&self, path: &str) -> Outcome<PathBuf> {
        let outside = || format!("{path:?} leads out of the workspace; give a path inside it, relative to its root");
        let asked = Path::new(path);
        let mut real = self.root.clone();
        for part in asked.strip_prefix(&self.root).unwrap_or(asked).components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) => real.push(name),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(outside()),
            }
            if real.is_symlink() {
                return Err(outside());
            }
        }
        Ok(real)
    }
}

fn text<'a>(arguments: &'a Value, name: &str) -> Outcome<&'a str> {
    arguments[name].as_str().ok_or_else(|| missing(name))
}

fn missing(name: &str) -> String {
    format!("the argument {name:?} is missing or not of the type in the schema")
}

fn of<T>(path: &str, done: io::Result<T>) -> Outcome<T> {
    done.map_err(|cause| format!("{path:?}: {cause}"))
}

/// Opens the database anew for every question, so that others see each effect at once.
fn shop<T>(work: &Path, ask: impl FnOnce(Connection) -> rusqlite::Result<T>) -> Outcome<T> {
    let opened = Connection::open_with_flags(work.join(SHOP_FILE), OpenFlags::SQLITE_OPEN_READ_WRITE);
    opened.and_then(ask).map_err(|cause| format!("SQLite says: {cause}"))
}

/// It trusts its caller to have sent a SELECT, as many real servers do: a DELETE runs just as well.
pub(super) fn rows(work: &Path, statement: &str) -> Outcome<Vec<Value>> {
    shop(work, |shop| {
        let mut prepared = shop.prepare(statement)?;
        let names: Vec<String> = prepared.column_names().map(Into::into).collect();
        let object = |row: &rusqlite::Row<'_>| {
            let cell = |(at, name): (usize, &String)| Ok((name.clone(), json_of(row.get_ref(at)?)));
            names.iter().enumerate().map(cell).collect::<rusqlite::Result<Map<String, Value>>>().map(Value::Object)
        };
        prepared.query_map([], object)?.collect()
    })
}

fn change(work: &Path, statement: &str) -> Outcome<usize> {
    shop(work, |shop| shop.execute(statement, []))
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

pub(super) fn failed(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    let hint = "check that the temporary folder is writable and has room, and run `mcp-approve doctor`";
    Error::failed("the demo could not go on", cause, hint)
}

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Answers line by line until the input ends. A host that did not ask for log messages is sent none.
pub(super) fn serve(input: impl BufRead, mut output: impl Write, tools: &mut Tools) -> io::Result<()> {
    let mut logs = false;
    for line in input.lines() {
        let line = line?;
        let (method, answered) = answer(&line, tools);
        logs |= method == "logging/setLevel";
        let events = std::mem::take(&mut tools.events).into_iter().filter(|_| logs).map(|data| {
            let params = json!({ "level": "info", "logger": "jobs", "data": data });
            json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
        });
        for message in answered.into_iter().chain(events) {
            output.write_all(format!("{message}\n").as_bytes())?;
            output.flush()?;
        }
    }
    Ok(())
}

fn answer(line: &str, tools: &mut Tools) -> (String, Option<Value>) {
    if line.trim().is_empty() {
        return (String::new(), None);
    }
    let Ok(message) = serde_json::from_str::<Value>(line) else {
        return (String::new(), Some(failure(&Value::Null, -32700, "Parse error")));
    };
    let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
        return (String::new(), None);
    };
    let params = &message["params"];
    let result = match method {
        "initialize" => {
            let version = VERSIONS.into_iter().find(|known| params["protocolVersion"] == *known);
            Some(json!({
                "protocolVersion": version.unwrap_or(VERSIONS[3]),
                "capabilities": { "tools": {}, "logging": {} },
                "serverInfo": { "name": "mcp-approve-demo", "version": env!("CARGO_PKG_VERSION") },
            }))
        }
        "logging/setLevel" | "ping" => Some(json!({})),
        "tools/list" => Some(json!({ "tools": tools.definitions })),
        "tools/call" => tools.run(params["name"].as_str().unwrap_or_default(), &params["arguments"]),
        _ => return (method.to_owned(), Some(failure(id, -32601, "Method not found"))),
    };
    let answered = match result {
        Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        None => failure(id, -32602, "Unknown tool"),
    };
    (method.to_owned(), Some(answered))
}

fn failure(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}
