//! The lines of Tools: what the log counts, what is remembered of definitions and programs, and what running servers
//! say, each overriding the one before.

use std::collections::BTreeMap;

use crate::audit::fields::{Field, JudgedDetail};
use crate::audit::numbers::Histogram;
use crate::audit::tally::ToolTally;
use crate::behavior::taxonomy::Badge;
use crate::console::model::{Model, Subject, ToolLine, ToolSource};
use crate::link::message::KnownTool;
use crate::operator::pinned::{PinBook, PinnedTool};
use crate::policy::question::rules_name;

/// The tools that the search wants: changed and disputed ones first.
pub(super) fn lines(model: &Model) -> Vec<ToolLine> {
    let mut lines: BTreeMap<(String, String), ToolLine> = BTreeMap::new();
    for (server, tools) in model.browse.counts.iter().flat_map(|counts| &counts.tally.tools) {
        for (tool, counted) in tools {
            lines.insert((server.clone(), tool.clone()), logged(server, tool, counted));
        }
    }
    let none = PinBook::default();
    let book = model.browse.pins.as_deref().unwrap_or(&none);
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
    for (session, tools) in &model.browse.known {
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
    let search = &model.browse.tools.search;
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
    let mut text = format!("{} {} {} {}", line.server, line.tool, line.words, line.identity);
    for part in line
        .tags
        .iter()
        .chain(&line.signature)
        .chain(&line.evidence)
        .chain(line.hazards.iter().flat_map(|(a, b)| [a, b]))
    {
        text.push(' ');
        text.push_str(part);
    }
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

/// Adds the place of a tool's pin, and what only the pin says.
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
