//! `mcp-approve desk`: makes the desk of many machines, and serves this one to it.

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::cli::error::{Error, Exit};
use crate::desk::engine::{EngineError, Program, Target};
use crate::desk::init::{self, Group, NewRole};
use crate::desk::run::{self, Site, Turn};
use crate::home::config;
use crate::home::places::Places;
use crate::text::plain::visible;

#[derive(Debug, Subcommand)]
pub enum DeskCommand {
    /// Makes the schema and the roles in a database; run it again after an update
    #[command(
        after_help = "The role in the URL must be able to create roles and a schema. New roles have no password: give them one, or a \
certificate, as you do for others (`\\password NAME` in psql).

Example:
  mcp-approve desk init --url postgres://postgres@db.example.com/approvals --machine build7-mara --operator sam"
    )]
    Init(InitOptions),
    /// Serves this machine to the desk: what waits here, and the log
    #[command(after_help = "It runs until it is stopped; one for each user. Wrappers run as before without it.")]
    Run(DeskUrl),
}

#[derive(Args, Debug)]
pub struct DeskUrl {
    /// The desk, instead of `url` under [desk] in config.toml; never with a password in it
    #[arg(id = "desk_url", long = "url", value_name = "URL")]
    pub url: Option<String>,
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

pub fn run(command: &DeskCommand, places: &Places, out: &mut dyn Write) -> Exit {
    match command {
        DeskCommand::Init(options) => init(&target(&options.desk, places)?, options, out),
        DeskCommand::Run(desk) => serve(&target(desk, places)?, places, out),
    }
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

fn serve(target: &Target, places: &Places, out: &mut dyn Write) -> Exit {
    let site = Site { places: places.clone(), log: config::audit_db(places)? };
    let mut unheard = None;
    let mut tell = |turn: Turn| {
        let said = match turn {
            Turn::Connected => writeln!(out, "connected as {}", visible(target.role())),
            Turn::Broken(error) => writeln!(out, "{}; it is tried again", visible(&error.to_string())),
        };
        unheard = said.and_then(|()| out.flush()).err().or(unheard.take());
    };
    let Err(error) = runtime()?.block_on(run::run(target, site, &mut tell));
    Err(error.into())
}
