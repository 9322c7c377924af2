//! One file per command; all wording of --help. Turns a command line into a command, and runs it.

pub mod args;
pub mod console;
pub mod demo;
pub mod desk;
pub mod doctor;
pub mod error;
pub mod help;
pub mod hosts;
pub mod install;
pub mod lattice;
pub mod log;
pub mod look;
mod manifest;
pub mod prose;
pub mod rules;
pub mod signers;
pub mod tools;
pub mod wrap;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _};

use crate::cli::args::{Cli, Command, Output, SignersCommand, ToolsCommand, ToolsSearchOptions};
use crate::cli::desk::DeskUrl;
use crate::cli::error::{Error, Exit, done};
use crate::cli::lattice::LatticeCommand;
use crate::cli::log::{LogCommand, named::LogPlace};
use crate::cli::look::{First, Here, Look, paged, visible};
use crate::cli::prose::Prose;
use crate::cli::rules::options::RulesCommand;
use crate::cli::wrap::WrapOptions;
use crate::console::{outside::Process, settings};
use crate::home::places::{PlaceError, Places};
use crate::home::{agreed::RecordError, config::ConfigError, policy_file::PolicyPlace};
use crate::policy::reading::nearest;

pub fn run(args: impl IntoIterator<Item = OsString>, out: &mut dyn Write) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    let parsed = Cli::command().try_get_matches_from(&args).and_then(|found| {
        let cli = Cli::from_arg_matches(&found)?;
        Ok((cli, WrapOptions::first_given(&found)))
    });
    let (cli, given) = match parsed {
        Ok(parsed) => parsed,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            return done(write!(out, "{}", error.render()));
        }
        Err(error) => return Err(usage(&error, &args)),
    };
    let places = match &cli.home {
        Some(dir) => Places::under(dir),
        None => Places::of_user(),
    };
    let known = places.as_ref().ok().cloned();
    let columns = if cli.command.as_ref().is_some_and(keeps_lines) { None } else { look::columns(&io::stdout()) };
    let out = &mut Prose::new(out, columns);
    let ran = match cli.command {
        None if args.last().is_some_and(|last| last == "--") => {
            Err(Error::wrong("no command follows --", "write the server's there: mcp-approve -- npx SERVER"))
        }
        None if given.is_none() => {
            places.map_err(Error::from).and_then(|places| open_console(&places, cli.desk.as_deref()))
        }
        None if cli.desk.is_some() => Err(Error::wrong(
            "--desk opens the console, and wraps no server",
            "mcp-approve --desk [URL], with no command after it",
        )),
        None => places.map_err(Error::from).and_then(|places| wrap::run(&cli.wrap, &places)),
        Some(command) => {
            if cli.desk.is_some() {
                return Err(Error::wrong(
                    "--desk before a command opens the console",
                    "put it behind the command: mcp-approve waiting --desk",
                ));
            }
            if let Some(option) = given {
                return Err(Error::wrong(
                    format!("{option} belongs to wrapping a server, not to a command"),
                    "mcp-approve [OPTIONS] -- CMD, or mcp-approve wrap [OPTIONS] -- CMD",
                ));
            }
            with_command(command, places, out)
        }
    };
    let ran = ran.and_then(|code| Ok(out.flush().map(|()| code)?));
    ran.map_err(|error| match known {
        Some(places) => in_full(error, &places),
        None => error,
    })
}

/// Whether lines are printed whole, however narrow the terminal: they are a program's text, or `--wide` rows.
fn keeps_lines(command: &Command) -> bool {
    match command {
        Command::Completions { .. }
        | Command::Log { command: Some(LogCommand::Export(_)), .. }
        | Command::Lattice { command: LatticeCommand::Codegen(_) } => true,
        Command::Log { command: Some(command), .. } => command.look().is_some_and(|look| look.wide),
        Command::Rules { command: Some(RulesCommand::List(options)), .. } => options.look.wide,
        Command::Tools { command: Some(ToolsCommand::Search(ToolsSearchOptions { list, .. })), .. }
        | Command::Tools { command: Some(ToolsCommand::List(list)), .. }
        | Command::Tools { list, command: None } => list.look.wide,
        _ => false,
    }
}

/// The error with `--home` in its hints. One about config.toml lists every problem, also those in the console's part.
fn in_full(error: Error, places: &Places) -> Error {
    let error = match error {
        Error::Config(ConfigError::Problems { .. })
        | Error::Record(RecordError::Config(ConfigError::Problems { .. })) => {
            settings::check(places).err().map_or(error, Error::Config)
        }
        error => error,
    };
    match places.root() {
        Some(home) => Error::Under(home.to_owned(), Box::new(error)),
        None => error,
    }
}

pub fn report(error: &Error) -> String {
    let text = error.report();
    look::columns(&io::stderr()).map_or(text.clone(), |columns| prose::broken(&text, columns))
}

fn open_console(places: &Places, desk: Option<&str>) -> Exit {
    if !console::is_here() {
        return Err(Error::NoTerminal(""));
    }
    if std::env::var_os("TERM").is_some_and(|kind| kind == "dumb") {
        return Err(Error::NoTerminal(" that can move its cursor, and TERM=dumb says that this one cannot"));
    }
    match desk {
        Some(url) => console::run_on_desk(places, url),
        None => console::run(places, Process::Own),
    }
}

