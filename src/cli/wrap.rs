//! `mcp-approve -- CMD`: the options of wrapping, and the start of the wrapper.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, ValueEnum, ValueHint};

use crate::audit::{
    By, Field, Fields, Kind, Reader, Record, Search, VerdictWord, fields::JudgedDetail, index::Index, query,
};
use crate::behavior::expected::Expected;
use crate::cli::console;
use crate::cli::error::{Error, Exit};
use crate::console::run::restore;
use crate::gate::Unattended;
use crate::home::config::{Drawing, Level};
use crate::home::layers::{Keeps, Layers};
use crate::home::{config, config::value::duration, name, places::Places, remote, remote::Bridge};
use crate::interpose::start::{Setup, StartError};
use crate::interpose::{guardian, start, stdio::HostPipe};
use crate::link::delegation;

/// Options of wrapping, and the server's command. `None` leaves it to config.toml.
#[derive(Clone, Debug, Default, Args)]
pub struct WrapOptions {
    /// The server's name in rules and tickets [default: from its command]
    #[arg(long, value_name = "NAME", value_parser = server_name)]
    pub name: Option<String>,
    /// Decide by this policy too; of all policies the strictest rule wins
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub policy: Option<PathBuf>,
    /// Let the agent see and call only the tools in this file: a JSON array of names, or an answer to tools/list
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub scope: Option<PathBuf>,
    /// Let the agent see and call only what this role grants: viewer, analyst, editor, admin, or one of config.toml
    #[arg(long, value_name = "ROLE")]
    pub role: Option<String>,
    /// Show the agent a search tool and the tools that it finds, in place of the whole list
    #[arg(long)]
    pub discover: bool,
    /// What to do with a call that needs a decision while no console is open [default: wait]
    #[arg(long, value_name = "WHAT")]
    pub unattended: Option<Unattended>,
    /// Deny a call that is not decided within this time [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub approval_timeout: Option<Duration>,
    /// When the host gives up on a call; mcp-approve denies it before that [default: as known of the host]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub host_timeout: Option<Duration>,
    /// Let calls reach the server in the order the host sent them: one that waits for you holds up those behind it
    #[arg(long)]
    pub ordered: bool,
    /// Answer a call that waits with a task, where the host declares that it takes one: it polls for as long as you take
    #[arg(long)]
    pub tasks: bool,
    /// What the task needs; mcp-approve asks about other calls: read-only, classes like PURE|READ or
    /// PURE|READ|CONTENT|TEXT, identities, or
    /// session:ID for what that session was approved to do; several with commas between them
    #[arg(long, value_name = "WHAT")]
    pub expect: Option<Expected>,
    /// Draw the console on the controlling terminal
    #[arg(long)]
    pub inline: bool,
    /// Let pass what would be asked, and record it; what a rule denies does not pass
    #[arg(long)]
    pub observe: bool,
    /// Record in this database [default: audit.db in the state folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub audit_db: Option<PathBuf>,
    /// Reach the server at this URL, through mcp-remote; `-- URL` does the same
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url, conflicts_with = "command")]
    pub url: Option<String>,
    /// Send this header to the URL, as 'Authorization: Bearer ${TOKEN}'; may be repeated
    #[arg(long, value_name = "HEADER")]
    pub header: Vec<String>,
    /// The server's command or URL, after `--`
    #[arg(last = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

impl WrapOptions {
    /// The first option of these that a command line gives, as it is written; `None` where it gives none.
    pub fn first_given(given: &ArgMatches) -> Option<String> {
        let of_ours = Self::augment_args(Command::new(""));
        let is_given = |one: &&Arg| given.value_source(one.get_id().as_str()) == Some(ValueSource::CommandLine);
        of_ours.get_arguments().find(is_given).map(|one| match one.get_long() {
            Some(option) => format!("--{option}"),
            None => "-- CMD".to_owned(),
        })
    }

    /// What they say, with whole paths: the wrapper's folder is not where `config.toml`'s paths start.
    pub fn level(&self) -> Level {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Level {
            name: self.name.clone(),
            policy: self.policy.as_ref().map(absolute),
            scope: self.scope.as_ref().map(absolute),
            role: self.role.clone(),
            discover: self.discover.then_some(true),
            unattended: self.unattended,
            approval_timeout: self.approval_timeout,
            host_timeout: self.host_timeout,
            ordered: self.ordered.then_some(true),
            tasks: self.tasks.then_some(true),
            inline: self.inline.then_some(true),
            observe: self.observe.then_some(true),
            audit_db: self.audit_db.as_ref().map(absolute),
            expect: self.expect.clone(),
            ..Level::default()
        }
    }
}

impl ValueEnum for Unattended {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Wait, Self::Deny, Self::Elicit]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Wait => PossibleValue::new("wait").help("It waits until a console opens, or until its deadline"),
            Self::Deny => PossibleValue::new("deny").help("mcp-approve denies it at once"),
            Self::Elicit => PossibleValue::new("elicit").help("The host asks its user, unless the call is dangerous"),
        })
    }
}

