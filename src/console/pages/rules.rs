//! The Rules screen: each rule with its file, what it decided by the log, its end and its warnings.

use crate::console::maker;
use crate::console::model::{Model, RuleEntry, RuleHits};
use crate::console::rows::{Entries, NARROW};
use crate::link::message::GrantCard;
use crate::operator::{found::RuleLine, record_row::rule_says, tried::SuggestedRule};
use crate::policy::{Decision, Pending, rule::Defaults, rules_name};
use crate::text::columns::{Columns, fitted, widest};
use crate::text::row::{Row, Tone, danger, foreign, good, key, ours, quiet, strong, warn};
use crate::text::time;
use crate::wire::{counted, number::grouped};

/// Days before its end from which on a rule's end is marked.
const SOON: i64 = 7 * 86_400_000;

pub(super) fn title(model: &Model) -> Row {
    let Some(book) = &model.rules.book else { return strong(" Rules") };
    let row = strong(" Rules").quiet(format!(" · {}", counted(book.rules.len(), "rule")));
    let count = |one: fn(&RuleEntry) -> bool| model.rules.lines.iter().filter(|line| one(line)).count();
    let granted = count(|line| matches!(line, RuleEntry::Grant { .. }));
    let waits = count(|line| matches!(line, RuleEntry::Waits { .. }));
    let suggested = count(|line| matches!(line, RuleEntry::Suggested(_)));
    let notes = [
        (granted, Tone::Warn, counted(granted, "grant")),
        (waits, Tone::Danger, counted(waits, "change") + " to accept"),
        (suggested, Tone::Key, counted(suggested, "suggestion")),
    ];
    let notes = notes.into_iter().filter(|(count, ..)| *count > 0);
    let row = notes.fold(row, |row, (_, tone, words)| row.and(tone, format!(" · {words}")));
    let Defaults { pure, likely, mutates, hazard, .. } = book.defaults;
    let (pure, likely, mutates, hazard) = (pure.word(), likely.word(), mutates.word(), hazard.word());
    row.quiet(format!(" · else: pure {pure}, likely {likely}, mutates {mutates}, hazard {hazard}"))
}

pub(super) fn heading(model: &Model, _: usize) -> Row {
    let Some(book) = &model.rules.book else { return quiet(" reading the policy …") };
    if let Some(broken) = &book.broken {
        return danger(" ▲ ").and_foreign(Tone::Danger, broken);
    }
    let mut row = quiet(if book.built_in { " built-in default, until there is " } else { " " });
    for file in &book.files {
        row = row.and_foreign(Tone::Quiet, &file.display().to_string()).quiet("  ");
    }
    row
}

pub(super) fn empty(model: &Model) -> Vec<Row> {
    let Some(book) = &model.rules.book else { return Vec::new() };
    if let Some(broken) = &book.broken {
        return vec![
            danger("The policy is broken: until you fix it, each call that is not denied waits for you."),
            foreign(Tone::Ours, broken),
        ];
    }
    let file = book.files.first().map(|file| file.display().to_string()).unwrap_or_default();
    vec![
        strong("There are no rules yet."),
        ours("What only reads passes; what changes something asks. ").key("r").ours(" on a waiting call makes one."),
        suggests(model),
        Row::default(),
        ours("A rule in ").and_foreign(Tone::Ours, &file).ours(" answers for you:"),
        key("  [[rule]]"),
        key("  id = \"notes\""),
        key("  decision = \"allow\""),
        key("  server = \"memory\""),
        key("  tool = \"add_observations\""),
    ]
}

/// How far the search for suggestions is, if there is none to list.
fn suggests(model: &Model) -> Row {
    let attempt = &model.rules.suggested;
    match &attempt.found {
        _ if attempt.failed.is_some() => {
            let why = attempt.failed.as_deref().unwrap_or_default();
            warn("The log suggests nothing: ").and_foreign(Tone::Warn, why)
        }
        None => quiet("The log is being read for rules that would have saved questions …"),
        Some(found) if found.calls == 0 => {
            ours("No call was decided yet. Wrap with --observe for a day, and rules are suggested here.")
        }
        Some(found) => {
            let calls = counted(found.calls, "decided call");
            ours(format!("No rule to suggest from {calls}: that takes two similar calls, both approved."))
        }
    }
}

pub(super) fn lines(model: &Model, range: std::ops::Range<usize>, width: usize) -> Vec<Row> {
    let shown = || model.rules.lines.iter().take(500);
    let hits = shown().map(|line| if let RuleEntry::Rule(line) = line { line.hits } else { 0 }).max().unwrap_or(0);
    let last = shown().map(|line| last(model, line).width()).max().unwrap_or(0);
    let id = widest(shown().filter_map(RuleEntry::rule)).clamp(4, 24);
    let wants = [(0, id, 12), (2, 30, 16), (1, grouped(hits).len().max(4), 4), (1, last, last)];
    // What a rule is for matters more than when it last decided, and how often.
    let [id, _, hits, last] = fitted(width.saturating_sub(10), wants, &[3, 2]);
    let columns = Columns::default().left(0, 3, "").left(0, 7, "").left(0, id, "").right(1, hits, "");
    let columns = columns.right(1, last, "").rest(2);
    range.filter_map(|at| model.rules.lines.get(at)).map(|line| entry_row(model, line, &columns, width)).collect()
}

