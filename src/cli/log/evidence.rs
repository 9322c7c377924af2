//! `mcp-approve log export --format evidence`: one decision as a folder that somebody without this program can check, with
//! `ssh-keygen` and Python: its records, all links up to the head of the log, what was signed, and the texts that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::audit::kept_texts::{self, State};
use crate::audit::{
    Fields, Kind, Outcome, ReadOrder, Record, VerdictWord, chain::body_digest, query, removed::Removed, store::noted,
    verified,
};
use crate::cli::error::{Error, Exit};
use crate::cli::log::export::{VERIFIER, hex, jsonl};
use crate::cli::log::{named, signatures::kept, verify};
use crate::cli::look::{pretty, shown, visible};
use crate::signing::{signed::Kept, sshsig::rearmored, statement::NAMESPACE};
use crate::wire::Digest;

type Files = BTreeMap<String, Vec<u8>>;

pub(super) fn write(what: &str, to: &Path, db: &Path, out: &mut dyn Write) -> Exit {
    // Before the log is opened, which may grow meanwhile.
    let noted = noted::read(db);
    let named::Named { reader, call, .. } = named::named(what, None, db)?;
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
