//! `mcp-approve desk`: makes the desk of many machines, serves this one to it, and says what is true of it.

mod status;
mod stop;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueHint};

use crate::cli::error::{Error, Exit};
use crate::cli::look::{Here, shown};
use crate::desk::engine::{EngineError, Program, Target};
use crate::desk::init::{self, Group, NewRole};
use crate::desk::log::Central;
use crate::desk::own::Other;
use crate::desk::run::{self, Site, Turn};
use crate::desk::witness::{Done, Witnessing};
use crate::home::places::Places;
use crate::home::{config, signers};
use crate::interpose::notice::start_diagnostics;
use crate::operator::sign;
use crate::signing::standing::{ALL, REASON, StopWord};
use crate::signing::witness::NAMESPACE;
use crate::text::plain::visible;
use crate::wire::counted;

#[derive(Debug, Subcommand)]
pub enum DeskCommand {
    /// Makes the schema and the roles in a database; run it again after an update
    #[command(
        after_help = "The role in the URL must be able to create roles and a schema. New roles have no password: give them one, or a \
certificate, as you do for others (`\\password NAME` in psql).

Example:
  mcp-approve desk init --url postgres://postgres@db/approvals --operator sam"
    )]
    Init(InitOptions),
    /// Serves this machine to the desk: what waits here, and the log
    #[command(after_help = "It runs until it is stopped; one for each user. Wrappers run as before without it.")]
    Run(DeskUrl),
    /// Freezes all machines, or one: each call there is asked until it is lifted
    #[command(
        after_help = "It signs with your key, and each machine checks that by its own list of signers: the namespace is freeze@mcp-approve. Rules, grants and --observe let nothing pass meanwhile; a person may approve a single call, calls that run already go on, and what a server asks its host passes as before.

Examples:
  mcp-approve desk freeze --reason 'a leaked token'
  mcp-approve desk freeze --machine mara@build7
  mcp-approve desk freeze --lift"
    )]
    Freeze(FreezeOptions),
    /// Signs a file of `tools review --export` for your team, or takes it back: machines whose config.toml names you offer it as a review
    #[command(
        after_help = "A machine takes nothing over by itself: `team = [\"you@example.com\"]` under [desk] in its config.toml has it offered, \
and `mcp-approve tools review --team` there agrees to it.

Example:
  mcp-approve tools review --export team.json
  mcp-approve desk share team.json
  mcp-approve desk share --none"
    )]
    Share(ShareOptions),
    /// Signs each minute that machines can be reached, for those whose policy requires it
    #[command(
        after_help = "It runs until it is stopped, as an operator's role. Its key is a file that it uses by itself, so root's list of signers must allow it for namespaces=\"alive@mcp-approve\" and for nothing else."
    )]
    Alive(AliveOptions),
    /// Signs the ends of all machines' logs, so that their loss shows: `log verify --desk` compares
    #[command(
        after_help = "An operator's console does it once a day, where the key asks for no touch. It needs a key that your list of signers allows for \
witness@mcp-approve. What came since the last is verified first; a log that does not hold is left out and named."
    )]
    Witness(DeskUrl),
}

#[derive(Args, Debug)]
pub struct FreezeOptions {
    #[command(flatten)]
    pub desk: DeskUrl,
    /// One machine by its own name (`uname -n`), one user of it as USER@MACHINE, or by its role on the desk; without it, all
    #[arg(long, value_name = "MACHINE", default_value = ALL, hide_default_value = true)]
    pub machine: String,
    /// Take MACHINE as it is: that machine is not on the desk yet
    #[arg(long, requires = "machine")]
    pub unseen: bool,
    /// Why; cards and records say it
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub reason: String,
    /// End the stops in force of the same machines, those that the desk has now
    #[arg(long)]
    pub lift: bool,
    /// List the stops in force and the last sign of life
    #[arg(long, conflicts_with_all = ["lift", "machine", "reason"])]
    pub status: bool,
}

