//! The scripted server: writes the script that `scripted` plays, and counts what was executed.

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::scripted;

/// A script in the making, with the folder it lives in.
pub struct Server {
    folder: tempfile::TempDir,
    script: Map<String, Value>,
}

/// The definition of a tool that says it only reads, with one free `text` argument.
pub fn reader(name: &str) -> Value {
    tool(name, "Returns the stored text.", true)
}

/// The definition of a tool that says it changes something, with one free `text` argument.
pub fn writer(name: &str) -> Value {
    tool(name, "Writes the text to the store, replacing what was there.", false)
}

fn tool(name: &str, description: &str, read_only: bool) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": { "type": "object", "properties": { "title": { "type": "string" } } },
        "annotations": { "readOnlyHint": read_only, "openWorldHint": false },
    })
}

/// A plain text result.
pub fn says(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

impl Server {
    /// A server with these tools, whose every call is answered with `done`.
    pub fn with(tools: &[Value]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut script = Map::new();
        script.insert("tools".into(), tools.into());
        script.insert("executed".into(), json!(folder.path().join("executed")));
        script.insert("calls".into(), json!({}));
        script.insert("methods".into(), json!({}));
        let server = Self { folder, script };
        server.on("*", json!({ "answer": { "result": says("done") } }))
    }

    /// The same server with other tools.
    #[must_use]
    pub fn now_with(mut self, tools: &[Value]) -> Self {
        self.script.insert("tools".into(), tools.into());
        self
    }

    /// Plays a move for one tool, or for any other (`*`). The moves are in `scripted`.
    #[must_use]
    pub fn on(mut self, tool: &str, then: Value) -> Self {
        self.script["calls"][tool] = then;
        self
    }

    /// Answers another request than a call with this result.
    #[must_use]
    pub fn answering(mut self, method: &str, result: &Value) -> Self {
        self.script["methods"][method] = json!({ "answer": { "result": result } });
        self
    }

    /// Answers a tool with this result, so many milliseconds late.
    #[must_use]
    pub fn slow(self, tool: &str, after_ms: u64, result: &Value) -> Self {
        self.on(tool, json!({ "answer": { "result": result, "after_ms": after_ms } }))
    }

    /// Dies with this exit code when the tool is called.
    #[must_use]
    pub fn dying(self, tool: &str, code: u8) -> Self {
        self.on(tool, json!({ "exit": code }))
    }

    /// Never answers the tool.
    #[must_use]
    pub fn silent(self, tool: &str) -> Self {
        self.on(tool, json!("silence"))
    }

    /// Ignores the end of its input.
    #[must_use]
    pub fn staying(mut self) -> Self {
        self.script.insert("on_eof".into(), json!("stay"));
        self
    }

    /// Sends these lines before anything was asked.
    #[must_use]
    pub fn starting_with(mut self, lines: &[&str]) -> Self {
        self.script.insert("first".into(), json!(lines));
        self
    }

    /// Writes the script down; the command that plays it.
    pub fn command(&self) -> Vec<String> {
        let file = self.folder.path().join("script.json");
        fs::write(&file, Value::Object(self.script.clone()).to_string()).unwrap();
        vec![scripted::program(&file).to_str().unwrap().to_owned()]
    }

    /// The `tools/call` lines that reached the server, exactly as they arrived, oldest first.
    pub fn executed(&self) -> Vec<String> {
        let list = fs::read_to_string(self.list()).unwrap_or_default();
        list.split_inclusive('\n').map(String::from).collect()
    }

    fn list(&self) -> PathBuf {
        self.folder.path().join("executed")
    }
}
