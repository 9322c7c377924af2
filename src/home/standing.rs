//! What operators have signed for many machines, as `desk run` keeps it beside this user's state. Whoever reads it checks it: by the
//! lists of signers in force, for this user of this machine. What is missing is no end of a stop that was seen.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::places::Places;
use super::{config, replace, signers, user};
use crate::pins::launch::stamp;
use crate::signing::InForce;
use crate::signing::grade::{ConsoleUser, Grade};
use crate::signing::standing::{LIFE, Me, SignedTeam, Standing, TeamSet};
use crate::signing::statement::Evidence;
use crate::signing::verdict::CLOCK_SKEW;

/// The longest file that is read, in bytes.
const LONGEST: u64 = 4 << 20;

/// The files of stops and of signs of life.
pub fn files(places: &Places) -> [PathBuf; 2] {
    let folder = places.desk_dir();
    [folder.join("stop.json"), folder.join("alive.json")]
}

/// The file of the stops that `desk alive` has seen. It is its own: two that write one file lose what the other wrote.
pub fn seen_file(places: &Places) -> PathBuf {
    places.desk_dir().join("seen.json")
}

/// This user of this machine, as stops name them.
pub fn me() -> Me {
    Me { machine: user::machine(), user: user::name() }
}

/// When this machine took a sign of life: milliseconds since it was started, and which start that was. The time of day may be set back.
#[derive(Serialize, Deserialize)]
struct Taken {
    counter: u64,
    start: String,
    millis: i64,
}

impl Taken {
    /// Now; `None` where a start has no name.
    fn now(counter: u64) -> Option<Self> {
        #[cfg(target_os = "linux")]
        {
            use rustix::time::{ClockId, clock_gettime};
            let start = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
            let since = clock_gettime(ClockId::Boottime);
            Some(Self { counter, start, millis: since.tv_sec * 1000 + since.tv_nsec / 1_000_000 })
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    fn read(places: &Places) -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(taken_file(places)).ok()?).ok()
    }
}

fn taken_file(places: &Places) -> PathBuf {
    places.desk_dir().join("taken.json")
}

/// How long the sign of life with this counter counts at most, by when it was first read since the machine was started: that is noted. `None` where
/// a start has no name.
fn left(places: &Places, counter: u64) -> Option<i64> {
    let now = Taken::now(counter)?;
    let noted = Taken::read(places).filter(|noted| noted.counter == counter && noted.start == now.start);
    let Some(noted) = noted else {
        let text = serde_json::to_string(&now).ok()?;
        // What cannot be noted would begin again with each reader.
        return Some(replace::replace(&taken_file(places), &text).map_or(0, |()| LIFE));
    };
    Some(LIFE.saturating_sub(now.millis.saturating_sub(noted.millis)))
}

/// What is in a file; nothing where there is none.
pub fn read(path: &Path) -> Result<Vec<Evidence>, String> {
    let unreadable = |cause: io::Error| format!("{} cannot be read: {cause}", path.display());
    let file = match File::open(path) {
        Ok(file) => file,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(unreadable(cause)),
    };
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).map_err(unreadable)?;
    serde_json::from_str(&text).map_err(|error| unreadable(error.into()))
}

/// Writes a file whole.
pub fn write(path: &Path, statements: &[Evidence]) -> io::Result<()> {
    replace::replace(path, &serde_json::to_string(statements)?)
}

/// The file of what teams have agreed to.
pub fn team_file(places: &Places) -> PathBuf {
    places.desk_dir().join("team.json")
}

/// A team's set: its text, as `tools review --export` writes it, and who signed it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TeamText {
    pub signed: Evidence,
    pub text: String,
}

/// A set that may be taken over here.
#[derive(Clone, Debug)]
pub struct TeamOffer {
    pub signed: SignedTeam,
    pub worth: Grade,
    pub set: TeamText,
}

/// The sets that may be taken over here: each the latest of an author whom `[desk] team` names, checked by the lists in force.
pub fn teams(places: &Places, sets: Vec<TeamText>, now: i64) -> Result<Vec<TeamOffer>, String> {
    let named = config::team(places).map_err(|error| error.to_string())?;
    if named.is_empty() || sets.is_empty() {
        return Ok(Vec::new());
    }
    let lists = lists(places)?;
    let mut latest: BTreeMap<String, TeamOffer> = BTreeMap::new();
    for set in sets {
        // One without a signature that counts is none.
        let Ok(signed) = SignedTeam::check(set.signed.clone(), &set.text, &lists.signers, now) else { continue };
        let TeamSet { signer, time, .. } = signed.statement();
        let is_later = latest.get(signer).is_none_or(|known| known.signed.statement().time < *time);
        if named.contains(signer)
            && is_later
            && *time <= now.saturating_add(CLOCK_SKEW)
            && let Some(worth) = signed.grade(lists.owner, ConsoleUser::Same)
        {
            latest.insert(signer.clone(), TeamOffer { signed, worth, set });
        }
    }
    Ok(latest.into_values().collect())
}

