//! The options of `install` and `uninstall`, as clap reads them, and where hosts' files are looked for.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};

use crate::cli::error::Error;
use crate::home::places::{Places, word};
use crate::home::user;
use crate::hosts::Search;
use crate::hosts::table::HOSTS;

/// Where hosts' files are looked for.
#[derive(Clone, Debug, Args)]
pub struct HostsHome {
    /// Look for the hosts' files under DIR, instead of your home
    #[arg(long = "hosts-home", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

impl HostsHome {
    /// A command line of ours, as the operator types it to work on these places and these hosts' files.
    pub(in crate::cli) fn command(&self, places: &Places, words: &str) -> String {
        let line = places.command(words);
        match &self.dir {
            None => line,
            Some(dir) => {
                let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
                format!("{line} --hosts-home {}", word(&dir.display().to_string()))
            }
        }
    }

    /// This user's home and this folder, or what was named.
    ///
    /// # Errors
    /// The user database has no home for this user.
    pub(in crate::cli) fn search(&self) -> Result<Search, Error> {
        match &self.dir {
            Some(dir) => {
                let home =
                    std::fs::canonicalize(dir).map_err(|cause| Error::Unreadable { path: dir.clone(), cause })?;
                Ok(Search { home, folder: std::env::current_dir().ok(), variables: Vec::new() })
            }
            None => match user::current() {
                Ok(user) => Ok(Search::here(user.home)),
                Err(error) => Err(Error::Wrong {
                    what: format!("the hosts' files cannot be found: {error}"),
                    hint: "name your home with --hosts-home DIR".to_owned(),
                }),
            },
        }
    }
}

/// Which servers of hosts are changed, and how that is reported.
#[derive(Clone, Debug, Args)]
pub struct ChangeOptions {
    /// Every server of every host
    #[arg(long, conflicts_with_all = ["host", "server"])]
    pub all: bool,
    /// Only the servers of this host; may be repeated
    #[arg(long, value_name = "HOST", value_parser = a_host())]
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

/// How servers are wrapped.
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
    /// The program that hosts start, instead of the mcp-approve that runs now
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub program: Option<PathBuf>,
}

fn a_host() -> PossibleValuesParser {
    PossibleValuesParser::new(HOSTS.iter().map(|host| host.word))
}
