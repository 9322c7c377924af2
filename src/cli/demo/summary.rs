//! What the demo says at its end: what ran, what did not, what became of the workspace, whether the log verifies.

use std::io::Write;

use super::effects::State;
use super::ledger::{self, Chained, Row};
use super::stage::Stage;
use crate::cli::error::Error;
use crate::console::card::counted;
use crate::text::plain::visible;

/// How to go on with a server of one's own.
pub(super) const NEXT: &str = "
To put it in front of the servers that your agent uses already:
    mcp-approve install
and open the console in any terminal:
    mcp-approve";

/// Writes the summary from the log and the workspace.
pub(super) fn write(stage: &Stage, before: &State, out: &mut dyn Write) -> Result<Chained, Error> {
    let rows = ledger::read(stage)?;
    let of_kind = |kind: &'static str| rows.iter().filter(move |row| row.field("kind") == kind);
    let (asked, passed): (Vec<_>, Vec<_>) =
        of_kind("decision").partition(|row| row.field("by") == "operator" || row.field("verdict") == "deny");
    let (ran, denied): (Vec<_>, Vec<_>) = asked.into_iter().partition(|row| row.field("verdict") == "approve");
    section(out, "Ran, because it was approved", ran)?;
    section(out, "Denied, and not run", denied)?;
    section(out, "Withdrawn undecided, and not run", of_kind("withdrawn").collect())?;
    writeln!(out, "\nPassed by policy without a question: {}", counted(passed.len(), "call"))?;

    writeln!(out, "\nThe workspace")?;
    let changes = before.changes(&State::of(&stage.work)?);
    for change in &changes {
        writeln!(out, "  {change}")?;
    }
    if changes.is_empty() {
        writeln!(out, "  is as it was")?;
    }

    writeln!(out, "\nThe log: {}", counted(rows.len(), "record"))?;
    let (chained, words) = ledger::verify(stage)?;
    // The advice on a log whose end was cut off is left out: this log has just been written.
    for line in words.lines().take_while(|line| !line.starts_with("Not checked: ")) {
        writeln!(out, "  {line}")?;
    }
    Ok(chained)
}

fn section(out: &mut dyn Write, title: &str, rows: Vec<&Row>) -> Result<(), Error> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}")?;
    for row in rows {
        let [ticket, tool, badge, by] = ["ticket", "tool", "badge", "by"].map(|name| row.field(name));
        writeln!(out, "  {ticket:<9} {tool:<17} {badge:<8} by {by}{}", remark(row))?;
    }
    Ok(())
}

/// What a reader of the list would miss: an edit before the approval, and why a call was denied.
fn remark(row: &Row) -> String {
    if row.was_edited() {
        return ", edited before it ran".into();
    }
    match row.detail("reason") {
        Some(reason) if row.field("verdict") == "deny" => format!(": {}", visible(reason)),
        _ => String::new(),
    }
}
