//! The signatures in the log, verified again years later: each by a key that might sign when it was made, for the call and the
//! verdict, or the change, of its record.

use std::ops::ControlFlow;
use std::path::Path;

use jiff::tz::TimeZone;
use serde::Deserialize;

use crate::audit::removed::{self, Stretch};
use crate::audit::{ReadOrder, Reader};
use crate::behavior::Agreement;
use crate::cli::error::Error;
use crate::cli::look::shown;
use crate::signing::change::{self, ChangeKind, ChangeTerms, SignedChange};
use crate::signing::signers::{LineError, List, Signers};
use crate::signing::standing::{FROZEN, SignedStop};
use crate::signing::statement::{Kept, SignedWord};
use crate::signing::{Attested, CardTerms};
use crate::wire::Digest;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Signatures {
    pub good: u64,
    /// The records whose signatures do not hold, and why.
    pub bad: Vec<(i64, String)>,
    /// The records of what was removed that nobody signed.
    pub unsigned: Vec<i64>,
    /// The links up to which somebody signed that records may go.
    pub removals: Vec<Digest>,
}

/// The parts of a record that its signatures need.
#[derive(Deserialize)]
struct Body {
    kind: String,
    digest: Option<String>,
    session: Option<String>,
    ticket: Option<String>,
    verdict: Option<String>,
    tool: Option<String>,
    #[serde(default)]
    detail: Detail,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Detail {
    signatures: Vec<Kept>,
    /// Of a stop.
    what: String,
    reason: String,
    /// Of an accepted policy.
    file: String,
    text: String,
    /// Of what was said or agreed to.
    fingerprint: String,
    agreed: Option<Agreement>,
    review: String,
    program: String,
    /// Of what was removed.
    stretches: Vec<Stretch>,
}

/// The signatures in a body.
pub(super) fn kept(body: &[u8]) -> Vec<Kept> {
    serde_json::from_slice::<Body>(body).map(|body| body.detail.signatures).unwrap_or_default()
}

/// Verifies every signature in a log against a list of allowed signers, and one of revoked keys.
pub(super) fn verify(reader: &Reader, lists: (&Path, Option<&Path>)) -> Result<Signatures, Error> {
    let signers = signers(lists)?;
    let mut found = Signatures::default();
    reader.each(ReadOrder::OldestFirst, &mut |row| {
        // Most records have none, and are not parsed.
        let has_some = memchr::memmem::find(row.body, b"\"signatures\":").is_some();
        let body = match has_some.then(|| serde_json::from_slice::<Body>(row.body)).transpose() {
            Ok(body) => body,
            Err(error) => {
                found.bad.push((row.seq, format!("its signatures cannot be read: {error}")));
                return ControlFlow::Continue(());
            }
        };
        if body.as_ref().is_none_or(|body| body.detail.signatures.is_empty()) && removed::is_one(row.body) {
            found.unsigned.push(row.seq);
        }
        for (body, kept) in body.iter().flat_map(|body| body.detail.signatures.iter().map(move |kept| (body, kept))) {
            let why = match body.kind.as_str() {
                "decision" => no_verdict(kept, body, &signers),
                "policy" if body.detail.what == FROZEN => no_stop(kept, body, &signers),
                _ => no_change(kept, body, &signers),
            };
            match why {
                None => {
                    found.good += 1;
                    found.removals.extend(body.detail.stretches.last().map(|one| one.head));
                }
                Some(why) => found.bad.push((row.seq, why)),
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Reads a list of allowed signers, and one of revoked keys.
pub(super) fn signers((list, revoked): (&Path, Option<&Path>)) -> Result<Signers, Error> {
    let read = |list: &Path| {
        // Bytes that are no text are a revocation list in its binary form, which the reader of the list names.
        let bytes = std::fs::read(list).map_err(|cause| Error::Unreadable { path: list.to_owned(), cause })?;
        Ok::<_, Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let keys = revoked.map(read).transpose()?.unwrap_or_default();
    Signers::read(&read(list)?, &keys, &TimeZone::system()).map_err(|errors| {
        let of = |error: &LineError| if error.list == List::Allowed { list } else { revoked.unwrap_or(list) };
        let errors: Vec<String> = errors.iter().map(|error| format!("{}: {error}", shown(of(error)))).collect();
        Error::wrong(errors.join("\n"), "correct these lines: `mcp-approve help signing`")
    })
}

/// Why the signature on a verdict does not hold.
fn no_verdict(kept: &Kept, decision: &Body, signers: &Signers) -> Option<String> {
    let attested = match Attested::check(kept.evidence(), signers) {
        Ok(attested) => attested,
        Err(refused) => return Some(refused.to_string()),
    };
    let statement = attested.statement();
    let of = (decision.session.as_deref(), decision.ticket.as_deref());
    // A denial from a desk may be signed without the digest of the bytes: it ends the call, whatever its bytes.
    let denies = statement.said.verdict == SignedWord::Deny;
    let is_of = |call: &str| {
        let is_it = |card: &CardTerms| {
            (Some(&*card.session), Some(&*card.ticket)) == of && (denies || card.call.to_string() == call)
        };
        statement.cards().any(is_it)
    };
    let is_same = decision.digest.as_deref().is_some_and(is_of)
        && decision.verdict.as_deref() == Some(statement.said.verdict.word());
    (!is_same).then(|| "it is for another call or verdict than its record".to_owned())
}

/// Why the signature on a stop does not hold.
fn no_stop(kept: &Kept, body: &Body, signers: &Signers) -> Option<String> {
    match SignedStop::check(kept.evidence(), signers) {
        Ok(signed) if body.detail.reason.starts_with(&signed.who()) => None,
        Ok(_) => Some("it is for another stop than its record".to_owned()),
        Err(refused) => Some(refused.to_string()),
    }
}

/// Why the signature on a change does not hold.
fn no_change(kept: &Kept, body: &Body, signers: &Signers) -> Option<String> {
    let signed = match SignedChange::check(kept.evidence(), signers) {
        Ok(signed) => signed,
        Err(refused) => return Some(refused.to_string()),
    };
    let Body { tool, detail, digest, .. } = body;
    let read = |text: &str| text.parse::<Digest>().ok();
    let of_record = digest.as_deref().and_then(read);
    let (kind, of, change) = match body.kind.as_str() {
        "policy" => (ChangeKind::Policy, detail.file.clone(), read(&detail.text)),
        // Secrets in a record are replaced: then only its digest says what was agreed to.
        "agreed" => {
            let is_whole = |one: &&Agreement| !one.value.contains("redacted:");
            let whole = detail.agreed.as_ref().filter(is_whole).map(|one| one.digest(&detail.fingerprint));
            (ChangeKind::Tools, String::new(), of_record.filter(|one| whole.is_none_or(|whole| whole == *one)))
        }
        "tools" => {
            let of = of_record.or_else(|| read(&detail.program));
            let digest = of.map(|of| {
                change::review(&detail.fingerprint, tool.as_deref().unwrap_or_default(), &of, &detail.review)
            });
            (ChangeKind::Tools, String::new(), digest)
        }
        _ => (ChangeKind::Log, String::new(), detail.stretches.last().map(|one| one.head)),
    };
    let ChangeTerms { machine, user, .. } = signed.statement().change.clone();
    let expected = |one| ChangeTerms { changes: vec![one], kind, machine, of, user };
    let holds = change.is_some_and(|one| signed.covers(&expected(one)).is_ok());
    (!holds).then(|| "it is for another change than its record".to_owned())
}
