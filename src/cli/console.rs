//! What commands do at a terminal: the console alone and with `--inline`, the page of one server, a question to the person here.
//! And `mcp-approve waiting`, without a console: what waits, on one line for status bars and prompts. Decides nothing.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, IsTerminal as _, Write};
use std::process::ExitCode;

use rustix::process::getpgrp;
use rustix::stdio::{dup2_stdin, dup2_stdout};
use rustix::termios::tcgetpgrp;
use serde_json::{Value, json};

use crate::audit::rfc3339;
use crate::cli::desk::{self, DeskUrl};
use crate::cli::error::{Error, Exit, done};
use crate::cli::look::{Here, json_object, visible};
use crate::cli::prose::broken;
use crate::console::outside::Process;
use crate::console::run::{self, End, RunError, open};
use crate::desk::engine::Target;
use crate::desk::operator::{self, WaitingThere};
use crate::home::places::Places;
use crate::interpose::{clock, guardian, stdio::HostPipe};
use crate::link::client::{Peeked, peek};
use crate::link::message::WaitingCall;
use crate::operator::sign::{self, ChangeTerms, Evidence};
use crate::pins::page::Page;
use crate::signing::change::NAMESPACE;
use crate::text::time;
use crate::wire::counted;

pub(super) fn run(places: &Places, process: Process) -> Exit {
    // An editor that the operator opens from here holds a call's arguments, and inherits this limit.
    let _ = guardian::keep_memory_private();
    places.create_state()?;
    let hint = "`mcp-approve doctor` looks at the terminal and the run folder";
    done(open(places, clock::wall_ms, process).map_err(|error| Error::failed("the console could not run", error, hint)))
}

/// The console over all machines of a desk: the one that is named, or that of `config.toml`.
pub(super) fn run_on_desk(places: &Places, url: &str) -> Exit {
    let target = desk::target(&DeskUrl::of(url), places)?;
    let _ = guardian::keep_memory_private();
    places.create_state()?;
    let hint = "`mcp-approve doctor` looks at the terminal and the run folder";
    done(run::open_desk(places, clock::wall_ms, target).map_err(|error| match error {
        RunError::Desk(error) => error.into(),
        other => Error::failed("the console could not run", other, hint),
    }))
}

/// Moves the host's pipe away and puts the controlling terminal in its place, for a console beside the wrapper.
pub(super) fn inline(places: &Places) -> Result<(HostPipe, impl FnOnce() + Send + use<>), Error> {
    let hint = "leave out --inline, and run `mcp-approve` in another terminal";
    let failed = |cause: io::Error| Error::failed("--inline has no terminal to draw on", cause, hint);
    let pipe = HostPipe::copy().map_err(failed)?;
    let tty = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(failed)?;
    let foreground = tcgetpgrp(&tty).map_err(|error| failed(error.into()))?;
    // Drawing from the background would stop the whole wrapper (SIGTTOU).
    if foreground != getpgrp() {
        return Err(failed(io::Error::other("another job has the terminal")));
    }
    dup2_stdin(&tty).map_err(|error| failed(error.into()))?;
    dup2_stdout(&tty).map_err(|error| failed(error.into()))?;
    let places = places.clone();
    let beside = move || {
        if let Err(error) = open(&places, clock::wall_ms, Process::Shared) {
            tracing::error!(%error, "the inline console ended");
        }
    };
    Ok((pipe, beside))
}

pub(super) fn is_here() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Has the operator sign a change at the terminal.
pub(super) fn sign(
    change: ChangeTerms,
    Here { places, now }: Here<'_>,
    out: &mut dyn Write,
) -> Result<Evidence, Error> {
    let failed = |why| Error::failed("there is no signature", why, "`mcp-approve signers` says who may sign");
    let key = sign::keys(places, NAMESPACE, now).map_err(failed)?.remove(0);
    writeln!(out, "Signing as {key}. Touch the key when it blinks; Ctrl-C ends this.")?;
    out.flush()?;
    places.create_state().map_err(|error| failed(error.to_string()))?;
    sign::change(change, now, key).sign(places).map_err(failed)
}

/// Asks, and gives the answer's first word in lower case; `None` at the end of the input.
pub(super) fn ask(question: &str, out: &mut dyn Write) -> Result<Option<String>, Error> {
    write!(out, "{question} ")?;
    out.flush()?;
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().to_lowercase()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    GoOn,
    Leave,
}

