//! A server that plays a script, for end-to-end tests: canned answers, slow ones, none, or death in the middle.
//!
//! The script is one JSON object: `tools` (definitions), `calls` (a move per tool name, `*` for any other), `methods` (a move per
//! other request),
//! `executed` (a file that gets every `tools/call` line exactly as it arrived), `first` (lines sent before anything
//! was asked) and `on_eof`. A move is `{"answer":{"result":…,"after_ms":…}}`, `{"lines":[…]}` (raw, with `$ID`),
//! `{"exit":3}` or `"silence"`.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::error::DemoError;
use super::server;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    #[serde(default)]
    tools: Vec<Value>,
    #[serde(default)]
    calls: BTreeMap<String, Move>,
    #[serde(default)]
    methods: BTreeMap<String, Move>,
    executed: Option<PathBuf>,
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
    Exit(u8),
    Silence,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OnEof {
    #[default]
    Exit,
    /// Ignores the end of its input, as some real servers do; a signal ends it.
    Stay,
}

/// Plays the script in `file` until the input ends.
pub(super) fn serve(file: &Path, input: impl BufRead, output: impl Write + Send) -> Result<ExitCode, DemoError> {
    let text = std::fs::read(file).map_err(|cause| DemoError::io("reading the script", file, cause))?;
    let script: Script =
        serde_json::from_slice(&text).map_err(|cause| DemoError::Script { path: file.into(), cause })?;
    let executed = script.executed.as_deref().map(open).transpose()?;
    thread::scope(|scope| {
        let (say, said) = mpsc::channel();
        scope.spawn(move || speak(&said, output));
        play(&script, input, executed, &say)
    })
}

fn open(file: &Path) -> Result<File, DemoError> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    options.open(file).map_err(|cause| DemoError::io("opening the list of executed calls", file, cause))
}

fn play(
    script: &Script,
    mut input: impl BufRead,
    mut executed: Option<File>,
    say: &Sender<String>,
) -> Result<ExitCode, DemoError> {
    for line in &script.first {
        utter(say, line.clone());
    }
    let definitions = Value::Array(script.tools.clone());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let message: Value = serde_json::from_slice(&line).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default();
        let then = if method == "tools/call" {
            if let Some(file) = &mut executed {
                file.write_all(&line)?;
            }
            let name = message["params"]["name"].as_str().unwrap_or_default();
            script.calls.get(name).or_else(|| script.calls.get("*"))
        } else {
            script.methods.get(method)
        };
        match then {
            Some(Move::Exit(code)) => std::process::exit(i32::from(*code)),
            Some(Move::Answer { result, after_ms }) => {
                let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                later(say, *after_ms, reply.to_string());
            }
            Some(Move::Lines(lines)) => {
                let id = message["id"].to_string();
                lines.iter().for_each(|line| utter(say, line.replace("$ID", &id)));
            }
            Some(Move::Silence) => {}
            None => answer(say, &line, &definitions),
        }
        line.clear();
    }
    match script.on_eof {
        OnEof::Exit => Ok(ExitCode::SUCCESS),
        OnEof::Stay => loop {
            thread::park();
        },
    }
}

fn answer(say: &Sender<String>, line: &[u8], definitions: &Value) {
    if let Some(reply) = server::answer(line, definitions, &|_, _| None) {
        utter(say, reply.to_string());
    }
}

/// Says it in time, without keeping the next line waiting.
fn later(say: &Sender<String>, after_ms: u64, line: String) {
    if after_ms == 0 {
        return utter(say, line);
    }
    let say = say.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(after_ms));
        utter(&say, line);
    });
}

fn utter(say: &Sender<String>, line: String) {
    // The speaker stops only when the pipe is broken: then no one listens.
    let _ = say.send(line);
}

fn speak(said: &Receiver<String>, mut output: impl Write) {
    for line in said {
        let written = output.write_all(format!("{line}\n").as_bytes());
        if written.and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_move_is_played_and_each_call_is_listed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, executed) = (dir.path().join("script"), dir.path().join("executed"));
        let script = json!({
            "tools": [{ "name": "t" }],
            "executed": executed,
            "first": ["hello"],
            "calls": {
                "late": { "answer": { "result": { "n": 1 }, "after_ms": 50 } },
                "now": { "answer": { "result": { "n": 2 } } },
                "raw": { "lines": ["{\"id\":$ID}", "not json"] },
                "never": "silence",
            },
        });
        std::fs::write(&file, script.to_string()).unwrap();
        let call = |id: &str, name: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}"}}}}"#) + "\n"
        };
        let calls = [call("1", "late"), call("2", "now"), call("\"x\"", "raw"), call("4", "never")].concat();
        let list = r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#;
        let mut out = Vec::new();
        serve(&file, format!("{calls}{list}\n").as_bytes(), &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap().lines().collect::<Vec<_>>(),
            [
                "hello",
                r#"{"jsonrpc":"2.0","id":2,"result":{"n":2}}"#,
                r#"{"id":"x"}"#,
                "not json",
                r#"{"jsonrpc":"2.0","id":5,"result":{"tools":[{"name":"t"}]}}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":{"n":1}}"#,
            ]
        );
        assert_eq!(std::fs::read_to_string(executed).unwrap(), calls);
    }

    #[test]
    fn a_script_with_an_unknown_word_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("script");
        for text in ["", "[]", r#"{"tols":[]}"#, r#"{"calls":{"t":{"explode":1}}}"#] {
            std::fs::write(&file, text).unwrap();
            let refused = serve(&file, &b""[..], Vec::new()).unwrap_err();
            assert!(matches!(refused, DemoError::Script { .. }), "{text}: {refused}");
        }
    }
}
