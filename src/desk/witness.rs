//! The ends of all machines' logs, signed by an operator and kept on the desk: what they name was there, and its loss shows. Nothing is
//! signed that does not follow from what was signed before. Whoever signs keeps the text as well: its loss on the desk shows, too.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::by_role::{fitting, roles};
use super::engine::Target;
use super::log::Central;
use super::verify::{self, Expected, Fault, Witnessed};
use crate::audit::StoreError;
use crate::audit::chain::Head;
use crate::home::places::Places;
use crate::home::witnessed;
use crate::operator::sign::{OwnKey, ToSign, standing};
use crate::signing::signers::Signers;
use crate::signing::statement::Evidence;
use crate::signing::verdict::CLOCK_SKEW;
use crate::signing::witness::{MOST, MachineHead, NAMESPACE, Witness};
use crate::wire::Digest;

/// How many of the newest notes of each role are read: the last one that counts is among them.
pub(super) const NOTES: i64 = 16;

/// How many texts are read at once.
const ROWS: i64 = 1000;

/// So many of the newest notes of each role, the newest first.
pub(super) fn newest_notes() -> String {
    format!(
        "SELECT newest.note FROM {} AS wrote CROSS JOIN LATERAL (
            SELECT place, note FROM mcp_approve.witness WHERE operator = wrote.role ORDER BY place DESC LIMIT $1) AS newest
        ORDER BY newest.place DESC",
        roles("witness", "true")
    )
}

/// A desk, as its logs are witnessed.
#[derive(Debug)]
pub struct Witnessing<'d> {
    pub desk: &'d Central,
    pub target: &'d Target,
    pub places: &'d Places,
    pub signers: &'d Signers,
}

/// What was signed, and what is kept without counting here.
#[derive(Debug, Default)]
pub struct Witnesses {
    pub good: u64,
    /// The records that were seen, by machine.
    pub seen: BTreeMap<String, Vec<Expected>>,
    /// Why a text that is kept on this machine does not count there.
    pub bad: Vec<String>,
    /// How many texts each role wrote that no signer signed for this desk, and what the last one lacks. Whoever may write rows may write
    /// these: they say nothing of a log. One that an operator signed and that was changed is missed where its copy is kept.
    pub unsigned: BTreeMap<String, (usize, String)>,
}

/// What became of a witness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// How many logs it has the ends of.
    pub logs: usize,
    /// The machines whose logs are not in it, each with what is wrong.
    pub left_out: Vec<String>,
}

