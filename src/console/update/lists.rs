//! The lines of Tools, Rules and Servers, from wrappers, log, files and pins, for what each screen's search wants.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::audit::tally::{Histogram, ToolTally};
use crate::audit::{Field, fields::JudgedDetail};
use crate::behavior::Badge;
use crate::console::model::{
    Connected, Earlier, ListState, Model, Reach, RuleEntry, RuleHits, Screen, ServerLine, Subject, ToolLine, ToolSource,
};
use crate::link::message::KnownTool;
use crate::operator::pinned::{PinBook, PinnedTool};
use crate::policy::{result::ResultAct, rules_name};

/// Makes the lists of Tools, Rules and Servers again. The selection stays on its line.
pub(super) fn rebuild(model: &mut Model) {
    // Until the operator moves, the selection stays on the first line.
    let moved = |list: &ListState| list.at > 0 || list.sheet.is_some();
    let tool = model.tools.lines.get(model.tools.list.at).filter(|_| moved(&model.tools.list));
    let tool = tool.map(|line| (line.server.clone(), line.tool.clone()));
    let rule = model.rules.lines.get(model.rules.list.at).filter(|_| moved(&model.rules.list));
    let rule = rule.cloned();
    model.tools.lines = tool_lines(model);
    model.rules.lines = rule_lines(model);
    let same =
        |line: &ToolLine| tool.as_ref().is_some_and(|(server, tool)| line.server == *server && line.tool == *tool);
    if let Some(at) = model.tools.lines.iter().position(same) {
        model.tools.list.at = at;
    }
    if let Some(at) = model.rules.lines.iter().position(|line| rule.as_ref().is_some_and(|rule| rule.is(line))) {
        model.rules.list.at = at;
    }
    model.servers.lines = server_lines(model);
}

/// Follows wrappers that come, go and report. A desk has thousands: their list is made when it is looked at.
pub(super) fn wrappers_changed(model: &mut Model) {
    match model.settings.reach {
        Reach::Own => rebuild(model),
        Reach::Desk if model.screen == Screen::Servers => model.servers.lines = server_lines(model),
        Reach::Desk => {}
    }
}

/// The tools that the search wants: changed and disputed ones first.
fn tool_lines(model: &Model) -> Vec<ToolLine> {
    let mut lines: BTreeMap<(String, String), ToolLine> = BTreeMap::new();
    for (server, tools) in model.log.counts.iter().flat_map(|counts| &counts.tally.tools) {
        for (tool, counted) in tools {
            lines.insert((server.clone(), tool.clone()), logged(server, tool, counted));
        }
    }
    let none = PinBook::default();
    let book = model.tools.pins.as_deref().unwrap_or(&none);
    for (at, pinned) in book.tools.iter().enumerate() {
        let line = lines.entry((pinned.server.clone(), pinned.known.tool.clone())).or_default();
        let stands = match line.subject {
            Subject::Pinned(at) => book.tools.get(at),
            Subject::Tool | Subject::Program(_) | Subject::Page(_) => None,
        };
        // Of one name under several command lines, one that waits for review is shown, otherwise the one seen last.
        let rank = |one: &PinnedTool| (one.waits(), one.last_seen);
        if stands.is_none_or(|stands| rank(stands) < rank(pinned)) {
            described(line, &pinned.server, &pinned.known);
            remembered(line, at, pinned);
        }
    }
    for (session, tools) in &model.tools.known {
        let Some(connected) = model.wrappers.iter().find(|one| one.wrapper.session == *session) else { continue };
        let server = rules_name(&connected.wrapper.server);
        for tool in tools {
            let line = lines.entry((server.to_owned(), tool.tool.clone())).or_default();
            described(line, server, tool);
            line.source = ToolSource::Offered;
            // Of several command lines, this is the one that runs.
            let runs = |one: &PinnedTool| {
                one.server == server && one.known.tool == tool.tool && one.known.digest == tool.digest
            };
            if let Some((at, pinned)) = book.tools.iter().enumerate().find(|(_, one)| runs(one)) {
                remembered(line, at, pinned);
            }
        }
    }
    let search = &model.tools.list.search;
    let mut lines: Vec<ToolLine> = lines
        .into_values()
        .chain(book.programs.iter().enumerate().map(|(at, one)| ToolLine {
            subject: Subject::Program(at),
            server: one.server.name.clone(),
            last: Some(one.server.last_seen),
            ..ToolLine::default()
        }))
        .chain(book.pages.iter().enumerate().filter(|(_, page)| page.is_wanted()).map(|(at, page)| ToolLine {
            subject: Subject::Page(at),
            server: page.server.clone(),
            ..ToolLine::default()
        }))
        .filter(|line| {
            let (server, tool) = (line.server.as_str(), line.tool.as_str());
            let badge = (Field::Badge, line.badge.map(Badge::word));
            let fields = [(Field::Server, Some(server)), (Field::Tool, Some(tool)), badge];
            search.wants(line.last, &fields, || tool_text(line))
        })
        .collect();
    lines.sort_by_cached_key(|line| {
        let quiet = !line.wants_review();
        let is_program = matches!(line.subject, Subject::Program(_));
        let is_page = matches!(line.subject, Subject::Page(_));
        (
            quiet,
            !is_program,
            !is_page,
            !line.wants_word(),
            !line.disputed,
            line.hazards.is_empty(),
            line.server.clone(),
            line.tool.clone(),
        )
    });
    lines
}