/// Who signed a set, by the lists in force; its text is not looked at.
pub fn author(signed: &Evidence, lists: &InForce, now: i64) -> Option<(String, i64)> {
    let signed = SignedTeam::without_text(signed.clone(), &lists.signers, now).ok()?;
    let TeamSet { signer, time, .. } = signed.statement();
    Some((signer.clone(), *time))
}

/// Whose latest set is not among those that are on the desk.
pub fn missing(there: &[TeamOffer], kept: &[TeamOffer]) -> Option<String> {
    let is_there = |one: &&TeamOffer| there.iter().all(|other| other.signed.evidence() != one.signed.evidence());
    let names: Vec<&str> = kept.iter().filter(is_there).map(|one| one.signed.statement().signer.as_str()).collect();
    (!names.is_empty()).then(|| format!("the desk no longer has the latest set of {}", names.join(", ")))
}

/// The latest set of each author, of those that were kept and others that count: one that was kept counted once, and stays the latest
/// whether its signature counts now or not. Else an older one would count again once a key is gone, or comes back.
pub fn latest(kept: Vec<TeamText>, counting: Vec<TeamText>) -> Vec<TeamText> {
    let mut latest: BTreeMap<String, (i64, TeamText)> = BTreeMap::new();
    for set in kept.into_iter().chain(counting) {
        let Some(TeamSet { signer, time, .. }) = TeamSet::unchecked(&set.signed) else { continue };
        if latest.get(&signer).is_none_or(|(known, _)| *known < time) {
            latest.insert(signer, (time, set));
        }
    }
    latest.into_values().map(|(_, set)| set).collect()
}

/// The sets that `desk run` has brought, and that may be taken over here.
pub fn brought(places: &Places, now: i64) -> Result<Vec<TeamOffer>, String> {
    teams(places, team_texts(places)?, now)
}

/// The sets that `desk run` has brought, the latest of each author, not checked.
pub fn team_texts(places: &Places) -> Result<Vec<TeamText>, String> {
    let path = team_file(places);
    let unreadable = |cause: String| {
        format!(
            "{} cannot be read: {cause}; once it is removed, `mcp-approve desk run` brings the sets again",
            path.display()
        )
    };
    match fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| unreadable(error.to_string())),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(cause) => Err(unreadable(cause.to_string())),
    }
}

/// Reads the files whenever they have changed.
#[derive(Debug)]
pub struct Reader {
    places: Places,
    standing: Standing,
    /// What each file looked like when it was read.
    stamps: Option<Vec<Option<String>>>,
}

impl Reader {
    pub fn new(places: &Places) -> Self {
        Self { places: places.clone(), standing: Standing::new(me()), stamps: None }
    }

    /// The files, whether they exist or not.
    pub fn paths(&self) -> [PathBuf; 2] {
        files(&self.places)
    }

    /// What counts now, if a file or a list of signers has changed since it was read.
    pub fn changed(&mut self, now: i64) -> Option<Standing> {
        let paths =
            self.paths().into_iter().chain(signers::files(&self.places)).chain([self.places.system_policy_file()]);
        let stamps: Vec<_> = paths.map(|path| stamp(&path).ok()).collect();
        if self.stamps.as_ref() == Some(&stamps) {
            return None;
        }
        self.stamps = Some(stamps);
        let lists = lists(&self.places);
        let taken = take(&self.places, &mut self.standing, lists.as_ref().map_err(String::as_str), now);
        self.standing.trouble = taken.err().or_else(|| self.standing.doubt());
        Some(self.standing.clone())
    }
}

/// The lists in force, or why there are none to verify by.
pub fn lists(places: &Places) -> Result<InForce, String> {
    signers::load(places).map_err(|error| error.to_string())?.ok_or_else(|| "there is no list of signers".to_owned())
}

/// Takes what the files have, by these lists, or why there are none: stops that cannot be verified now are kept on.
///
/// # Errors
/// The file of stops cannot be read.
pub fn take(places: &Places, standing: &mut Standing, lists: Result<&InForce, &str>, now: i64) -> Result<(), String> {
    let [stops, alive] = files(places);
    take_stops(&stops, standing, lists, now)?;
    // A sign of life that cannot be read is none; what it counts for is all there is to know of it.
    for one in read(&alive).unwrap_or_default() {
        let Ok(lists) = lists else { break };
        standing.take_kept_alive(one, lists, now);
    }
    standing.left = standing.alive().and_then(|signed| left(places, signed.statement().alive));
    Ok(())
}

/// Takes the stops and lifts that a file has.
///
/// # Errors
/// It cannot be read.
pub fn take_stops(path: &Path, standing: &mut Standing, lists: Result<&InForce, &str>, now: i64) -> Result<(), String> {
    read(path)?.into_iter().for_each(|one| standing.take_kept(one, lists, now));
    Ok(())
}
