//! What is reviewed: a changed policy, a suggested rule, what changed of a tool's definition or a server's program, the page
//! of a server with its marks. Decides nothing.

use ratatui::layout::Rect;

use super::maker::{past_call, replayed, writes, written};
use crate::behavior::{Identity, Mutability};
use crate::console::card::size;
use crate::console::model::{Model, OpenPage, Overlay, Review, ReviewOf, RuleStage};
use crate::console::rows::{Entries, Panel, caption, content_rows, ends};
use crate::home::places::quoted;
use crate::link::message::PinState;
use crate::operator::pinned::{PinnedProgram, PinnedTool};
use crate::operator::tried::SuggestedRule;
use crate::pins::diff::{Argument, Diff};
use crate::pins::page::{Group, Line, Offer};
use crate::policy::{Pending, rule::FirstUse};
use crate::text::row::{Row, Tone, border, danger, good, key, ours, quiet, strong, warn};
use crate::text::{columns::NameColumn, plain::visible};
use crate::wire::counted;

const CALLS: usize = 6;

pub fn panel(model: &Model, review: &Review, area: Rect) -> Panel {
    let width = usize::from(area.width);
    let room = content_rows(area);
    let mut all = rows(model, review, width);
    let below = all.len().saturating_sub(review.top + room);
    let (title, hint) = match &review.subject {
        ReviewOf::Policy { pending, .. } => (
            strong(format!(" Changed {} policy ", pending.layer.word())).and_foreign(Tone::Ours, &pending.file),
            "until you accept it, it allows nothing new ",
        ),
        ReviewOf::Definition(tool) => (
            strong(" Review ")
                .and_foreign(Tone::Strong, &tool.known.tool)
                .quiet(" of ")
                .and_foreign(Tone::Ours, &tool.server),
            "until it is accepted, no allow rule covers it ",
        ),
        ReviewOf::Program(program) => (
            strong(" The program of ").and_foreign(Tone::Strong, &program.server.name),
            "until it is accepted, no allow rule covers it ",
        ),
        ReviewOf::Written => (strong(" Replay"), "the policy as it is written, on the calls of the log "),
        ReviewOf::Page(open) => {
            (strong(" The page of ").and_foreign(Tone::Strong, &open.page.server), "space marks or unmarks a line ")
        }
        ReviewOf::Suggested(rule) => {
            (strong(" Suggested: allow ").joined(rule.covers()), "from the log; nothing is written yet ")
        }
    };
    let last = match below {
        0 => last(review),
        _ => warn(format!(" … {} below · PgDn", counted(below, "more line"))),
    };
    let rows = all.split_off(review.top.min(all.len()));
    Panel { title: ends(title, quiet(hint), width), rows, last }
}

fn last(review: &Review) -> Row {
    match (&review.subject, review.stage) {
        (ReviewOf::Written, _) => quiet(" Esc goes back"),
        (ReviewOf::Policy { .. }, _) if review.past.goes_on() => quiet(" What it would change is still being counted"),
        (ReviewOf::Policy { .. } | ReviewOf::Program(_), RuleStage::Choosing) => {
            quiet(" Enter, twice, accepts this change; Esc leaves it as it is")
        }
        (ReviewOf::Definition(_), RuleStage::Choosing) => {
            quiet(" Enter, twice, accepts it; x refuses it; Esc leaves it as it is")
        }
        (ReviewOf::Policy { .. } | ReviewOf::Definition(_) | ReviewOf::Program(_), RuleStage::Sure) => {
            danger(" Accept exactly this change? Enter once more; Esc leaves it")
        }
        (ReviewOf::Page(open), _) => match open.marked.len() {
            0 => quiet(" Nothing is marked; Esc leaves it as it is"),
            marked => {
                let lines = counted(marked, "marked line");
                key(" Enter").ours(format!(" agrees to the {lines}")).quiet("; Esc leaves it as it is")
            }
        },
        (ReviewOf::Suggested(rule), stage) => writes(stage, rule.warnings.is_empty()),
    }
}

