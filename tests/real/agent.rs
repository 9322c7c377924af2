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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agent {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Qwen,
    Copilot,
    Cline,
}

impl Agent {
    pub const ALL: [Self; 7] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode, Self::Qwen, Self::Copilot, Self::Cline];

    /// Its package, and its program there.
    fn package(self) -> (&'static str, &'static str) {
        match self {
            Self::Claude => ("@anthropic-ai/claude-code", "claude"),
            Self::Codex => ("@openai/codex", "codex"),
            Self::Gemini => ("@google/gemini-cli", "gemini"),
            Self::Opencode => ("opencode-ai", "opencode"),
            Self::Qwen => ("@qwen-code/qwen-code", "qwen"),
            Self::Copilot => ("@github/copilot", "copilot"),
            Self::Cline => ("cline", "cline"),
        }
    }

    /// Its name and version.
    pub fn title(self) -> String {
        let (package, program) = self.package();
        let pins: Value = serde_json::from_str(AGENTS).unwrap();
        format!("{program} {}", pins["dependencies"][package].as_str().unwrap())
    }

    pub fn program_name(self) -> &'static str {
        self.package().1
    }

    /// Its file of servers, below its home.
    pub fn file(self) -> &'static str {
        match self {
            Self::Claude => ".claude.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
            Self::Opencode => ".config/opencode/opencode.json",
            Self::Qwen => ".qwen/settings.json",
            Self::Copilot => ".copilot/mcp-config.json",
            Self::Cline => ".cline/data/settings/cline_mcp_settings.json",
        }
    }

    /// Writes its configuration, with one server if that is given. The agent's own gate allows every tool, so that only ours
    /// decides.
    pub fn configure(self, home: &Path, port: u16, server: Option<&Server<'_>>) {
        let entry = |entry: fn(&Server<'_>) -> Value| match server {
            Some(server) => json!({ SERVER: without_null(entry(server)) }),
            None => json!({}),
        };
        let text = match self {
            Self::Claude => json!({
                "hasCompletedOnboarding": true,
                "mcpServers": entry(|of| json!({
                    "type": "stdio", "command": of.program(), "args": of.arguments(), "timeout": of.milliseconds(),
                })),
            }),
            Self::Gemini => json!({
                "security": { "auth": { "selectedType": "gemini-api-key" } },
                "privacy": { "usageStatisticsEnabled": false },
                "mcpServers": entry(trusted),
            }),
            Self::Qwen => json!({
                "privacy": { "usageStatisticsEnabled": false },
                // Every tool is on offer, without a search for it first.
                "tools": { "toolSearch": { "enabled": false } },
                "mcpServers": entry(trusted),
            }),
            Self::Copilot => json!({ "mcpServers": entry(|of| json!({
                "type": "local", "command": of.program(), "args": of.arguments(), "tools": ["*"],
                "timeout": of.milliseconds(),
            })) }),
            Self::Cline => {
                let settings = json!({
                    "provider": "openai-compatible", "apiKey": "none", "model": "fake",
                    "baseUrl": format!("http://127.0.0.1:{port}/v1"),
                });
                let provider = json!({ "settings": settings, "updatedAt": "2026-11-01T00:00:00.000Z" });
                let providers = json!({
                    "version": 1, "lastUsedProvider": "openai-compatible", "modes": {},
                    "providers": { "openai-compatible": provider },
                });
                write(&home.join(".cline/data/settings/providers.json"), &format!("{providers:#}\n"));
                json!({ "mcpServers": entry(|of| json!({
                    "transport": { "type": "stdio", "command": of.program(), "args": of.arguments() },
                    // By default it gives a server two seconds to start.
                    "timeout": of.limit.unwrap_or(120),
                })) })
            }
            Self::Opencode => {
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
                    "mcp": entry(|of| json!({
                        "type": "local", "command": of.command, "timeout": of.milliseconds(),
                    })),
                })
            }
            Self::Codex => {
                let mut text = format!(
                    "model = \"fake\"\nmodel_provider = \"fake\"\n\n[model_providers.fake]\nname = \"fake\"\n\
                     base_url = \"http://127.0.0.1:{port}/v1\"\nwire_api = \"responses\"\n",
                );
                if let Some(server) = server {
                    let limit =
                        server.limit.map(|seconds| format!("tool_timeout_sec = {seconds}\n")).unwrap_or_default();
                    // A list of texts is written the same way in JSON and in TOML.
                    text += &format!(
                        "\n[mcp_servers.{SERVER}]\ncommand = {}\nargs = {}\ndefault_tools_approval_mode = \"approve\"\n\
                         {limit}",
                        json!(server.program()),
                        json!(server.arguments()),
                    );
                }
                return write(&home.join(self.file()), &text);
            }
        };
        write(&home.join(self.file()), &format!("{text:#}\n"));
    }

    /// The agent's own command that adds a server to its file, where it has one that asks nothing.
    pub fn adds(self, home: &Path, server: &[String]) -> Option<Command> {
        let mut command = self.program(home);
        command.args(["mcp", "add"]);
        match self {
            Self::Claude => command.args(["--scope", "user", SERVER, "--"]).args(server),
            Self::Codex | Self::Copilot => command.args([SERVER, "--"]).args(server),
            Self::Gemini | Self::Qwen => {
                command.args(["--scope", "user", "--trust", SERVER, &server[0], "--"]).args(&server[1..])
            }
            // Their commands open a form.
            Self::Opencode | Self::Cline => return None,
        };
        Some(command)
    }

    /// Its program, with nothing of this process's environment but where programs are.
    fn program(self, home: &Path) -> Command {
        let (agents, (_, program)) = (bed().agents(), self.package());
        let mut command = Command::new(agents.join(program));
        let path = std::env::var("PATH").unwrap();
        // With the agents' own node before the machine's.
        command.env_clear().env("PATH", format!("{}:{path}", agents.display())).env("HOME", home).env("TERM", "dumb");
        if let Some(language) = std::env::var_os("LANG") {
            command.env("LANG", language);
        }
        command
    }

    /// The command that does one task without a person, in `work`.
    pub fn command(self, home: &Path, work: &Path, port: u16) -> Command {
        let model = format!("http://127.0.0.1:{port}");
        let mut command = self.program(home);
        // The model is a proxy that connects to nobody, so that no test depends on a network.
        command.current_dir(work).env("NO_PROXY", "127.0.0.1,localhost");
        command.env("HTTPS_PROXY", &model).env("HTTP_PROXY", &model);
        match self {
            Self::Claude => command
                .env("ANTHROPIC_BASE_URL", &model)
                .env("ANTHROPIC_API_KEY", "none")
                .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
                .env("ENABLE_TOOL_SEARCH", "false")
                // A task begins with the server's tools, however long the server takes to start.
                .env("MCP_CONNECTION_NONBLOCKING", "false")
                .env("MCP_TIMEOUT", "120000")
                .args(["-p", TASK, "--allowedTools", &format!("mcp__{SERVER}")]),
            Self::Codex => command
                .args(["exec", "--skip-git-repo-check", TASK])
                // As for Claude Code.
                .args(["-c", &format!("mcp_servers.{SERVER}.required=true")])
                .args(["-c", &format!("mcp_servers.{SERVER}.startup_timeout_sec=120")]),
            Self::Gemini => command
                .env("GEMINI_API_KEY", "none")
                .env("GOOGLE_GEMINI_BASE_URL", &model)
                .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
                .args(["-p", TASK, "--yolo", "--model", "gemini-2.5-pro"]),
            Self::Opencode => command.args(["run", TASK]),
            Self::Qwen => command
                .env("OPENAI_API_KEY", "none")
                .env("OPENAI_BASE_URL", format!("{model}/v1"))
                .args(["-p", TASK, "--yolo", "--auth-type", "openai", "--model", "fake"]),
            Self::Copilot => command
                .env("COPILOT_OFFLINE", "true")
                .env("COPILOT_PROVIDER_BASE_URL", format!("{model}/v1"))
                .env("COPILOT_PROVIDER_API_KEY", "none")
                .env("COPILOT_MODEL", "fake")
                .args(["-p", TASK, "--allow-all-tools"]),
            // Its daemon would serve the next case too, with the model of this one.
            Self::Cline => command.env("CLINE_HUB_PORT", (port ^ 1).to_string()).args(["--auto-approve", "true", TASK]),
        };
        command
    }
}

/// The model knows what to do; the agent wants to be told something, and Cline takes one word for a command.
const TASK: &str = "go on";

/// The one server of a configuration.
pub struct Server<'a> {
    pub command: &'a [String],
    /// After how many seconds the host gives up on a call, if that is said.
    pub limit: Option<u64>,
}

impl Server<'_> {
    fn program(&self) -> &str {
        &self.command[0]
    }

    fn arguments(&self) -> &[String] {
        &self.command[1..]
    }

    fn milliseconds(&self) -> Option<u64> {
        self.limit.map(|seconds| seconds * 1000)
    }
}

/// An entry as Gemini CLI and its descendants have it.
fn trusted(server: &Server<'_>) -> Value {
    let (program, arguments, timeout) = (server.program(), server.arguments(), server.milliseconds());
    json!({ "command": program, "args": arguments, "timeout": timeout, "trust": true })
}

/// An object without the keys that have no value.
fn without_null(mut object: Value) -> Value {
    object.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    object
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}
