//! Somebody with the file and the time to think changes the log; `log verify` must find it, whatever it was.

use std::fs;
use std::path::Path;

use mcp_approve::audit::chain::{Head, Row, body_digest};
use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::store::{ReadOrder, Reader, Store};
use mcp_approve::cli::log::verify::VerifyOptions;
use mcp_approve::cli::log::{self, LogCommand};
use mcp_approve::cli::look::Look;
use mcp_approve::wire::digest::Digest;
use rusqlite::{Connection, params};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;

use crate::bed::{Chance, Measured, Run, grouped, in_parallel};

const RECORDS: i64 = 40;

/// A log with its noted head, and an older backup of the database alone.
struct Original {
    folder: tempfile::TempDir,
    head: Digest,
}

fn original() -> Original {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    let append = |from: i64, to: i64| {
        let mut store = Store::open(&db, [1; 16]).unwrap();
        for n in from..to {
            let mut entry = Entry::new(n, Kind::Decision, &Arc::from("s"), &Arc::from("session"));
            entry.ticket = Some(format!("s-{n}").into());
            entry.arguments = Some(format!(r#"{{"path":"/tmp/{n}"}}"#).parse().unwrap());
            store.append(&[(1, entry)], &Redactor::new(&[7; 32])).unwrap();
        }
        store.sync().unwrap();
    };
    append(0, RECORDS / 2);
    fs::copy(&db, folder.path().join("backup")).unwrap();
    append(RECORDS / 2, RECORDS);
    let head = Connection::open(&db)
        .unwrap()
        .query_row("SELECT link FROM record ORDER BY seq DESC", [], |row| row.get::<_, [u8; 32]>(0))
        .unwrap();
    Original { folder, head: Digest::from_bytes(head) }
}

/// The whole table as bytes, to tell a change that changes nothing from one that does.
fn dump(db: &Path) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    Reader::open(db)
        .ok()??
        .each(ReadOrder::OldestFirst, &mut |row: Row<'_>| {
            all.extend(row.seq.to_be_bytes());
            for part in [row.writer, row.body, row.link] {
                all.extend((part.len() as u64).to_be_bytes());
                all.extend(part);
            }
            ControlFlow::Continue(())
        })
        .ok()?;
    Some(all)
}

const KINDS: [&str; 10] = [
    "bit in a body", "bit in a link", "bit in a writer", "delete", "swap", "insert", "truncate", "old backup",
    "rewritten", "bit in the file",
];

