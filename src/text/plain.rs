//! The one door for foreign text to a terminal: every character or its escape is visible. Owns no layout, no colour.
//!
//! What is shown decodes back to exactly what was sent ([`decode`]), so two different texts never look the same:
//!
//! | in the text | shown as |
//! |---|---|
//! | C0 controls | their pictures: `␛`, `␊`, `␉`, `␀` |
//! | C1, DEL, bidi, zero-width, tags, variation selectors, fillers, odd spaces, private, unassigned | `⟨U+202E⟩` |
//! | a combining mark after four others, or with nothing to sit on | `⟨U+0301⟩` |
//! | a letter that passes for an ASCII one next to ASCII ones | itself and its code point: `⟨а U+0430⟩` |
//! | spaces at the edge of a text | `␠` |
//! | more than eight spaces in a row | their count: `⟨12 spaces⟩` |
//! | the escape opener `⟨` and the control pictures themselves | `⟨U+27E8⟩`, `⟨U+241B⟩` |

mod glyph;

use glyph::{CLOSE, Glyph, OPEN, SPACE, Word, glyph};
use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

/// A run of shown text: copied from the foreign text, or an escape for a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPiece {
    pub text: String,
    pub kind: CharKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharKind {
    /// Foreign characters that are visible.
    Plain,
    /// Our escape for foreign characters that are not: one unit, never broken over two rows.
    Escape,
}

/// Which edges of a text a segment of it has. Spaces are marked at edges only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    Line,
    /// A line of a block: it starts at the block's border, which makes leading spaces visible.
    Block,
    /// The beginning of a block's line that was cut for its length.
    Head,
    /// A middle part of a line that was cut.
    Middle,
    /// The last part of a line that was cut.
    Tail,
}

impl Edges {
    fn marks_leading(self) -> bool {
        self == Self::Line
    }

    fn marks_trailing(self) -> bool {
        matches!(self, Self::Line | Self::Block | Self::Tail)
    }

    fn indents(self) -> bool {
        matches!(self, Self::Block | Self::Head)
    }
}

/// Spaces in a row that a reader can still tell.
const MOST_SPACES: usize = 8;
/// Spaces at the start of a block's line: code is indented deeper than prose is spaced.
const MOST_INDENT: usize = 32;
/// Combining marks in a row that a letter may carry.
const MOST_MARKS: usize = 4;

pub fn visible(text: &str) -> String {
    pieces(text).into_iter().map(|piece| piece.text).collect()
}

/// Shows one line of a block: its indent stays as it is, so that files and diffs read as they are written.
pub fn block(line: &str) -> String {
    segment(line, Edges::Block).into_iter().map(|piece| piece.text).collect()
}

/// Shows a text on one line, escapes apart from the rest so that they can be styled.
pub fn pieces(text: &str) -> Vec<TextPiece> {
    segment(text, Edges::Line)
}

/// Shows a part of a text; a line break in it is marked like any control.
pub fn segment(text: &str, edges: Edges) -> Vec<TextPiece> {
    let mut out = PlainOut::default();
    if is_tame(text, edges) {
        out.show(text);
        return out.pieces;
    }
    let mut word = Word::default();
    let mut marks = Marks::Forbidden;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let len = c.len_utf8();
        if c == ' ' {
            let run = text[at..].bytes().take_while(|b| *b == b' ').count();
            out.spaces(run, Spaces::of(text, at, run, edges));
            marks = Marks::Forbidden;
            at += run;
            continue;
        }
        word.enter(text, at, c);
        let escaped = match (glyph(c), marks) {
            (Glyph::Shows, _) if word.betrays(text, at, c) => format!("{OPEN}{c} {}{CLOSE}", code(c)),
            (Glyph::Picture(picture), _) => picture.to_string(),
            (Glyph::Shows, _) => String::new(),
            (Glyph::Joins, Marks::After(n)) if n < MOST_MARKS => String::new(),
            (Glyph::Joins | Glyph::Hides, _) => escape(c),
        };
        marks = match marks {
            _ if !escaped.is_empty() => Marks::Forbidden,
            Marks::After(n) if glyph(c) == Glyph::Joins => Marks::After(n + 1),
            Marks::After(_) | Marks::Forbidden => Marks::After(0),
        };
        if escaped.is_empty() {
            out.show(&text[at..at + len]);
        } else {
            out.escape(escaped);
        }
        at += len;
    }
    out.finish()
}

