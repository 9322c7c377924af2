//! Where things are on a screen of a given size, for drawing and for scrolling alike.

use ratatui::layout::Rect;

/// The areas of one screen. Areas that are not shown are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    pub header: Rect,
    pub banners: Rect,
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

/// What is to be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    QueueAndCard,
    CardAlone,
    Body,
}

/// From this width on the card is beside the queue.
const SIDE_BY_SIDE: u16 = 110;

/// Heights, in rows, of the parts that are not always there, or not always of one height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heights {
    pub banners: u16,
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
    let panel = heights.panel.min(spare.saturating_sub(banners + 2));
    let top = 1 + banners;
    let inner = spare.saturating_sub(banners + panel);
    let body = row(top, inner);
    let mut areas = Areas {
        header: row(0, 1),
        banners: row(1, banners),
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

/// Where a screen beside Waiting shows its list and the sheet of the selected line: side by side or, without a divider,
/// each on the whole area.
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
