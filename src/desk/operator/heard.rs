//! What machines say on the desk, read in order and turned into what a console hears. Everything read here is foreign: a row that cannot
//! be what it says is left out, and counted. Writes nothing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_postgres::Row;

use super::asked::{BEGINNING, LOOKS, PRESENT, ROWS, TOLD};
use super::load::{Load, Loads, MOST, SHARE, WRAPPERS, call};
use crate::audit::By;
use crate::desk::by_role::ByRole;
use crate::desk::engine::{Engine, EngineError, Program};
use crate::desk::told::{EVERY_SESSION, Told};
use crate::gate::data::snapshot::Snapshot;
use crate::link::message::{Around, At, CallEnd, ClientEvent, FromWrapper, Wrapper};
use crate::wire::{Digest, counted, number::grouped};

/// How many rows are asked for at once.
const CHUNK: usize = 256;

/// After so many pages of what is new, there is time for other things.
const PAGES: usize = 32;

/// How long after calls were left out for want of room it is looked whether there is room, at the earliest.
const REFILL: Duration = Duration::from_secs(2);

/// One thing that was read, in the order of the desk.
pub(super) enum News {
    Event(ClientEvent),
    /// A verdict had no effect: it is for whoever sent that statement.
    Refused {
        session: String,
        ticket: String,
        statement: Digest,
        why: String,
    },
}

#[derive(Default)]
pub(super) struct Heard {
    /// What is new; `None` before the beginning was read.
    new: Option<ByRole>,
    /// What the machines' roles said who they are.
    names: BTreeMap<String, BTreeSet<(String, String)>>,
    /// The wrappers that are here, by the console's name of their session.
    wrappers: BTreeMap<String, WrapperHere>,
    loads: Loads,
    left_out: u64,
    /// The rows of those to begin with that cannot be what they say: they are not read again.
    senseless: BTreeSet<i64>,
    /// How many calls of a machine, by its role, there was no room for.
    beyond: BTreeMap<String, u64>,
    /// Whether that may be fewer by now, and when they were counted.
    is_less: bool,
    counted: Option<Instant>,
}

/// A wrapper that is here.
struct WrapperHere {
    at: Arc<At>,
    said: Option<Wrapper>,
    calls: BTreeMap<String, Waits>,
    /// Since it was sent again, or its machine's process began again: what was known before and was not sent again since.
    doubt: Option<Doubt>,
}

/// A call that waits: where its card is, whether something of it is withheld, and the bytes of the card.
struct Waits {
    place: i64,
    withheld: bool,
    bytes: usize,
}

/// What ends at that moment unless it is sent again.
struct Doubt {
    until: Instant,
    is_back: bool,
    calls: BTreeSet<String>,
}

/// How long a machine has to tell again what is there, after it has begun to.
const TOLD_AGAIN: Duration = Duration::from_secs(10);

/// The console's name of a session: no two machines have the same. [`parts`] takes it apart.
fn name(session: &str, machine: &str) -> String {
    format!("{session}@{machine}")
}

/// The session and the machine's role.
pub(super) fn parts(name: &str) -> Option<(&str, &str)> {
    name.split_once('@')
}

impl Heard {
    /// Reads what is new, or what a console begins with.
    pub(super) async fn read(&mut self, engine: &Engine, take: &mut dyn FnMut(News)) -> Result<(), EngineError> {
        let Some(new) = &mut self.new else { return self.begin(engine, take).await };
        if new.look(engine, &[String::new()], &[]).await? {
            self.new = None;
            return self.begin(engine, take).await;
        }
        for _ in 0..PAGES {
            let Some(new) = self.new.as_mut().filter(|new| new.is_behind()) else { break };
            for row in new.page(engine).await? {
                self.row(&row, [1, 3, 4, 5, 6], take);
            }
        }
        self.settle_doubts(take);
        if self.is_less && !self.beyond.is_empty() && self.counted.is_none_or(|at| at.elapsed() >= REFILL) {
            self.refill(engine, take).await?;
        }
        Ok(())
    }

