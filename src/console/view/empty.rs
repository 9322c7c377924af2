//! What the screen shows when no call waits: what to do next.

use ratatui::layout::Rect;

use super::Paint;
use crate::console::card::counted;
use crate::console::model::Model;
use crate::text::row::{Row, Tone, key, ours, quiet, strong};

pub(super) fn draw(paint: &mut Paint<'_>, model: &Model, area: Rect) {
    let width = usize::from(area.width);
    let rows = if model.wrappers.is_empty() { unwrapped(model) } else { idle(model) };
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
            status.approved_by_policy,
            status.approved_by_operator,
            status.denied
        )));
    }
    rows
}
