//! The server that plays a script: canned answers, slow ones, none, or death in the middle. It is this very test binary,
//! started again by a shell that gives it the pipe as descriptor 3, since a test's own standard output has words of its own.
//!
//! The script is one JSON object: `tools` (definitions), `calls` (a move per tool name, `*` for any other), `methods` (a move
//! per other request), `executed` (a file that gets every `tools/call` line exactly as it arrived), `first` (lines sent before
//! anything was asked) and `on_eof`. A move is `{"answer":{"result":…,"after_ms":…}}`, `{"lines":[…]}` (raw, with `$ID`),
//! `{"exit":3}` or `"silence"`.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

/// Where the script is, for the binary that is started as the server.
const SCRIPT: &str = "SCRIPT_OF_THE_SERVER";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    tools: Value,
    calls: BTreeMap<String, Move>,
    methods: BTreeMap<String, Move>,
    executed: PathBuf,
    #[serde(default)]
    first: Vec<String>,
    #[serde(default)]
    on_eof: OnEof,
}

/// What becomes of a call.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Move {
    Answer {
        result: Value,
        #[serde(default)]
        after_ms: u64,
    },
    Lines(Vec<String>),
    Exit(i32),
    Silence,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OnEof {
    #[default]
    Exit,
    /// Ignores the end of its input, as some real servers do; a signal ends it.
    Stay,
}

/// Writes the program that plays `script`, beside it; its path.
pub fn program(script: &Path) -> PathBuf {
    let program = script.with_file_name("scripted");
    if !program.exists() {
        let me = std::env::current_exe().unwrap();
        let (me, script) = (me.display(), script.display());
        let path = module_path!();
        let name = path.split_once("::").map_or(path, |(_, within)| within);
        // Endurance has a harness of its own, which looks at the variable alone.
        let text = format!(
            "#!/bin/sh\n{SCRIPT}='{script}' exec '{me}' --ignored --exact {name}::plays_its_script --nocapture 3>&1 >/dev/null\n"
        );
        super::program(&program, &text);
    }
    program
}

/// Plays the script if this process was started for it, and ends with it.
pub fn play_if_asked() {
    let Some(file) = std::env::var_os(SCRIPT) else { return };
    let script: Script = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let pipe = OpenOptions::new().write(true).open("/dev/fd/3").unwrap();
    play(&script, pipe);
    std::process::exit(0);
}

#[test]
#[ignore = "it is the server of other tests, which start it"]
fn plays_its_script() {
    play_if_asked();
}

fn play(script: &Script, pipe: File) {
    let (say, said) = mpsc::channel::<String>();
    let speaker = thread::spawn(move || {
        let mut pipe = pipe;
        // A pipe that is broken has no reader.
        said.into_iter().try_for_each(|line| pipe.write_all(format!("{line}\n").as_bytes()))
    });
    let utter = |line: String| drop(say.send(line));
    script.first.iter().cloned().for_each(utter);
    let mut executed = OpenOptions::new().create(true).append(true).open(&script.executed).unwrap();
    let (mut input, mut line) = (io::stdin().lock(), Vec::new());
    while input.read_until(b'\n', &mut line).unwrap() > 0 {
        let message: Value = serde_json::from_slice(&line).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default();
        let then = if method == "tools/call" {
            executed.write_all(&line).unwrap();
            let name = message["params"]["name"].as_str().unwrap_or_default();
            script.calls.get(name).or_else(|| script.calls.get("*"))
        } else {
            script.methods.get(method)
        };
        match then {
            Some(Move::Exit(code)) => std::process::exit(*code),
            Some(Move::Answer { result, after_ms }) => {
                let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                later(&say, *after_ms, reply.to_string());
            }
            Some(Move::Lines(lines)) => {
                let id = message["id"].to_string();
                lines.iter().for_each(|line| utter(line.replace("$ID", &id)));
            }
            Some(Move::Silence) => {}
            None => answer(&message, &script.tools).into_iter().for_each(|reply| utter(reply.to_string())),
        }
        line.clear();
    }
    match script.on_eof {
        OnEof::Exit => {
            drop(say);
            // Slow answers are said to their end.
            let _ = speaker.join();
        }
        OnEof::Stay => loop {
            thread::park();
        },
    }
}

/// Says it in time, without keeping the next line waiting.
fn later(say: &Sender<String>, after_ms: u64, line: String) {
    let say = say.clone();
    if after_ms == 0 {
        return drop(say.send(line));
    }
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(after_ms));
        drop(say.send(line));
    });
}

/// The answer to a request that no move is for, in the era that its `_meta` names.
fn answer(message: &Value, tools: &Value) -> Option<Value> {
    const STATELESS: &str = "2026-07-28";
    let (id, method) = (message.get("id")?, message.get("method")?.as_str()?);
    let me = json!({ "name": "scripted", "version": "1" });
    let is_stateless = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == STATELESS;
    let mut result = match (method, is_stateless) {
        ("initialize", false) => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {}, "logging": {} },
            "serverInfo": me,
        }),
        ("ping" | "logging/setLevel", false) => json!({}),
        ("server/discover", true) => {
            json!({ "supportedVersions": [STATELESS], "capabilities": { "tools": {} }, "ttlMs": 60_000, "cacheScope": "public" })
        }
        ("tools/list", false) => json!({ "tools": tools }),
        ("tools/list", true) => json!({ "tools": tools, "ttlMs": 60_000, "cacheScope": "public" }),
        _ => {
            let error = json!({ "code": -32601, "message": "Method not found" });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    if is_stateless {
        result["resultType"] = "complete".into();
        result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": me });
    }
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}
