//! What is agreed to: listed by number, taken back by `tools forget` (it only tightens, so it needs no terminal), and carried to other
//! machines by `tools review --export` and `--import`. To import is a review at a terminal.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::audit::rfc3339;
use crate::behavior::{Agreement, agreed::What};
use crate::cli::args::{ToolsForgetOptions, ToolsReviewOptions};
use crate::cli::error::{Error, Exit, done};
use crate::cli::look::{Here, pretty, shown, visible};
use crate::cli::tools::{named, servers, store};
use crate::cli::{console, manifest};
use crate::home::agreed::{self, AgreedError, AgreementOffer, Known, agree, change};
use crate::home::places::Places;
use crate::home::signers::{proof, word_needs};
use crate::home::standing::{self, TeamOffer};
use crate::home::user;
use crate::pins::PinStore;
use crate::pins::reading::{Server, StoredTool};
use crate::signing::{Needs, grade::Danger, standing::moment};
use crate::wire::counted;

/// Writes what counts today. A file that is there already is left as it is.
pub(super) fn export(file: &Path, server: Option<&str>, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let store = store(here.places)?;
    let (mut known, servers) = (all(store.as_ref(), here)?, servers(store.as_ref())?);
    known.retain(|one| server.is_none_or(|server| server == one.server));
    let text = format!("{}\n", pretty(&agreed::to_file(&known, &servers)));
    if file == Path::new("-") {
        return done(write!(out, "{text}"));
    }
    let failed = |cause| {
        let hint = "choose the name of a file that is not there yet, in a folder that you may write to";
        Error::failed(format!("{} cannot be written", shown(file)), cause, hint)
    };
    let mut to = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(file).map_err(failed)?;
    to.write_all(text.as_bytes()).and_then(|()| to.sync_all()).map_err(failed)?;
    let count = known.iter().filter(|one| one.trouble().is_none()).count();
    done(writeln!(out, "{} written to {}", counted(count, "agreement"), shown(file)))
}

struct Wanted<'f> {
    offer: &'f AgreementOffer,
    server: String,
    fingerprint: String,
}

pub(super) fn import(file: &Path, options: &ToolsReviewOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    review((&shown(file), &manifest::text(file)?, None), options, here, out)
}