/// Wraps one server until it or the host ends; the exit code is the server's.
pub(super) fn run(options: &WrapOptions, places: &Places) -> Exit {
    let bridge = bridge(options)?;
    let remote = bridge.is_some();
    let Bridge { command, environment } =
        bridge.unwrap_or_else(|| Bridge { command: options.command.clone(), environment: Vec::new() });
    if command.is_empty() {
        return Err(Error::wrong(
            "no server command was given",
            "put it after `--`: mcp-approve -- npx -y some-server",
        ));
    }
    delegation::take_name();
    let core = guardian::keep_memory_private();
    let mut settings = config::settle(&command, options.level(), places)?;
    // A mistyped path would begin another log.
    if let Some(folder) = options.level().audit_db.as_deref().and_then(Path::parent).filter(|folder| !folder.exists()) {
        return Err(Error::wrong(
            format!("there is no folder {} for the log that --audit-db names", folder.display()),
            "make the folder, or name another file",
        ));
    }
    if let Some(expect) = &mut settings.expect {
        expect.resolve(|session| approved_in(session, &settings.audit_db))?;
    }
    // In a state folder that others can use no record is written, so no call runs; its answer says why.
    let state = places.create_state().map_err(|error| format!("{error}; {}", error.hint()));
    if let Err(why) = &state {
        crate::interpose::notice::say(&format!("no call can run: {why}, and start this server again"));
    }
    let folder = std::env::current_dir().ok();
    let mut layers = Layers::of(places, folder.as_deref(), &settings.policy);
    let keeps = if state.is_ok() { Keeps::Copies } else { Keeps::Nothing };
    let policy = layers.load(keeps);
    let drawing = settings.drawing;
    let setup = Setup { command, environment, core, settings, places: places.clone(), state, policy, layers };
    let (pipe, beside) = match drawing {
        Drawing::Never => (HostPipe::take().map_err(|error| cannot_start(error.into()))?, None),
        Drawing::Inline => console::inline(places).map(|(pipe, beside)| (pipe, Some(beside)))?,
    };
    let ended = start::run(setup, pipe, beside);
    if drawing == Drawing::Inline {
        restore();
    }
    match ended {
        Ok(code) => {
            // mcp-remote reports its failure in its own words. Exit codes of 128 and more mean a signal, not a failure.
            if remote && (1..128).contains(&code) {
                crate::interpose::notice::say(
                    "the bridge to the server has failed, for the reason above: check the URL, and that the server is up",
                );
            }
            Ok(code.into())
        }
        Err(StartError::Spawn(error)) if remote => Err(Error::NoBridge(error)),
        Err(StartError::Spawn(error)) => Err(Error::CannotRun(error)),
        Err(error @ StartError::System(_)) => Err(cannot_start(error.into())),
    }
}

/// The identities of what was approved in an earlier session. One that was only observed was not approved.
fn approved_in(session: &str, log: &Path) -> Result<Vec<String>, Error> {
    let search = Search::default()
        .with(Field::Session, Some(session))
        .with(Field::Kind, Some(Kind::Decision.word()))
        .with(Field::Verdict, Some(VerdictWord::Approve.word()));
    let found = match Reader::open(log)? {
        Some(reader) => query::last(&reader, Index::open(log, &reader).as_ref(), &search, usize::MAX)?,
        None => Vec::new(),
    };
    // Only tool calls count, not the host's other requests.
    let is_call = |fields: &Fields<'_>| fields.detail().is_none_or(|detail: JudgedDetail| detail.method.is_none());
    let is_approved = |fields: &Fields<'_>| fields.by() != Some(By::Observe) && is_call(fields);
    let fields = found.iter().filter_map(Record::fields).filter(is_approved);
    let identities: BTreeSet<String> = fields.filter_map(|fields| fields.identity).collect();
    if identities.is_empty() {
        return Err(Error::wrong(
            format!("--expect session:{session}: the log {} has no approved call of this session", log.display()),
            "`mcp-approve log list --verdict approve --json` shows each call with its session",
        ));
    }
    Ok(identities.into_iter().collect())
}

fn bridge(options: &WrapOptions) -> Result<Option<Bridge>, Error> {
    let wrong = |what: &str| Error::wrong(what, "mcp-approve [OPTIONS] [--header 'Name: value'] -- URL");
    let first = options.command.first().and_then(|word| word.to_str()).filter(|word| remote::is_url(word));
    let Some(url) = options.url.as_deref().or(first) else {
        return if options.header.is_empty() { Ok(None) } else { Err(wrong("--header is only for a server's URL")) };
    };
    if options.command.len() > 1 {
        return Err(wrong("a server's URL must be the last argument"));
    }
    let bridge = Bridge::to(url, &options.header, |name| std::env::var(name).ok());
    bridge.map(Some).map_err(|error| Error::wrong(error.what, error.hint))
}

fn cannot_start(cause: Box<dyn std::error::Error + Send + Sync>) -> Error {
    Error::failed("the wrapper could not start", cause, "look at the limits on processes and open files (ulimit -a)")
}

fn server_name(text: &str) -> Result<String, &'static str> {
    if name::is_name(text) { Ok(text.to_owned()) } else { Err("use 1 to 64 of the characters a-z A-Z 0-9 . _ -") }
}
