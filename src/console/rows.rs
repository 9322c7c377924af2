//! What screens are made of: areas, captions, labelled entries, titles with a right end; and the words that several share.

use ratatui::layout::Rect;

use crate::audit::record::By;
use crate::text::row::{Row, Tone, border, foreign, quiet, warn};
use crate::wire::number::counted;

/// Below this width a list shows only what matters most.
pub const NARROW: usize = 64;

pub const LABEL: usize = 11;

/// A title, the rows below it from the first on screen on, and the last line.
#[derive(Debug)]
pub struct Panel {
    pub title: Row,
    pub rows: Vec<Row>,
    pub last: Row,
}

/// The rows of a sheet or of a part of a card, from the top.
#[derive(Debug)]
pub struct Entries {
    pub rows: Vec<Row>,
    pub width: usize,
}

impl Entries {
    pub fn new(width: usize) -> Self {
        Self { rows: Vec::new(), width }
    }

    pub fn caption(&mut self, name: &str, note: &str) {
        self.rows.push(caption(name, note, self.width));
    }

    /// A label and what it names, wrapped beside the label where there is room.
    pub fn entry(&mut self, label: &str, row: Row) {
        let hang = if self.width >= 60 { LABEL + 2 } else { 3 };
        self.hung(quiet(format!(" {label:<LABEL$} ")).joined(row), hang);
    }

    pub fn says(&mut self, label: &str, tone: Tone, words: impl Into<String>) {
        self.entry(label, Row::of(tone, words));
    }

    pub fn ours(&mut self, label: &str, words: impl Into<String>) {
        self.says(label, Tone::Ours, words);
    }

    /// An entry of foreign words; nothing where there are none.
    pub fn foreign(&mut self, label: &str, text: &str) {
        if !text.is_empty() {
            self.entry(label, foreign(Tone::Ours, text));
        }
    }

    pub fn hazard(&mut self, name: &str, what: &str) {
        let row = warn("▲ ").and_foreign(Tone::Warn, name).quiet(": ");
        self.entry("hazard", row.and_foreign(Tone::Ours, what));
    }

    pub fn hung(&mut self, row: Row, hang: usize) {
        self.rows.extend(row.hung(self.width, hang));
    }

    /// What the operator can do here, after an empty row: each key, and what it does.
    pub fn keys(&mut self, keys: &[(&str, &str)]) {
        let mut row = Row::default();
        for (at, (key, does)) in keys.iter().enumerate() {
            row.push(Tone::Key, format!("{}{key}", if at == 0 { " " } else { "  " }));
            row.push(Tone::Quiet, format!(" {does}"));
        }
        self.rows.push(Row::default());
        self.hung(row, 1);
    }
}

/// A section's rule: `── name · note ─────`.
pub fn caption(name: &str, note: &str, width: usize) -> Row {
    let mut row = border("── ").ours(name);
    if !note.is_empty() {
        row.push(Tone::Quiet, format!(" · {note}"));
    }
    let mut row = row.clipped(width.saturating_sub(2));
    let rest = width.saturating_sub(row.width() + 1);
    row.push(Tone::Border, format!(" {}", "─".repeat(rest)));
    row
}

/// A title and, at its right end, something that may be left out when there is no room.
pub fn ends(left: Row, right: Row, width: usize) -> Row {
    let used = left.width() + right.width();
    if used + 1 > width {
        return left.clipped(width);
    }
    left.ours(" ".repeat(width - used)).joined(right)
}

pub fn below(rows: usize) -> Row {
    match rows {
        0 => Row::default(),
        _ => warn(format!(" … {} below", counted(rows, "more line"))).quiet(" · j PgDn"),
    }
}

/// Who or what decided, as the end of a sentence.
pub fn decided_by(by: By) -> &'static str {
    match by {
        By::Default => "by policy",
        By::Rule => "by a rule",
        By::Operator => "by an operator",
        By::Approver => "by an approver",
        By::Scope => "by the scope",
        By::Expiry => "at its deadline",
        By::Cancel => "by the host's cancel",
        By::Shutdown => "at shutdown",
        By::Fault => "after a fault",
        By::Observe => "in observe mode",
        By::Elicitation => "in the host, by elicitation",
    }
}