/// Reviews what those whom `[desk] team` names have signed for their team.
pub(super) fn import_team(options: &ToolsReviewOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let hint = "`mcp-approve doctor` says what is wrong";
    let sets = standing::brought(here.places, here.now).map_err(|why| Error::wrong(visible(&why), hint))?;
    if sets.is_empty() {
        let named = "those whom `team` under [desk] in config.toml names have shared nothing that `mcp-approve desk run` has brought";
        return done(writeln!(out, "There is nothing to take over: {named}."));
    }
    for TeamOffer { signed, worth, set } in sets {
        let author = visible(&signed.statement().signer);
        let at = moment(signed.statement().time);
        let from = signed.record(worth);
        review((&format!("the set that {author} signed at {at}"), &set.text, Some(&from)), options, here, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Says whose sets wait for a review.
pub(super) fn tell_of_teams(here: Here<'_>, out: &mut dyn Write) -> Result<(), Error> {
    // What cannot be read is said where it is asked for.
    let sets = standing::brought(here.places, here.now).unwrap_or_default();
    let store = store(here.places)?;
    for TeamOffer { signed, set, .. } in sets {
        let Ok(offers) = agreed::of_file(&set.text) else { continue };
        let (wanted, _, _) = sorted(&offers, store.as_ref(), None, here)?;
        if !wanted.is_empty() {
            let (author, count) = (visible(&signed.statement().signer), counted(wanted.len(), "agreement"));
            let next = here.places.command("tools review --team");
            writeln!(out, "{author} has shared {count} that you have not: `{next}` shows them.")?;
        }
    }
    Ok(())
}

/// Reviews a text of this name; `from` is the signature of a team's set.
fn review(
    (name, text, from): (&str, &str, Option<&Value>),
    options: &ToolsReviewOptions,
    here: Here<'_>,
    out: &mut dyn Write,
) -> Exit {
    let is_here = console::is_here();
    if options.yes && !is_here {
        let what = "what may pass unasked is agreed to by a person, so --yes counts only at a terminal";
        return Err(Error::wrong(what, "run it in a terminal of your own"));
    }
    let wrong = |why: String| {
        let hint = "nothing was taken from it; `mcp-approve tools review --export` writes such a file";
        Error::wrong(format!("{name} is not a file of agreements: {}", visible(&why)), hint)
    };
    let offers = agreed::of_file(text).map_err(|error| wrong(error.to_string()))?;
    if let Some(offer) = offers.iter().find(|offer| is_too_wide(&offer.agreement, here)) {
        return Err(wrong(format!("{} is never agreed to as a whole", offer.agreement.says())));
    }
    let mut store = store(here.places)?;
    let (wanted, already, unknown) = sorted(&offers, store.as_ref(), options.server.as_deref(), here)?;
    if already > 0 {
        writeln!(out, "Agreed to already: {already}")?;
    }
    for (server, count) in unknown {
        let them = counted(count, "agreement is|agreements are");
        writeln!(out, "{them} left out: no server {} with that command was seen here yet", visible(&server))?;
    }
    let Some(store) = store.as_mut().filter(|_| !wanted.is_empty()) else {
        return done(writeln!(out, "There is nothing new to agree to in {name}."));
    };
    writeln!(out, "To pass unasked from now on, as {name} has it:")?;
    for (at, one) in wanted.iter().enumerate() {
        let AgreementOffer { agreement, since, .. } = one.offer;
        let of = whose(&one.server, &agreement.tool);
        writeln!(out, "{:>5}  {of}: {} (there since {since})", at + 1, visible(&agreement.says()))?;
    }
    if !is_here {
        return done(writeln!(out, "To agree to any of it, run this at a terminal."));
    }
    let chosen = if options.yes { (1..=wanted.len()).collect() } else { ask(wanted.len(), out)? };
    let these: Vec<(&str, &str, &Agreement)> = wanted
        .iter()
        .enumerate()
        .filter(|(at, _)| chosen.contains(&(at + 1)))
        .map(|(_, one)| (&*one.server, &*one.fingerprint, &one.offer.agreement))
        .collect();
    if these.is_empty() {
        return done(writeln!(out, "Left as it was."));
    }
    let terms = change(these.iter().map(|(_, fingerprint, one)| one.digest(fingerprint)).collect());
    let needs = word_needs(here.places, Danger::Plain);
    let signed = match needs {
        Needs::Nothing => None,
        Needs::Signature => Some(console::sign(terms.clone(), here, out)?),
    };
    let proof = proof(here.places, needs, signed.as_ref(), (&terms, here.now));
    let proof = proof.map_err(|why| Error::failed("nothing was agreed to", why, "`mcp-approve help signing`"))?;
    agree(store, here.places, &these, (&proof, from), here.now)?;
    writeln!(out, "Agreed to {}; running servers use it within a second.", these.len())?;
    Ok(ExitCode::SUCCESS)
}

/// What is new of the offers, how many are agreed to already, and how many are of servers that were never seen here.
type SortedOffers<'f> = (Vec<Wanted<'f>>, usize, Vec<(String, usize)>);

fn sorted<'f>(
    offers: &'f [AgreementOffer],
    store: Option<&PinStore>,
    only: Option<&str>,
    here: Here<'_>,
) -> Result<SortedOffers<'f>, Error> {
    let (servers, known) = (servers(store)?, all(store, here)?);
    let (mut wanted, mut already, mut unknown) = (Vec::new(), 0, Vec::<(String, usize)>::new());
    for offer in offers.iter().filter(|offer| only.is_none_or(|only| only == offer.server)) {
        let whose: Vec<(String, String)> = match offer.agreement.what {
            What::Meta => vec![Default::default()],
            _ => {
                let of = |server: &Server| (server.name.clone(), server.fingerprint.clone());
                servers.iter().filter(|server| offer.is_of(server)).map(of).collect()
            }
        };
        if whose.is_empty() {
            match unknown.iter_mut().find(|(server, _)| *server == offer.server) {
                Some((_, count)) => *count += 1,
                None => unknown.push((offer.server.clone(), 1)),
            }
        }
        for (server, fingerprint) in whose {
            let digest = offer.agreement.digest(&fingerprint);
            if known.iter().any(|one| one.trouble().is_none() && one.kept.digest() == digest) {
                already += 1;
            } else {
                wanted.push(Wanted { offer, server, fingerprint });
            }
        }
    }
    Ok((wanted, already, unknown))
}

