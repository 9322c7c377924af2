//! `rules replay`: the policy as it is now against the calls of the log; and past calls for other commands.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::audit::past;
use crate::cli::error::{Error, Exit, done};
use crate::cli::log;
use crate::cli::look::{json_object, local, shown, visible};
use crate::cli::rules::{Site, options::ReplayOptions};
use crate::gate::held::target;
use crate::policy::Policy;
use crate::policy::past::{Change, PastCall, Replay, replay};
use crate::text::{plain, time};
use crate::wire::{counted, number::grouped};

/// Every call since then, the oldest first; `None` when there is no log yet.
pub(in crate::cli) fn since(db: &Path, since: Option<i64>) -> Result<Option<Vec<PastCall>>, Error> {
    Ok(log::named::open(db)?.map(|reader| past::calls(&reader, since)).transpose()?)
}

/// The call of a record's number or of a ticket; of several runs that gave out the ticket, the newest.
pub(super) fn one(what: &str, db: &Path) -> Result<PastCall, Error> {
    let named = log::named::named(what, (None, None), db)?;
    let found = named.found.last().ok_or_else(|| Error::NotInLog(visible(what)))?;
    past::call_of(found, &named.call).ok_or_else(|| {
        Error::wrong(
            format!("record {} is not about a call that the policy decided", found.seq),
            "`mcp-approve log list` lists calls by SEQ",
        )
    })
}

pub(super) fn line(call: &PastCall) -> String {
    let time = time::date(call.time, local(call.time).offset);
    let target = target::of(&call.behavior, &call.arguments).unwrap_or_default();
    plain::block(&format!("{:>6}  {time}  {}  {}  {target}", call.seq, call.ticket, call.tool))
}

pub(super) fn some(calls: &[&PastCall], most: usize, out: &mut dyn Write) -> io::Result<()> {
    calls.iter().rev().take(most).try_for_each(|call| writeln!(out, "  {}", line(call)))?;
    if calls.len() > most { writeln!(out, "  and {} more", calls.len() - most) } else { Ok(()) }
}

pub(super) fn run_replay(options: &ReplayOptions, policy: &Policy, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let calls = since(&site.db, options.since.map(|since| since.moment(local(site.now))))?;
    if calls.is_none() && !options.json {
        return done(writeln!(out, "There is no log yet at {}, so nothing would change.", shown(&site.db)));
    }
    let calls = calls.unwrap_or_default();
    let replayed = replay(policy, &calls, site.now);
    if options.json {
        json_object(as_json(&replayed), out)?;
    } else {
        tell_replayed(&replayed, options.limit, out)?;
    }
    let same = replayed.changes.is_empty() && replayed.undecided.is_empty();
    Ok(if options.fail_on_change && !same { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn as_json(replayed: &Replay<'_>) -> Value {
    let change = |change: &Change<'_>| {
        let call = change.call;
        json!({
            "seq": call.seq, "ticket": call.ticket, "server": call.server, "tool": call.tool, "from": call.ruling.word(),
            "to": change.now.decision.word(), "rule": change.now.rule, "reason": change.now.reason,
            "verdict": call.ended.word(), "by": call.by, "arguments": call.arguments,
        })
    };
    let undecided = replayed.undecided.iter().map(|(call, rules)| {
        json!({
            "seq": call.seq, "ticket": call.ticket, "server": call.server, "tool": call.tool, "from": call.ruling.word(),
            "rules": rules,
        })
    });
    json!({
        "calls": replayed.calls,
        "changed": replayed.changes.len(),
        "depends_on_obscured": replayed.undecided.len(),
        "counts": replayed.counts().iter()
            .map(|(from, to, count)| json!({ "from": from.word(), "to": to.word(), "count": count })).collect::<Vec<_>>(),
        "changes": replayed.changes.iter().map(change).collect::<Vec<_>>(),
        "untold": undecided.collect::<Vec<_>>(),
    })
}

pub(super) fn tell_replayed(replayed: &Replay<'_>, limit: usize, out: &mut dyn Write) -> Result<(), Error> {
    let calls = counted(replayed.calls, "past call");
    let (changed, undecided) = (replayed.changes.len(), replayed.undecided.len());
    let cannot = if undecided == 0 { String::new() } else { format!(", {} cannot be determined", grouped(undecided)) };
    writeln!(out, "{calls}: {} would be decided differently{cannot}.", grouped(changed))?;
    for (from, to, count) in replayed.counts() {
        writeln!(out, "  {:>6}  {} -> {}", grouped(count), from.word(), to.word())?;
    }
    for Change { call, now } in replayed.changes.iter().rev().take(limit) {
        let then = format!("{} then, {}", call.ruling.word(), call.outcome());
        writeln!(out, "\n{}", line(call))?;
        writeln!(
            out,
            "        {}; with these rules {}: {}",
            visible(&then),
            now.decision.word(),
            visible(&now.reason)
        )?;
    }
    if changed > limit {
        writeln!(out, "\nand {} more (--limit, --json)", changed - limit)?;
    }
    for (call, rules) in replayed.undecided.iter().rev().take(limit) {
        let rules = rules.join(", ");
        writeln!(out, "\n{}", line(call))?;
        writeln!(out, "        unknown: rule {rules} decides by what the log does not hold")?;
    }
    Ok(())
}
