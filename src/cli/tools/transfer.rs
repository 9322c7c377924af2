//! What is agreed to: listed by number, taken back by `tools forget` (it only tightens, so it needs no terminal), and written for other
//! machines by `tools review --export`, with the operator's own rules and roles.

use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::audit::rfc3339;
use crate::cli::args::ToolsForgetOptions;
use crate::cli::error::{Error, Exit, done};
use crate::cli::look::{Here, pretty, shown, visible};
use crate::cli::tools::{named, servers, store};
use crate::home::agreed::{self, AgreedError, Known};
use crate::home::config::{self, role_objects};
use crate::home::layers::{Keeps, Layers};
use crate::home::places::Places;
use crate::home::policy_file::{self, Broken, PolicyPlace};
use crate::home::set::{amounts, to_file};
use crate::pins::PinStore;
use crate::pins::reading::StoredTool;
use crate::policy::carried::objects;

/// Writes what counts today, and of no single server rules and roles too. A file that is there already is left as it is.
pub(super) fn export(file: &Path, server: Option<&str>, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let store = store(here.places)?;
    let (mut known, servers) = (all(store.as_ref(), here)?, servers(store.as_ref())?);
    known.retain(|one| server.is_none_or(|server| server == one.server));
    let (own, left) = if server.is_none() { own(here)? } else { (Default::default(), Vec::new()) };
    let agreements = known.iter().filter(|one| one.trouble().is_none()).count();
    let what = amounts(agreements, own.0.len(), own.1.len());
    let text = format!("{}\n", pretty(&to_file(&known, &servers, own)));
    if file == Path::new("-") {
        return done(write!(out, "{text}"));
    }
    let failed = |cause| {
        let hint = "choose the name of a file that is not there yet, in a folder that you may write to";
        Error::failed(format!("{} cannot be written", shown(file)), cause, hint)
    };
    let mut to = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(file).map_err(failed)?;
    to.write_all(text.as_bytes()).and_then(|()| to.sync_all()).map_err(failed)?;
    for name in left {
        writeln!(out, "Left out: {}", visible(&name))?;
    }
    done(writeln!(out, "{what} written to {}", shown(file)))
}

/// The operator's own rules and roles, and the names of those that cannot be carried.
type OwnWords = ((Vec<Map<String, Value>>, Map<String, Value>), Vec<String>);

fn own(Here { places, .. }: Here<'_>) -> Result<OwnWords, Error> {
    let path = places.policy_file();
    let text = policy_file::text_if_any(&path).map_err(|why| Broken { path: path.clone(), why })?.unwrap_or_default();
    let (mut rules, left) = objects(&text, &policy_file::roots());
    // What the operator has not accepted is no word of theirs.
    let pending = Layers::of(places, None, &PolicyPlace::own(places)).load(Keeps::Nothing).pending;
    let waits = pending.iter().any(|one| Path::new(&one.file) == path);
    if waits {
        rules.clear();
    }
    // What is wrong with `config.toml` says whoever uses it.
    config::check(places)?;
    let text = policy_file::text_if_any(&places.config_file()).ok().flatten().unwrap_or_default();
    let (roles, more) = role_objects(&text);
    let left = left.into_iter().map(|rule| format!("rule {rule}, which would read otherwise"));
    let waiting = waits.then(|| "all rules: policy.toml has a change that waits until you accept it".to_owned());
    let more = more.into_iter().map(|role| format!("role {role}, which means nothing without this machine"));
    Ok(((rules, roles), left.chain(waiting).chain(more).collect()))
}

/// What counts and what does not; nothing where no server was ever wrapped.
pub(super) fn all(store: Option<&PinStore>, here: Here<'_>) -> Result<Vec<Known>, AgreedError> {
    Ok(store.map(|store| agreed::all(store, here.places, here.now)).transpose()?.unwrap_or_default())
}

pub(super) struct Lines<'p> {
    known: Vec<Known>,
    places: &'p Places,
}

impl<'p> Lines<'p> {
    /// What is agreed to for these tools: what is about one of them first, then what is about its server or every server.
    pub(super) fn of(store: Option<&PinStore>, here: Here<'p>, tools: &[StoredTool]) -> Result<Self, Error> {
        let mut known = all(store, here)?;
        known.retain(|one| tools.iter().any(|tool| concerns(one, tool)));
        known.sort_by_key(Known::order);
        Ok(Self { known, places: here.places })
    }