fn with_command(command: Command, places: Result<Places, PlaceError>, out: &mut dyn Write) -> Exit {
    match command {
        Command::Wrap(options) => wrap::run(&options, &places?),
        Command::Demo => demo::run(places?.root(), now(), out),
        Command::Log { db, desk, command } => review(command, (db, desk), &places?, out),
        Command::Rules { file, db, command } => {
            let places = places?;
            let command = command.unwrap_or(RulesCommand::List(rules::options::ListOptions::default()));
            let place = file.map_or_else(|| PolicyPlace::own(&places), PolicyPlace::Named);
            let db = db.unwrap_or_else(|| places.audit_db());
            rules::run(&command, &rules::Site { place, db, places: &places, now: now() }, out)
        }
        Command::Tools { list, command } => {
            let command = command.unwrap_or(ToolsCommand::List(list));
            tools::run(&command, places, now(), out)
        }
        Command::Lattice { command } => lattice::run(&command, places, now(), out),
        Command::Waiting(options) => console::waiting(&options, &places?, now(), out),
        Command::Desk { status, command: None } => desk::status(&status, Here { places: &places?, now: now() }, out),
        Command::Desk { command: Some(command), .. } => desk::run(&command, &places?, now, out),
        Command::Signers { command } => {
            let command = command.unwrap_or(SignersCommand::List(Output::default()));
            signers::run(&command, Here { places: &places?, now: now() }, out)
        }
        Command::Install(options) => install::install(&options, Here { places: &places?, now: now() }, out),
        Command::Uninstall(options) => install::uninstall(&options, Here { places: &places?, now: now() }, out),
        Command::Doctor(options) => doctor::run(&options, &places?, out),
        Command::Completions { shell } => {
            // clap_complete panics when its writer fails, so it writes into memory.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "mcp-approve", &mut script);
            done(out.write_all(&script))
        }
        Command::Help { words } => done(help::run(&words, out)),
        Command::DemoServer { dir } => demo::serve(&dir),
        Command::DemoAgent(args) => demo::agent(&args),
        Command::DemoConsole => console::run(&places?, Process::Demo),
    }
}

fn review(
    command: Option<LogCommand>,
    (db, desk): (Option<PathBuf>, Option<String>),
    places: &Places,
    out: &mut dyn Write,
) -> Exit {
    let command = command.unwrap_or_else(|| LogCommand::List(log::ListOptions::default()));
    let db = db.unwrap_or_else(|| places.audit_db());
    let target = desk.map(|url| desk::target(&DeskUrl::of(&url), places)).transpose()?;
    let place = target.as_ref().map_or(LogPlace::File(&db), LogPlace::Desk);
    let run = |out: &mut dyn Write| log::run(&command, place, places, Look::here(Here { places, now: now() }), out);
    match command.look() {
        Some(look) => {
            let first = if matches!(command, LogCommand::List(_)) { First::Newest } else { First::Top };
            paged(look, first, out, run)
        }
        None => run(out),
    }
}

/// Milliseconds since 1970, UTC.
fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// The text of a usage error, with hints as every error has them; a server's command without its `--` is the likeliest slip.
fn usage(error: &clap::Error, args: &[OsString]) -> Error {
    let cli = Cli::command();
    let (path, command) = begun(&cli, args);
    let is_first = path == cli.get_name();
    if let Some(word) = stray_word(error).filter(|_| is_first || error.kind() == ErrorKind::InvalidSubcommand) {
        let word: String = word.chars().flat_map(char::escape_debug).collect();
        let after = if is_first { String::new() } else { format!(" after `{path}`") };
        let mut text = format!("error: there is no command \"{word}\"{after}\n");
        let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        if let Some(near) = nearest(&word, &known) {
            text.push_str(&format!("  hint: did you mean `{path} {near}`?\n"));
        }
        text.push_str(&match is_first {
            true => format!("  hint: to wrap a server, put `--` before its command: {path} -- {word} ...\n"),
            false => format!("  hint: `{path} --help` lists them\n"),
        });
        return Error::Usage(text);
    }
    let mut text = String::new();
    for line in error.render().to_string().lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("  tip: ") {
            // clap proposes to hand an unknown option to the server, which is hardly ever meant.
            Some(tip) if tip.contains("as a value, use '--") => {}
            Some(tip) => text.push_str(&format!("  hint: {tip}\n")),
            None if line.starts_with("For more information") => {}
            None => text.push_str(&format!("{line}\n")),
        }
    }
    // In a search `-` excludes, but on the command line it begins an option.
    let excludes = args.iter().filter_map(|arg| arg.to_str()).find(|arg| {
        arg.strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()) && rest.contains(':'))
    });
    if let Some(word) = excludes.filter(|_| error.kind() == ErrorKind::UnknownArgument) {
        text.push_str(&format!("  hint: put `--` before a word that begins with `-`: {path} -- {}\n", visible(word)));
    }
    text.push_str(&format!("  hint: `{path} --help` says more\n"));
    Error::Usage(text)
}

fn begun<'c>(cli: &'c clap::Command, args: &[OsString]) -> (String, &'c clap::Command) {
    let words = args.iter().skip(1).take_while(|word| *word != "--");
    words.fold((cli.get_name().to_owned(), cli), |(path, command), word| match command.find_subcommand(word) {
        Some(below) => (format!("{path} {}", below.get_name()), below),
        None => (path, command),
    })
}

fn stray_word(error: &clap::Error) -> Option<&str> {
    let kind = match error.kind() {
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        _ => return None,
    };
    match error.get(kind) {
        Some(ContextValue::String(word)) if !word.starts_with('-') => Some(word),
        _ => None,
    }
}
