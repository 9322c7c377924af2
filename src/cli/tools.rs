//! `mcp-approve tools`: everything ever seen of servers' tools: listed, searched and reviewed. One file per command below.

pub mod classify;
mod list;
mod review;
mod row;
mod search;
pub(super) mod show;
mod take_over;
mod transfer;

use std::io::Write;
use std::process::ExitCode;

use crate::audit::tally::{Exact, Tally};
use crate::audit::{Reader, query};
use crate::cli::args::{Output, ToolsCommand, ToolsListOptions};
use crate::cli::console;
use crate::cli::error::{Error, Exit};
use crate::cli::look::{First, Here, JsonForm, LookOptions, json_rows, paged, visible};
use crate::home::places::{PlaceError, Places};
use crate::operator::pinned::PinReview;
use crate::operator::settle::{SettleError, Settlement};
use crate::pins::reading::{Server, StoredTool};
use crate::pins::{PinStore, PinsError};

pub(super) fn run(command: &ToolsCommand, places: Result<Places, PlaceError>, now: i64, out: &mut dyn Write) -> Exit {
    if let ToolsCommand::Classify(options) = command {
        return classify::run(options, places, out);
    }
    let here = Here { places: &places?, now };
    match command {
        ToolsCommand::Classify(_) => Ok(ExitCode::SUCCESS),
        ToolsCommand::List(options) => paged(pages(options), First::Top, out, |out| list::run(options, here, out)),
        ToolsCommand::Show(options) => show::run(options, here, out),
        ToolsCommand::Search(options) => {
            paged(pages(&options.list), First::Top, out, |out| search::run(options, here, out))
        }
        ToolsCommand::Review(options) if options.team => take_over::import_team(options, here, out),
        ToolsCommand::Review(options) => match (&options.export, &options.import) {
            (Some(file), _) => transfer::export(file, options.server.as_deref(), here, out),
            (None, Some(file)) => take_over::import(file, options, here, out),
            (None, None) => review::run(options, here, out),
        },
        ToolsCommand::Forget(options) => transfer::forget(options, here, out),
        ToolsCommand::Pin(options) => review::pin(options, here, out),
    }
}

/// What is printed for programs goes through no pager.
fn pages(ToolsListOptions { look, output, .. }: &ToolsListOptions) -> LookOptions {
    LookOptions { no_pager: look.no_pager || output.json || output.jsonl, ..*look }
}

/// What is remembered; `None` when no server was ever wrapped.
fn store(places: &Places) -> Result<Option<PinStore>, Error> {
    places.check_state()?;
    PinStore::open_existing(&places.pins_db()).map_err(Error::from)
}

fn servers(store: Option<&PinStore>) -> Result<Vec<Server>, PinsError> {
    Ok(store.map(PinStore::servers).transpose()?.unwrap_or_default())
}

/// Settles what the operator says, with a signature where the policy wants one, and says what was done.
fn settle(review: &PinReview, here: Here<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let settlement = Settlement { places: here.places, now: here.now };
    let signed = settlement.to_sign(review)?.map(|change| console::sign(change, here, out)).transpose()?;
    match settlement.of(review, signed.as_ref()) {
        Ok(done) => writeln!(out, "    {}", visible(&done.says))?,
        Err(SettleError::Outdated) => {
            writeln!(out, "    It changed again since it was shown; nothing was done. Review it again.")?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn known(store: Option<&PinStore>, server: Option<&str>) -> Result<Vec<StoredTool>, PinsError> {
    let mut tools = store.map(PinStore::tools).transpose()?.unwrap_or_default();
    if let Some(server) = server {
        tools.retain(|known| is_server(known, server));
    }
    Ok(tools)
}

fn is_server(known: &StoredTool, server: &str) -> bool {
    known.server.name == server || (server.len() >= 6 && known.server.fingerprint.starts_with(server))
}

/// The tools that `TOOL`, or `SERVER TOOL`, mean.
fn named(store: Option<&PinStore>, words: &[String]) -> Result<Vec<StoredTool>, Error> {
    let (server, name) = match words {
        [name] => (None, name),
        [server, name, ..] => (Some(server.as_str()), name),
        [] => return Ok(Vec::new()),
    };
    let mut tools = known(store, server)?;
    tools.retain(|known| known.tool.name == *name);
    if tools.is_empty() {
        let of = server.map(|server| format!(" of the server {server}")).unwrap_or_default();
        return Err(Error::wrong(
            format!("no tool {name}{of} was ever seen"),
            "`mcp-approve tools list` shows those that were; a server is seen once it runs under mcp-approve",
        ));
    }
    Ok(tools)
}

/// How many records are counted for a tool's latency and errors, the newest first.
const RECORDS: u64 = 200_000;

fn answers(places: &Places) -> Result<Tally<Exact>, Error> {
    match Reader::open(&places.audit_db())? {
        Some(reader) => Ok(query::answers(&reader, RECORDS)?),
        None => Ok(Tally::default()),
    }
}

fn print(
    output: Output,
    rows: &[serde_json::Value],
    none: &str,
    out: &mut dyn Write,
    table: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Error> {
    if output.json || output.jsonl {
        json_rows(rows, if output.json { JsonForm::Array } else { JsonForm::Lines }, out)?;
    } else if rows.is_empty() {
        writeln!(out, "{none}")?;
    } else {
        table(out)?;
    }
    Ok(())
}
