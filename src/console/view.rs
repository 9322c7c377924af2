//! Draws the model. Reads only: nothing here changes, asks the time, or writes to a terminal.

mod card;
mod footer;
mod queue;

pub use footer::signing_row;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::desk;
use super::model::{ListState, Model, Overlay, Palette, Reach, Screen};
use super::pages::{self, batch, maker, review};
use super::rows::{Panel, below, content_rows, ends};
use super::{palette, panel};
use crate::text::row::{Row, Tone, border, danger, key, ours, quiet, strong};
use crate::wire::number::{counted, grouped};

pub fn view(model: &Model, frame: &mut Frame<'_>) {
    let areas = model.areas();
    let palette = model.settings.palette;
    let bounds = frame.area();
    let mut paint = Paint { palette, bounds, buffer: frame.buffer_mut() };
    paint.rows(areas.header, [header(model, areas.header.width)]);
    paint.banners(areas.banners, model.banners());
    paint.rows(areas.strip, [pages::servers::strip(model, areas.strip.width.into())]);
    match (&model.overlay, model.screen) {
        (Some(Overlay::Help { top, .. }), _) => {
            paint.framed(areas.body, palette::help(model, areas.body, *top));
        }
        (Some(Overlay::Batch(open)), _) => paint.framed(areas.body, batch::panel(model, open, areas.body)),
        (Some(Overlay::Rule(rule)), _) => paint.framed(areas.body, maker::panel(model, rule, areas.body)),
        (Some(Overlay::Review(open)), _) => paint.framed(areas.body, review::panel(model, open, areas.body)),
        (_, Screen::Activity | Screen::Log | Screen::Tools | Screen::Rules | Screen::Servers) => {
            page(&mut paint, model);
        }
        _ if model.queue.calls.is_empty() => nothing_waits(&mut paint, model, areas.body),
        (_, Screen::Queue | Screen::Detail) => {
            let (rows, selected) = queue::rows(model, areas.queue);
            paint.rows(areas.queue, rows);
            selected.into_iter().for_each(|line| paint.highlight(areas.queue, line));
            paint.divider(areas.divider);
            card::panel(model, areas.card).into_iter().for_each(|card| paint.framed(areas.card, card));
        }
    }
    paint.panel(areas.panel, panel::rows(model));
    paint.rows(areas.footer, footer::rows(model, areas.footer.width));
}

/// Cluster by cluster. Not through ratatui's `Line`: it places a span by the width of the whole text before it, for some
/// scripts less than what its clusters take, so that the next span would cover the last of them.
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
    fn framed(&mut self, area: Rect, panel: Panel) {
        let room = content_rows(area);
        let mut all = vec![panel.title];
        all.extend(panel.rows.into_iter().take(room));
        all.resize(room + 1, Row::default());
        all.push(panel.last);
        self.rows(area, all);
    }

    fn divider(&mut self, area: Rect) {
        self.rows(area, vec![border("│"); usize::from(area.height)]);
    }

    fn highlight(&mut self, area: Rect, line: u16) {
        let y = area.y.saturating_add(line);
        let line = Rect { y, height: 1, ..area }.intersection(area).intersection(self.bounds);
        self.buffer.set_style(line, ratatui::style::Modifier::REVERSED);
    }

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
    let level = model.wrappers.iter().map(|connected| connected.status.level).min().unwrap_or_default();
    let promise = quiet(format!("{level}: {}", level.grade.sentence()));
    let level = quiet(level.to_string());
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

/// What the screen shows when no call waits: what to do next.
fn nothing_waits(paint: &mut Paint<'_>, model: &Model, area: Rect) {
    let width = usize::from(area.width);
    let rows = match model.settings.reach {
        Reach::Desk => desk::nothing_waits(model),
        Reach::Own if model.wrappers.is_empty() => unwrapped(model),
        Reach::Own => idle(model),
    };
    let rows: Vec<Row> = rows.into_iter().flat_map(|row| row.hung(width.saturating_sub(2), 2)).collect();
    let free = usize::from(area.height).saturating_sub(rows.len());
    let above = std::iter::repeat_n(Row::default(), free / 3);
    paint.rows(area, above.chain(rows));
}

