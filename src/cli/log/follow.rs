//! `mcp-approve log follow`: each record as it comes, a line each, for programs that collect logs: ours, OTLP or OCSF.
//!
//! Sources: OTLP JSON lines (opentelemetry.io, "OTLP File Exporter"), MCP's attributes (semantic-conventions-genai, in development);
//! OCSF 1.3.0, class API Activity (6003) with the profile `security_control`.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::audit::chain::Row;
use crate::audit::{Clock, Fields, Kind, Outcome, ReadOrder, Reader, Record, VerdictWord};
use crate::behavior::Action;
use crate::cli::error::{Error, Exit};
use crate::cli::log::named::{LogPlace, RecordsWanted};
use crate::cli::look::versioned;
use crate::desk::engine::{Program, Target};
use crate::desk::log::Central;
use crate::home::user;

#[derive(Clone, Debug, clap::Args)]
pub struct FollowOptions {
    /// jsonl (as `log list --jsonl`), otlp-json (logs for an OpenTelemetry collector), or ocsf (calls as API Activity)
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub format: Format,
    #[command(flatten)]
    pub of: RecordsWanted,
    /// Also write what is in the log already, from this record on
    #[arg(long, value_name = "SEQ")]
    pub from: Option<u64>,
    /// End with the newest record, instead of waiting for the next one
    #[arg(long)]
    pub once: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    #[default]
    Jsonl,
    OtlpJson,
    Ocsf,
}

const EVERY: Duration = Duration::from_millis(500);

