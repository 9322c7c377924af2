//! What the lists are shown with: records, tallies, tools, rules, servers, each given to a desk as the product would.

use crate::desk::*;
use mcp_approve::audit::chain::Break;
use mcp_approve::audit::fields::Record;
use mcp_approve::audit::record::{By, VerdictWord};
use mcp_approve::audit::tally::{Count, RuleTally, SessionTally, ToolTally};
use mcp_approve::audit::tally::{Exact, Histogram, Numbers as _};
use mcp_approve::behavior::hazards::HazardKind;
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::behavior::taxonomy::Confidence;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::{Activity, ActivityKind, FromWrapper, KnownTool, PinState};
use mcp_approve::operator::found::{
    Certain, Counts, Edge, Explained, Finding, Line, LogRequest, LogRows, Opened, Page, Progress, RuleBook, RuleLine,
};
use mcp_approve::policy::decide::{Near, Ruling};
use mcp_approve::policy::lint::Warning;
use mcp_approve::policy::rule::{Decision, Defaults, FirstUse, Likely, NewDefault};
use mcp_approve::wire::digest::Digest;
use std::path::PathBuf;
use std::sync::Arc;

pub fn line(seq: u64, kind: &str) -> Line {
    Line {
        seq,
        time: Some(NINE - 86_400_000 + i64::try_from(seq).unwrap() * 60_000),
        kind: kind.parse().ok(),
        kind_word: kind.into(),
        server: "filesystem".into(),
        session: "files".into(),
        ticket: Some(format!("filesystem-{}", seq / 4)),
        tool: Some("write_file".into()),
        badge: Some(Badge::Mutates),
        ..Line::default()
    }
}

pub fn decided(seq: u64, verdict: VerdictWord, by: By, note: &str) -> Line {
    Line { verdict: Some(verdict), by: Some(by), note: note.into(), ..line(seq, "decision") }
}

fn answered(seq: u64, result: &str, micros: u64) -> Line {
    Line { note: result.into(), outcome: result.parse().ok(), latency_us: Some(micros), ..line(seq, "outcome") }
}

/// The latest page task that was asked for.
pub fn awaited(commands: &[Command]) -> u64 {
    let page = commands.iter().rev().find_map(|command| match command {
        Command::Look(LogRequest::Page(wanted)) => Some(wanted.id),
        _ => None,
    });
    page.unwrap_or_else(|| panic!("no page is asked for in {commands:?}"))
}

/// Opens the log and gives it these records, newest first.
pub fn log(desk: &mut Desk, lines: Vec<Line>) {
    desk.model.log.chosen_rows = LogRows::Records;
    let id = awaited(&desk.keys("3"));
    let newest = lines.first().map_or(0, |line| line.seq);
    let page = Page { id, from: Edge::Newest, lines, searched: 1, newest, progress: Progress::AtTheEnd };
    desk.send(Msg::Found(Finding::Page(page)));
    desk.send(Msg::Found(Finding::Counts(Arc::new(counts()))));
}

pub fn records() -> Vec<Line> {
    let mut lines = vec![
        Line { tool: None, ticket: None, badge: None, note: "policy.toml:3: a mistake".into(), ..line(400, "policy") },
        answered(399, "tool-error", 1_200_000),
        Line { who: "ada (pid 7)".into(), ..decided(398, VerdictWord::Deny, By::Operator, "wrong folder: use notes/") },
        Line { rule: Some("scratch".into()), ..decided(397, VerdictWord::Approve, By::Rule, "rule scratch allows it") },
        Line { badge: Some(Badge::Pure), tool: Some("read_file".into()), ..line(396, "outcome") },
        decided(395, VerdictWord::Approve, By::Default, "Only reads, and the default allows it"),
        Line { note: "Changes something, and no rule covers it".into(), ..line(394, "decision-asked") },
        Line { by: Some(By::Cancel), note: "the host cancelled it".into(), ..line(393, "withdrawn") },
        Line { tool: None, note: "refused a line from the host: two keys".into(), ..line(392, "fault") },
    ];
    lines.extend((1..392).rev().map(|seq| answered(seq, "ok", 3_400)));
    lines
}

