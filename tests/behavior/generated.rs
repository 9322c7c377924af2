//! Names that programs make: verb and noun in either order, camel case, titles and paths of OpenAPI generators. None of a
//! verb that changes something is PURE, and of those that read most are. The verbs are those that public APIs use, written
//! down without a look at the recogniser's lists.

use mcp_approve::behavior::conclude::{Behavior, Trust, of_tool};
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::mcp::tool::Tool;
use serde_json::json;

fn concluded(name: &str, title: Option<&str>, description: &str) -> Behavior {
    let definition = json!({
        "name": name, "title": title, "description": description,
        "inputSchema": { "type": "object", "properties": { "id": { "type": "string" } } },
    });
    of_tool(&Tool::read(definition).expect("a definition with a name"), Trust::Corroborate)
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Every shape of a name for one act on one thing, each with the description that such a generator writes.
fn shapes(verb: &str, noun: &str) -> [(String, Option<String>, String); 9] {
    let (upper, thing) = (capital(verb), capital(noun));
    [
        (format!("{noun}_{verb}"), None, format!("{thing} {upper}")),
        (format!("{verb}_{noun}"), None, format!("{upper} {thing}")),
        (format!("{verb}{thing}"), None, String::new()),
        (format!("{noun}{upper}"), Some(format!("{thing} {upper}")), String::new()),
        (format!("{noun}s_{noun}Id_{verb}"), None, format!("{thing}s {upper}")),
        (
            format!("{verb}_api_v1_{noun}s__id_"),
            None,
            format!("{upper} {thing}\n\n**Path Parameters:**\n- **id** (Required)"),
        ),
        (format!("acme-{noun}-{verb}"), Some(format!("{upper} {noun}")), String::new()),
        (format!("{verb}{thing}ById"), None, format!("{verb}{thing}ById")),
        (format!("{noun}s.{verb}"), None, format!("{noun}s.{verb}")),
    ]
}

fn judged(verbs: &str, nouns: &str) -> Vec<(String, Badge)> {
    let nouns: Vec<&str> = nouns.split_whitespace().collect();
    let acts = verbs.split_whitespace().flat_map(|verb| nouns.iter().flat_map(move |noun| shapes(verb, noun)));
    acts.map(|(name, title, description)| {
        let badge = concluded(&name, title.as_deref(), &description).badge();
        (format!("{name}: {title:?} {description:?}"), badge)
    })
    .collect()
}

#[test]
fn no_generated_name_of_a_change_is_pure() {
    let all = judged(CHANGES, THINGS);
    assert!(all.len() > 5_000, "{}", all.len());
    let of = |wanted: Badge| all.iter().filter(move |(_, badge)| *badge == wanted).map(|(name, _)| name);
    let pure: Vec<_> = of(Badge::Pure).take(40).collect();
    assert!(pure.is_empty(), "PURE: {pure:#?}");
    let likely: Vec<_> = of(Badge::Likely).collect();
    let few: Vec<_> = likely.iter().step_by(likely.len() / 60 + 1).collect();
    assert!(likely.len() * 1_000 < all.len() * 2, "PURE?: {} of {}: {few:#?}", likely.len(), all.len());
}

#[test]
fn a_generated_name_of_a_read_is_seldom_taken_for_a_change() {
    let all = judged(READS, NOUNS);
    let mutates: Vec<_> = all.iter().filter(|(_, badge)| *badge == Badge::Mutates).map(|(name, _)| name).collect();
    let few: Vec<_> = mutates.iter().step_by(mutates.len() / 60 + 1).collect();
    assert!(mutates.len() * 8 < all.len(), "MUTATES: {} of {}: {few:#?}", mutates.len(), all.len());
}

const READS: &str = "get list read fetch retrieve search find describe";

const CHANGES: &str = "abort accept activate add admit allocate apply approve archive assign associate attach authorize backup ban bind block boot \
    cancel claim clear clone close commit complete confirm convert copy cordon create deactivate debit decline decrement defer delete demote \
    deny deploy deprecate deregister detach disable disassociate discard disconnect dismiss dispatch drain drop duplicate edit eject \
    empty enable enqueue enroll erase evict execute expire extend failover flush follow forget forward freeze grant halt \
    hibernate hide import increment initialize insert install invalidate invite invoke join kick kill launch leave lock \
    merge migrate modify move mute nominate notify overwrite park patch pause pay pin post prepend promote provision publish purchase purge push put \
    quarantine rebalance reboot rebuild recalculate recover redeem redeploy refund register reindex reject release relocate remove rename renew \
    reopen replace replay reprocess requeue reschedule reserve reset resize restart restore resume retire revert revoke rollback \
    rotate run save scale seal send set share ship shutdown snooze split star start stop submit subscribe suspend swap \
    sync terminate toggle transfer trash trigger truncate unarchive unassign unban unblock undelete undo unfollow uninstall \
    unlink unlock unmount unpin unpublish unshare unsubscribe update upgrade upload upsert vacuum void wipe withdraw write zap";

const NOUNS: &str = "user invoice file pet order project comment release account";

/// Half of them look like verbs that read.
const THINGS: &str = "monitor report list search view query check user invoice file review preview scan watch";
