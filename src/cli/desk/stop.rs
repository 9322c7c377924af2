//! What operators sign for all machines: `desk freeze` a stop or its end, `desk alive` that they can be reached, `desk share` what a
//! team has agreed to.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::cli::error::Error;
use crate::cli::look::{Here, shown};
use crate::cli::manifest;
use crate::desk::engine::{Engine, EngineError, Program, Target};
use crate::desk::overview::{names, names_of};
use crate::desk::standing::{StandingKind, Stops, newest, write};
use crate::home::places::{Places, under};
use crate::home::standing::{self, me};
use crate::home::{set, signers};
use crate::operator::sign::{self, OwnKey, Prompts};
use crate::signing::InForce;
use crate::signing::standing::{
    ALIVE, ALL, Alive, FREEZE, Ignored, Me, SignedAlive, Standing, Stop, StopWord, TEAM, TeamSet, moment, text,
};
use crate::signing::statement::{Evidence, Refused};
use crate::signing::verdict::CLOCK_SKEW;
use crate::text::plain::visible;
use crate::text::time::span;
use crate::wire::Digest;

/// How many of the newest signs of life are looked at.
const SIGNS: i64 = 16;

/// How many stops a lift names at most.
const MOST_ENDED: usize = 256;

/// How long stops are read at most, before what is known by then is used.
const READING: Duration = Duration::from_secs(10);

/// How many machines an error names.
const NAMED: usize = 20;

/// The longest text of a set, in bytes.
const LONGEST_SET: usize = 1 << 20;

/// How long after a sign of life the next is signed, and how long after one that failed.
const EACH: Duration = Duration::from_secs(60);
const AGAIN: Duration = Duration::from_secs(5);

fn no_signature(why: impl Into<String>) -> Error {
    Error::failed("there is no signature", why.into(), "`mcp-approve signers` says who may sign")
}

/// What is on the desk of stops or was kept here of earlier, as the lists of signers here find it.
struct Seen {
    lists: InForce,
    stops: Stops,
    known: Standing,
    /// Those on the desk of a signer who may not sign, newest first; on a machine that took one before, it still counts.
    doubtful: Vec<Evidence>,
    refused: usize,
}

impl Seen {
    /// Begins with what was kept here: a row that is gone ends no stop.
    fn new(places: &Places, now: i64) -> Result<Self, Error> {
        let known = Standing::new(me());
        let mut seen = Self { lists: lists(places)?, stops: Stops::default(), known, doubtful: Vec::new(), refused: 0 };
        let [stops, _] = standing::files(places);
        for file in [stops, standing::seen_file(places)] {
            seen.take(&file, now)?;
        }
        Ok(seen)
    }

    /// The same by other lists: the desk is read again, and nothing is forgotten.
    fn by(self, lists: InForce) -> Self {
        Self { lists, stops: Stops::default(), doubtful: Vec::new(), refused: 0, ..self }
    }

    fn take(&mut self, file: &Path, now: i64) -> Result<(), Error> {
        standing::take_stops(file, &mut self.known, Ok(&self.lists), now).map_err(|why| unkept(file, why))
    }

    /// Keeps what was seen in the file of `desk alive`.
    fn keep(&mut self, places: &Places, now: i64) -> Result<(), Error> {
        let file = standing::seen_file(places);
        self.take(&file, now)?;
        let kept: Vec<Evidence> = self.known.kept().cloned().collect();
        if standing::read(&file).map_err(|why| unkept(&file, why))? != kept {
            places.create_state()?;
            standing::write(&file, &kept).map_err(|error| unkept(&file, error))?;
        }
        Ok(())
    }

    /// Reads what is new: of each role the newest rows, and the others for no longer than [`READING`].
    async fn read(&mut self, engine: &Engine, now: i64) -> Result<(), EngineError> {
        let end = Instant::now() + READING;
        self.stops.begin(engine).await?;
        let mut turns = self.stops.turns();
        while (turns > 0 || Instant::now() < end)
            && let Some(page) = self.stops.page(engine).await?
        {
            turns = turns.saturating_sub(1);
            for evidence in page {
                match self.known.take_stop(evidence.clone(), &self.lists, now) {
                    Ok(()) | Err(Ignored::Older | Ignored::FromTheFuture | Ignored::StopMissing) => continue,
                    Err(Ignored::Refused(Refused::Signer(_))) if self.doubtful.len() < MOST_ENDED => {
                        self.doubtful.push(evidence);
                    }
                    Err(Ignored::Refused(_)) => {}
                }
                self.refused += 1;
            }
        }
        Ok(())
    }

