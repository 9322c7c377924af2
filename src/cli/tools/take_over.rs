//! What others give as a file, or have signed for their team, is taken over here: agreements, rules and roles, in a review at a terminal.
//! Rules become part of the operator's own policy, and what they newly allow is accepted as after any change of it.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;

use crate::behavior::{Agreement, agreed::What};
use crate::cli::args::ToolsReviewOptions;
use crate::cli::console::{self, Next};
use crate::cli::error::{Error, Exit, done};
use crate::cli::look::{Here, shown, visible};
use crate::cli::manifest;
use crate::cli::rules::{Site, add::tell_past, alter::offer, past};
use crate::cli::tools::transfer::{line, whose};
use crate::cli::tools::{servers, store};
use crate::home::agreed::{self, Known, agree, change};
use crate::home::layers::{Keeps, Layers};
use crate::home::offered::{self, Found, Wanted};
use crate::home::policy_file::{self, PolicyPlace};
use crate::home::set::{self, AgreementOffer, amounts};
use crate::home::signers::{proof, word_needs};
use crate::home::standing::{self, TeamOffer};
use crate::home::taken::{self, Step, StepOf};
use crate::home::{config, user};
use crate::pins::reading::Server;
use crate::policy::layers;
use crate::policy::parse::BUILT_IN;
use crate::policy::rule::ToolGlob;
use crate::policy::{Decision, Rule, rules_name};
use crate::signing::statement::Evidence;
use crate::signing::{Needs, grade::Danger, standing::moment};
use crate::text::plain::block;
use crate::wire::{Digest, counted};

/// How many servers are named that a rule is about.
const SERVERS: usize = 5;

pub(super) fn import(file: &Path, options: &ToolsReviewOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let source = Source { name: &shown(file), text: &manifest::text(file)?, team: None };
    review(&source, options, here, out)
}

/// Reviews what those whom `[desk] team` names have signed for their team.
pub(super) fn import_team(options: &ToolsReviewOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let hint = "`mcp-approve doctor` says what is wrong";
    let sets = standing::brought(here.places, here.now).map_err(|why| Error::wrong(visible(&why), hint))?;
    if sets.is_empty() {
        let named = "those whom `team` under [desk] in config.toml names have shared nothing that `mcp-approve desk run` has brought";
        return done(writeln!(out, "There is nothing to take over: {named}."));
    }
    let mut code = ExitCode::SUCCESS;
    for offer in sets {
        let TeamOffer { signed, worth, set } = &offer;
        let author = signed.statement().signer.as_str();
        let name = format!("the set that {} signed at {}", visible(author), moment(signed.statement().time));
        let key = &signed.signer().key;
        writeln!(out, "{name}, with {} {} ({}):", key.kind().word(), key.fingerprint(), worth.word())?;
        writeln!(out, "the digest of its text is {}", Digest::of(set.text.as_bytes()))?;
        let team = Some(Team { author, from: &signed.record(*worth), signed: &set.signed });
        // What is wrong with one keeps no other from being reviewed.
        if let Err(error) = review(&Source { name: &name, text: &set.text, team }, options, here, out) {
            let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            writeln!(out, "{}", visible(&format!("{error}{hint}")))?;
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

/// Says whose sets wait for a review.
pub(super) fn tell_of_teams(here: Here<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let store = store(here.places)?;
    for (author, [agreed, rules, roles, back]) in offered::waiting((store.as_ref(), here.places), here.now) {
        let more = amounts(agreed, rules, roles);
        let (author, next) = (visible(&author), here.places.command("tools review --team"));
        match (more.as_str(), back) {
            ("nothing", back) => writeln!(out, "{author} has taken {back} back that you have: `{next}` shows it.")?,
            (more, 0) => writeln!(out, "{author} has shared {more} that you have not: `{next}` shows them.")?,
            (more, back) => {
                writeln!(
                    out,
                    "{author} has shared {more} that you have not, and taken {back} back: `{next}` shows it."
                )?;
            }
        }
    }
    Ok(())
}

/// A text that is reviewed.
struct Source<'s> {
    name: &'s str,
    text: &'s str,
    team: Option<Team<'s>>,
}

/// Who signed it: the signature as records keep it, and as it came.
#[derive(Clone, Copy)]
struct Team<'s> {
    author: &'s str,
    from: &'s Value,
    signed: &'s Evidence,
}

/// One line of the review.
enum Choice<'f> {
    Agree(&'f Wanted<'f>),
    Forget(&'f Known),
    Make(&'f Step),
}

impl<'f> Choice<'f> {
    fn all(found: &'f Found<'f>) -> Vec<Self> {
        let agree = found.wanted.iter().map(Self::Agree);
        agree.chain(found.back.iter().map(Self::Forget)).chain(found.steps.steps.iter().map(Self::Make)).collect()
    }
}

/// Says what is left out, and why.
fn tell_left(found: &Found<'_>, out: &mut dyn Write) -> Result<(), Error> {
    if found.already > 0 {
        writeln!(out, "Agreed to already: {}", found.already)?;
    }
    for (server, count) in &found.unknown {
        let them = counted(*count, "agreement is|agreements are");
        writeln!(out, "{them} left out: no server {} with that command was seen here yet", visible(server))?;
    }
    for other in &found.steps.others {
        writeln!(out, "{other} is left out: one of that name is here already, and is not from there; rename yours")?;
    }
    let named = found.steps.forbidden.iter().cloned();
    let agreed = (found.forbidden > 0).then(|| counted(found.forbidden, "agreement"));
    for what in named.chain(agreed) {
        let why = "the policy here takes from a team only what makes it stricter ([desk] team_may)";
        writeln!(out, "{what} left out: {why}")?;
    }
    Ok(())
}

fn site<'p>(place: &PolicyPlace, Here { places, now }: Here<'p>) -> Result<Site<'p>, Error> {
    Ok(Site { place: place.clone(), places, db: config::audit_db(places)?, now })
}

