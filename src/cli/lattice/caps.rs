//! `lattice caps`, `meet`, `join` and `diff`: capability sets on a terminal and as JSON. Counts and compares nothing itself.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

use super::{CapsOptions, PairOptions};
use crate::capability::set::{Capability, Caps, Difference};
use crate::capability::types;
use crate::cli::error::{Exit, done};
use crate::cli::manifest::Manifest;
use crate::cli::print::{pretty, visible};
use crate::mcp::tool::Tool;
use crate::wire::number::counted;

/// The signature of each capability, for people.
type Signatures = BTreeMap<Capability, String>;

/// Lists what one server can do.
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

/// Lists what two servers have in common or together, as `join` has it.
pub(super) fn joined(options: &PairOptions, join: fn(Caps, Caps) -> Caps, out: &mut dyn Write) -> Exit {
    let (one, other) = (Manifest::of_file(&options.one)?, Manifest::of_file(&options.other)?);
    let caps = join(Caps::of_tools(&one.tools), Caps::of_tools(&other.tools));
    let mut signatures = signatures(&one.tools);
    signatures.extend(self::signatures(&other.tools));
    done(print(&caps, &signatures, options.json, out))
}

/// Lists what changed from one manifest to another.
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
        writeln!(out, "{}", pretty(&object))?;
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

fn signatures(tools: &[Tool]) -> Signatures {
    tools.iter().map(|tool| (Capability::of(tool), types::signature(tool))).collect()
}

fn shown(one: &Capability, signatures: &Signatures) -> String {
    visible(signatures.get(one).unwrap_or(&one.name))
}

fn row(one: &Capability, signatures: &Signatures) -> Value {
    json!({ "name": one.name, "arguments": one.arguments, "result": one.result, "signature": signatures.get(one) })
}

fn print(caps: &Caps, signatures: &Signatures, as_json: bool, out: &mut dyn Write) -> io::Result<()> {
    let all: Vec<&Capability> = caps.listed().into_iter().flatten().collect();
    if as_json {
        let rows: Vec<Value> = all.iter().map(|one| row(one, signatures)).collect();
        return writeln!(out, "{}", pretty(&Value::Array(rows)));
    }
    for one in &all {
        writeln!(out, "{}", shown(one, signatures))?;
    }
    writeln!(out, "{}", counted(all.len(), "capability|capabilities"))
}
