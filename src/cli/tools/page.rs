//! The pages of `mcp-approve tools review`: answered on one screen at a terminal, printed anywhere else.

use std::io::Write;

use serde_json::{Value, json};

use crate::cli::args::ToolsReviewOptions;
use crate::cli::console::{Next, show_page};
use crate::cli::error::Error;
use crate::cli::look::{Here, Look, visible};
use crate::console::model::OpenPage;
use crate::console::pages::review;
use crate::home::pages::{self, SeenOf};
use crate::pins::PinStore;
use crate::pins::page::{Beforehand, Line, Offer, Page};
use crate::text::row::{Tone, strong};

/// The pages to be answered: the named server's, those with something that the log saw, or those that would save questions.
pub(super) fn wanted(
    store: Option<&PinStore>,
    options: &ToolsReviewOptions,
    here: Here<'_>,
) -> Result<Vec<Page>, Error> {
    let Some(store) = store else { return Ok(Vec::new()) };
    let seen = if options.from_log { pages::seen(here.places)? } else { SeenOf::new() };
    let mut all = pages::all(store, here.places, &seen, here.now)?;
    all.retain(|page| match &options.server {
        Some(server) => *server == page.server && page.is_open(),
        None if options.from_log => seen.contains_key(&page.server) && page.is_open(),
        None => page.is_wanted(),
    });
    Ok(all)
}

pub(super) fn answer(
    all: Vec<Page>,
    store: &mut PinStore,
    options: &ToolsReviewOptions,
    here: Here<'_>,
    out: &mut dyn Write,
) -> Result<Next, Error> {
    for page in all {
        if options.agree {
            print(&page, here, out)?;
            let marked = |(_, line): &(usize, &Line)| line.beforehand == Beforehand::Marked;
            let lines: Vec<usize> = page.lines.iter().enumerate().filter(marked).map(|(at, _)| at).collect();
            let (says, _) = pages::answer(store, here.places, &page, &lines, here.now)?;
            writeln!(out, "{}", visible(&says))?;
            continue;
        }
        if show_page(page, here, out)? == Next::Leave {
            return Ok(Next::Leave);
        }
    }
    Ok(Next::GoOn)
}

pub(super) fn print(page: &Page, here: Here<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let look = Look::here(here);
    look.print(&strong("The page of ").and_foreign(Tone::Strong, &page.server), out)?;
    let open = OpenPage { at: usize::MAX, ..OpenPage::of(page.clone()) };
    review::page_rows(&open, look.width).iter().try_for_each(|row| look.print(row, out))?;
    Ok(())
}

pub(super) fn rows(page: &Page) -> impl Iterator<Item = Value> {
    page.lines.iter().map(|line| {
        let answer = match line.offer {
            Offer::Nothing => None,
            Offer::Agreed => Some("agreed"),
            Offer::Agree(_) | Offer::Reads(_) => Some("open"),
        };
        json!({
            "server": page.server, "fingerprint": page.fingerprint, "page": line.group.word(), "tool": line.tool,
            "why": line.says, "answer": answer, "marked": line.beforehand == Beforehand::Marked,
        })
    })
}
