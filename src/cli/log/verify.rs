//! `mcp-approve log verify`: whether the chain holds, and whether its head is the one that was noted. Owns the wording.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::audit::chain::{Break, Head};
use crate::audit::store::noted::{self, Noted};
use crate::audit::store::{Damage, Left, Reader, StoreError};
use crate::audit::verified::{self, Anchor, SessionStart, Unended, Verified};
use crate::cli::error::{Error, Exit};
use crate::cli::log::{VerifyOptions, named, signatures};
use crate::cli::look::{Look, json_object, shown, visible};
use crate::wire::number::{counted, grouped};

/// Verifies the chain. A broken one is a finding, and no error.
pub(super) fn verify(options: &VerifyOptions, db: &Path, look: Look<'_>, out: &mut dyn Write) -> Exit {
    // Before the log is opened, which may grow meanwhile.
    let noted = noted::read(db);
    let mut signed = None;
    let (verified, lost, left) = match Reader::open(db)? {
        Some(reader) => {
            signed = options.allowed_signers.as_deref().map(|list| signatures::verify(&reader, list)).transpose()?;
            let verified = named::with_progress("checking the log", reader.newest()?, |tell| {
                verified::verify(&reader, options.expect_head, tell)
            })?;
            let lost = verified::is_lost(&noted, verified.last(), &reader)?;
            (verified, lost, reader.left().to_vec())
        }
        None if noted == Noted::Nothing => return Err(Error::NoLog(db.to_path_buf())),
        None => {
            let anchor = options.expect_head.map_or(Anchor::NotAsked, |_| Anchor::Missing);
            let unended = Unended::default();
            (Verified { head: Head::EMPTY, broken: None, beyond: None, anchor, unended }, true, Vec::new())
        }
    };
    let (seq, link) = (verified.head.seq, verified.head.link);
    let signatures_hold = signed.as_ref().is_none_or(|signed| signed.bad.is_empty());
    let finding = match (&verified.broken, verified.anchor) {
        (None, Anchor::NotAsked | Anchor::Found { .. })
            if !lost && damage(&left).is_none() && verified.unended.lost.is_empty() && signatures_hold =>
        {
            ExitCode::SUCCESS
        }
        (Some(_), _) | (None, Anchor::NotAsked | Anchor::Found { .. } | Anchor::Missing) => ExitCode::FAILURE,
    };
    if options.json {
        let broken = |broken: &Break| json!({ "seq": broken.seq(), "what": broken.to_string() });
        let report = json!({
            "holds": finding == ExitCode::SUCCESS,
            "records": seq,
            "head": { "seq": seq, "link": link },
            "broken": verified.broken.as_ref().map(broken),
            "changed": verified.beyond.as_ref().map(|beyond| beyond.changed),
            "anchor": match verified.anchor {
                Anchor::NotAsked => Value::Null,
                Anchor::Found { seq } => json!({ "found": true, "seq": seq }),
                Anchor::Missing => json!({ "found": false, "seq": null }),
            },
            "noted": match &noted {
                Noted::Nothing => Value::Null,
                Noted::Head(head) => json!({ "found": !lost, "seq": head.seq, "link": head.link }),
                Noted::Unreadable(why) => json!({ "found": false, "seq": null, "why": why }),
            },
            "sessions": {
                "lost": verified.unended.lost.iter().map(session_json).collect::<Vec<_>>(),
                "earlier": verified.unended.earlier,
            },
            "left": left.iter().map(left_json).collect::<Vec<_>>(),
            "signatures": signed.as_ref().map(|signed| {
                let bad = |(seq, what): &(i64, String)| json!({ "seq": seq, "what": what });
                json!({ "good": signed.good, "bad": signed.bad.iter().map(bad).collect::<Vec<_>>() })
            }),
        });
        json_object(report, out)?;
        return Ok(finding);
    }
    let (records, before) = (counted(seq, "record holds|records hold"), grouped(seq));
    match (&verified.broken, &verified.beyond) {
        (None, _) if lost => writeln!(out, "Of what is there, {records}.")?,
        (None, _) => writeln!(out, "The chain holds: {}.", counted(seq, "record"))?,
        (Some(broken @ Break::Missing { found, .. }), Some(beyond)) if beyond.changed == 1 => {
            let after = grouped(beyond.head.seq.saturating_sub(u64::try_from(*found).unwrap_or(0)));
            writeln!(out, "THE CHAIN IS BROKEN at one place: {broken}.")?;
            writeln!(
                out,
                "Every other record holds: {before} before it, and {after} after record {found}, which cannot be checked \
                 without what is missing."
            )?;
        }
        (Some(broken), Some(beyond)) if beyond.changed == 1 => {
            let after = grouped(beyond.head.seq.saturating_sub(broken.seq()));
            writeln!(out, "THE CHAIN IS BROKEN at one record: {broken}.")?;
            writeln!(out, "Every other record holds: {before} before it, {after} after it.")?;
        }
        (Some(broken), beyond) => {
            writeln!(out, "THE CHAIN IS BROKEN: {broken}.\nBefore that, {records}.")?;
            if let Some(beyond) = beyond {
                let after = counted(beyond.head.seq.saturating_sub(broken.seq()), "record");
                let more = counted(beyond.changed - 1, "does not follow|do not follow");
                writeln!(out, "Of the {after} after it, {more} from the one before.")?;
            }
        }
    }
    if let Some(signed) = &signed {
        let holds = counted(signed.good, "signature holds|signatures hold");
        writeln!(out, "By this list of signers, {holds}.")?;
        for (seq, why) in &signed.bad {
            writeln!(out, "THE SIGNATURE IN RECORD {seq} DOES NOT HOLD: {}.", visible(why))?;
        }
    }
    tell_noted(&noted, lost, seq, &noted::place_of(db), out)?;
    tell_left(&left, out)?;
    tell_unended(&verified.unended, out)?;
    match (verified.anchor, options.expect_head) {
        (Anchor::Found { seq: anchor }, _) => {
            writeln!(out, "The expected head is record {anchor}: nothing up to it was removed.")?;
        }
        (Anchor::Missing, Some(expected)) => writeln!(
            out,
            "THE EXPECTED HEAD IS MISSING: no intact record has the link\n  {expected}\n\
             Records were cut off or replaced since it was noted."
        )?,
        (Anchor::NotAsked | Anchor::Missing, _) => {}
    }
    writeln!(out, "Head: record {seq}, link\n  {link}")?;
    if verified.anchor == Anchor::NotAsked && finding == ExitCode::SUCCESS {
        writeln!(
            out,
            "Not checked: whether records were cut off at the end together with that note; a chain cannot show that. Keep \
             the link above somewhere else, and give it next time: {}",
            look.hint("mcp-approve log verify --expect-head LINK")
        )?;
    }
    Ok(finding)
}

