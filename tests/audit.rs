//! The audit: the chain, redaction, bodies, the store under attack and under load, the scribe, and `log`.

mod agreed;
mod body;
mod chain;
mod evidence;
mod index;
mod journal;
mod journal_sync;
mod kept;
mod log;
mod loss;
mod noted;
mod processes;
mod redact;
mod review;
mod scribe;
mod store;
mod tally;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_approve::audit::chain::Head;
use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::store::{ReadOrder, Reader, Store};
use mcp_approve::audit::verified;
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::policy::rule::Decision;
use mcp_approve::wire::digest::Digest;

/// 2026-11-21T10:00:00.000Z.
const NOON: i64 = 1_795_255_200_000;
const WRITER: [u8; 16] = *b"a writer's name.";

fn redactor() -> Redactor {
    Redactor::new(&[7; 32])
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    (folder, db)
}

/// An auto-approved read: not durable.
fn read(n: i64) -> Entry {
    let mut entry = Entry::new(NOON + n, Kind::Decision, &Arc::from("filesystem"), &Arc::from("s1"));
    entry.ticket = Some(format!("filesystem-{n}").into());
    entry.tool = Some("read_file".into());
    entry.target = Some(format!("/tmp/{n}").into());
    entry.badge = Some(Badge::Pure);
    entry.ruling = Some(Decision::Allow);
    entry.verdict = Some(VerdictWord::Approve);
    entry.by = Some(By::Default);
    entry.digest = Some(Digest::of(b"line"));
    entry.arguments = Some(format!(r#"{{"path":"/tmp/{n}"}}"#).parse().unwrap());
    entry
}

/// An operator's decision on a write: durable.
fn write(n: i64) -> Entry {
    let mut entry = read(n);
    entry.tool = Some("write_file".into());
    entry.badge = Some(Badge::Mutates);
    entry.ruling = Some(Decision::Ask);
    entry.by = Some(By::Operator);
    entry
}

fn numbered(entries: impl IntoIterator<Item = Entry>) -> Vec<(u64, Entry)> {
    (100..).zip(entries).collect()
}

/// A log with `n` reads.
fn log_of(db: &Path, n: i64) {
    let mut store = Store::open(db, WRITER).unwrap();
    store.append(&numbered((1..=n).map(read)), &redactor()).unwrap();
}

/// The head of a chain that must hold.
fn head(db: &Path) -> Head {
    let verified = verified::verify(&Reader::open(db).unwrap().unwrap(), None, &mut |_| {}).unwrap();
    assert_eq!(verified.broken, None);
    verified.head
}

/// The tickets of all records, the oldest first, of a chain that must hold.
fn tickets(db: &Path) -> Vec<String> {
    head(db);
    let mut tickets = Vec::new();
    let reader = Reader::open(db).unwrap().unwrap();
    let each = reader.each(ReadOrder::OldestFirst, &mut |row| {
        let record: serde_json::Value = serde_json::from_slice(row.body).unwrap();
        tickets.push(record["ticket"].as_str().unwrap_or_default().to_owned());
        ControlFlow::Continue(())
    });
    each.unwrap();
    tickets
}
