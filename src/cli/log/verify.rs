//! `mcp-approve log verify`: whether the chain holds, whether its head is the one that was noted, and the signatures in it. Owns
//! the wording.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;
use serde_json::{Value, json};

use crate::audit::store::noted::{self, Noted};
use crate::audit::store::{Damage, Left};
use crate::audit::verified::{self, Anchor, SessionStart, Unended, Verified};
use crate::audit::{Reader, chain::Break, index, kept_texts::Found, removed::Removed};
use crate::cli::error::{Error, Exit};
use crate::cli::log::{named, signatures};
use crate::cli::look::{Look, json_object, shown, visible};
use crate::wire::{Digest, counted, number::grouped};

#[derive(Clone, Debug, Default, clap::Args)]
pub struct VerifyOptions {
    /// A head link noted earlier: it must still be in the chain
    #[arg(long, value_name = "LINK")]
    pub expect_head: Option<Digest>,
    /// Also verify the signatures of approvals and of changes, by this list of OpenSSH's allowed signers
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub allowed_signers: Option<PathBuf>,
    /// Keys that no longer count: public keys, one a line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "allowed_signers")]
    pub revoked: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Verifies the chain. A broken one is a finding, and no error.
pub(super) fn verify(options: &VerifyOptions, db: &Path, look: Look<'_>, out: &mut dyn Write) -> Exit {
    // Before the log is opened, which may grow meanwhile.
    let noted = noted::read(db);
    let mut signed = None;
    let (verified, lost, left) = match Reader::open(db)? {
        Some(reader) => {
            let lists = options.allowed_signers.as_deref().map(|list| (list, options.revoked.as_deref()));
            signed = lists.map(|lists| signatures::verify(&reader, lists)).transpose()?;
            let verified = named::with_progress("checking the log", reader.newest()?, |tell| {
                verified::verify(&reader, options.expect_head, tell)
            })?;
            let lost = verified::is_lost(&noted, verified.last(), &reader)?;
            index::remove(db);
            (verified, lost, reader.left().to_vec())
        }
        None if noted == Noted::Nothing => return Err(Error::NoLog(db.to_path_buf())),
        None => {
            let anchor = options.expect_head.map_or(Anchor::NotAsked, |_| Anchor::Missing);
            (Verified::nothing(anchor), true, Vec::new())
        }
    };
    let (seq, link) = (verified.head.seq, verified.head.link);
    let removed = verified.removed.as_ref().map_or(0, Removed::count);
    // Who gives a list of signers asks whether they stand behind all of it. Whether the policy wanted this signed the log cannot
    // prove, since whoever writes it can write that too.
    let unsigned = verified.removed.as_ref().map(|one| one.seq);
    let unsigned = unsigned.filter(|seq| signed.as_ref().is_some_and(|signed| signed.unsigned.contains(seq)));
    let signatures_hold = unsigned.is_none() && signed.as_ref().is_none_or(|signed| signed.bad.is_empty());
    let is_signed = |link: &Digest| signed.as_ref().is_some_and(|signed| signed.removals.contains(link));
    let is_anchored = match verified.anchor {
        Anchor::NotAsked | Anchor::Found { .. } => true,
        Anchor::Claimed { .. } => options.expect_head.as_ref().is_some_and(is_signed),
        Anchor::Missing => false,
    };
    let is_true = verified.untrue.is_empty() && verified.texts.other.is_empty();
    let is_whole = verified.broken.is_none() && !lost && verified.unended.lost.is_empty();
    let is_whole = is_whole && verified.damage(&left).is_none();
    let holds = is_whole && is_true && is_anchored && signatures_hold;
    let finding = if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if options.json {
        let bad = |(seq, what): &(i64, String)| json!({ "seq": seq, "what": what });
        let broken = |broken: &Break| json!({ "seq": broken.seq(), "what": broken.to_string() });
        let report = json!({
            "holds": holds,
            "records": seq.saturating_sub(removed),
            "head": { "seq": seq, "link": link },
            "broken": verified.broken.as_ref().map(broken),
            "changed": verified.beyond.as_ref().map(|beyond| beyond.changed),
            "anchor": match verified.anchor {
                Anchor::NotAsked => Value::Null,
                Anchor::Found { seq } => json!({ "found": true, "seq": seq }),
                Anchor::Claimed { seq } => json!({ "found": is_anchored, "seq": seq, "removed": true }),
                Anchor::Missing => json!({ "found": false, "seq": null }),
            },
            "noted": match &noted {
                Noted::Nothing => Value::Null,
                Noted::Head(head) => json!({ "found": !lost, "seq": head.seq, "link": head.link }),
                Noted::Unreadable(why) => json!({ "found": false, "seq": null, "why": why }),
            },
            "sessions": {
                "lost": verified.unended.lost.iter().map(session_json).collect::<Vec<_>>(),
                "acknowledged": verified.unended.acknowledged.iter().map(session_json).collect::<Vec<_>>(),
                "earlier": verified.unended.earlier,
            },
            "removed": verified.removed.as_ref().map(|one| {
                json!({ "seq": one.seq, "time": one.time, "operator": one.operator, "stretches": one.stretches })
            }),
            "untrue": verified.untrue.iter().map(bad).collect::<Vec<_>>(),
            "texts": {
                "whole": verified.texts.whole, "redacted": verified.texts.redacted, "too_long": verified.texts.too_long,
                "missing": verified.texts.missing, "other": verified.texts.other,
            },
            "left": left.iter().map(left_json).collect::<Vec<_>>(),
            "signatures": signed.as_ref().map(|signed| {
                json!({ "good": signed.good, "bad": signed.bad.iter().map(bad).collect::<Vec<_>>(), "unsigned": signed.unsigned })
            }),
        });
        json_object(report, out)?;
        return Ok(finding);
    }
    let held = seq.saturating_sub(removed);
    let (records, before) = (counted(held, "record holds|records hold"), grouped(held));
    match (&verified.broken, &verified.beyond) {
        (None, _) if lost => writeln!(out, "Of what is there, {records}.")?,
        (None, _) => writeln!(out, "The chain holds: {}.", counted(held, "record"))?,
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
        for seq in &signed.unsigned {
            let ends = if unsigned == Some(*seq) { ": so whoever can write the log can have written it" } else { "" };
            writeln!(out, "Record {seq}, which says what was removed, is not signed{ends}.")?;
        }
    }
    tell_removed(&verified, out)?;
    tell_texts(&verified.texts, out)?;
    tell_noted(&noted, lost, seq, &noted::place_of(db), out)?;
    tell_left(&left, out)?;
    tell_unended(&verified.unended, look, out)?;
    match (verified.anchor, options.expect_head) {
        (Anchor::Found { seq: anchor }, _) => {
            let first = removed + 1;
            let of = if removed > 0 { format!("from record {first} ") } else { String::new() };
            writeln!(out, "The expected head is record {anchor}: nothing {of}up to it was removed.")?;
        }
        (Anchor::Claimed { seq }, _) if is_anchored => writeln!(
            out,
            "The expected head is record {seq}, up to which records were removed, and a signature says that they may go."
        )?,
        (Anchor::Claimed { seq }, _) => writeln!(
            out,
            "THE EXPECTED HEAD CANNOT BE CHECKED: the log says that it is record {seq}, and that records up to it were \
             removed.\nNo signature that was checked here says so, and whoever can write the log can write that."
        )?,
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

/// What a command wrote of a log is an error where the log does not hold.
pub(super) fn vouch(what: &str, verified: &Verified, noted: &Noted, reader: &Reader) -> Exit {
    let Some(why) = verified.wrong(noted, reader)? else { return Ok(ExitCode::SUCCESS) };
    let hint = "`mcp-approve log verify` says more of what was changed, removed or cut off".to_owned();
    Err(Error::Untrue { what: format!("{what} may be untrue: {}", visible(&why)), hint })
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
    let fault = start.fault.as_ref().map(|fault| &fault.what);
    json!({ "session": start.session, "server": start.server, "seq": start.seq, "time": start.time, "fault": fault })
}

fn tell_removed(verified: &Verified, out: &mut dyn Write) -> io::Result<()> {
    for (seq, why) in &verified.untrue {
        writeln!(out, "RECORD {seq} IS NOT TRUE: {why}.")?;
    }
    if !verified.untrue.is_empty() {
        writeln!(
            out,
            "Something other than mcp-approve wrote to the log. See in Tools (4) what is agreed to, and take back what is \
             not yours\n(`mcp-approve tools forget`); `mcp-approve help signing` says how a key is revoked."
        )?;
    }
    let Some(Removed { seq, time, operator, stretches }) = &verified.removed else { return Ok(()) };
    let (time, operator) = (visible(time), visible(operator));
    writeln!(out, "Removed, and not checked, as {operator} had it done last on {time} (record {seq}):")?;
    for one in stretches {
        let (count, first, last) = (counted(one.count, "record"), grouped(one.first), grouped(one.last));
        let (from, to) = (visible(&one.from), visible(&one.to));
        writeln!(out, "  {first} to {last}, {count} of {from} to {to}, the last with the link\n  {}", one.head)?;
    }
    Ok(())
}

fn tell_texts(texts: &Found, out: &mut dyn Write) -> io::Result<()> {
    let Found { whole, redacted, too_long, missing, other } = texts;
    for seq in other {
        writeln!(out, "THE TEXT IN RECORD {seq} IS NOT THE ONE that its digest names.")?;
    }
    if whole + redacted + too_long + missing == 0 {
        return Ok(());
    }
    let mut all = vec![format!("{} kept", counted(*whole, "is|are"))];
    let mut add = |count: u64, says: &str| all.extend((count > 0).then(|| format!("{count} {says}")));
    add(*redacted, "with secrets replaced, so that only the chain vouches for them");
    add(*too_long, "too long to be kept");
    add(*missing, "missing: what recorded them was an earlier version, or ended at that moment");
    writeln!(out, "Of the policies and definitions that records name, {}.", all.join(", "))
}

fn tell_unended(unended: &Unended, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    const NAMED: usize = 20;
    if unended.earlier > 0 {
        let sessions = counted(unended.earlier, "session of an earlier version has|sessions of earlier versions have");
        writeln!(out, "Not checked: {sessions} no end, which was not recorded then when a wrapper was killed.")?;
    }
    for start in &unended.acknowledged {
        let (server, time, seq) = (visible(&start.server), visible(&start.time), start.seq);
        match &start.fault {
            Some(fault) => writeln!(out, "Acknowledged: {}, as record {seq}, {time}, says.", visible(&fault.what))?,
            None => writeln!(
                out,
                "Acknowledged: the last records of {server}, which began in record {seq}, {time}, are missing."
            )?,
        }
    }
    let acknowledge = look.hint("`mcp-approve log acknowledge RECORD --reason TEXT`");
    let (faults, lost): (Vec<_>, Vec<_>) = unended.lost.iter().partition(|start| start.fault.is_some());
    for fault in faults.iter().take(NAMED) {
        let what = visible(fault.fault.as_ref().map_or("", |fault| &fault.what));
        writeln!(out, "ENTRIES ARE MISSING, as record {} says, {}: {what}.", fault.seq, visible(&fault.time))?;
    }
    if !faults.is_empty() {
        writeln!(out, "Once you know why: {acknowledge}")?;
    }
    if lost.is_empty() {
        return Ok(());
    }
    let sessions = counted(lost.len() as u64, "session began and has|sessions began and have");
    writeln!(out, "RECORDS ARE MISSING: {sessions} no end, and no journal:")?;
    for start in lost.iter().take(NAMED) {
        let (server, session) = (visible(&start.server), visible(&start.session));
        writeln!(out, "  record {}, {}: {server}, session {session}", start.seq, visible(&start.time))?;
    }
    writeln!(
        out,
        "What their wrappers recorded last did not reach the log: it was removed, or the disk was full to the end. \
         A copy of a log that was made while they ran shows the same. Once you know why: {acknowledge}"
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