    /// Rows are there that were not read yet.
    pub(super) fn is_behind(&self) -> bool {
        self.new.as_ref().is_some_and(ByRole::is_behind)
    }

    async fn begin(&mut self, engine: &Engine, take: &mut dyn FnMut(News)) -> Result<(), EngineError> {
        let client = &engine.client;
        // One view of the table for all of it. What fails in between ends with the connection.
        client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").await?;
        let since: String = client.query_one("SELECT pg_current_snapshot()::text", &[]).await?.get(0);
        (self.left_out, self.senseless) = (0, BTreeSet::new());
        // What was here, if this is not the first time, and is not there any more.
        self.wrappers.values_mut().for_each(|site| site.doubt(false));
        let found = client.query(BEGINNING.as_str(), &[]).await?;
        let places = self.with_room(engine, &found).await?;
        self.rows(engine, &places, &since, take).await?;
        client.batch_execute("COMMIT").await?;
        self.new = Some(ByRole::after(&TOLD, since));
        Ok(())
    }

    /// Takes the calls that were left out, while there is room.
    async fn refill(&mut self, engine: &Engine, take: &mut dyn FnMut(News)) -> Result<(), EngineError> {
        let (known, Some(new)) = (self.known(), &self.new) else { return Ok(()) };
        let since = new.since().to_owned();
        let mut found = engine.client.query(BEGINNING.as_str(), &[]).await?;
        found.retain(|row| matches!(row.get(0), 2 | 4) && new.has_read(row.get(3)));
        let mut skipped = std::mem::take(&mut self.beyond);
        skipped.retain(|machine, _| !new.has_read(machine));
        let mut places = self.with_room(engine, &found).await?;
        self.is_less = !skipped.is_empty();
        self.beyond.append(&mut skipped);
        places.retain(|place| !known.contains(place));
        self.rows(engine, &places, &since, take).await
    }

    /// Reads the rows at these places, in their order.
    async fn rows(
        &mut self,
        engine: &Engine,
        mut places: &[i64],
        since: &String,
        take: &mut dyn FnMut(News),
    ) -> Result<(), EngineError> {
        while !places.is_empty() {
            let (chunk, rest) = places.split_at(places.len().min(CHUNK));
            let rows = engine.client.query(ROWS.as_str(), &[&chunk, since]).await?;
            for row in &rows {
                let before = self.left_out;
                self.row(row, [1, 2, 3, 4, 5], take);
                if self.left_out > before {
                    self.senseless.insert(row.get(1));
                }
            }
            let cut = rows.last().filter(|last| i64::try_from(rows.len()) != Ok(last.get(6)));
            let read = cut.map_or(chunk.len(), |last| usize::try_from(last.get::<_, i64>(0)).unwrap_or(chunk.len()));
            places = if cut.is_some() { places.get(read..).unwrap_or_default() } else { rest };
        }
        Ok(())
    }

    /// The places of the cards that are here.
    fn known(&self) -> BTreeSet<i64> {
        self.wrappers.values().flat_map(|site| site.calls.values().map(|waits| waits.place)).collect()
    }

