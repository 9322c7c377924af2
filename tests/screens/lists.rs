//! Activity, Log, Tools, Rules and Servers at 80×24, 120×40 and 40×12 as text: empty, many, hostile, a sheet, a search.

use std::path::PathBuf;
use std::sync::Arc;

use insta::assert_snapshot;
use mcp_approve::audit::query::Found;
use mcp_approve::audit::record::{By, VerdictWord};
use mcp_approve::behavior::hazards::HazardKind;
use mcp_approve::behavior::taxonomy::Mutability;
use mcp_approve::console::client::ClientEvent;
use mcp_approve::console::found::{
    Certain, Checked, Edge, Explained, Finding, Line, Opened, Page, Progress, RuleBook, RuleFile, RuleLine, Task,
};
use mcp_approve::console::keymap::Key;
use mcp_approve::console::tally::{Figures, RuleTally, SessionTally, Spread, Tally, ToolTally};
use mcp_approve::console::theme::Palette;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::link::message::{Activity, ActivityKind, FromWrapper, KnownTool, PinState};
use mcp_approve::policy::decide::Ruling;
use mcp_approve::policy::explain::Near;
use mcp_approve::policy::lint::Warning;
use mcp_approve::policy::rule::{Decision, Defaults};
use mcp_approve::wire::digest::Digest;
use ratatui::style::Color;

use crate::desk::*;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 12)];
const HOSTILE: &str = "w\u{1b}[2Jrite\u{202e}_\u{430}bc\r\nok";

/// One snapshot per size.
fn at_every_size(name: &str, scene: impl Fn(&mut Desk)) {
    for (width, height) in SIZES {
        let mut desk = Desk::connected(width, height);
        scene(&mut desk);
        let screen = desk.screen();
        assert_eq!(screen.lines().count(), usize::from(height));
        assert_snapshot!(format!("{name}_{width}x{height}"), screen);
    }
}

pub fn line(seq: u64, kind: &str) -> Line {
    Line {
        seq,
        time: Some(NINE - 86_400_000 + i64::try_from(seq).unwrap() * 60_000),
        kind: kind.into(),
        server: "filesystem".into(),
        session: "files".into(),
        ticket: Some(format!("filesystem-{}", seq / 4)),
        tool: Some("write_file".into()),
        badge: Some(Mutability::Mutates),
        ..Line::default()
    }
}

fn decided(seq: u64, verdict: VerdictWord, by: By, note: &str) -> Line {
    Line { verdict: Some(verdict), by: Some(by), note: note.into(), ..line(seq, "decision") }
}

/// The latest page task that was asked for.
pub fn awaited(commands: &[Command]) -> u64 {
    let page = commands.iter().rev().find_map(|command| match command {
        Command::Look(Task::Page(wanted)) => Some(wanted.id),
        _ => None,
    });
    page.unwrap_or_else(|| panic!("no page is asked for in {commands:?}"))
}

/// Opens the log and gives it these records, newest first.
fn log(desk: &mut Desk, lines: Vec<Line>) {
    let id = awaited(&desk.keys("3"));
    let newest = lines.first().map_or(0, |line| line.seq);
    let page = Page { id, from: Edge::Newest, lines, searched: 1, newest, progress: Progress::AtTheEnd };
    desk.send(Msg::Found(Finding::Page(page)));
    desk.send(Msg::Found(Finding::Tally(Arc::new(tally()))));
}

fn records() -> Vec<Line> {
    let mut lines = vec![
        Line { tool: None, ticket: None, badge: None, note: "policy.toml:3: a mistake".into(), ..line(400, "policy") },
        Line { note: "tool-error".into(), latency_us: Some(1_200_000), ..line(399, "outcome") },
        Line { who: "ada (pid 7)".into(), ..decided(398, VerdictWord::Deny, By::Operator, "wrong folder: use notes/") },
        Line { rule: Some("scratch".into()), ..decided(397, VerdictWord::Approve, By::Rule, "rule scratch allows it") },
        Line { badge: Some(Mutability::Pure), tool: Some("read_file".into()), ..line(396, "outcome") },
        decided(395, VerdictWord::Approve, By::Default, "the default for PURE allows it"),
        Line { note: "the default for MUTATES asks".into(), ..line(394, "decision-asked") },
        Line { by: Some(By::Cancel), note: "the host cancelled it".into(), ..line(393, "withdrawn") },
        Line { tool: None, note: "refused a line from the host: two keys".into(), ..line(392, "fault") },
    ];
    lines.extend((1..392).rev().map(|seq| Line { note: "ok".into(), latency_us: Some(3_400), ..line(seq, "outcome") }));
    lines
}

