//! What could be granted from a held call, narrowest first, and in plain words what then passes unseen. Grants nothing.

use serde_json::Value;

use super::card::counted;
use super::model::Held;
use super::model::rule::{GrantOffer, Number, Presses};
use crate::gate::data::snapshot::Snapshot;
use crate::gate::grants::{GrantArea, area, holds_argument, holds_every_path, may_be_outside};
use crate::link::message::{Covers, GrantCard, GrantTerms, Lasts};
use crate::policy::maker::{Proposal, Scope};
use crate::policy::under::{Folder, Roots};
use crate::text::row::{Row, Tone, danger, foreign, ours, quiet, strong, warn};
use crate::text::time;

/// Offered unless another number is typed.
const MINUTES: u32 = 15;
const CALLS: u32 = 5;

/// Why nothing more than this call can be granted, judged by the card; `None` where it can.
pub fn refusal(snapshot: &Snapshot) -> Option<&'static str> {
    match area(&snapshot.hazards) {
        Some(GrantArea::Declared) => {}
        Some(GrantArea::Outside) if may_be_outside(snapshot.identity, snapshot.disputed) => {}
        Some(GrantArea::Outside) => {
            return Some("outside of the declared folders such a call is asked each time: no approval for a while");
        }
        None => return Some("a call with a hazard is asked each time: no approval for a while"),
    }
    if snapshot.ruling.rule.is_some() {
        return Some("a rule asks for each such call: no approval for a while; give that rule an `unless`");
    }
    snapshot.signature.is_none().then_some("the server has not described this tool: no approval for a while")
}

/// The grants on offer. `waiting` are the other calls that wait.
pub fn offers(held: &Held, proposals: &[Proposal], waiting: &[&Held], roots: &Roots) -> Vec<GrantOffer> {
    let folder = proposals.iter().find_map(|proposal| match &proposal.scope {
        // A name with a slash would be read as a place.
        Scope::Under { names, folder } => match names.as_slice() {
            [name] if !name.starts_with('/') => Some(Covers::Under { argument: name.clone(), folder: folder.clone() }),
            _ => None,
        },
        _ => None,
    });
    // Outside of the declared folders only a folder can be granted.
    let is_declared = area(&held.snapshot.hazards) == Some(GrantArea::Declared);
    let (this, tool) = (is_declared.then_some(Covers::ThisCall), is_declared.then_some(Covers::Tool));
    let mut terms: Vec<_> = this.map(|this| (this, Lasts::Session)).into_iter().collect();
    for covers in folder.into_iter().chain(tool) {
        for lasts in [Lasts::Calls(CALLS), Lasts::Minutes(MINUTES), Lasts::Session] {
            terms.push((covers.clone(), lasts));
        }
    }
    let offer = |(covers, lasts): (Covers, Lasts)| {
        let alike = |other: &&&Held| other.key != held.key && passes(&covers, held, other, roots);
        let waiting = waiting.iter().filter(alike).count();
        let is_wide = covers == Covers::Tool && lasts == Lasts::Session;
        let at_once = held.snapshot.danger.is_none() && waiting == 0 && !is_wide;
        let presses = if at_once { Presses::Once } else { Presses::Twice };
        GrantOffer { terms: GrantTerms { covers, lasts }, waiting, number: Number::Ours, presses }
    };
    terms.into_iter().map(offer).collect()
}

/// Whether a call that waits would pass at once, judged by the cards.
fn passes(covers: &Covers, held: &Held, other: &Held, roots: &Roots) -> bool {
    let (one, two) = (&held.snapshot, &other.snapshot);
    let same_tool = held.key.session == other.key.session && one.tool == two.tool;
    if !same_tool || !other.waits() || refusal(two).is_some() || two.edited_from.is_some() {
        return false;
    }
    let arguments = |snapshot: &Snapshot| serde_json::from_str::<Value>(&snapshot.arguments).unwrap_or(Value::Null);
    let of = |snapshot: &Snapshot| area(&snapshot.hazards);
    let is_dangerous = |snapshot: &Snapshot| of(snapshot) == Some(GrantArea::Declared) && snapshot.danger.is_some();
    if is_dangerous(two) && !is_dangerous(one) {
        return false;
    }
    if of(two) == Some(GrantArea::Outside) {
        let Covers::Under { folder, .. } = covers else { return false };
        let holds = |folder: &Folder| holds_every_path(folder, &arguments(two), roots);
        if of(one) != Some(GrantArea::Outside) || !Folder::new(folder).as_ref().is_some_and(holds) {
            return false;
        }
    }
    match covers {
        Covers::Tool => true,
        Covers::ThisCall => arguments(one) == arguments(two),
        Covers::Under { argument, folder } => {
            Folder::new(folder).is_some_and(|folder| holds_argument(&folder, &arguments(two), argument, roots))
        }
    }
}

