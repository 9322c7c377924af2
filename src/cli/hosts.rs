//! The hosts' lists as commands look at them: where they are, what each server in them may do unasked today (`lattice check
//! --hosts`), and rules that call a server as its host does, where its wrapper has another name. Starts no server.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueHint};
use serde_json::{Map, Value, json};

use crate::behavior::Badge;
use crate::cli::error::{Error, Exit};
use crate::cli::look::{Here, JsonForm, clipped, json_rows, visible};
use crate::home::layers::{Keeps, Layers};
use crate::home::places::{Places, word};
use crate::home::{name, policy_file::PolicyPlace, user};
use crate::hosts::{self, Listed, Lists, Search, Start};
use crate::pins::{PinStore, reading::StoredTool};
use crate::policy::fit::{Fit, Part, Prepared, fit};
use crate::policy::{Decision, Policy, Question, decide::decide, lint::Warning, rules_name};
use crate::wire::counted;

#[derive(Clone, Debug, Args)]
pub struct HostsHome {
    /// Look for the hosts' files under DIR, instead of your home
    #[arg(long = "hosts-home", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

impl HostsHome {
    pub(super) fn command(&self, places: &Places, words: &str) -> String {
        let line = places.command(words);
        match &self.dir {
            None => line,
            Some(dir) => {
                let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
                format!("{line} --hosts-home {}", word(&dir.display().to_string()))
            }
        }
    }

