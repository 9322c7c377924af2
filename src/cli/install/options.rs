//! The options of `install` and `uninstall`, as clap reads them.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};

use crate::cli::hosts_home::HostsHome;
use crate::hosts::table::HOSTS;

/// Which servers of hosts are changed, and how that is reported.
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