    /// What to say of rows that were not read.
    fn unread(&self) -> Option<&'static str> {
        (self.stops.turns() > 0).then_some(
            "Not all rows of stops on the desk were read, for there are very many: one role fills the table.",
        )
    }

    /// The stops for these machines: who made each, and the digest by which a lift names it.
    fn of_scope(&self, machine: &str) -> Vec<(String, Digest)> {
        let verified = self.known.in_force().map(|signed| (signed.statement().clone(), signed.digest(), String::new()));
        let unchecked = |evidence: &Evidence, why: String| {
            let stop = Stop::unchecked(evidence).ok().filter(|stop| stop.stop == StopWord::Freeze)?;
            Some((stop, Digest::of(evidence.statement.as_bytes()), why))
        };
        let kept = self.known.doubtful();
        let kept = kept.filter_map(|(one, why)| unchecked(one, format!(", which cannot be verified now ({why})")));
        let there = self.doubtful.iter();
        let there = there.filter_map(|one| unchecked(one, ", by a key that may not sign stops here".to_owned()));
        let mut seen = BTreeSet::new();
        let all = verified.chain(kept).chain(there).filter(|(stop, digest, _)| {
            stop.machine.to_lowercase() == machine.to_lowercase()
                && !self.known.is_ended(digest, stop.time, Some(&self.lists))
                && seen.insert(*digest)
        });
        all.map(|(stop, digest, why)| (format!("{}{why}", stop.who()), digest)).take(MOST_ENDED).collect()
    }
}

fn unkept(file: &Path, why: impl Display) -> Error {
    Error::failed("what was seen of stops cannot be kept", format!("{}: {why}", file.display()), "correct that first")
}

/// The machine that a stop is for, as it knows itself, if this is its name or its role on the desk; and what to say of that.
fn resolved(machine: &str, unseen: bool, there: &[(String, Me)]) -> Result<(String, Option<String>), Error> {
    if unseen || machine == ALL {
        return Ok((machine.to_owned(), None));
    }
    let is_named = there.iter().any(|(_, me)| me.is_in(machine));
    let of_role = there.iter().filter(|(role, me)| role.to_lowercase() == machine.to_lowercase() && !me.is_in(machine));
    // A stop names nothing with a space in it.
    let of_role = of_role.map(|(_, me)| me.to_string()).filter(|name| !name.contains(char::is_whitespace));
    let of_role: BTreeSet<String> = of_role.collect();
    let wrong = |what: &str, names: Vec<String>| {
        let more = names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = names[..names.len().min(NAMED)].join(", ");
        let names = if names.is_empty() { "none has been there so far".to_owned() } else { names };
        let hint = "give one of these, USER@MACHINE or MACHINE; with --unseen it is taken as the name of a machine that is not there yet";
        Error::wrong(visible(&format!("{machine} {what}: {names}{more}")), hint)
    };
    match (is_named, of_role.first()) {
        (true, None) => Ok((machine.to_owned(), None)),
        (false, Some(name)) if of_role.len() == 1 => {
            Ok((name.clone(), Some(format!("{machine} is the role of {name}, as that machine says of itself."))))
        }
        (_, Some(_)) => Err(wrong("can be more than one machine of the desk", of_role.into_iter().collect())),
        (false, None) => {
            let names = there.iter().map(|(role, me)| format!("{me} (role {role})")).collect();
            Err(wrong("names none of the desk's machines", names))
        }
    }
}

