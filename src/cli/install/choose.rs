//! Which servers are meant: by options, or picked from a numbered list at a terminal. Changes nothing.

use std::io::Write;
use std::path::PathBuf;

use serde_json::Value;

use super::options::ChangeOptions;
use crate::cli::error::Error;
use crate::cli::lattice::hosts::{each, known_as, reach, row, said};
use crate::cli::look::Here;
use crate::cli::person;
use crate::cli::print::{pretty, visible};
use crate::hosts::{Found, Listed, Lists, Start};

/// Whether servers are wrapped or unwrapped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    In,
    Out,
}

/// A change of hosts' files: what was asked for, and where.
pub(super) struct Change<'a> {
    pub(super) options: &'a ChangeOptions,
    pub(super) way: Way,
    pub(super) here: Here<'a>,
}

impl Change<'_> {
    /// A command line of ours for these places and these hosts' files.
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
    pub(super) fn given(options: &ChangeOptions) -> Option<Self> {
        let (hosts, servers) = (options.host.clone(), options.server.clone());
        (options.all || !hosts.is_empty() || !servers.is_empty()).then_some(Self::By { hosts, servers })
    }

    pub(super) fn is_all(&self) -> bool {
        matches!(self, Self::By { hosts, servers } if hosts.is_empty() && servers.is_empty())
    }

    /// Whether a file can hold what is meant.
    pub(super) fn may_be_in(&self, found: &Found) -> bool {
        match self {
            Self::By { hosts, .. } => hosts.is_empty() || hosts.iter().any(|host| host == found.host.word),
            Self::Picked(picked) => picked.iter().any(|(file, ..)| *file == found.file),
        }
    }

    /// Whether a server of a file that may hold it is meant.
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
        let rows: Vec<Value> = lists.servers.iter().map(|one| row(one, known(one))).collect();
        writeln!(out, "{}", pretty(&Value::Array(rows)))?;
        return Ok(None);
    }
    let can = |one: &Listed| match one.start {
        Start::Unwrapped => way == Way::In,
        Start::Wrapped | Start::Observed => way == Way::Out,
        Start::Remote | Start::Elsewhere => false,
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
    let (command, done) = if way == Way::In { ("install", "wrap") } else { ("uninstall", "unwrap") };
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
    if !person::is_here() {
        let command = visible(&change.command(command));
        writeln!(out, "Nothing was changed. To {done} them: {command} --all, or with --host HOST or --server NAME.")?;
        return Ok(None);
    }
    loop {
        let Some(answer) = person::ask(&format!("Which to {done}? Numbers, all, or Enter for none >"), out)? else {
            return Ok(None);
        };
        let words: Vec<&str> = answer.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            [] | ["none" | "q"] => return Ok(None),
            ["all"] => return Ok(Some(Choice::By { hosts: Vec::new(), servers: Vec::new() })),
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
