//! The command line as clap reads it: every command, option and word of help. Decides nothing.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

use crate::behavior::{Identity, Mutability, identity::NotAnIdentity};
use crate::cli::console::WaitingOptions;
use crate::cli::demo::AgentArgs;
use crate::cli::desk::{DeskCommand, DeskStatus};
use crate::cli::hosts::HostsHome;
use crate::cli::install::choose::{ChangeOptions, InstallOptions};
use crate::cli::lattice::LatticeCommand;
use crate::cli::log::LogCommand;
use crate::cli::look::LookOptions;
use crate::cli::rules::options::RulesCommand;
use crate::cli::wrap::WrapOptions;

/// Holds every tools/call of an MCP server until policy or you decide
///
/// Put it in front of a server's command, in the configuration of the MCP host. Calls that only read run at once;
/// calls that change something wait for you in the console. Every decision is in a log before anything runs.
#[derive(Debug, Parser)]
#[command(
    name = "mcp-approve",
    version,
    override_usage = "mcp-approve [OPTIONS] -- CMD [ARGS]...\n       mcp-approve [OPTIONS] [COMMAND]",
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Examples:
  mcp-approve demo                    see it work; nothing to install
  mcp-approve -- uvx mcp-server-git   wrap a server
  mcp-approve                         open the console
  mcp-approve log list                what was called, and who decided

`mcp-approve help` lists topics: hosts, keys, rules, hazards and others.
`mcp-approve wrap --help` lists the options of wrapping.
Exit codes: 0 done, 1 a check failed or something waits, 2 wrong usage or configuration; \
of a wrapped server, the server's own."
)]
pub struct Cli {
    /// Keep configuration and state under DIR, instead of your home
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub home: Option<PathBuf>,
    /// Open the console over all machines of a desk: this one, or `url` under [desk] in config.toml
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    pub desk: Option<String>,
    #[command(flatten)]
    pub wrap: WrapOptions,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Wraps a server: `mcp-approve wrap -- CMD` is `mcp-approve -- CMD`
    #[command(
        override_usage = "mcp-approve wrap [OPTIONS] -- CMD [ARGS]...",
        after_help = "Each option but --url and --header has a key of the same name in config.toml, at top level or under [server.NAME].
Durations: 500ms, 60s, 5m, 1h.

Examples:
  mcp-approve wrap -- uvx mcp-server-git
  mcp-approve wrap --name notes --unattended deny -- node server.js
  mcp-approve wrap --header 'Authorization: ${TOKEN}' -- https://example.com/mcp
  mcp-approve wrap --observe -- npx -y some-server   holds nothing; begin so"
    )]
    Wrap(WrapOptions),
    /// Plays a real server, a scripted agent and the console together, in a temporary folder
    #[command(after_help = "Examples:
  mcp-approve demo    decide yourself, in the console")]
    Demo,
    /// Reviews the audit log
    #[command(after_help = "Examples:
  mcp-approve log list --limit 20
  mcp-approve log show 42
  mcp-approve log verify && echo \"not changed\"")]
    Log {
        /// Read this database, as given to `wrap --audit-db`
        #[arg(long = "audit-db", global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
        db: Option<PathBuf>,
        /// Read the logs of all machines on a desk: this one, or `url` under [desk] in config.toml; a search also has machine:NAME
        #[arg(
            id = "log_desk", long = "desk", global = true, value_name = "URL", num_args = 0..=1, default_missing_value = "",
            conflicts_with = "db"
        )]
        desk: Option<String>,
        #[command(subcommand)]
        command: Option<LogCommand>,
    },
    /// Lists what servers can do, with types; compares servers, generates code, and checks which agent passes on what
    #[command(after_help = "Examples:
  mcp-approve lattice caps -- uvx mcp-server-git
  mcp-approve lattice caps --from-log --since 30d     granted against used
  mcp-approve lattice codegen --lang rust manifest.json > capabilities.rs
  mcp-approve lattice check workflow.toml")]
    Lattice {
        #[command(subcommand)]
        command: LatticeCommand,
    },
    /// Shows, checks, explains, changes and tries the rules
    Rules {
        /// Read this policy, as given to `wrap --policy`
        #[arg(long = "policy", global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
        /// Read past calls from this log, as given to `wrap --audit-db`
        #[arg(long = "audit-db", global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
        db: Option<PathBuf>,
        #[command(subcommand)]
        command: Option<RulesCommand>,
    },
    /// Lists servers' tools: what each does, how it was used, and what changed
    #[command(args_conflicts_with_subcommands = true)]
    Tools {
        #[command(flatten)]
        list: ToolsListOptions,
        #[command(subcommand)]
        command: Option<ToolsCommand>,
    },
    /// Shows what waits for a decision, in one line for status bars and prompts; exit code 1 when something waits
    #[command(after_help = "Example:
  tmux:      set -g status-right '#(mcp-approve waiting)'")]
    Waiting(WaitingOptions),
    /// Shows who may sign verdicts here, and what each key is worth
    #[command(after_help = "`mcp-approve help signing` says what a signed verdict is, and what it protects.")]
    Signers {
        #[command(subcommand)]
        command: Option<SignersCommand>,
    },
    /// One desk over many machines, on PostgreSQL; alone it says what is configured, who is there and what to run next
    #[command(after_help = "`mcp-approve help desk` says how it is set up, and what it protects.")]
    #[command(args_conflicts_with_subcommands = true)]
    Desk {
        #[command(flatten)]
        status: DeskStatus,
        #[command(subcommand)]
        command: Option<DeskCommand>,
    },
    /// Puts mcp-approve in front of the servers that your hosts start
    #[command(
        after_help = "Without --all, --host or --server it lists the servers; at a terminal you pick from the list. \
A host reads its file when it starts: restart it afterwards. Servers reached over the network are left alone, \
unless --remote is given.