#[derive(Args, Debug)]
pub struct ShareOptions {
    #[command(flatten)]
    pub desk: DeskUrl,
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present = "none")]
    pub file: Option<PathBuf>,
    /// Share nothing any more: whoever took something over from you is offered to take it back
    #[arg(long, conflicts_with = "file")]
    pub none: bool,
}

#[derive(Args, Debug)]
pub struct AliveOptions {
    #[command(flatten)]
    pub desk: DeskUrl,
    /// The public file of the key; without it, the first that may sign signs of life
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct DeskUrl {
    /// The desk, instead of `url` under [desk] in config.toml; never with a password in it
    #[arg(id = "desk_url", long = "url", value_name = "URL")]
    pub url: Option<String>,
}

#[derive(Args, Debug)]
pub struct DeskStatus {
    #[command(flatten)]
    pub desk: DeskUrl,
    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
}

impl DeskUrl {
    /// The desk of `--desk URL`, or without URL that of `config.toml`.
    pub fn of(url: &str) -> Self {
        Self { url: (!url.is_empty()).then(|| url.to_owned()) }
    }
}

#[derive(Args, Debug)]
pub struct InitOptions {
    #[command(flatten)]
    pub desk: DeskUrl,
    /// Make a login role for a user of a machine
    #[arg(long, value_name = "NAME")]
    pub machine: Vec<String>,
    /// Make a login role for an operator
    #[arg(long, value_name = "NAME")]
    pub operator: Vec<String>,
    /// Make a login role for an auditor, who only reads
    #[arg(long, value_name = "NAME")]
    pub auditor: Vec<String>,
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        Self::wrong(visible(&error.to_string()), error.hint())
    }
}

/// The desk that the command line names, or `[desk] url` in `config.toml`.
pub fn target(given: &DeskUrl, places: &Places) -> Result<Target, Error> {
    let mut place = config::desk(places)?;
    if let Some(url) = &given.url {
        url.clone_into(&mut place.url);
    }
    if place.url.is_empty() {
        return Err(Error::wrong(
            "no desk is named",
            "give --url postgres://ROLE@HOST/DATABASE, or `url` under [desk] in config.toml",
        ));
    }
    Ok(Target::read(&place)?)
}

/// A runtime for one command: it waits for the network and for nothing else.
pub fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    let made = tokio::runtime::Builder::new_current_thread().enable_all().build();
    made.map_err(|cause| Error::failed("the network cannot be waited for", cause, "look at the limits of open files"))
}

/// What is configured and true of the desk.
pub fn status(options: &DeskStatus, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let place = config::desk(here.places)?;
    let is_given = options.desk.url.as_ref().is_some_and(|url| *url != place.url);
    let url = options.desk.url.clone().unwrap_or(place.url);
    if url.is_empty() {
        return status::nothing(here.places, options.json, out);
    }
    let target = target(&options.desk, here.places)?;
    status::status(status::Url { url: &url, is_given }, (&target, &runtime()?), options.json, here, out)
}

pub fn run(command: &DeskCommand, places: &Places, now: fn() -> i64, out: &mut dyn Write) -> Exit {
    match command {
        DeskCommand::Init(options) => init(&target(&options.desk, places)?, options, out),
        DeskCommand::Run(desk) => serve(&target(desk, places)?, places, out),
        DeskCommand::Freeze(options) => freeze(options, Here { places, now: now() }, out),
        DeskCommand::Share(options) => {
            let target = target(&options.desk, places)?;
            runtime()?.block_on(stop::share(&target, options.file.as_deref(), Here { places, now: now() }, out))?;
            Ok(ExitCode::SUCCESS)
        }
        DeskCommand::Alive(options) => {
            let target = target(&options.desk, places)?;
            match runtime()?.block_on(stop::alive(&target, options.key.as_deref(), (places, now), out)) {
                Err(error) => Err(error),
            }
        }
        DeskCommand::Witness(desk) => witness(&target(desk, places)?, places, now(), out),
    }
}

