//! `mcp-approve waiting`: what waits, on one line for status bars and prompts. Decides nothing, and counts as no console.

use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::audit::moment::rfc3339;
use crate::cli::error::{Error, Exit};
use crate::cli::look::{json_object, visible};
use crate::home::places::Places;
use crate::link::client::{Peeked, peek};
use crate::link::message::WaitingCall;
use crate::text::time;
use crate::wire::number::counted;

#[derive(Clone, Copy, Debug, clap::Args)]
pub struct WaitingOptions {
    /// Print one JSON object: how many, each call with its server, effect and target, and what approvers are asked about
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(options: WaitingOptions, places: &Places, now: i64, out: &mut dyn Write) -> Exit {
    let hint = "`mcp-approve doctor` looks at the run folder";
    let peeked = peek(&places.run_dir()).map_err(|error| Error::failed("what waits could not be read", error, hint))?;
    if options.json {
        json_object(object(&peeked), out)?;
    } else if let Some(line) = line(&peeked.calls, now) {
        writeln!(out, "{}", visible(&line))?;
    } else if peeked.silent.is_empty() && io::stdout().is_terminal() {
        // A status bar stays empty.
        writeln!(out, "No call waits.")?;
    }
    match (peeked.calls.is_empty(), peeked.silent.first()) {
        (false, _) => Ok(ExitCode::FAILURE),
        (true, None) => Ok(ExitCode::SUCCESS),
        (true, Some(socket)) => Err(Error::wrong(
            format!("the server behind {} does not say what waits there", socket.display()),
            "it may be stopped, or run another version of mcp-approve: open the console with `mcp-approve`",
        )),
    }
}

/// How many wait, and the oldest of them: `2 calls wait · filesystem deletes content — notes.md · 4:12 left`.
fn line(calls: &[WaitingCall], now: i64) -> Option<String> {
    let oldest = calls.first()?;
    let count = counted(calls.len(), "call waits|calls wait");
    let left = oldest.deadline.map_or_else(String::new, |at| format!(" · {} left", time::left(at - now)));
    Some(format!("{count} · {}: {}{left}", oldest.server, oldest.effect))
}

fn object(peeked: &Peeked) -> Value {
    let call = |call: &WaitingCall| {
        json!({
            "ticket": call.ticket, "server": call.server, "tool": call.tool, "effect": call.effect,
            "target": call.target, "since": rfc3339(call.arrived), "deadline": call.deadline.map(rfc3339),
        })
    };
    let silent: Vec<String> = peeked.silent.iter().map(|path| path.display().to_string()).collect();
    json!({
        "waiting": peeked.calls.len(),
        "calls": peeked.calls.iter().map(call).collect::<Vec<_>>(),
        "approvers": peeked.consulted.iter().map(call).collect::<Vec<_>>(),
        "silent": silent,
    })
}