fn entry_row(model: &Model, line: &RuleEntry, columns: &Columns, width: usize) -> Row {
    match line {
        RuleEntry::Rule(hits) => row(model, line, hits, columns),
        RuleEntry::Waits { pending, .. } => danger(" Δ waits  ")
            .strong(format!("{} policy changed: ", pending.layer.word()))
            .and_foreign(Tone::Ours, pending.loosens.first().map_or("", String::as_str))
            .quiet(if pending.loosens.len() > 1 { " …" } else { "" })
            .key("  Enter")
            .quiet(" shows it"),
        RuleEntry::Suggested(rule) => suggested(rule, width),
        RuleEntry::Grant { server, card, .. } => {
            let rest = match width {
                ..NARROW => Row::default(),
                _ => foreign(Tone::Quiet, server).quiet("/"),
            };
            columns.row([
                warn(" ◷ "),
                good("grant"),
                foreign(Tone::Strong, &card.id),
                ours(grouped(u64::from(card.used))),
                last(model, line),
                rest.and_foreign(Tone::Strong, &card.tool).quiet(": ").joined(maker::covers(card)),
            ])
        }
    }
}

fn suggested(rule: &SuggestedRule, width: usize) -> Row {
    let row = key(" + suggest ");
    let saves = counted(rule.saves, "question");
    // The tool is before it.
    let says = rule.scope.narrowed().unwrap_or_else(|| rule.scope.says());
    let row = if width < NARROW {
        row.strong(format!("{:>4} ", grouped(rule.saves)))
    } else {
        row.strong(format!("saves {saves:<14} "))
    };
    let row = row.and_foreign(Tone::Ours, rules_name(&rule.server)).quiet("/");
    row.and_foreign(Tone::Strong, &rule.tool).quiet(": ").and_foreign(Tone::Ours, &says)
}

fn rule<'a>(model: &'a Model, line: &RuleHits) -> Option<&'a RuleLine> {
    model.rules.book.as_ref()?.rules.get(line.at?)
}

fn row(model: &Model, entry: &RuleEntry, line: &RuleHits, columns: &Columns) -> Row {
    let rule = rule(model, line);
    let warned = rule.is_some_and(|rule| !rule.warnings.is_empty());
    let mut rest = Row::default();
    if let Some(end) = rule.and_then(|rule| rule.expires) {
        rest = expiry(end, model).ours("  ");
    }
    let selects = rule.map(selects).unwrap_or_else(|| quiet(gone(model)));
    columns.row([
        if warned { warn(" ▲ ") } else { Row::default() },
        match rule {
            Some(rule) if rule.disabled => quiet("off"),
            Some(rule) if waits(model, &rule.id) => danger("waits"),
            Some(rule) => rule_says(rule.decision, rule.result),
            None => quiet("gone"),
        },
        foreign(Tone::Strong, &line.id),
        ours(grouped(line.hits)),
        last(model, entry),
        rest.joined(selects),
    ])
}

/// When a rule last decided, or what is left of a grant.
fn last(model: &Model, line: &RuleEntry) -> Row {
    match line {
        RuleEntry::Rule(line) => match line.last {
            Some(at) => quiet(format!("{} ago", time::span(model.now - at))),
            None => quiet("never"),
        },
        RuleEntry::Grant { card, .. } => warn(maker::left_of(card, model.now)),
        RuleEntry::Waits { .. } | RuleEntry::Suggested(_) => Row::default(),
    }
}

/// Where a rule is that decided, and that no file has now.
fn gone(model: &Model) -> &'static str {
    match &model.rules.book {
        Some(book) if book.broken.is_some() => "its file cannot be read as it is now",
        Some(_) | None => "no policy file has it now",
    }
}

/// Whether a rule is new in a file that waits to be accepted: it decides nothing yet.
fn waits(model: &Model, id: &str) -> bool {
    model.pending().any(|(_, pending)| pending.suspends(id))
}

fn expiry(end: i64, model: &Model) -> Row {
    match end - model.now {
        ..=0 => warn("expired"),
        left @ ..=SOON => warn(format!("{} left", time::span(left))),
        left => quiet(format!("{} left", time::span(left))),
    }
}

fn selects(rule: &RuleLine) -> Row {
    if rule.selects.is_empty() {
        return warn("every call");
    }
    let mut row = Row::default();
    for (at, (name, value)) in rule.selects.iter().enumerate() {
        let between = if at == 0 { "" } else { ", " };
        row = row.quiet(format!("{between}{name} ")).and_foreign(Tone::Ours, value);
    }
    row
}

