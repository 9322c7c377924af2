//! The table of all held calls. Owns the order they came in and how much may wait; decides nothing.

use std::collections::BTreeMap;

use crate::gate::held::{Held, Stage, StageKind};
use crate::wire::{Id, Origin};

/// How many calls, and how many bytes of them, may wait at once; what comes beyond is denied.
const CALLS: usize = 20_000;
const BYTES: usize = 256 << 20;

/// All held calls. To act on a call, take it out, and put it back with what it waits for next.
#[derive(Debug, Default)]
pub struct Calls {
    /// Boxed, so that moving a row within the tree is cheap.
    rows: BTreeMap<u64, Box<(Held, Stage)>>,
    /// By the ids of their requests, for each origin separately: a host and its server choose ids independently.
    by_id: ByOrigin,
    by_entry: BTreeMap<u64, u64>,
    last: u64,
    /// Looks and consultations asked for so far.
    questions: u64,
    bytes: usize,
    /// The calls taken out since the last [`Calls::left`], including those that were put back.
    taken: Vec<u64>,
}

/// The numbers behind the ids of each origin's requests.
#[derive(Debug, Default)]
struct ByOrigin {
    host: BTreeMap<Id, u64>,
    server: BTreeMap<Id, u64>,
    answer: BTreeMap<Id, u64>,
    result: BTreeMap<Id, u64>,
}

impl ByOrigin {
    fn of(&self, origin: Origin) -> &BTreeMap<Id, u64> {
        match origin {
            Origin::Host => &self.host,
            Origin::Server => &self.server,
            Origin::Answer => &self.answer,
            Origin::Result => &self.result,
        }
    }

    fn of_mut(&mut self, origin: Origin) -> &mut BTreeMap<Id, u64> {
        match origin {
            Origin::Host => &mut self.host,
            Origin::Server => &mut self.server,
            Origin::Answer => &mut self.answer,
            Origin::Result => &mut self.result,
        }
    }
}

impl Calls {
    pub fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub fn next_question(&mut self) -> u64 {
        self.questions += 1;
        self.questions
    }

    pub fn put(&mut self, held: Held, stage: impl StageKind) {
        let stage = stage.into_stage();
        for id in held.ids() {
            self.by_id.of_mut(held.call.origin()).insert(id.clone(), held.number);
        }
        self.bytes += held.call.line().bytes().len();
        if let Some(entry) = stage.entry() {
            self.by_entry.insert(entry, held.number);
        }
        self.rows.insert(held.number, Box::new((held, stage)));
    }

    /// Takes a call out, whatever it waits for.
    fn take_any(&mut self, number: u64) -> Option<(Held, Stage)> {
        let (held, stage) = *self.rows.remove(&number)?;
        for id in held.ids() {
            self.by_id.of_mut(held.call.origin()).remove(id);
        }
        self.bytes = self.bytes.saturating_sub(held.call.line().bytes().len());
        if let Some(entry) = stage.entry() {
            self.by_entry.remove(&entry);
        }
        self.taken.push(number);
        Some((held, stage))
    }

    /// Takes a call out that waits in this way and fits; any other stays.
    pub fn take_if<S: StageKind>(&mut self, number: u64, fits: impl FnOnce(&Held, &S) -> bool) -> Option<(Held, S)> {
        let (held, waits) = self.get::<S>(number)?;
        if !fits(held, waits) {
            return None;
        }
        let (held, stage) = self.take_any(number)?;
        match S::from_stage(stage) {
            Ok(waits) => Some((held, waits)),
            Err(stage) => {
                self.put(held, *stage);
                None
            }
        }
    }

    pub fn take<S: StageKind>(&mut self, number: u64) -> Option<(Held, S)> {
        self.take_if(number, |_, _| true)
    }

    pub fn get<S: StageKind>(&self, number: u64) -> Option<(&Held, &S)> {
        let (held, stage) = &**self.rows.get(&number)?;
        Some((held, S::from_ref(stage)?))
    }

    /// What is known of a call that waits in this way, to be added to.
    pub fn held_mut<S: StageKind>(&mut self, number: u64) -> Option<&mut Held> {
        let (held, stage) = &mut **self.rows.get_mut(&number)?;
        S::from_ref(stage).map(|_| held)
    }

    /// The number behind a request id of the host's.
    pub fn by_id(&self, id: &Id) -> Option<u64> {
        self.by_origin(Origin::Host, id)
    }

    /// The number of what the host waits for under an id: its own request, or an answer to it.
    pub fn by_host_id(&self, id: &Id) -> Option<u64> {
        [Origin::Host, Origin::Answer, Origin::Result].into_iter().find_map(|origin| self.by_origin(origin, id))
    }

    /// The number behind a request id of one side's.
    pub fn by_origin(&self, origin: Origin, id: &Id) -> Option<u64> {
        self.by_id.of(origin).get(id).copied()
    }

    pub fn by_entry(&self, entry: u64) -> Option<u64> {
        self.by_entry.get(&entry).copied()
    }

    pub fn by_ticket(&self, ticket: &str) -> Option<u64> {
        let number = ticket.rsplit_once('-')?.1.parse().ok()?;
        (*self.rows.get(&number)?.0.ticket == *ticket).then_some(number)
    }

    /// The numbers of the calls that wait in this way, oldest first.
    pub fn waiting<S: StageKind>(&self) -> Vec<u64> {
        self.numbers(|stage| S::from_ref(stage).is_some())
    }

    pub fn numbers(&self, wanted: impl Fn(&Stage) -> bool) -> Vec<u64> {
        self.rows.iter().filter(|(_, row)| wanted(&row.1)).map(|(number, _)| *number).collect()
    }

    pub fn iter<'a, S: StageKind + 'a>(&'a self) -> impl Iterator<Item = (&'a Held, &'a S)> {
        self.rows.values().filter_map(|row| Some((&row.0, S::from_ref(&row.1)?)))
    }

    /// The numbers of the calls that have left the table since this was last called.
    pub fn left(&mut self) -> Vec<u64> {
        self.taken.extract_if(.., |_| true).filter(|number| !self.rows.contains_key(number)).collect()
    }

    /// Forgets which calls have left, where no one will ask.
    pub fn forget_left(&mut self) {
        self.taken.clear();
    }

    /// The last call of the host before this number.
    pub fn before(&self, number: u64) -> Option<&Held> {
        let mut earlier = self.rows.range(..number).rev().map(|(_, row)| &row.0);
        earlier.find(|held| held.call.origin() == Origin::Host)
    }

    /// The number of the first call of the host from this number on.
    pub fn first_from(&self, number: u64) -> Option<u64> {
        let mut later = self.rows.range(number..);
        later.find(|(_, row)| row.0.call.origin() == Origin::Host).map(|(number, _)| *number)
    }

    /// Whether one more call of this size would be too much to keep in memory.
    pub fn is_full(&self, more: usize) -> bool {
        self.rows.len() >= CALLS || self.bytes + more > BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
