//! `mcp-approve rules …`: shows, checks, explains, changes and tries the policy.

pub(super) mod add;
pub(super) mod alter;
mod edit;
mod explain;
mod list;
pub mod options;
pub(super) mod past;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::error::{Error, Exit, done};
use crate::cli::look::{First, Here, Look, LookOptions, paged};
use crate::cli::rules::options::{ExceptOptions, RuleOptions, RulesCommand};
use crate::home::change::{By, RuleFile};
use crate::home::layers::{Keeps, Layers};
use crate::home::places::Places;
use crate::home::policy_file::{PolicyPlace, load};
use crate::policy::edit::{self as change, Switch};
use crate::policy::rule::Policy;

pub const SCHEMA: &str = include_str!("../../assets/policy.schema.json");

pub(super) struct Site<'a> {
    /// The policy that was named, or the operator's own.
    pub(super) place: PolicyPlace,
    pub(super) places: &'a Places,
    pub(super) db: PathBuf,
    /// Milliseconds since 1970, UTC.
    pub(super) now: i64,
}

impl Site<'_> {
    pub(super) fn file(&self) -> RuleFile<'_> {
        RuleFile { place: &self.place, places: self.places, by: By::Command }
    }
}

pub(super) fn run(command: &RulesCommand, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let Site { places, now, .. } = *site;
    if !matches!(command, RulesCommand::Path | RulesCommand::Schema) {
        places.check_config()?;
    }
    let here = Here { places, now };
    let folder = std::env::current_dir().ok();
    let mut layers = Layers::of(places, folder.as_deref(), &site.place);
    match command {
        RulesCommand::Path => done(writeln!(out, "{}", site.place.path().display())),
        RulesCommand::Schema => done(write!(out, "{SCHEMA}")),
        RulesCommand::List(options) => {
            let (policy, look) = (in_effect(&mut layers)?, Look::here(here).whole_in_a_pipe());
            let pages = LookOptions { no_pager: options.look.no_pager || options.json, ..options.look };
            paged(pages, First::Top, out, |out| list::run(&policy, &layers, *options, look, out))
        }
        RulesCommand::Explain { call, record, json } => {
            let call = match (call, record) {
                (_, Some(record)) => explain::Call::of_record(record, &site.db)?,
                (call, None) => explain::Call::of_file(call.as_deref().unwrap_or(Path::new("-")), places)?,
            };
            let written = layers.as_written()?;
            explain::run((&in_effect(&mut layers)?, &written), &call, *json, here, out)
        }
        RulesCommand::Accept => alter::accept(&mut layers, places, now, out),
        RulesCommand::Check { json } => alter::check(site, &mut layers, *json, out),
        RulesCommand::Add(options) => add::run(options, site, out),
        RulesCommand::Remove(options) => alter::remove(options, site, out),
        RulesCommand::Disable(RuleOptions { id, dry_run }) => {
            alter::changed(id, id, |text| change::switch(text, id, Switch::Off), *dry_run, site, out)
        }
        RulesCommand::Enable(RuleOptions { id, dry_run }) => {
            alter::changed(id, id, |text| change::switch(text, id, Switch::On), *dry_run, site, out)
        }
        RulesCommand::Edit(options) if options.set.is_empty() && options.unset.is_empty() => {
            edit::run(options, site, out)
        }
        RulesCommand::Edit(options) => alter::edit(options, site, out),
        RulesCommand::Except(ExceptOptions { id, condition, dry_run }) => {
            alter::changed(id, id, |text| change::except(text, id, condition), *dry_run, site, out)
        }
        RulesCommand::Undo => alter::undo(site, out),
        RulesCommand::Replay(options) => past::run_replay(options, &layers.as_written()?, site, out),
        RulesCommand::Suggest(options) => add::run_suggest(options, &layers.as_written()?, site, out),
        RulesCommand::Import(options) => add::run_import(options, site, out),
    }
}

/// The policy as a wrapper in this folder would have it.
fn in_effect(layers: &mut Layers) -> Result<Policy, Error> {
    for file in layers.files() {
        load(&file.place)?;
    }
    Ok(layers.load(Keeps::Nothing))
}