pub fn rows_below(model: &Model) -> usize {
    let Some(Overlay::Review(review)) = &model.overlay else { return 0 };
    let area = model.areas().body;
    rows(model, review, usize::from(area.width)).len().saturating_sub(review.top + content_rows(area))
}

fn rows(model: &Model, review: &Review, width: usize) -> Vec<Row> {
    match &review.subject {
        ReviewOf::Policy { pending, .. } => {
            let mut rows = vec![strong(" What it newly allows:")];
            for line in &pending.loosens {
                rows.extend(warn(" ▲ ").and_foreign(Tone::Warn, line).hung(width, 3));
            }
            rows.push(strong(" It alone would change, from the log:"));
            rows.extend(replayed(model, &review.past, CALLS, width));
            rows.push(strong(" The change:"));
            rows.extend(diff(pending, width));
            rows
        }
        ReviewOf::Definition(tool) => definition(model, tool, width),
        ReviewOf::Program(changed) => program(changed, width),
        ReviewOf::Written => replayed(model, &review.past, usize::MAX, width),
        ReviewOf::Suggested(rule) => suggested(model, rule, width),
        ReviewOf::Page(open) => page_rows(open, width),
    }
}

/// The lines that change, with some around. A run of comments is one row: they decide nothing.
fn diff(pending: &Pending, width: usize) -> Vec<Row> {
    const FEW: usize = 3;
    let said = |line: &str| line.get(1..).unwrap_or_default().trim_start().to_owned();
    let is_comment = |line: &&str| said(line).starts_with('#') || said(line).is_empty();
    let lines: Vec<&str> =
        pending.diff.lines().filter(|line| !line.starts_with("---") && !line.starts_with("+++")).collect();
    // In a text of several lines, what looks like a comment is none.
    let is_quoted = pending.diff.contains("\"\"\"") || pending.diff.contains("'''");
    let mut rows = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let comments = lines[at..].iter().take_while(|line| is_comment(line)).count();
        if comments > FEW && !is_quoted {
            rows.push(border(" ┃ ").quiet(format!("… {}", counted(comments, "line of comments|lines of comments"))));
            at += comments;
            continue;
        }
        at += 1;
        let tone = match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Danger,
            _ => Tone::Quiet,
        };
        rows.extend(border(" ┃ ").and_foreign(tone, line).hung(width, 3));
    }
    rows
}

fn suggested(model: &Model, rule: &SuggestedRule, width: usize) -> Vec<Row> {
    let mut rows = written(&rule.toml, width);
    for warning in &rule.warnings {
        rows.extend(warn(" ▲ ").and_foreign(Tone::Warn, warning).hung(width, 3));
    }
    rows.push(caption("it would have saved", &counted(rule.saves, "question"), width));
    rows.extend(quiet(" all ran, approved or observed; no call it covers was denied").hung(width, 1));
    rows.extend(rule.lines.iter().map(|call| past_call(model, call, width)));
    let more = rule.saves.saturating_sub(rule.lines.len());
    if more > 0 {
        rows.push(quiet(format!("   and {} before these", counted(more, "call"))));
    }
    rows
}

/// How many bytes of what changed a sheet shows.
const GLIMPSE: usize = 16 << 10;
/// How many bytes a review shows at most: a longer text would not be read.
const READ: usize = 256 << 10;

