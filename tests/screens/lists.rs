//! Activity, Log, Tools, Rules and Servers at 80×24, 120×40 and 40×12 as text: empty, many, hostile, a sheet, a search.

pub mod scenes;

use std::sync::Arc;

use insta::assert_snapshot;
use mcp_approve::audit::chain::Break;
use mcp_approve::audit::fields::Record;
use mcp_approve::audit::record::VerdictWord;
use mcp_approve::audit::tally::{RuleTally, SessionTally, ToolTally};
use mcp_approve::console::keymap::Key;
use mcp_approve::console::model::Palette;
use mcp_approve::console::update::Msg;
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::FromWrapper;
use mcp_approve::operator::found::{Checked, Edge, Finding, Line, Opened, Page, Progress, RuleBook};
use mcp_approve::text::row::Tone;
use ratatui::style::Color;

use crate::desk::*;
use scenes::*;

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

#[test]
fn lists_that_are_empty_teach() {
    at_every_size("log_none", |desk| {
        desk.keys("3");
        desk.send(Msg::Found(Finding::NoLog));
    });
    at_every_size("tools_none", |desk| {
        desk.keys("4");
        desk.send(Msg::Found(Finding::Counts(Arc::default())));
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
        desk.send(Msg::Found(Finding::Verified(Checked { holds: 400, until: None, wrong: None })));
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

#[test]
fn a_record_in_full() {
    at_every_size("record", |desk| open_record(desk, Ok(())));
    let mut desk = Desk::connected(80, 24);
    open_record(&mut desk, Err(Break::Changed { seq: 398 }));
    desk.line("BROKEN      ✗ record 398 does not carry the link");
    desk.line("the whole call");
}

#[test]
fn an_answer_tells_at_once_why_its_call_ran() {
    let mut desk = Desk::connected(80, 24);
    log(&mut desk, records());
    desk.keys("j");
    desk.press(Key::Enter);
    let (line, beside) = (records()[1].clone(), vec![records()[6].clone(), records()[3].clone()]);
    let record = Record { seq: 399, link: None, body: body(), origin: None };
    let opened = Opened { explained: None, line, record, newest: 400, link: Ok(()), beside };
    desk.send(Msg::Found(Finding::Record(399, Some(Box::new(opened)))));
    desk.line("approved by rule scratch");
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
        kind: None,
        kind_word: HOSTILE.into(),
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
        let mut counts = counts();
        counts.tally.tools.entry(HOSTILE.into()).or_default().insert(HOSTILE.into(), ToolTally::default());
        counts.tally.rules.insert(HOSTILE.into(), RuleTally::default());
        counts.sessions.0.insert("x".into(), SessionTally { server: HOSTILE.into(), ..SessionTally::default() });
        desk.send(Msg::Found(Finding::Counts(Arc::new(counts))));
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
    let alike = [Color::Red, Color::Indexed(203), Color::Green];
    assert!(!safe.iter().any(|one| alike.contains(one)), "red and green are alike to some");
}

/// Named colours, red to cyan, as terminals show them by default.
const TERMINALS: [(&str, [u32; 6]); 7] = [
    ("xterm", [0xcd_00_00, 0x00_cd_00, 0xcd_cd_00, 0x00_00_ee, 0xcd_00_cd, 0x00_cd_cd]),
    ("Windows", [0xc5_0f_1f, 0x13_a1_0e, 0xc1_9c_00, 0x00_37_da, 0x88_17_98, 0x3a_96_dd]),
    ("VS Code dark", [0xcd_31_31, 0x0d_bc_79, 0xe5_e5_10, 0x24_72_c8, 0xbc_3f_bc, 0x11_a8_cd]),
    ("VS Code light", [0xcd_31_31, 0x10_7c_10, 0x94_98_00, 0x04_51_a5, 0xbc_05_bc, 0x05_98_bc]),
    ("GNOME", [0xc0_1c_28, 0x26_a2_69, 0xa2_73_4c, 0x12_48_8b, 0xa3_47_ba, 0x2a_a1_b3]),
    ("Tango", [0xcc_00_00, 0x4e_9a_06, 0xc4_a0_00, 0x34_65_a4, 0x75_50_7b, 0x06_98_9a]),
    ("macOS", [0x99_00_00, 0x00_a6_00, 0x99_99_00, 0x00_00_b2, 0xb2_00_b2, 0x00_a6_b2]),
];

/// The contrast of two colours, by the rule of the web's guidelines.
fn contrast(one: u32, other: u32) -> f64 {
    let light = |colour: u32| {
        let part = |shift: u32| {
            let value = f64::from(colour >> shift & 0xff) / 255.0;
            if value <= 0.039_28 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0) + 0.05
    };
    let (one, other) = (light(one), light(other));
    one.max(other) / one.min(other)
}

#[test]
fn every_tone_can_be_read_on_the_background_of_its_theme() {
    let coloured = [Tone::Escape, Tone::Key, Tone::Good, Tone::Warn, Tone::Danger, Tone::Loud];
    let mut least = f64::MAX;
    for (palette, ground) in [(Palette::Colours, 0), (Palette::Safe, 0), (Palette::Light, 0xff_ff_ff)] {
        for (terminal, named) in TERMINALS {
            // It is no terminal with a dark background.
            if ground == 0 && terminal == "VS Code light" {
                continue;
            }
            for tone in coloured {
                let colour = match palette.style(tone).fg.expect("a colour") {
                    Color::Red => named[0],
                    Color::Green => named[1],
                    Color::Yellow => named[2],
                    Color::Blue => named[3],
                    Color::Magenta => named[4],
                    Color::Cyan => named[5],
                    // The six levels of the cube are the same everywhere.
                    Color::Indexed(at @ 16..=231) => {
                        let level = |of: u8| [0, 0x5f, 0x87, 0xaf, 0xd7, 0xff_u32][usize::from((at - 16) / of % 6)];
                        level(36) << 16 | level(6) << 8 | level(1)
                    }
                    other => panic!("{other:?} of {tone:?} is not in the table"),
                };
                let contrast = contrast(colour, ground);
                assert!(contrast >= 4.5, "{palette:?} {tone:?} in {terminal}: {contrast:.1}");
                least = least.min(contrast);
            }
        }
    }
    assert!(least < 5.0, "the table is tried: {least}");
}
