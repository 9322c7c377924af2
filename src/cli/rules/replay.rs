//! `rules replay`: the policy as it is now against the calls of the log.

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::options::ReplayOptions;
use super::{Site, past};
use crate::cli::error::{Error, Exit, done};
use crate::cli::print::{local, shown, visible};
use crate::policy::past::{Change, Replay, replay};
use crate::policy::rule::Policy;
use crate::wire::number::counted;

/// Replays the log under `policy`; with `--fail-on-change`, exit code 1 when something changes or cannot be known.
pub(super) fn run(options: &ReplayOptions, policy: &Policy, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let calls = past::since(&site.db, options.since.map(|since| since.moment(local(site.now))))?;
    if calls.is_none() && !options.json {
        return done(writeln!(out, "There is no log yet at {}, so nothing would change.", shown(&site.db)));
    }
    let calls = calls.unwrap_or_default();
    let replayed = replay(policy, &calls, site.now);
    if options.json {
        writeln!(out, "{:#}", as_json(&replayed))?;
    } else {
        tell(&replayed, options.limit, out)?;
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

/// Prints what changes, at most `limit` calls of each kind, the newest first.
pub(super) fn tell(replayed: &Replay<'_>, limit: usize, out: &mut dyn Write) -> Result<(), Error> {
    let calls = counted(replayed.calls, "past call");
    let (changed, undecided) = (replayed.changes.len(), replayed.undecided.len());
    let cannot = if undecided == 0 { String::new() } else { format!(", {undecided} cannot be determined") };
    writeln!(out, "{calls}: {changed} would be decided differently{cannot}.")?;
    for (from, to, count) in replayed.counts() {
        writeln!(out, "  {count:>6}  {} -> {}", from.word(), to.word())?;
    }
    for Change { call, now } in replayed.changes.iter().rev().take(limit) {
        let then = format!("{} then, {}", call.ruling.word(), call.outcome());
        writeln!(out, "\n{}", past::line(call))?;
        writeln!(out, "        {}; now {}: {}", visible(&then), now.decision.word(), visible(&now.reason))?;
    }
    if changed > limit {
        writeln!(out, "\nand {} more (--limit, --json)", changed - limit)?;
    }
    for (call, rules) in replayed.undecided.iter().rev().take(limit) {
        let rules = rules.join(", ");
        writeln!(out, "\n{}", past::line(call))?;
        writeln!(out, "        unknown: rule {rules} decides by what the log does not hold")?;
    }
    Ok(())
}