fn definition(model: &Model, tool: &PinnedTool, width: usize) -> Vec<Row> {
    let known = &tool.known;
    let what = match known.pin {
        PinState::Changed { version, .. } => {
            format!("the server gives another definition than the trusted one; this is version {version}")
        }
        PinState::Unreviewed => "not reviewed yet, and the server is not trusted on first sight".to_owned(),
        PinState::New => "the server added it after its first session, and it is not reviewed yet".to_owned(),
        PinState::Refused => "you refused this definition: its calls are denied".to_owned(),
        PinState::Trusted => "it is the trusted one".to_owned(),
    };
    let mut rows = Entries::new(width);
    rows.ours("what", what);
    rows.entry("now", identity(known.identity));
    match tool.was {
        Some(was) if was == known.identity => rows.ours("was", "the same"),
        Some(was) => rows.entry("was", identity(was).danger("  the identity changed")),
        None => {}
    }
    rows.foreign("signature", &known.signature);
    grown(tool, &mut rows);
    for hazard in &known.hazards {
        rows.hazard(hazard.kind.word(), &hazard.what);
    }
    if is_beyond_reading(tool) {
        rows.caption("what changed", &size(length(tool)));
        let words = "▲ too long to be read here, so it cannot be accepted here. To see it: mcp-approve tools review";
        rows.says("", Tone::Danger, model.hint(words));
    } else {
        differences_caption(tool, &mut rows);
        differences(tool, &mut rows);
    }
    rows.caption("what your answer does", "recorded in the log; u on Tools takes it back");
    let mut accept = ours("pressed twice: this definition is trusted from now on. ");
    accept = applies_again(accept, &tool.rules, "it");
    if known.disputed {
        let words =
            " Its evidence still contradicts itself, which counts as MUTATES. To say what it is: mcp-approve tools pin";
        let words =
            format!("{} {} {}", model.hint(words), quoted(&visible(&tool.server)), quoted(&visible(&known.tool)));
        accept = accept.and_foreign(Tone::Warn, &words);
    }
    rows.entry("Enter", accept);
    rows.ours("x", "it is refused: its calls are denied until it is accepted or changes again");
    rows.ours("Esc", "it waits: its calls are asked, and no allow rule covers them");
    rows.rows
}

fn program(program: &PinnedProgram, width: usize) -> Vec<Row> {
    const GONE: (&str, Tone) = (" - ", Tone::Danger);
    const SAME: (&str, Tone) = ("   ", Tone::Quiet);
    const ADDED: (&str, Tone) = (" + ", Tone::Good);
    let mut rows = Entries::new(width);
    let side = |rows: &mut Entries, (mark, tone): (&str, Tone), text: &str| {
        rows.hung(Row::of(tone, mark).and_foreign(tone, text), 3);
    };
    rows.foreign("what", &program.why);
    rows.foreign("runs", &program.server.command);
    let arguments = program.server.arguments();
    if !arguments.is_empty() {
        rows.caption("the command line", "- trusted  + what runs now");
    }
    for argument in &arguments {
        match argument {
            Argument::Same(text) => side(&mut rows, SAME, text),
            Argument::Gone(text) => side(&mut rows, GONE, text),
            Argument::Added(text) => side(&mut rows, ADDED, text),
        }
    }
    let trusted: Vec<&str> = program.server.trusted.as_deref().unwrap_or_default().lines().collect();
    let now: Vec<&str> = program.server.program.lines().collect();
    rows.caption("the files", "- trusted  + what runs now");
    for file in trusted.iter().filter(|file| !now.contains(file)) {
        side(&mut rows, GONE, file);
    }
    for file in &now {
        side(&mut rows, if trusted.contains(file) { SAME } else { ADDED }, file);
    }
    if now.is_empty() {
        rows.ours("", "none of its files could be found");
    }
    rows.ours("", "what the program loads besides (modules, packages) is not checked");
    rows.caption("what your answer does", "recorded in the log; u on Tools takes it back");
    let accept = ours("pressed twice: this command line and these files are trusted from now on. ");
    rows.entry("Enter", applies_again(accept, &program.rules, "its tools"));
    rows.ours("Esc", "it waits: calls of its tools are asked, and no allow rule covers them");
    rows.rows
}

