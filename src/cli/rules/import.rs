//! `rules import`: another program's permissions as rules, with what could not be carried over.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use super::Site;
use super::add::{Addition, write};
use super::options::ImportOptions;
use crate::cli::error::{Error, Exit};
use crate::cli::manifest;
use crate::cli::print::{visible, visible_lines};
use crate::policy::edit;
use crate::policy::import::{Imported, import};
use crate::policy::rule::Decision;
use crate::wire::number::counted;

/// Imports a file: prints rules and report, or writes the rules.
pub(super) fn run(options: &ImportOptions, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let text = manifest::text(&options.source)?;
    let host = options.host;
    let found = import(host, &text).map_err(|why| {
        let source = if options.source == Path::new("-") { Path::new("stdin") } else { &options.source };
        let (source, word, why) = (source.display(), host.word(), visible(&why.to_string()));
        Error::wrong(
            format!("{source} is not a permission file of {word}: {why}"),
            "`mcp-approve rules import --help` says which files are meant",
        )
    })?;
    let taken = edit::ids(&site.file().text()?.unwrap_or_default());
    let rules = found.rules(host, |id| taken.iter().any(|one| one == id));
    let mut code = ExitCode::SUCCESS;
    if options.write && !rules.is_empty() {
        let warnings = warnings(&found);
        code = write(&Addition { text: rules.join("\n"), warnings, dry_run: false }, site, out)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", visible_lines(&rules.join("\n")))?;
        if !rules.is_empty() {
            writeln!(out)?;
        }
        for warning in warnings(&found) {
            writeln!(out, "# warning: {warning}")?;
        }
    }
    report(&found, out)?;
    if !options.write && !rules.is_empty() {
        writeln!(out, "# Nothing was written; add them to the policy with --write.")?;
    }
    Ok(code)
}

fn warnings(found: &Imported) -> Vec<String> {
    let mut warnings = Vec::new();
    if found.carried.iter().any(|one| one.decision == Decision::Allow && one.tool.is_none()) {
        warnings.push("an allow without a tool covers everything its server does, deletions too".to_owned());
    }
    if !found.carried.is_empty() {
        warnings.push(
            "the rules name servers as `mcp-approve log list` does; if the other program uses another name, change \
             `server`, or wrap the server with --name"
                .to_owned(),
        );
    }
    warnings
}

/// What was carried over and what was not, as comments.
fn report(found: &Imported, out: &mut dyn Write) -> io::Result<()> {
    let carried = counted(found.carried.len(), "entry|entries");
    writeln!(out, "# {carried} carried over, {} not.", found.left.len())?;
    found.left.iter().try_for_each(|left| writeln!(out, "#   {}: {}", visible(&left.what), visible(&left.why)))
}
