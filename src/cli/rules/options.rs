//! The commands about the rules, and their options. Decides nothing.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, Subcommand, ValueEnum, ValueHint};

use crate::audit::moment::Since;
use crate::cli::look::LookOptions;
use crate::policy::{Decision, import::Host};

#[derive(Clone, Debug, Subcommand)]
pub enum RulesCommand {
    /// Lists the defaults and the rules
    List(ListOptions),
    /// Checks the policy: every problem with its line and a fix (exit code 1 if there is one)
    Check {
        /// Print one JSON array
        #[arg(long)]
        json: bool,
    },
    /// Shows how the policy decides a call, and whether each rule matches it
    #[command(
        after_help = "CALL.json is an object with the keys server, tool, arguments, and, to judge it as a wrapper \
would, the tool's `definition` as in tools/list. Without it, mcp-approve judges the tool as \
its server last described it, or else as an unknown tool.

Example:
  echo '{\"server\":\"files\",\"tool\":\"write_file\",\"arguments\":{\"path\":\"a.md\"}}' |
    mcp-approve rules explain -"
    )]
    Explain {
        /// The call; `-` reads it from stdin
        #[arg(value_name = "CALL.json", value_hint = ValueHint::FilePath, required_unless_present = "record")]
        call: Option<PathBuf>,
        /// A call of the log instead, by the number of a record or its ticket
        #[arg(long, value_name = "SEQ|TICKET", conflicts_with = "call")]
        record: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Shows what a changed policy newly allows, and accepts it (at a terminal only)
    #[command(
        after_help = "A change that makes the policy stricter takes effect at once. What it newly allows (a new allow, a removed \
ask or deny) takes effect once you accept it, here or in the console."
    )]
    Accept,
    /// Adds a rule: from a call of the log, from options, or from a text
    Add(AddOptions),
    /// Removes a rule
    Remove(RuleOptions),
    /// Switches a rule off: it stays in the file and decides nothing
    Disable(RuleOptions),
    /// Switches a rule on again
    Enable(RuleOptions),
    /// Opens the policy in your editor and checks it, or changes keys of a rule
    Edit(EditOptions),
    /// Adds an exception (`unless`) to an ask or a deny rule
    Except(ExceptOptions),
    /// Undoes the last change made by add, remove, disable, enable, edit, except, suggest or import
    Undo,
    /// Replays the calls in the log against the current policy: which verdicts would change
    Replay(ReplayOptions),
    /// Suggests the rules that would have saved the most questions
    Suggest(SuggestOptions),
    /// Turns another program's permissions into rules
    Import(ImportOptions),
    /// Prints the JSON Schema of the policy, for editors
    Schema,
    /// Prints where the policy is read from
    Path,
}

#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ListOptions {
    #[command(flatten)]
    pub look: LookOptions,
    /// Print one JSON array
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "From a call of the log, `--record` alone shows what a rule could cover; `--scope` chooses. \
Conditions are written as in the file.

Examples:
  mcp-approve rules add --record 42
  mcp-approve rules add --record 42 --scope 2 --expires 7d
  mcp-approve rules add --tool add_issue --when '{ arg = \"repo\", eq = \"notes\" }'
  mcp-approve rules add --id no-force --decision deny --tool '*force*'")]
pub struct AddOptions {
    /// Make it from this call of the log, by the number of a record or its ticket
    #[arg(long, value_name = "SEQ|TICKET", conflicts_with_all = ["server", "tool", "when", "from"])]
    pub record: Option<String>,
    /// What it covers: the number that `--record` shows, or call, args, folder or tool
    #[arg(long, value_name = "SCOPE", requires = "record")]
    pub scope: Option<String>,
    /// Take the text of one [[rule]] from this file; `-` reads it from stdin
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["server", "tool", "when", "unless", "id", "decision", "note", "expires"])]
    pub from: Option<PathBuf>,
    /// Its name in the log [default: from the tool]
    #[arg(long)]
    pub id: Option<String>,
    /// allow, ask or deny [default: allow]
    #[arg(long, value_enum)]
    pub decision: Option<Decision>,
    /// Only this server (a name or a glob); may be repeated
    #[arg(long, value_name = "NAME")]
    pub server: Vec<String>,
    /// Only this tool (a name or a glob); may be repeated
    #[arg(long, value_name = "NAME")]
    pub tool: Vec<String>,
    /// Only where this condition holds; may be repeated, then all must
    #[arg(long, value_name = "CONDITION")]
    pub when: Vec<String>,
    /// Not where this condition holds (for ask and deny); may be repeated
    #[arg(long, value_name = "CONDITION", conflicts_with = "record")]
    pub unless: Vec<String>,
    /// When it ends: 30d, 12h, 2026-12-31, or never [default: 30d with --record, else never]
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<String>,
    /// Why it is there
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

