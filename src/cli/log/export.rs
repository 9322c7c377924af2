//! `mcp-approve log export`: records for other programs, with what proves them. What is hidden in the log stays hidden.

use std::borrow::Cow;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::ValueHint;
use serde_json::value::RawValue;

use crate::audit::fields::{TEXTS, Why};
use crate::audit::{Clock, Record, chain::Row, query, redact::push_string, store::noted};
use crate::cli::error::{Error, Exit, done};
use crate::cli::log::named::{self, RecordsWanted};
use crate::cli::log::verify;
use crate::cli::look::{versioned, visible, visible_json};

pub(super) const VERIFIER: &str = include_str!("../../../assets/verify_export.py");

#[derive(Clone, Debug, clap::Args)]
pub struct ExportOptions {
    /// jsonl (one object per line, can be verified), csv (for a spreadsheet), or evidence (one call, by its SEQ or ticket, with
    /// all that it takes to check it elsewhere)
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub format: Format,
    #[command(flatten)]
    pub of: RecordsWanted,
    /// The folder that evidence is written into; it must not exist yet
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub to: Option<PathBuf>,
    /// Print the program that checks a jsonl export instead (Python 3, nothing to install)
    #[arg(long, exclusive = true)]
    pub verifier: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    #[default]
    Jsonl,
    Csv,
    Evidence,
}

impl ExportOptions {
    /// The folder that evidence goes into; `None` for what is written to stdout.
    pub(super) fn evidence(&self) -> Result<Option<&Path>, Error> {
        match (self.format, &self.to) {
            (Format::Evidence, None) => {
                let what = "evidence is a folder of files, and none is named";
                Err(Error::wrong(what, "mcp-approve log export --format evidence TICKET --to FOLDER"))
            }
            (Format::Jsonl | Format::Csv, Some(_)) => {
                Err(Error::wrong("--to is for evidence alone", "write other exports with > FILE"))
            }
            (_, to) => Ok(to.as_deref()),
        }
    }
}

/// Verifies the whole log meanwhile: where it does not hold, the error comes after all is written.
pub(super) fn run(options: &ExportOptions, db: &Path, clock: Clock, out: &mut dyn Write) -> Exit {
    if options.verifier {
        return done(out.write_all(VERIFIER.as_bytes()));
    }
    let search = options.of.search(clock)?;
    // Before the log is opened, which may grow meanwhile.
    let noted = noted::read(db);
    let reader = named::open(db)?.ok_or_else(|| Error::NoLog(db.to_path_buf()))?;
    if options.format == Format::Csv {
        writeln!(out, "seq,{},latency_ms,arguments,operator,reason,writer,link", TEXTS.join(","))?;
    }
    let mut written = Ok(());
    let verified = query::each(&reader, &search, &mut |row| {
        written = match options.format {
            Format::Jsonl => writeln!(out, "{}", jsonl(&row)),
            Format::Csv | Format::Evidence => writeln!(out, "{}", csv(&row)),
        };
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written?;
    // The whole export is written before an error on stderr.
    out.flush()?;
    verify::vouch("what was exported", &verified, &noted, &reader)
}

/// The row of `log list --jsonl`, then what its link is made of: the body as a text, because every byte of it counts.
pub(super) fn jsonl(row: &Row<'_>) -> String {
    let mut text = Record::new(row).json();
    text.pop();
    text.push_str(&format!(r#","writer":"{}","link":"{}","body":"#, hex(row.writer), hex(row.link)));
    push_string(&mut text, &String::from_utf8_lossy(row.body));
    text.push('}');
    versioned(&text)
}

fn csv(row: &Row<'_>) -> String {
    let record = Record::new(row);
    let json = |json: Option<&RawValue>| visible_json(json.map_or("", |json| json.get()));
    let texts = |texts: [Option<&str>; TEXTS.len()]| texts.map(|text| visible(text.unwrap_or_default()));
    let (texts, rest) = match record.fields() {
        Some(fields) => {
            let Why { operator, reason } = fields.why();
            let text = |text: Option<Cow<'_, str>>| visible(&text.unwrap_or_default());
            let rest = [json(fields.latency_ms), json(fields.arguments), text(operator), text(reason)];
            (texts(fields.texts()), rest)
        }
        None => {
            let mut unreadable = <[Option<&str>; TEXTS.len()]>::default();
            unreadable[1] = Some("UNREADABLE");
            (texts(unreadable), [String::new(), visible(&record.body), String::new(), String::new()])
        }
    };
    let proof = [hex(row.writer), hex(row.link)];
    let cells = [row.seq.to_string()].into_iter().chain(texts).chain(rest).chain(proof);
    cells.map(|cell| quoted(&cell)).collect::<Vec<_>>().join(",")
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

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
