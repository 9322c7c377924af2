//! `mcp-approve help`: the topics of `assets/help/`, laid out from the small part of Markdown they use; a command's help.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write};

use clap::CommandFactory as _;
use unicode_width::UnicodeWidthStr as _;

use crate::cli::args::Cli;
use crate::cli::error::Error;
use crate::console::keymap;
use crate::policy::reading::nearest;

pub const TOPICS: [(&str, &str); 16] = [
    ("hosts", include_str!("../../assets/help/hosts.md")),
    ("judging", include_str!("../../assets/help/judging.md")),
    ("keys", include_str!("../../assets/help/keys.md")),
    ("waiting", include_str!("../../assets/help/waiting.md")),
    ("rules", include_str!("../../assets/help/rules.md")),
    ("hazards", include_str!("../../assets/help/hazards.md")),
    ("search", include_str!("../../assets/help/search.md")),
    ("log", include_str!("../../assets/help/log.md")),
    ("tools", include_str!("../../assets/help/tools.md")),
    ("capabilities", include_str!("../../assets/help/capabilities.md")),
    ("code", include_str!("../../assets/help/code.md")),
    ("config", include_str!("../../assets/help/config.md")),
    ("signing", include_str!("../../assets/help/signing.md")),
    ("desk", include_str!("../../assets/help/desk.md")),
    ("trust", include_str!("../../assets/help/trust.md")),
    ("places", include_str!("../../assets/help/places.md")),
];

/// How many columns a text has without a terminal, and at most, for easy reading.
const PIPED: u16 = 80;
const WIDEST: u16 = 100;

pub(super) fn run(words: &[String], out: &mut dyn Write) -> Result<(), Error> {
    match words {
        [] => Ok(write!(out, "{}\n{}", Cli::command().render_help(), contents())?),
        [word] if let Some(text) = topic(word) => {
            let terminal = io::stdout().is_terminal();
            let columns = crossterm::terminal::size().ok().filter(|_| terminal).map_or(PIPED, |(columns, _)| columns);
            let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            let ink = if colour { Ink::Bold } else { Ink::Plain };
            Ok(write!(out, "{}", laid_out(&blocks(&text), columns.min(WIDEST).into(), ink))?)
        }
        words => command(words, out),
    }
}

pub fn topic(name: &str) -> Option<String> {
    let (_, text) = TOPICS.iter().find(|(known, _)| *known == name)?;
    Some(text.replace("<!-- keys -->\n", &keymap::markdown()))
}

fn contents() -> String {
    let line = |(name, text): &(&str, &str)| {
        let title = text.lines().next().and_then(|line| line.split_once(": ")).map_or("", |(_, title)| title);
        format!("  {name:<13} {title}\n")
    };
    format!("Topics (mcp-approve help TOPIC):\n{}", TOPICS.iter().map(line).collect::<String>())
}

fn command(words: &[String], out: &mut dyn Write) -> Result<(), Error> {
    let mut root = Cli::command();
    root.build();
    let mut found = &root;
    for word in words {
        let Some(next) = found.find_subcommand(word) else {
            let topics = TOPICS.iter().map(|(name, _)| *name).filter(|_| found.get_name() == root.get_name());
            let known: Vec<&str> = found.get_subcommands().map(clap::Command::get_name).chain(topics).collect();
            let word: String = word.chars().flat_map(char::escape_debug).collect();
            let hint = match nearest(&word, &known) {
                Some(near) => format!("did you mean `{} help {near}`?", root.get_name()),
                None => "`mcp-approve help` lists the topics and commands".to_owned(),
            };
            return Err(Error::wrong(format!("there is no help on \"{word}\""), hint));
        };
        found = next;
    }
    let asked = [root.get_name()].into_iter().chain(words.iter().map(String::as_str)).chain(["--help"]);
    match root.clone().try_get_matches_from(asked) {
        Err(help) => Ok(write!(out, "{}", help.render())?),
        Ok(_) => Ok(()),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelpBlock {
    /// `#` or `##`.
    Heading(String),
    Paragraph(String),
    /// `- ` and what belongs to it.
    Item(String),
    /// Between fences; its lines stay as they are.
    Code(Vec<String>),
    /// Rows of cells, the names of the columns first.
    Table(Vec<Vec<String>>),
}

/// How `code` and **strong** appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Code between its ticks.
    Plain,
    Bold,
}

pub fn blocks(text: &str) -> Vec<HelpBlock> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            blocks.push(HelpBlock::Code(lines.by_ref().take_while(|line| *line != "```").map(str::to_owned).collect()));
        } else if let Some(heading) = line.strip_prefix("## ").or_else(|| line.strip_prefix("# ")) {
            blocks.push(HelpBlock::Heading(heading.to_owned()));
        } else if line.starts_with("| ") {
            let mut rows = vec![cells(line)];
            while let Some(row) = lines.next_if(|row| row.starts_with('|')) {
                if !row.starts_with("|-") {
                    rows.push(cells(row));
                }
            }
            blocks.push(HelpBlock::Table(rows));
        } else if !line.is_empty() {
            let mut text = line.to_owned();
            let begins_another = |next: &str| ["| ", "```", "#", "- "].iter().any(|sign| next.starts_with(sign));
            while let Some(next) = lines.next_if(|next| !next.is_empty() && !begins_another(next)) {
                text = text + " " + next.trim_start();
            }
            let item = text.strip_prefix("- ").map(|item| HelpBlock::Item(item.to_owned()));
            blocks.push(item.unwrap_or(HelpBlock::Paragraph(text)));
        }
    }
    blocks
}

