//! `mcp-approve lattice`: capabilities of servers as values. Owns the options and the wording of its commands.

mod caps;
mod paper;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueHint};
use serde_json::json;

use crate::audit::moment::Since;
use crate::capability::codegen::{self, CodeLanguage};
use crate::capability::set::{Capability, Caps};
use crate::capability::workflow::Workflow;
use crate::cli::error::{Error, Exit, done};
use crate::cli::hosts::{self, HostsHome};
use crate::cli::look::{Here, json_object, visible};
use crate::cli::manifest::{self, Manifest};
use crate::home::places::{PlaceError, Places};
use crate::policy::glob::Glob;
use crate::wire::number::counted;

#[derive(Clone, Debug, Subcommand)]
pub enum LatticeCommand {
    /// Lists what a server can do: name, argument type and result type of each tool
    #[command(after_help = "A capability is the triple of a tool's name, argument type and result type.

Examples:
  mcp-approve lattice caps manifest.json
  mcp-approve lattice caps -- uvx mcp-server-git
  mcp-approve lattice caps --from-log --since 30d --server notes
  mcp-approve lattice caps --from-log --server notes --scope > notes.json
  mcp-approve --scope notes.json -- CMD")]
    Caps(CapsOptions),
    /// Lists what two servers have in common: the most that one can hand on to the other
    Meet(PairOptions),
    /// Lists what two servers have together
    Join(PairOptions),
    /// Lists what changed from one manifest to another: added, removed, and with another type
    #[command(after_help = "Exit code 1 if they differ.")]
    Diff(PairOptions),
    /// Generates the types, capabilities and handlers of a server
    #[command(
        after_help = "Names on the wire stay. A type cannot say all that a schema says; what it leaves out makes the \
             type wider. `mcp-approve help code` shows how the code is used.

Examples:
  mcp-approve lattice codegen --lang rust manifest.json > src/capabilities.rs
  mcp-approve lattice codegen --lang csharp -- uvx mcp-server-git"
    )]
    Codegen(CodegenOptions),
    /// Finds each agent of a workflow that receives a tool that is not on its list, and shows by which path
    #[command(after_help = "WORKFLOW.toml names agents, the manifests of their servers, and who delegates to whom:

  [agent.lead]
  servers = [\"files.json\", \"web.json\"]      manifests, beside this file
  [agent.researcher]
  servers = [\"files.json\"]
  allow = [\"read_file\"]                     may have; without it, all
  [[delegate]]
  from = \"lead\"
  to = \"researcher\"
  only = [\"read_file\", \"write_file\"]        handed on; without it, all

Exit code 1 where an agent receives what it may not have; with --hosts, where a server is not wrapped.")]
    Check(CheckOptions),
    /// Plays the behavioral identity paper's pairs and wrong choices, and shows who catches them, beside its figures
    Paper(paper::PaperOptions),
}

#[derive(Clone, Debug, Args)]
pub struct Source {
    /// A manifest: an answer to tools/list, an object with `tools`, or an array of tools; `-` for standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "command")]
    pub file: Option<PathBuf>,
    /// The server's command: it is started, asked for its tools, and ended
    #[arg(last = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

#[derive(Clone, Debug, Args)]
pub struct CapsOptions {
    #[command(flatten)]
    pub source: Source,
    /// Compare what wrapped servers were granted with what the log says was used
    #[arg(long)]
    pub from_log: bool,
    /// With --from-log: only since then, 30d, 12h, or a time like 2026-11-21T10:00:00Z
    #[arg(long, value_name = "WHEN", requires = "from_log")]
    pub since: Option<Since>,
    /// With --from-log: only this server
    #[arg(long, value_name = "NAME", requires = "from_log")]
    pub server: Option<String>,
    /// With --from-log: count only what this agent used, as `log list agent:NAME` finds it
    #[arg(long, value_name = "NAME", requires = "from_log", value_parser = Glob::new)]
    pub agent: Option<Glob>,
    /// With --from-log: print the smallest scope that would have been enough, for `--scope`
    #[arg(long, requires = "from_log")]
    pub scope: bool,
    /// With --from-log: show whole signatures, however wide
    #[arg(long, requires = "from_log")]
    pub wide: bool,
    /// Print the types instead of a table, in canonical form
    #[arg(long)]
    pub types: bool,
    /// Print a JSON array, one object a capability
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
pub struct PairOptions {
    /// One manifest
    #[arg(value_name = "ONE", value_hint = ValueHint::FilePath)]
    pub one: PathBuf,
    /// The other
    #[arg(value_name = "OTHER", value_hint = ValueHint::FilePath)]
    pub other: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
pub struct CodegenOptions {
    /// rust or csharp
    #[arg(long = "lang", value_name = "LANGUAGE")]
    pub language: CodeLanguage,
    /// The server's name in the code, instead of its own or its file's
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Rust: the typed interface too, with each tool as a type
    #[arg(long)]
    pub typed: bool,
    #[command(flatten)]
    pub source: Source,
}

#[derive(Clone, Debug, Args)]
pub struct CheckOptions {
    /// The workflow
    #[arg(value_name = "WORKFLOW.toml", value_hint = ValueHint::FilePath)]
    pub workflow: Option<PathBuf>,
    /// Instead, list what each server in this machine's host configurations may do unasked today
    #[arg(long, conflicts_with = "workflow")]
    pub hosts: bool,
    #[command(flatten)]
    pub hosts_home: HostsHome,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(command: &LatticeCommand, places: Result<Places, PlaceError>, now: i64, out: &mut dyn Write) -> Exit {
    match command {
        LatticeCommand::Caps(options) if options.from_log && !options.source.is_none() => {
            Err(Error::wrong("--from-log reads the log, and no other source", "leave the file or the command out"))
        }
        LatticeCommand::Caps(options) if options.from_log => {
            caps::from_log(options, Here { places: &places?, now }, out)
        }
        LatticeCommand::Caps(options) => caps::list(&options.source.manifest()?, options, out),
        LatticeCommand::Meet(options) => caps::joined(options, Caps::meet, out),
        LatticeCommand::Join(options) => caps::joined(options, Caps::join, out),
        LatticeCommand::Diff(options) => caps::diff(options, out),
        LatticeCommand::Codegen(options) => generate(options, out),
        LatticeCommand::Paper(options) => paper::run(*options, Here { places: &places?, now }, out),
        LatticeCommand::Check(CheckOptions { workflow: Some(workflow), json, .. }) => check(workflow, *json, out),
        LatticeCommand::Check(CheckOptions { workflow: None, hosts: false, .. }) => Err(Error::wrong(
            "nothing to check was named",
            "`mcp-approve lattice check --hosts` checks the servers of this machine's hosts, `mcp-approve lattice check \
                   WORKFLOW.toml` a workflow",
        )),
        LatticeCommand::Check(options) => {
            hosts::run(options.json, &options.hosts_home.search()?, Here { places: &places?, now }, out)
        }
    }
}

impl Source {
    fn is_none(&self) -> bool {
        self.file.is_none() && self.command.is_empty()
    }

    fn manifest(&self) -> Result<Manifest, Error> {
        match (&self.file, self.command.as_slice()) {
            (Some(file), _) => Manifest::of_file(file),
            (None, []) => Err(Error::wrong(
                "there is nothing to read capabilities from",
                "give a manifest's file, or a server's command after `--`",
            )),
            (None, command) => manifest::of_server(command),
        }
    }
}

fn generate(options: &CodegenOptions, out: &mut dyn Write) -> Exit {
    if options.typed && options.language != CodeLanguage::Rust {
        return Err(Error::wrong(
            "--typed is for Rust: it adds the typed interface, with each tool as a type",
            "use --lang rust, or leave --typed out",
        ));
    }
    let manifest = options.source.manifest()?;
    let name = options.name.as_deref().or(manifest.name.as_deref()).unwrap_or("Server");
    let wanted = codegen::Options { language: options.language, typed: options.typed };
    done(write!(out, "{}", codegen::generate(name, &manifest.tools, wanted)))
}

/// Breaches that are listed on a terminal; the rest is counted.
const SHOWN: usize = 50;

pub(super) fn check(file: &Path, json: bool, out: &mut dyn Write) -> Exit {
    let text = manifest::text(file)?;
    let workflow = Workflow::read(&text).map_err(|error| {
        Error::wrong(format!("{}: {error}", file.display()), "`mcp-approve lattice check --help` shows a workflow")
    })?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut manifests = BTreeMap::new();
    for name in workflow.manifests() {
        let Manifest { tools, .. } = Manifest::of_file(&folder.join(name))?;
        manifests.insert(name.to_owned(), Caps::of_tools(&tools));
    }
    let checked = workflow.check(&manifests);
    if json {
        let names = |caps: &[&Capability]| caps.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        let object = json!({
            "agents": checked.effective.iter().map(|(agent, caps)| ((*agent).to_owned(), json!(names(caps))))
                .collect::<serde_json::Map<_, _>>(),
            "breaches": checked.breaches.iter()
                .map(|one| json!({ "agent": one.agent, "tool": one.capability.name, "path": one.path }))
                .collect::<Vec<_>>(),
            "count": checked.count,
        });
        json_object(object, out)?;
    } else {
        for one in checked.breaches.iter().take(SHOWN) {
            let line = format!("{} receives {}, which it may not have", one.agent, one.capability.name);
            let path = match one.path.as_slice() {
                [_] | [] => "from its own servers: no other agent passes it on".to_owned(),
                path => format!("by {}", path.join(" → ")),
            };
            writeln!(out, "{}\n  {}", visible(&line), visible(&path))?;
        }
        if checked.count > SHOWN {
            writeln!(out, "and {} more; --json lists up to 1,000", checked.count - SHOWN)?;
        }
        let agents = counted(checked.effective.len(), "agent");
        match checked.count {
            0 => writeln!(out, "{agents}: none receives a tool outside of its list.")?,
            1 => writeln!(out, "{agents}: 1 tool is received outside of a list.")?,
            count => writeln!(out, "{agents}: {count} tools are received outside of a list.")?,
        }
    }
    Ok(if checked.count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