fn review(source: &Source<'_>, options: &ToolsReviewOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let Source { name, text, team } = *source;
    let author = team.map(|team| team.author);
    let is_here = console::is_here();
    if options.yes && !is_here {
        let what = "what may pass unasked is agreed to by a person, so --yes counts only at a terminal";
        return Err(Error::wrong(what, "run it in a terminal of your own"));
    }
    let wrong = |why: String| {
        let hint = "nothing was taken from it; `mcp-approve tools review --export` writes such a file";
        Error::wrong(format!("{name} is not a file of agreements: {}", visible(&why)), hint)
    };
    let set = set::of_file(text).map_err(|error| wrong(error.to_string()))?;
    if let Some(offer) = set.agreed.iter().find(|offer| is_too_wide(&offer.agreement, here)) {
        return Err(wrong(format!("{} is never agreed to as a whole", offer.agreement.says())));
    }
    let store = store(here.places)?;
    let found = Found::of(&set, author, options.server.as_deref(), (store.as_ref(), here.places), here.now)?;
    tell_left(&found, out)?;
    let choices = Choice::all(&found);
    if choices.is_empty() {
        return done(writeln!(out, "There is nothing new to agree to in {name}."));
    }
    let mut list = Vec::new();
    let loosen = show(&choices, name, here, &mut list)?;
    let list = String::from_utf8_lossy(&list);
    if !is_here || options.yes {
        write!(out, "{list}")?;
    } else if console::page_out(&list, out)? == Next::Leave {
        return done(writeln!(out, "Left as it was."));
    }
    writeln!(out, "Of these {}, {loosen} would let more calls pass.", choices.len())?;
    if !is_here {
        return done(writeln!(out, "To agree to any of it, run this at a terminal."));
    }
    let chosen = if options.yes { (1..=choices.len()).collect() } else { ask(choices.len(), out)? };
    let chosen: Vec<&Choice<'_>> =
        (1..).zip(&choices).filter(|(at, _)| chosen.contains(at)).map(|(_, choice)| choice).collect();
    if chosen.is_empty() {
        return done(writeln!(out, "Left as it was."));
    }
    settle(&chosen, team, here, out)
}

