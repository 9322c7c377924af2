//! Foreign text as it is shown: it decodes back to what was sent, and no control byte is in it.

use mcp_approve::text::plain::visible;

use crate::bed::{Chance, Measured, Run, grouped, in_parallel};
use crate::fake::shown::{decode, lines};

const RANGES: &[(u32, u32)] = &[
    (0x00, 0x9F),
    (0x20, 0x7E),
    (0x300, 0x36F),
    (0x400, 0x45F),
    (0x600, 0x6FF),
    (0x900, 0x97F),
    (0x1100, 0x11FF),
    (0x2000, 0x206F),
    (0x2400, 0x243F),
    (0x27E0, 0x27EF),
    (0xFE00, 0xFE0F),
    (0xFF00, 0xFFEF),
    (0x1F1E6, 0x1F1FF),
    (0x1F900, 0x1F9FF),
    (0xE0000, 0xE01EF),
    (0, 0x10FFFF),
];

/// Text of everything that has ever deceived a terminal, among what is harmless.
pub fn foreign(chance: &mut Chance) -> String {
    let mut text = String::new();
    for _ in 0..chance.below(9) {
        match chance.below(6) {
            0 => text.push_str(
                chance.word(&["/home/ada", "⟨U+0041⟩", "⟨12 spaces⟩", "\r\n", "e\u{301}", "\u{1b}[2J", "x.com"]),
            ),
            1 => text.push_str(&" ".repeat(chance.below(24))),
            _ => {
                let (from, to) = *chance.of(RANGES);
                let span = usize::try_from(to - from + 1).unwrap();
                let run = chance.below(6);
                text.extend((0..run).filter_map(|_| char::from_u32(from + u32::try_from(chance.below(span)).unwrap())));
            }
        }
    }
    text
}

/// R18.
pub fn decodes(run: &Run) -> Measured {
    let each = run.of(100_000) / 2 + 1;
    let done = in_parallel(2, 2, |worker| {
        let mut chance = run.chance(18 + worker);
        let (mut wrong, mut control) = (0_u64, 0_u64);
        for _ in 0..each {
            let sent = foreign(&mut chance);
            let line = visible(&sent);
            let block: String =
                lines(&sent).iter().flat_map(|line| line.iter().map(|piece| piece.text.as_str())).collect();
            for shown in [line, block] {
                wrong += u64::from(decode(&shown).as_ref() != Ok(&sent));
                control += u64::from(shown.contains(char::is_control));
            }
        }
        (wrong, control)
    });
    let (wrong, control) = done.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let text = format!("{wrong} wrong of {}; {control} with control bytes", grouped(each * 2));
    Measured::held(wrong == 0 && control == 0, text)
}