/// The same for a sheet, which is laid out for each frame: a long change is left out, with a note.
pub(super) fn glimpse(tool: &PinnedTool, rows: &mut Entries) {
    let bytes = length(tool);
    if bytes <= GLIMPSE {
        differences_caption(tool, rows);
        grown(tool, rows);
        return differences(tool, rows);
    }
    rows.caption("what changed", &size(bytes));
    grown(tool, rows);
    rows.entry("", warn("too long to show here: ").key("Enter").ours(" reads it"));
}

/// What the tool can do beyond what was accepted; the signature beside it says what it is now.
fn grown(tool: &PinnedTool, rows: &mut Entries) {
    let Some(grown) = &tool.grown else { return };
    let row = match &grown.before {
        None => danger("a capability that was not accepted"),
        Some(before) => danger("wider than it was: ").and_foreign(Tone::Ours, before),
    };
    rows.entry("grown", row);
    if grown.now != tool.known.signature {
        rows.entry("", quiet("now ").and_foreign(Tone::Ours, &grown.now));
    }
}

/// Whether a definition is longer than can be read here: it is neither shown nor accepted.
pub(in crate::console) fn is_beyond_reading(tool: &PinnedTool) -> bool {
    length(tool) > READ
}

fn length(tool: &PinnedTool) -> usize {
    let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    match tool.changes.as_slice() {
        [] => tool.definition.len(),
        changes => changes.iter().map(|one| one.place.len() + of(&one.before) + of(&one.after)).sum(),
    }
}

fn differences_caption(tool: &PinnedTool, rows: &mut Entries) {
    let places = counted(tool.changes.len(), "place");
    match tool.changes.is_empty() {
        true => rows.caption("the definition", "no trusted one to compare it with"),
        false => rows.caption("what changed", &format!("{places} · - trusted  + what it says now")),
    }
}

fn differences(tool: &PinnedTool, rows: &mut Entries) {
    if tool.changes.is_empty() {
        for line in tool.definition.lines() {
            rows.hung(border(" ┃ ").and_foreign(Tone::Foreign, line), 3);
        }
    }
    for change in &tool.changes {
        difference(change, rows);
    }
}

fn difference(change: &Diff, rows: &mut Entries) {
    rows.hung(ours(" ").and_foreign(Tone::Strong, &change.place), 3);
    let (before, after) = (change.before.as_deref().unwrap_or(""), change.after.as_deref().unwrap_or(""));
    let (head, tail) = alike(before, after);
    let side = |mark: &str, text: &str, tone: Tone| {
        let (same, rest) = text.split_at(head);
        let (other, end) = rest.split_at(rest.len() - tail);
        let row = word_by_word(Row::of(tone, mark), Tone::Quiet, same, !rest.is_empty());
        word_by_word(row, tone, other, !end.is_empty()).and_foreign(Tone::Quiet, end)
    };
    if change.before.is_some() {
        rows.hung(side("   - ", before, Tone::Danger), 5);
    }
    if change.after.is_some() {
        rows.hung(side("   + ", after, Tone::Good), 5);
    }
}

/// Adds foreign text. If the text goes on, the space at its end is an ordinary one and needs no mark.
fn word_by_word(row: Row, tone: Tone, text: &str, goes_on: bool) -> Row {
    match text.strip_suffix(' ') {
        Some(text) if goes_on => row.and_foreign(tone, text).and(tone, " "),
        Some(_) | None => row.and_foreign(tone, text),
    }
}

