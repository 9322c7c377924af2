//! What is different on a desk of many machines: what its pages say in place of a list, and the words on who
//! else is there. Reads only.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::card::has_key;
use super::keymap::{self, Action, Is};
use super::model::{CallKey, Held, Model, Reach, Screen};
use crate::text::row::{Row, Tone, danger, foreign, key, ours, quiet, strong, warn};
use crate::text::time::of_day;
use crate::wire::counted;

/// How many names a sentence has.
const NAMED: usize = 3;

/// Whether an action is for the machine that a call waits on, and this is a desk.
pub fn is_elsewhere(model: &Model, action: Action) -> bool {
    model.settings.reach == Reach::Desk && keymap::is(action, Is::AtMachine)
}

/// What is said in place of the key that approves, where something of what it is about is withheld.
pub fn approved_elsewhere(model: &Model) -> Option<Row> {
    /// A longer name of a machine is on its card.
    const LONGEST: usize = 30;
    let targets = model.queue.targets();
    let withheld = || targets.iter().filter(|held| !has_key(held.desk.as_ref(), Action::Approve));
    let at = &withheld().next()?.desk.as_ref()?.at;
    Some(match (withheld().count(), targets.len()) {
        (1, 1) => quiet("approve at its machine ").joined(foreign(Tone::Strong, &at.host).clipped(LONGEST)),
        (some, all) => quiet(format!("{some} of {all}: approve at their machines")),
    })
}

/// What a page says in place of a list that a desk does not have.
pub fn instead(model: &Model) -> Option<Vec<Row>> {
    if model.settings.reach == Reach::Own {
        return None;
    }
    let (what, where_it_is) = match model.screen {
        Screen::Queue | Screen::Detail | Screen::Log => return None,
        Screen::Activity => ("What passes is not on the desk.", "Each machine's own console shows it: mcp-approve"),
        Screen::Tools => ("Tools are not on the desk.", "At each machine: mcp-approve tools"),
        Screen::Rules => ("Rules are not on the desk.", "At each machine: mcp-approve rules"),
        Screen::Servers => ("No wrapper is on this desk yet.", "Start this at each machine: mcp-approve desk run"),
    };
    let (words, command) = where_it_is.split_once("mcp-approve").unwrap_or((where_it_is, ""));
    let signed = model.witness.signed.as_ref().filter(|_| model.screen == Screen::Activity).map(|(time, what)| {
        ours(format!("{} This console signed the day's witness: ", of_day(*time, model.settings.offset)))
            .and_foreign(Tone::Ours, what)
    });
    Some([strong(what), ours(words).key(format!("mcp-approve{command}"))].into_iter().chain(signed).collect())
}

/// What is said where no call waits.
pub fn nothing_waits(model: &Model) -> Vec<Row> {
    if !model.wrappers.is_empty() {
        let calls = ours("  Calls of all machines that wait for an operator appear here. ")
            .key("6")
            .ours(" lists the machines.");
        return vec![strong("  No call waits for you."), Row::default(), calls];
    }
    vec![
        strong("  No wrapper is on this desk yet."),
        Row::default(),
        ours("  Each user of a machine starts this once:"),
        key("    mcp-approve desk run"),
    ]
}

/// Who else looks at a call; nothing where it is the operator alone.
pub fn lookers<'a>(model: &'a Model, held: &Held) -> Vec<&'a str> {
    let of =
        |(session, ticket, _): &&(String, String, String)| *session == held.key.session && *ticket == held.key.ticket;
    model.around.looks.iter().filter(of).map(|(_, _, who)| who.as_str()).collect()
}

/// What is signed names another machine than the desk does, perhaps: the role that a call came under is that of several, or theirs are.
pub fn is_mixed(model: &Model, held: &Held) -> bool {
    held.desk.as_ref().is_some_and(|desk| model.places.is_mixed(&desk.at))
}

/// What is said where a role and what is signed do not belong together, one to one.
pub fn mixed(model: &Model) -> Option<Row> {
    let all = |others: &BTreeSet<String>| {
        others.iter().take(NAMED).enumerate().fold(Row::default(), |row, (at, other)| {
            row.danger(if at == 0 { "" } else { ", " }).and_foreign(Tone::Strong, other)
        })
    };
    let (mut roles, mut places) = (model.places.roles(), model.places.places());
    let (row, others) = match (roles.next(), places.next()) {
        (Some((role, others)), _) => {
            let row = danger(" ▲ Calls of several users or hosts come under the role ").and_foreign(Tone::Strong, role);
            (row, others)
        }
        (None, Some((place, others))) => {
            let row = danger(" ▲ Calls of ").and_foreign(Tone::Strong, place).danger(" come under several roles");
            (row, others)
        }
        (None, None) => return None,
    };
    let more = others.len().saturating_sub(NAMED);
    let row =
        row.danger(": ").joined(all(others)).danger(if more > 0 { format!(" and {more} more") } else { String::new() });
    let beside = roles.count() + places.count();
    let beside = if beside > 0 { format!(" ({} beside it)", counted(beside, "other name")) } else { String::new() };
    Some(row.danger(format!(
        "{beside}. A verdict has its effect at the user and host that it names; these calls are marked mixed."
    )))
}