/// Whether every character of `text` is visible: nothing in it needs an escape.
pub fn is_tame(text: &str, edges: Edges) -> bool {
    let bytes = text.as_bytes();
    let leading = edges.marks_leading() && bytes.first() == Some(&b' ');
    let trailing = edges.marks_trailing() && bytes.last() == Some(&b' ');
    if leading || trailing {
        return false;
    }
    let mut spaces = 0;
    bytes.iter().all(|b| {
        spaces = if *b == b' ' { spaces + 1 } else { 0 };
        matches!(b, 0x20..0x7F) && spaces <= MOST_SPACES
    })
}

/// Whether a character would not be seen as itself: an editor's file shows it by its JSON escape.
pub fn hides(c: char) -> bool {
    match glyph(c) {
        Glyph::Shows | Glyph::Joins => false,
        Glyph::Picture(_) => true,
        Glyph::Hides => c != OPEN,
    }
}

/// JSON text with these characters as escapes: the same value.
pub fn json_escaped(json: &str, escapes: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if escapes(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

/// How many columns a shown text takes, by the table that ratatui uses for printing.
pub fn width(shown: &str) -> usize {
    if shown.bytes().all(|b| matches!(b, 0x20..0x7F)) {
        return shown.len();
    }
    shown.graphemes(true).map(|g| usize::from(g.cell_width())).sum()
}

fn code(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

fn escape(c: char) -> String {
    format!("{OPEN}{}{CLOSE}", code(c))
}

/// Whether a combining mark has a base character, and how many marks that has already.
#[derive(Clone, Copy)]
enum Marks {
    After(usize),
    Forbidden,
}

#[derive(Clone, Copy)]
enum Spaces {
    /// At an edge where it would not be seen.
    Edge,
    Indent,
    Inside,
}

impl Spaces {
    fn of(text: &str, at: usize, run: usize, edges: Edges) -> Self {
        let rest = &text[at + run..];
        let leads = at == 0;
        let trails = rest.is_empty() || rest == "\n" || rest == "\r\n";
        if (trails && edges.marks_trailing()) || (leads && edges.marks_leading()) {
            Self::Edge
        } else if leads && edges.indents() {
            Self::Indent
        } else {
            Self::Inside
        }
    }
}

/// The pieces written so far; neighbours of one kind are joined, escapes kept apart.
#[derive(Default)]
struct PlainOut {
    pieces: Vec<TextPiece>,
}

impl PlainOut {
    fn show(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(last) if last.kind == CharKind::Plain => last.text.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(TextPiece { text: text.to_owned(), kind: CharKind::Plain }),
        }
    }

    fn escape(&mut self, text: String) {
        self.pieces.push(TextPiece { text, kind: CharKind::Escape });
    }

    fn spaces(&mut self, run: usize, place: Spaces) {
        let most = match place {
            Spaces::Indent => MOST_INDENT,
            Spaces::Edge | Spaces::Inside => MOST_SPACES,
        };
        match place {
            _ if run > most => self.escape(format!("{OPEN}{run} spaces{CLOSE}")),
            Spaces::Edge => self.escape(String::from(SPACE).repeat(run)),
            Spaces::Indent | Spaces::Inside => self.show(&" ".repeat(run)),
        }
    }

    /// At the end, looks for clusters without width, because ratatui drops them.
    fn finish(self) -> Vec<TextPiece> {
        let drops = |piece: &TextPiece| {
            piece.kind == CharKind::Plain
                && !piece.text.is_ascii()
                && piece.text.graphemes(true).any(|g| g.cell_width() == 0)
        };
        if !self.pieces.iter().any(drops) {
            return self.pieces;
        }
        let mut out = Self::default();
        for piece in self.pieces {
            match piece.kind {
                CharKind::Escape => out.escape(piece.text),
                CharKind::Plain => {
                    for cluster in piece.text.graphemes(true) {
                        if cluster.cell_width() == 0 {
                            cluster.chars().for_each(|c| out.escape(escape(c)));
                        } else {
                            out.show(cluster);
                        }
                    }
                }
            }
        }
        out.pieces
    }
}

/// Text of a file over several lines, fit for a terminal.
pub fn visible_lines(text: &str) -> String {
    text.lines().map(|line| block(line) + "\n").collect()
}