fn ask(of: usize, out: &mut dyn Write) -> Result<BTreeSet<usize>, Error> {
    loop {
        let answer = console::ask("    a: agree to all   1 3-5: to these   Enter: to none >", out)?;
        let numbers: Option<Vec<BTreeSet<usize>>> = match answer.as_deref() {
            None | Some("" | "q") => return Ok(BTreeSet::new()),
            Some("a") => return Ok((1..=of).collect()),
            Some(text) => text.split([' ', ',']).filter(|word| !word.is_empty()).map(|word| range(word, of)).collect(),
        };
        match numbers {
            Some(numbers) => return Ok(numbers.into_iter().flatten().collect()),
            None => writeln!(out, "    Write a, or numbers of the list like 1 3-5.")?,
        }
    }
}

/// `3`, or `3-5`; `None` where that is no part of a list of so many.
fn range(word: &str, of: usize) -> Option<BTreeSet<usize>> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
    (1 <= first && first <= last && last <= of).then(|| (first..=last).collect())
}

/// Whether a folder holds everything of the user's, or something of ours.
fn is_too_wide(agreement: &Agreement, here: Here<'_>) -> bool {
    let folder = Path::new(&agreement.value);
    let own = [here.places.config_dir(), here.places.state_dir()];
    let home = user::current().ok().map(|user| user.home);
    agreement.what == What::Folder
        && (home.is_some_and(|home| home.starts_with(folder))
            || own.iter().any(|own| own.starts_with(folder) || folder.starts_with(own)))
}

/// What counts and what does not; nothing where no server was ever wrapped.
pub(super) fn all(store: Option<&PinStore>, here: Here<'_>) -> Result<Vec<Known>, AgreedError> {
    Ok(store.map(|store| agreed::all(store, here.places, here.now)).transpose()?.unwrap_or_default())
}

pub(super) struct Lines<'p> {
    known: Vec<Known>,
    places: &'p Places,
}

impl<'p> Lines<'p> {
    /// What is agreed to for these tools: what is about one of them first, then what is about its server or every server.
    pub(super) fn of(store: Option<&PinStore>, here: Here<'p>, tools: &[StoredTool]) -> Result<Self, Error> {
        let mut known = all(store, here)?;
        known.retain(|one| tools.iter().any(|tool| concerns(one, tool)));
        known.sort_by_key(Known::order);
        Ok(Self { known, places: here.places })
    }

    pub(super) fn places(&self) -> &'p Places {
        self.places
    }

    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Known)> {
        (1..).zip(&self.known)
    }

    pub(super) fn count(&self, tool: &StoredTool) -> usize {
        let is_its = |one: &&Known| !one.kept.agreement.tool.is_empty() && concerns(one, tool);
        self.known.iter().filter(is_its).filter(|one| one.trouble().is_none()).count()
    }

    pub(super) fn json(&self, tool: &StoredTool) -> Value {
        let its = self.numbered().filter(|(_, one)| concerns(one, tool));
        its.map(|(number, one)| {
            let mut row = json!(one.kept.agreement);
            row["number"] = number.into();
            row["says"] = one.kept.agreement.says().into();
            row["since"] = rfc3339(one.kept.since).into();
            row["last_used"] = day(one.last_used()).into();
            row["counts"] = one.trouble().is_none().into();
            row["trouble"] = one.trouble().into();
            row
        })
        .collect()
    }

    pub(super) fn print(&self, tool: &StoredTool, out: &mut dyn Write) -> io::Result<()> {
        for (is_of_tool, label) in [(true, "agreed to"), (false, "its server")] {
            let its = self
                .numbered()
                .filter(|(_, one)| concerns(one, tool) && one.kept.agreement.tool.is_empty() != is_of_tool);
            for (at, (number, one)) in its.enumerate() {
                let label = if at == 0 { label } else { "" };
                writeln!(out, "  {label:12} {number:>3}  {}", line(one))?;
            }
        }
        Ok(())
    }
}

/// One agreement in a line, fit for a terminal.
pub(super) fn line(one: &Known) -> String {
    let trouble = one.trouble().map(|trouble| format!("; {trouble}")).unwrap_or_default();
    let (since, used) = (day(one.kept.since), day(one.last_used()));
    format!("{} (since {since}, last used {used}{trouble})", visible(&one.kept.agreement.says()))
}