fn exact(numbers: &[u64]) -> Exact {
    let mut exact = Exact::default();
    numbers.iter().for_each(|number| exact.take(*number));
    exact
}

fn histogram(numbers: &[u64]) -> Histogram {
    let mut histogram = Histogram::default();
    numbers.iter().for_each(|number| histogram.take(*number));
    histogram
}

fn count(of: &[(VerdictWord, By, u64)]) -> Count {
    let mut count = Count::default();
    of.iter().for_each(|(verdict, by, calls)| count.add(Some(*verdict), Some(*by), *calls));
    count
}

pub fn counts() -> Counts {
    use VerdictWord::{Approve, Deny};
    let mut counts = Counts { upto: 400, newest: 400, ..Counts::default() };
    let tally = &mut counts.tally;
    let all = [(Approve, By::Operator, 40), (Deny, By::Operator, 9), (Approve, By::Rule, 1_240)];
    tally.all = count(&all);
    tally.all.add(Some(Approve), Some(By::Default), 20_412);
    tally.all.asked = 61;
    tally.all.waited = exact(&[3_200_000, 2_000_000, 9_000_000]);
    let detail = r#"{"words":"MUTATES|OVERWRITE|ACK","why":"w","evidence":["annotated MUTATES: readOnlyHint: false","inferred MUTATES OVERWRITE: name: write"]}"#;
    let tool = |calls: u64, detail: &str| ToolTally {
        count: count(&[(Deny, By::Operator, calls / 50), (Approve, By::Operator, calls - calls / 50)]),
        answered: calls,
        failed: calls / 100,
        latency: histogram(&[900, 1_100, 40_000]),
        last: Some(NINE - 7_200_000),
        badge: Some(Badge::Mutates),
        identity: Some("212ddba5a2c92ee8".into()),
        judged: detail.into(),
    };
    tally.tools.entry("filesystem".into()).or_default().insert("write_file".into(), tool(412, detail));
    tally.tools.entry("memory".into()).or_default().insert("add_observations".into(), tool(3, "{}"));
    tally.rules.insert("scratch".into(), RuleTally { hits: 1_204, last: Some(NINE - 40_000) });
    tally.rules.insert("old-one".into(), RuleTally { hits: 2, last: Some(NINE - 86_400_000 * 40) });
    let past = |server: &str, ended| SessionTally {
        server: server.into(),
        first: Some(NINE - 9_000_000),
        last: Some(NINE - 3_600_000),
        calls: 77,
        denied: 1,
        failed: 3,
        ended,
    };
    counts.sessions.0.insert("s1".into(), past("memory", true));
    counts.sessions.0.insert("s2".into(), past("github", false));
    counts
}

pub fn known(tool: &str, changed: bool, disputed: bool) -> KnownTool {
    let call = write("filesystem-1");
    KnownTool {
        tool: tool.into(),
        signature: format!("{tool}(path: String, content: String) -> Value"),
        identity: call.identity,
        confidence: Confidence::None,
        evidence: call.evidence,
        disputed,
        hazards: if tool.starts_with("get") { vec![hazard(HazardKind::SensitiveRead, "env")] } else { Vec::new() },
        digest: Digest::of(tool.as_bytes()),
        pin: if changed { PinState::Changed { version: 2, was: None } } else { PinState::Trusted },
    }
}

pub fn tools(desk: &mut Desk) {
    let tools = vec![
        known("write_file", false, false),
        known("move_file", true, false),
        known("read_file", false, true),
        known("get_environment", false, false),
    ];
    desk.say("files", FromWrapper::Tools { tools });
    desk.send(Msg::Found(Finding::Counts(Arc::new(counts()))));
    desk.keys("4");
}