    pub(super) fn places(&self) -> &'p Places {
        self.places
    }

    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Known)> {
        (1..).zip(&self.known)
    }

    pub(super) fn count(&self, tool: &StoredTool) -> usize {
        let is_its = |one: &&Known| !one.kept.agreement.tool.is_empty() && concerns(one, tool);
        self.known.iter().filter(is_its).filter(|one| one.trouble().is_none()).count()
    }

    pub(super) fn json(&self, tool: &StoredTool) -> Value {
        let its = self.numbered().filter(|(_, one)| concerns(one, tool));
        its.map(|(number, one)| {
            let mut row = json!(one.kept.agreement);
            row["number"] = number.into();
            row["says"] = one.kept.agreement.says().into();
            row["since"] = rfc3339(one.kept.since).into();
            row["last_used"] = day(one.last_used()).into();
            row["counts"] = one.trouble().is_none().into();
            row["trouble"] = one.trouble().into();
            row
        })
        .collect()
    }

    pub(super) fn print(&self, tool: &StoredTool, out: &mut dyn Write) -> io::Result<()> {
        for (is_of_tool, label) in [(true, "agreed to"), (false, "its server")] {
            let its = self
                .numbered()
                .filter(|(_, one)| concerns(one, tool) && one.kept.agreement.tool.is_empty() != is_of_tool);
            for (at, (number, one)) in its.enumerate() {
                let label = if at == 0 { label } else { "" };
                writeln!(out, "  {label:12} {number:>3}  {}", line(one))?;
            }
        }
        Ok(())
    }
}

/// One agreement in a line, fit for a terminal.
pub(super) fn line(one: &Known) -> String {
    let trouble = one.trouble().map(|trouble| format!("; {trouble}")).unwrap_or_default();
    let (since, used) = (day(one.kept.since), day(one.last_used()));
    format!("{} (since {since}, last used {used}{trouble})", visible(&one.kept.agreement.says()))
}

/// The server and the tool that something is agreed to for, fit for a terminal.
pub(super) fn whose(server: &str, tool: &str) -> String {
    let of: Vec<String> = [server, tool].into_iter().filter(|text| !text.is_empty()).map(visible).collect();
    if of.is_empty() { "every server".to_owned() } else { of.join(" / ") }
}

fn day(millis: i64) -> String {
    rfc3339(millis).split('T').next().unwrap_or_default().to_owned()
}

fn concerns(one: &Known, tool: &StoredTool) -> bool {
    one.concerns(&tool.server.fingerprint, Some(&tool.tool.name))
}

pub(super) fn forget(options: &ToolsForgetOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let mut store = store(here.places)?;
    let chosen = chosen(options, store.as_ref(), here)?;
    let Some(store) = store.as_mut().filter(|_| !chosen.is_empty()) else {
        return done(writeln!(out, "Nothing was agreed to there."));
    };
    agreed::take_back(store, here.places, &chosen.iter().collect::<Vec<_>>(), here.now)?;
    for one in &chosen {
        writeln!(out, "Taken back: {}: {}", whose(&one.server, &one.kept.agreement.tool), line(one))?;
    }
    done(writeln!(out, "Running servers ask about it again within a second."))
}

fn chosen(options: &ToolsForgetOptions, store: Option<&PinStore>, here: Here<'_>) -> Result<Vec<Known>, Error> {
    // What is kept for a tool that is not remembered can be taken back, too.
    let all = all(store, here)?;
    if let Some(server) = &options.server {
        let is_its =
            |one: &Known| one.server == *server || server.len() >= 6 && one.kept.fingerprint.starts_with(server);
        let all: Vec<Known> = all.into_iter().filter(is_its).collect();
        return pick(options, (1..).zip(&all));
    }
    let tools = match named(store, &options.names) {
        Ok(tools) => tools,
        Err(error) => {
            let name = options.names.last().map(String::as_str).unwrap_or_default();
            let all: Vec<Known> = all.into_iter().filter(|one| one.kept.agreement.tool == name).collect();
            if all.is_empty() || options.names.len() > 1 {
                return Err(error);
            }
            return pick(options, (1..).zip(&all));
        }
    };
    if let Some(other) = tools.iter().find(|tool| tool.server.name != tools[0].server.name) {
        let what = format!("{} and {} both have a tool {}", tools[0].server.name, other.server.name, other.tool.name);
        return Err(Error::wrong(what, "name the server before the tool"));
    }
    let lines = Lines::of(store, here, &tools)?;
    if options.line.is_empty() {
        let of_tool = lines.numbered().filter(|(_, one)| !one.kept.agreement.tool.is_empty());
        return Ok(of_tool.map(|(_, one)| one.clone()).collect());
    }
    pick(options, lines.numbered())
}

/// Those that `--line` names; all without it.
fn pick<'k>(
    options: &ToolsForgetOptions,
    lines: impl Iterator<Item = (usize, &'k Known)>,
) -> Result<Vec<Known>, Error> {
    let lines: Vec<(usize, &Known)> = lines.collect();
    if options.line.is_empty() {
        return Ok(lines.into_iter().map(|(_, one)| one.clone()).collect());
    }
    let mut chosen: Vec<Known> = Vec::new();
    for wanted in &options.line {
        let is_it = |(number, one): &&(usize, &Known)| match wanted.parse::<usize>() {
            Ok(wanted) => *number == wanted,
            Err(_) => [one.kept.agreement.says(), visible(&one.kept.agreement.says())].contains(wanted),
        };
        let found: Vec<&(usize, &Known)> = lines.iter().filter(is_it).collect();
        let [(_, one)] = found[..] else {
            let many = if found.is_empty() { "no line is" } else { "several lines are" };
            return Err(Error::wrong(
                format!("{many} {wanted}"),
                "`mcp-approve tools show` numbers them; name the number",
            ));
        };
        if !chosen.contains(one) {
            chosen.push((*one).clone());
        }
    }
    Ok(chosen)
}
