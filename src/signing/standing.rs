//! What operators sign for many machines at once: a stop and its end, a sign of life, what a team has agreed to. And which of it counts
//! for one user of one machine: whoever carries it can only leave it out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::signing::grade::{ConsoleUser, Grade};
use crate::signing::signers::{InForce, MayNotSign, Signers};
use crate::signing::statement::{Evidence, NoStatement, Refused, Signed, attest, canonical};
use crate::signing::verdict::CLOCK_SKEW;
use crate::wire::{Digest, words::words};

/// The namespace of signatures over stops and their ends.
pub const FREEZE: &str = "freeze@mcp-approve";

/// The namespace of signatures over signs of life: a key for it is for nothing else.
pub const ALIVE: &str = "alive@mcp-approve";

/// The namespace of signatures over what a team has agreed to.
pub const TEAM: &str = "team@mcp-approve";

/// What the record of a stop is about.
pub const FROZEN: &str = "calls are frozen";

/// The version of the fields of all three.
const VERSION: u32 = 1;

/// For how long a sign of life counts, in milliseconds.
pub const LIFE: i64 = 5 * 60_000;

/// How many characters of a stop's reason are shown.
pub const REASON: usize = 200;

/// Every machine, in a stop.
pub const ALL: &str = "*";

words! {
    /// What an operator says of all calls.
    StopWord {
        Freeze = "freeze",
        Lift = "lift",
    }
}

words! {
    /// Whether calls pass unasked where no sign of life is known: `[desk] required` in a policy. Ordered by strictness.
    #[derive(Default)]
    LifeSign {
        #[default]
        Optional = "optional",
        Required = "required",
    }
}

/// A stop, or its end: for every machine, for one of this name, or for `USER@MACHINE`, as a wrapper knows itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// The stops that a lift ends, by the digests of their statements: it ends no other, whatever the times say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<Digest>,
    pub machine: String,
    pub reason: String,
    pub signer: String,
    pub stop: StopWord,
    /// Milliseconds since 1970, UTC.
    pub time: i64,
    version: u32,
}

/// That whoever stops machines could reach this one: the highest counter so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alive {
    pub alive: u64,
    pub signer: String,
    /// The stops in force that its signer knows, for any machine, by the digests of their statements, in order.
    pub stops: Vec<Digest>,
    pub time: i64,
    version: u32,
}

/// What a team has agreed to, by the digest of its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeamSet {
    pub signer: String,
    pub team: Digest,
    pub time: i64,
    version: u32,
}

impl Stop {
    pub fn new(stop: StopWord, machine: String, reason: String, (signer, time): (String, i64)) -> Self {
        Self { ends: Vec::new(), machine, reason, signer, stop, time, version: VERSION }
    }

    /// It as the end of these stops.
    #[must_use]
    pub fn ending(self, ends: Vec<Digest>) -> Self {
        Self { ends, ..self }
    }

    /// What a statement says, whether its signature counts or not.
    ///
    /// # Errors
    /// It is no statement of a stop or a lift.
    pub fn unchecked(evidence: &Evidence) -> Result<Self, NoStatement> {
        canonical(&evidence.statement, VERSION)
    }

    /// Who froze which machines, and when.
    pub fn who(&self) -> String {
        format!("{} froze {} at {}", self.signer, self.scope(), moment(self.time))
    }

    /// For which machines it is, in words.
    pub fn scope(&self) -> String {
        if self.machine == ALL { "all machines".to_owned() } else { self.machine.clone() }
    }
}

impl Alive {
    pub fn new(alive: u64, stops: Vec<Digest>, (signer, time): (String, i64)) -> Self {
        Self { alive, signer, stops, time, version: VERSION }
    }
}

impl TeamSet {
    pub fn new(team: Digest, (signer, time): (String, i64)) -> Self {
        Self { signer, team, time, version: VERSION }
    }

    /// What a statement says, whether its signature counts or not; `None` where it is no set's.
    pub fn unchecked(evidence: &Evidence) -> Option<Self> {
        canonical(&evidence.statement, VERSION).ok()
    }
}

/// What is signed of one of these.
pub fn text(statement: &impl Serialize) -> String {
    // A struct of strings and integers is always JSON.
    serde_json::to_string(statement).unwrap_or_default()
}