fn freeze(options: &FreezeOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let FreezeOptions { desk, machine, unseen, reason, lift, status } = options;
    if machine.is_empty() || machine.contains(char::is_whitespace) {
        return Err(Error::wrong("no machine has such a name", "give it as `uname -n` says it there, or USER@MACHINE"));
    }
    if reason.chars().count() > REASON {
        return Err(Error::wrong(format!("the reason is longer than {REASON} characters"), "say it in fewer words"));
    }
    let (target, runtime) = (target(desk, here.places)?, runtime()?);
    match status {
        true => runtime.block_on(stop::status(&target, here, out))?,
        false => {
            let word = if *lift { StopWord::Lift } else { StopWord::Freeze };
            runtime.block_on(stop::freeze(&target, (word, machine, *unseen), reason, here, out))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn init(target: &Target, options: &InitOptions, out: &mut dyn Write) -> Exit {
    let InitOptions { machine, operator, auditor, .. } = options;
    let of = |names: &[String], group| -> Vec<NewRole> {
        names.iter().map(|name| NewRole { name: name.clone(), group }).collect()
    };
    let roles = [of(machine, Group::Machine), of(operator, Group::Operator), of(auditor, Group::Auditor)].concat();
    runtime()?.block_on(async {
        let mut engine = target.connect_to_any(Program::Command).await?;
        init::make(&mut engine, &roles).await
    })?;
    writeln!(out, "The desk is ready.")?;
    for NewRole { name, group } in &roles {
        writeln!(out, "{} is a role of the group {}.", visible(name), group.role())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn witness(target: &Target, places: &Places, now: i64, out: &mut dyn Write) -> Exit {
    let failed = |why| Error::failed("nothing is signed", why, "`mcp-approve signers` says who may sign");
    let key = sign::keys(places, NAMESPACE, now).map_err(failed)?.remove(0);
    let lists = signers::load(places)
        .ok()
        .flatten()
        .ok_or("there is no list of signers")
        .map_err(|why| failed(why.to_owned()))?;
    let desk = Central::open(target, Program::Command)?;
    places.create_state().map_err(|error| failed(error.to_string()))?;
    writeln!(out, "Signing as {key}. Touch the key when it blinks; Ctrl-C ends this.")?;
    out.flush()?;
    let witnessing = Witnessing { desk: &desk, target, places, signers: &lists.signers };
    let done = witnessing.sign(now, &key, &mut |text| text.sign(places), &|| Ok(true)).map_err(failed)?;
    let Done { logs, left_out } = done.unwrap_or_default();
    writeln!(out, "The desk has the ends of {}, signed.", counted(logs as u64, "log"))?;
    for one in &left_out {
        writeln!(out, "LEFT OUT: {}.", visible(one))?;
    }
    if !left_out.is_empty() {
        writeln!(out, "`mcp-approve log verify --desk` says more of them.")?;
    }
    Ok(if left_out.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn serve(target: &Target, places: &Places, out: &mut dyn Write) -> Exit {
    let site = Site { places: places.clone(), log: config::audit_db(places)? };
    let diagnostics = places.log_dir();
    start_diagnostics(&diagnostics);
    let (mut unheard, mut last) = (None, String::new());
    let mut tell = |turn: Turn| {
        let said = match turn {
            Turn::Connected => {
                let (role, folder) = (visible(target.role()), shown(&diagnostics));
                format!("connected as {role}; what cannot be sent or kept is written to {folder}")
            }
            Turn::Broken(error) => {
                format!("{}; it is tried again: {}", visible(&error.to_string()), error.hint())
            }
            Turn::Other(other) => format!("{other}: {}", Other::HINT),
        };
        // It is tried again and again: why it fails is said once.
        if said != last {
            unheard = writeln!(out, "{said}").and_then(|()| out.flush()).err().or(unheard.take());
            last = said;
        }
    };
    let Err(error) = runtime()?.block_on(run::run(target, site, &mut tell));
    Err(error.into())
}
