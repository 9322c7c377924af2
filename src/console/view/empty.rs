//! What the screen shows when no call waits: what to do next.

use ratatui::layout::Rect;

use super::Paint;
use crate::console::card::counted;
use crate::console::model::Model;
use crate::console::row::{Row, Tone};

pub(super) fn draw(paint: &mut Paint<'_>, model: &Model, area: Rect) {
    let width = usize::from(area.width);
    let rows = if model.wrappers.is_empty() { unwrapped(model) } else { idle(model) };
    let rows: Vec<Row> = rows.into_iter().flat_map(|row| row.hung(width.saturating_sub(2), 2)).collect();
    let free = usize::from(area.height).saturating_sub(rows.len());
    let above = std::iter::repeat_n(Row::default(), free / 3);
    paint.rows(area, above.chain(rows));
}

fn unwrapped(model: &Model) -> Vec<Row> {
    if !model.browse.ended.is_empty() {
        return vec![
            Row::of(Tone::Strong, "  No wrapped server is running."),
            Row::default(),
            Row::of(Tone::Ours, "  One appears here as soon as its host starts it."),
            Row::of(Tone::Key, "  3")
                .and(Tone::Ours, " shows what was decided; ")
                .and(Tone::Key, "6")
                .and(Tone::Ours, " the servers that ended."),
        ];
    }
    vec![
        Row::of(Tone::Strong, "  No server is wrapped yet."),
        Row::default(),
        Row::of(Tone::Ours, "  Wrap the servers of your hosts:"),
        Row::of(Tone::Key, model.hint("    mcp-approve install")),
        Row::default(),
        Row::of(Tone::Ours, "  Or by hand, in a host's own file:"),
        Row::of(Tone::Key, model.hint("    mcp-approve -- npx -y @modelcontextprotocol/server-filesystem ~/work")),
        Row::default(),
        Row::of(Tone::Ours, "  Then restart the host. The server appears here at its first message."),
        Row::of(Tone::Quiet, model.hint("  To see it work first: mcp-approve demo")),
    ]
}

fn idle(model: &Model) -> Vec<Row> {
    let mut rows = vec![
        Row::of(Tone::Strong, "  No call waits for you."),
        Row::default(),
        Row::of(Tone::Ours, "  Calls that only read pass by policy; calls that change something stop here."),
        Row::of(Tone::Key, "  2").and(Tone::Ours, " shows what passes."),
        Row::default(),
    ];
    if let Some(figures) = model.decisions.figures(model.now) {
        rows.push(Row::of(Tone::Quiet, "  You: ").joined(super::queue::told(&figures)));
        rows.push(Row::default());
    }
    for connected in &model.wrappers {
        let status = &connected.status;
        let mut row = Row::of(Tone::Quiet, "  · ").and_foreign(Tone::Strong, &connected.wrapper.server);
        if let Some(phase) = status.phase {
            row = row.and(Tone::Quiet, format!("  {}", phase.word()));
        }
        if let Some(host) = &status.host {
            row = row.and(Tone::Quiet, "  for ").and_foreign(Tone::Ours, host);
        }
        rows.push(row.and(
            Tone::Quiet,
            format!(
                "  {}, {} approved by policy, {} by operator, {} denied",
                counted(status.calls, "call"),
                status.approved_by_policy,
                status.approved_by_operator,
                status.denied
            ),
        ));
    }
    rows
}