fn spread(numbers: &[u64]) -> Spread {
    let mut spread = Spread::default();
    numbers.iter().for_each(|number| spread.take(*number));
    spread
}

fn tally() -> Tally {
    let mut tally = Tally { upto: 400, newest: 400, ..Tally::default() };
    tally.figures = Figures {
        decided: 1_300,
        asked: 61,
        approved: 40,
        denied: 9,
        by_rule: 1_240,
        by_default: 20_412,
        expired: 2,
        waited: spread(&[3_200_000, 2_000_000, 9_000_000]),
    };
    let detail = r#"{"words":"MUTATES|OVERWRITE|ACK","why":"w","evidence":["annotated MUTATES: readOnlyHint: false","inferred MUTATES OVERWRITE: name: write"]}"#;
    let tool = |calls, detail: &str| ToolTally {
        calls,
        denied: calls / 50,
        failed: calls / 100,
        latency: spread(&[900, 1_100, 40_000]),
        last: Some(NINE - 7_200_000),
        badge: Some("MUTATES".into()),
        identity: Some("212ddba5a2c92ee8".into()),
        detail: detail.into(),
    };
    tally.tools.insert(("filesystem".into(), "write_file".into()), tool(412, detail));
    tally.tools.insert(("memory".into(), "add_observations".into()), tool(3, "{}"));
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
    tally.sessions.insert("s1".into(), past("memory", true));
    tally.sessions.insert("s2".into(), past("github", false));
    tally
}

fn known(tool: &str, changed: bool, disputed: bool) -> KnownTool {
    let call = write("filesystem-1");
    KnownTool {
        tool: tool.into(),
        signature: format!("{tool}(path: String, content: String) -> Value"),
        identity: call.identity,
        evidence: call.evidence,
        disputed,
        hazards: if tool.starts_with("get") { vec![hazard(HazardKind::SensitiveRead, "env")] } else { Vec::new() },
        digest: Digest::of(tool.as_bytes()),
        pin: if changed { PinState::Changed { version: 2, was: None } } else { PinState::Trusted },
    }
}

fn tools(desk: &mut Desk) {
    let tools = vec![
        known("write_file", false, false),
        known("move_file", true, false),
        known("read_file", false, true),
        known("get_environment", false, false),
    ];
    desk.say("files", FromWrapper::Tools { tools });
    desk.send(Msg::Found(Finding::Tally(Arc::new(tally()))));
    desk.keys("4");
}

