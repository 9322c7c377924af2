//! What the demo says at its end: what ran, what did not, what became of the workspace, and whether its log verifies.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::{fs, str};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::audit::fields::{Fields, Record};
use crate::audit::query;
use crate::audit::record::{By, Kind, VerdictWord};
use crate::audit::search::Search;
use crate::cli::demo::tools::{SHOP_FILE, failed, rows};
use crate::cli::error::{Error, Exit};
use crate::cli::log::verify::VerifyOptions;
use crate::cli::log::{self, LogCommand};
use crate::cli::look::{Here, Look, visible};
use crate::wire::number::counted;

const TABLES: [&str; 3] = ["customers", "orders", "sessions"];

pub(super) fn write(before: &Workspace, after: &Workspace, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let db = here.places.audit_db();
    let reader = log::named::open(&db)?.ok_or_else(|| Error::NoLog(db.clone()))?;
    let records = query::last(&reader, None, &Search::default(), usize::MAX)?;
    let mut fields: Vec<Fields<'_>> = records.iter().filter_map(Record::fields).collect();
    fields.sort_by_key(Fields::millis);
    let of_kind = |kind| fields.iter().filter(move |one| one.kind() == Some(kind));
    let denied = |one: &&Fields<'_>| one.verdict() == Some(VerdictWord::Deny);
    let (asked, passed): (Vec<_>, Vec<_>) =
        of_kind(Kind::Decision).partition(|one| one.by() == Some(By::Operator) || denied(one));
    let (denied, ran): (Vec<_>, Vec<_>) = asked.into_iter().partition(denied);
    section("Ran, because it was approved", &ran, out)?;
    section("Denied, and not run", &denied, out)?;
    section("Withdrawn undecided, and not run", &of_kind(Kind::Withdrawn).collect::<Vec<_>>(), out)?;
    writeln!(out, "\nPassed by policy without a question: {}", counted(passed.len(), "call"))?;
    writeln!(out, "\nThe workspace")?;
    let changes = before.changes(after);
    changes.iter().try_for_each(|change| writeln!(out, "  {change}"))?;
    if changes.is_empty() {
        writeln!(out, "  is as it was")?;
    }
    writeln!(out, "\nThe log: {}", counted(records.len(), "record"))?;
    let mut said = Vec::new();
    let verify = LogCommand::Verify(VerifyOptions::default());
    let verified = log::run(&verify, &db, &here.places.redaction_key(), Look::here(here), &mut said)?;
    // The advice on a log whose end was cut off is left out: this log has just been written.
    let said = str::from_utf8(&said).unwrap_or_default().lines().take_while(|line| !line.starts_with("Not checked: "));
    said.into_iter().try_for_each(|line| writeln!(out, "  {line}"))?;
    Ok(if verified == ExitCode::SUCCESS { verified } else { ExitCode::FAILURE })
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DemoEdit {
    edited_from: Option<IgnoredAny>,
}

fn section(title: &str, calls: &[&Fields<'_>], out: &mut dyn Write) -> io::Result<()> {
    if calls.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}")?;
    for call in calls {
        let [ticket, tool, badge, by] =
            [&call.ticket, &call.tool, &call.badge, &call.by].map(|text| text.as_deref().unwrap_or("-"));
        let reason = call.why().reason.filter(|_| call.verdict() == Some(VerdictWord::Deny));
        let remark = match (call.detail::<DemoEdit>().unwrap_or_default().edited_from, reason) {
            (Some(_), _) => ", edited before it ran".to_owned(),
            (None, Some(reason)) => format!(": {}", visible(&reason)),
            (None, None) => String::new(),
        };
        writeln!(out, "  {ticket:<9} {tool:<17} {badge:<8} by {by}{remark}")?;
    }
    Ok(())
}

pub(super) struct Workspace {
    files: BTreeMap<String, Vec<u8>>,
    tables: [Vec<String>; 3],
}

impl Workspace {
    pub(super) fn of(work: &Path) -> Result<Self, Error> {
        let mut files = BTreeMap::new();
        collect(work, "", &mut files).map_err(failed)?;
        let mut tables: [Vec<String>; 3] = Default::default();
        for (table, found) in TABLES.iter().zip(&mut tables) {
            let all = rows(work, &format!("SELECT * FROM {table} ORDER BY id")).map_err(failed)?;
            *found = all.iter().map(ToString::to_string).collect();
        }
        Ok(Self { files, tables })
    }

    /// What is different after it: `report.md appears`, `drafts/a.md is gone`, `sessions: 5 rows -> 2`.
    fn changes(&self, after: &Self) -> Vec<String> {
        let names: BTreeSet<&String> = self.files.keys().chain(after.files.keys()).collect();
        let file = |name: &String| match (self.files.get(name), after.files.get(name)) {
            (_, None) => Some(format!("{name} is gone")),
            (None, Some(_)) => Some(format!("{name} appears")),
            (before, now) => (before != now).then(|| format!("{name} changes")),
        };
        let table = |((table, before), now): ((&&str, &Vec<String>), &Vec<String>)| {
            let rows = format!("{table}: {} rows -> {}", before.len(), now.len());
            let said = if before.len() == now.len() { format!("{table}: rows change") } else { rows };
            (before != now).then_some(said)
        };
        let tables = TABLES.iter().zip(&self.tables).zip(&after.tables).filter_map(table);
        names.into_iter().filter_map(file).chain(tables).collect()
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
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}