Examples:
  mcp-approve install                        lists servers, and what each may do
  mcp-approve install --all --dry-run        every change, as a diff
  mcp-approve install --host claude-code --server filesystem
  mcp-approve install --repair               fixes what another version left
  mcp-approve uninstall --all                restores the files, byte for byte"
    )]
    Install(InstallOptions),
    /// Takes mcp-approve away from the servers that your hosts start
    #[command(after_help = "`uninstall` restores a file that has not changed since `install`, byte for byte. \
In a file that has changed, it restores only the servers' command lines and keeps every other change.")]
    Uninstall(ChangeOptions),
    /// Checks the setup, and says how to fix what is wrong
    Doctor(DoctorOptions),
    /// Prints a completion script for your shell
    #[command(after_help = "Example:
  mcp-approve completions bash > /etc/bash_completion.d/mcp-approve")]
    Completions { shell: clap_complete::Shell },
    /// Explains a topic (keys, rules, hazards, ...) or a command; alone, lists them
    #[command(after_help = "Examples:
  mcp-approve help rules        the policy language, every condition
  mcp-approve help keys         the keys of the console
  mcp-approve help rules add    the options of a command")]
    Help {
        #[arg(value_name = "TOPIC")]
        words: Vec<String>,
    },
    #[command(hide = true)]
    DemoServer {
        /// The workspace that `demo` made.
        dir: PathBuf,
    },
    #[command(hide = true)]
    DemoAgent(AgentArgs),
    #[command(hide = true)]
    DemoConsole,
}

#[derive(Clone, Debug, Subcommand)]
pub enum SignersCommand {
    /// Lists who may sign verdicts, and what each key is worth
    List(Output),
    /// Signs a made-up verdict with your key, and checks it as a wrapper would
    #[command(after_help = "Examples:
  mcp-approve signers test
  mcp-approve signers test --key ~/.ssh/id_ed25519_sk.pub")]
    Test(SignersTestOptions),
}

#[derive(Clone, Debug, Args)]
pub struct SignersTestOptions {
    /// The public key to sign with; without it, the first in the list that is yours
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key: Option<PathBuf>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ToolsCommand {
    /// Lists every tool ever seen
    List(ToolsListOptions),
    /// Explains one tool in full: badge, identity, evidence, hazards, pin, what was observed
    #[command(after_help = "Examples:
  mcp-approve tools show write_file
  mcp-approve tools show filesystem write_file")]
    Show(ToolsShowOptions),
    /// Ranks every tool ever seen for a task, and says why
    #[command(
        after_help = "Tools that may not be used are left out; relevance, times what a call costs, ranks the rest.

Examples:
  mcp-approve tools search \"find text in files\"
  mcp-approve tools search --role viewer invoices"
    )]
    Search(ToolsSearchOptions),
    /// Shows a page for each new server, and what is changed, disputed or looks alike; at a terminal you decide on each
    #[command(
        after_help = "The page of a server lists which of its tools read and how that is proven, what calls of them will ask \
about, and what changes something. Space marks a line, Enter agrees to what is marked. Marked from the start is only what \
we reviewed, or what name and description both say and nothing contradicts.

A changed definition suspends the allow rules for its tool, a changed program or command line those for \
its server, until you accept it here. Calls of a refused definition are denied."
    )]
    Review(ToolsReviewOptions),
    /// Pins what tools do, or which of their parameters are plain text, whatever their server says
    #[command(after_help = "Examples:
  mcp-approve tools pin filesystem write_file --as 'MUTATES|OVERWRITE|CONTENT'
  mcp-approve tools pin filesystem read_file list_directory --as PURE
  mcp-approve tools pin filesystem write_file --remove")]
    Pin(ToolsPinOptions),
    /// Takes back what you agreed to for a tool or a server: its calls are asked about again
    #[command(after_help = "`tools show` numbers what was agreed to for a tool and its server.

Examples:
  mcp-approve tools forget weather forecast           all of this tool
  mcp-approve tools forget weather forecast --line 2  line 2 of `tools show`
  mcp-approve tools forget forecast --line 'city = Oslo'
  mcp-approve tools forget --server weather           its places and hosts too")]
    Forget(ToolsForgetOptions),
    /// Says for each tool in a list whether it is PURE or MUTATES, and why
    #[command(after_help = "FILE is a JSON-RPC answer to tools/list, an object with `tools`, or an array of tools.