pub type SignedStop = Signed<Stop>;
pub type SignedAlive = Signed<Alive>;
pub type SignedTeam = Signed<TeamSet>;

impl SignedStop {
    /// What a later lift names it by.
    pub fn digest(&self) -> Digest {
        digest(self.evidence())
    }

    /// Checks statement, signature and signer.
    pub fn check(evidence: Evidence, signers: &Signers) -> Result<Self, Refused> {
        attest(evidence, FREEZE, signers, |text| {
            let read: Stop = canonical(text, VERSION)?;
            Ok((read.signer.clone(), read.time, read))
        })
    }

    /// Who froze which machines, and when.
    pub fn who(&self) -> String {
        self.statement().who()
    }

    /// The same, and why, and what ends it.
    pub fn says(&self) -> String {
        let Stop { machine, reason, .. } = self.statement();
        let only = if machine == ALL { String::new() } else { format!(" --machine {machine}") };
        let reason: String = reason.chars().take(REASON).collect();
        let why = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        format!("{}{why}: each call is asked until `mcp-approve desk freeze --lift{only}`", self.who())
    }
}

impl SignedAlive {
    /// Checks statement, signature and signer; its key may sign nothing else, since an unattended process has it.
    pub fn check(evidence: Evidence, signers: &Signers) -> Result<Self, Refused> {
        let signed = attest(evidence, ALIVE, signers, |text| {
            let read: Alive = canonical(text, VERSION)?;
            Ok((read.signer.clone(), read.time, read))
        })?;
        let more = signers
            .of_key(&signed.signer().key)
            .find(|entry| entry.namespaces.as_ref().is_none_or(|namespaces| namespaces.text() != ALIVE));
        match more {
            Some(entry) => Err(MayNotSign::MoreThanLife { line: entry.line }.into()),
            None => Ok(signed),
        }
    }
}

impl SignedTeam {
    /// Checks statement, signature and signer. Its time is whatever its signer wrote, so the key must be good now, too; and it must be one
    /// person's, since the name is what a machine goes by.
    pub fn without_text(evidence: Evidence, signers: &Signers, now: i64) -> Result<Self, Refused> {
        let signed = attest(evidence, TEAM, signers, |text| {
            let read: TeamSet = canonical(text, VERSION)?;
            Ok((read.signer.clone(), read.time, read))
        })?;
        let key = &signed.signer().key;
        signers.may_sign(&signed.statement().signer, key, TEAM, now)?;
        signers.is_of_one_person(key, TEAM)?;
        Ok(signed)
    }

    /// The same, and that it is of this text.
    pub fn check(evidence: Evidence, text: &str, signers: &Signers, now: i64) -> Result<Self, Refused> {
        let signed = Self::without_text(evidence, signers, now)?;
        match signed.statement().team == Digest::of(text.as_bytes()) {
            true => Ok(signed),
            false => Err(Refused::OtherChange("the text")),
        }
    }
}

/// `2026-11-27 10:00:00 UTC`.
pub fn moment(time: i64) -> String {
    let time = Timestamp::from_millisecond(time).unwrap_or(Timestamp::UNIX_EPOCH);
    time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Who a wrapper is, in stops.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Me {
    pub machine: String,
    pub user: String,
}

/// `USER@MACHINE`.
impl fmt::Display for Me {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.user, self.machine)
    }
}

impl Me {
    /// Whether a stop for this is for it.
    pub fn is_in(&self, scope: &str) -> bool {
        let scope = scope.to_lowercase();
        scope == ALL || scope == self.machine.to_lowercase() || scope == self.to_string().to_lowercase()
    }
}

/// Why a statement changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// It is known, or over: one that was signed later counts, or the stop was ended.
    Older,
    FromTheFuture,
    /// A sign of life of somebody who knows of a stop that has not come here.
    StopMissing,
    Refused(Refused),
}