/// Lists what can be chosen: each agreement in a line, each rule and role as the change that it would be. Returns how many agreements and
/// rules let more calls pass.
fn show(choices: &[Choice<'_>], name: &str, here: Here<'_>, out: &mut dyn Write) -> Result<usize, Error> {
    let site = site(&PolicyPlace::own(here.places), here)?;
    let pooled = Layers::of(here.places, None, &site.place).load(Keeps::Nothing).given;
    let text = site.file().text()?.unwrap_or_else(|| BUILT_IN.to_owned());
    let before = policy_file::read(&text).unwrap_or_else(|_| layers::nothing(&policy_file::roots()));
    let calls = past::since(&site.db, None)?;
    let servers = servers(store(here.places)?.as_ref())?;
    let (mut last, mut loosen) = (0, 0);
    for (number, choice) in (1..).zip(choices) {
        let (kind, title) = match choice {
            Choice::Agree(_) => (1, format!("To pass unasked from now on, as {name} has it:")),
            Choice::Forget(_) => (2, format!("To be asked about again, since {name} no longer has it:")),
            Choice::Make(_) => (3, format!("Rules and roles, as {name} has them:")),
        };
        if kind != last {
            writeln!(out, "{title}")?;
            last = kind;
        }
        match choice {
            Choice::Agree(one) => {
                loosen += 1;
                let AgreementOffer { agreement, since, .. } = one.offer;
                let of = whose(&one.server, &agreement.tool);
                writeln!(out, "{number:>5}  {of}: {} (there since {since})", visible(&agreement.says()))?;
            }
            Choice::Forget(known) => {
                writeln!(out, "{number:>5}  {}: {}", whose(&known.server, &known.kept.agreement.tool), line(known))?;
            }
            Choice::Make(step) => {
                writeln!(out, "{number:>5}  {}", visible(&step.says()))?;
                for line in step.diff().lines() {
                    writeln!(out, "       {}", block(line))?;
                }
                let with = Some(step).filter(|step| step.of == StepOf::Rule).and_then(|step| step.made_in(&text).ok());
                let with = with.and_then(|text| policy_file::read(&text).ok());
                if let Some(rule) = &step.rule {
                    reads_here(rule, step, &servers, out)?;
                    if let (Some(policy), Some(calls)) = (&with, &calls) {
                        tell_past(rule, policy, calls, &site, out)?;
                    }
                }
                let more = with.map(|with| layers::loosened(&before, &with, pooled)).unwrap_or_default();
                if !more.is_empty() {
                    loosen += 1;
                    writeln!(out, "▲ It loosens your policy: {}", visible(&more.join("; ")))?;
                }
            }
        }
    }
    let roles = choices.iter().filter_map(|choice| match choice {
        Choice::Make(step) if step.of == StepOf::Role => Some(*step),
        Choice::Make(_) | Choice::Agree(_) | Choice::Forget(_) => None,
    });
    match taken::grants(here.places, &roles.collect::<Vec<_>>()) {
        Ok(all) => all.into_iter().try_for_each(|(name, grants)| {
            writeln!(out, "With all of these, role {} grants here: {}", visible(&name), visible(&grants))
        })?,
        Err(error) => writeln!(out, "What roles would grant here is unknown: {}", visible(&error.to_string()))?,
    }
    Ok(loosen)
}

/// Says what a rule's words mean on this machine: names are those of its servers, and `~` is a folder of this user.
fn reads_here(rule: &Rule, step: &Step, servers: &[Server], out: &mut dyn Write) -> Result<(), Error> {
    let text = step.after.as_deref().unwrap_or_default();
    if let Some(home) = user::current().ok().map(|user| user.home).filter(|_| text.contains("\"~")) {
        writeln!(out, "Here ~ is {}.", shown(&home))?;
    }
    if rule.decision != Decision::Allow {
        return Ok(());
    }
    let names = |server: &&Server| {
        let name = rules_name(&server.name);
        let by_tool = |tool: &ToolGlob| tool.server().is_none_or(|glob| glob.matches(name));
        (rule.server.is_empty() || rule.server.iter().any(|glob| glob.matches(name)))
            && (rule.tool.is_empty() || rule.tool.iter().any(by_tool))
    };
    let all: Vec<String> = servers
        .iter()
        .filter(names)
        .map(|server| visible(&format!("{} ({})", server.name, server.package.as_ref().unwrap_or(&server.command))))
        .collect();
    match all.len() {
        0 => writeln!(out, "No server that was seen here has such a name.")?,
        1..=SERVERS => writeln!(out, "Here it is about {}.", all.join(", "))?,
        more => writeln!(out, "Here it is about {more} servers.")?,
    }
    Ok(())
}

fn settle(chosen: &[&Choice<'_>], team: Option<Team<'_>>, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let (author, from) = team.map(|team| (team.author, team.from)).unzip();
    // The review may have taken a while: it is still that author's latest, and still signed by somebody who may.
    if let Some(team) = team {
        let sets = standing::brought(here.places, here.now).unwrap_or_default();
        if !sets.iter().any(|offer| offer.set.signed == *team.signed) {
            let what = "a newer set came meanwhile, or its signature counts no longer";
            return Err(Error::wrong(format!("nothing was taken over: {what}"), "run it again"));
        }
    }
    let (mut these, mut forget, mut make) = (Vec::new(), Vec::new(), Vec::new());
    for choice in chosen {
        match choice {
            Choice::Agree(one) => these.push((&*one.server, &*one.fingerprint, &one.offer.agreement)),
            Choice::Forget(known) => forget.push(*known),
            Choice::Make(step) => make.push(*step),
        }
    }
    let mut store = store(here.places)?;
    if store.is_none() && !these.is_empty() {
        let hint = "wrap one first: `mcp-approve -- CMD`";
        return Err(Error::wrong("nothing was agreed to, because no server was wrapped here yet", hint));
    }
    if let Some(store) = store.as_mut() {
        if !these.is_empty() {
            let terms = change(these.iter().map(|(_, fingerprint, one)| one.digest(fingerprint)).collect());
            let needs = word_needs(here.places, Danger::Plain);
            let signed = match needs {
                Needs::Nothing => None,
                Needs::Signature => Some(console::sign(terms.clone(), here, out)?),
            };
            let proof = proof(here.places, needs, signed.as_ref(), (&terms, here.now));
            let proof =
                proof.map_err(|why| Error::failed("nothing was agreed to", why, "`mcp-approve help signing`"))?;
            agree(store, here.places, &these, (&proof, from), here.now)?;
            writeln!(out, "Agreed to {}; running servers use it within a second.", these.len())?;
        }
        if !forget.is_empty() {
            agreed::take_back(store, here.places, &forget, here.now)?;
            writeln!(out, "Taken back: {}; running servers ask about it again within a second.", forget.len())?;
        }
    }
    if !make.is_empty() {
        let site = site(&PolicyPlace::own(here.places), here)?;
        taken::take_over(&make, (author, from), site.file(), here.now)?;
        let names: Vec<String> = make.iter().map(|step| step.says()).collect();
        writeln!(out, "Taken over: {}.", visible(&names.join("; ")))?;
        if make.iter().any(|step| step.of == StepOf::Rule) {
            offer(&site, out)?;
            writeln!(out, "Take the rules back with: {}", here.places.command("rules undo"))?;
        }
        if make.iter().any(|step| step.of == StepOf::Role) {
            writeln!(out, "A role counts for a server that is started with it from now on (`role` in config.toml).")?;
        }
    }
    Ok(ExitCode::SUCCESS)
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