fn unwrapped(model: &Model) -> Vec<Row> {
    if !model.servers.ended.is_empty() {
        return vec![
            strong("  No wrapped server is running."),
            Row::default(),
            ours("  One appears here as soon as its host starts it."),
            key("  3").ours(" shows what was decided; ").key("6").ours(" the servers that ended."),
        ];
    }
    vec![
        strong("  No server is wrapped yet."),
        Row::default(),
        ours("  Wrap the servers of your hosts:"),
        key(model.hint("    mcp-approve install")),
        Row::default(),
        ours("  Or by hand, in a host's own file:"),
        key(model.hint("    mcp-approve -- npx -y @modelcontextprotocol/server-filesystem ~/work")),
        Row::default(),
        ours("  Then restart the host. The server appears here at its first message."),
        quiet(model.hint("  To see it work first: mcp-approve demo")),
    ]
}

fn idle(model: &Model) -> Vec<Row> {
    let mut rows = vec![
        strong("  No call waits for you."),
        Row::default(),
        ours("  Calls that only read pass by policy; calls that change something stop here."),
        key("  2").ours(" shows what passes."),
        Row::default(),
    ];
    if let Some(figures) = model.queue.decisions.figures(model.now) {
        rows.push(quiet("  You: ").joined(figures.words()));
        rows.push(Row::default());
    }
    for connected in &model.wrappers {
        let status = &connected.status;
        let mut row = quiet("  · ").and_foreign(Tone::Strong, &connected.wrapper.server);
        if let Some(phase) = status.phase {
            row = row.quiet(format!("  {}", phase.word()));
        }
        if let Some(host) = &status.host {
            row = row.quiet("  for ").and_foreign(Tone::Ours, host);
        }
        rows.push(row.quiet(format!(
            "  {}, {} approved by policy, {} by operator, {} denied",
            counted(status.calls, "call"),
            grouped(status.approved_by_policy),
            grouped(status.approved_by_operator),
            grouped(status.denied)
        )));
    }
    rows
}

fn page(paint: &mut Paint<'_>, model: &Model) {
    let Some(state) = model.list(model.screen) else { return };
    let sides = pages::sides(model);
    let Some(divider) = sides.divider else {
        return match state.sheet {
            Some(top) => sheet(paint, model, sides.sheet, title(model, usize::from(sides.sheet.width)), top),
            None => list(paint, model, state, sides.list),
        };
    };
    list(paint, model, state, sides.list);
    paint.divider(divider);
    let title = match state.sheet {
        Some(_) => key("▸ ").quiet("j k read on · Esc goes back to the list"),
        None if pages::is_reviewed(model) => quiet("Enter reviews this"),
        None => quiet("Enter scrolls this"),
    };
    sheet(paint, model, sides.sheet, title, state.sheet.unwrap_or(0));
}

/// What the list is and, at the right end, the search, without which the list could be misread.
fn title(model: &Model, width: usize) -> Row {
    let (left, right) = pages::title(model);
    let right = right.clipped(width.saturating_sub(10));
    let left = left.clipped(width.saturating_sub(right.width() + 1).max(8));
    ends(left, right, width)
}

fn sheet(paint: &mut Paint<'_>, model: &Model, area: Rect, title: Row, top: usize) {
    let mut rows = pages::sheet(model, usize::from(area.width));
    let last = below(rows.len().saturating_sub(top + content_rows(area)));
    let rows = rows.split_off(top.min(rows.len()));
    paint.framed(area, Panel { title, rows, last });
}

fn list(paint: &mut Paint<'_>, model: &Model, state: &ListState, area: Rect) {
    let width = usize::from(area.width);
    let room = content_rows(area).saturating_sub(1);
    let mut rows = vec![title(model, width)];
    let count = pages::count(model);
    rows.push(pages::heading(model, width));
    if count == 0 {
        rows.push(Row::default());
        let words = pages::empty(model).into_iter();
        rows.extend(words.flat_map(|row| ours("  ").joined(row).hung(width.saturating_sub(1), 2)));
        rows.truncate(room + 2);
    }
    let shown = state.top..(state.top + room).min(count);
    rows.extend(pages::lines(model, shown, width).into_iter().map(|row| row.clipped(width).padded(width)));
    rows.resize(room + 2, Row::default());
    rows.push(pages::foot(model));
    paint.rows(area, rows);
    if count > 0
        && let Ok(line) = u16::try_from(state.at.saturating_sub(state.top) + 2)
        && usize::from(line) < room + 2
    {
        paint.highlight(area, line);
    }
}
