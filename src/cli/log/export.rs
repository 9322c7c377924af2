//! `mcp-approve log export`: records for other programs, with what proves them. What is hidden in the log stays hidden.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use super::{Finding, LogError, Of, search};
use crate::audit::chain::Row;
use crate::audit::fields::{Field, Record};
use crate::audit::moment::Since;
use crate::audit::query;
use crate::audit::record::Kind;
use crate::audit::redact::push_string;
use crate::audit::store::Reader;
use crate::cli::print::{visible, visible_json};

/// Checks an export without this program.
const VERIFIER: &str = include_str!("../../../assets/verify_export.py");

/// Which records are exported, and as what.
#[derive(Clone, Debug, clap::Args)]
pub struct ExportOptions {
    /// jsonl (one object per line, can be verified) or csv (for a spreadsheet)
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub format: Format,
    #[command(flatten)]
    pub of: Of,
    /// Only this kind of record: decision, decision-asked, forward, outcome, withdrawn, …
    #[arg(long)]
    pub kind: Option<Kind>,
    /// Only since then: 30d, 1h, 5m, or a time like 2026-11-21T10:00:00Z
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
    /// Print the program that checks a jsonl export instead (Python 3, nothing to install)
    #[arg(long, exclusive = true)]
    pub verifier: bool,
}

/// What an export looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    #[default]
    Jsonl,
    Csv,
}

const COLUMNS: [&str; 18] = [
    "seq",
    "time",
    "kind",
    "server",
    "session",
    "ticket",
    "tool",
    "badge",
    "identity",
    "ruling",
    "verdict",
    "by",
    "rule",
    "digest",
    "latency_ms",
    "arguments",
    "writer",
    "link",
];

/// Writes records, the oldest first, as they are read.
///
/// # Errors
/// As [`super::run`].
pub(super) fn run(options: &ExportOptions, db: &Path, now: i64, out: &mut dyn Write) -> Result<Finding, LogError> {
    if options.verifier {
        out.write_all(VERIFIER.as_bytes())?;
        return Ok(Finding::So);
    }
    let search = search(&options.of, options.since, now).with(Field::Kind, options.kind.map(Kind::word));
    let reader = Reader::open(db)?.ok_or_else(|| LogError::NoLog(db.to_path_buf()))?;
    if options.format == Format::Csv {
        writeln!(out, "{}", COLUMNS.join(","))?;
    }
    let mut written = Ok(());
    query::each(&reader, &search, &mut |row| {
        written = match options.format {
            Format::Jsonl => writeln!(out, "{}", jsonl(&row)),
            Format::Csv => writeln!(out, "{}", csv(&row)),
        };
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written.map_err(LogError::Output)?;
    Ok(Finding::So)
}

/// The row of `log list --jsonl`, then what its link is made of: the body as a text, because every byte of it counts.
fn jsonl(row: &Row<'_>) -> String {
    let mut text = Record::new(row).json();
    text.pop();
    text.push_str(&format!(r#","writer":"{}","link":"{}","body":"#, hex(row.writer), hex(row.link)));
    push_string(&mut text, &String::from_utf8_lossy(row.body));
    text.push('}');
    visible_json(&text)
}

fn csv(row: &Row<'_>) -> String {
    let found = Record::new(row);
    let text = |text: Option<&str>| visible(text.unwrap_or_default());
    let json = |json: Option<&serde_json::value::RawValue>| visible_json(json.map_or("", |json| json.get()));
    let (seq, writer, link) = (row.seq.to_string(), hex(row.writer), hex(row.link));
    let cells = match found.fields() {
        Some(fields) => [
            seq,
            text(Some(&fields.time)),
            text(Some(&fields.kind)),
            text(Some(&fields.server)),
            text(Some(&fields.session)),
            text(fields.ticket.as_deref()),
            text(fields.tool.as_deref()),
            text(fields.badge.as_deref()),
            text(fields.identity.as_deref()),
            text(fields.ruling.as_deref()),
            text(fields.verdict.as_deref()),
            text(fields.by.as_deref()),
            text(fields.rule.as_deref()),
            text(fields.digest.as_deref()),
            json(fields.latency_ms),
            json(fields.arguments),
            writer,
            link,
        ],
        None => {
            let mut cells = <[String; 18]>::default();
            (cells[0], cells[2], cells[15]) = (seq, "UNREADABLE".to_owned(), visible(&found.body));
            (cells[16], cells[17]) = (writer, link);
            cells
        }
    };
    cells.map(|cell| quoted(&cell)).join(",")
}

/// One cell. What a spreadsheet would run as a formula is made a text by the quote that they know for it.
fn quoted(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let mark = if formula { "'" } else { "" };
    if formula || cell.contains([',', '"', '\n', '\r']) {
        format!("\"{mark}{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
