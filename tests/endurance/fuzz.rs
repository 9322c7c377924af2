//! Random input, a fixed number of cases for each reader of foreign bytes: none may crash, and lines come out as they went in.

use mcp_approve::behavior::arguments::sql;
use mcp_approve::console::model::Palette;
use mcp_approve::console::view::print;
use mcp_approve::policy::parse;
use mcp_approve::text::plain::visible;
use mcp_approve::text::row::{Row, Tone};
use mcp_approve::wire::Line;
use mcp_approve::wire::message::{self, BeyondCap, Cutter, Piece};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::bed::{Chance, Measured, Run, caught, grouped, in_parallel};
use crate::fake::shown::decode;
use crate::{noise, text};

type Case = fn(&mut Chance);

const CASES: [(&str, u64, Case); 6] = [
    ("lines", 200_000, line),
    ("JSON", 400_000, json),
    ("server's lines", 200_000, peek),
    ("policy", 40_000, policy),
    ("SQL", 200_000, statement),
    ("rendering", 100_000, rendering),
];

/// R25.
pub fn crashes(run: &Run) -> Measured {
    let mut crashes = Vec::new();
    let mut counts = Vec::new();
    for (name, cases, case) in CASES {
        let each = run.of(cases) / 20 + 1;
        let found = in_parallel(2, 20, |worker| {
            let mut chance = run.chance(2_500 + worker);
            (0..each).filter_map(|_| caught(|| case(&mut chance)).err()).next()
        });
        crashes.extend(found.into_iter().flatten().map(|why| format!("{name}: {why}")));
        counts.push(format!("{name} {}", grouped(each * 20)));
    }
    let first = crashes.first().map_or_else(String::new, |why| format!("; {why}"));
    Measured::held(crashes.is_empty(), format!("{} ({}){first}", crashes.len(), counts.join(", ")))
}

/// Bytes in pieces of any size give the lines that they hold.
fn line(chance: &mut Chance) {
    let alphabet = [b'\n', b'\r', b'{', b'"', b'x', 0, 0xff];
    let bytes: Vec<u8> = (0..chance.below(120)).map(|_| *chance.of(&alphabet)).collect();
    let mut cutter = Cutter::new(16 + chance.below(60), *chance.of(&[BeyondCap::Drop, BeyondCap::Stream]));
    let (mut rest, mut out, mut dropped) = (&bytes[..], Vec::new(), false);
    while !rest.is_empty() {
        let (now, later) = rest.split_at((1 + chance.below(20)).min(rest.len()));
        cutter.feed(now, &mut |piece| match piece {
            Piece::Line(line) => out.extend(line.into_bytes()),
            Piece::Start(head) => out.extend(head),
            Piece::More { bytes, .. } => out.extend(bytes),
            Piece::Overlong { .. } => dropped = true,
        });
        rest = later;
    }
    let tail = cutter.finish().map(|tail| tail.to_vec()).unwrap_or_default();
    assert!(dropped || [out, tail].concat() == bytes || bytes.len() > 16, "{bytes:?}");
}

fn json(chance: &mut Chance) {
    let _ = message::sort(Line::new(noise::message(chance)));
}

fn peek(chance: &mut Chance) {
    let _ = message::peek(&noise::message(chance));
}

fn policy(chance: &mut Chance) {
    const LINES: &[&str] = &[
        "version = 1",
        "[defaults]",
        "pure = \"allow\"",
        "mutates = \"ask\"",
        "[[rule]]",
        "id = \"a\"",
        "decision = \"allow\"",
        "tool = [\"write_*\", \"\"]",
        "server = \"[\"",
        "when = [{ arg = \"p\", under = \"~/x\" }]",
        "expires = 2026-02-30",
        "expires = 2026-12-31",
        "when = [{ arg = \"n\", lt = 1e400 }]",
        "match = [{ p = \"~/x\" }]",
        "identity = \"0\"",
        "capability = \"t\"",
        "when = [{ effect = \"\" }]",
        "= ",
        "\"\"\"",
        "[a.b.c",
        "x = 0x",
        "note = '\u{202e}'",
        "unless = []",
    ];
    let mut text = String::new();
    for _ in 0..chance.below(14) {
        text += chance.word(LINES);
        text += "\n";
    }
    for _ in 0..chance.below(3) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        if !places.is_empty() {
            text.remove(*chance.of(&places));
        }
    }
    let _ = parse::parse(&text);
}

fn statement(chance: &mut Chance) {
    const WORDS: &[&str] = &[
        "SELECT", "select", "*", "FROM", "t", "WHERE", "1=1", ";", "--", "/*", "*/", "/*!", "'", "\"", "`", "\\", "$$",
        "$a$", "INSERT", "INTO", "UPDATE", "SET", "DELETE", "DROP", "WITH", "AS", "(", ")", "RETURNING", "EXPLAIN",
        "ANALYZE", "PRAGMA", "\u{a0}", "\u{0}", "e'", "x'00'", "1e", "::", "@@", ":p", "?", "UNION", "COPY",
        "INTO OUTFILE", "E'\\''", "#", "[", "]",
    ];
    let mut text = String::new();
    for _ in 0..chance.below(30) {
        text += chance.word(WORDS);
        text += chance.word(&[" ", "", "\n", "\t"]);
    }
    let _ = sql::read(&text, None);
}

fn rendering(chance: &mut Chance) {
    let sent = text::foreign(chance);
    let row = Row::default().and_foreign(Tone::Foreign, &sent);
    let area = Rect::new(0, 0, 1 + u16::try_from(chance.below(200)).unwrap(), 1);
    let mut buffer = Buffer::empty(area);
    print(&row, Palette::Colours, area, &mut buffer);
    for cell in &buffer.content {
        assert!(!cell.symbol().contains(char::is_control), "{sent:?}");
    }
    let _ = decode(&visible(&sent));
    let _ = decode(&sent);
}
