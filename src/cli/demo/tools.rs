//! The demo's MCP server, a blocking loop over lines; and its tools over a folder, a database (the demo's one door to SQLite), jobs
//! and a laboratory with resources and prompts.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};

use super::jobs::{self, Input, notice};
use crate::cli::error::Error;

const DEFINITIONS: &str = include_str!("../../../assets/demo/tools.json");
const FILES: &str = include_str!("../../../assets/demo/files.json");
const LAB: &str = include_str!("../../../assets/demo/lab.json");
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
    /// What the laboratory offers beside its files.
    lab: Value,
    root: PathBuf,
    /// The server's own loop, which sends them on.
    notices: Sender<Input>,
}

/// What the addresses of the laboratory's resources begin with, and the folder of its files.
const SCHEME: &str = "lab:///";
const FOLDER: &str = "lab/";
/// The adsorption energy below which a catalyst is promising, in electronvolts.
const PROMISING: f64 = -1.2;

type Outcome<T> = Result<T, String>;

impl Tools {
    pub(super) fn over(work: &Path, notices: Sender<Input>) -> Result<Self, Error> {
        let read = |text| serde_json::from_str(text).map_err(failed);
        let (definitions, lab) = (read(DEFINITIONS)?, read(LAB)?);
        let tools = Self { definitions, lab, root: work.canonicalize().map_err(failed)?, notices };
        for run in tools.names("jobs").unwrap_or_default().iter().filter(|name| name.starts_with("run-")) {
            jobs::end_interrupted(&tools.root.join("jobs").join(run)).map_err(failed)?;
        }
        Ok(tools)
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
                let run_id = text("run_id")?;
                let workdir = format!("jobs/{run_id}");
                return of(run_id, jobs::status(&self.inside(&workdir)?, &workdir)).map(Some);
            }
            "fetch_artifact" => self.read(&format!("jobs/{}/{}", text("run_id")?, text("path")?))?,
            "run_dft" => return self.run_dft(text("structure")?, text("adsorbate")?).map(Some),
            "append_notebook_entry" => {
                let path = format!("{FOLDER}notebook.md");
                let notes = self.read(&path)? + &format!("- {}\n", text("entry")?);
                of(&path, write(&self.inside(&path)?, &notes))?;
                self.tell_changed(&format!("{SCHEME}notebook.md"));
                "Appended one entry.".to_owned()
            }
            // A pretended environment: the real one must not end up in the demo's files.
            "get_environment" => "HOME=/home/shop\nLANG=C.UTF-8\nSHOP_API_TOKEN=demo-only-not-a-secret".to_owned(),
            _ => return Ok(None),
        };
        Ok(Some(said.into()))
    }

    /// A job is a folder in `jobs/`, so that running one has an effect that can be seen.
    fn run_job(&mut self, kind: &str, params: &Value) -> Outcome<Value> {
        let runs = self.names("jobs")?.iter().filter(|name| name.starts_with("run-")).count();
        let run_id = format!("run-{}", runs + 1);
        let workdir = format!("jobs/{run_id}");
        jobs::start(&self.inside(&workdir)?, kind, params, self.notices.clone())?;
        Ok(json!({ "run_id": run_id, "workdir": workdir }))
    }

    fn run_dft(&mut self, structure: &str, adsorbate: &str) -> Outcome<Value> {
        let energy = self.lab["energies"][format!("{structure} {adsorbate}")].as_f64();
        let energy = energy.ok_or_else(|| format!("nothing is known of {structure} with {adsorbate}"))?;
        let name = format!("dft_results/{structure}_{adsorbate}.json");
        let result_uri = format!("{SCHEME}{name}");
        let result = json!({ "catalyst": structure, "adsorbate": adsorbate, "adsorption_energy": energy });
        of(&name, write(&self.inside(&format!("{FOLDER}{name}"))?, &format!("{result}\n")))?;
        self.tell_changed(&result_uri);
        if energy < PROMISING {
            let payload = json!({ "catalyst": structure, "adsorption_energy": energy, "result_uri": result_uri });
            self.tell(notice("lab", &json!({ "event": "new_promising_catalyst", "payload": payload })));
        }
        Ok(json!({ "adsorption_energy": energy, "result_uri": result_uri }))
    }

    fn tell_changed(&self, uri: &str) {
        let params = json!({ "uri": uri });
        self.tell(json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params }));
    }

    fn tell(&self, notice: Value) {
        // A loop that has ended needs none.
        let _ = self.notices.send(Input::Notice(notice));
    }

    fn resource(&self, uri: &str) -> Outcome<Value> {
        let path = uri.strip_prefix(SCHEME).ok_or_else(|| format!("there is no resource {uri:?}"))?;
        let mime = if path.ends_with(".json") { "application/json" } else { "text/markdown" };
        let text = self.read(&format!("{FOLDER}{path}"))?;
        Ok(json!({ "contents": [{ "uri": uri, "mimeType": mime, "text": text }] }))
    }

    fn prompt(&self, name: &str, arguments: &Value) -> Outcome<Value> {
        let text = self.lab["texts"][name].as_str().ok_or_else(|| format!("there is no prompt {name:?}"))?;
        let fill = |text: String, (key, value): (&String, &Value)| {
            text.replace(&format!("{{{key}}}"), value.as_str().unwrap_or_default())
        };
        let text = arguments.as_object().into_iter().flatten().fold(text.to_owned(), fill);
        Ok(json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": text } }] }))
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

/// What a host asked to be told.
#[derive(Default)]
struct Wanted {
    logs: bool,
    resources: BTreeSet<String>,
}

/// Answers line by line until the input ends. A host is told only what it asked to be told.
pub(super) fn serve(inputs: &Receiver<Input>, mut output: impl Write, tools: &mut Tools) -> io::Result<()> {
    let mut wanted = Wanted::default();
    for input in inputs {
        let message = match input {
            Input::End => break,
            Input::Line(line) => answer(&line, tools, &mut wanted),
            Input::Notice(notice) => {
                let uri = notice["params"]["uri"].as_str();
                uri.map_or(wanted.logs, |uri| wanted.resources.contains(uri)).then_some(notice)
            }
        };
        if let Some(message) = message {
            output.write_all(format!("{message}\n").as_bytes())?;
            output.flush()?;
        }
    }
    Ok(())
}

fn answer(line: &str, tools: &mut Tools, wanted: &mut Wanted) -> Option<Value> {
    if line.trim().is_empty() {
        return None;
    }
    let Ok(message) = serde_json::from_str::<Value>(line) else {
        return Some(failure(&Value::Null, -32700, "Parse error"));
    };
    let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
        return None;
    };
    let params = &message["params"];
    let text = |name: &str| params[name].as_str().unwrap_or_default();
    match method {
        "logging/setLevel" => wanted.logs = true,
        "resources/subscribe" => drop(wanted.resources.insert(text("uri").to_owned())),
        "resources/unsubscribe" => drop(wanted.resources.remove(text("uri"))),
        _ => {}
    }
    let result = match method {
        "initialize" => {
            let version = VERSIONS.into_iter().find(|known| params["protocolVersion"] == *known);
            Some(json!({
                "protocolVersion": version.unwrap_or(VERSIONS[3]),
                "capabilities": { "tools": {}, "logging": {}, "prompts": {}, "resources": { "subscribe": true } },
                "serverInfo": { "name": "mcp-approve-demo", "version": env!("CARGO_PKG_VERSION") },
            }))
        }
        "logging/setLevel" | "ping" | "resources/subscribe" | "resources/unsubscribe" => Some(json!({})),
        "resources/list" => Some(json!({ "resources": tools.lab["resources"] })),
        "resources/templates/list" => Some(json!({ "resourceTemplates": tools.lab["resourceTemplates"] })),
        "prompts/list" => Some(json!({ "prompts": tools.lab["prompts"] })),
        "resources/read" | "prompts/get" => {
            let given = match method {
                "resources/read" => tools.resource(text("uri")),
                _ => tools.prompt(text("name"), &params["arguments"]),
            };
            match given {
                Ok(given) => Some(given),
                Err(why) => return Some(failure(id, -32602, &why)),
            }
        }
        "tools/list" => Some(json!({ "tools": tools.definitions })),
        "tools/call" => tools.run(params["name"].as_str().unwrap_or_default(), &params["arguments"]),
        _ => return Some(failure(id, -32601, "Method not found")),
    };
    Some(match result {
        Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        None => failure(id, -32602, "Unknown tool"),
    })
}

fn failure(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}