pub(super) fn sheet(model: &Model, at: usize, width: usize) -> Vec<Row> {
    let mut rows = Entries::new(width);
    match model.rules.lines.get(at) {
        None => rows.hung(quiet(" This rule is in no file, and the log does not name it."), 1),
        Some(RuleEntry::Rule(line)) => rule_sheet(model, line, &mut rows),
        Some(RuleEntry::Grant { server, card, .. }) => grant_sheet(model, server, card, &mut rows),
        // Enter shows these as a review; what is beside the list is the gist of it.
        Some(RuleEntry::Waits { pending, .. }) => waits_sheet(pending, &mut rows),
        Some(RuleEntry::Suggested(rule)) => suggested_sheet(rule, &mut rows),
    }
    rows.rows
}

fn rule_sheet(model: &Model, line: &RuleHits, rows: &mut Entries) {
    let date = |at: i64| time::date(at, model.settings.offset);
    rows.entry("rule", foreign(Tone::Strong, &line.id));
    let rule = rule(model, line);
    match rule {
        None => {
            let words =
                "no policy file that this console reads has it; it decided before, or for a wrapper with --policy";
            rows.ours("gone", words);
        }
        Some(rule) => {
            rows.entry("decision", rule_says(rule.decision, rule.result));
            if rule.disabled {
                rows.says("", Tone::Warn, "off: it decides nothing until it is switched on");
            }
            if waits(model, &rule.id) {
                let words = "▲ it waits to be accepted, and decides nothing until then: Enter on the line Δ above";
                rows.says("", Tone::Danger, words);
            }
            let file = model.rules.book.as_ref().and_then(|book| book.files.get(rule.file));
            let file = file.map(|file| format!("{}:{}", file.display(), rule.line)).unwrap_or_default();
            rows.foreign("file", &file);
            for (name, value) in &rule.selects {
                rows.foreign(name, value);
            }
            if rule.selects.is_empty() {
                rows.ours("matches", "every call");
            }
            if let Some(end) = rule.expires {
                let until = ours(date(end)).quiet(" · ");
                rows.entry("expires", until.joined(expiry(end, model)));
            }
            rows.foreign("note", rule.note.as_deref().unwrap_or_default());
            for warning in &rule.warnings {
                let row = warn("▲ ").and_foreign(Tone::Warn, &warning.what);
                rows.entry("warning", row.ours("; ").and_foreign(Tone::Ours, &warning.hint));
            }
        }
    }
    rows.caption("what it decided", "from the log");
    rows.ours("hits", grouped(line.hits));
    rows.ours("last", line.last.map_or_else(|| "never".to_owned(), date));
    if rule.is_some_and(|rule| rule.decision == Decision::Ask) {
        rows.ours("", "an ask counts only where no operator answered: then the rule denied");
    }
    match rule {
        Some(rule) => {
            let switch = ("t", if rule.disabled { "on" } else { "off" });
            rows.keys(&[("3", "its calls"), ("x", "removes it"), switch, ("Esc", "back")]);
        }
        None => rows.keys(&[("3", "its calls"), ("Esc", "back")]),
    }
}

fn waits_sheet(pending: &Pending, rows: &mut Entries) {
    rows.foreign("file", &pending.file);
    for (at, line) in pending.loosens.iter().enumerate() {
        let row = warn("▲ ").and_foreign(Tone::Warn, line);
        rows.entry(if at == 0 { "loosens" } else { "" }, row);
    }
    rows.keys(&[("Enter", "shows the change, and what it would change of past rulings")]);
}

fn suggested_sheet(rule: &SuggestedRule, rows: &mut Entries) {
    rows.entry("would allow", rule.covers());
    rows.foreign("server", rules_name(&rule.server));
    let saves = counted(rule.saves, "question");
    rows.ours("saves", format!("{saves}: all ran, approved or observed; no call it covers was denied"));
    for call in rule.lines.iter().take(3) {
        rows.foreign("", &call.target);
    }
    rows.keys(&[("Enter", "shows the rule and its calls, to be written"), ("x", "drops it")]);
}

fn grant_sheet(model: &Model, server: &str, card: &GrantCard, rows: &mut Entries) {
    let date = |at: i64| time::date(at, model.settings.offset);
    rows.entry("grant", foreign(Tone::Strong, &card.id));
    rows.foreign("server", server);
    rows.foreign("tool", &card.tool);
    rows.entry("covers", maker::covers(card));
    rows.says("left", Tone::Warn, maker::left_of(card, model.now));
    if let Some(until) = card.until {
        rows.ours("ends", date(until));
    }
    rows.ours("ends also", "with this server's session, or once the tool's definition changes");
    let given = ours(date(card.given)).quiet(" by ").and_foreign(Tone::Ours, &card.who);
    rows.entry("given", given.quiet(", with ").and_foreign(Tone::Ours, &card.ticket));
    rows.ours("approved", counted(card.used, "call"));
    rows.keys(&[("x", "ends it now"), ("3", "its calls"), ("Esc", "back")]);
}
