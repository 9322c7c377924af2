//! `mcp-approve desk` alone: what is configured and true of the desk, and what to run next. Changes nothing.

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::stop;
use crate::cli::error::{Error, Exit};
use crate::cli::look::{Here, json_object, visible};
use crate::desk::daily::DAY;
use crate::desk::engine::{Program, Target};
use crate::desk::init::Group;
use crate::desk::overview::{Member, Overview, overview};
use crate::home::places::{Places, word};
use crate::home::signers;
use crate::signing::witness::Witness;
use crate::text::time::span;
use crate::wire::counted;

/// How many names a line has.
const NAMED: usize = 5;

/// Why a part is not seen by a machine's role.
const UNSEEN: &str = "only operators and auditors see it";

/// What is found of a desk that answers.
struct Found {
    overview: Overview,
    /// Who signed the last witness that counts here, and when; or why none does.
    witness: Result<(String, i64), &'static str>,
    /// Stops in force and the last sign of life; or why they cannot be checked.
    stops: Result<stop::Standings, Error>,
}

/// The desk's URL, which has no password in it: [`Target`] takes none that has.
#[derive(Clone, Copy)]
pub(super) struct Url<'u> {
    pub url: &'u str,
    /// It is another than `config.toml` has, so that commands have to name it.
    pub is_given: bool,
}

