//! Wrappers, calls and facts as a desk is given them.

use mcp_approve::behavior::arguments;
use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::behavior::evidence::{Claim, Evidence, Source, Strength};
use mcp_approve::behavior::hazards::{Hazard, HazardKind};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::Confidence;
use mcp_approve::behavior::taxonomy::{Action, ContentType, Mutability, OutputDomain};
use mcp_approve::gate::call::effect_line;
use mcp_approve::gate::data::facts::{Facts, FileKind};
use mcp_approve::gate::data::snapshot::{Check, CheckState, Safe, Snapshot};
use mcp_approve::gate::held::target;
use mcp_approve::link::message::{Activity, ActivityKind, Direction, Status, Wrapper};
use mcp_approve::operator::tried::PastLine;
use mcp_approve::policy::decide::Ruling;
use mcp_approve::policy::past::Ended;
use mcp_approve::policy::rule::Decision;
use mcp_approve::signing::statement::Challenge;
use mcp_approve::signing::{CardTerms, Level};
use mcp_approve::wire::digest::Digest;

use super::NINE;
use mcp_approve::mcp::lifecycle::Phase;

/// A past call, as the log's trials tell it.
pub fn past_line(n: i64, ended: Ended) -> PastLine {
    PastLine {
        time: NINE - n * 60_000,
        ticket: format!("filesystem-{n}"),
        tool: "create_file".into(),
        target: format!("notes/{n}.md"),
        ruling: Decision::Ask,
        ended,
    }
}

pub fn wrapper(server: &str, session: &str) -> Wrapper {
    Wrapper {
        server: server.into(),
        session: session.into(),
        pid: 4242,
        command: vec!["npx".into(), "-y".into(), "@modelcontextprotocol/server-filesystem".into()],
        started: NINE - 60_000,
        observe: false,
        at: None,
    }
}

pub fn status() -> Status {
    Status {
        waiting: 0,
        calls: 42,
        approved_by_policy: 40,
        approved_by_operator: 2,
        denied: 0,
        refused_lines: 0,
        failed: 0,
        era: "2025-11-25".into(),
        phase: Some(Phase::Active),
        scope: String::new(),
        host: Some("claude-code 2.1.329".into()),
        banner: None,
        grants: Vec::new(),
        pending: Vec::new(),
        level: Level::default(),
        ended: None,
    }
}

/// A card that asks for a signature, as the wrapper of this session sends it, at this user and host.
pub fn signed(card: Snapshot, server: &str, session: &str, (user, machine): (&str, &str)) -> Snapshot {
    let signs = CardTerms {
        approval: 1,
        approvals: 1,
        call: card.digest,
        card: card.card_digest(),
        challenge: Challenge::of([7; 32]),
        definition: None,
        machine: machine.into(),
        policy: Digest::of(b""),
        role: None,
        server: server.into(),
        session: session.into(),
        ticket: card.ticket.clone(),
        user: user.into(),
    };
    Snapshot { signs: Some(signs), ..card }
}

/// A harmless write: MUTATES, one key.
pub fn write(ticket: &str) -> Snapshot {
    let arguments = r#"{"path":"notes/today.md","content":"milk\neggs\n","mode":420}"#;
    Snapshot {
        method: None,
        result_of: None,
        ticket: ticket.into(),
        server: "filesystem".into(),
        tool: "create_file".into(),
        title: Some("Create File".into()),
        description: Some("Creates a new file with the given content. Fails if it exists.".into()),
        signature: Some("create_file(path: String, content: String, mode: Option<i64>) -> CreateFileSuccess".into()),
        identity: Identity {
            mutability: Mutability::Mutates,
            action: Action::Create,
            output_domain: OutputDomain::Ack,
        },
        confidence: Confidence::None,
        new: Vec::new(),
        offer: None,
        content_type: ContentType::Text,
        evidence: vec![
            Evidence {
                source: Source::Annotated,
                says: Claim { mutability: Some(Mutability::Mutates), ..Claim::default() },
                span: "readOnlyHint: false".into(),
                strength: Strength::Fair,
            },
            Evidence {
                source: Source::Name,
                says: Claim { mutability: Some(Mutability::Mutates), action: Some(Action::Create), ..Claim::default() },
                span: "create_file".into(),
                strength: Strength::Strong,
            },
        ],
        disputed: false,
        hazards: Vec::new(),
        effect: "creates notes/today.md (10 bytes)".into(),
        target: Some("notes/today.md".into()),
        ruling: Ruling::of(Decision::Ask, "Changes something, and no rule covers it"),
        near: Vec::new(),
        safe: Safe {
            capability: Check { state: CheckState::Holds, what: "in the scope, arguments fit the schema".into() },
            guardrail: Check { state: CheckState::Pending, what: "waits for you".into() },
            session: Check { state: CheckState::Holds, what: "active since 2025-11-25 handshake".into() },
        },
        arguments: arguments.into(),
        responses: None,
        unknown_parts: None,
        readings: Vec::new(),
        undeclared: Vec::new(),
        digest: Digest::of(format!("{ticket}{arguments}").as_bytes()),
        bytes: 187,
        arrived: NINE - 12_000,
        deadline: Some(NINE + 48_000),
        host: Some("claude-code 2.1.329".into()),
        caller: Vec::new(),
        danger: None,
        edited_from: None,
        original_arguments: None,
        facts: Vec::new(),
        asked_again: None,
        runs_after: None,
        occurrence: 1,
        earlier: Vec::new(),
        silence: None,
        bare: false,
        signs: None,
        salt: Some(Digest::of(ticket.as_bytes())),
    }
}