/// The worst that happened to entries that are kept aside; `None` where none are.
fn damage(left: &[Left]) -> Option<Damage> {
    let damages = left.iter().filter_map(|one| match one {
        Left::Aside { damage, .. } => Some(*damage),
        Left::Unfolded { .. } => None,
    });
    damages.min_by_key(|damage| *damage != Damage::Changed)
}

/// What is wrong with a log of which every record was verified, in one sentence; `None` for nothing. `noted` was read before
/// the log was.
pub(in crate::cli) fn wrong(verified: &Verified, noted: &Noted, reader: &Reader) -> Result<Option<String>, StoreError> {
    Ok(if let Some(broken) = &verified.broken {
        Some(format!("the chain is broken: {broken}"))
    } else if verified::is_lost(noted, verified.last(), reader)? {
        Some("records are missing: the noted head is not in the log, or cannot be read".to_owned())
    } else if let Some(first) = verified.unended.lost.first() {
        let sessions = counted(verified.unended.lost.len() as u64, "session");
        Some(format!("the last records of {sessions} are missing, first of {}", visible(&first.server)))
    } else {
        damage(reader.left()).map(|damage| damage.to_string())
    })
}

fn tell_noted(noted: &Noted, lost: bool, records: u64, place: &Path, out: &mut dyn Write) -> io::Result<()> {
    let place = shown(place);
    match noted {
        Noted::Nothing if records == 0 => writeln!(out, "No head is noted in {place} yet."),
        Noted::Nothing => writeln!(
            out,
            "THE NOTED HEAD IS MISSING: {place} is not there, or is empty. So this cannot show whether records were cut off \
             at the end.\nThat is so for a copy of a log without that file, and after a loss of power; else it \
             was removed."
        ),
        Noted::Unreadable(why) => writeln!(out, "THE NOTED HEAD CANNOT BE READ: {place}: {why}."),
        Noted::Head(head) if lost => writeln!(
            out,
            "RECORDS ARE MISSING: {place} has noted record {} with the link\n  {}\n\
             and that record is not in the intact chain. The log was removed, replaced or cut off since. If you moved \
             it away yourself, move that file with it.",
            head.seq, head.link
        ),
        Noted::Head(head) => writeln!(out, "The head noted in {place}, record {}, is in it.", head.seq),
    }
}

fn left_json(left: &Left) -> Value {
    match left {
        Left::Aside { path, damage: Damage::Changed } => json!({ "path": path.display().to_string(), "changed": true }),
        Left::Aside { path, damage } => {
            json!({ "path": path.display().to_string(), "changed": false, "why": damage.to_string() })
        }
        Left::Unfolded { path, why } => json!({ "path": path.display().to_string(), "changed": false, "why": why }),
    }
}

fn session_json(start: &SessionStart) -> Value {
    json!({ "session": start.session, "server": start.server, "seq": start.seq, "time": start.time })
}

fn tell_unended(unended: &Unended, out: &mut dyn Write) -> io::Result<()> {
    /// How many sessions are named.
    const NAMED: usize = 20;
    if unended.earlier > 0 {
        let sessions = counted(unended.earlier, "session of an earlier version has|sessions of earlier versions have");
        writeln!(out, "Not checked: {sessions} no end, which was not recorded then when a wrapper was killed.")?;
    }
    if unended.lost.is_empty() {
        return Ok(());
    }
    let sessions = counted(unended.lost.len() as u64, "session began and has|sessions began and have");
    writeln!(out, "RECORDS ARE MISSING: {sessions} no end, and no journal:")?;
    for start in unended.lost.iter().take(NAMED) {
        let (server, session) = (visible(&start.server), visible(&start.session));
        writeln!(out, "  record {}, {}: {server}, session {session}", start.seq, visible(&start.time))?;
    }
    writeln!(
        out,
        "What their wrappers recorded last did not reach the log: it was removed, or the disk was full to the end. \
         A copy of a log that was made while they ran shows the same."
    )
}

fn tell_left(left: &[Left], out: &mut dyn Write) -> io::Result<()> {
    for one in left {
        match one {
            Left::Aside { path, damage } => {
                let damage = damage.to_string().to_uppercase();
                writeln!(out, "{damage}; what it left is kept in\n  {}", shown(path))?;
            }
            Left::Unfolded { path, why } => {
                let (path, why) = (shown(path), visible(why));
                writeln!(out, "Not checked: entries in {path} that are not in the log yet: {why}.")?;
            }
        }
    }
    Ok(())
}
