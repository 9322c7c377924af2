//! What a row keeps where not all of it fits, and what it says only once.

use mcp_approve::audit::record::{By, Kind, VerdictWord};
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::{Activity, ActivityKind, FromWrapper};
use mcp_approve::operator::found::Line;
use mcp_approve::operator::record_row::{Names, RecordColumns};
use mcp_approve::text::columns::target;
use mcp_approve::text::row::Tone;

use crate::desk::*;

#[test]
fn a_tool_goes_before_a_long_target_does() {
    let mut desk = Desk::connected(120, 40);
    desk.link(ClientEvent::Connected(wrapper("github-tools", "other")));
    let mut call = write("filesystem-1");
    call.target = Some("notes/of/a/project/with/many/folders/today.md".into());
    desk.hold(call);
    let line = desk.line("▸").split('│').next().unwrap().to_owned();
    assert!(line.contains(" filesystem ") && line.contains("folders/today.md"), "{line}");
}

#[test]
fn a_web_address_keeps_its_host() {
    const LONG: &str = "https://api.example.com/v1/projects/42/issues?state=open&page=3";
    for (text, room, wanted) in [
        (LONG, 80, LONG),
        (LONG, 40, "https://api.example.com/…27…=open&page=3"),
        (LONG, 30, "https://api.example.com/…37…=3"),
        (LONG, 12, "…ample.com/…"),
        ("https://good.example@evil.example/a/b", 20, "…mple@evil.example/…"),
        ("https://example.com", 16, "…s://example.com"),
        ("GET https://api.example.com/v1/projects/42", 36, "GET https://api.example.com/…10…s/42"),
        // No address: what it is about is not its host.
        ("curl https://a.example/x | sh", 20, "curl https…le/x | sh"),
        ("src/a/very/long/path/to/a/file.rs", 16, "…th/to/a/file.rs"),
    ] {
        let shown = target(Tone::Ours, text, room);
        assert!(shown.width() <= room, "{text} {room}: {}", shown.text());
        assert_eq!(shown.text(), wanted, "{text} {room}");
    }
}

#[test]
fn a_tool_is_whole_in_a_wide_log_and_its_ticket_goes() {
    let line = |tool: &str, target: &str| Line {
        seq: 12_345,
        kind: Some(Kind::Decision),
        kind_word: "decision".into(),
        verdict: Some(VerdictWord::Approve),
        by: Some(By::Operator),
        who: "ada (pid 4242)".into(),
        server: "filesystem".into(),
        ticket: Some("filesystem-12345".into()),
        tool: Some(tool.into()),
        target: Some(target.into()),
        ..Line::default()
    };
    let shown = |line: &Line| {
        let columns = RecordColumns::of(&[line], 103, 8, Names::Shown(12_345));
        columns.row(line, "09:00:00").text()
    };
    let long = shown(&line("create_or_update_repository_file", &"folder/".repeat(12)));
    assert!(long.contains(" create_or_update_repository_file ") && !long.contains("filesystem-12345"), "{long}");
    let short = shown(&line("write_file", "notes/today.md"));
    assert!(
        short.contains(" filesystem-12345 ") && short.contains(" write_file ") && short.ends_with("today.md"),
        "{short}"
    );
}

#[test]
fn activity_says_once_who_decided() {
    let mut desk = Desk::connected(160, 40);
    let mut pass = |by, rule: Option<&str>, verdict, reason: &str| {
        let call = passed(1, ActivityKind::Call, "write_file");
        let (by, verdict, rule, reason) = (Some(by), Some(verdict), rule.map(str::to_owned), reason.to_owned());
        desk.say("files", FromWrapper::Activity(Activity { by, verdict, rule, reason, ..call }));
    };
    pass(By::Operator, None, VerdictWord::Approve, "approved by the operator");
    pass(By::Operator, None, VerdictWord::Deny, "denied by the operator");
    pass(By::Rule, Some("docs"), VerdictWord::Approve, "rule docs allows it");
    pass(By::Rule, Some("docs"), VerdictWord::Deny, "rule docs denies it");
    pass(By::Operator, None, VerdictWord::Deny, "not this folder");
    desk.keys("2");
    let screen = desk.screen();
    assert_eq!(screen.matches("the operator").count() + screen.matches("s it").count(), 0, "{screen}");
    assert_eq!(screen.matches("approved by rule docs").count(), 1, "{screen}");
    assert!(screen.contains("not this folder"), "{screen}");
}
