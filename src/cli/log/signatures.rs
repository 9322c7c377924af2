//! The signatures in the log, verified years later: by a key that might sign then, for its record's call and verdict.

use std::ops::ControlFlow;
use std::path::Path;

use jiff::tz::TimeZone;
use serde::Deserialize;

use crate::audit::store::{ReadOrder, Reader};
use crate::cli::error::Error;
use crate::cli::look::shown;
use crate::signing::signers::{LineError, List, Signers};
use crate::signing::sshsig::rearmored;
use crate::signing::verdict::{Attested, Evidence};

#[derive(Debug, Default)]
pub(super) struct Signatures {
    pub good: u64,
    /// The records whose signatures do not hold, and why.
    pub bad: Vec<(i64, String)>,
}

#[derive(Deserialize)]
struct Decision {
    kind: String,
    digest: Option<String>,
    verdict: Option<String>,
    #[serde(default)]
    detail: Signed,
}

#[derive(Default, Deserialize)]
struct Signed {
    #[serde(default)]
    signatures: Vec<Kept>,
}

#[derive(Deserialize)]
pub(super) struct Kept {
    pub statement: String,
    pub sshsig: String,
    /// The line of the list of allowed signers that allowed its key then; earlier versions did not keep it.
    #[serde(default)]
    pub line: Option<String>,
}

pub(super) fn kept(body: &[u8]) -> Vec<Kept> {
    serde_json::from_slice::<Decision>(body).map(|decision| decision.detail.signatures).unwrap_or_default()
}

pub(super) fn verify(reader: &Reader, (list, revoked): (&Path, Option<&Path>)) -> Result<Signatures, Error> {
    let read = |list: &Path| {
        // Bytes that are no text are a revocation list in its binary form, which the reader of the list names.
        let bytes = std::fs::read(list).map_err(|cause| Error::Unreadable { path: list.to_owned(), cause })?;
        Ok::<_, Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let keys = revoked.map(read).transpose()?.unwrap_or_default();
    let signers = Signers::read(&read(list)?, &keys, &TimeZone::system()).map_err(|errors| {
        let of = |error: &LineError| if error.list == List::Allowed { list } else { revoked.unwrap_or(list) };
        let errors: Vec<String> = errors.iter().map(|error| format!("{}: {error}", shown(of(error)))).collect();
        Error::wrong(errors.join("\n"), "correct these lines: `mcp-approve help signing`")
    })?;
    let mut found = Signatures::default();
    reader.each(ReadOrder::OldestFirst, &mut |row| {
        // Most records have none, and are not parsed.
        if memchr::memmem::find(row.body, b"\"signatures\":[").is_some()
            && let Ok(decision) = serde_json::from_slice::<Decision>(row.body)
            && decision.kind == "decision"
        {
            for kept in &decision.detail.signatures {
                match why_not(kept, &decision, &signers) {
                    None => found.good += 1,
                    Some(why) => found.bad.push((row.seq, why)),
                }
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

fn why_not(kept: &Kept, decision: &Decision, signers: &Signers) -> Option<String> {
    let evidence = Evidence { statement: kept.statement.clone(), signature: rearmored(&kept.sshsig) };
    let attested = match Attested::check(evidence, signers) {
        Ok(attested) => attested,
        Err(refused) => return Some(refused.to_string()),
    };
    let statement = attested.statement();
    let is_of = |call: &str| statement.cards().any(|card| card.call.to_string() == call);
    let is_same = decision.digest.as_deref().is_some_and(is_of)
        && decision.verdict.as_deref() == Some(statement.said.verdict.word());
    (!is_same).then(|| "it is for another call or verdict than its record".to_owned())
}