pub fn is_away(model: &Model, held: &Held) -> bool {
    model.around.away.contains(&held.key.session)
}

/// What a row of the queue says before what its call is about.
pub fn mark(model: &Model, held: &Held, room: usize) -> Row {
    let mut row = Row::default();
    if is_mixed(model, held) {
        row = row.danger("mixed ");
    }
    if is_away(model, held) {
        row = row.warn("away ");
    }
    if held.is_withheld() {
        row = row.warn("▲ ");
    }
    let (who, more) = match lookers(model, held).as_slice() {
        [] => return row,
        [who] => (row.and_foreign(Tone::Key, who), String::new()),
        [who, rest @ ..] => (row.and_foreign(Tone::Key, who), format!(" +{}", rest.len())),
    };
    let verb = match more.as_str() {
        // The name says enough where there is no room for more.
        _ if room < 30 => "",
        "" => " looks",
        _ => " look",
    };
    who.quiet(format!("{more}{verb} "))
}

/// The same in full, on the card.
pub fn around(model: &Model, held: &Held) -> Row {
    let mut row = ours("you");
    let lookers = lookers(model, held);
    for (at, who) in lookers.iter().enumerate() {
        row = row.quiet(if at + 1 == lookers.len() { " and " } else { ", " }).and_foreign(Tone::Key, who);
    }
    if is_away(model, held) {
        row = row.quiet(" · ").warn("its machine is away: a verdict waits");
    }
    row
}

/// Which other operators are there.
pub fn others(model: &Model) -> Row {
    let mut row = Row::default();
    for (at, who) in model.around.operators.iter().enumerate() {
        row = row.quiet(if at == 0 { " · also here: " } else { ", " }).and_foreign(Tone::Key, who);
    }
    row
}

/// That machines are away, and how many sessions wait for them.
pub fn away(model: &Model, session: &str) -> Option<Row> {
    model.around.away.contains(session).then(|| warn("away").quiet(": what is decided waits until it is there"))
}

/// The servers' names of these calls by the whole name, where there is no room for that: a host loses the labels at its end without which
/// no other host of this desk has the same name.
pub fn short_names<'a>(model: &Model, calls: impl Iterator<Item = &'a Held>) -> BTreeMap<&'a str, String> {
    let host = |place: &'_ str| place.rfind('@').map_or(0, |at| at + 1);
    let hosts: BTreeSet<&str> = model.places.all().map(|place| &place[host(place)..]).collect();
    let mut begin: BTreeMap<&str, usize> = BTreeMap::new();
    for name in hosts.iter().flat_map(|host| beginnings(host)) {
        *begin.entry(name).or_default() += 1;
    }
    let short = |held: &'a Held| {
        let place = held.place()?;
        let server = held.server.strip_prefix(&place)?;
        let (user, host) = place.split_at(host(&place));
        let own = beginnings(host).find(|name| begin.get(name).is_none_or(|hosts| *hosts < 2));
        let own = own.filter(|_| host.parse::<IpAddr>().is_err());
        Some((held.server.as_str(), own.map_or_else(|| held.server.clone(), |own| format!("{user}{own}…{server}"))))
    };
    calls.filter_map(short).collect()
}

/// What a host's name begins with, up to each of its dots.
fn beginnings(host: &str) -> impl Iterator<Item = &str> {
    host.match_indices('.').map(|(at, _)| &host[..at]).filter(|name| !name.is_empty())
}

/// The name of a call by its key.
pub fn name_of(model: &Model, key: &CallKey, tone: Tone) -> Row {
    model.queue.call(key).map_or_else(|| foreign(tone, &key.ticket), |held| name(held, tone))
}

/// The name of a call: its ticket, on a desk with the user and the host before it that its signature will name.
pub fn name(held: &Held, tone: Tone) -> Row {
    match held.place() {
        Some(place) => foreign(tone, &place).quiet(":").and_foreign(tone, &held.key.ticket),
        None => foreign(tone, &held.key.ticket),
    }
}
