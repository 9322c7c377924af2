//! Which servers are meant, by options or picked from a list; and which lasting mcp-approve hosts start. Changes nothing.

use std::env;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};

use crate::cli::console;
use crate::cli::error::Error;
use crate::cli::hosts::{HostsHome, each, known_as, reach, row, said};
use crate::cli::look::{Here, JsonForm, json_rows, visible};
use crate::hosts::{Found, Listed, Lists, Start, table::HOSTS};

#[derive(Clone, Debug, Args)]
pub struct ChangeOptions {
    /// Every server of every host
    #[arg(long, conflicts_with_all = ["host", "server"])]
    pub all: bool,
    /// Only the servers of this host; may be repeated
    #[arg(long, value_name = "HOST", value_parser = PossibleValuesParser::new(HOSTS.iter().map(|host| host.word)))]
    pub host: Vec<String>,
    /// Only servers of this name, as the host's file has it; may be repeated
    #[arg(long, value_name = "NAME")]
    pub server: Vec<String>,
    /// Change nothing; show what would change, as a diff without secrets
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON array, a row for each server
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub hosts: HostsHome,
}

#[derive(Clone, Debug, Args)]
pub struct InstallOptions {
    #[command(flatten)]
    pub change: ChangeOptions,
    /// Have Codex pass on every call of these servers; otherwise it refuses some before mcp-approve can ask
    #[arg(long)]
    pub codex_approve: bool,
    /// Also wrap servers reached over the network, through mcp-remote (needs Node.js)
    #[arg(long)]
    pub remote: bool,
    /// Change only what wraps servers already: where that program is gone, moved, another build or no mcp-approve
    #[arg(long, conflicts_with_all = ["remote", "codex_approve"])]
    pub repair: bool,
    /// The program that hosts start, instead of the mcp-approve that runs now
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub program: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    In,
    Out,
    Repair,
}

pub(super) struct Change<'a> {
    pub(super) options: &'a ChangeOptions,
    pub(super) way: Way,
    pub(super) here: Here<'a>,
}

impl Change<'_> {
    pub(super) fn command(&self, words: &str) -> String {
        self.options.hosts.command(self.here.places, words)
    }
}

pub(super) enum Choice {
    /// Of these hosts, servers of these names; where none is named, every one.
    By { hosts: Vec<String>, servers: Vec<String> },
    /// By file, project and name.
    Picked(Vec<(PathBuf, Option<String>, String)>),
}

impl Choice {
    pub(super) const ALL: Self = Self::By { hosts: Vec::new(), servers: Vec::new() };

    pub(super) fn given(options: &ChangeOptions) -> Option<Self> {
        let (hosts, servers) = (options.host.clone(), options.server.clone());
        (options.all || !hosts.is_empty() || !servers.is_empty()).then_some(Self::By { hosts, servers })
    }

    pub(super) fn is_all(&self) -> bool {
        matches!(self, Self::By { hosts, servers } if hosts.is_empty() && servers.is_empty())
    }

    pub(super) fn may_be_in(&self, found: &Found) -> bool {
        match self {
            Self::By { hosts, .. } => hosts.is_empty() || hosts.iter().any(|host| host == found.host.word),
            Self::Picked(picked) => picked.iter().any(|(file, ..)| *file == found.file),
        }
    }

    pub(super) fn has(&self, found: &Found, project: Option<&str>, name: &str) -> bool {
        match self {
            Self::By { servers, .. } => servers.is_empty() || servers.iter().any(|server| server == name),
            Self::Picked(picked) => {
                let is = |(file, of, server): &(PathBuf, Option<String>, String)| {
                    *file == found.file && of.as_deref() == project && server == name
                };
                picked.iter().any(is)
            }
        }
    }
}

