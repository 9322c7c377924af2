//! `lattice caps`, `meet`, `join` and `diff` on a terminal and as JSON; `--from-log`: what was granted against what was used.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::audit::{Field, Fields, ReadOrder, Reader, Search, chain};
use crate::capability::set::{Capability, Caps, Difference};
use crate::capability::types;
use crate::cli::error::{Error, Exit, done};
use crate::cli::lattice::{CapsOptions, PairOptions};
use crate::cli::look::{Here, JsonForm, Look, json_object, json_rows, local, visible};
use crate::cli::manifest::Manifest;
use crate::mcp::Tool;
use crate::pins::PinStore;
use crate::policy::rules_name;
use crate::text::columns::cell;
use crate::text::row::{Row, Tone};
use crate::wire::{counted, number::grouped};

type SignatureTexts = BTreeMap<Capability, String>;

pub(super) fn list(manifest: &Manifest, options: &CapsOptions, out: &mut dyn Write) -> Exit {
    let caps = Caps::of_tools(&manifest.tools);
    if options.types && !options.json {
        for one in caps.listed().into_iter().flatten() {
            let line = format!("{} : {} -> {}", one.name, one.arguments, one.result);
            writeln!(out, "{}", visible(&line))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    done(print(&caps, &signatures(&manifest.tools), options.json, out))
}

pub(super) fn joined(options: &PairOptions, join: fn(Caps, Caps) -> Caps, out: &mut dyn Write) -> Exit {
    let (one, other) = (Manifest::of_file(&options.one)?, Manifest::of_file(&options.other)?);
    let caps = join(Caps::of_tools(&one.tools), Caps::of_tools(&other.tools));
    let mut signatures = signatures(&one.tools);
    signatures.extend(self::signatures(&other.tools));
    done(print(&caps, &signatures, options.json, out))
}

pub(super) fn diff(options: &PairOptions, out: &mut dyn Write) -> Exit {
    let (one, other) = (Manifest::of_file(&options.one)?, Manifest::of_file(&options.other)?);
    let difference = Difference::between(&Caps::of_tools(&one.tools), &Caps::of_tools(&other.tools));
    let (before, after) = (signatures(&one.tools), signatures(&other.tools));
    if options.json {
        let object = json!({
            "added": difference.added.iter().map(|one| row(one, &after)).collect::<Vec<_>>(),
            "removed": difference.removed.iter().map(|one| row(one, &before)).collect::<Vec<_>>(),
            "changed": difference.changed.iter()
                .map(|(was, is)| json!({ "before": row(was, &before), "after": row(is, &after) }))
                .collect::<Vec<_>>(),
        });
        json_object(object, out)?;
    } else if difference.is_none() {
        writeln!(out, "Both have the same capabilities.")?;
    } else {
        for one in &difference.removed {
            writeln!(out, "- {}", shown(one, &before))?;
        }
        for one in &difference.added {
            writeln!(out, "+ {}", shown(one, &after))?;
        }
        for (was, is) in &difference.changed {
            let (was_shown, is_shown) = (shown(was, &before), shown(is, &after));
            writeln!(out, "~ {was_shown}\n  {is_shown}")?;
            if was_shown == is_shown {
                writeln!(out, "  the types differ in what a signature leaves out: see --json")?;
            }
        }
    }
    Ok(if difference.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn signatures(tools: &[Tool]) -> SignatureTexts {
    tools.iter().map(|tool| (Capability::of(tool), types::signature(tool))).collect()
}

fn shown(one: &Capability, signatures: &SignatureTexts) -> String {
    visible(signatures.get(one).unwrap_or(&one.name))
}

fn row(one: &Capability, signatures: &SignatureTexts) -> Value {
    json!({ "name": one.name, "arguments": one.arguments, "result": one.result, "signature": signatures.get(one) })
}

fn print(caps: &Caps, signatures: &SignatureTexts, as_json: bool, out: &mut dyn Write) -> io::Result<()> {
    let all: Vec<&Capability> = caps.listed().into_iter().flatten().collect();
    if as_json {
        return json_rows(all.iter().map(|one| row(one, signatures)), JsonForm::Array, out);
    }
    for one in &all {
        writeln!(out, "{}", shown(one, signatures))?;
    }
    writeln!(out, "{}", counted(all.len(), "capability|capabilities"))
}

/// Tools by server and name.
type GrantedServers = BTreeMap<String, BTreeMap<String, Granted>>;

struct Granted {
    tool: Tool,
    /// Calls of it that ran, by who asked within the host; `""` where the host did not name anybody.
    by: BTreeMap<String, u64>,
}

impl Granted {
    fn used(&self) -> u64 {
        self.by.values().sum()
    }
}

pub(super) fn from_log(options: &CapsOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let servers = granted(options, here)?;
    let look = Look::here(here).whole_in_a_pipe().wide(options.wide);
    let (none, next) = match options.server {
        Some(_) => ("no server of that name was wrapped here yet", "`mcp-approve tools` names those that were"),
        None => ("no server was wrapped here yet", "put `mcp-approve --` before a server's command"),
    };
    if options.scope {
        if servers.is_empty() {
            return Err(Error::wrong(none, next));
        }
        return scope(&servers, out);
    }
    if options.json {
        let rows = servers.iter().flat_map(|(server, tools)| {
            tools.values().map(move |one| {
                json!({ "server": server, "name": one.tool.name, "signature": types::signature(&one.tool), "used": one.used(), "by": one.by })
            })
        });
        return done(json_rows(rows, JsonForm::Array, out));
    }
    if servers.is_empty() {
        writeln!(out, "{}", look.hint(&format!("{none}: {next}")))?;
    }
    for (server, tools) in &servers {
        let used = tools.values().filter(|one| one.used() > 0).count();
        writeln!(out, "{}: {used} of {} used", visible(server), counted(tools.len(), "tool was|tools were"))?;
        let agents: BTreeSet<&String> = tools.values().flat_map(|one| one.by.keys()).collect();
        for agent in agents.into_iter().filter(|agent| !agent.is_empty()) {
            let used = tools.iter().filter(|(_, one)| one.by.contains_key(agent)).map(|(name, _)| visible(name));
            writeln!(out, "  {} used {}", visible(agent), used.collect::<Vec<_>>().join(", "))?;
        }
        let mut rows: Vec<&Granted> = tools.values().collect();
        rows.sort_by_key(|one| std::cmp::Reverse(one.used()));
        let used = |one: &Granted| if one.used() == 0 { "unused".to_owned() } else { grouped(one.used()) };
        let row = |one| [Row::of(Tone::Ours, used(one)), cell(Tone::Ours, &types::signature(&one.tool))];
        look.list([">CALLS", "CAPABILITY"], &rows.into_iter().map(row).collect::<Vec<_>>(), out)?;
        writeln!(out)?;
    }
    if let Some((server, _)) = servers.first_key_value() {
        let command = format!("mcp-approve lattice caps --from-log --server {} --scope", visible(server));
        writeln!(out, "The smallest scope that was enough: {}", look.hint(&command))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn granted(options: &CapsOptions, Here { places, now }: Here<'_>) -> Result<GrantedServers, Error> {
    places.check_state()?;
    let mut servers: GrantedServers = BTreeMap::new();
    let Some(store) = PinStore::open_existing(&places.pins_db())? else { return Ok(servers) };
    let is_wanted = |server: &str| options.server.as_deref().is_none_or(|wanted| wanted == server);
    for known in store.tools()? {
        let server = rules_name(&known.server.name).to_owned();
        if is_wanted(&server) {
            let tool = Granted { tool: known.tool, by: BTreeMap::new() };
            servers.entry(server).or_default().insert(tool.tool.name.clone(), tool);
        }
    }
    let search = Search::default()
        .from(options.since.map(|since| since.moment(local(now))))
        .with(Field::Kind, Some("decision"))
        .with(Field::Verdict, Some("approve"))
        .with_part(Field::Agent, options.agent.as_ref());
    let mut count = |fields: &Fields<'_>| {
        let tools = servers.get_mut(rules_name(&fields.server))?;
        let agent = fields.text(Field::Agent).unwrap_or_default().into_owned();
        *tools.get_mut(fields.tool.as_deref()?)?.by.entry(agent).or_default() += 1;
        Some(())
    };
    if let Some(reader) = Reader::open(&places.audit_db())? {
        let mut each = |row: chain::Row<'_>| {
            Some(row.body).filter(|body| search.takes(body)).and_then(Fields::of).and_then(|fields| count(&fields));
            ControlFlow::Continue(())
        };
        reader.each(ReadOrder::OldestFirst, &mut each)?;
    }
    Ok(servers)
}

/// The definitions that were used, as `--scope` takes them.
fn scope(servers: &GrantedServers, out: &mut dyn Write) -> Exit {
    if servers.len() > 1 {
        let names: Vec<&str> = servers.keys().map(String::as_str).collect();
        return Err(Error::wrong(
            format!("a scope is one server's, and there are {}", names.join(", ")),
            "name it: --server NAME",
        ));
    }
    let tools = servers.values().flat_map(BTreeMap::values).filter(|one| one.used() > 0);
    let tools: Vec<&Value> = tools.map(|one| &one.tool.definition).collect();
    done(writeln!(out, "{:#}", json!({ "tools": tools })))
}