pub(super) fn run(options: &FollowOptions, place: LogPlace<'_>, clock: Clock, out: &mut dyn Write) -> Exit {
    let search = options.of.search(clock)?;
    let here = user::machine();
    let mut write = |row: &Row<'_>, out: &mut dyn Write| {
        let record = Record::new(row);
        let line = Some(row).filter(|row| search.takes_row(row));
        let line = line.and_then(|_| line_of(options.format, &record, record.machine().unwrap_or(&here)));
        line.map_or(Ok(()), |line| writeln!(out, "{line}"))
    };
    let db = match place {
        LogPlace::File(db) => db,
        LogPlace::Desk(target) => return on_desk(options, target, &mut write, out),
    };
    let mut next = options.from.or(options.once.then_some(1));
    loop {
        if let Some(reader) = Reader::open(db)? {
            let newest = reader.newest()?;
            // A log that was removed and begun anew has fewer records.
            let from = next.map_or(newest + 1, |next| next.min(newest + 1));
            let mut written = Ok(());
            next = Some(from);
            reader.each_from(ReadOrder::OldestFirst, from, u64::MAX, &mut |row| {
                next = u64::try_from(row.seq).ok().map(|seq| seq + 1);
                written = write(&row, out);
                if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            written?;
            out.flush()?;
        } else if options.once {
            return Err(Error::NoLog(db.to_path_buf()));
        }
        if options.once {
            return Ok(ExitCode::SUCCESS);
        }
        sleep(EVERY);
    }
}

/// Follows the logs of all machines: each from where it was read last, because of several what arrives later can be seen first.
fn on_desk(
    options: &FollowOptions,
    target: &Target,
    write: &mut dyn FnMut(&Row<'_>, &mut dyn Write) -> io::Result<()>,
    out: &mut dyn Write,
) -> Exit {
    let from = options.from.or(options.once.then_some(1)).map(|from| i64::try_from(from).unwrap_or(i64::MAX));
    let mut desk = Central::open(target, Program::Command)?;
    let mut last = match from {
        Some(from) => desk.machines()?.into_iter().map(|machine| (machine, from.saturating_sub(1))).collect(),
        None => desk.ends()?,
    };
    loop {
        let mut written = Ok(());
        let read = desk.arrived(&mut last, &mut |row| {
            written = write(&row, out);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        written?;
        out.flush()?;
        if options.once {
            return Ok(read.map(|()| ExitCode::SUCCESS)?);
        }
        sleep(EVERY);
        // The connection may be broken, and come back.
        if read.is_err() {
            match Central::open(target, Program::Command) {
                Ok(again) => desk = again,
                Err(_) => sleep(EVERY),
            }
        }
    }
}

/// A record in this format; `None` where the format has no place for it.
fn line_of(format: Format, record: &Record, machine: &str) -> Option<String> {
    match format {
        Format::Jsonl => Some(versioned(&record.json())),
        Format::OtlpJson => Some(otlp(record, machine).to_string()),
        Format::Ocsf => ocsf(record, machine).map(|event| event.to_string()),
    }
}

enum Weight {
    Plain,
    Notable,
    Failed,
}

fn weight(fields: &Fields<'_>) -> Weight {
    match (fields.kind(), fields.verdict(), fields.outcome()) {
        (Some(Kind::Fault), ..) | (None, ..) => Weight::Failed,
        (Some(Kind::Outcome), _, Some(outcome)) if outcome.is_failure() => Weight::Failed,
        (Some(Kind::DecisionAsked | Kind::Withdrawn | Kind::Removed | Kind::SessionLost), ..) => Weight::Notable,
        (_, Some(VerdictWord::Deny), _) => Weight::Notable,
        _ => Weight::Plain,
    }
}

/// `allowed read_file on filesystem`: what happened, in a few words.
fn sentence(fields: &Fields<'_>) -> String {
    let what = fields.verdict.as_deref().unwrap_or(&fields.kind);
    let tool = fields.tool.as_deref().map(|tool| format!(" {tool}")).unwrap_or_default();
    format!("{what}{tool} on {}", fields.server)
}

/// The trace that a record belongs to: `traceparent` of the call's `_meta` (W3C Trace Context).
fn trace(fields: &Fields<'_>) -> Option<(String, String)> {
    let detail: Map<String, Value> = fields.detail()?;
    let mut parts = detail.get("traceparent")?.as_str()?.split('-').skip(1);
    let (trace, span) = (parts.next()?, parts.next()?);
    let is_hex = |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hex(trace, 32) && is_hex(span, 16)).then(|| (trace.to_owned(), span.to_owned()))
}

/// One `LogsData` with one record: severity 9, 13 or 17, times in nanoseconds as texts, the whole record as attributes.
fn otlp(record: &Record, machine: &str) -> Value {
    let text = |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
    let seq = json!({ "key": "mcp_approve.seq", "value": { "intValue": record.seq.to_string() } });
    let mut one = json!({ "attributes": [seq, text("mcp_approve.record", &record.body)] });
    if let Some(fields) = record.fields() {
        let (number, word) = match weight(&fields) {
            Weight::Plain => (9, "INFO"),
            Weight::Notable => (13, "WARN"),
            Weight::Failed => (17, "ERROR"),
        };
        let time = format!("{}000000", fields.millis().unwrap_or(0));
        let mut attributes = vec![seq, text("mcp.session.id", &fields.session)];
        let named = [
            ("gen_ai.tool.name", fields.tool.as_deref()),
            ("mcp_approve.server", Some(&*fields.server)),
            ("mcp_approve.ticket", fields.ticket.as_deref()),
            ("mcp_approve.target", fields.target.as_deref()),
            ("mcp_approve.badge", fields.badge.as_deref()),
            ("mcp_approve.ruling", fields.ruling.as_deref()),
            ("mcp_approve.verdict", fields.verdict.as_deref()),
            ("mcp_approve.by", fields.by.as_deref()),
            ("mcp_approve.rule", fields.rule.as_deref()),
        ];
        attributes.extend(named.into_iter().filter_map(|(key, value)| Some(text(key, value?))));
        attributes.extend(fields.tool.as_ref().map(|_| text("mcp.method.name", &method(&fields))));
        attributes.push(text("mcp_approve.link", &record.link.map(|link| link.to_string()).unwrap_or_default()));
        attributes.push(text("mcp_approve.record", &record.body));
        one = json!({
            "timeUnixNano": time, "observedTimeUnixNano": time, "severityNumber": number, "severityText": word,
            "eventName": format!("mcp_approve.{}", fields.kind), "body": { "stringValue": sentence(&fields) },
            "attributes": attributes,
        });
        if let (Some((trace, span)), Value::Object(one)) = (trace(&fields), &mut one) {
            one.insert("traceId".into(), trace.into());
            one.insert("spanId".into(), span.into());
        }
    }
    let (name, version) = ("mcp-approve", env!("CARGO_PKG_VERSION"));
    let resource = [text("service.name", name), text("service.version", version), text("host.name", machine)];
    json!({ "resourceLogs": [{
        "resource": { "attributes": resource },
        "scopeLogs": [{ "scope": { "name": name, "version": version }, "logRecords": [one] }],
    }] })
}

fn method(fields: &Fields<'_>) -> String {
    let detail: Map<String, Value> = fields.detail().unwrap_or_default();
    detail.get("method").and_then(Value::as_str).unwrap_or("tools/call").to_owned()
}

/// A record of a call as an event of API Activity; `None` for any other record. Times are milliseconds.
fn ocsf(record: &Record, machine: &str) -> Option<Value> {
    let fields = record.fields()?;
    let tool = fields.tool.as_deref()?;
    let (action, disposition) = match (fields.kind()?, fields.verdict()) {
        (Kind::Decision, Some(VerdictWord::Approve)) => ((1, "Allowed"), (1, "Allowed")),
        (Kind::Decision, _) => ((2, "Denied"), (2, "Blocked")),
        (Kind::DecisionAsked | Kind::Withdrawn | Kind::Outcome, _) => ((0, "Unknown"), (0, "Unknown")),
        _ => return None,
    };
    let (status, severity) = match (weight(&fields), fields.outcome()) {
        (Weight::Failed, _) => ((2, "Failure"), (3, "Medium")),
        (Weight::Notable, _) => ((99, "Other"), (2, "Low")),
        (Weight::Plain, Some(Outcome::Ok)) => ((1, "Success"), (1, "Informational")),
        (Weight::Plain, _) => ((99, "Other"), (1, "Informational")),
    };
    let activity = activity(&fields);
    let record_json: Value = serde_json::from_str(&record.body).ok()?;
    let operator = fields.why().operator;
    Some(json!({
        "metadata": {
            "version": "1.3.0", "profiles": ["security_control"], "log_name": "mcp-approve",
            "uid": format!("{}-{}", fields.session, record.seq),
            "product": { "name": "mcp-approve", "vendor_name": "mcp-approve", "version": env!("CARGO_PKG_VERSION") },
        },
        "category_uid": 6, "category_name": "Application Activity", "class_uid": 6003, "class_name": "API Activity",
        "activity_id": activity, "type_uid": 600_300 + activity, "time": fields.millis()?,
        "severity_id": severity.0, "severity": severity.1, "status_id": status.0, "status": status.1,
        "status_detail": fields.verdict.as_deref().or(fields.outcome().map(|outcome| outcome.word())),
        "action_id": action.0, "action": action.1, "disposition_id": disposition.0, "disposition": disposition.1,
        "message": sentence(&fields),
        "actor": { "user": { "name": operator }, "session": { "uid": fields.session } },
        "api": {
            "operation": tool, "service": { "name": fields.server }, "request": { "uid": fields.ticket },
        },
        "src_endpoint": { "hostname": machine },
        "resources": fields.target.as_deref().map(|target| json!([{ "name": target }])),
        "policy": { "name": fields.rule, "uid": fields.policy },
        "unmapped": { "seq": record.seq, "link": record.link, "record": record_json },
    }))
}

/// Create 1, Read 2, Update 3, Delete 4; 0 where the record does not say.
fn activity(fields: &Fields<'_>) -> u64 {
    let detail: Map<String, Value> = fields.detail().unwrap_or_default();
    let words = detail.get("words").and_then(Value::as_str).unwrap_or_default();
    match words.split('|').nth(1).and_then(Action::from_word) {
        Some(Action::Read | Action::Search) => 2,
        Some(Action::Create) => 1,
        Some(Action::Delete) => 4,
        Some(Action::Unknown) | None => 0,
        Some(_) => 3,
    }
}