impl ValueEnum for Decision {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Allow, Self::Ask, Self::Deny]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word()))
    }
}

#[derive(Clone, Debug, Args)]
pub struct RuleOptions {
    /// The rule's id
    pub id: String,
    /// Show what would be changed, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "Without --set and --unset it opens the policy in $VISUAL or $EDITOR, checks what comes back, \
and shows the change and what it means for past calls before it is written.

Examples:
  mcp-approve rules edit
  mcp-approve rules edit notes --set expires=2027-01-31 --unset note
  mcp-approve rules edit notes --unset expires")]
pub struct EditOptions {
    /// The rule's id: where the editor begins, or whose keys are changed
    pub id: Option<String>,
    /// Give this key this value, written as in the file; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub set: Vec<(String, String)>,
    /// Take this key out; may be repeated
    #[arg(long, value_name = "KEY")]
    pub unset: Vec<String>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

fn key_and_value(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, like expires=2027-01-31")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:
  mcp-approve rules except no-deletes '{ arg = \"path\", under = \"~/scratch\" }'")]
pub struct ExceptOptions {
    /// The ask or deny rule's id
    pub id: String,
    /// The calls that the rule leaves alone from now on
    pub condition: String,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "Secrets are not in the log, so the decision of a rule that tests one is unknown.

Examples:
  mcp-approve rules replay --since 30d
  mcp-approve rules replay --policy new.toml --fail-on-change")]
pub struct ReplayOptions {
    /// Only calls since then: 30d, 1h, or a time like 2026-11-21T10:00:00Z
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
    /// List at most this many changes, the newest
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Exit with 1 when a verdict changes or cannot be determined
    #[arg(long)]
    pub fail_on_change: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "Calls recorded with `wrap --observe` count too, if mcp-approve would have asked about them.

Examples:
  mcp-approve rules suggest --since 7d
  mcp-approve rules suggest --write 3fa9c1")]
pub struct SuggestOptions {
    /// Only from calls since then: 30d, 1h, or a time like 2026-11-21T10:00:00Z
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
    /// At most this many rules
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub limit: usize,
    /// Add the suggestion of this name, which the list has before it, to the policy
    #[arg(long, value_name = "NAME")]
    pub write: Option<String>,
    /// When the written rule ends: 30d, 12h, 2026-12-31, or never
    #[arg(long, value_name = "WHEN", default_value = "30d")]
    pub expires: String,
    /// Print one JSON array
    #[arg(long, conflicts_with = "write")]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "Prints the rules and, as comments, what could not be carried over and why. Only rules about
MCP tools are carried over, and they never allow more than the other program did.

Files:
  claude  settings.json, settings.local.json, managed-settings.json
  cursor  permissions.json, cli-config.json or cli.json, mcp.json
  gemini  settings.json, and each of policies/*.toml
  codex   config.toml: [mcp_servers.NAME], and those of plugins
  zed     settings.json: agent.tool_permissions

Examples:
  mcp-approve rules import claude ~/.claude/settings.json
  mcp-approve rules import codex ~/.codex/config.toml --write")]
pub struct ImportOptions {
    /// Whose permissions they are
    #[arg(value_parser = host)]
    pub host: Host,
    /// The file they are in
    // Not called `file`: that is the id of `--policy`, which is global.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub source: PathBuf,
    /// Add the rules to the policy
    #[arg(long)]
    pub write: bool,
}

fn host(word: &str) -> Result<Host, String> {
    let known = || Host::ALL.iter().map(|host| host.word()).collect::<Vec<_>>().join(", ");
    Host::from_word(word).ok_or_else(|| format!("one of: {}", known()))
}