/// Changes the log in `db` in one way.
fn tamper(kind: &str, db: &Path, backup: &Path, chance: &mut Chance) {
    if kind == "old backup" {
        fs::copy(backup, db).unwrap();
        return;
    }
    if kind == "bit in the file" {
        let mut bytes = fs::read(db).unwrap();
        let at = chance.below(bytes.len());
        bytes[at] ^= 1 << chance.below(8);
        return fs::write(db, bytes).unwrap();
    }
    let raw = Connection::open(db).unwrap();
    raw.execute_batch(
        "DROP TRIGGER IF EXISTS record_is_not_changed; DROP TRIGGER IF EXISTS record_is_not_removed;
         DROP TRIGGER IF EXISTS record_is_not_replaced; PRAGMA ignore_check_constraints=1",
    )
    .unwrap();
    let some = |chance: &mut Chance| 1 + i64::try_from(chance.below(usize::try_from(RECORDS).unwrap())).unwrap();
    let seq = some(chance);
    let column = |name: &str, seq: i64| -> Vec<u8> {
        let sql = format!("SELECT CAST({name} AS BLOB) FROM record WHERE seq = ?1");
        raw.query_row(&sql, [seq], |row| row.get(0)).unwrap()
    };
    let set = |name: &str, seq: i64, value: &[u8]| {
        let cast = if name == "body" { "CAST(?1 AS TEXT)" } else { "?1" };
        let sql = format!("UPDATE record SET {name} = {cast} WHERE seq = ?2");
        raw.execute(&sql, params![value, seq]).unwrap();
    };
    match kind {
        "bit in a body" | "bit in a link" | "bit in a writer" => {
            let name = kind.rsplit(' ').next().unwrap();
            let mut value = column(name, seq);
            let at = chance.below(value.len());
            value[at] ^= 1 << chance.below(7);
            set(name, seq, &value);
        }
        "delete" => drop(raw.execute("DELETE FROM record WHERE seq = ?1", [seq]).unwrap()),
        "truncate" => drop(raw.execute("DELETE FROM record WHERE seq >= ?1", [seq]).unwrap()),
        "swap" => {
            let other = 1 + seq % RECORDS;
            let (one, two) = (column("body", seq), column("body", other));
            set("body", seq, &two);
            set("body", other, &one);
        }
        "insert" => {
            raw.execute("UPDATE record SET seq = -seq - 1 WHERE seq > ?1", [seq]).unwrap();
            raw.execute("UPDATE record SET seq = -seq WHERE seq < 0", []).unwrap();
            let sql = "INSERT INTO record (seq, writer, body, link) SELECT seq + 1, writer, body, link FROM record WHERE seq = ?1";
            raw.execute(sql, [seq]).unwrap();
        }
        // The best there is: one body is changed, and every link from there on is made anew.
        "rewritten" => {
            let mut body = column("body", seq);
            let at = body.iter().position(u8::is_ascii_digit).unwrap();
            body[at] = if body[at] == b'9' { b'8' } else { body[at] + 1 };
            set("body", seq, &body);
            let mut head = match seq {
                1 => Head::EMPTY,
                _ => Head {
                    seq: u64::try_from(seq - 1).unwrap(),
                    link: Digest::from_bytes(column("link", seq - 1).try_into().unwrap()),
                },
            };
            for seq in seq..=RECORDS {
                let writer: [u8; 16] = column("writer", seq).try_into().unwrap();
                head = head.next(&writer, body_digest(&column("body", seq)));
                set("link", seq, head.link.as_bytes());
            }
        }
        other => panic!("no such tampering: {other}"),
    }
}

/// R20. The noted head lies beside the log; the expected head is given for every second one.
pub fn found(run: &Run) -> Measured {
    let original = original();
    let db = original.folder.path().join("audit.db");
    let whole = dump(&db).unwrap();
    let wanted = run.of(2_000);
    let done = in_parallel(2, wanted, |number| {
        let mut chance = run.chance(number);
        let kind = KINDS[usize::try_from(number % 10).unwrap()];
        loop {
            let folder = tempfile::tempdir().unwrap();
            let copy = folder.path().join("audit.db");
            fs::copy(&db, &copy).unwrap();
            fs::copy(original.folder.path().join("audit.head"), folder.path().join("audit.head")).unwrap();
            tamper(kind, &copy, &original.folder.path().join("backup"), &mut chance);
            if dump(&copy).is_some_and(|now| now == whole) {
                // A bit that nobody reads.
                continue;
            }
            let expect_head = (number % 20 < 10).then_some(original.head);
            let verify = LogCommand::Verify(VerifyOptions { expect_head, ..VerifyOptions::default() });
            let finding = log::run(
                &verify,
                &copy,
                &mcp_approve::home::places::Places::under(copy.parent().unwrap()).unwrap(),
                Look::plain(0),
                &mut Vec::new(),
            );
            return (kind, !matches!(finding, Ok(ExitCode::SUCCESS)));
        }
    });
    let found = done.iter().filter(|(_, found)| *found).count() as u64;
    let mut missed: Vec<&str> = done.iter().filter(|(_, found)| !found).map(|(kind, _)| *kind).collect();
    missed.sort_unstable();
    missed.dedup();
    let text = if missed.is_empty() { String::new() } else { format!("; missed: {}", missed.join(", ")) };
    Measured::held(found == wanted, format!("{} of {}{text}", grouped(found), grouped(wanted)))
}