/// Lists the servers with what each could do unasked today, and asks which are meant; `None` where the user chooses none.
pub(super) fn pick(lists: &Lists, change: &Change<'_>, out: &mut dyn Write) -> Result<Option<Choice>, Error> {
    let Change { options, way, here } = *change;
    let reach = reach(here)?;
    let known = |one: &Listed| reach.get(&known_as(one)).filter(|reach| reach.all() > 0);
    if options.json {
        json_rows(lists.servers.iter().map(|one| row(one, known(one))), JsonForm::Array, out)?;
        return Ok(None);
    }
    let can = |one: &Listed| match one.start {
        Start::Unwrapped => way == Way::In,
        Start::Wrapped | Start::Observed => way == Way::Out,
        Start::Remote | Start::Elsewhere | Start::Bundle => false,
    };
    let mut numbered = Vec::new();
    each(lists, out, |one, out| {
        let number = if can(one) {
            numbered.push(one);
            format!("{:>3}", numbered.len())
        } else {
            "   ".to_owned()
        };
        writeln!(out, "{number}  {}: {}", visible(&one.name), said(one.start, known(one)))
    })?;
    let (command, done) = if way == Way::Out { ("uninstall", "unwrap") } else { ("install", "wrap") };
    if numbered.is_empty() {
        writeln!(out, "There is no server to {done} (files read: {}).", lists.files)?;
        if lists.files == 0 {
            writeln!(
                out,
                "`mcp-approve help hosts` says which files are read, and how to wrap a server in any other host."
            )?;
        }
        return Ok(None);
    }
    if !console::is_here() {
        let command = visible(&change.command(command));
        writeln!(out, "Nothing was changed. To {done} them: {command} --all, or with --host HOST or --server NAME.")?;
        return Ok(None);
    }
    loop {
        let Some(answer) = console::ask(&format!("Which to {done}? Numbers, all, or Enter for none >"), out)? else {
            return Ok(None);
        };
        let words: Vec<&str> = answer.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            [] | ["none" | "q"] => return Ok(None),
            ["all"] => return Ok(Some(Choice::ALL)),
            numbers => {
                let one =
                    |word: &&str| word.parse::<usize>().ok().and_then(|number| numbered.get(number.checked_sub(1)?));
                let picked: Option<Vec<_>> = numbers.iter().map(one).collect();
                if let Some(picked) = picked {
                    let key = |one: &&Listed| (one.file.clone(), one.project.clone(), one.name.clone());
                    return Ok(Some(Choice::Picked(picked.into_iter().map(key).collect())));
                }
                match numbered.len() {
                    1 => writeln!(out, "Type 1, or none.")?,
                    more => writeln!(out, "Give numbers from 1 to {more}, with a space between them.")?,
                }
            }
        }
    }
}

pub(super) fn program_path(named: Option<&Path>) -> Result<String, Error> {
    let path = match named {
        Some(named) => std::path::absolute(named).map_err(|cause| Error::Unreadable { path: named.into(), cause })?,
        None => lasting(env::current_exe().map_err(|cause| Error::Unreadable { path: "mcp-approve".into(), cause })?)?,
    };
    if !path.is_file() {
        return Err(wrong(format!("{} is not a file", path.display())));
    }
    // Reading hosts' lists, we know our wrapper by this name: under any other, its server counts as unwrapped.
    if path.file_name().is_none_or(|name| name != "mcp-approve") {
        return Err(wrong(format!("{} is not named mcp-approve", path.display())));
    }
    path_text(&path)
}

pub(super) fn path_text(path: &Path) -> Result<String, Error> {
    path.to_str().map(str::to_owned).ok_or_else(|| wrong(format!("{} is not UTF-8", path.display())))
}

fn wrong(what: String) -> Error {
    let hint = "install mcp-approve at a lasting place (npm install -g, uv tool install or cargo install), or name one with --program FILE";
    Error::wrong(what, hint)
}

/// The path as the PATH has it, if it does: that one stays when a package manager puts a new version elsewhere.
fn lasting(program: PathBuf) -> Result<PathBuf, Error> {
    let paths = env::var_os("PATH").unwrap_or_default();
    let is_it = |one: &PathBuf| one.is_absolute() && one.canonicalize().is_ok_and(|one| one == program);
    let path = env::split_paths(&paths).map(|folder| folder.join("mcp-approve")).find(is_it).unwrap_or(program);
    let cache =
        |part: Component<'_>| matches!(part.as_os_str().to_str(), Some("_npx" | "archive-v0" | "environments-v2"));
    if path.components().any(cache) {
        return Err(wrong(format!("{} lies in a cache, and is gone when that is emptied", path.display())));
    }
    Ok(path)
}
