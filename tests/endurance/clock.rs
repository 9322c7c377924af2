//! The clock of the day jumps, forwards and back: no allow rule outlives its time, deadlines and order do not notice.

use mcp_approve::audit::record::Kind;

use crate::bed::{Measured, Run, grouped};
use crate::world::{Did, World, call, config};

/// 2026-11-21T10:00:00Z, in milliseconds.
const NOON: i64 = 1_795_255_200_000;
const DAY: i64 = 86_400_000;
/// The rule's last moment: the end of that day, wherever we are.
const POLICY: &str =
    "version = 1\n[[rule]]\nid = \"until\"\ndecision = \"allow\"\ntool = \"write_file\"\nexpires = 2026-11-22\n";

/// R15.
pub fn jumps(run: &Run) -> Measured {
    let mut chance = run.chance(15);
    let (mut outlived, mut early, mut disorder, mut calls) = (0, 0, 0, 0_u64);
    for _ in 0..run.of(300) {
        let mut world = World::with(config(), POLICY).ready();
        world.now.wall = NOON;
        let (mut latest, mut refused_since) = (NOON, false);
        for id in 0..40 {
            let jump = i64::try_from(chance.below(6)).unwrap() - 3;
            world.now.wall += jump * DAY / 3 + i64::try_from(chance.below(1_000)).unwrap();
            latest = latest.max(world.now.wall);
            let content = format!(r#"{{"path":"/a","content":"{id}"}}"#);
            let did = world.host(&call(&id.to_string(), "write_file", &content));
            calls += 1;
            let ran = did.iter().any(|did| matches!(did, Did::Forward(_)));
            // Two days later it is over by every time zone; once it was refused for its time, it stays so.
            outlived += u64::from(ran && (latest > NOON + 3 * DAY || refused_since));
            refused_since |= !ran && world.now.wall > NOON;
            // A jump of days is no patience of the operator's: only the steady clock counts.
            early += world.wait(1).iter().filter(|did| matches!(did, Did::Answer(_))).count();
            if let Some(ticket) = world.cards.keys().next().cloned()
                && chance.one_in(2)
            {
                world.deny(&ticket, "no");
                world.cards.remove(&ticket);
            }
            world.server(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#));
        }
        // A decision never stands before its question, whatever the times say.
        let order: Vec<_> = world.entries.iter().filter(|entry| entry.ticket.is_some()).collect();
        for (at, entry) in order.iter().enumerate() {
            let decided_before = order[..at].iter().any(|one| one.kind == Kind::Decision && one.ticket == entry.ticket);
            disorder += usize::from(entry.kind == Kind::DecisionAsked && decided_before);
            disorder += usize::from(entry.kind == Kind::Outcome && !decided_before);
        }
        world.finish();
    }
    Measured::held(
        outlived == 0 && early == 0 && disorder == 0,
        format!("{outlived} outlived, {early} expired early, {disorder} out of order, of {} calls", grouped(calls)),
    )
}