/// Says it of this desk.
pub(super) fn status(
    url: Url<'_>,
    (target, runtime): (&Target, &tokio::runtime::Runtime),
    as_json: bool,
    here: Here<'_>,
    out: &mut dyn Write,
) -> Exit {
    let found = runtime.block_on(async {
        let engine = target.connect(Program::Command).await?;
        let overview = overview(&engine).await?;
        let stops = stop::standings(&engine, here).await;
        Ok::<_, Error>(Found { witness: last_witness(&overview, here), overview, stops })
    });
    if as_json {
        json_object(object(url, &found, here), out)?;
    } else {
        lines(url, &found, here, out)?;
    }
    Ok(if found.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Says what to begin with, where no desk is named.
pub(super) fn nothing(places: &Places, as_json: bool, out: &mut dyn Write) -> Exit {
    if as_json {
        json_object(json!({ "url": Value::Null, "next": ["mcp-approve help desk"] }), out)?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(
        out,
        "No desk is configured here: this machine has a console and a log of its own.\n\n\
         One desk over many machines begins in a PostgreSQL of yours (14 or later), as its owner:\n  \
         {}\n\
         Then, on each machine, `url` under [desk] in config.toml names it, and this serves it:\n  \
         {}\n\n\
         `mcp-approve help desk` says all of it.",
        places.command("desk init --url postgres://OWNER@HOST/DATABASE --machine NAME --operator NAME"),
        places.command("desk run")
    )?;
    Ok(ExitCode::SUCCESS)
}

fn last_witness(overview: &Overview, Here { places, .. }: Here<'_>) -> Result<(String, i64), &'static str> {
    let notes = overview.witnesses.as_deref().ok_or(UNSEEN)?;
    let lists = signers::load(places).ok().flatten().ok_or("there is no list of signers here to check it by")?;
    let mut good = notes.iter().filter_map(|note| Witness::check(note, &lists.signers).ok());
    let signed = good.next().ok_or(if notes.is_empty() { "there is none" } else { "none that counts here" })?;
    Ok((signed.statement().signer.clone(), signed.statement().time))
}

/// Each line of the answer: what it is about, and what is true.
fn lines(url: Url<'_>, found: &Result<Found, Error>, here: Here<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let now = here.now;
    let mut line = |label: &str, text: &str| writeln!(out, "{label:<10} {}", visible(text));
    line("desk", url.url)?;
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            line("answers", &format!("no: {error}"))?;
            return Ok(line("next", &error.hint().unwrap_or_default())?);
        }
    };
    let Found { overview, witness, stops } = found;
    line("answers", "yes")?;
    let words: Vec<&str> = overview.role.groups.iter().map(|group| may(*group)).collect();
    let may = if words.is_empty() { "has no part in this desk".to_owned() } else { words.join("; ") };
    line("role", &format!("{}: {may}", overview.role.name))?;
    for beyond in &overview.role.beyond {
        line("", &format!("▲ it can do more than it should: {beyond}"))?;
    }
    for (label, group) in [("machines", Group::Machine), ("operators", Group::Operator)] {
        let (here, away): (Vec<&Member>, Vec<&Member>) = overview.of(group).partition(|member| member.is_here);
        line(label, &format!("here: {}; away: {}", names(&here), names(&away)))?;
    }
    if let Some(waiting) = overview.waiting {
        line("waiting", &counted(waiting, "call"))?;
    }
    line(
        "witness",
        &match witness {
            Ok((signer, time)) => format!("{signer} signed the ends of all logs {} ago", span(now - time)),
            Err(why) => (*why).to_owned(),
        },
    )?;
    match stops {
        Ok(standings) => {
            let mut label = "stops";
            for said in standings.says(now) {
                line(label, &said)?;
                label = "";
            }
        }
        Err(error) => line("stops", &unchecked(error))?,
    }
    let next = next(found, url, here);
    if next.is_empty() {
        line("next", "nothing: operators see the calls of this machine")?;
    }
    for (at, (command, why)) in next.iter().enumerate() {
        line(if at == 0 { "next" } else { "" }, &format!("{command}{why}"))?;
    }
    Ok(())
}

const fn may(group: Group) -> &'static str {
    match group {
        Group::Machine => "a machine, which sends its calls and its log, and takes verdicts",
        Group::Operator => "an operator, who sees all calls and logs and writes verdicts, signed",
        Group::Auditor => "an auditor, who reads all logs",
    }
}

fn names(members: &[&Member]) -> String {
    let more = members.len().saturating_sub(NAMED);
    let named: Vec<&str> = members.iter().take(NAMED).map(|member| member.name.as_str()).collect();
    match (named.is_empty(), more) {
        (true, _) => "none".to_owned(),
        (false, 0) => named.join(", "),
        (false, more) => format!("{} and {more} more", named.join(", ")),
    }
}

fn unchecked(error: &Error) -> String {
    format!("cannot be checked here: {error}")
}

/// What to run next, the most pressing first, and why.
fn next(
    Found { overview, witness, .. }: &Found,
    Url { url, is_given }: Url<'_>,
    Here { places, now }: Here<'_>,
) -> Vec<(String, &'static str)> {
    let is = |group| overview.is(group);
    let own = |member: &Member| member.name == overview.role.name;
    let mut next = Vec::new();
    let mut run = |words: &str, why| {
        let option = if words.ends_with("--desk") { "" } else { " --url" };
        let named =
            if is_given && words != "doctor" { format!("{words}{option} {}", word(url)) } else { words.to_owned() };
        next.push((places.command(&named), why));
    };
    if overview.role.groups.is_empty() || !overview.role.beyond.is_empty() {
        run("doctor", ": it says which role to log in with");
    }
    if is(Group::Machine) && !overview.of(Group::Machine).any(|member| own(member) && member.is_here) {
        run("desk run", ": this machine's role is not connected");
    }
    if is(Group::Operator) {
        run("--desk", ": the console over all machines");
        if !overview.of(Group::Machine).any(|member| member.is_here) {
            run("desk run", ", on each machine: none is connected");
        }
        if witness.as_ref().map_or(true, |(_, time)| now - time > DAY) {
            run("desk witness", ": once a day, so that lost records show");
        }
    }
    if is(Group::Auditor) {
        run("log verify --desk", "");
    }
    next
}

/// The same for scripts. A part that is null has its reason in `why`.
fn object(url: Url<'_>, found: &Result<Found, Error>, here: Here<'_>) -> Value {
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            return json!({ "url": url.url, "answers": false, "error": error.to_string(), "next": [error.hint()] });
        }
    };
    let Found { overview, witness, stops } = found;
    let members = |group| -> Vec<Value> {
        overview.of(group).map(|member| json!({ "name": member.name, "here": member.is_here })).collect()
    };
    let why = json!({
        "waiting": overview.waiting.is_none().then_some(UNSEEN),
        "witness": witness.as_ref().err(),
        "stops": stops.as_ref().err().map(unchecked),
    });
    json!({
        "url": url.url,
        "answers": true,
        "role": {
            "name": overview.role.name,
            "groups": overview.role.groups.iter().map(|group| group.word()).collect::<Vec<_>>(),
            "beyond": overview.role.beyond,
        },
        "machines": members(Group::Machine),
        "operators": members(Group::Operator),
        "waiting": overview.waiting,
        "witness": witness.as_ref().ok().map(|(signer, time)| json!({ "signer": signer, "time": time })),
        "stops": stops.as_ref().ok().map(stop::Standings::in_force),
        "why": why,
        "next": next(found, url, here).into_iter().map(|(command, _)| command).collect::<Vec<_>>(),
    })
}