Example:
  mcp-approve tools classify --json tools.json | jq '.[] | [.badge, .name]'")]
    Classify(ClassifyOptions),
}

#[derive(Clone, Debug, Args)]
pub struct ClassifyOptions {
    /// The list; `-` reads it from stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Judge by names, descriptions and schemas alone
    #[arg(long)]
    pub no_annotations: bool,
    /// Ask this command too, with one JSON line per tool without its name, and report whether it agrees; may be repeated
    #[arg(long, value_name = "CMD")]
    pub verify_with: Vec<String>,
    /// Print one JSON array
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct Output {
    /// Print one JSON array
    #[arg(long, conflicts_with = "jsonl")]
    pub json: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub jsonl: bool,
    /// At most this many
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

#[derive(Clone, Debug, Default, Args)]
pub struct ToolsListOptions {
    /// Only those of this server: its name, or the beginning of its fingerprint
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
    #[command(flatten)]
    pub look: LookOptions,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Clone, Debug, Args)]
pub struct ToolsShowOptions {
    /// The tool, or its server and the tool
    #[arg(value_name = "[SERVER] TOOL", required = true, num_args = 1..=2)]
    pub names: Vec<String>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Clone, Debug, Args)]
pub struct ToolsSearchOptions {
    /// What the tool should do, in words
    #[arg(value_name = "WORDS", required = true)]
    pub query: Vec<String>,
    /// Only tools of this badge may be used
    #[arg(long)]
    pub badge: Option<BadgeChoice>,
    /// Only tools of this capability may be used, as files:read, *:read or files:*; may be repeated
    #[arg(long, value_name = "TAG")]
    pub capability: Vec<String>,
    /// Only what this role may use: viewer, analyst, editor, admin, or one of config.toml
    #[arg(long, value_name = "NAME")]
    pub role: Option<String>,
    /// Show also what may not be used, struck through, with the reason
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub list: ToolsListOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BadgeChoice {
    Pure,
    /// PURE?: its definition says that it reads, and you have not confirmed it.
    Likely,
    Mutates,
}

#[derive(Clone, Debug, Args)]
pub struct ToolsReviewOptions {
    /// Only this server and its tools
    #[arg(value_name = "SERVER")]
    pub server: Option<String>,
    /// Write what was agreed to, your rules and your roles as a file that another machine can import; without FILE to stdout. With SERVER only what was agreed to for it
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", value_hint = ValueHint::FilePath)]
    pub export: Option<PathBuf>,
    /// Review what such a file offers, and agree to what you choose; `-` reads it from stdin
    #[arg(long, value_name = "FILE", conflicts_with = "export", value_hint = ValueHint::FilePath)]
    pub import: Option<PathBuf>,
    /// Review what those whom `team` under [desk] in config.toml names have signed for their team, and agree to what you choose
    #[arg(long, conflicts_with_all = ["export", "import"])]
    pub team: bool,
    /// Offer on the pages what the log saw calls ask about, as wrappers with --observe record it
    #[arg(long, conflicts_with_all = ["export", "import"])]
    pub from_log: bool,
    /// Agree to what is marked on the pages from the start, at a terminal
    #[arg(long, conflicts_with_all = ["export", "import"])]
    pub agree: bool,
    /// Agree to everything in the file, at a terminal
    #[arg(long, requires = "import")]
    pub yes: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Clone, Debug, Args)]
pub struct ToolsForgetOptions {
    /// The tool, or its server and the tool
    #[arg(value_name = "[SERVER] TOOL", required_unless_present = "server", num_args = 1..=2)]
    pub names: Vec<String>,
    /// Everything of this server
    #[arg(long, value_name = "NAME", conflicts_with = "names")]
    pub server: Option<String>,
    /// Only this: its number in `tools show`, or its words there; may be repeated
    #[arg(long, value_name = "LINE")]
    pub line: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub struct ToolsPinOptions {
    #[arg(value_name = "SERVER")]
    pub server: String,
    /// One tool or several
    #[arg(value_name = "TOOL", required = true)]
    pub tools: Vec<String>,
    /// What it is: MUTABILITY|ACTION|OUTPUT_DOMAIN, or PURE or MUTATES alone
    #[arg(long = "as", value_name = "IDENTITY", required_unless_present = "remove")]
    pub identity: Option<PinChoice>,
    /// Take the pin back
    #[arg(long, conflicts_with = "identity")]
    pub remove: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum PinChoice {
    Whole(Identity),
    /// With the action and output domain that it has, where they agree.
    Mutability(Mutability),
}

impl std::str::FromStr for PinChoice {
    type Err = NotAnIdentity;

    fn from_str(text: &str) -> Result<Self, NotAnIdentity> {
        match Mutability::from_word(text) {
            Some(mutability) => Ok(Self::Mutability(mutability)),
            None => text.parse().map(Self::Whole),
        }
    }
}

#[derive(Clone, Debug, Args)]
pub struct DoctorOptions {
    /// Print one JSON array
    #[arg(long)]
    pub json: bool,
    /// Also exit with 1 if a host starts a server without mcp-approve, or by another build or home of it
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub hosts: HostsHome,
}
