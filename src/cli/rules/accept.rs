//! `mcp-approve rules accept`: shows what a changed policy loosens, asks, keeps the text, and records it. So does each
//! command that changed the policy, at a terminal.
//!
//! At a terminal only: an agent that runs the command accepts nothing.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use super::Site;
use crate::audit::record::{Entry, Kind};
use crate::cli::error::{Error, Exit, done};
use crate::cli::person;
use crate::cli::print::visible;
use crate::home::layers::{AcceptError, Keeps, Layers};
use crate::home::places::Places;
use crate::home::user;
use crate::policy::rule::Pending;
use crate::text::plain::block;

/// Shows each change and accepts it if the operator says so; exit code 1 if one was left.
pub(super) fn run(layers: &mut Layers, places: &Places, now: i64, out: &mut dyn Write) -> Exit {
    let policy = layers.load(Keeps::Copies);
    if let Some(banner) = policy.banner.as_ref().filter(|_| !policy.allows_count) {
        writeln!(out, "{}", visible(banner))?;
    }
    if policy.pending.is_empty() {
        return done(writeln!(out, "There is nothing to accept: every policy is as you accepted it."));
    }
    if !person::is_here() {
        for one in &policy.pending {
            show(one, out)?;
        }
        return Err(Error::wrong(
            "a policy can be accepted only at a terminal",
            "run `mcp-approve rules accept` in a terminal, or accept it in the console",
        ));
    }
    let mut left = false;
    for one in &policy.pending {
        show(one, out)?;
        if person::ask("Accept this? Type yes:", out)?.as_deref() != Some("yes") {
            writeln!(
                out,
                "Not accepted, because the answer was not yes: the policy that you accepted before still applies."
            )?;
            left = true;
            continue;
        }
        settle(layers, one, places, now, out)?;
    }
    Ok(if left { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// After a change of the policy: shows all that waits in it and offers to accept it, or says how to. Asks at a terminal
/// only.
pub(super) fn offer(site: &Site<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let layers = &mut Layers::of(site.places, None, &site.place);
    let policy = layers.load(Keeps::Nothing);
    let Some(one) = policy.pending.iter().find(|one| Path::new(&one.file) == site.place.path()) else {
        return Ok(());
    };
    if person::is_here() {
        writeln!(out)?;
        show(one, out)?;
        if person::ask("Accept now? [y/N]", out)?.is_some_and(|answer| matches!(answer.as_str(), "y" | "yes")) {
            return settle(layers, one, site.places, site.now, out);
        }
    }
    let command = site.places.command("rules accept");
    Ok(writeln!(out, "What it newly allows takes effect once you accept it: {command}")?)
}

/// Keeps the text that was shown as the accepted one, and records that.
fn settle(layers: &Layers, one: &Pending, places: &Places, now: i64, out: &mut dyn Write) -> Result<(), Error> {
    let cannot = |error: AcceptError| {
        Error::wrong(error.to_string(), "run it again and read the new diff: mcp-approve rules accept")
    };
    layers.accept(Path::new(&one.file), one.digest).map_err(cannot)?;
    record(one, places, now);
    Ok(writeln!(out, "Accepted: running servers use it within a second.")?)
}

fn show(one: &Pending, out: &mut dyn Write) -> Result<(), Error> {
    writeln!(out, "{} policy {}", one.layer.word(), visible(&one.file))?;
    for line in one.diff.lines() {
        writeln!(out, "  {}", block(line))?;
    }
    writeln!(out, "This allows more than what was accepted:")?;
    for loosens in &one.loosens {
        writeln!(out, "  {}", visible(loosens))?;
    }
    Ok(writeln!(out)?)
}

/// Records who accepted what. An acceptance that cannot be logged still counts: without a log no call runs anyway.
fn record(one: &Pending, places: &Places, now: i64) {
    let mut entry = Entry::new(now, Kind::Policy, &"mcp-approve".into(), &"rules accept".into());
    entry.policy = Some(one.digest);
    let entry = entry
        .with("what", "an operator accepted the changed policy")
        .with("operator", format!("{} (at a terminal)", user::name()))
        .with("file", one.file.as_str())
        .with("text", one.digest.to_string())
        .with("loosens", one.loosens.clone());
    if let Err(error) = crate::home::record::record(places, entry) {
        tracing::warn!(%error, "an acceptance was not recorded");
    }
}
