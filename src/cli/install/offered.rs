//! The pages of the servers that were just wrapped and that are on our list: offered at a terminal. Starts no server.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;

use super::FileEdit;
use crate::cli::error::Error;
use crate::cli::lattice::hosts::known_as;
use crate::cli::look::Here;
use crate::cli::page::{Next, show};
use crate::cli::person;
use crate::home::{name, pages};
use crate::hosts::change::Done;
use crate::hosts::{Found, Listed, lists};
use crate::pins::page::Page;
use crate::wire::number::counted;

/// Asks whether the operator wants to answer the pages now, and shows them.
pub(super) fn ask(edits: &[FileEdit], here: Here<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let pages = if person::is_here() { of(edits, here) } else { Vec::new() };
    if pages.is_empty() {
        return Ok(());
    }
    let them = counted(pages.len(), "of these servers|of these servers");
    writeln!(out, "We reviewed {them}: you can say now which of the tools may run unasked.")?;
    let later = here.places.command("tools review");
    let question = format!("y: show the page of each   Enter: later, with `{later}` >");
    if person::ask(&question, out)?.as_deref() == Some("y") {
        for page in pages {
            if show(page, here, out)? == Next::Leave {
                break;
            }
        }
    }
    Ok(())
}

/// The page of each server that was wrapped, once a command line.
fn of(edits: &[FileEdit], here: Here<'_>) -> Vec<Page> {
    let first_use = pages::first_use(here.places);
    let mut all = BTreeMap::new();
    for edit in edits {
        let Ok(edited) = &edit.edited else { continue };
        let is_wrapped = |listed: &&Listed| {
            edited.changed.servers.iter().any(|one| {
                matches!(one.done, Done::Wrapped(_)) && (&one.project, &one.name) == (&listed.project, &listed.name)
            })
        };
        let found: &Found = &edit.found;
        for listed in lists(std::slice::from_ref(found)).servers.iter().filter(is_wrapped) {
            let Some(wrapping) = &listed.wrapping else { continue };
            let command: Vec<OsString> = wrapping.server.iter().map(OsString::from).collect();
            let page = pages::of_list(&name::launch(&known_as(listed), &command), first_use);
            all.extend(page.map(|page| ((page.server.clone(), page.fingerprint.clone()), page)));
        }
    }
    all.into_values().collect()
}
