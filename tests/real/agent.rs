//! The agents from npm: how each is told of one server and of the fake model, and how it is run without a person.
//! Everything is under a folder that stands for its home; nothing is read from or written to the real one.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::bed::{AGENTS, bed};

/// The name of the one server in every configuration.
pub const SERVER: &str = "fs";

/// An agent that is a host of MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl Agent {
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    /// Its package, and its program there.
    fn package(self) -> (&'static str, &'static str) {
        match self {
            Self::Claude => ("@anthropic-ai/claude-code", "claude"),
            Self::Codex => ("@openai/codex", "codex"),
            Self::Gemini => ("@google/gemini-cli", "gemini"),
            Self::Opencode => ("opencode-ai", "opencode"),
        }
    }

    /// Its name and version.
    pub fn title(self) -> String {
        let (package, program) = self.package();
        let pins: Value = serde_json::from_str(AGENTS).unwrap();
        format!("{program} {}", pins["dependencies"][package].as_str().unwrap())
    }

    /// Its file of servers, below its home.
    pub fn file(self) -> &'static str {
        match self {
            Self::Claude => ".claude.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
            Self::Opencode => ".config/opencode/opencode.json",
        }
    }

    /// Writes its configuration: one server, started by `command`; the host gives up on a call after `limit` seconds,
    /// if that is given. The agent's own gate allows every tool, so that only ours decides.
    pub fn configure(self, home: &Path, port: u16, command: &[String], limit: Option<u64>) {
        let (program, arguments) = (&command[0], &command[1..]);
        let milliseconds = limit.map(|seconds| seconds * 1000);
        let text = match self {
            Self::Claude => {
                let server = json!({ "type": "stdio", "command": program, "args": arguments, "timeout": milliseconds });
                json!({ "hasCompletedOnboarding": true, "mcpServers": { SERVER: without_null(server) } })
            }
            Self::Gemini => {
                let server = json!({ "command": program, "args": arguments, "timeout": milliseconds, "trust": true });
                json!({
                    "security": { "auth": { "selectedType": "gemini-api-key" } },
                    "privacy": { "usageStatisticsEnabled": false },
                    "mcpServers": { SERVER: without_null(server) },
                })
            }
            Self::Opencode => {
                let server = json!({ "type": "local", "command": command, "timeout": milliseconds });
                let options = json!({ "baseURL": format!("http://127.0.0.1:{port}/v1"), "apiKey": "none" });
                json!({
                    "autoupdate": false,
                    "share": "disabled",
                    "model": "fake/fake",
                    "small_model": "fake/fake",
                    "provider": {
                        "fake": { "npm": "@ai-sdk/openai-compatible", "options": options, "models": { "fake": {} } },
                    },
                    "permission": { "*": "allow" },
                    "mcp": { SERVER: without_null(server) },
                })
            }
            Self::Codex => {
                let limit = limit.map(|seconds| format!("tool_timeout_sec = {seconds}\n")).unwrap_or_default();
                // A list of texts is written the same way in JSON and in TOML.
                let text = format!(
                    "model = \"fake\"\nmodel_provider = \"fake\"\n\n[model_providers.fake]\nname = \"fake\"\n\
                     base_url = \"http://127.0.0.1:{port}/v1\"\nwire_api = \"responses\"\n\n[mcp_servers.{SERVER}]\n\
                     command = {}\nargs = {}\ndefault_tools_approval_mode = \"approve\"\n\
                     required = true\n{limit}",
                    json!(program),
                    json!(arguments),
                );
                return write(&home.join(self.file()), &text);
            }
        };
        write(&home.join(self.file()), &format!("{text:#}\n"));
    }

    /// The command that does one task without a person, in `work`.
    pub fn command(self, home: &Path, work: &Path, port: u16) -> Command {
        let model = format!("http://127.0.0.1:{port}");
        let (_, program) = self.package();
        let mut command = Command::new(bed().agents().join(program));
        command.env_clear().current_dir(work);
        for name in ["PATH", "LANG"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        // The model is a proxy that connects to nobody, so that no test depends on a network.
        command.env("HOME", home).env("TERM", "dumb").env("NO_PROXY", "127.0.0.1,localhost");
        command.env("HTTPS_PROXY", &model).env("HTTP_PROXY", &model);
        match self {
            Self::Claude => command
                .env("ANTHROPIC_BASE_URL", &model)
                .env("ANTHROPIC_API_KEY", "none")
                .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
                .env("ENABLE_TOOL_SEARCH", "false")
                // A task begins with the server's tools, however long the server takes to start.
                .env("MCP_CONNECTION_NONBLOCKING", "false")
                .args(["-p", TASK, "--allowedTools", &format!("mcp__{SERVER}")]),
            Self::Codex => command.args(["exec", "--skip-git-repo-check", TASK]),
            Self::Gemini => command
                .env("GEMINI_API_KEY", "none")
                .env("GOOGLE_GEMINI_BASE_URL", &model)
                .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
                .args(["-p", TASK, "--yolo", "--model", "gemini-2.5-pro"]),
            Self::Opencode => command.args(["run", TASK]),
        };
        command
    }
}

/// The model knows what to do; the agent wants to be told something.
const TASK: &str = "go";

/// An object without the keys that have no value.
fn without_null(mut object: Value) -> Value {
    object.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    object
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}