    pub(super) fn search(&self) -> Result<Search, Error> {
        let Some(dir) = &self.dir else {
            let what = |error: user::Unknown| format!("the hosts' files cannot be found: {error}");
            let user =
                user::current().map_err(|error| Error::wrong(what(error), "name your home with --hosts-home DIR"))?;
            return Ok(Search::here(user.home));
        };
        let home = std::fs::canonicalize(dir).map_err(|cause| Error::Unreadable { path: dir.clone(), cause })?;
        Ok(Search { home, folder: std::env::current_dir().ok(), ..Search::default() })
    }
}

#[derive(Debug, Default)]
pub(super) struct ServerReach {
    unasked: Vec<String>,
    by_rule: Vec<(String, String)>,
    asked: usize,
    denied: usize,
    /// How many of all these tools change something.
    changing: usize,
}

impl ServerReach {
    pub(super) fn all(&self) -> usize {
        self.unasked.len() + self.by_rule.len() + self.asked + self.denied
    }
}

pub(super) fn run(as_json: bool, search: &hosts::Search, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let lists = hosts::lists(&search.files());
    let reach = reach(here)?;
    let open = lists.servers.iter().any(|one| !matches!(one.start, Start::Wrapped | Start::Remote));
    if as_json {
        let rows = lists.servers.iter().map(|one| row(one, reach.get(&known_as(one))));
        json_rows(rows, JsonForm::Array, out)?;
    } else {
        tell(&lists, &reach, out)?;
    }
    Ok(if open { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What is known of every server that was wrapped here, by the name that rules have for it.
pub(super) fn reach(Here { places, now }: Here<'_>) -> Result<BTreeMap<String, ServerReach>, Error> {
    places.check_state()?;
    let mut layers = Layers::of(places, None, &PolicyPlace::own(places));
    let policy = layers.load(Keeps::Nothing);
    let mut reach: BTreeMap<String, ServerReach> = BTreeMap::new();
    if let Some(store) = PinStore::open_existing(&places.pins_db())? {
        for known in store.tools()? {
            let of = reach.entry(rules_name(&known.server.name).to_owned()).or_default();
            add(of, &policy, &known, now);
        }
    }
    Ok(reach)
}

/// The name in rules: what its wrapper is given or makes of its command line; unwrapped, what `install` would give it.
pub(super) fn known_as(one: &Listed) -> String {
    match &one.wrapping {
        Some(wrapping) => match wrapping.option("--name") {
            Some(name) => name.to_owned(),
            None => name::of_command(&wrapping.server.iter().map(OsString::from).collect::<Vec<_>>()),
        },
        None => hosts::rules_name(&one.name),
    }
}

fn add(reach: &mut ServerReach, policy: &Policy, known: &StoredTool, now: i64) {
    let (server, tool) = (known.server.name.as_str(), known.tool.name.as_str());
    let arguments = Value::Object(Map::new());
    let question =
        Question { method: None, server, tool, behavior: &known.behavior, arguments: &arguments, now, recent: None };
    let prepared = Prepared::of(&question);
    let may_allow = |rule: &&crate::policy::rule::Rule| {
        rule.decision == Decision::Allow
            && matches!(fit(policy, rule, &question, &prepared, &policy.roots), Fit::Differs(Part::When(..)))
    };
    reach.changing += usize::from(known.behavior.badge() == Badge::Mutates);
    match decide(policy, &question).decision {
        Decision::Allow => reach.unasked.push(tool.to_owned()),
        Decision::Ask => match policy.rules.iter().find(may_allow) {
            Some(rule) => reach.by_rule.push((tool.to_owned(), rule.id.clone())),
            None => reach.asked += 1,
        },
        Decision::Deny => reach.denied += 1,
    }
}

fn start_word(start: Start) -> &'static str {
    match start {
        Start::Wrapped => "wrapped",
        Start::Observed => "observed",
        Start::Unwrapped | Start::Elsewhere => "unwrapped",
        Start::Remote => "remote",
        Start::Bundle => "bundle",
    }
}

pub(super) fn row(one: &Listed, reach: Option<&ServerReach>) -> Value {
    let tools = reach.map(|reach| {
        json!({
            "all": reach.all(), "changing": reach.changing, "unasked": reach.unasked,
            "by_rule": reach.by_rule.iter().map(|(tool, rule)| json!({ "tool": tool, "rule": rule })).collect::<Vec<_>>(),
            "asked": reach.asked, "denied": reach.denied,
        })
    });
    json!({
        "host": one.host, "server": one.name, "project": one.project, "file": one.file.display().to_string(),
        "start": start_word(one.start), "tools": tools,
    })
}

fn tell(lists: &Lists, reach: &BTreeMap<String, ServerReach>, out: &mut dyn Write) -> io::Result<()> {
    if lists.servers.is_empty() {
        let lists = counted(lists.files, "list was read|lists were read");
        writeln!(out, "No host on this machine lists a server ({lists}).")?;
    }
    each(lists, out, |one, out| {
        let known = reach.get(&known_as(one)).filter(|reach| reach.all() > 0);
        writeln!(out, "  {}: {}", visible(&one.name), said(one.start, known))?;
        if let (Start::Wrapped, Some(reach)) = (one.start, known) {
            if !reach.unasked.is_empty() {
                writeln!(out, "    unasked: {}", visible(&clipped(&reach.unasked.join(", "), 100)))?;
            }
            for (tool, rule) in reach.by_rule.iter().take(20) {
                writeln!(out, "    {} by rule {}, for some arguments", visible(tool), visible(rule))?;
            }
        }
        Ok(())
    })
}

/// Every server under a heading for its place, as `server` writes it, and below them the lists that cannot be read.
pub(super) fn each<'l>(
    lists: &'l Lists,
    out: &mut dyn Write,
    mut server: impl FnMut(&'l Listed, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut last = None;
    for one in &lists.servers {
        let place = (one.host, &one.file, &one.project);
        if last.replace(place) != Some(place) {
            writeln!(out, "{} ({})", one.host, visible(&one.list()))?;
        }
        server(one, out)?;
    }
    for one in &lists.unread {
        let line = format!("{} ({}): cannot be read: {}", one.host, one.file.display(), one.why);
        writeln!(out, "{}", visible(&line))?;
    }
    Ok(())
}

pub(super) fn said(start: Start, known: Option<&ServerReach>) -> String {
    let tools =
        |reach: &ServerReach| format!("{}, {} of which change something", counted(reach.all(), "tool"), reach.changing);
    match (start, known) {
        (Start::Unwrapped, known) => {
            let tools = known.map(|reach| format!(" ({})", tools(reach))).unwrap_or_default();
            format!("NOT wrapped: everything runs unasked, and is not recorded{tools}")
        }
        (Start::Elsewhere, _) => {
            "NOT wrapped: its entry has no command to wrap, so mcp-approve sees none of its calls".to_owned()
        }
        (Start::Observed, _) => "only observed: everything runs unasked, and is recorded".to_owned(),
        (Start::Bundle, _) => {
            "NOT wrapped: a bundle (.mcpb) that the host starts itself; nothing can be put in front".to_owned()
        }
        (Start::Remote, _) => "reached over the network: mcp-approve does not see it".to_owned(),
        (Start::Wrapped, None) => "wrapped; it was not started yet, so its tools are not known".to_owned(),
        (Start::Wrapped, Some(reach)) => format!(
            "wrapped; {}: {} unasked, {} unasked for some arguments, {} asked, {} denied",
            counted(reach.all(), "tool"),
            reach.unasked.len(),
            reach.by_rule.len(),
            reach.asked,
            reach.denied
        ),
    }
}

/// A warning for each such rule and server; none where the hosts' lists cannot be found.
pub(super) fn otherwise(policy: &Policy) -> Vec<Warning> {
    let mut aliases = policy.rules.iter().flat_map(|rule| rule.tool.iter().map(move |tool| (rule, tool))).peekable();
    if aliases.peek().is_none() {
        return Vec::new();
    }
    let Ok(user) = user::current() else { return Vec::new() };
    let servers = hosts::lists(&Search::here(user.home).files()).servers;
    let mut said = BTreeSet::new();
    let mut warnings = Vec::new();
    for (rule, tool) in aliases {
        let Some(alias) = tool.server() else { continue };
        for one in servers.iter().filter(|one| one.wrapping.is_some()) {
            let name = known_as(one);
            let meant = spellings(&one.name).iter().any(|spelling| alias.matches(spelling));
            if meant && !alias.matches(&name) && said.insert((rule.id.clone(), one.name.clone(), name.clone())) {
                let (alias, id, key, host) = (tool.text(), &rule.id, &one.name, one.host);
                warnings.push(Warning {
                    rule: id.clone(),
                    line: rule.line,
                    column: 1,
                    what: format!(
                        "{alias} in rule {id} never matches a call of {key}, which {host} starts: its wrapper is named {name}"
                    ),
                    hint: format!("write mcp__{name}__TOOL, or name its wrapper as the rule does, with --name"),
                });
            }
        }
    }
    warnings
}

/// How hosts write a server's name before its tools: as it is, or `_` for all but letters and digits, perhaps but `-`.
fn spellings(key: &str) -> [String; 3] {
    let with = |kept: &str| -> String {
        key.chars().map(|c| if c.is_ascii_alphanumeric() || kept.contains(c) { c } else { '_' }).collect()
    };
    [key.to_owned(), with("_-"), with("_")]
}