/// The levels of the threat model, and what each does and does not do.
pub const LEVELS: [(&str, &str); 4] = [
    ("L0", "stops tool calls, not an agent's own shell"),
    ("L1", "a verdict needs your key"),
    ("L2", "agent and log are apart"),
    ("L3", "credentials are on another machine"),
];

/// The areas of one screen. Areas that are not shown are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    pub header: Rect,
    pub banners: Rect,
    /// One row about the servers, above the queue.
    pub strip: Rect,
    pub queue: Rect,
    pub card: Rect,
    /// Between queue and card when they are side by side.
    pub divider: Rect,
    /// Everything between header and footer: Activity, help, empty states.
    pub body: Rect,
    /// A question at the bottom.
    pub panel: Rect,
    pub footer: Rect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    QueueAndCard,
    CardAlone,
    Body,
}

/// A lower screen has no row about the servers.
const LOW: u16 = 20;
/// From this width on the card is beside the queue.
const SIDE_BY_SIDE: u16 = 110;

/// Heights, in rows, of the parts that are not always there, or not always of one height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heights {
    pub banners: u16,
    pub strip: u16,
    /// Of the queue with its title, if there is room.
    pub queue: u16,
    pub panel: u16,
    pub footer: u16,
}

pub fn areas(size: (u16, u16), arrangement: Arrangement, heights: Heights) -> Areas {
    let (width, height) = size;
    let row = |y: u16, rows: u16| Rect::new(0, y.min(height), width, rows.min(height.saturating_sub(y)));
    let footer = heights.footer.clamp(1, 3);
    let spare = height.saturating_sub(1 + footer);
    let banners = heights.banners.min(spare / 3);
    let strip = if height < LOW { 0 } else { heights.strip.min(spare.saturating_sub(banners)) };
    let panel = heights.panel.min(spare.saturating_sub(banners + strip + 2));
    let top = 1 + banners + strip;
    let inner = spare.saturating_sub(banners + strip + panel);
    let body = row(top, inner);
    let mut areas = Areas {
        header: row(0, 1),
        banners: row(1, banners),
        strip: row(1 + banners, strip),
        body,
        panel: row(top + inner, panel),
        footer: row(height.saturating_sub(footer), footer),
        ..Areas::default()
    };
    match arrangement {
        Arrangement::Body => {}
        Arrangement::CardAlone => areas.card = body,
        Arrangement::QueueAndCard if width >= SIDE_BY_SIDE => {
            // Room for a tool and what its call is about, side by side.
            let left = (width * 19 / 40).min(104);
            areas.queue = Rect { width: left, ..body };
            areas.divider = Rect { x: left, width: 1, ..body };
            areas.card = Rect { x: left + 2, width: width - left - 2, ..body };
        }
        // The screen is too low for both: the card matters more.
        Arrangement::QueueAndCard if inner < 9 => areas.card = body,
        Arrangement::QueueAndCard => {
            let queue = heights.queue.max(2).min((inner / 4).clamp(3, 12));
            areas.queue = Rect { height: queue, ..body };
            areas.card = Rect { y: body.y + queue, height: inner - queue, ..body };
        }
    }
    areas
}

/// Where a list and its selected line's sheet are: side by side or, without a divider, each on the whole area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides {
    pub list: Rect,
    pub divider: Option<Rect>,
    pub sheet: Rect,
}

/// From this width on a sheet is beside its list, and neither loses a column it needs.
const BOTH: u16 = 120;

pub fn sides(body: Rect, has_sheet: bool) -> Sides {
    if body.width < BOTH || !has_sheet {
        return Sides { list: body, divider: None, sheet: body };
    }
    let left = (body.width * 8 / 15).min(104);
    Sides {
        list: Rect { width: left, ..body },
        divider: Some(Rect { x: left, width: 1, ..body }),
        sheet: Rect { x: left + 2, width: body.width - left - 2, ..body },
    }
}

/// The rows of an area that show content: its first is a title, its last says what is below.
pub fn content_rows(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(2))
}
