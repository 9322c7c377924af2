//! `mcp-approve log export`: records for other programs, with what proves them. What is hidden in the log stays hidden. With
//! `--format evidence`, one decision as a folder that somebody without this program can check, with `ssh-keygen` and Python: its
//! records, all links up to the head of the log, what was signed, and the texts that it names.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::ValueHint;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::audit::fields::{TEXTS, Why};
use crate::audit::index::Walk;
use crate::audit::kept_texts::{self, State};
use crate::audit::{
    Clock, Fields, Kind, Outcome, ReadOrder, Record, VerdictWord, chain::Row, chain::body_digest, query,
    redact::push_string, removed::Removed, store::noted, store::noted::Noted, verified,
};
use crate::cli::error::{Error, Exit, done};
use crate::cli::log::named::{self, LogPlace, RecordsWanted};
use crate::cli::log::{signatures::kept, verify, verify_desk};
use crate::cli::look::{pretty, shown, versioned, visible, visible_json};
use crate::home::places::Places;
use crate::signing::sshsig::rearmored;
use crate::signing::statement::{Kept, NAMESPACE};
use crate::wire::Digest;

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

/// Verifies the whole log, too: where it does not hold, the error comes after all is written.
pub(super) fn run(
    options: &ExportOptions,
    (place, places): (LogPlace<'_>, &Places),
    clock: Clock,
    out: &mut dyn Write,
) -> Exit {
    if options.verifier {
        return done(out.write_all(VERIFIER.as_bytes()));
    }
    let search = options.of.search(clock)?;
    // Before the log is opened, which may grow meanwhile.
    let noted = if let LogPlace::File(db) = place { noted::read(db) } else { Noted::Nothing };
    // There the logs of all machines are one after the other: each is verified as it is now, before.
    let (reader, wrong) = match place {
        LogPlace::File(_) => (place.open_there()?, None),
        LogPlace::Desk(target) => verify_desk::verified(target, places)?,
    };
    if options.format == Format::Csv {
        let machine = if let LogPlace::Desk(_) = place { "machine," } else { "" };
        writeln!(out, "{machine}seq,{},latency_ms,arguments,operator,reason,writer,link", TEXTS.join(","))?;
    }
    let mut written = Ok(());
    let mut write = |row: Row<'_>| {
        written = match options.format {
            Format::Jsonl => writeln!(out, "{}", jsonl(&row)),
            Format::Csv | Format::Evidence => writeln!(out, "{}", csv(&row)),
        };
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let verified = match place {
        LogPlace::File(_) => Some(query::each(&reader, &search, &mut write)?),
        LogPlace::Desk(_) => {
            let walk = Walk::new(search.clone(), ReadOrder::OldestFirst, 1);
            walk.to_the_end(&reader, None, &mut |row| match search.takes_row(&row) {
                true => write(row),
                false => ControlFlow::Continue(()),
            })?;
            None
        }
    };
    written?;
    // The whole export is written before an error on stderr.
    out.flush()?;
    const WHAT: &str = "what was exported";
    match verified {
        Some(verified) => verify::vouch(WHAT, &verified, &noted, &reader),
        None => verify_desk::vouch(WHAT, wrong.as_ref()),
    }
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
    let seq = row.origin.map_or(row.seq, |origin| origin.seq).to_string();
    let cells = row.machine().map(visible).into_iter().chain([seq]).chain(texts).chain(rest).chain(proof);
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

type Files = BTreeMap<String, Vec<u8>>;

pub(super) fn evidence(what: &str, to: &Path, db: &Path, out: &mut dyn Write) -> Exit {
    // Before the log is opened, which may grow meanwhile.
    let noted = noted::read(db);
    let named::Named { reader, call, .. } = named::named(what, (None, None), db)?;
    let is_decision = |record: &&Record| record.fields().is_some_and(|of| of.kind() == Some(Kind::Decision));
    let Some(decision) = call.iter().rev().find(is_decision) else {
        let what = format!("{} names no call that was decided", visible(what));
        return Err(Error::wrong(what, "`mcp-approve log list` names calls: give a number of SEQ, or a ticket"));
    };
    let of_call: BTreeSet<i64> = call.iter().map(|record| record.seq).collect();
    let first = of_call.first().and_then(|seq| u64::try_from(*seq).ok()).unwrap_or(1);
    let (mut files, mut rows, mut head) = (Files::new(), Vec::new(), String::new());
    let mut add = |line: String| rows.extend_from_slice(format!("{line}\n").as_bytes());
    // What the first record is linked to.
    if let Some(end) = reader.removed().map(Removed::end).filter(|end| end.seq + 1 == first) {
        add(json!({ "seq": end.seq, "writer": "", "link": end.link, "inner": "" }).to_string());
    }
    reader.each_from(ReadOrder::OldestFirst, first.saturating_sub(1), u64::MAX, &mut |row| {
        head = format!("record {}, link {}", row.seq, hex(row.link));
        // Of other records their links alone: what they say belongs to other calls.
        let linked =
            || json!({ "seq": row.seq, "writer": hex(row.writer), "link": hex(row.link), "inner": body_digest(row.body) });
        add(if of_call.contains(&row.seq) { jsonl(&row) } else { linked().to_string() });
        ControlFlow::Continue(())
    })?;
    files.insert("records.jsonl".to_owned(), rows);
    let signed = kept(decision.body.as_bytes());
    add_signatures(&signed, &mut files);
    let named: BTreeSet<Digest> = call.iter().flat_map(|record| kept_texts::named(record.body.as_bytes())).collect();
    for text in query::texts(&reader, named::index(db, &reader)?.as_ref(), &named)?.into_values() {
        let name = if text.state == State::Whole { "txt" } else { "not-whole.txt" };
        files.insert(format!("texts/{}.{name}", text.digest), text.text.into_bytes());
    }
    files.insert("sep-2828.json".to_owned(), pretty(&sep_2828(decision, &call)).into_bytes());
    files.insert("verify.py".to_owned(), VERIFIER.into());
    files.insert("README".to_owned(), readme(decision.seq, &head).into_bytes());
    let sums = files.iter().map(|(name, bytes)| format!("{}  {name}\n", Digest::of(bytes)));
    let sums: String = sums.collect();
    files.insert("SHA256SUMS".to_owned(), sums.into_bytes());
    save(&files, to)?;
    let count = signed.len();
    writeln!(out, "Written to {}: {} files, {count} signatures.\nHead: {head}", shown(to), files.len())?;
    let verified = verified::verify(&reader, None, &mut |_| {})?;
    verify::vouch("what was written", &verified, &noted, &reader)
}

/// Each statement and its signature, as `ssh-keygen -Y verify` reads them, and the lines that allowed the keys.
fn add_signatures(signed: &[Kept], files: &mut Files) {
    let mut lines = BTreeSet::new();
    for (n, one) in (1..).zip(signed) {
        files.insert(format!("statement-{n}.json"), one.statement.clone().into_bytes());
        files.insert(format!("statement-{n}.json.sig"), rearmored(&one.sshsig).into_bytes());
        lines.extend(one.line.clone());
    }
    let lines: String = lines.into_iter().map(|line| line + "\n").collect();
    if !lines.is_empty() {
        files.insert("allowed_signers".to_owned(), lines.into_bytes());
    }
}

fn save(files: &Files, to: &Path) -> Result<(), Error> {
    let failed = |cause| {
        Error::failed(format!("{} cannot be written", shown(to)), cause, "name a folder that does not exist yet")
    };
    fs::create_dir(to).map_err(failed)?;
    for (name, bytes) in files {
        let path = to.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        fs::write(&path, bytes).map_err(failed)?;
    }
    Ok(())
}

fn readme(seq: i64, head: &str) -> String {
    format!(
        "The decision in record {seq} of an audit log of mcp-approve, and what proves it. Nothing but Python 3 and ssh-keygen is needed.\n\
         python3 verify.py .                              checks the files, the chain of records, the texts, the signatures\n\
         python3 verify.py --allowed-signers LIST .       the same by your own list of signers: allowed_signers is what the log says\n\
         ssh-keygen -Y verify -n {NAMESPACE} -f allowed_signers -I SIGNER -s statement-1.json.sig < statement-1.json\n\
         The chain ends at {head}: compare it with a head that you have from elsewhere.\n"
    )
}

/// What the records say, by the names of SEP-2828 ("Server-Side Signed Execution Record for MCP Tool Calls", a draft that was
/// closed; the names are those of programs that write its records). What ours does not have is left out, its signature first.
fn sep_2828(decision: &Record, call: &[Record]) -> Value {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Why {
        reason: String,
    }
    let Some(fields) = decision.fields() else { return Value::Null };
    let word = match fields.verdict() {
        Some(VerdictWord::Approve) => "allow",
        Some(VerdictWord::Deny) => "block",
        None => "escalate",
    };
    let Why { reason } = fields.detail().unwrap_or_default();
    let policy = fields.policy.as_ref().map(|digest| format!("sha256:{digest}"));
    let answered = call.iter().filter_map(Record::fields).find(|of: &Fields<'_>| of.kind() == Some(Kind::Outcome));
    let status = match (fields.verdict(), answered.as_ref().and_then(Fields::outcome)) {
        (Some(VerdictWord::Deny) | None, _) => Some("refused"),
        (_, Some(Outcome::Ok | Outcome::Streamed | Outcome::Task | Outcome::InputRequired)) => Some("executed"),
        (_, Some(Outcome::ToolError | Outcome::Error | Outcome::Unreadable)) => Some("errored"),
        (_, Some(Outcome::Cancelled | Outcome::Unknown) | None) => None,
    };
    json!({
        "about": "names of SEP-2828 for what these records say; not a signed record of that draft",
        "decision": {
            "version": 1,
            "decisionDerived": { "decision": word, "decidedAt": fields.time, "reason": reason, "policyId": policy },
        },
        "outcome": status.map(|status| json!({
            "version": 1,
            "outcomeDerived": { "status": status, "completedAt": answered.map(|of| of.time.to_string()) },
        })),
    })
}