    /// The places of those rows of the beginning that there is room for beside what is here; counts the other calls.
    async fn with_room(&mut self, engine: &Engine, found: &[Row]) -> Result<Vec<i64>, EngineError> {
        // No text is read for it.
        const SIZES: &str = "SELECT place, octet_length(said) FROM mcp_approve.told WHERE place = ANY ($1)";
        (self.beyond, self.is_less, self.counted) = (BTreeMap::new(), false, Some(Instant::now()));
        let (known, part) = (self.known(), |row: &Row| row.get::<_, i32>(0));
        let asked: Vec<i64> = found.iter().filter(|row| part(row) <= 2).map(|row| row.get(2)).collect();
        let sizes = engine.client.query(SIZES, &[&asked]).await?;
        let sizes = sizes.iter().map(|row| (row.get(0), usize::try_from(row.get::<_, i32>(1)).unwrap_or(usize::MAX)));
        let sizes: BTreeMap<i64, usize> = sizes.collect();
        let (mut all, mut of_machine, mut places) = (self.loads.all, BTreeMap::new(), Vec::new());
        for row in found {
            let (place, machine): (i64, String) = (row.get(2), row.get(3));
            let count = u64::try_from(place).unwrap_or(0);
            match part(row) {
                3 => self.left_out += count,
                4 => {
                    let here = self.wrappers.values().filter(|site| site.at.machine == machine);
                    let here = here.flat_map(|site| site.calls.values());
                    let here = here.filter(|waits| !sizes.contains_key(&waits.place)).count();
                    let more = count.saturating_sub(u64::try_from(here).unwrap_or(0));
                    *self.beyond.entry(machine).or_default() += more;
                }
                _ if self.senseless.contains(&place) => {}
                _ if known.contains(&place) => places.push(place),
                part => {
                    let bytes = sizes.get(&place).copied().unwrap_or_default();
                    let more = if part == 2 { call(bytes) } else { Load { bytes, ..Load::default() } };
                    let own = of_machine.entry(machine.clone()).or_insert_with(|| self.loads.of(&machine));
                    if (*own + more).is_within(SHARE) && (all + more).is_within(MOST) {
                        (*own, all) = (*own + more, all + more);
                        places.push(place);
                    } else if part == 2 {
                        *self.beyond.entry(machine).or_default() += 1;
                    } else {
                        self.left_out += 1;
                    }
                }
            }
        }
        Ok(places)
    }

    /// Takes a row: its place, who told it, its session, its ticket and what it says are in these columns.
    fn row(&mut self, row: &Row, [place, machine, session, ticket, said]: [usize; 5], take: &mut dyn FnMut(News)) {
        let text = |at: usize| row.get::<_, &str>(at);
        match self.news(row.get(place), (text(machine), text(session), text(ticket)), text(said)) {
            Some(Some(news)) => take(news),
            Some(None) => {}
            None => self.left_out += 1,
        }
    }

    /// What a row says, if that is news; `None` where it cannot be what it says.
    fn news(&mut self, place: i64, (machine, session, ticket): (&str, &str, &str), said: &str) -> Option<Option<News>> {
        let is_plain = session.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let told: Told = serde_json::from_str(said).ok().filter(|told: &Told| told.ticket() == ticket)?;
        if session == EVERY_SESSION && told == Told::Gone {
            let of_it = |site: &&mut WrapperHere| site.at.machine == machine;
            self.wrappers.values_mut().filter(of_it).for_each(|site| site.doubt(false));
            return Some(None);
        }
        let key = is_plain.then(|| name(session, machine))?;
        // What a hello tells again is counted again.
        self.is_less |= matches!(told, Told::Hello { .. } | Told::Settled(_) | Told::Gone);
        if let Told::Hello { wrapper, host, user } = told {
            let at = Arc::new(At { machine: machine.to_owned(), host, user });
            let wrapper = named(wrapper, session, &key, &at)?;
            // No wrapper moves, and a role has no more names than wrappers, of those that are gone too: a console keeps each.
            self.wrappers.get(&key).is_none_or(|site| site.at == at).then_some(())?;
            let names = self.names.entry(machine.to_owned()).or_default();
            let one = (at.user.clone(), at.host.clone());
            (names.contains(&one) || names.len() < WRAPPERS).then(|| names.insert(one))?;
            if !self.wrappers.contains_key(&key) {
                let one = Load { wrappers: 1, ..Load::default() };
                (self.loads.of(machine) + one).is_within(SHARE).then(|| self.loads.take(machine, one))?;
            }
            let site = self.wrappers.entry(key).or_insert_with(|| WrapperHere {
                at: Arc::clone(&at),
                said: None,
                calls: BTreeMap::new(),
                doubt: None,
            });
            site.doubt(true);
            let is_new = site.said.as_ref() != Some(&wrapper);
            site.said = Some(wrapper.clone());
            return Some(is_new.then_some(News::Event(ClientEvent::Connected(wrapper))));
        }
        // Where there is no room for a card, what was known of that call is over, too: it is another card now.
        let has_room = !matches!(told, Told::Held { .. }) || self.has_room(machine, &key, ticket, said.len());
        let Some(site) = self.wrappers.get_mut(&key) else {
            // What is said last of a wrapper that is gone is no news; but a call of one that is not here cannot be.
            return (!matches!(told, Told::Held { .. })).then_some(None);
        };
        let event = match told {
            Told::Hello { .. } => return None,
            Told::Held { card, withheld } => {
                is_of(&card, &site.at, session).then_some(())?;
                site.certain(&card.ticket);
                let old = site.end(&card.ticket);
                self.loads.free(machine, old.unwrap_or_default());
                if !has_room {
                    *self.beyond.entry(machine.to_owned()).or_default() += 1;
                    let end = ended(card.ticket, "there is no room here for more of its machine's cards");
                    let end = ClientEvent::Said { session: key, message: FromWrapper::Settled(end) };
                    return Some(old.map(|_| News::Event(end)));
                }
                site.calls.insert(card.ticket.clone(), Waits { place, withheld, bytes: said.len() });
                self.loads.take(machine, call(said.len()));
                match withheld {
                    true => ClientEvent::Withheld { session: key, call: card },
                    false => ClientEvent::Said { session: key, message: FromWrapper::Held { call: card } },
                }
            }
            Told::Settled(end) => {
                self.loads.free(machine, site.end(&end.ticket).unwrap_or_default());
                site.certain(&end.ticket);
                ClientEvent::Said { session: key, message: FromWrapper::Settled(end) }
            }
            Told::Status(status) => ClientEvent::Said { session: key, message: FromWrapper::Status(*status) },
            Told::Refused { ticket, statement, why } => {
                return Some(Some(News::Refused { session: key, ticket, statement, why }));
            }
            Told::Gone => {
                self.loads.free(machine, site.load());
                self.wrappers.remove(&key);
                ClientEvent::Gone { session: key }
            }
        };
        Some(Some(News::Event(event)))
    }

