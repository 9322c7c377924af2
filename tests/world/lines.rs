//! What tests say to a gate: its configuration, a server's tools, calls as lines.

use mcp_approve::behavior::conclude::Trust;
use mcp_approve::behavior::shape::Places;
use mcp_approve::gate::data::pin::Pins;
use mcp_approve::gate::{Config, Discover, ForwardOrder, Mode, Polling, Unattended};
use mcp_approve::policy::scope::Scope;
use mcp_approve::wire::Line;
use mcp_approve::wire::digest::Digest;

/// What a gate is told in tests.
pub fn config() -> Config {
    Config {
        server: "files".into(),
        console: "mcp-approve --home /h".into(),
        session: "session".into(),
        machine: "build-7".into(),
        user: "mara".into(),
        nonce: "nonce".into(),
        secret: "secret".into(),
        approval_timeout: 300_000_000,
        host_timeout: None,
        order: ForwardOrder::default(),
        polling: Polling::Never,
        unattended: Unattended::Wait,
        mode: Mode::Enforce,
        trust: Trust::Corroborate,
        scope: Scope::default().into(),
        discover: Discover::Off,
        above: Vec::new(),
        approvers: Vec::new(),
        pins: Pins::default(),
        places: Places { folders: ["/a", "/b", "/w", "/srv/public"].map(str::to_owned).into(), ..Places::default() },
        expected: None,
        mismatch: mcp_approve::capability::schema::Mismatch::default(),
        redactor: mcp_approve::audit::redact::Redactor::new(&[7; 32]),
    }
}

/// A read that its server marks read-only, a write, a delete, and one that says that it reads and gives no hint.
pub const TOOLS: &str = r#"[
{"name":"read_file","description":"Reads a file.","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},
{"name":"write_file","description":"Replaces a file's content.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}},
{"name":"delete_file","description":"Deletes a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},
{"name":"glance_at_board","description":"Looks at the board.","inputSchema":{"type":"object","properties":{"id":{"type":"integer"},"to":{"type":"string"}}}}
]"#;

/// The digest of a line that holds a secret, or that nobody has searched for one.
pub fn keyed(line: &str) -> Digest {
    Line::new(line.as_bytes().to_vec()).keyed(config().redactor.key()).digest()
}

/// A legacy `tools/call`.
pub fn call(id: &str, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// A `tools/call` of the stateless era by a host that shows forms.
pub fn form_call(id: &str, tool: &str, arguments: &str, more: &str) -> String {
    let shows = r#"clientCapabilities":{"elicitation":{"form":{}}}"#;
    modern_call(id, tool, arguments, more).replace(r#"clientCapabilities":{}"#, shows)
}

/// A `tools/call` of the stateless era.
pub fn modern_call(id: &str, tool: &str, arguments: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}{more},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/clientInfo":{{"name":"modern","version":"2"}}}}}}}}"#
    )
}

/// The same, whose host takes tasks.
pub fn taking_tasks(modern: &str) -> String {
    modern.replacen(
        r#""io.modelcontextprotocol/clientCapabilities":{}"#,
        r#""io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#,
        1,
    )
}

/// A `tools/call` of 2025-11-25 that asks to become a task.
pub fn task_call(id: &str, tool: &str, arguments: &str) -> String {
    call(id, tool, arguments).replacen(r#""arguments""#, r#""task":{},"arguments""#, 1)
}

/// A request about a task, as hosts of both revisions send it.
pub fn about_task(id: &str, method: &str, task: &str) -> String {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"taskId":"{task}",{meta}}}}}"#)
}