/// How many bytes two texts have in common at their beginnings and at their ends, in whole words and not twice.
fn alike(one: &str, other: &str) -> (usize, usize) {
    let word = |text: &str| text.split_inclusive(' ').map(str::to_owned).collect::<Vec<_>>();
    let (one, other) = (word(one), word(other));
    let head = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let rest = one.len().min(other.len()) - head;
    let tail = one.iter().rev().zip(other.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let bytes = |words: &[String]| words.iter().map(String::len).sum();
    (bytes(&one[..head]), bytes(&one[one.len() - tail..]))
}

fn applies_again(row: Row, rules: &[String], of: &str) -> Row {
    if rules.is_empty() {
        return row.quiet(format!("No allow rule names {of}, so the policy decides as before."));
    }
    let mut row = row.warn(format!("Allow rules apply to {of} again: "));
    for (at, rule) in rules.iter().enumerate() {
        if at > 0 {
            row.push(Tone::Quiet, ", ");
        }
        row = row.and_foreign(Tone::Strong, rule);
    }
    row
}

fn identity(identity: Identity) -> Row {
    let badge = match identity.mutability {
        Mutability::Pure => good("○ "),
        Mutability::Mutates => warn("● "),
    };
    badge.ours(identity.to_string()).quiet(format!(" · {}", identity.hash()))
}

/// Columns before a tool's name: the selection and the mark.
const LEADING: usize = 7;

pub fn page_rows(open: &OpenPage, width: usize) -> Vec<Row> {
    page_lines(open, width).into_iter().map(|(_, row)| row).collect()
}

pub(in crate::console) fn page_lines(open: &OpenPage, width: usize) -> Vec<(Option<usize>, Row)> {
    let all = &open.page.lines;
    let names = || all.iter().map(|line| line.tool.as_str());
    let name = NameColumn::of(names(), (width / 3).min(32));
    let mut rows = Vec::new();
    for group in Group::ALL {
        let of_group = || all.iter().enumerate().filter(|(_, line)| line.group == *group);
        if !rows.is_empty() {
            rows.push((None, Row::default()));
        }
        let (title, note) = page_heading(open, *group);
        rows.push((None, caption(title, &note, width)));
        if of_group().next().is_none() {
            rows.push((None, quiet(" ".repeat(LEADING)).quiet(nothing(*group))));
        }
        for (at, line) in of_group() {
            let own = page_row(open, at, line, &name)
                .hung(width, LEADING + if line.tool.is_empty() { 2 } else { name.width + 2 });
            rows.extend(own.into_iter().map(|row| (Some(at), row)));
        }
    }
    rows
}

fn page_row(open: &OpenPage, at: usize, line: &Line, name: &NameColumn) -> Row {
    let row = if open.at == at { key(" ▸ ") } else { ours("   ") };
    let row = match line.offer {
        Offer::Nothing => row.ours("    "),
        Offer::Agreed => row.joined(good(" ✓  ")),
        Offer::Agree(_) | Offer::Reads(_) if open.marked.contains(&at) => row.joined(key("[x] ")),
        Offer::Agree(_) | Offer::Reads(_) => row.joined(key("[ ] ")),
    };
    let tone = if line.group == Group::Changes { Tone::Quiet } else { Tone::Strong };
    let row =
        if line.tool.is_empty() { row } else { row.joined(name.cell(tone, &line.tool).padded(name.width)).ours("  ") };
    match line.group {
        Group::Reads | Group::New => row.and_foreign(Tone::Ours, &line.says),
        Group::Changes => row.joined(warn("● ")).and_foreign(Tone::Quiet, &line.says),
    }
}

fn page_heading(open: &OpenPage, group: Group) -> (&'static str, String) {
    match group {
        Group::Reads => {
            let of_group = |at: &&usize| open.page.lines.get(**at).is_some_and(|line| line.group == Group::Reads);
            let marked = open.marked.iter().filter(of_group).count();
            let asks = match open.page.first_use {
                FirstUse::AskOnce => "each asks once until you agree",
                FirstUse::Allow => "run unasked; what is not sure asks once",
            };
            ("reads", format!("{asks} · {marked} marked"))
        }
        Group::New => ("what is new about them", "asks once, unless you agree to it here".to_owned()),
        Group::Changes => ("what changes something", "asks each time".to_owned()),
    }
}

fn nothing(group: Group) -> &'static str {
    match group {
        Group::Reads => "No tool of this server is known to read: each call asks.",
        Group::New => "The definitions tell of nothing that would be new.",
        Group::Changes => "Nothing.",
    }
}