impl Witnessing<'_> {
    /// Reads what was signed; each counts by this list of signers.
    pub fn read(&self) -> Result<Witnesses, StoreError> {
        let (mut found, id) = (Witnesses::default(), id(self.desk)?);
        let mut kept = witnessed::read(self.places, &self.target.place());
        const NEXT: &str =
            "SELECT place, operator, note FROM mcp_approve.witness WHERE place > $1 ORDER BY place LIMIT $2";
        let mut read = HashSet::new();
        let (next, mut place) = (fitting(NEXT, "octet_length(note)", "place", "place, operator, note"), 0_i64);
        loop {
            let rows = self.desk.query(&next, &[&place, &ROWS])?;
            for row in &rows {
                place = row.get(0);
                let note: &str = row.get(2);
                let before = kept.len();
                kept.retain(|one| one != note);
                match check(note, &id, self.signers) {
                    // Whoever reads a text can write it again, and its signature beside another name.
                    Ok(witness) if !read.insert(Digest::of(witness.text().as_bytes())) => {}
                    Ok(witness) => found.take(witness),
                    // One's own text whose key has ended since is on the desk, as it has to be.
                    Err(why @ Untaken::OtherDesk) if kept.len() < before => found.bad.push(why.to_string()),
                    Err(why) => {
                        let (count, last) = found.unsigned.entry(row.get(1)).or_default();
                        (*count, *last) = (*count + 1, why.to_string());
                    }
                }
            }
            if rows.is_empty() {
                break;
            }
        }
        for note in kept {
            let why = check(&note, &id, self.signers).map(|witness| {
                found.take(witness);
                "the desk does not have it any more".to_owned()
            });
            found.bad.push(why.unwrap_or_else(|why| why.to_string()));
        }
        Ok(found)
    }

    /// When the latest text that counts was signed, in milliseconds since 1970, UTC.
    pub fn latest(&self, now: i64) -> Result<Option<i64>, StoreError> {
        let id = id(self.desk)?;
        let rows = self.desk.query(&newest_notes(), &[&NOTES])?;
        let times = rows.iter().filter_map(|row| Some(check(row.get(0), &id, self.signers).ok()?.time));
        Ok(times.filter(|time| *time <= now.saturating_add(CLOCK_SKEW)).max())
    }

    /// Signs the end of each log that follows from what was signed before, and keeps it. `may` is asked at the last moment whether to.
    ///
    /// # Errors
    /// Why nothing was signed, or not kept.
    pub fn sign(
        &self,
        time: i64,
        key: &OwnKey,
        sign: &mut dyn FnMut(&ToSign) -> Result<Evidence, String>,
        may: &dyn Fn() -> Result<bool, StoreError>,
    ) -> Result<Option<Done>, String> {
        let said = |error: StoreError| format!("{error}; {}", error.hint());
        let id = id(self.desk).map_err(said)?;
        let (heads, left_out) = self.heads().map_err(said)??;
        if heads.is_empty() {
            let why = left_out.first().map_or_else(|| "no machine has sent anything yet".to_owned(), Clone::clone);
            return Err(format!("there is nothing to sign: {why}"));
        }
        let mut notes = Vec::new();
        for heads in heads.chunks(MOST) {
            let witness = Witness { desk: id.clone(), signer: key.signer.clone(), time, heads: heads.to_vec() };
            let signed = sign(&standing(witness.text(), NAMESPACE, key.clone()))?;
            notes.push(Witness::note(&signed, &key.signer, &key.key));
        }
        if !may().map_err(said)? {
            return Ok(None);
        }
        for note in &notes {
            self.desk.query("INSERT INTO mcp_approve.witness (note) VALUES ($1)", &[note]).map_err(said)?;
        }
        let place = self.target.place();
        let mut kept = witnessed::read(self.places, &place);
        let (mut named, new): (BTreeSet<_>, BTreeSet<_>) =
            (BTreeSet::new(), heads.iter().map(|one| &one.machine).collect());
        // Of each log the first text, and the last one also where the new ones leave it out.
        kept.retain(|note| match check(note, &id, self.signers) {
            Ok(old) => {
                old.heads
                    .into_iter()
                    .filter(|one| named.insert(one.machine.clone()) || !new.contains(&one.machine))
                    .count()
                    > 0
            }
            Err(_) => true,
        });
        kept.append(&mut notes);
        let kept = witnessed::write(self.places, &place, kept);
        kept.map_err(|error| format!("it is signed and on the desk, and no copy is kept here: {error}"))?;
        Ok(Some(Done { logs: heads.len(), left_out }))
    }

    /// The end of each log that follows from what was signed before; and whose does not, with the reason. Refused, if what was signed here
    /// does not count any more.
    #[expect(clippy::type_complexity, reason = "the ends, and what is left out")]
    fn heads(&self) -> Result<Result<(Vec<MachineHead>, Vec<String>), String>, StoreError> {
        let Witnesses { mut seen, bad, .. } = self.read()?;
        if let Some(why) = bad.first() {
            let file = witnessed::file(self.places);
            return Ok(Err(format!(
                "what was signed here last does not count on this desk: {why}; `mcp-approve log verify --desk` says what is missing. If the \
                 desk was set up from the beginning again, remove {}",
                file.display()
            )));
        }
        let (mut heads, mut left_out) = (Vec::new(), Vec::new());
        let mut machines = self.desk.machines()?;
        machines.extend(seen.keys().filter(|name| !machines.contains(name)).cloned().collect::<Vec<_>>());
        for machine in machines {
            let last = seen.remove(&machine).and_then(last);
            let begin = last.unwrap_or_else(|| Witnessed { head: Head::EMPTY, signer: String::new(), time: 0 });
            match verify::since(self.desk, &machine, &begin)? {
                Ok(Head { seq: 0, .. }) => {}
                Ok(Head { seq, link }) => {
                    heads.push(MachineHead { machine, seq: i64::try_from(seq).unwrap_or(i64::MAX), link });
                }
                Err(fault) => left_out.push(format!("{machine}: {fault}")),
            }
        }
        Ok(Ok((heads, left_out)))
    }
}

/// The last record of a log that an operator signed, by the first text that names it.
fn last(seen: Vec<Expected>) -> Option<Witnessed> {
    let of = |Expected { seq, link, or }: Expected| {
        let Fault::Witnessed { signer, time, .. } = or else { return None };
        let link = Digest::from_bytes(<[u8; 32]>::try_from(link).ok()?);
        Some(Witnessed { head: Head { seq: u64::try_from(seq).ok()?, link }, signer, time })
    };
    seen.into_iter().filter_map(of).max_by_key(|one| (one.head.seq, Reverse(one.time)))
}

/// The desk's own name.
fn id(desk: &Central) -> Result<String, StoreError> {
    // By its JSON: a desk that was made by an earlier version has no such column.
    const NAME: &str = "SELECT to_jsonb(version)->>'desk' FROM mcp_approve.version ORDER BY number DESC LIMIT 1";
    let rows = desk.query(NAME, &[])?;
    rows.first().and_then(|row| row.get(0)).ok_or_else(|| StoreError::Desk {
        why: "the desk was made by an earlier version, and has no name yet that signatures could be for".to_owned(),
        hint: "have the owner of the database run `mcp-approve desk init --url postgres://OWNER@HOST/DATABASE` again: what is there stays",
    })
}

/// Checks a text: it is of this desk, and signed by a key that may.
fn check(note: &str, desk: &str, signers: &Signers) -> Result<Witness, Untaken> {
    let signed = Witness::check(note, signers).map_err(|why| Untaken::Unsigned(why.to_string()))?;
    match signed.statement() {
        witness if witness.desk == desk => Ok(witness.clone()),
        _ => Err(Untaken::OtherDesk),
    }
}

/// Why a text does not count.
#[derive(Debug, thiserror::Error)]
enum Untaken {
    #[error("{0}")]
    Unsigned(String),
    #[error("it is of another desk, or this one was given another name")]
    OtherDesk,
}

impl Witnesses {
    fn take(&mut self, Witness { signer, time, heads, .. }: Witness) {
        self.good += 1;
        for MachineHead { machine, seq, link } in heads {
            let or = Fault::Witnessed { seq, signer: signer.clone(), time };
            self.seen.entry(machine).or_default().push(Expected { seq, link: link.as_bytes().to_vec(), or });
        }
    }
}
