//! The hosts that are known: where each keeps its lists of servers, under which keys, and how long it waits for a call.

/// A host.
#[derive(Debug)]
pub struct Host {
    pub name: &'static str,
    /// How `--host` names it.
    pub word: &'static str,
    /// `*` in a path stands for any characters of one name.
    pub places: &'static [Place],
    /// Where the servers are in such a file; `*` stands for any key, and names the project.
    pub lists: &'static [&'static [&'static str]],
    /// Where an entry says how long the host waits for a call.
    pub limit: Option<Limit>,
}

/// A file's path, and the folder that it starts from.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The user's home.
    Home(&'static str),
    /// The folder that is worked in.
    Project(&'static str),
    /// What an environment variable of the host names; the path is empty where it names the file.
    Variable(&'static str, &'static str),
}

/// How an entry says how long the host waits for a call.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub key: &'static str,
    pub unit: Unit,
    /// The host's default in milliseconds, if it is so short that no operator could decide in time.
    pub short: Option<u64>,
    /// The host ignores a limit below this, in milliseconds.
    pub least: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    Milliseconds,
}

use Place::{Home, Project, Variable};

const fn milliseconds(key: &'static str) -> Option<Limit> {
    Some(Limit { key, unit: Unit::Milliseconds, short: None, least: 0 })
}

const fn seconds(key: &'static str) -> Option<Limit> {
    Some(Limit { key, unit: Unit::Seconds, short: None, least: 0 })
}

const fn host(
    name: &'static str,
    word: &'static str,
    places: &'static [Place],
    lists: &'static [&'static [&'static str]],
    limit: Option<Limit>,
) -> Host {
    Host { name, word, places, lists, limit }
}

const USUAL: &[&[&str]] = &[&["mcpServers"]];

/// Every known host. Where two name one file, the first has it.
pub const HOSTS: &[Host] = &[
    host(
        "Claude Code",
        "claude-code",
        &[Home(".claude.json"), Variable("CLAUDE_CONFIG_DIR", ".claude.json"), Project(".mcp.json")],
        &[&["mcpServers"], &["projects", "*", "mcpServers"]],
        Some(Limit { key: "timeout", unit: Unit::Milliseconds, short: None, least: 1000 }),
    ),
    host(
        "Claude Desktop",
        "claude-desktop",
        &[
            Home(".config/Claude/claude_desktop_config.json"),
            Home("Library/Application Support/Claude/claude_desktop_config.json"),
        ],
        USUAL,
        None,
    ),
    host("Cursor", "cursor", &[Home(".cursor/mcp.json"), Project(".cursor/mcp.json")], USUAL, None),
    host(
        "VS Code",
        "vscode",
        &[
            Home(".config/Code*/User/mcp.json"),
            Home(".config/Code*/User/profiles/*/mcp.json"),
            Home(".config/VSCodium/User/mcp.json"),
            Home(".var/app/com.visualstudio.code/config/Code/User/mcp.json"),
            Home("Library/Application Support/Code*/User/mcp.json"),
            Home("Library/Application Support/Code*/User/profiles/*/mcp.json"),
            Home(".vscode-server/data/User/mcp.json"),
            Project(".vscode/mcp.json"),
        ],
        &[&["servers"]],
        None,
    ),
    host(
        "Copilot CLI",
        "copilot",
        &[Home(".copilot/mcp-config.json"), Variable("COPILOT_HOME", "mcp-config.json"), Project(".github/mcp.json")],
        USUAL,
        milliseconds("timeout"),
    ),
    host(
        "Windsurf",
        "windsurf",
        &[
            Home(".codeium/windsurf/mcp_config.json"),
            Home(".codeium/windsurf-next/mcp_config.json"),
            Home(".codeium/mcp_config.json"),
        ],
        USUAL,
        None,
    ),
    host(
        "Zed",
        "zed",
        &[
            Home(".config/zed/settings.json"),
            Home(".var/app/dev.zed.Zed/config/zed/settings.json"),
            Variable("XDG_CONFIG_HOME", "zed/settings.json"),
            Project(".zed/settings.json"),
        ],
        &[&["context_servers"]],
        milliseconds("timeout"),
    ),
    host(
        "Codex",
        "codex",
        &[
            Home(".codex/config.toml"),
            Home(".codex/*.config.toml"),
            Variable("CODEX_HOME", "config.toml"),
            Variable("CODEX_HOME", "*.config.toml"),
            Project(".codex/config.toml"),
        ],
        &[&["mcp_servers"], &["profiles", "*", "mcp_servers"]],
        seconds("tool_timeout_sec"),
    ),
    host(
        "Gemini CLI",
        "gemini",
        &[Home(".gemini/settings.json"), Project(".gemini/settings.json")],
        USUAL,
        milliseconds("timeout"),
    ),
    host(
        "Qwen Code",
        "qwen",
        &[Home(".qwen/settings.json"), Project(".qwen/settings.json")],
        USUAL,
        milliseconds("timeout"),
    ),
    host(
        "Goose",
        "goose",
        &[Home(".config/goose/config.yaml"), Variable("XDG_CONFIG_HOME", "goose/config.yaml")],
        &[&["extensions"]],
        seconds("timeout"),
    ),
    host(
        "Cline",
        "cline",
        &[
            // In whichever editor it is an extension of.
            Home(".config/*/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
            Home(
                "Library/Application Support/*/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ),
            Home(".vscode-server/data/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
            Home(".cline/data/settings/cline_mcp_settings.json"),
            Variable("CLINE_MCP_SETTINGS_PATH", ""),
        ],
        USUAL,
        seconds("timeout"),
    ),
    host(
        "Continue",
        "continue",
        &[
            Home(".continue/config.yaml"),
            Home(".continue/mcpServers/*.yaml"),
            Home(".continue/mcpServers/*.json"),
            Project(".continue/mcpServers/*.yaml"),
            Project(".continue/mcpServers/*.json"),
        ],
        USUAL,
        None,
    ),
    host(
        "opencode",
        "opencode",
        &[
            Home(".config/opencode/opencode.json"),
            Home(".config/opencode/opencode.jsonc"),
            Home(".config/opencode/config.json"),
            Variable("XDG_CONFIG_HOME", "opencode/opencode.json"),
            Variable("XDG_CONFIG_HOME", "opencode/opencode.jsonc"),
            Variable("OPENCODE_CONFIG", ""),
            Project("opencode.json"),
            Project("opencode.jsonc"),
            Project(".opencode/opencode.json"),
            Project(".opencode/opencode.jsonc"),
        ],
        &[&["mcp", "servers"], &["mcp"]],
        Some(Limit { key: "timeout", unit: Unit::Milliseconds, short: Some(5000), least: 0 }),
    ),
    host("Junie", "junie", &[Home(".junie/mcp/mcp.json"), Project(".junie/mcp/mcp.json")], USUAL, None),
    host("LM Studio", "lm-studio", &[Home(".lmstudio/mcp.json"), Home(".cache/lm-studio/mcp.json")], USUAL, None),
    host("Kiro", "kiro", &[Home(".kiro/settings/mcp.json"), Project(".kiro/settings/mcp.json")], USUAL, None),
];