/// What happens, what then passes unseen, and until when. `now` is milliseconds since 1970, `offset` local time's from UTC.
pub fn words(offer: &GrantOffer, snapshot: &Snapshot, now: i64, offset: i32) -> Vec<Row> {
    let mut rows = vec![ours("Approves ").and_foreign(Tone::Strong, &snapshot.ticket).ours(" now, as a does.")];
    let tool = |row: Row| row.and_foreign(Tone::Strong, &snapshot.tool);
    let passes = match &offer.terms.covers {
        Covers::ThisCall => tool(ours("Then runs unasked: ")).ours(" with exactly these arguments."),
        Covers::Under { argument, folder } => tool(ours("Then runs unasked: every "))
            .ours(" whose ")
            .and_foreign(Tone::Strong, argument)
            .ours(" lies in ")
            .and_foreign(Tone::Strong, folder)
            .ours(", links followed, whatever its other arguments."),
        Covers::Tool => tool(ours("Then runs unasked: every ")).ours(", whatever its arguments."),
    };
    rows.push(passes);
    let until = match offer.terms.lasts {
        Lasts::Session => "Until this server's session ends.".to_owned(),
        Lasts::Minutes(minutes) => {
            let end = now + i64::from(minutes) * 60_000;
            format!("Until {} ({minutes} min from now). Digits change the minutes.", &time::of_day(end, offset)[..5])
        }
        Lasts::Calls(calls) => {
            format!("Until {} ran this way. Digits change the number.", counted(calls, "such call"))
        }
    };
    rows.push(strong(until));
    let still = match area(&snapshot.hazards) {
        Some(GrantArea::Outside) => {
            rows.push(warn("▲ The host did not declare this folder."));
            "Still asked: a call that also names a path elsewhere, one with another hazard, a dangerous one, or one that a \
             rule asks for."
        }
        Some(GrantArea::Declared) | None if snapshot.danger.is_some() => {
            "Still asked: a call with a hazard, or one that a rule asks for."
        }
        Some(GrantArea::Declared) | None => {
            "Still asked: what is dangerous (replaces a file), has a hazard, or a rule asks for."
        }
    };
    rows.push(quiet(format!("{still} A changed definition ends it; so does x under 5 Rules.")));
    if let Some(why) = &snapshot.danger {
        let row = danger("◆ dangerous: ").and_foreign(Tone::Danger, why);
        rows.push(row.danger(", and the next ones run unasked"));
    }
    if offer.waiting > 0 {
        // A grant for a number of calls approves no more than that number, so this is an upper bound.
        let most = if let Lasts::Calls(calls) = offer.terms.lasts { calls as usize } else { usize::MAX };
        let words =
            format!("▲ running at once: {} of those that wait now", counted(offer.waiting.min(most), "other call"));
        rows.push(warn(words));
    }
    rows
}

/// What a grant covers, as its line says it; the tool comes before it.
pub fn covers(card: &GrantCard) -> Row {
    match &card.terms.covers {
        Covers::ThisCall => ours("the same arguments"),
        Covers::Under { argument, folder } => {
            foreign(Tone::Ours, argument).quiet(" under ").and_foreign(Tone::Ours, folder)
        }
        Covers::Tool => ours("any arguments"),
    }
}

/// What is left of a grant.
pub fn left(card: &GrantCard, now: i64) -> String {
    match (card.until, card.left) {
        (Some(until), _) => format!("{} left", time::span((until - now).max(0))),
        (None, Some(left)) => format!("{} left", counted(left, "call")),
        (None, None) => "this session".to_owned(),
    }
}