fn tool_text(line: &ToolLine) -> String {
    let names = [&line.server, &line.tool, &line.words, &line.identity];
    let hazards = line.hazards.iter().flat_map(|(name, what)| [name, what]);
    let parts = names.into_iter().chain(&line.tags).chain(&line.signature).chain(&line.evidence).chain(hazards);
    let mut text = parts.map(String::as_str).collect::<Vec<_>>().join(" ");
    text.push_str(if line.disputed { " disputed" } else { "" });
    text.push_str(if line.wants_review() { " changed unreviewed" } else { "" });
    text
}

fn logged(server: &str, tool: &str, counted: &ToolTally<Histogram>) -> ToolLine {
    let detail: JudgedDetail = serde_json::from_str(&counted.judged).unwrap_or_default();
    ToolLine {
        server: server.to_owned(),
        tool: tool.to_owned(),
        badge: counted.badge,
        identity: counted.identity.clone().unwrap_or_default(),
        words: detail.words,
        evidence: detail.evidence,
        hazards: detail.hazards.into_iter().map(|one| (one.hazard, one.what)).collect(),
        disputed: detail.disputed,
        calls: counted.count.calls(),
        denied: counted.count.denied(),
        failed: counted.failed,
        p50: counted.latency.quantile(50),
        p95: counted.latency.quantile(95),
        last: counted.last,
        ..ToolLine::default()
    }
}

fn remembered(line: &mut ToolLine, at: usize, pinned: &PinnedTool) {
    line.subject = Subject::Pinned(at);
    line.version = Some(pinned.version);
    line.tags.clone_from(&pinned.tags);
    line.effects.clone_from(&pinned.effects);
}

/// A tool's description overrides what the log's last record of it says.
fn described(line: &mut ToolLine, server: &str, tool: &KnownTool) {
    server.clone_into(&mut line.server);
    line.tool.clone_from(&tool.tool);
    line.signature = Some(tool.signature.clone());
    line.badge = Some(Badge::of(tool.identity.mutability, tool.confidence));
    line.identity = tool.identity.hash().to_owned();
    line.words = tool.identity.to_string();
    line.evidence = tool.evidence.iter().map(ToString::to_string).collect();
    line.hazards = tool.hazards.iter().map(|one| (one.kind.word().to_owned(), one.what.clone())).collect();
    line.disputed = tool.disputed;
    line.pin = Some(tool.pin);
    line.definition = Some(tool.digest.to_string());
}

/// What waits first, then what is granted, then the rules, then what the log suggests.
fn rule_lines(model: &Model) -> Vec<RuleEntry> {
    let search = &model.rules.list.search;
    let mut lines: Vec<RuleEntry> = Vec::new();
    for (session, pending) in model.pending() {
        let told = |line: &RuleEntry| {
            matches!(line, RuleEntry::Waits { pending: known, .. }
                if known.file == pending.file && known.digest == pending.digest)
        };
        if !lines.iter().any(told) && search.wants(None, &[], || pending.file.clone()) {
            lines.push(RuleEntry::Waits { session: session.to_owned(), pending: Box::new(pending.clone()) });
        }
    }
    for one in &model.wrappers {
        for card in &one.status.grants {
            let fields = [
                (Field::Rule, Some(card.id.as_str())),
                (Field::Server, Some(one.wrapper.server.as_str())),
                (Field::Tool, Some(card.tool.as_str())),
                (Field::Session, Some(one.wrapper.session.as_str())),
            ];
            let text = || format!("{} {} {} {}", card.id, one.wrapper.server, card.tool, card.terms);
            if search.wants(Some(card.given), &fields, text) {
                let (session, server) = (one.wrapper.session.clone(), one.wrapper.server.clone());
                lines.push(RuleEntry::Grant { session, server, card: Box::new(card.clone()) });
            }
        }
    }
    lines.extend(file_rules(model).into_iter().map(RuleEntry::Rule));
    let suggested = model.rules.suggested.found.iter().flat_map(|found| &found.rules);
    let wanted = suggested.filter(|rule| {
        let fields = [(Field::Server, Some(rule.server.as_str())), (Field::Tool, Some(rule.tool.as_str()))];
        let put_aside = model.rules.declined.iter().any(|other| other.is_like(rule));
        !put_aside && search.wants(None, &fields, || rule.toml.clone())
    });
    lines.extend(wanted.map(|rule| RuleEntry::Suggested(Arc::clone(rule))));
    lines
}