/// The server and the tool that something is agreed to for, fit for a terminal.
pub(super) fn whose(server: &str, tool: &str) -> String {
    let of: Vec<String> = [server, tool].into_iter().filter(|text| !text.is_empty()).map(visible).collect();
    if of.is_empty() { "every server".to_owned() } else { of.join(" / ") }
}

fn day(millis: i64) -> String {
    rfc3339(millis).split('T').next().unwrap_or_default().to_owned()
}

fn concerns(one: &Known, tool: &StoredTool) -> bool {
    one.concerns(&tool.server.fingerprint, Some(&tool.tool.name))
}

pub(super) fn forget(options: &ToolsForgetOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let mut store = store(here.places)?;
    let chosen = chosen(options, store.as_ref(), here)?;
    let Some(store) = store.as_mut().filter(|_| !chosen.is_empty()) else {
        return done(writeln!(out, "Nothing was agreed to there."));
    };
    agreed::take_back(store, here.places, &chosen.iter().collect::<Vec<_>>(), here.now)?;
    for one in &chosen {
        writeln!(out, "Taken back: {}: {}", whose(&one.server, &one.kept.agreement.tool), line(one))?;
    }
    done(writeln!(out, "Running servers ask about it again within a second."))
}

fn chosen(options: &ToolsForgetOptions, store: Option<&PinStore>, here: Here<'_>) -> Result<Vec<Known>, Error> {
    // What is kept for a tool that is not remembered can be taken back, too.
    let all = all(store, here)?;
    if let Some(server) = &options.server {
        let is_its =
            |one: &Known| one.server == *server || server.len() >= 6 && one.kept.fingerprint.starts_with(server);
        let all: Vec<Known> = all.into_iter().filter(is_its).collect();
        return pick(options, (1..).zip(&all));
    }
    let tools = match named(store, &options.names) {
        Ok(tools) => tools,
        Err(error) => {
            let name = options.names.last().map(String::as_str).unwrap_or_default();
            let all: Vec<Known> = all.into_iter().filter(|one| one.kept.agreement.tool == name).collect();
            if all.is_empty() || options.names.len() > 1 {
                return Err(error);
            }
            return pick(options, (1..).zip(&all));
        }
    };
    if let Some(other) = tools.iter().find(|tool| tool.server.name != tools[0].server.name) {
        let what = format!("{} and {} both have a tool {}", tools[0].server.name, other.server.name, other.tool.name);
        return Err(Error::wrong(what, "name the server before the tool"));
    }
    let lines = Lines::of(store, here, &tools)?;
    if options.line.is_empty() {
        let of_tool = lines.numbered().filter(|(_, one)| !one.kept.agreement.tool.is_empty());
        return Ok(of_tool.map(|(_, one)| one.clone()).collect());
    }
    pick(options, lines.numbered())
}

/// Those that `--line` names; all without it.
fn pick<'k>(
    options: &ToolsForgetOptions,
    lines: impl Iterator<Item = (usize, &'k Known)>,
) -> Result<Vec<Known>, Error> {
    let lines: Vec<(usize, &Known)> = lines.collect();
    if options.line.is_empty() {
        return Ok(lines.into_iter().map(|(_, one)| one.clone()).collect());
    }
    let mut chosen: Vec<Known> = Vec::new();
    for wanted in &options.line {
        let is_it = |(number, one): &&(usize, &Known)| match wanted.parse::<usize>() {
            Ok(wanted) => *number == wanted,
            Err(_) => [one.kept.agreement.says(), visible(&one.kept.agreement.says())].contains(wanted),
        };
        let found: Vec<&(usize, &Known)> = lines.iter().filter(is_it).collect();
        let [(_, one)] = found[..] else {
            let many = if found.is_empty() { "no line is" } else { "several lines are" };
            return Err(Error::wrong(
                format!("{many} {wanted}"),
                "`mcp-approve tools show` numbers them; name the number",
            ));
        };
        if !chosen.contains(one) {
            chosen.push((*one).clone());
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn numbers_are_those_of_the_list() {
        assert_eq!(range("2", 3).map(Vec::from_iter), Some(vec![2]));
        assert_eq!(range("1-3", 3).map(Vec::from_iter), Some(vec![1, 2, 3]));
        for wrong in ["0", "4", "3-1", "2-9", "-", "x", "1-x"] {
            assert_eq!(range(wrong, 3), None, "{wrong}");
        }
    }
}