/// Signs a stop or its end at the terminal, and writes it to the desk.
pub(super) async fn freeze(
    target: &Target,
    (word, machine, unseen): (StopWord, &str, bool),
    reason: &str,
    Here { places, now }: Here<'_>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    // Before anybody touches a key: the desk may not be there.
    let engine = target.connect(Program::Command).await?;
    let mut there = names(&engine).await?;
    // Of a role that is named, all names: whoever has it can put others on top.
    if let Some((role, _)) = there.iter().find(|(role, _)| role.to_lowercase() == machine.to_lowercase()) {
        let role = role.clone();
        let all = names_of(&engine, &role).await?.ok_or_else(|| {
            let hint = "give the name that the machine has for itself: USER@MACHINE, where MACHINE is what `uname -n` says there";
            Error::wrong(visible(&format!("the role {role} has said more of itself than is read")), hint)
        })?;
        there.extend(all.into_iter().map(|me| (role.clone(), me)));
    }
    let found = resolved(machine, unseen, &there);
    let mut ends = Vec::new();
    if word == StopWord::Lift {
        let mut seen = Seen::new(places, now)?;
        seen.read(&engine, now).await?;
        ends = seen.of_scope(machine);
        if let Ok((name, Some(_))) = &found {
            ends.extend(seen.of_scope(name));
        }
        match seen.unread() {
            Some(unread) if ends.is_empty() => {
                return Err(Error::wrong(
                    unread,
                    "have the owner of the database take that role's login and its rows of stops away, and try again",
                ));
            }
            Some(unread) => writeln!(out, "{unread}")?,
            None => {}
        }
    }
    // What was frozen by a name can be freed by it, whether a machine has it or not.
    let (name, said) =
        found.or_else(|error| if ends.is_empty() { Err(error) } else { Ok((machine.to_owned(), None)) })?;
    if let Some(said) = said {
        writeln!(out, "{}", visible(&said))?;
    }
    let mut stop = Stop::new(word, name, reason.to_owned(), (String::new(), now));
    let scope = stop.scope();
    let scope = visible(&scope);
    if word == StopWord::Lift {
        if ends.is_empty() {
            writeln!(out, "There is nothing to lift: no stop for {scope} is in force.")?;
            return Ok(());
        }
        for (who, _) in &ends {
            writeln!(out, "This ends the stop: {}.", visible(who))?;
        }
        stop = stop.ending(ends.into_iter().map(|(_, digest)| digest).collect());
    }
    let key = sign::keys(places, FREEZE, now).map_err(no_signature)?.remove(0);
    stop.signer.clone_from(&key.signer);
    writeln!(out, "Signing for {scope} as {key}. Touch the key when it blinks; Ctrl-C ends this.")?;
    out.flush()?;
    places.create_state()?;
    let evidence = sign::standing(text(&stop), FREEZE, key).sign(places).map_err(no_signature)?;
    let there = write(&engine, StandingKind::Stop, &evidence, "").await?;
    match word {
        StopWord::Freeze => {
            writeln!(out, "The stop is on the desk: {scope}. Where it arrives each call is asked, until you lift it.")?;
        }
        StopWord::Lift => writeln!(out, "Lifted: {scope}.")?,
    }
    if word == StopWord::Lift && there.abs_diff(now) > CLOCK_SKEW.unsigned_abs() {
        writeln!(
            out,
            "The clocks of this machine and of the desk differ by {}: a machine takes no lift that its own clock finds more than two \
             minutes ahead. Compare them, and run this again.",
            span(there.saturating_sub(now).saturating_abs())
        )?;
    }
    Ok(())
}

/// Signs a file of agreements, rules and roles for a team, or that there is nothing any more, and writes it to the desk.
pub(super) async fn share(
    target: &Target,
    file: Option<&Path>,
    Here { places, now }: Here<'_>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let said = file.map_or_else(|| Ok(set::NOTHING.to_owned()), manifest::text)?;
    let hint = "`mcp-approve tools review --export FILE` writes such a file";
    let name = file.map(shown).unwrap_or_default();
    let wrong = |why: String| Error::wrong(format!("{name} is not shared: {}", visible(&why)), hint);
    let offered = set::of_file(&said).map_err(|error| wrong(error.to_string()))?;
    if said.len() > LONGEST_SET {
        return Err(wrong("it is longer than 1 MiB".to_owned()));
    }
    let engine = target.connect(Program::Command).await?;
    let key = sign::keys(places, TEAM, now).map_err(no_signature)?.remove(0);
    let set = TeamSet::new(Digest::of(said.as_bytes()), (key.signer.clone(), now));
    writeln!(out, "Signing as {key}. Touch the key when it blinks; Ctrl-C ends this.")?;
    out.flush()?;
    places.create_state()?;
    let evidence = sign::standing(text(&set), TEAM, key).sign(places).map_err(no_signature)?;
    write(&engine, StandingKind::Team, &evidence, &said).await?;
    let (what, author) = (offered.says(), visible(&set.signer));
    writeln!(
        out,
        "Shared: {what}. Machines whose config.toml has {author} in `team` under [desk] offer them as a review."
    )?;
    Ok(())
}

/// The stops in force and the latest sign of life, as the lists of signers of this machine find them.
pub(super) struct Standings {
    stops: Vec<String>,
    refused: usize,
    unread: Option<&'static str>,
    alive: Option<SignedAlive>,
}

impl Standings {
    pub(super) fn in_force(&self) -> &[String] {
        &self.stops
    }

    /// A sentence for each thing to say.
    pub(super) fn says(&self, now: i64) -> Vec<String> {
        let mut said = self.stops.clone();
        if said.is_empty() {
            said.push("No stop is in force.".to_owned());
        }
        if self.refused > 0 {
            said.push(format!(
                "Statements on the desk that do not count, since no one who may sign a stop signed them: {}",
                self.refused
            ));
        }
        said.extend(self.unread.map(str::to_owned));
        said.push(match &self.alive {
            None => "There is no sign of life.".to_owned(),
            Some(signed) => {
                let Alive { alive, signer, time, .. } = signed.statement();
                let ago = span(now.saturating_sub(*time));
                format!("The last sign of life is {alive} of {signer}, {ago} ago ({}).", moment(*time))
            }
        });
        said
    }
}