/// A harmless write that is identical with no other: it has a row of its own.
pub fn own(ticket: &str) -> Snapshot {
    let path = format!("notes/{ticket}.md");
    let arguments = serde_json::json!({ "path": path, "content": "milk\neggs\n", "mode": 420 }).to_string();
    Snapshot { target: Some(path), ..with_arguments(write(ticket), &arguments) }
}

/// A dangerous call that is identical with no other.
pub fn own_delete(ticket: &str) -> Snapshot {
    let path = format!("src/{ticket}");
    let arguments = serde_json::json!({ "path": path, "recursive": true }).to_string();
    Snapshot { target: Some(path), ..with_arguments(delete(ticket), &arguments) }
}

/// A dangerous call: `a`, then `y`, after its last line was shown.
pub fn delete(ticket: &str) -> Snapshot {
    let arguments = r#"{"path":"src","recursive":true}"#;
    Snapshot {
        tool: "delete_folder".into(),
        title: Some("Delete Folder".into()),
        description: Some("Deletes a folder and everything in it.".into()),
        signature: Some("delete_folder(path: String, recursive: Option<bool>) -> DeleteFolderSuccess".into()),
        identity: Identity {
            mutability: Mutability::Mutates,
            action: Action::Delete,
            output_domain: OutputDomain::Ack,
        },
        effect: "deletes the folder src and everything in it".into(),
        target: Some("src".into()),
        arguments: arguments.into(),
        digest: Digest::of(format!("{ticket}{arguments}").as_bytes()),
        danger: Some("it deletes: DELETE cannot be taken back".into()),
        ..write(ticket)
    }
}

/// The same call with arguments longer than a screen.
pub fn long(call: Snapshot) -> Snapshot {
    let arguments = serde_json::json!({ "path": "src", "recursive": true, "why": "line\n".repeat(80) });
    with_arguments(call, &arguments.to_string())
}

/// A write over a file that stands there.
pub fn overwrite(ticket: &str, old: &str, new: &str) -> Snapshot {
    let arguments = serde_json::json!({ "path": "notes.md", "content": new }).to_string();
    let call = with_arguments(write(ticket), &arguments);
    Snapshot {
        tool: "write_file".into(),
        title: Some("Write File".into()),
        description: Some("Writes a file, replacing what stands there.".into()),
        signature: Some("write_file(path: String, content: String) -> WriteFileSuccess".into()),
        identity: Identity { action: Action::Overwrite, ..call.identity },
        effect: "replaces something — path = \"notes.md\"".into(),
        target: Some("notes.md".into()),
        danger: Some("it replaces the whole file".into()),
        facts: vec![file("notes.md", old)],
        ..call
    }
}

/// A file as the shell saw it.
pub fn file(path: &str, text: &str) -> Facts {
    Facts {
        kind: FileKind::File,
        real: Some(format!("/home/ada/shop/{path}")),
        size: Some(text.len() as u64),
        digest: Some(Digest::of(text.as_bytes())),
        text: Some(text.into()),
        unseen: None,
        ..Facts::unseen("/path", path, "")
    }
}

/// A call with one argument that a preview reads.
pub fn carrying(ticket: &str, tool: &str, action: Action, name: &str, text: &str) -> Snapshot {
    let arguments = serde_json::json!({ name: text });
    let call = with_arguments(delete(ticket), &arguments.to_string());
    let behavior = Behavior { analyses: arguments::found(None, &arguments), ..Behavior::unknown() };
    let read = !behavior.analyses.is_empty();
    let target = target::of(&behavior, &arguments);
    Snapshot {
        readings: arguments::readings(None, &arguments),
        tool: tool.into(),
        title: None,
        description: None,
        signature: Some(format!("{tool}({name}: String) -> Data")),
        identity: Identity { action, ..call.identity },
        effect: if read {
            effect_line::effect(&behavior, tool, &arguments, target.as_deref(), None)
        } else {
            format!("runs something — {name} = \"…\"")
        },
        target,
        danger: Some("it runs or stops something".into()),
        ..call
    }
}

/// Gives a snapshot other arguments, and the digest that goes with them.
pub fn with_arguments(mut snapshot: Snapshot, arguments: &str) -> Snapshot {
    snapshot.arguments = arguments.into();
    snapshot.bytes = arguments.len() as u64 + 100;
    snapshot.digest = Digest::of(format!("{}{arguments}", snapshot.ticket).as_bytes());
    snapshot
}

pub fn hazard(kind: HazardKind, what: &str) -> Hazard {
    Hazard { kind, what: what.into() }
}

pub fn passed(second: i64, kind: ActivityKind, what: &str) -> Activity {
    let to_host = matches!(kind, ActivityKind::Outcome | ActivityKind::Response);
    Activity {
        time: NINE + second * 1000,
        direction: if to_host { Direction::ToHost } else { Direction::ToServer },
        kind,
        what: what.into(),
        ticket: None,
        target: None,
        badge: None,
        ruling: None,
        verdict: None,
        by: None,
        rule: None,
        bytes: 120,
        latency_us: None,
        failed: false,
        reason: String::new(),
        explained: String::new(),
        who: String::new(),
    }
}