/// What was seen of stops and signs of life, by one user of one machine. A stop holds until a lift that verifies names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    me: Me,
    /// Stops in force and all lifts, those for other machines too, by the digests of their statements. A lift stays for good: its stop has no
    /// end of its own, so whoever kept a copy can write it to the desk once more, and it holds wherever the lift is not known. No list of
    /// signers proves that it cannot: a key that does not count today may count tomorrow.
    stops: BTreeMap<Digest, (SignedStop, Grade)>,
    /// What this machine kept of earlier and cannot verify now, and why: it may be a stop.
    doubtful: BTreeMap<Digest, (Evidence, String)>,
    alive: Option<SignedAlive>,
    /// The highest counter of signs of life that this machine took or kept, whatever the time of its sign says now.
    counter: u64,
    /// How long the sign of life counts at most, by a clock that is not set, in milliseconds; `None` where this machine has none.
    pub left: Option<i64>,
    /// Why what was signed cannot be read now: there may be a stop in it.
    pub trouble: Option<String>,
}

impl Standing {
    pub const fn new(me: Me) -> Self {
        Self {
            me,
            stops: BTreeMap::new(),
            doubtful: BTreeMap::new(),
            alive: None,
            counter: 0,
            left: None,
            trouble: None,
        }
    }

    /// Takes a stop or a lift, in any order.
    pub fn take_stop(&mut self, evidence: Evidence, lists: &InForce, now: i64) -> Result<(), Ignored> {
        let digest = digest(&evidence);
        if self.stops.contains_key(&digest) {
            return Err(Ignored::Older);
        }
        let signed = SignedStop::check(evidence, &lists.signers).map_err(Ignored::Refused)?;
        let worth = signed.grade(lists.owner, ConsoleUser::Same).ok_or(Ignored::Refused(Refused::NotTouched))?;
        let Stop { stop, time, .. } = signed.statement();
        match stop {
            StopWord::Freeze if self.is_ended(&digest, *time, Some(lists)) => return Err(Ignored::Older),
            StopWord::Lift if *time > now.saturating_add(CLOCK_SKEW) => return Err(Ignored::FromTheFuture),
            StopWord::Freeze | StopWord::Lift => {}
        }
        self.stops.insert(digest, (signed, worth));
        self.doubtful.remove(&digest);
        let times = self.in_force().map(|stop| (stop.digest(), stop.statement().time));
        let times = times.chain(self.doubtful.iter().map(|(digest, (evidence, _))| (*digest, signed_at(evidence))));
        let ended: Vec<Digest> =
            times.filter(|(stop, time)| self.is_ended(stop, *time, Some(lists))).map(|(stop, _)| stop).collect();
        for stop in ended {
            self.stops.remove(&stop);
            self.doubtful.remove(&stop);
        }
        Ok(())
    }

    /// Takes a statement that this machine kept: one that cannot be verified now, by these lists or for want of them, is kept on.
    pub fn take_kept(&mut self, evidence: Evidence, lists: Result<&InForce, &str>, now: i64) {
        let digest = digest(&evidence);
        let is_ended = self.is_ended(&digest, signed_at(&evidence), lists.ok());
        let why = match lists.map(|lists| self.take_stop(evidence.clone(), lists, now)) {
            Ok(Ok(()) | Err(Ignored::Older | Ignored::StopMissing)) => return,
            Ok(Err(Ignored::FromTheFuture)) => "it is dated in the future".to_owned(),
            Ok(Err(Ignored::Refused(refused))) => refused.to_string(),
            Err(why) => why.to_owned(),
        };
        if !self.stops.contains_key(&digest) && !is_ended {
            self.doubtful.insert(digest, (evidence, why));
        }
    }

    /// Takes a sign of life, if its counter is higher than any before, and each stop that it names is known.
    pub fn take_alive(&mut self, evidence: Evidence, lists: &InForce, now: i64) -> Result<(), Ignored> {
        let signed = SignedAlive::check(evidence, &lists.signers).map_err(Ignored::Refused)?;
        let Alive { alive, stops, time, .. } = signed.statement();
        let is_known = self.alive.as_ref().is_some_and(|known| known.statement().alive == *alive);
        if is_known || *alive < self.counter {
            return Err(Ignored::Older);
        }
        if *time > now.saturating_add(CLOCK_SKEW) {
            return Err(Ignored::FromTheFuture);
        }
        let has = |one| self.stops.contains_key(one) || self.doubtful.contains_key(one);
        // Of a stop that never came here its own time is not known: it was in force at that of the sign.
        if !stops.iter().all(|one| has(one) || self.is_ended(one, *time, Some(lists))) {
            return Err(Ignored::StopMissing);
        }
        self.counter = *alive;
        self.alive = Some(signed);
        Ok(())
    }

