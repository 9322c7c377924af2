//! What the demo says at its end: what ran, what did not, what became of the workspace, whether the log verifies. It reads the
//! log as any user does, through `log list --json` and `log verify`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::chain;
use super::error;
use crate::cli::demo::stage::Stage;
use crate::cli::demo::tools::{SHOP_FILE, Shop};
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
    let rows = read(stage)?;
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
    let (chained, words) = verify(stage)?;
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

/// One record. Of each call the `decision` is final; what is `withdrawn` was taken back before one.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Row(Value);

/// Reads the log of this demo: all records, oldest first.
pub(super) fn read(stage: &Stage) -> Result<Vec<Row>, Error> {
    let cannot = |why: &str| error::between(format!("the audit log of the demo could not be read: {why}"));
    let listed = chain::ask(&stage.home, &["log", "list", "--json", "--limit", "10000"])?;
    if !listed.status.success() {
        return Err(cannot(&String::from_utf8_lossy(&listed.stderr)));
    }
    let mut rows: Vec<Row> = serde_json::from_slice(&listed.stdout).map_err(|cause| cannot(&cause.to_string()))?;
    rows.sort_by_key(|row| row.0["seq"].as_u64());
    Ok(rows)
}

impl Row {
    /// A field as text; a dash where it does not apply.
    pub(super) fn field(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or("-")
    }

    /// A text beside the columns.
    pub(super) fn detail(&self, name: &str) -> Option<&str> {
        self.0["detail"][name].as_str()
    }

    /// Whether the operator changed the arguments that were decided about.
    fn was_edited(&self) -> bool {
        self.detail("edited_from").is_some()
    }
}

/// Whether the chain holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chained {
    Verifies,
    Broken,
}

/// Runs `log verify`; its words say more.
pub(super) fn verify(stage: &Stage) -> Result<(Chained, String), Error> {
    let verified = chain::ask(&stage.home, &["log", "verify"])?;
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    Ok(if verified.status.success() {
        (Chained::Verifies, words(&verified.stdout))
    } else {
        (Chained::Broken, format!("{}\n{}", words(&verified.stdout), words(&verified.stderr)))
    })
}

/// The workspace at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    files: BTreeMap<String, Vec<u8>>,
    tables: BTreeMap<&'static str, Vec<String>>,
}

impl State {
    /// Reads the whole workspace.
    pub(super) fn of(work: &Path) -> Result<Self, Error> {
        let mut files = BTreeMap::new();
        collect(work, "", &mut files).map_err(|cause| error::io("reading", work, cause))?;
        let tables = Shop::at(work.join(SHOP_FILE)).contents()?.into_iter().collect();
        Ok(Self { files, tables })
    }

    /// What is different `after`: `report.md appears`, `notes.md changes`, `drafts/a.md is gone`,
    /// `sessions: 5 rows -> 2`.
    pub(super) fn changes(&self, after: &Self) -> Vec<String> {
        let mut said = Vec::new();
        for (name, before) in &self.files {
            match after.files.get(name) {
                None => said.push(format!("{name} is gone")),
                Some(now) if now != before => said.push(format!("{name} changes")),
                Some(_) => {}
            }
        }
        let new = after.files.keys().filter(|name| !self.files.contains_key(*name));
        said.extend(new.map(|name| format!("{name} appears")));
        for (table, before) in &self.tables {
            let now = after.tables.get(table).map_or(&[][..], Vec::as_slice);
            if before.len() != now.len() {
                said.push(format!("{table}: {} rows -> {}", before.len(), now.len()));
            } else if before != now {
                said.push(format!("{table}: rows change"));
            }
        }
        said
    }
}

/// SQLite's files are read through its tables instead.
fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else if !name.starts_with(SHOP_FILE) {
            match fs::read(entry.path()) {
                Ok(content) => drop(files.insert(name, content)),
                // Moved away since the folder was listed: gone.
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                Err(cause) => return Err(cause),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::stage::fill;
    use super::*;

    #[test]
    fn every_kind_of_change_is_seen_and_nothing_else() {
        let work = tempfile::tempdir().unwrap();
        fill(work.path()).unwrap();
        let before = State::of(work.path()).unwrap();
        assert!(before.changes(&State::of(work.path()).unwrap()).is_empty());

        fs::write(work.path().join("letter.md"), "l").unwrap();
        fs::write(work.path().join("notes.md"), "n").unwrap();
        fs::remove_file(work.path().join("drafts/todo.md")).unwrap();
        let shop = Shop::at(work.path().join(SHOP_FILE));
        shop.remove_sessions(30).unwrap();
        shop.change("UPDATE orders SET status = 'paid' WHERE id = 1003").unwrap();
        assert_eq!(
            before.changes(&State::of(work.path()).unwrap()),
            [
                "drafts/todo.md is gone", "notes.md changes", "letter.md appears", "orders: rows change",
                "sessions: 5 rows -> 2",
            ]
        );
    }
}
