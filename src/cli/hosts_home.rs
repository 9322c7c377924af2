//! Where the hosts' files are looked for: this user's home, or a folder that an option names.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::cli::error::Error;
use crate::home::places::{Places, word};
use crate::home::user;
use crate::hosts::Search;

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
    pub(in crate::cli) fn search(&self) -> Result<Search, Error> {
        match &self.dir {
            Some(dir) => {
                let home =
                    std::fs::canonicalize(dir).map_err(|cause| Error::Unreadable { path: dir.clone(), cause })?;
                Ok(Search { home, folder: std::env::current_dir().ok(), variables: Vec::new() })
            }
            None => match user::current() {
                Ok(user) => Ok(Search::here(user.home)),
                Err(error) => Err(Error::wrong(
                    format!("the hosts' files cannot be found: {error}"),
                    "name your home with --hosts-home DIR",
                )),
            },
        }
    }
}