    /// Takes a sign of life that this machine kept: nothing with a lower counter is one from then on, whether this is one now or not. A
    /// clock that was set back brings none back.
    pub fn take_kept_alive(&mut self, evidence: Evidence, lists: &InForce, now: i64) {
        let Ok(signed) = SignedAlive::check(evidence.clone(), &lists.signers) else { return };
        self.counter = self.counter.max(signed.statement().alive);
        self.alive = self.alive.take().filter(|known| known.statement().alive >= self.counter);
        // Whether it is one now, its time and the stops here decide.
        let _ = self.take_alive(evidence, lists, now);
    }

    /// The stop in force here that was signed first, and what it is worth.
    pub fn stop(&self) -> Option<(&SignedStop, Grade)> {
        let here = self.stops.values().filter(|(signed, _)| is_freeze_for(&self.me, signed.statement()));
        here.min_by_key(|(signed, _)| signed.statement().time).map(|(signed, worth)| (signed, *worth))
    }

    /// The stops in force, those for other machines too.
    pub fn in_force(&self) -> impl Iterator<Item = &SignedStop> {
        self.stops.values().map(|(signed, _)| signed).filter(|signed| signed.statement().stop == StopWord::Freeze)
    }

    /// The stops that a sign of life names, in order: those in force, and what was kept, cannot be verified now and may be one.
    pub fn named(&self) -> Vec<Digest> {
        let doubtful = self.doubtful().map(|(evidence, _)| digest(evidence));
        self.in_force().map(SignedStop::digest).chain(doubtful).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// What was kept, cannot be verified now and may be a stop; and why it cannot.
    pub fn doubtful(&self) -> impl Iterator<Item = (&Evidence, &str)> {
        let is_lift = |evidence: &Evidence| Stop::unchecked(evidence).is_ok_and(|stop| stop.stop == StopWord::Lift);
        self.doubtful.values().filter(move |(evidence, _)| !is_lift(evidence)).map(|(evidence, why)| (evidence, &**why))
    }

    /// Why calls may be frozen here by what cannot be verified.
    pub fn doubt(&self) -> Option<String> {
        self.doubtful().find_map(|(evidence, why)| {
            let what = match Stop::unchecked(evidence) {
                Ok(stop) if is_freeze_for(&self.me, &stop) => format!("that {}", stop.who()),
                Ok(_) => return None,
                Err(error) => format!("a statement that was kept ({error})"),
            };
            Some(format!(
                "{what} cannot be verified now ({why}): correct the lists of signers here, or have a person who may sign lift it with \
                 `mcp-approve desk freeze --lift`"
            ))
        })
    }

    /// Whether a lift ended a stop that was signed at this time: it was signed later, or its key might sign then, too. The time of a lift is
    /// whatever its signer wrote; whoever may sign no more can write an earlier one. A key's end after the stop takes nothing from its lifts.
    pub fn is_ended(&self, stop: &Digest, time: i64, lists: Option<&InForce>) -> bool {
        self.stops.values().map(|(signed, _)| signed).any(|lift| {
            let Stop { stop: word, ends, signer, time: lifted, .. } = lift.statement();
            let might_sign = |lists: &InForce| lists.signers.may_sign(signer, &lift.signer().key, FREEZE, time).is_ok();
            *word == StopWord::Lift && ends.contains(stop) && (*lifted >= time || lists.is_some_and(might_sign))
        })
    }

    /// What is to be kept: stops in force, lifts, and what cannot be verified now.
    pub fn kept(&self) -> impl Iterator<Item = &Evidence> {
        let stops = self.stops.values().map(|(signed, _)| signed.evidence());
        stops.chain(self.doubtful.values().map(|(evidence, _)| evidence))
    }

    /// The sign of life with the highest counter.
    pub const fn alive(&self) -> Option<&SignedAlive> {
        self.alive.as_ref()
    }
}

/// When a statement says that it was signed; one that cannot be read, at no time.
fn signed_at(evidence: &Evidence) -> i64 {
    Stop::unchecked(evidence).map_or(i64::MIN, |stop| stop.time)
}

fn digest(evidence: &Evidence) -> Digest {
    Digest::of(evidence.statement.as_bytes())
}

fn is_freeze_for(me: &Me, stop: &Stop) -> bool {
    stop.stop == StopWord::Freeze && me.is_in(&stop.machine)
}
