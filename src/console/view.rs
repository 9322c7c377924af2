//! Draws the model. Reads only: nothing here changes, asks the time, or writes to a terminal.

mod calls;
mod card;
mod empty;
mod footer;
pub mod help;
mod list;
pub mod maker;
mod page;
mod queue;
pub mod review;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::card::{counted, grouped};
use super::model::Palette;
use super::model::{Model, Overlay, Screen};
use super::panel;
use super::screen::content_rows;
use crate::audit::record::Assurance;
use crate::text::row::{Row, Tone, border, danger, quiet, strong, warn};
pub(in crate::console) use card::by;

/// Draws everything.
pub fn view(model: &Model, frame: &mut Frame<'_>) {
    let areas = model.areas();
    let palette = model.settings.palette;
    let bounds = frame.area();
    let mut paint = Paint { palette, bounds, buffer: frame.buffer_mut() };
    paint.rows(areas.header, [header(model, areas.header.width)]);
    paint.banners(areas.banners, model.banners());
    match (&model.overlay, model.screen) {
        (Some(Overlay::Help { top }), _) => help::draw(&mut paint, &model.settings.keys, areas.body, *top),
        (Some(Overlay::Batch(batch)), _) => list::draw(&mut paint, model, batch, areas.body),
        (Some(Overlay::Rule(rule)), _) => maker::draw(&mut paint, model, rule, areas.body),
        (Some(Overlay::Review(open)), _) => review::draw(&mut paint, model, open, areas.body),
        (_, Screen::Activity | Screen::Log | Screen::Tools | Screen::Rules | Screen::Servers) => {
            page::draw(&mut paint, model);
        }
        _ if model.queue.calls.is_empty() => empty::draw(&mut paint, model, areas.body),
        (_, Screen::Queue | Screen::Detail) => {
            queue::draw(&mut paint, model, areas.queue);
            paint.divider(areas.divider);
            card::draw(&mut paint, model, areas.card);
        }
    }
    paint.panel(areas.panel, panel::rows(model));
    paint.rows(areas.footer, footer::rows(model, areas.footer.width));
}

/// Prints one row, cluster by cluster.
///
/// Not through ratatui's `Line`: it places a span by the width of the whole text before it, which for some scripts is
/// less than what its clusters take, so that the next span would cover the last of them.
pub fn print(row: &Row, palette: Palette, area: Rect, buffer: &mut Buffer) {
    let area = area.intersection(buffer.area);
    let mut x = area.x;
    for run in &row.runs {
        let room = usize::from(area.right().saturating_sub(x));
        if area.height > 0 && room > 0 {
            (x, _) = buffer.set_stringn(x, area.y, &run.text, room, palette.style(run.tone));
        }
    }
}

/// Puts rows on the frame's buffer.
struct Paint<'a> {
    palette: Palette,
    /// The frame may be smaller than the model thinks, for one frame after a resize.
    bounds: Rect,
    buffer: &'a mut Buffer,
}

impl Paint<'_> {
    /// One row per line of the area; a row too long ends in `…`.
    fn rows(&mut self, area: Rect, rows: impl IntoIterator<Item = Row>) {
        for (row, y) in rows.into_iter().zip(area.y..area.bottom()) {
            let line = Rect { y, height: 1, ..area }.intersection(self.bounds);
            print(&row.clipped(usize::from(line.width)), self.palette, line, self.buffer);
        }
    }

    /// A title, the rows that have room below it, and the last line of the area.
    fn framed(&mut self, area: Rect, title: Row, rows: impl IntoIterator<Item = Row>, last: Row) {
        let room = content_rows(area);
        let mut all = vec![title];
        all.extend(rows.into_iter().take(room));
        all.resize(room + 1, Row::default());
        all.push(last);
        self.rows(area, all);
    }

    fn divider(&mut self, area: Rect) {
        self.rows(area, vec![border("│"); usize::from(area.height)]);
    }

    /// Reverses the colours of a line: the selected one.
    fn highlight(&mut self, area: Rect, line: u16) {
        let y = area.y.saturating_add(line);
        let line = Rect { y, height: 1, ..area }.intersection(area).intersection(self.bounds);
        self.buffer.set_style(line, ratatui::style::Modifier::REVERSED);
    }

    /// The question at the bottom, if any.
    fn panel(&mut self, area: Rect, mut rows: Vec<Row>) {
        if !rows.is_empty() {
            rows.insert(0, border("━".repeat(usize::from(area.width))));
        }
        self.cut(area, rows, |_| " … more: enlarge the window".to_owned());
    }

    fn banners(&mut self, area: Rect, rows: Vec<Row>) {
        self.cut(area, rows, |hidden| format!(" ▲ … {hidden} more lines of warnings: enlarge the window"));
    }

    /// Draws as many rows as fit; if some do not, the last line says so.
    fn cut(&mut self, area: Rect, mut rows: Vec<Row>, words: impl Fn(usize) -> String) {
        let room = usize::from(area.height);
        if rows.len() > room && room > 0 {
            let hidden = rows.drain(room - 1..).count();
            rows.push(danger(words(hidden)));
        }
        self.rows(area, rows);
    }
}

/// How much is below the screen, if anything is.
fn below(rows: usize) -> Row {
    match rows {
        0 => Row::default(),
        _ => warn(format!(" … {} below", counted(rows, "more line"))).quiet(" · j PgDn"),
    }
}

/// A title and, at its right end, something that may be left out when there is no room.
pub(in crate::console) fn ends(left: Row, right: Row, width: usize) -> Row {
    let used = left.width() + right.width();
    if used + 1 > width {
        return left.clipped(width);
    }
    left.ours(" ".repeat(width - used)).joined(right)
}

/// The first line: the product, what waits, and what the assurance level promises.
fn header(model: &Model, width: u16) -> Row {
    let width = usize::from(width);
    let waiting = model.queue.waiting();
    let mut name = strong(" mcp-approve");
    if waiting > 0 {
        name.push(Tone::Warn, format!("  {} waiting", grouped(waiting)));
    } else {
        name.push(Tone::Quiet, "  none waiting");
    }
    let servers = format!(" · {}", counted(model.wrappers.len(), "server"));
    // The lowest level of all wrappers.
    let levels = model.wrappers.iter().map(|connected| connected.wrapper.assurance);
    let level = levels.min().unwrap_or(Assurance::L0);
    let promise = quiet(format!("{}: {}", level.word(), promise(level)));
    let level = quiet(level.word());
    let counted = name.clone().quiet(servers);
    // What the level promises matters more than the number of servers.
    let choices =
        [(counted.clone(), promise.clone()), (name.clone(), promise), (counted, level.clone()), (name, level)];
    choices
        .into_iter()
        .map(|(left, right)| (left, right.ours(" ")))
        .find(|(left, right)| left.width() + right.width() < width)
        .map(|(left, right)| ends(left, right, width))
        .unwrap_or_else(|| strong(" mcp-approve"))
}

/// The levels of the threat model, and what each does and does not do.
const LEVELS: [(&str, &str); 4] = [
    ("L0", "stops mistakes, not an agent with a shell"),
    ("L1", "a verdict needs your key"),
    ("L2", "agent and log are apart"),
    ("L3", "credentials are on another machine"),
];

/// What a level that wrappers have does and does not do.
pub(in crate::console) fn promise(level: Assurance) -> &'static str {
    match level {
        Assurance::L0 => LEVELS[0].1,
    }
}