fn book() -> RuleBook {
    let rule = |id: &str, decision, line, selects: &[(&'static str, &str)]| RuleLine {
        id: id.into(),
        decision,
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
    let mend = "name the server or the tool it is for";
    all.warnings =
        vec![Warning { rule: "everything".into(), line: 20, column: 1, what: what.into(), mend: mend.into() }];
    RuleBook {
        files: vec![RuleFile { path: PathBuf::from("config/policy.toml") }],
        rules: vec![scratch, rule("no-force", Decision::Deny, 15, &[("tool", "*force*")]), all],
        defaults: Defaults { pure: Decision::Allow, mutates: Decision::Ask, hazard: Decision::Ask },
        broken: None,
        built_in: false,
    }
}

fn rules(desk: &mut Desk, book: RuleBook) {
    desk.keys("5");
    desk.send(Msg::Found(Finding::Tally(Arc::new(tally()))));
    desk.send(Msg::Found(Finding::Rules(Arc::new(book))));
}

fn servers(desk: &mut Desk) {
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
    desk.send(Msg::Found(Finding::Tally(Arc::new(tally()))));
    desk.send(Msg::Found(Finding::Footprints(vec![(4242, 42_369_024)])));
}

#[test]
fn lists_that_are_empty_teach() {
    at_every_size("log_none", |desk| {
        desk.keys("3");
        desk.send(Msg::Found(Finding::NoLog));
    });
    at_every_size("tools_none", |desk| {
        desk.keys("4");
        desk.send(Msg::Found(Finding::Tally(Arc::default())));
    });
    at_every_size("rules_none", |desk| rules(desk, RuleBook { rules: Vec::new(), built_in: true, ..book() }));
    for (width, height) in SIZES {
        let mut desk = Desk::new(width, height);
        desk.keys("6");
        assert_snapshot!(format!("servers_none_{width}x{height}"), desk.screen());
    }
}

#[test]
fn the_log() {
    at_every_size("log_many", |desk| log(desk, records()));
    at_every_size("log_searched", |desk| {
        log(desk, records());
        let id = awaited(&desk.keys("/verdict:deny"));
        let lines = records().into_iter().filter(|line| line.verdict == Some(VerdictWord::Deny)).collect();
        let page =
            Page { id, from: Edge::Newest, lines, searched: 120, newest: 1_204_000, progress: Progress::Searching };
        desk.send(Msg::Found(Finding::Page(page)));
        desk.press(Key::Enter);
        desk.send(Msg::Found(Finding::Verified(Checked { holds: 400, until: None, broken: None, lost: false })));
    });
}

#[test]
fn how_far_the_index_is_stands_below_the_log_until_it_is_level() {
    at_every_size("log_indexing", |desk| {
        log(desk, records());
        desk.send(Msg::Found(Finding::Indexed { upto: 240, level: false }));
    });
    let mut desk = Desk::connected(80, 24);
    log(&mut desk, records());
    desk.send(Msg::Found(Finding::Indexed { upto: 240, level: false }));
    desk.line("indexed to 240 of 400");
    desk.send(Msg::Found(Finding::Indexed { upto: 384, level: true }));
    assert!(!desk.screen().contains("indexed to"));
}

fn body() -> String {
    let time = "2026-11-20T15:38:00.000Z";
    format!(
        r#"{{"time":"{time}","kind":"decision","server":"filesystem","session":"files","ticket":"filesystem-99","tool":"write_file","badge":"MUTATES","identity":"212ddba5a2c92ee8","ruling":"ask","verdict":"deny","by":"operator","rule":null,"digest":"aa","latency_ms":3200.000,"arguments":{{"path":"notes/today.md","content":"a\u001b[2Jb"}},"cut":null,"assurance":"L0","policy":null,"detail":{{"reason":"wrong folder","evidence":["annotated MUTATES: readOnlyHint: false"],"operator":"ada"}}}}"#
    )
}

fn open_record(desk: &mut Desk, link: Result<(), String>) {
    log(desk, records());
    desk.keys("jj");
    desk.press(Key::Enter);
    let near = Near {
        rule: "scratch".into(),
        decision: Decision::Allow,
        why: "no: { arg = \"path\", under = \"~/scratch\" } does not hold".into(),
    };
    let reason = "the default for MUTATES asks".into();
    let ruling = Ruling { decision: Decision::Ask, rule: None, reason };
    let opened = Opened {
        explained: Some(Explained { ruling, near: vec![near], certain: Certain::Perhaps }),
        line: records()[2].clone(),
        found: Found { seq: 398, link: Some(Digest::of(b"link")), body: body() },
        newest: 400,
        link,
        beside: vec![records()[6].clone()],
    };
    desk.send(Msg::Found(Finding::Record(398, Some(Box::new(opened)))));
}

#[test]
fn a_record_in_full() {
    at_every_size("record", |desk| open_record(desk, Ok(())));
    let mut desk = Desk::connected(80, 24);
    open_record(&mut desk, Err("record 398 does not carry the link it must have".into()));
    desk.line("BROKEN      ✗ record 398 does not carry the link");
    desk.press(Key::End);
    desk.line("the same call");
}

#[test]
fn an_answer_tells_at_once_why_its_call_ran() {
    let mut desk = Desk::connected(80, 24);
    log(&mut desk, records());
    desk.keys("j");
    desk.press(Key::Enter);
    let (line, beside) = (records()[1].clone(), vec![records()[6].clone(), records()[3].clone()]);
    let found = Found { seq: 399, link: None, body: body() };
    let opened = Opened { explained: None, line, found, newest: 400, link: Ok(()), beside };
    desk.send(Msg::Found(Finding::Record(399, Some(Box::new(opened)))));
    desk.line("why         approved by rule scratch");
}

#[test]
fn the_tools() {
    at_every_size("tools_many", tools);
    at_every_size("tool", |desk| {
        tools(desk);
        desk.press(Key::Enter);
    });
}

#[test]
fn the_rules() {
    at_every_size("rules_many", |desk| rules(desk, book()));
    at_every_size("rule", |desk| {
        rules(desk, book());
        desk.press(Key::Enter);
    });
    at_every_size("rules_broken", |desk| {
        let broken = "config/policy.toml:14: `decision` is \"alow\"; write allow, ask or deny";
        rules(desk, RuleBook { broken: Some(broken.into()), rules: Vec::new(), ..book() });
    });
}

#[test]
fn the_servers() {
    at_every_size("servers_many", servers);
    at_every_size("server", |desk| {
        servers(desk);
        desk.press(Key::Enter);
    });
}

#[test]
fn hostile_text_in_every_list_and_sheet() {
    let hostile = || Line {
        kind: HOSTILE.into(),
        server: HOSTILE.into(),
        tool: Some(HOSTILE.into()),
        ticket: Some(HOSTILE.into()),
        rule: Some(HOSTILE.into()),
        note: HOSTILE.into(),
        who: HOSTILE.into(),
        ..line(7, "decision")
    };
    at_every_size("log_hostile", |desk| {
        log(desk, vec![hostile(), Line { who: HOSTILE.into(), ..line(6, "decision") }]);
    });
    for (width, height) in SIZES {
        let mut desk = Desk::connected(width, height);
        desk.link(ClientEvent::Connected(wrapper(HOSTILE, HOSTILE)));
        desk.say(HOSTILE, FromWrapper::Tools { tools: vec![known(HOSTILE, true, true)] });
        log(&mut desk, vec![hostile()]);
        let mut counts = tally();
        counts.tools.insert((HOSTILE.into(), HOSTILE.into()), ToolTally::default());
        counts.rules.insert(HOSTILE.into(), RuleTally::default());
        counts.sessions.insert("x".into(), SessionTally { server: HOSTILE.into(), ..SessionTally::default() });
        desk.send(Msg::Found(Finding::Tally(Arc::new(counts))));
        let mut rules = book();
        rules.broken = Some(HOSTILE.into());
        rules.rules[0].id = HOSTILE.into();
        rules.rules[0].selects = vec![("tool", HOSTILE.into())];
        rules.rules[0].note = Some(HOSTILE.into());
        desk.send(Msg::Found(Finding::Rules(Arc::new(rules))));
        desk.send(Msg::Found(Finding::Trouble(HOSTILE.into())));
        for screen in ["3", "4", "5", "6"] {
            desk.keys(screen);
            tame(&mut desk);
            for _ in 0..8 {
                desk.press(Key::Enter);
                tame(&mut desk);
                desk.press(Key::Enter);
                desk.keys("j");
            }
        }
        desk.keys("/");
        desk.send(Msg::Paste(HOSTILE.into()));
        tame(&mut desk);
        desk.press(Key::Enter);
        desk.keys(":");
        desk.send(Msg::Paste(format!("log {HOSTILE}")));
        tame(&mut desk);
    }
}

/// No foreign control, bidi or unmarked look-alike is in any cell.
fn tame(desk: &mut Desk) {
    let screen = desk.screen();
    let bad = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!screen.contains(bad), "{screen:?}");
}

#[test]
fn no_theme_loses_a_word() {
    let scene = |palette| {
        let mut desk = Desk::with(80, 24, palette);
        desk.link(ClientEvent::Connected(wrapper("filesystem", "files")));
        let mut text = String::new();
        servers(&mut desk);
        text += &desk.screen();
        rules(&mut desk, book());
        text += &desk.screen();
        tools(&mut desk);
        text += &desk.screen();
        log(&mut desk, records());
        text += &desk.screen();
        let coloured = |cell: &&ratatui::buffer::Cell| cell.fg != Color::Reset || cell.bg != Color::Reset;
        let colours: Vec<Color> = desk.buffer().content.iter().filter(coloured).map(|cell| cell.fg).collect();
        (text, colours)
    };
    let (text, colours) = scene(Palette::Colours);
    assert!(!colours.is_empty());
    for palette in [Palette::Light, Palette::Safe, Palette::Monochrome] {
        assert_eq!(scene(palette).0, text);
    }
    assert_eq!(scene(Palette::Monochrome).1, []);
    assert!(!scene(Palette::Light).1.contains(&Color::Yellow), "yellow cannot be read on white");
    let safe = scene(Palette::Safe).1;
    assert!(!safe.contains(&Color::Red) && !safe.contains(&Color::Green), "red and green are alike to some");
}
