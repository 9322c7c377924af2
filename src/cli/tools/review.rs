//! `tools review` and `tools pin`: a person settles at a terminal what waits for a look, the pages of servers each on one
//! screen; without a terminal all of it is only listed.

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::behavior::{Badge, HazardKind, Identity, Source};
use crate::cli::args::{PinChoice, ToolsPinOptions, ToolsReviewOptions};
use crate::cli::console::{self, Next, show_page};
use crate::cli::error::{Error, Exit, done};
use crate::cli::look::{Here, Look, visible};
use crate::cli::tools::{named, print, row, settle, show::print_changes, store, take_over};
use crate::console::{model::OpenPage, pages::review};
use crate::gate::data::pin::PinState;
use crate::home::pages::{self, SeenOf};
use crate::operator::pinned::{self, PinReview, ProgramReview, Shown, ToolReview};
use crate::pins::page::{Beforehand, Line, Offer, Page};
use crate::pins::reading::{Server, StoredTool};
use crate::pins::{PinStore, diff::Argument};
use crate::text::row::{Tone, strong};

const NOTHING: &str = "There is nothing to review: every definition and every server's program is as it was when it was \
    first seen or accepted, no evidence contradicts itself, no definition addresses the model or hides text, and every \
    tool that only looks like a read is confirmed.";

const NOTHING_SEEN: &str = "The log saw nothing to agree to: no call of a tool that reads had anything new. Wrap a server \
    with --observe for a day: it holds no call, and records what is new in each.";

pub(super) fn reasons(known: &StoredTool) -> Vec<&'static str> {
    let mut reasons = Vec::new();
    match known.pin_state {
        PinState::Trusted => {}
        PinState::Changed { .. } => reasons.push("changed definition"),
        PinState::Unreviewed => reasons.push("unreviewed"),
        PinState::New => reasons.push("new since accepted"),
        PinState::Refused => reasons.push("refused"),
    }
    if known.pin_state == PinState::Trusted && known.behavior.badge() == Badge::Likely {
        reasons.push("likely, not confirmed");
    }
    if known.behavior.disputed {
        reasons.push("disputed");
    }
    if known.behavior.has(Source::Outside) {
        reasons.push("an outside classifier disagrees");
    }
    for hazard in &known.behavior.hazards {
        match hazard.kind {
            HazardKind::Confusable => reasons.push("look-alike name"),
            // Until the operator says what the tool is, which is more than to trust its definition.
            kind if kind.is_of_definition() && known.pin.said.is_none() => reasons.push(kind.word()),
            _ => {}
        }
    }
    reasons
}

pub(super) fn wants_word(known: &StoredTool) -> bool {
    pinned::wants_word(known.pin_state, known.behavior.badge())
}

/// Whether its server's page settles it: it reads, and nothing else of it has to be looked at.
fn is_on_page(known: &StoredTool) -> bool {
    known.behavior.badge() != Badge::Mutates && wants_word(known) && reasons(known).len() == 1
}

fn shown(known: &StoredTool) -> Shown {
    let (fingerprint, tool) = (known.server.fingerprint.clone(), known.tool.name.clone());
    Shown { fingerprint, tool, latest: known.pin.latest }
}

fn settle_tool(known: &StoredTool, word: ToolReview, here: Here<'_>, out: &mut dyn Write) -> Result<(), Error> {
    settle(&PinReview::Tools(vec![(shown(known), word)]), here, out)
}

