//! A help topic as text: the small part of Markdown that topics are written in, laid out for a width. Reads no file.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

/// A piece of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
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
    /// In the terminal's bold.
    Bold,
}

/// Reads a topic.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            blocks.push(Block::Code(lines.by_ref().take_while(|line| *line != "```").map(str::to_owned).collect()));
        } else if let Some(heading) = line.strip_prefix("## ").or_else(|| line.strip_prefix("# ")) {
            blocks.push(Block::Heading(heading.to_owned()));
        } else if line.starts_with("| ") {
            let mut rows = vec![cells(line)];
            while let Some(row) = lines.next_if(|row| row.starts_with('|')) {
                if !row.starts_with("|-") {
                    rows.push(cells(row));
                }
            }
            blocks.push(Block::Table(rows));
        } else if !line.is_empty() {
            let mut text = line.to_owned();
            let begins_another = |next: &str| ["| ", "```", "#", "- "].iter().any(|sign| next.starts_with(sign));
            while let Some(next) = lines.next_if(|next| !next.is_empty() && !begins_another(next)) {
                text = text + " " + next.trim_start();
            }
            let item = text.strip_prefix("- ").map(|item| Block::Item(item.to_owned()));
            blocks.push(item.unwrap_or(Block::Paragraph(text)));
        }
    }
    blocks
}

/// The cells of `| a | b\|c |`; a bar of the text has a backslash before it.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_matches('|').replace("\\|", "\u{0}");
    row.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

/// Lays a topic out for a width in columns.
pub fn laid_out(blocks: &[Block], width: usize, ink: Ink) -> String {
    let mut out = String::new();
    for (at, block) in blocks.iter().enumerate() {
        let goes_on =
            matches!((block, at.checked_sub(1).map(|at| &blocks[at])), (Block::Item(_), Some(Block::Item(_))));
        if at > 0 && !goes_on {
            out.push('\n');
        }
        match block {
            Block::Heading(text) => rows(&[&format!("**{text}**")], &[width], ink, &mut out),
            Block::Paragraph(text) => rows(&[text], &[width], ink, &mut out),
            Block::Item(text) => rows(&["-", text], &[1, width.saturating_sub(2)], ink, &mut out),
            Block::Code(lines) => {
                code(lines, width.saturating_sub(4)).iter().for_each(|line| line_of(&format!("    {line}"), &mut out));
            }
            Block::Table(cells) => {
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

/// One row: each cell wrapped in its column, columns two apart.
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

/// How wide a text is once its marks are drawn.
fn measure(text: &str, ink: Ink) -> usize {
    let text = text.replace("**", "");
    text.width() - if ink == Ink::Bold { text.matches('`').count() } else { 0 }
}

/// Draws the marks in the lines of one text, and returns each line with its width. A mark that is open at a line's end
/// is opened again in the next line.
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

#[cfg(test)]
mod tests {
    use super::*;

    const TOPIC: &str = "# keys: the keys\n\nOne `key name`\nand **more**.\n\n- first\n  goes on\n- second\n\n\
        | key | does |\n|---|---|\n| `a\\|b` | does something with many words |\n\n```sh\n  run   it\n```\n";

    #[test]
    fn what_is_said_beside_code_stands_above_it_where_it_is_too_wide() {
        let blocks = blocks("```sh\nlist          # one row a call\nlist --all\n```\n");
        assert_eq!(laid_out(&blocks, 40, Ink::Plain), "    list          # one row a call\n    list --all\n");
        assert_eq!(laid_out(&blocks, 20, Ink::Plain), "    # one row a call\n    list\n    list --all\n");
    }

    #[test]
    fn a_topic_is_laid_out_for_its_width() {
        let blocks = blocks(TOPIC);
        assert_eq!(blocks.len(), 6);
        let plain = "keys: the keys\n\nOne `key name` and more.\n\n- first goes on\n- second\n\n\
            `a|b`  does something\n       with many words\n\n      run   it\n";
        assert_eq!(laid_out(&blocks, 24, Ink::Plain), plain);
        let wide = laid_out(&blocks, 100, Ink::Bold);
        assert!(wide.contains("One \u{1b}[1mkey name\u{1b}[22m and \u{1b}[1mmore\u{1b}[22m.\n"), "{wide:?}");
        assert!(wide.contains("\n\u{1b}[1ma|b\u{1b}[22m  does something with many words\n"), "{wide:?}");
        let narrow = laid_out(&blocks, 6, Ink::Bold);
        assert!(
            narrow.contains("\u{1b}[1mkey\u{1b}[22m\n\u{1b}[1mname\u{1b}[22m"),
            "a mark never runs into the next line: {narrow:?}"
        );
    }
}