/// Reads them.
pub(super) async fn standings(engine: &Engine, Here { places, now }: Here<'_>) -> Result<Standings, Error> {
    let mut seen = Seen::new(places, now)?;
    seen.read(engine, now).await?;
    let stops = seen.known.in_force().map(|signed| under(places.root(), &signed.says())).collect();
    let alive = latest_sign(engine, &seen.lists).await?;
    Ok(Standings { stops, refused: seen.refused, unread: seen.unread(), alive })
}

/// Lists them.
pub(super) async fn status(target: &Target, here: Here<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let engine = target.connect(Program::Command).await?;
    for said in standings(&engine, here).await?.says(here.now) {
        writeln!(out, "{}", visible(&said))?;
    }
    Ok(())
}

async fn latest_sign(engine: &Engine, lists: &InForce) -> Result<Option<SignedAlive>, EngineError> {
    let rows = newest(engine, StandingKind::Alive, SIGNS).await?;
    let good = rows.into_iter().filter_map(|one| SignedAlive::check(one, &lists.signers).ok());
    Ok(good.max_by_key(|signed| signed.statement().alive))
}

/// Signs a sign of life each minute until it is stopped; says each failure once.
pub(super) async fn alive(
    target: &Target,
    file: Option<&Path>,
    (places, now): (&Places, fn() -> i64),
    out: &mut dyn Write,
) -> Result<Infallible, Error> {
    let (mut engine, mut seen, mut last) = (None, None, String::new());
    loop {
        let signed = sign_next(target, (&mut engine, &mut seen), file, (places, now())).await;
        let (said, pause) = match signed {
            Ok(()) => {
                let unread = seen.as_ref().and_then(Seen::unread).map(|unread| format!(". {unread}"));
                (format!("a sign of life is signed each minute{}", unread.unwrap_or_default()), EACH)
            }
            Err(error) => {
                engine = None;
                let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                (visible(&format!("{error}{hint}")), AGAIN)
            }
        };
        if said != last {
            writeln!(out, "{said}")?;
            out.flush()?;
            last = said;
        }
        tokio::time::sleep(pause).await;
    }
}

/// Signs the next sign of life. Its counter is above the highest on the desk, and never below the time in seconds: rows that were
/// taken away there make it no lower than one that machines have seen.
async fn sign_next(
    target: &Target,
    (engine, seen): (&mut Option<Engine>, &mut Option<Seen>),
    file: Option<&Path>,
    (places, now): (&Places, i64),
) -> Result<(), Error> {
    let engine = match engine {
        Some(engine) => engine,
        None => engine.insert(target.connect(Program::Command).await?),
    };
    // A stop that was seen counts from then on, also when its row is gone, its key may sign no more, or this starts again.
    let lists = lists(places)?;
    let begun = match seen.take() {
        None => Seen::new(places, now)?,
        Some(seen) if seen.lists == lists => seen,
        Some(seen) => seen.by(lists.clone()),
    };
    let seen = seen.insert(begun);
    seen.read(engine, now).await?;
    seen.keep(places, now)?;
    let stops = seen.known.named();
    let key = own_key(file, places, now)?;
    let highest = latest_sign(engine, &lists).await?.map_or(0, |signed| signed.statement().alive);
    let counter = highest.saturating_add(1).max(now.unsigned_abs() / 1000);
    let statement = text(&Alive::new(counter, stops, (key.signer.clone(), now)));
    places.create_state()?;
    let to_sign = sign::standing(statement, ALIVE, key);
    // Nobody is at a terminal: what ssh-keygen says is part of the failure.
    let signing = to_sign.start(places, Prompts::Window).map_err(no_signature)?;
    let evidence = to_sign.with(signing.wait().map_err(no_signature)?);
    SignedAlive::check(evidence.clone(), &lists.signers)
        .map_err(|why| Error::wrong(format!("machines would not take it: {why}"), "`mcp-approve help signing`"))?;
    write(engine, StandingKind::Alive, &evidence, "").await?;
    Ok(())
}

fn lists(places: &Places) -> Result<InForce, Error> {
    let lists = signers::load(places).map_err(|error| Error::wrong(error.to_string(), error.hint()))?;
    lists.ok_or_else(|| Error::wrong("there is no list of signers", "`mcp-approve help signing`"))
}

/// The key of this file, or the first that may sign signs of life.
fn own_key(file: Option<&Path>, places: &Places, now: i64) -> Result<OwnKey, Error> {
    let mut keys = sign::keys(places, ALIVE, now).map_err(no_signature)?;
    let Some(file) = file else { return Ok(keys.remove(0)) };
    let named = sign::public_key(file)
        .map_err(|why| Error::wrong(format!("{}: {why}", file.display()), "name the public file, as id_ed25519.pub"))?;
    let found = keys.into_iter().find(|own| own.key == named);
    let mut own =
        found.ok_or_else(|| no_signature(format!("the key in {} may not sign signs of life", file.display())))?;
    own.file = Some(file.to_owned());
    Ok(own)
}
