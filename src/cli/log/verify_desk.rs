//! `mcp-approve log verify --desk`: whether the log of each machine is on the desk as the machine sent it. Owns the wording.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::audit::{Reader, StoreError};
use crate::cli::error::{Error, Exit};
use crate::cli::log::verify::VerifyOptions;
use crate::cli::log::{named, signatures};
use crate::cli::look::{json_object, visible};
use crate::desk::engine::{Program, Target};
use crate::desk::log::Central;
use crate::desk::verify::{self, Dropped, Fault, OfMachine, Unsent};
use crate::desk::witness::{Witnesses, Witnessing};
use crate::home::{places::Places, signers};
use crate::signing::signers::Signers;
use crate::text::time::date;
use crate::wire::{counted, number::grouped};

/// Verifies the logs of all machines. What is wrong is a finding, and no error.
pub(super) fn verify(options: &VerifyOptions, target: &Target, places: &Places, out: &mut dyn Write) -> Exit {
    if options.expect_head.is_some() {
        let hint = "run it on that machine; on the desk `mcp-approve desk witness` notes the heads of all";
        return Err(Error::wrong("a head is expected of one machine's log", hint));
    }
    let desk = Central::open_unchanging(target, Program::Command)?;
    let lists = options.allowed_signers.as_deref().map(|list| (list, options.revoked.as_deref()));
    let signers = match lists {
        Some(lists) => Some(signatures::signers(lists)?),
        None => signers::load(places).ok().flatten().map(|lists| lists.signers),
    };
    let newest = desk.count()?;
    let (found, witnesses) = named::with_progress("checking the logs", newest, |tell| {
        compare((&desk, target), places, signers.as_ref(), tell)
    })?;
    let signed = lists.map(|lists| signatures::verify(&Reader::of(Box::new(desk)), lists)).transpose()?;
    let bad_signatures = signed.as_ref().map_or(&[][..], |signed| &signed.bad);
    let bad_witnesses = witnesses.as_ref().map_or(&[][..], |witnesses| &witnesses.bad);
    let holds = found.iter().all(|of| of.wrong.is_empty()) && bad_signatures.is_empty() && bad_witnesses.is_empty();
    if options.json {
        let bad = |(seq, what): &(i64, String)| json!({ "place": seq, "what": what });
        let report = json!({
            "holds": holds,
            "records": found.iter().map(|of| of.records).sum::<u64>(),
            "machines": found.iter().map(machine_json).collect::<Vec<_>>(),
            "witnesses": witnesses.as_ref().map(|found| json!({
                "good": found.good,
                "bad": found.bad,
                "unsigned": found.unsigned.iter().map(|(role, (count, _))| (role, count)).collect::<BTreeMap<_, _>>(),
            })),
            "signatures": signed.as_ref().map(|signed| {
                json!({ "good": signed.good, "bad": signed.bad.iter().map(bad).collect::<Vec<_>>(), "unsigned": signed.unsigned })
            }),
        });
        json_object(report, out)?;
    } else {
        for of in &found {
            text(of, out)?;
        }
        if found.is_empty() {
            writeln!(out, "No machine has sent anything.")?;
        }
        if let Some(signed) = &signed {
            let hold = counted(signed.good, "signature holds|signatures hold");
            writeln!(out, "By this list of signers, {hold}.")?;
            for (place, why) in &signed.bad {
                writeln!(out, "THE SIGNATURE IN RECORD {place} OF THE DESK DOES NOT HOLD: {}.", visible(why))?;
            }
        }
        match &witnesses {
            None => {
                writeln!(
                    out,
                    "Not checked: what operators signed of these logs, because there is no list of signers."
                )?;
            }
            Some(found) => {
                let are = counted(found.good, "text that an operator signed|texts that operators signed");
                writeln!(out, "Compared with {are}.")?;
                for why in &found.bad {
                    writeln!(out, "A TEXT THAT WAS SIGNED HERE DOES NOT COUNT: {}.", visible(why))?;
                }
                for (role, (count, why)) in &found.unsigned {
                    let (role, texts) = (visible(role), counted(*count, "text|texts"));
                    writeln!(
                        out,
                        "Without effect: {texts} that {role} wrote and no signer signed for this desk ({}).",
                        visible(why)
                    )?;
                }
            }
        }
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is wrong with the log of each machine, compared with what was signed of them by this list of signers.
fn compare(
    (desk, target): (&Central, &Target),
    places: &Places,
    signers: Option<&Signers>,
    tell: &mut dyn FnMut(u64),
) -> Result<(Vec<OfMachine>, Option<Witnesses>), StoreError> {
    let read = |signers| Witnessing { desk, target, places, signers }.read();
    let mut witnesses = signers.map(read).transpose()?;
    let seen = witnesses.as_mut().map(|witnesses| std::mem::take(&mut witnesses.seen)).unwrap_or_default();
    Ok((verify::verify(desk, seen, tell)?, witnesses))
}

/// The logs of all machines for a command that writes of them, and the first thing that is wrong with just these.
pub(super) fn verified(target: &Target, places: &Places) -> Result<(Reader, Option<String>), Error> {
    let desk = Central::open_unchanging(target, Program::Command)?;
    let lists = signers::load(places).ok().flatten();
    let (found, witnesses) = compare((&desk, target), places, lists.as_ref().map(|lists| &lists.signers), &mut |_| {})?;
    let wrong = found.iter().find_map(|of| Some(format!("{}: {}", of.machine, of.wrong.first()?)));
    let uncounted = || Some(format!("a text that was signed does not count: {}", witnesses?.bad.first()?));
    Ok((Reader::of(Box::new(desk)), wrong.or_else(uncounted)))
}

/// What a command wrote is an error where something was wrong.
pub(super) fn vouch(what: &str, wrong: Option<&String>) -> Exit {
    let Some(wrong) = wrong else { return Ok(ExitCode::SUCCESS) };
    let hint = "`mcp-approve log verify --desk` names all that is wrong".to_owned();
    Err(Error::Untrue { what: format!("{what} may be untrue: {}", visible(wrong)), hint })
}

fn text(of: &OfMachine, out: &mut dyn Write) -> std::io::Result<()> {
    let (machine, records) = (visible(&of.machine), counted(of.records, "record"));
    if of.wrong.is_empty() {
        writeln!(out, "{machine}: the chain holds, {records}.")?;
    }
    if let Some(Dropped { last, before, signer, time }) = &of.dropped {
        writeln!(
            out,
            "{machine}: records 1 to {} of before {} were dropped from the desk; the witness of {} by {} covers them.",
            grouped(u64::try_from(*last).unwrap_or(0)),
            day(*before),
            day(*time),
            visible(signer)
        )?;
    }
    if let Some(Unsent { last, by, operator }) = &of.unsent {
        writeln!(
            out,
            "{machine}: records 1 to {} were removed at the machine, by {}, before it sent any: record {} says so.",
            grouped(u64::try_from(*last).unwrap_or(0)),
            visible(operator),
            grouped(u64::try_from(*by).unwrap_or(0))
        )?;
    }
    if of.wrong.is_empty() {
        return Ok(());
    }
    writeln!(out, "{machine}: THE LOG IS NOT AS IT WAS SENT, {records}:")?;
    of.wrong.iter().try_for_each(|fault| writeln!(out, "  {}.", visible(&fault.to_string())))?;
    if of.more > 0 {
        writeln!(out, "  and {} more.", of.more)?;
    }
    Ok(())
}

fn machine_json(of: &OfMachine) -> Value {
    let wrong = |fault: &Fault| json!({ "seq": fault.seq(), "kind": fault.word(), "what": fault.to_string() });
    json!({
        "machine": of.machine,
        "holds": of.wrong.is_empty(),
        "records": of.records,
        "dropped": of.dropped.as_ref().map(|Dropped { last, before, signer, time }| {
            json!({ "last": last, "before": day(*before), "witness": { "signer": signer, "time": day(*time) } })
        }),
        "unsent": of.unsent.as_ref().map(|Unsent { last, by, operator }| json!({ "last": last, "by": by, "operator": operator })),
        "last": { "seq": of.last.0, "link": of.last.1 },
        "wrong": of.wrong.iter().map(wrong).collect::<Vec<_>>(),
        "more": of.more,
    })
}

/// `2026-11-28`, in UTC.
fn day(millis: i64) -> String {
    date(millis, 0).chars().take(10).collect()
}
