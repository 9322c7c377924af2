//! `lattice check WORKFLOW.toml`: reads the workflow and its manifests, and lists the agents that receive what they may not have.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use crate::capability::set::{Capability, Caps};
use crate::capability::workflow::Workflow;
use crate::cli::error::{Error, Exit};
use crate::cli::manifest::{self, Manifest};
use crate::cli::print::{pretty, visible};
use crate::wire::number::counted;

/// Breaches that are listed on a terminal; the rest is counted.
const SHOWN: usize = 50;

/// Checks a workflow.
pub(super) fn run(file: &Path, json: bool, out: &mut dyn Write) -> Exit {
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
        writeln!(out, "{}", pretty(&object))?;
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
