//! The door for foreign text: a table of what is shown how, and 100,000 random strings that decode back.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use mcp_approve::console::model::Palette;
use mcp_approve::console::view::print;
use mcp_approve::text::plain::{visible, width};
use mcp_approve::text::row::{Row, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::fake::shown::{decode, lines};

#[test]
fn each_character_shows_itself_or_its_escape() {
    for (sent, shown) in [
        ("plain text, 100% ASCII", "plain text, 100% ASCII"),
        ("café 東京 हिन्दी 👍", "café 東京 हिन्दी 👍"),
        ("\u{1b}[31mred\u{7}", "␛[31mred␇"),
        ("a\tb\r\nc\0", "a␉b␍␊c␀"),
        ("\u{7f}\u{9b}2J\u{85}", "⟨U+007F⟩⟨U+009B⟩2J⟨U+0085⟩"),
        ("x\u{202e}txt.exe\u{2066}", "x⟨U+202E⟩txt.exe⟨U+2066⟩"),
        ("a\u{200b}\u{200d}\u{feff}\u{ad}b", "a⟨U+200B⟩⟨U+200D⟩⟨U+FEFF⟩⟨U+00AD⟩b"),
        ("t\u{e0041}\u{e0042}", "t⟨U+E0041⟩⟨U+E0042⟩"),
        ("❤\u{fe0f}", "❤⟨U+FE0F⟩"),
        ("\u{3164}\u{115f}\u{2800}", "⟨U+3164⟩⟨U+115F⟩⟨U+2800⟩"),
        ("a\u{2028}b\u{2029}", "a⟨U+2028⟩b⟨U+2029⟩"),
        ("a\u{a0}b\u{3000}c", "a⟨U+00A0⟩b⟨U+3000⟩c"),
        ("\u{e000}\u{378}\u{10ffff}", "⟨U+E000⟩⟨U+0378⟩⟨U+10FFFF⟩"),
        ("e\u{301}", "e\u{301}"),
        ("e\u{301}\u{302}\u{303}\u{304}\u{305}", "e\u{301}\u{302}\u{303}\u{304}⟨U+0305⟩"),
        ("\u{301}x", "⟨U+0301⟩x"),
        (" \u{301}", "␠⟨U+0301⟩"),
        ("⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩"),
        ("␛", "⟨U+241B⟩"),
        (" lead and trail  ", "␠lead and trail␠␠"),
        ("a         b", "a⟨9 spaces⟩b"),
        ("a        b", "a        b"),
        ("", ""),
    ] {
        assert_eq!(visible(sent), shown, "{sent:?}");
        assert_eq!(decode(shown).as_deref(), Ok(sent), "{shown:?}");
    }
}

#[test]
fn look_alike_letters_are_named_where_they_deceive() {
    for (sent, shown) in [
        // One Cyrillic letter among Latin ones.
        ("/home/\u{430}dmin/key", "/home/⟨а U+0430⟩dmin/key"),
        ("p\u{430}yp\u{430}l.com", "p⟨а U+0430⟩yp⟨а U+0430⟩l.com"),
        // A whole Cyrillic label that reads as Latin, in a host.
        ("\u{441}\u{43e}\u{440}\u{440}\u{430}.com", "⟨с U+0441⟩⟨о U+043E⟩⟨р U+0440⟩⟨р U+0440⟩⟨а U+0430⟩.com"),
        ("g\u{3bf}\u{3bf}gle.com", "g⟨ο U+03BF⟩⟨ο U+03BF⟩gle.com"),
        ("etc\u{2215}passwd", "etc⟨∕ U+2215⟩passwd"),
        ("\u{ff50}aypal", "⟨ｐ U+FF50⟩aypal"),
        // Other scripts on their own deceive nobody.
        ("отчёт.pdf", "отчёт.pdf"),
        ("Привет, мир и Ωmega", "Привет, мир и ⟨Ω U+03A9⟩mega"),
        ("а и о", "а и о"),
        ("日本語abc。", "日本語abc。"),
    ] {
        assert_eq!(visible(sent), shown, "{sent:?}");
        assert_eq!(decode(shown).as_deref(), Ok(sent), "{shown:?}");
    }
}

#[test]
fn a_block_marks_its_breaks_and_keeps_its_indent() {
    let shown: Vec<String> = lines("if x:\n    y \r\n\n").iter().map(|line| text(line)).collect();
    assert_eq!(shown, ["if x:␊", "    y␠␍␊", "␊"]);
}

#[test]
fn what_we_did_not_write_does_not_decode() {
    for shown in ["⟨U+110000⟩", "⟨what⟩", "⟨U+41", "⟨many spaces⟩"] {
        assert!(decode(shown).is_err(), "{shown}");
    }
}

fn text(pieces: &[mcp_approve::text::plain::TextPiece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}

/// Texts of everything that has ever deceived a terminal, mixed with what is harmless.
struct Forger(u64);

impl Forger {
    fn below(&mut self, n: u32) -> u32 {
        // SplitMix64: the same texts in every run.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        u32::try_from((z ^ (z >> 31)) % u64::from(n)).unwrap()
    }

    fn text(&mut self) -> String {
        const RANGES: &[(u32, u32)] = &[
            (0x00, 0x9F),
            (0x20, 0x7E),
            (0x300, 0x36F),
            (0x400, 0x45F),
            (0x1100, 0x11FF),
            (0x600, 0x6FF),
            (0x900, 0x97F),
            (0x1780, 0x17FF),
            (0xA4D0, 0xA4FF),
            (0x2000, 0x206F),
            (0x2400, 0x243F),
            (0xFE00, 0xFE0F),
            (0xFF00, 0xFFEF),
            (0x1F1E6, 0x1F1FF),
            (0x1F900, 0x1F9FF),
            (0xE0000, 0xE01EF),
            (0, 0x10FFFF),
        ];
        const WORDS: &[&str] = &["/home/ada", "⟨U+0041⟩", "⟨12 spaces⟩", "\r\n", "e\u{301}", "\u{202e}", "x.com"];
        let mut text = String::new();
        for _ in 0..self.below(8) {
            match self.below(6) {
                0 => text.push_str(WORDS[self.below(7) as usize]),
                1 => text.push_str(&" ".repeat(self.below(24) as usize)),
                _ => {
                    let (from, to) = RANGES[self.below(17) as usize];
                    let run = self.below(6);
                    text.extend((0..run).filter_map(|_| char::from_u32(from + self.below(to - from + 1))));
                }
            }
        }
        text
    }
}

#[test]
fn a_hundred_thousand_strings_decode_back_and_nothing_hides() {
    let mut forger = Forger(2026);
    for _ in 0..100_000 {
        let sent = forger.text();
        let shown = visible(&sent);
        assert_eq!(decode(&shown).as_ref(), Ok(&sent), "{shown}");
        let block: String = lines(&sent).iter().map(|line| text(line)).collect();
        assert_eq!(decode(&block).as_ref(), Ok(&sent), "{block}");
        assert!(!shown.contains(char::is_control), "{shown:?}");
    }
}

/// What is printed of a row, cell by cell.
fn printed(row: &Row) -> String {
    let area = Rect::new(0, 0, u16::try_from(row.width()).unwrap(), 1);
    let mut buffer = Buffer::empty(area);
    print(row, Palette::Colours, area, &mut buffer);
    let mut out = String::new();
    let mut skip = 0;
    for cell in &buffer.content {
        if skip == 0 {
            out.push_str(cell.symbol());
            skip = width(cell.symbol()).max(1);
        }
        skip -= 1;
    }
    out
}

#[test]
fn a_row_without_its_middle_says_so_and_keeps_both_ends() {
    let mut forger = Forger(11);
    for round in 0..5_000 {
        let row = Row::of(Tone::Strong, "begin").and_foreign(Tone::Foreign, &forger.text()).and(Tone::Ours, "end");
        let (all, columns) = (row.text(), row.width());
        let room = round % 60;
        let cut = row.clone().elided(room, room * 2 / 3);
        assert!(cut.width() <= room, "{} columns in {room}: {}", cut.width(), cut.text());
        if columns <= room {
            assert_eq!(cut, row);
            continue;
        }
        // What stands on both sides of the mark is how it begins and how it ends; no escape is cut.
        let mark = cut.runs.iter().position(|run| run.tone == Tone::Quiet && run.text.starts_with('…'));
        let (Some(mark), true) = (mark, room > 0) else { continue };
        let side = |runs: &[mcp_approve::text::row::Run]| runs.iter().map(|run| run.text.as_str()).collect::<String>();
        let (before, after) = (side(&cut.runs[..mark]), side(&cut.runs[mark + 1..]));
        assert!(all.starts_with(&before) && all.ends_with(&after), "{before:?} … {after:?} of {all:?}");
        assert!(decode(&before).is_ok() && decode(&after).is_ok());
    }
    let path = Row::of(Tone::Ours, format!("/home/{}/today.md", "deep/".repeat(20)));
    assert_eq!(path.clone().elided(30, 6).text(), "/home/…90…deep/deep//today.md");
    assert_eq!(path.elided(12, 0).text(), "…p//today.md");
}

#[test]
fn what_is_printed_is_all_that_is_shown() {
    let mut forger = Forger(7);
    for _ in 0..10_000 {
        let sent = forger.text();
        let printed = printed(&Row::default().and_foreign(Tone::Foreign, &sent));
        assert_eq!(decode(&printed).as_ref(), Ok(&sent), "{printed}");
    }
    // A ligature is narrower than its letters: what follows must not cover it.
    let sent = "\u{644}\u{627}\u{644}\u{627}\u{202e}x";
    assert_eq!(printed(&Row::default().and_foreign(Tone::Foreign, sent)), visible(sent));
}
