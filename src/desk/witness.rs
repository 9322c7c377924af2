//! The ends of all machines' logs, signed by an operator and kept on the desk: what they name was there, and its loss shows.

use std::collections::BTreeMap;

use super::log::Central;
use super::verify::{Expected, Fault};
use crate::audit::StoreError;
use crate::operator::sign::{OwnKey, ToSign, standing};
use crate::signing::signers::Signers;
use crate::signing::statement::{Evidence, Refused};
use crate::signing::witness::{MOST, MachineHead, NAMESPACE, Witness};
use crate::text::time;
use crate::wire::Digest;

/// The texts to be signed now: one, where there are not very many machines.
pub fn to_sign(desk: &Central, time: i64, key: &OwnKey) -> Result<Vec<ToSign>, StoreError> {
    let heads = heads(desk)?;
    let text = |heads: &[MachineHead]| Witness { signer: key.signer.clone(), time, heads: heads.to_vec() }.text();
    Ok(heads.chunks(MOST).map(|heads| standing(text(heads), NAMESPACE, key.clone())).collect())
}

/// Keeps on the desk what was signed.
pub fn keep(desk: &Central, signed: &Evidence, key: &OwnKey) -> Result<(), StoreError> {
    let note = Witness::note(signed, &key.signer, &key.key);
    desk.query("INSERT INTO mcp_approve.witness (note) VALUES ($1)", &[&note]).map(drop)
}

/// Signs at the terminal, and keeps it; returns how many machines there are. `sign` has `ssh-keygen` sign.
///
/// # Errors
/// Why nothing was signed, or not kept.
pub fn sign(
    desk: &Central,
    time: i64,
    key: &OwnKey,
    sign: &mut dyn FnMut(&ToSign) -> Result<Evidence, String>,
) -> Result<usize, String> {
    let said = |error: StoreError| format!("{error}; {}", error.hint());
    for text in to_sign(desk, time, key).map_err(said)? {
        keep(desk, &sign(&text)?, key).map_err(said)?;
    }
    Ok(heads(desk).map_err(said)?.len())
}

/// The last record of each machine, as the desk has it.
fn heads(desk: &Central) -> Result<Vec<MachineHead>, StoreError> {
    const LAST: &str =
        "SELECT seq, link FROM mcp_approve.record WHERE machine = $1 ORDER BY seq DESC, place DESC LIMIT 1";
    let mut heads = Vec::new();
    for machine in desk.machines()? {
        let rows = desk.query(LAST, &[&machine])?;
        let link =
            |row: &tokio_postgres::Row| <[u8; 32]>::try_from(row.get::<_, &[u8]>(1)).ok().map(Digest::from_bytes);
        if let Some((seq, link)) = rows.first().and_then(|row| Some((row.get(0), link(row)?))) {
            heads.push(MachineHead { machine, seq, link });
        }
    }
    Ok(heads)
}

/// What was signed, and what is kept without a signature that counts here.
#[derive(Debug, Default)]
pub struct Witnesses {
    pub good: u64,
    /// The records that were seen, by machine.
    pub seen: BTreeMap<String, Vec<Expected>>,
    /// The places of those that do not count, and why.
    pub bad: Vec<(i64, Refused)>,
}

/// Reads what was signed; each counts by this list of signers.
pub fn read(desk: &Central, signers: &Signers) -> Result<Witnesses, StoreError> {
    let mut found = Witnesses::default();
    for row in desk.query("SELECT place, note FROM mcp_approve.witness ORDER BY place", &[])? {
        let signed = match Witness::check(row.get(1), signers) {
            Ok(signed) => signed,
            Err(why) => {
                found.bad.push((row.get(0), why));
                continue;
            }
        };
        found.good += 1;
        let Witness { signer, time, heads } = signed.statement();
        for MachineHead { machine, seq, link } in heads {
            let or = Fault::Witnessed { seq: *seq, signer: signer.clone(), time: time::date(*time, 0) };
            let expected = Expected { seq: *seq, link: link.as_bytes().to_vec(), or };
            found.seen.entry(machine.clone()).or_default().push(expected);
        }
    }
    Ok(found)
}