    /// Whether there is room for a card of a machine, in the place of the one that its call has.
    fn has_room(&self, machine: &str, key: &str, ticket: &str, bytes: usize) -> bool {
        let one = call(bytes);
        let known = self.wrappers.get(key).and_then(|site| site.calls.get(ticket));
        let known = known.map_or(Load::default(), |waits| call(waits.bytes));
        (self.loads.of(machine) + one).is_within(SHARE + known) && (self.loads.all + one).is_within(MOST + known)
    }

    /// Ends what its machine had time to tell again, and has not.
    fn settle_doubts(&mut self, take: &mut dyn FnMut(News)) {
        let now = Instant::now();
        let mut gone = Vec::new();
        for (session, site) in &mut self.wrappers {
            // What it tells again may be there, and not read yet.
            let is_told = self.new.as_ref().is_none_or(|new| new.has_read(&site.at.machine));
            let Some(doubt) = site.doubt.take_if(|doubt| is_told && doubt.until <= now) else { continue };
            if !doubt.is_back {
                gone.push(session.clone());
                continue;
            }
            self.is_less |= !doubt.calls.is_empty();
            for ticket in doubt.calls {
                let old = site.end(&ticket);
                self.loads.free(&site.at.machine, old.unwrap_or_default());
                let end = ended(ticket, "its machine does not have it any more");
                take(News::Event(ClientEvent::Said { session: session.clone(), message: FromWrapper::Settled(end) }));
            }
        }
        for session in gone {
            self.is_less = true;
            if let Some(site) = self.wrappers.remove(&session) {
                self.loads.free(&site.at.machine, site.load());
            }
            take(News::Event(ClientEvent::Gone { session }));
        }
    }

    /// Whether what is here of a call is not all of it.
    pub(super) fn is_withheld(&self, session: &str, ticket: &str) -> bool {
        self.wrappers.get(session).and_then(|site| site.calls.get(ticket)).is_some_and(|waits| waits.withheld)
    }