/// Prints a list that is to be answered a screen at a time, so that its end is not asked about unseen.
pub(super) fn page_out(list: &str, out: &mut dyn Write) -> Result<Next, Error> {
    let (columns, rows) =
        crossterm::terminal::size().map_or((80, 24), |(columns, rows)| (columns.max(40), rows.max(8)));
    let (columns, rows) = (usize::from(columns), usize::from(rows));
    let tall = |line: &str| broken(line, columns).lines().map(|row| 1 + row.chars().count() / (columns + 1)).sum();
    // The last row is the question's.
    let mut left = rows - 1;
    for line in list.split_inclusive('\n') {
        let tall: usize = tall(line);
        if tall > left {
            if ask("    Enter: more   q: leave it >", out)?.is_none_or(|answer| answer == "q") {
                return Ok(Next::Leave);
            }
            left = rows - 1;
        }
        write!(out, "{line}")?;
        left = left.saturating_sub(tall);
    }
    Ok(Next::GoOn)
}

pub(super) fn show_page(page: Page, here: Here<'_>, out: &mut dyn Write) -> Result<Next, Error> {
    let server = visible(&page.server);
    let hint = "`mcp-approve doctor` looks at the terminal and the run folder";
    let failed = |error| Error::failed("the page could not be shown", error, hint);
    match run::page(here.places, clock::wall_ms, page).map_err(failed)? {
        End::Answered(Ok(done)) => writeln!(out, "{}", visible(&done.says))?,
        End::Answered(Err(why)) => writeln!(out, "Nothing was agreed to of {server}: {}", visible(&why))?,
        End::Closed => writeln!(out, "Nothing was agreed to of {server}.")?,
        End::Left => return Ok(Next::Leave),
    }
    Ok(Next::GoOn)
}

#[derive(Clone, Debug, clap::Args)]
pub struct WaitingOptions {
    /// Print one JSON object: how many, each call with its server, effect and target, and what approvers are asked about
    #[arg(long)]
    pub json: bool,
    /// What waits on all machines of a desk: this one, or `url` under [desk] in config.toml
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    pub desk: Option<String>,
}

pub(super) fn waiting(options: &WaitingOptions, places: &Places, now: i64, out: &mut dyn Write) -> Exit {
    if let Some(url) = &options.desk {
        return waiting_on_desk(&desk::target(&DeskUrl::of(url), places)?, options.json, now, out);
    }
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

fn waiting_on_desk(target: &Target, as_json: bool, now: i64, out: &mut dyn Write) -> Exit {
    let (found, left_out) = desk::runtime()?.block_on(operator::waiting(target))?;
    let calls: Vec<WaitingCall> = found.iter().map(in_few_words).collect();
    if as_json {
        let mut peeked = object(&Peeked { calls, ..Peeked::default() });
        for (call, there) in peeked["calls"].as_array_mut().into_iter().flatten().zip(&found) {
            (call["machine"], call["user"]) = (json!(there.at.host), json!(there.at.user));
            call["role"] = json!(there.at.machine);
        }
        peeked["left_out"] = json!(left_out);
        json_object(peeked, out)?;
    } else if let Some(line) = line(&calls, now) {
        let more = if left_out.is_some() { "; more are left out" } else { "" };
        writeln!(out, "{}{more}", visible(&line))?;
    } else if left_out.is_none() && io::stdout().is_terminal() {
        writeln!(out, "No call waits.")?;
    }
    match (found.is_empty(), left_out) {
        (false, _) => Ok(ExitCode::FAILURE),
        (true, None) => Ok(ExitCode::SUCCESS),
        (true, Some(why)) => Err(Error::wrong(visible(&why), "open the console on it: mcp-approve --desk")),
    }
}

fn in_few_words(there: &WaitingThere) -> WaitingCall {
    let card = &there.card;
    WaitingCall {
        ticket: card.ticket.clone(),
        server: format!("{}:{}", there.at.signed(), card.server),
        tool: card.tool.clone(),
        effect: card.effect.clone(),
        target: card.target.clone(),
        arrived: card.arrived,
        deadline: card.deadline,
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