pub(super) fn run(options: &ToolsReviewOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    if options.agree && !console::is_here() {
        let what = "what may pass unasked is agreed to by a person, so --agree counts only at a terminal";
        return Err(Error::wrong(what, "run it in a terminal of your own"));
    }
    let store = store(here.places)?;
    let pages = wanted_pages(store.as_ref(), options, here)?;
    let is_wanted = |server: &Server| options.server.as_deref().is_none_or(|wanted| wanted == server.name);
    let mut servers = super::servers(store.as_ref())?;
    servers.retain(|server| is_wanted(server) && server.change().is_some());
    let mut tools = super::known(store.as_ref(), options.server.as_deref())?;
    tools.retain(|known| !reasons(known).is_empty());
    let output = options.output;
    // These are about pages alone.
    if options.from_log || options.agree {
        (servers, tools) = (Vec::new(), Vec::new());
    }
    let is_empty = servers.is_empty() && tools.is_empty() && pages.is_empty();
    if output.json || output.jsonl || !console::is_here() || is_empty {
        let mut rows: Vec<Value> = servers.iter().map(server_row).collect();
        for known in &tools {
            let grown = store.as_ref().map(|store| store.grown(known)).transpose()?.flatten();
            rows.push(tool_row(known, grown.map(|grown| grown.words()).as_deref()));
        }
        let is_text = !(output.json || output.jsonl);
        if is_text {
            take_over::tell_of_teams(here, out)?;
        }
        if is_text && rows.is_empty() && !pages.is_empty() {
            return printed(&pages, here, out);
        }
        if !is_text {
            rows.extend(pages.iter().flat_map(page_rows));
        }
        let rows = &rows[..rows.len().min(output.limit.unwrap_or(usize::MAX))];
        let none = if options.from_log { NOTHING_SEEN } else { NOTHING };
        print(output, rows, none, out, |out| {
            for row in rows {
                let text = |key: &str| visible(row[key].as_str().unwrap_or_default());
                let tool = if row["tool"].is_null() { String::new() } else { format!(" / {}", text("tool")) };
                writeln!(out, "{}{tool}: {}", text("server"), text("why"))?;
                if !row["capability"].is_null() {
                    writeln!(out, "    {}", text("capability"))?;
                }
                if !row["tool"].is_null() {
                    writeln!(out, "    {}  {}: {}", text("identity"), text("now"), text("because"))?;
                }
            }
            writeln!(out, "To accept or refuse, run this at a terminal: {}", here.places.command("tools review"))?;
            writeln!(out, "To see why one is here: {}", here.places.command("tools show"))
        })?;
        return if is_text { printed(&pages, here, out) } else { Ok(ExitCode::SUCCESS) };
    }
    let Some(store) = &store else { return Ok(ExitCode::SUCCESS) };
    tools.retain(|known| !is_on_page(known));
    let total = servers.len() + tools.len();
    for (at, server) in servers.iter().enumerate() {
        writeln!(
            out,
            "\n[{}/{total}] the server {}: {}",
            at + 1,
            visible(&server.name),
            visible(&server.change().unwrap_or_default())
        )?;
        writeln!(out, "    runs     {}", visible(&server.command))?;
        for argument in server.arguments() {
            let (mark, text) = match &argument {
                Argument::Same(text) => (' ', text),
                Argument::Gone(text) => ('-', text),
                Argument::Added(text) => ('+', text),
            };
            writeln!(out, "      {mark} {}", visible(text))?;
        }
        for (label, files) in [("trusted", server.trusted.as_deref().unwrap_or("")), ("now", &server.program)] {
            for file in files.lines() {
                writeln!(out, "    {label:8} {}", visible(file))?;
            }
        }
        match console::ask("    a: accept this program and command   Enter: leave it   q: quit >", out)?.as_deref() {
            Some("a") => {
                let Server { fingerprint, name: server, program, .. } = server.clone();
                let word = ProgramReview::Accepted;
                settle(&PinReview::Program { fingerprint, server, program, word }, here, out)?;
            }
            Some("q") | None => return Ok(ExitCode::SUCCESS),
            Some(_) => {}
        }
    }
    if answer_pages(pages, options, here, out)? == Next::Leave {
        return Ok(ExitCode::SUCCESS);
    }
    for (at, known) in tools.iter().enumerate() {
        let (number, reasons) = (servers.len() + at + 1, reasons(known).join(", "));
        let (server, tool) = (visible(&known.server.name), visible(&known.tool.name));
        writeln!(out, "\n[{number}/{total}] {server} / {tool}: {reasons}")?;
        let identity = known.behavior.identity;
        writeln!(out, "    now      {identity} ({}), version {}", identity.hash(), known.pin.version)?;
        if let Some(was) = known.pin.identity.filter(|was| *was != identity) {
            writeln!(out, "    was      {was} ({})", was.hash())?;
        }
        if let Some(grown) = store.grown(known)?.map(|grown| grown.words()) {
            writeln!(out, "    {}", visible(&grown))?;
        }
        for evidence in known.behavior.evidence.iter() {
            writeln!(out, "    evidence {}", visible(&row::evidence(evidence)))?;
        }
        for hazard in &known.behavior.hazards {
            writeln!(out, "    hazard   {}: {}", hazard.kind.word(), visible(&hazard.what))?;
        }
        let changes = store.changes(known)?;
        print_changes(&changes, out)?;
        if changes.is_empty() {
            writeln!(out, "    {}", visible(&known.tool.definition.to_string()))?;
        }
        match console::ask("    a: accept this definition   r: refuse it   Enter: leave it   q: quit >", out)?
            .as_deref()
        {
            Some("a") => {
                settle_tool(known, ToolReview::Accepted, here, out)?;
                let pin = here.places.command("tools pin");
                if known.behavior.disputed {
                    writeln!(out, "    The evidence still contradicts itself: say what it is with `{pin}`.")?;
                } else if known.behavior.hazards.iter().any(|hazard| hazard.kind.is_of_definition()) {
                    writeln!(out, "    It stays on this list until you say what it is with `{pin}`.")?;
                }
            }
            Some("r") => settle_tool(known, ToolReview::Refused, here, out)?,
            Some("q") | None => return Ok(ExitCode::SUCCESS),
            Some(_) => {}
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn printed(pages: &[Page], here: Here<'_>, out: &mut dyn Write) -> Exit {
    for page in pages {
        print_page(page, here, out)?;
    }
    if !pages.is_empty() {
        let command = here.places.command("tools review");
        writeln!(
            out,
            "\nTo answer, run this at a terminal: {command}; with --agree it agrees to what is marked here."
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn pin(options: &ToolsPinOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    if !console::is_here() {
        return Err(Error::wrong(
            "a pin decides which calls are asked about, so it can be set only at a terminal",
            "run it in a terminal of your own",
        ));
    }
    let store = store(here.places)?;
    let mut pins: Vec<(StoredTool, Option<Identity>)> = Vec::new();
    for tool in &options.tools {
        for known in named(store.as_ref(), &[options.server.clone(), tool.clone()])? {
            let word = said(options, &known)?;
            pins.push((known, word));
        }
    }
    for (known, word) in &pins {
        let now_is = known.behavior.identity;
        writeln!(out, "{} / {} is {now_is} now", visible(&known.server.name), visible(&known.tool.name))?;
        writeln!(out, "  {}", visible(&known.tool.definition.to_string()))?;
        writeln!(out, "  {}", visible(&in_words(word.as_ref())))?;
    }
    if console::ask("  type yes to do it >", out)?.as_deref() != Some("yes") {
        return done(writeln!(out, "  Left as it was."));
    }
    let words = pins.iter().map(|(known, word)| (shown(known), ToolReview::Pinned(*word))).collect();
    settle(&PinReview::Tools(words), here, out)?;
    Ok(ExitCode::SUCCESS)
}

fn in_words(word: Option<&Identity>) -> String {
    word.map_or_else(|| "pin taken back".to_owned(), |says| format!("pinned as {says}"))
}

/// What the options say of a tool; `None` takes back what was said.
fn said(options: &ToolsPinOptions, known: &StoredTool) -> Result<Option<Identity>, Error> {
    if options.remove {
        return Ok(None);
    }
    let said = match options.identity {
        None => return Ok(None),
        Some(PinChoice::Whole(identity)) => identity,
        Some(PinChoice::Mutability(mutability)) => known.behavior.identity.with_mutability(mutability),
    };
    if said.with_mutability(said.mutability) == said {
        return Ok(Some(said));
    }
    Err(Error::wrong(
        format!("{said} contradicts itself"),
        "PURE goes with READ or SEARCH, MUTATES with every other action",
    ))
}

fn server_row(server: &Server) -> Value {
    json!({
        "server": server.name, "tool": null, "why": server.change(), "command": server.command,
        "words": server.words, "former_words": server.former,
        "fingerprint": server.fingerprint, "program": server.program, "trusted_program": server.trusted,
    })
}

fn tool_row(known: &StoredTool, grown: Option<&str>) -> Value {
    json!({
        "server": known.server.name, "tool": known.tool.name, "why": reasons(known).join(", "),
        "was": known.pin.identity.map(|was| was.to_string()), "now": known.behavior.identity.to_string(),
        "badge": known.behavior.badge().word(), "identity": known.behavior.identity.hash(),
        "because": row::because(&known.behavior), "capability": grown,
        "pin_version": known.pin.version, "digest": known.pin.latest.to_string(),
        "fingerprint": known.server.fingerprint,
    })
}

/// The pages to be answered: the named server's, those with something that the log saw, or those that would save questions.
fn wanted_pages(store: Option<&PinStore>, options: &ToolsReviewOptions, here: Here<'_>) -> Result<Vec<Page>, Error> {
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

fn answer_pages(
    all: Vec<Page>,
    options: &ToolsReviewOptions,
    here: Here<'_>,
    out: &mut dyn Write,
) -> Result<Next, Error> {
    for page in all {
        if options.agree {
            print_page(&page, here, out)?;
            let marked = |(_, line): &(usize, &Line)| line.beforehand == Beforehand::Marked;
            let lines: Vec<usize> = page.lines.iter().enumerate().filter(marked).map(|(at, _)| at).collect();
            settle(&PinReview::Page(Box::new(page), lines), here, out)?;
            continue;
        }
        if show_page(page, here, out)? == Next::Leave {
            return Ok(Next::Leave);
        }
    }
    Ok(Next::GoOn)
}

fn print_page(page: &Page, here: Here<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let look = Look::here(here);
    look.print(&strong("The page of ").and_foreign(Tone::Strong, &page.server), out)?;
    let open = OpenPage { at: usize::MAX, ..OpenPage::of(page.clone()) };
    review::page_rows(&open, look.width).iter().try_for_each(|row| look.print(row, out))?;
    Ok(())
}

fn page_rows(page: &Page) -> impl Iterator<Item = Value> {
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