pub fn book() -> RuleBook {
    let rule = |id: &str, decision, line, selects: &[(&'static str, &str)]| RuleLine {
        id: id.into(),
        decision,
        result: None,
        disabled: false,
        file: 0,
        line,
        selects: selects.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
        expires: None,
        note: None,
        warnings: Vec::new(),
    };
    let mut scratch =
        rule("scratch", Decision::Allow, 9, &[("server", "filesystem"), ("tool", "write_file|edit_file")]);
    scratch.expires = Some(NINE + 3 * 86_400_000);
    scratch.note = Some("from ticket 1042".into());
    let mut all = rule("everything", Decision::Allow, 20, &[]);
    let what = "rule everything allows every call of every server, changes too";
    let hint = "name the server or the tool it is for";
    all.warnings =
        vec![Warning { rule: "everything".into(), line: 20, column: 1, what: what.into(), hint: hint.into() }];
    RuleBook {
        files: vec![PathBuf::from("config/policy.toml")],
        rules: vec![scratch, rule("no-force", Decision::Deny, 15, &[("tool", "*force*")]), all],
        defaults: Defaults {
            pure: Decision::Allow,
            likely: Likely::AskOnce,
            first_use: FirstUse::Allow,
            new: NewDefault::AskOnce,
            mutates: Decision::Ask,
            hazard: Decision::Ask,
        },
        broken: None,
        built_in: false,
        pending: Vec::new(),
    }
}

pub fn rules(desk: &mut Desk, book: RuleBook) {
    desk.keys("5");
    desk.send(Msg::Found(Finding::Counts(Arc::new(counts()))));
    desk.send(Msg::Found(Finding::Rules(Arc::new(book))));
}

pub fn servers(desk: &mut Desk) {
    let mut observing = wrapper("git#2", "git");
    observing.observe = true;
    desk.link(ClientEvent::Connected(observing));
    desk.link(ClientEvent::Connected(wrapper("puppeteer", "gone")));
    desk.link(ClientEvent::Gone { session: "gone".into() });
    desk.now += 40_000;
    for latency in [700, 900, 90_000, 1_400, 800, 2_100_000, 1_000] {
        let outcome = passed(1, ActivityKind::Outcome, "read_file");
        desk.say("files", FromWrapper::Activity(Activity { latency_us: Some(latency), ..outcome }));
    }
    desk.keys("6");
    desk.send(Msg::Found(Finding::Counts(Arc::new(counts()))));
    desk.send(Msg::Found(Finding::Footprints(vec![(4242, 42_369_024)])));
}

pub fn body() -> String {
    let time = "2026-11-20T15:38:00.000Z";
    format!(
        r#"{{"time":"{time}","kind":"decision","server":"filesystem","session":"files","ticket":"filesystem-99","tool":"write_file","badge":"MUTATES","identity":"212ddba5a2c92ee8","ruling":"ask","verdict":"deny","by":"operator","rule":null,"digest":"aa","latency_ms":3200.000,"arguments":{{"path":"notes/today.md","content":"a\u001b[2Jb"}},"cut":null,"assurance":"L0","policy":null,"detail":{{"reason":"wrong folder","evidence":["annotated MUTATES: readOnlyHint: false"],"operator":"ada"}}}}"#
    )
}

pub fn open_record(desk: &mut Desk, link: Result<(), Break>) {
    log(desk, records());
    desk.keys("jj");
    desk.press(Key::Enter);
    let near = Near {
        rule: "scratch".into(),
        decision: Decision::Allow,
        why: "no: { arg = \"path\", under = \"~/scratch\" } does not hold".into(),
    };
    let reason = "Changes something, and no rule covers it";
    let ruling = Ruling::of(Decision::Ask, reason);
    let opened = Opened {
        explained: Some(Explained { ruling, near: vec![near], certain: Certain::Perhaps }),
        line: records()[2].clone(),
        record: Record { seq: 398, link: Some(Digest::of(b"link")), body: body(), origin: None },
        newest: 400,
        link,
        beside: vec![records()[6].clone()],
    };
    desk.send(Msg::Found(Finding::Record(398, Some(Box::new(opened)))));
}
