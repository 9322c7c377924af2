//! `tools review --export` and `--import`: what was agreed to, for other machines. To import is a review at a terminal.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use crate::behavior::{Agreement, agreed::What};
use crate::cli::args::ToolsReviewOptions;
use crate::cli::error::{Error, Exit, done};
use crate::cli::look::{Here, pretty, shown, visible};
use crate::cli::tools::agreed::{all, whose};
use crate::cli::tools::{servers, store};
use crate::cli::{console, manifest};
use crate::home::agreed::{agree, change};
use crate::home::agreed_file::{self, AgreementOffer};
use crate::home::signers::{proof, word_needs};
use crate::home::user;
use crate::pins::{PinStore, reading::Server};
use crate::signing::{Needs, grade::Danger};
use crate::wire::counted;

/// Writes what counts today. A file that is there already is left as it is.
pub(super) fn export(file: &Path, server: Option<&str>, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let store = store(here.places)?;
    let (mut known, servers) = (all(store.as_ref(), here)?, servers(store.as_ref())?);
    known.retain(|one| server.is_none_or(|server| server == one.server));
    let text = format!("{}\n", pretty(&agreed_file::write(&known, &servers)));
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
    let is_here = console::is_here();
    if options.yes && !is_here {
        let what = "what may pass unasked is agreed to by a person, so --yes counts only at a terminal";
        return Err(Error::wrong(what, "run it in a terminal of your own"));
    }
    let wrong = |why: String| {
        let hint = "nothing was taken from it; `mcp-approve tools review --export` writes such a file";
        Error::wrong(format!("{} is not a file of agreements: {}", shown(file), visible(&why)), hint)
    };
    let offers = agreed_file::read(&manifest::text(file)?).map_err(|error| wrong(error.to_string()))?;
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
        return done(writeln!(out, "There is nothing new to agree to in {}.", shown(file)));
    };
    writeln!(out, "To pass unasked from now on, as {} has it:", shown(file))?;
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
    agree(store, here.places, &these, &proof, here.now)?;
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
