//! The page of one server on the whole terminal, for every command that offers one.

use std::io::Write;

use super::error::Error;
use super::look::Here;
use super::print::visible;
use crate::console::run;
use crate::console::run::End;
use crate::interpose::clock;
use crate::pins::page::Page;

/// Whether the operator goes on with the review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    GoOn,
    Leave,
}

/// Has the operator answer a page on the whole terminal.
pub(super) fn show(page: Page, here: Here<'_>, out: &mut dyn Write) -> Result<Next, Error> {
    let server = visible(&page.server);
    let hint = "`mcp-approve doctor` looks at the terminal and the run folder";
    let failed = |error| Error::failed("the page could not be shown", error, hint);
    match run::page(here.places, clock::wall_ms, page).map_err(failed)? {
        End::Answered(Ok(done)) => writeln!(out, "{}", visible(&done.says))?,
        End::Answered(Err(why)) => writeln!(out, "Nothing was agreed to of {server}: {}", visible(&why))?,
        End::Closed => writeln!(out, "Nothing was agreed to of {server}.")?,
        End::Left => return Ok(Next::Leave),
    }
    Ok(Next::GoOn)
}