    /// Who and what is there beside what was read.
    pub(super) async fn around(&self, engine: &Engine) -> Result<Around, EngineError> {
        let names = [Program::Machine.name(), Program::Console.name()];
        let (mut machines, mut operators) = (BTreeSet::new(), BTreeSet::new());
        for row in engine.client.query(PRESENT, &[&names[0], &names[1]]).await? {
            let (role, is_machine): (String, bool) = (row.get(0), row.get(1));
            if is_machine {
                machines.insert(role)
            } else {
                operators.insert(role)
            };
        }
        let looks = engine.client.query(LOOKS.as_str(), &[]).await?;
        let looks = looks.iter().map(|row| (name(row.get(1), row.get(0)), row.get(2), row.get(3))).collect();
        let is_away = |(_, site): &(&String, &WrapperHere)| !machines.contains(&site.at.machine);
        let away = self.wrappers.iter().filter(is_away).map(|(key, _)| key.clone()).collect();
        Ok(Around { operators, away, looks, broken: None, left_out: self.left_out() })
    }

    pub(super) fn left_out(&self) -> Option<String> {
        let rows = (self.left_out > 0).then(|| {
            let rows = counted(
                self.left_out,
                "message on the desk cannot be read and is|messages on the desk cannot be read and are",
            );
            format!("{rows} left out: a machine may run another version of mcp-approve, or another program wrote them")
        });
        const NAMED: usize = 3;
        let calls = (!self.beyond.is_empty()).then(|| {
            let mut machines: Vec<_> = self.beyond.iter().collect();
            machines.sort_by_key(|(_, calls)| Reverse(**calls));
            let named = machines.iter().take(NAMED).map(|(role, calls)| format!("{} of {role}", counted(**calls, "call")));
            let named = named.collect::<Vec<_>>().join(", ");
            let more = machines.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and of {}", counted(more, "more machine")) } else { String::new() };
            let (calls, bytes) = (grouped(SHARE.calls), SHARE.bytes >> 20);
            format!("left out: {named}{more}; a console takes {calls} calls and {bytes} MiB of a machine, and as many as it has room for of all: the next come as these end")
        });
        let both: Vec<String> = rows.into_iter().chain(calls).collect();
        (!both.is_empty()).then(|| both.join("; "))
    }
}

/// The end of a call of which this console hears no more.
fn ended(ticket: String, who: &str) -> CallEnd {
    CallEnd { ticket, time: 0, verdict: None, by: By::Fault, who: who.to_owned() }
}

impl WrapperHere {
    /// Forgets a call; what it took, if it was known.
    fn end(&mut self, ticket: &str) -> Option<Load> {
        self.calls.remove(ticket).map(|waits| call(waits.bytes))
    }

    fn load(&self) -> Load {
        let bytes = self.calls.values().map(|waits| waits.bytes).sum();
        Load { calls: self.calls.len(), bytes, wrappers: 1 }
    }

    fn doubt(&mut self, is_back: bool) {
        let calls = self.calls.keys().cloned().collect();
        self.doubt = Some(Doubt { until: Instant::now() + TOLD_AGAIN, is_back, calls });
    }

    fn certain(&mut self, ticket: &str) {
        if let Some(doubt) = &mut self.doubt {
            doubt.calls.remove(ticket);
        }
    }
}

/// A wrapper as the console knows it: by its session on its machine, with what its machine's signatures name before its server.
fn named(wrapper: Wrapper, session: &str, key: &str, at: &Arc<At>) -> Option<Wrapper> {
    (wrapper.session == session).then(|| Wrapper {
        server: format!("{}:{}", at.signed(), wrapper.server),
        session: key.to_owned(),
        at: Some(Arc::clone(at)),
        ..wrapper
    })
}

/// Whether a card asks to be signed for the call, the session, the machine and the user that it is shown as: what is shown is what is signed.
fn is_of(card: &Snapshot, at: &At, session: &str) -> bool {
    card.signs.as_ref().is_some_and(|signs| {
        (&signs.ticket, &*signs.session, &signs.machine, &signs.user) == (&card.ticket, session, &at.host, &at.user)
            && signs.call == card.digest
    })
}