fn file_rules(model: &Model) -> Vec<RuleHits> {
    let tally = model.log.counts.as_deref().map(|counts| &counts.tally);
    let hits = |id: &str, at: Option<usize>| {
        let counted = tally.and_then(|tally| tally.rules.get(id)).cloned().unwrap_or_default();
        RuleHits { id: id.to_owned(), at, hits: counted.hits, last: counted.last }
    };
    let book = model.rules.book.as_deref();
    let rules = book.iter().flat_map(|book| book.rules.iter().enumerate());
    let mut lines: Vec<RuleHits> = rules.map(|(at, rule)| hits(&rule.id, Some(at))).collect();
    // Rules that decided once and are in no file now. Grants never are, and each session reuses their names.
    let gone = tally.iter().flat_map(|tally| tally.rules.keys());
    let gone: Vec<_> = gone
        .filter(|id| !id.starts_with("grant:") && !lines.iter().any(|line| line.id == **id))
        .map(|id| hits(id, None))
        .collect();
    lines.extend(gone);
    let search = &model.rules.list.search;
    lines.retain(|line| {
        let rule = line.at.and_then(|at| book?.rules.get(at));
        let select = |key| rule?.selects.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str());
        let fields = [
            (Field::Rule, Some(line.id.as_str())),
            (Field::Ruling, rule.map(|rule| rule.result.map_or(rule.decision.word(), ResultAct::word))),
            (Field::Server, select("server")),
            (Field::Tool, select("tool")),
        ];
        let selects = || rule.map(|rule| format!("{:?} {:?}", rule.selects, rule.note)).unwrap_or_default();
        search.wants(line.last, &fields, || format!("{} {}", line.id, selects()))
    });
    lines
}

/// Servers without a run that are listed.
const PAST: usize = 200;

pub(super) fn server_lines(model: &Model) -> Vec<ServerLine> {
    let search = &model.servers.list.search;
    let wanted = |server: &str, session: &str, last: Option<i64>, more: &str| {
        let fields = [(Field::Server, Some(server)), (Field::Session, Some(session))];
        search.wants(last, &fields, || format!("{server} {session} {more}"))
    };
    let of = |one: &Connected, last: Option<i64>| {
        let wrapper = &one.wrapper;
        wanted(&wrapper.server, &wrapper.session, last, &wrapper.command.join(" "))
    };
    let running = model.wrappers.iter().filter(|one| of(one, Some(model.now)));
    let mut lines: Vec<ServerLine> = running.map(|one| ServerLine::Running(Box::new(one.clone()))).collect();
    lines.sort_by(|one, other| one.server().cmp(other.server()));
    let unwrapped = model.servers.unwrapped.iter();
    let unwrapped =
        unwrapped.filter(|one| wanted(&one.server, "", None, &format!("{} {} not wrapped", one.host, one.list)));
    lines.extend(unwrapped.cloned().map(ServerLine::Unwrapped));
    let here = |session: &str| {
        let mut wrappers = model.wrappers.iter().chain(model.servers.ended.iter().map(|(one, _)| one));
        wrappers.any(|one| one.wrapper.session == session)
    };
    let sessions = model.log.counts.iter().flat_map(|counts| &counts.sessions.0);
    let mut past: Vec<_> =
        sessions.filter(|(session, one)| !here(session) && wanted(&one.server, session, one.last, "")).collect();
    past.sort_by_key(|(_, one)| std::cmp::Reverse(one.last));
    // The ended runs of a server are one line: its last run, and how many were before.
    let running = lines.len();
    let counted = |session: &str| model.log.counts.as_ref().and_then(|counts| counts.sessions.0.get(session));
    for (one, when) in model.servers.ended.iter().rev().filter(|(one, when)| of(one, Some(*when))) {
        match lines[running..].iter_mut().find(|line| line.server() == one.wrapper.server) {
            Some(line) => {
                let (calls, failed) = counted(&one.wrapper.session).map_or((0, 0), |one| (one.calls, one.failed));
                line.count(calls, failed);
            }
            None => lines.push(ServerLine::Ended(Box::new(one.clone()), *when, Earlier::default())),
        }
    }
    for (session, one) in past {
        match lines[running..].iter_mut().find(|line| line.server() == one.server) {
            Some(line) => line.count(one.calls, one.failed),
            None => lines.push(ServerLine::Past(session.clone(), Box::new(one.clone()), Earlier::default())),
        }
    }
    lines.truncate(running + PAST);
    lines
}