/// The cells of `| a | b\|c |`; a bar of the text has a backslash before it.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_matches('|').replace("\\|", "\u{0}");
    row.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

pub fn laid_out(blocks: &[HelpBlock], width: usize, ink: Ink) -> String {
    let mut out = String::new();
    for (at, block) in blocks.iter().enumerate() {
        let goes_on =
            matches!((block, at.checked_sub(1).map(|at| &blocks[at])), (HelpBlock::Item(_), Some(HelpBlock::Item(_))));
        if at > 0 && !goes_on {
            out.push('\n');
        }
        match block {
            HelpBlock::Heading(text) => rows(&[&format!("**{text}**")], &[width], ink, &mut out),
            HelpBlock::Paragraph(text) => rows(&[text], &[width], ink, &mut out),
            HelpBlock::Item(text) => rows(&["-", text], &[1, width.saturating_sub(2)], ink, &mut out),
            HelpBlock::Code(lines) => {
                code(lines, width.saturating_sub(4)).iter().for_each(|line| line_of(&format!("    {line}"), &mut out));
            }
            HelpBlock::Table(cells) => {
                let widths = columns(cells, width, ink);
                // The columns' names are for readers of the source.
                for row in cells.iter().skip(1) {
                    rows(&row.iter().map(String::as_str).collect::<Vec<_>>(), &widths, ink, &mut out);
                }
            }
        }
    }
    out
}

/// Lines of code; where one is too wide, the comment beside each moves above it.
fn code(lines: &[String], width: usize) -> Vec<String> {
    if lines.iter().all(|line| line.width() <= width) {
        return lines.to_vec();
    }
    let above = |line: &String| {
        let (code, comment) = line.rsplit_once("  # ").unwrap_or((line, ""));
        let comment = if comment.is_empty() { Vec::new() } else { wrap(comment, width.saturating_sub(2), Ink::Plain) };
        let comment = comment.into_iter().map(|row| format!("# {row}"));
        comment.chain([code.trim_end().to_owned()]).collect::<Vec<_>>()
    };
    lines.iter().flat_map(above).collect()
}

fn line_of(text: &str, out: &mut String) {
    out.push_str(text.trim_end());
    out.push('\n');
}

/// How wide each column is: as wide as its widest cell, and the widest ones share what does not fit.
fn columns(rows: &[Vec<String>], width: usize, ink: Ink) -> Vec<usize> {
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |at: usize| rows.iter().skip(1).filter_map(|row| row.get(at)).map(|cell| measure(cell, ink)).max();
    let mut widths: Vec<usize> = (0..count).map(|at| widest(at).unwrap_or_default()).collect();
    let room = width.saturating_sub(2 * count.saturating_sub(1)).max(8 * count);
    while widths.iter().sum::<usize>() > room
        && let Some(widest) = widths.iter_mut().max()
    {
        *widest -= 1;
    }
    widths
}

fn rows(cells: &[&str], widths: &[usize], ink: Ink, out: &mut String) {
    let gap = if cells.first() == Some(&"-") { 1 } else { 2 };
    let wrapped: Vec<Vec<(String, usize)>> =
        cells.iter().zip(widths).map(|(cell, width)| inked(&wrap(cell, *width, ink), ink)).collect();
    for at in 0..wrapped.iter().map(Vec::len).max().unwrap_or_default() {
        let mut line = String::new();
        for (cell, width) in wrapped.iter().zip(widths) {
            let (text, taken) = cell.get(at).map_or(("", 0), |(text, taken)| (text.as_str(), *taken));
            let _ = write!(line, "{text}{:1$}", "", width.saturating_sub(taken) + gap);
        }
        line_of(&line, out);
    }
}

/// Breaks a text at its spaces. A longer word has a line of its own.
fn wrap(text: &str, width: usize, ink: Ink) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if measure(line, ink) + 1 + measure(word, ink) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn measure(text: &str, ink: Ink) -> usize {
    let text = text.replace("**", "");
    text.width() - if ink == Ink::Bold { text.matches('`').count() } else { 0 }
}

/// Draws the marks; returns each line with its width. One open at a line's end is opened again in the next line.
fn inked(lines: &[String], ink: Ink) -> Vec<(String, usize)> {
    let mut open = false;
    let drawn = lines.iter().map(|line| {
        let taken = measure(line, ink);
        if ink == Ink::Plain {
            return (line.replace("**", ""), taken);
        }
        let mut pieces = line.replace("**", "`");
        pieces = pieces
            .split('`')
            .enumerate()
            .map(|(at, piece)| {
                open ^= at > 0;
                if open && !piece.is_empty() { format!("\u{1b}[1m{piece}\u{1b}[22m") } else { piece.to_owned() }
            })
            .collect();
        (pieces, taken)
    });
    drawn.collect()
}
