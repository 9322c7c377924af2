//! Where the policy asks for signatures: an approval without one decides nothing, and one counts only for the card it was made for.

use jiff::tz::TimeZone;
use mcp_approve::audit::record::Kind;
use mcp_approve::behavior::agreed::{Agreement, What};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::{Action, Mutability};
use mcp_approve::gate::data::event::{Event, Place, Signature};
use mcp_approve::gate::data::facts::{Approver, May, Opinion};
use mcp_approve::gate::data::pin::ToolWord;
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::gate::data::terms::{Covers, GrantTerms, Lasts};
use mcp_approve::gate::{Config, ForwardOrder, Mode, Unattended};
use mcp_approve::policy::rule::{Decision, Layer, Pending};
use mcp_approve::signing::change::{self, Change, ChangeKind, ChangeTerms, SignedChange};
use mcp_approve::signing::grade::{Needs, Owner};
use mcp_approve::signing::signers::{InForce, Signers};
use mcp_approve::signing::statement::{CardTerms, Evidence, Said, Statement, VERSION};
use mcp_approve::signing::verdict::Attested;
use mcp_approve::wire::digest::Digest;

use super::WRITE;
use crate::signing_bed::{Key, Making, armored};
use crate::world::{Did, World, ann, config, modern_call, word};

const ALWAYS: &str = "version = 1\n[operator]\nsigned = \"always\"\n";
const DANGEROUS: &str = "version = 1\n[operator]\nsigned = \"dangerous\"\n";

/// Mara's key and Tom's, each touched.
fn key(name: &str) -> Key {
    Key::new("sk-ssh-ed25519@openssh.com", name.as_bytes()[0])
}

/// What an honest console of this person signs for the card, but for a change.
fn signature(world: &World, ticket: &str, who: &str, change: impl FnOnce(&mut Statement)) -> Signature {
    attested(&said(world, ticket, who, change), who)
}

/// What an honest console has this person sign for the card, but for a change.
fn said(world: &World, ticket: &str, who: &str, change: impl FnOnce(&mut Statement)) -> Statement {
    let card = &world.cards[ticket];
    let terms = card.signs.clone().expect("a card that asks for a signature");
    let mut statement = Statement {
        also: Vec::new(),
        card: CardTerms { call: card.digest, card: card.card_digest(), ticket: card.ticket.clone(), ..terms },
        log: None,
        not_after: world.now.wall + 60_000,
        said: GrantTerms::said(None, world.now.wall),
        signer: format!("{who}@example.com"),
        time: world.now.wall,
        version: VERSION,
    };
    change(&mut statement);
    statement
}

fn attested(statement: &Statement, who: &str) -> Signature {
    let line = |name: &str| format!("{name}@example.com {}\n", key(name).line());
    by_lists(statement, who, (&["mara", "tom", "ann"].map(line).concat(), ""))
}

/// The signature as the shell checks it against these lists, of allowed signers and of revoked keys.
fn by_lists(statement: &Statement, who: &str, (allowed, revoked): (&str, &str)) -> Signature {
    let text = statement.to_json();
    let signature = armored(&key(who).sign(text.as_bytes(), &Making::default()));
    let signers = Signers::read(allowed, revoked, &TimeZone::UTC).unwrap();
    match Attested::check(Evidence { statement: text, signature }, &signers) {
        Ok(attested) => {
            let lists = InForce { file: "/etc/mcp-approve/allowed_signers".into(), owner: Owner::Root, signers };
            Signature::Attested(Box::new(attested), Box::new(lists))
        }
        Err(why) => Signature::Unusable(why.to_string()),
    }
}

fn refusal(did: &[Did]) -> &str {
    assert!(!did.iter().any(|one| matches!(one, Did::Forward(_) | Did::Settle(_))), "decided: {did:?}");
    let refused = did.iter().find_map(|one| if let Did::Refuse(why) = one { Some(why.as_str()) } else { None });
    refused.unwrap_or_else(|| panic!("not refused: {did:?}"))
}

fn is_forwarded(did: &[Did]) -> bool {
    did.iter().any(|one| matches!(one, Did::Forward(_)))
}

#[test]
fn an_approval_without_a_signature_decides_nothing() {
    let mut world = World::with(config(), ALWAYS).ready();
    world.call("1", "write_file", WRITE);
    assert!(refusal(&world.approve("files-1")).contains("wants a signature"));
    let fault = world.entries.iter().rev().find(|entry| entry.kind == Kind::Fault).unwrap();
    assert!(fault.detail.json().contains("a verdict (approve) had no effect"), "{:?}", fault.detail.json());
    let unusable = Signature::Unusable("the key was revoked".into());
    assert!(refusal(&world.approve_signed("files-1", unusable)).contains("the key was revoked"));
    let mara = signature(&world, "files-1", "mara", |_| {});
    assert!(is_forwarded(&world.approve_signed("files-1", mara)));
    let decision = world.entries.iter().rev().find(|entry| entry.kind == Kind::Decision).unwrap();
    let detail: serde_json::Value = serde_json::from_str(decision.uncut.json()).unwrap();
    let signed = &detail["signatures"][0];
    assert_eq!((&signed["signer"], &signed["worth"]), (&"mara@example.com".into(), &"L1 same user".into()));
    assert!(Statement::read(signed["statement"].as_str().unwrap()).is_ok());
    // A denial needs none.
    world.call("2", "write_file", WRITE);
    assert!(world.deny("files-2", "no").iter().any(|one| matches!(one, Did::Answer(_))));
    world.finish();
}

#[test]
fn a_grant_from_before_signatures_were_asked_for_ends_with_the_policy_that_asks() {
    let mut world = World::new().ready();
    world.call("1", "write_file", WRITE);
    assert!(is_forwarded(&world.grant("files-1", Covers::Tool, Lasts::Session)));
    let passed = world.call("2", "write_file", WRITE);
    assert!(is_forwarded(&passed), "the grant covers it: {passed:?}");
    world.policy(ALWAYS);
    let asked = world.call("3", "write_file", WRITE);
    assert!(asked.contains(&Did::Ask("files-3".into())), "{asked:?}");
    assert!(world.entries.iter().any(|entry| entry.detail.json().contains("now asks for more signatures")));
}

#[test]
fn an_approval_from_before_signatures_were_asked_for_runs_nothing_later_and_grants_nothing() {
    let mut world = World::with(Config { order: ForwardOrder::Sent, ..config() }, "").ready();
    world.call("1", "write_file", WRITE);
    world.call("2", "write_file", r#"{"path":"/b","content":"x"}"#);
    // It waits for the first one, which the host sent before it.
    assert!(!is_forwarded(&world.grant("files-2", Covers::Tool, Lasts::Session)));
    world.policy(ALWAYS);
    let did = world.deny("files-1", "no");
    assert!(!is_forwarded(&did), "{did:?}");
    assert!(did.iter().any(|one| matches!(one, Did::Answer(text) if text.contains("asks for signatures"))), "{did:?}");
    assert!(world.call("3", "write_file", WRITE).contains(&Did::Ask("files-3".into())), "no grant was given");
}

#[test]
fn what_the_host_brings_back_needs_a_signature_of_its_own() {
    for (policy, runs) in [("version = 1\n", true), (ALWAYS, false)] {
        let mut world = World::new().ready();
        world.host(&modern_call("6", "write_file", WRITE, ""));
        assert!(is_forwarded(&world.approve("files-1")));
        world.server(r#"{"jsonrpc":"2.0","id":6,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Who?"}}}}}"#);
        world.policy(policy);
        let retry = modern_call("7", "write_file", WRITE, r#","requestState":"s","inputResponses":{"a":{}}"#);
        assert_eq!(is_forwarded(&world.host(&retry)), runs, "{policy}");
    }
}

#[test]
fn what_is_not_dangerous_needs_a_signature_only_where_all_do() {
    let mut world = World::with(config(), "").ready();
    world.call("1", "write_file", WRITE);
    assert!(world.cards["files-1"].signs.is_none() && is_forwarded(&world.approve("files-1")));
    let mut world = World::with(config(), DANGEROUS).ready();
    world.call("1", "write_file", WRITE);
    let (danger, signs) = (world.cards["files-1"].danger.is_some(), world.cards["files-1"].signs.is_some());
    assert_eq!(danger, signs);
    world.disk.insert("/a".into(), ("/a".into(), "old".into()));
    world.call("2", "write_file", WRITE);
    assert!(world.cards["files-2"].danger.is_some() && world.cards["files-2"].signs.is_some());
    assert!(refusal(&world.approve("files-2")).contains("wants a signature"));
}

/// What comes from a desk is brought by a process of this account: where a key signed, and what was read, is only its word.
#[test]
fn the_record_of_an_approval_from_the_desk_says_no_more_than_is_signed() {
    let mut world = World::with(config(), ALWAYS).ready();
    world.call("1", "write_file", WRITE);
    let signed = signature(&world, "files-1", "tom", |_| {});
    let mut word = word("files-1", world.cards["files-1"].digest);
    word.operator.place = Place::Desk(Digest::of(b"a statement"));
    let did = world.approve_word(word, true, signed);
    assert!(is_forwarded(&did), "{did:?}");
    let decision = world.entries.iter().rev().find(|entry| entry.kind == Kind::Decision).unwrap();
    let detail: serde_json::Value = serde_json::from_str(decision.uncut.json()).unwrap();
    assert_eq!(detail["signatures"][0]["worth"], "L1 same user");
    assert!(!decision.detail.json().contains("unread"), "{}", decision.detail.json());
    world.finish();
}

#[test]
fn g1_a_signature_for_another_card_or_another_state_of_it_decides_nothing() {
    type Change = fn(&mut Statement);
    let rows: &[(Change, &str)] = &[
        (|s| s.card.ticket = "files-9".into(), "the ticket"),
        (|s| s.card.call = mcp_approve::wire::digest::Digest::of(b"x"), "the digest of its bytes"),
        (|s| s.card.card = mcp_approve::wire::digest::Digest::of(b"x"), "the digest of its card"),
        (|s| s.card.user = "tom".into(), "the user"),
        (|s| s.card.machine = "m".into(), "the machine"),
        (|s| s.said.grants = Some("{}".into()), "what it grants"),
        (|s| s.not_after = s.time - 1, "expired"),
        (|s| s.signer = "tom@example.com".into(), "is not one of tom@example.com"),
    ];
    for (change, why) in rows {
        let mut world = World::with(config(), ALWAYS).ready();
        world.call("1", "write_file", WRITE);
        let signed = signature(&world, "files-1", "mara", change);
        let did = world.approve_signed("files-1", signed);
        assert!(refusal(&did).contains(why), "{why}: {did:?}");
        // The card is shown as it is, and an honest signature still counts.
        assert!(did.contains(&Did::Ask("files-1".into())), "{why}: {did:?}");
        let mara = signature(&world, "files-1", "mara", |_| {});
        assert!(is_forwarded(&world.approve_signed("files-1", mara)), "{why}");
    }
    // Of the same call, as it came once more, and before an edit.
    let mut world = World::with(config(), ALWAYS).ready();
    world.call("1", "write_file", WRITE);
    world.call("2", "write_file", WRITE);
    let first = signature(&world, "files-1", "mara", |_| {});
    assert!(refusal(&world.approve_signed("files-2", first)).contains("another card"));
    let before = signature(&world, "files-1", "mara", |_| {});
    world.edit("files-1", r#"{"path":"/a","content":"y"}"#);
    assert!(refusal(&world.approve_signed("files-1", before)).contains("another card"));
}

#[test]
fn g3_a_console_that_showed_another_card_signs_nothing_that_counts() {
    let mut world = World::with(config(), ALWAYS).ready();
    world.call("1", "write_file", WRITE);
    // Whoever carries the card changes what it shows; the console signs what it was given.
    let sent = world.cards["files-1"].clone();
    world.cards.get_mut("files-1").unwrap().effect = "reads a file".into();
    let signed = signature(&world, "files-1", "mara", |_| {});
    assert!(refusal(&world.approve_signed("files-1", signed)).contains("the digest of its card"));
    // The card comes over the link as JSON, and has the same digest there.
    let received: Snapshot = serde_json::from_slice(&serde_json::to_vec(&sent).unwrap()).unwrap();
    assert_eq!(received.card_digest(), sent.card_digest());
}

#[test]
fn g9_a_restarted_wrapper_draws_another_challenge() {
    let mut world = World::with(config(), ALWAYS).ready();
    world.call("1", "write_file", WRITE);
    let kept = signature(&world, "files-1", "mara", |_| {});
    let mut again = World::with(Config { secret: "another".into(), ..config() }, ALWAYS).ready();
    again.call("1", "write_file", WRITE);
    assert_eq!(again.cards["files-1"].digest, world.cards["files-1"].digest);
    assert!(refusal(&again.approve_signed("files-1", kept)).contains("another card"));
}

#[test]
fn no_way_around_the_card_approves_without_a_signature() {
    let mut world = World::with(config(), ALWAYS).ready();
    world.call("1", "write_file", WRITE);
    assert!(refusal(&world.grant("files-1", Covers::Tool, Lasts::Session)).contains("wants a signature"));
    // A grant needs a signature that covers its terms.
    let alone = signature(&world, "files-1", "mara", |_| {});
    let terms = GrantTerms { covers: Covers::Tool, lasts: Lasts::Session };
    let digest = world.cards["files-1"].digest;
    let did = world.step(Event::Granted(word("files-1", digest), terms.clone(), alone));
    assert!(refusal(&did).contains("what it grants"), "{did:?}");
    let covering = signature(&world, "files-1", "mara", |s| s.said = GrantTerms::said(Some(&terms), s.time));
    assert!(is_forwarded(&world.step(Event::Granted(word("files-1", digest), terms, covering))));
    // Confirming a tool approves its call, and its next ones.
    let likely = r#"version = 1
[operator]
signed = "always"
[defaults]
pure = "ask"
"#;
    let mut world = World::with(config(), likely).ready();
    world.call("1", "read_file", r#"{"path":"/a"}"#);
    if world.cards.get("files-1").is_some_and(|card| card.offer.is_some()) {
        assert!(refusal(&world.says("files-1", ToolWord::Reads)).contains("wants a signature"));
    }
}

#[test]
fn a_form_of_the_host_approves_nothing_that_needs_a_signature() {
    let elicits = Config { unattended: Unattended::Elicit, ..config() };
    let mut world = World::with(elicits, ALWAYS).ready_with(r#"{"elicitation":{}}"#);
    world.call("1", "add_note", r#"{"title":"a"}"#);
    let Some((id, _)) = world.forms.first().cloned() else { return };
    let did = world.host(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"accept","content":{{"decision":"approve"}}}}}}"#
    ));
    assert!(!is_forwarded(&did), "{did:?}");
}

#[test]
fn two_approvals_take_two_people_who_sign_the_same_state() {
    let rule = r#"version = 1
[[rule]]
id = "two"
decision = "ask"
tool = "write_file"
approvals = 2
signers = ["mara@example.com", "tom@example.com"]
"#;
    let mut world = World::with(config(), rule).ready();
    world.call("1", "write_file", WRITE);
    let ann = signature(&world, "files-1", "ann", |_| {});
    assert!(refusal(&world.approve_signed("files-1", ann)).contains("not one of the signers that the rule names"));
    let mara = signature(&world, "files-1", "mara", |_| {});
    let did = world.approve_signed("files-1", mara);
    assert!(refusal(&did).contains("1 person more must sign"), "{did:?}");
    assert_eq!(world.cards["files-1"].signs.as_ref().map(|terms| terms.approval), Some(2));
    let again = signature(&world, "files-1", "mara", |_| {});
    assert!(refusal(&world.approve_signed("files-1", again)).contains("has approved this call already"));
    let tom = signature(&world, "files-1", "tom", |_| {});
    assert!(is_forwarded(&world.approve_signed("files-1", tom)));
    let decision = world.entries.iter().rev().find(|entry| entry.kind == Kind::Decision).unwrap();
    assert_eq!(decision.uncut.json().matches("\"sshsig\":\"U1NIU0lH").count(), 2);
    world.finish();
    // An edit takes the first one back.
    let mut world = World::with(config(), rule).ready();
    world.call("1", "write_file", WRITE);
    let mara = signature(&world, "files-1", "mara", |_| {});
    world.approve_signed("files-1", mara);
    world.edit("files-1", r#"{"path":"/a","content":"y"}"#);
    let tom = signature(&world, "files-1", "tom", |_| {});
    assert!(refusal(&world.approve_signed("files-1", tom)).contains("1 person more must sign"));
}

#[test]
fn another_person_than_the_user_of_the_machine_must_approve_where_the_rule_says_so() {
    let rule = "version = 1\n[[rule]]\nid = \"other\"\ndecision = \"ask\"\ntool = \"write_file\"\nother = true\n";
    let mut world = World::with(config(), rule).ready();
    world.call("1", "write_file", WRITE);
    let mara = signature(&world, "files-1", "mara", |_| {});
    assert!(refusal(&world.approve_signed("files-1", mara)).contains("another person than mara@example.com"));
    let tom = signature(&world, "files-1", "tom", |_| {});
    assert!(is_forwarded(&world.approve_signed("files-1", tom)));
}

const TWO: &str = "version = 1\n[[rule]]\nid = \"two\"\ndecision = \"ask\"\ntool = \"write_file\"\napprovals = 2\n";

/// A call that needs two approvals, and one person's signature under a name, by these lists.
fn sign_by(world: &mut World, who: &str, name: &str, lists: (&str, &str)) -> Vec<Did> {
    let statement = said(world, "files-1", who, |s| s.signer = name.into());
    world.approve_signed("files-1", by_lists(&statement, who, lists))
}

#[test]
fn an_earlier_signature_is_checked_again_when_the_last_one_comes() {
    let line = |name: &str, options: &str| format!("{name}@example.com {options}{}\n", key(name).line());
    let both = [line("mara", ""), line("tom", "")].concat();
    // Half a minute after the tests' clock begins.
    let short = [line("mara", "valid-before=\"20260921141350Z\" "), line("tom", "")].concat();
    let (tom, mara) = (line("tom", ""), key("mara").line());
    for (first, last, why) in [
        ((both.as_str(), ""), (both.as_str(), mara.as_str()), "was revoked"),
        ((&both, ""), (&tom, ""), "is not in the list"),
        ((&short, ""), (&short, ""), "no longer valid"),
    ] {
        let mut world = World::with(config(), TWO).ready();
        world.call("1", "write_file", WRITE);
        sign_by(&mut world, "mara", "mara@example.com", first);
        world.wait(40);
        let did = sign_by(&mut world, "tom", "tom@example.com", last);
        let refused = refusal(&did);
        assert!(refused.contains("mara@example.com") && refused.contains(why), "{why}: {did:?}");
        // It is gone: the next one is the first again.
        assert_eq!(world.cards["files-1"].signs.as_ref().map(|terms| terms.approval), Some(1), "{why}");
    }
}

#[test]
fn a_key_that_may_sign_under_several_names_counts_for_nobody_where_people_are_told_apart() {
    let named = "version = 1\n[[rule]]\nid = \"n\"\ndecision = \"ask\"\ntool = \"write_file\"\nsigners = [\"tom@example.com\"]\n";
    let (mara, tom) = (key("mara").line(), key("tom").line());
    for (policy, list) in [
        (TWO, format!("*@example.com {tom}\n")),
        (TWO, format!("tom@example.com,mara@example.com {tom}\n")),
        (TWO, format!("tom@example.com {tom}\nann@example.com {tom}\n")),
        (TWO, format!("tom@example.com {tom}\nann@example.com valid-before=\"20200101Z\" {tom}\n")),
        (named, format!("t?m@example.com {tom}\n")),
    ] {
        let mut world = World::with(config(), policy).ready();
        world.call("1", "write_file", WRITE);
        let did = sign_by(&mut world, "tom", "tom@example.com", (&list, ""));
        assert!(refusal(&did).contains("several names"), "{list}: {did:?}");
    }
    // One key is one person, whatever its name's case.
    let mut world = World::with(config(), TWO).ready();
    world.call("1", "write_file", WRITE);
    let list = format!("mara@example.com {mara}\nMara@Example.com {tom}\n");
    sign_by(&mut world, "mara", "mara@example.com", (&list, ""));
    let did = sign_by(&mut world, "tom", "Mara@Example.com", (&list, ""));
    assert!(refusal(&did).contains("has approved this call already"), "{did:?}");
}

#[test]
fn the_user_of_the_machine_is_no_other_person_by_another_spelling_or_another_line() {
    let rule = "version = 1\n[[rule]]\nid = \"other\"\ndecision = \"ask\"\ntool = \"write_file\"\nother = true\n";
    let tom = key("tom").line();
    for (name, list) in [
        ("Mara@example.com", format!("Mara@example.com {tom}\n")),
        ("mara", format!("mara {tom}\n")),
        ("MARA@corp", format!("MARA@corp {tom}\n")),
        ("tom@example.com", format!("*,!mara@example.com {tom}\n")),
        ("mara+work@example.com", format!("mara+work@example.com {tom}\n")),
        // The key is the user's by a line for another purpose.
        ("tom@example.com", format!("tom@example.com {tom}\nmara@example.com namespaces=\"git\" {tom}\n")),
        ("tom@example.com", format!("tom@example.com {tom}\nMAR*@example.com namespaces=\"git\" {tom}\n")),
    ] {
        let mut world = World::with(config(), rule).ready();
        world.call("1", "write_file", WRITE);
        let did = sign_by(&mut world, "tom", name, (&list, ""));
        assert!(refusal(&did).contains("another person"), "{list}: {did:?}");
    }
}

#[test]
fn observing_is_no_way_around_a_policy_that_asks_for_signatures() {
    for policy in [ALWAYS, TWO] {
        let observing = Config { mode: Mode::Observe, ..config() };
        let mut world = World::with(observing.clone(), policy).ready();
        let did = world.call("1", "write_file", WRITE);
        assert!(did.contains(&Did::Ask("files-1".into())) && !is_forwarded(&did), "{policy}: {did:?}");
        // Also where the policy begins to ask.
        let mut world = World::with(observing, "").ready();
        assert!(is_forwarded(&world.call("1", "write_file", WRITE)));
        world.policy(policy);
        let did = world.call("2", "write_file", WRITE);
        assert!(!is_forwarded(&did), "{policy}: {did:?}");
    }
}

#[test]
fn a_grant_ends_when_its_signature_says() {
    let terms = GrantTerms { covers: Covers::Tool, lasts: Lasts::Minutes(5) };
    let mut world = World::with(config(), ALWAYS).ready();
    world.call("1", "write_file", WRITE);
    let digest = world.cards["files-1"].digest;
    refusal(&world.grant("files-1", Covers::Tool, Lasts::Minutes(5)));
    for (until, runs) in
        [(None, false), (Some(5 * 60_000 + 1), false), (Some(60 * 60_000), false), (Some(5 * 60_000), true)]
    {
        let signed = signature(&world, "files-1", "mara", |s| {
            s.said = Said { until: until.map(|until| s.time + until), ..GrantTerms::said(Some(&terms), s.time) };
        });
        let did = world.step(Event::Granted(word("files-1", digest), terms.clone(), signed));
        assert_eq!(is_forwarded(&did), runs, "{until:?}: {did:?}");
        if !runs {
            assert!(refusal(&did).contains("until when"), "{until:?}: {did:?}");
        }
    }
}

#[test]
fn what_an_operator_said_without_a_signature_lets_nothing_pass_that_needs_one() {
    let delete = r#"{"path":"/a"}"#;
    // By the pins, which the user's processes can write, the tool only reads.
    let mut first = World::new().ready();
    first.call("1", "delete_file", delete);
    let definition = first.cards["files-1"].clone();
    let reads = |world: &mut World| {
        let mut pins = world.pins();
        let pin = pins.tools.get_mut("delete_file").expect("a pin of the tool");
        pin.said = Some(pin.identity.unwrap_or(definition.identity).with_mutability(Mutability::Pure));
        world.step(Event::Reviewed(Box::new(pins)));
    };
    for (policy, asks) in [("version = 1\n", false), (DANGEROUS, true), (ALWAYS, true)] {
        let mut world = World::with(config(), policy).ready();
        world.call("1", "delete_file", delete);
        reads(&mut world);
        let did = world.call("2", "delete_file", delete);
        assert_eq!(did.contains(&Did::Ask("files-2".into())), asks, "{policy}: {did:?}");
        assert!(!asks || world.cards["files-2"].signs.is_some(), "{policy}");
    }
}

/// What the tool is said to be decides what its keys may hold, too.
#[test]
fn a_search_said_without_a_signature_opens_no_key_where_all_approvals_are_signed() {
    let find = r#"{"path":"/a","query":"what it says, word by word"}"#;
    for (policy, is_new) in [("version = 1\n", false), (ALWAYS, true)] {
        let mut world = World::with(config(), policy).ready();
        world.call("1", "read_file", find);
        assert!(!world.cards["files-1"].new.is_empty(), "a read is given no text to search for");
        let mut pins = world.pins();
        let pin = pins.tools.get_mut("read_file").expect("a pin of the tool");
        pin.said = Some(Identity { action: Action::Search, ..world.cards["files-1"].identity });
        world.step(Event::Reviewed(Box::new(pins)));
        // It waits behind the first, which still waits.
        world.call("2", "read_file", find);
        assert_eq!(!world.cards["files-2"].new.is_empty(), is_new, "{policy}");
    }
}

/// A milder change, of which no danger is known and which no rule about deletions matches, is no way around a signature.
#[test]
fn another_change_said_without_a_signature_is_not_believed_where_signatures_are_asked_for() {
    for (policy, is) in [("version = 1\n", Action::Update), (DANGEROUS, Action::Delete), (ALWAYS, Action::Delete)] {
        let mut world = World::with(config(), policy).ready();
        world.call("1", "delete_file", r#"{"path":"/a"}"#);
        let mut pins = world.pins();
        let pin = pins.tools.get_mut("delete_file").expect("a pin of the tool");
        pin.said = Some(Identity { action: Action::Update, ..world.cards["files-1"].identity });
        world.step(Event::Reviewed(Box::new(pins)));
        world.call("2", "delete_file", r#"{"path":"/a"}"#);
        let card = &world.cards["files-2"];
        assert_eq!((card.identity.action, card.signs.is_some()), (is, is == Action::Delete), "{policy}");
    }
}

#[test]
fn an_accepted_policy_counts_only_with_a_signature_where_the_machine_asks_for_them() {
    let mut world = World::with(config(), ALWAYS).ready();
    let mut policy = mcp_approve::policy::parse::parse(ALWAYS).unwrap();
    let pending = Pending {
        layer: Layer::User,
        file: "/p".into(),
        digest: Digest::of(b"p"),
        loosens: vec!["allows: x".into()],
        needs: Needs::Signature,
        diff: String::new(),
    };
    policy.pending.push(pending);
    world.step(Event::PolicyChanged(policy.into()));
    let did = world.step(Event::PolicyAccepted {
        file: "/p".into(),
        digest: Digest::of(b"p"),
        operator: ann(),
        signature: Signature::None,
    });
    assert!(refusal(&did).contains("wants your signature"), "{did:?}");
    assert!(!world.entries.iter().any(|entry| entry.detail.json().contains("accepted the changed policy")));
}

#[test]
fn one_signature_for_several_cards_counts_for_each_of_them_once_and_for_no_other() {
    let mut world = World::with(config(), ALWAYS).ready();
    for (id, path) in [("1", "/a"), ("2", "/b"), ("3", "/c")] {
        world.call(id, "write_file", &format!(r#"{{"path":"{path}","content":"x"}}"#));
    }
    let second = said(&world, "files-2", "mara", |_| {}).card;
    let both = said(&world, "files-1", "mara", |s| s.also = vec![second]);
    let sign = |world: &mut World, ticket: &str| world.approve_signed(ticket, attested(&both, "mara"));
    let did = sign(&mut world, "files-3");
    assert!(refusal(&did).contains("another card"), "{did:?}");
    for ticket in ["files-2", "files-1"] {
        assert!(is_forwarded(&sign(&mut world, ticket)), "{ticket}");
    }
    assert!(!is_forwarded(&sign(&mut world, "files-1")), "once");
    // It grants nothing beyond them.
    let terms = GrantTerms { covers: Covers::Tool, lasts: Lasts::Session };
    let also = both.card.clone();
    let granting = said(&world, "files-3", "mara", |s| {
        (s.also, s.said) = (vec![also], GrantTerms::said(Some(&terms), s.time));
    });
    let digest = world.cards["files-3"].digest;
    let did = world.step(Event::Granted(word("files-3", digest), terms, attested(&granting, "mara")));
    assert!(refusal(&did).contains("several cards"), "{did:?}");
}

#[test]
fn signatures_over_several_cards_that_each_need_two_people_count_for_all_of_them() {
    let mut world = World::with(config(), TWO).ready();
    for (id, path) in [("1", "/a"), ("2", "/b")] {
        world.call(id, "write_file", &format!(r#"{{"path":"{path}","content":"x"}}"#));
    }
    for (who, runs) in [("mara", false), ("tom", true)] {
        let second = said(&world, "files-2", who, |_| {}).card;
        let both = said(&world, "files-1", who, |s| s.also = vec![second]);
        for ticket in ["files-1", "files-2"] {
            let did = world.approve_signed(ticket, attested(&both, who));
            assert_eq!(is_forwarded(&did), runs, "{who} {ticket}: {did:?}");
        }
    }
}

#[test]
fn an_approver_program_lets_nothing_pass_that_needs_a_signature() {
    let bot = || Approver { name: "bot".into(), server: Vec::new(), tool: Vec::new(), may: May::Allow };
    let says = |decision| Opinion { name: "bot".into(), decision, reason: String::new(), failed: false, latency_us: 1 };
    for (policy, runs) in [("version = 1\n", true), (ALWAYS, false), (DANGEROUS, false), (TWO, false)] {
        let mut world = World::with(Config { approvers: vec![bot()], ..config() }, policy).ready();
        world.call("1", "write_file", WRITE);
        let did = world.approvers_say(&[says(Decision::Allow)]);
        assert_eq!(is_forwarded(&did), runs, "{policy}: {did:?}");
        // It may still deny.
        world.call("2", "write_file", WRITE);
        let did = world.approvers_say(&[says(Decision::Deny)]);
        assert!(did.iter().any(|one| matches!(one, Did::Answer(_))), "{policy}: {did:?}");
    }
}

/// The signature over what a word on a card agrees to, but for a change, made so many seconds ago.
fn on_word(world: &World, ticket: &str, word: ToolWord, ago: i64, edit: fn(&mut ChangeTerms)) -> Signature<Change> {
    let offer = world.cards[ticket].offer.clone().expect("an offer");
    let mut terms = offer.signs.expect("a word that asks for a signature").change(word).expect("something to agree to");
    edit(&mut terms);
    let statement = Change::new(terms, "mara@example.com".into(), world.now.wall - ago * 1000).to_json();
    let making = Making { namespace: change::NAMESPACE, ..Making::default() };
    let signature = armored(&key("mara").sign(statement.as_bytes(), &making));
    let signers = Signers::read(&format!("mara@example.com {}\n", key("mara").line()), "", &TimeZone::UTC).unwrap();
    let signed = SignedChange::check(Evidence { statement, signature }, &signers).unwrap();
    let lists = InForce { file: "/etc/mcp-approve/allowed_signers".into(), owner: Owner::Root, signers };
    Signature::Attested(Box::new(signed), Box::new(lists))
}

#[test]
fn a_word_on_a_card_that_is_signed_lets_its_call_and_later_ones_pass_and_no_forged_one_does() {
    let glance =
        |world: &mut World, id: u32| world.call(&id.to_string(), "glance_at_board", &format!(r#"{{"id":{id}}}"#));
    let mut world = World::with(config(), ALWAYS).ready();
    glance(&mut world, 1);
    let other: fn(&mut ChangeTerms) = |terms| terms.changes = vec![Digest::of(b"x")];
    let machine: fn(&mut ChangeTerms) = |terms| terms.machine = "other".into();
    let kind: fn(&mut ChangeTerms) = |terms| terms.kind = ChangeKind::Policy;
    let same: fn(&mut ChangeTerms) = |_| {};
    for (why, ago, edit) in [
        ("what is changed", 0, other),
        ("the machine", 0, machine),
        ("its kind", 0, kind),
        ("has expired", 601, same),
        ("in the future", -121, same),
    ] {
        let forged = on_word(&world, "files-1", ToolWord::Reads, ago, edit);
        let did = world.says_signed("files-1", ToolWord::Reads, forged);
        assert!(refusal(&did).contains(why), "{why}: {did:?}");
    }
    assert!(refusal(&world.says("files-1", ToolWord::Reads)).contains("wants your signature"));
    assert!(world.agreed.is_empty() && world.pinned.is_empty());
    // A console signs what its card says, of the card's own tool, and nothing that another program put beside it.
    let card = world.cards["files-1"].clone();
    let offer = card.offer.clone().expect("an offer");
    let signs = offer.signs.clone().expect("what it covers");
    assert!(signs.is_as_shown(&offer, (&card.tool, card.identity)));
    assert!(!signs.is_as_shown(&offer, ("run_shell", card.identity)));
    let shell = Agreement::of_definition("run_shell", &Digest::of(b"x"), card.identity);
    for (why, more) in [("another tool", shell), ("a host", Agreement::of_server(What::Host, "evil.example"))] {
        let mut forged = signs.clone();
        forged.reads.push(more);
        assert!(!forged.is_as_shown(&offer, (&card.tool, card.identity)), "{why}");
    }
    let good = on_word(&world, "files-1", ToolWord::Reads, 0, same);
    world.says_signed("files-1", ToolWord::Reads, good);
    let did = world.keeps_pins();
    assert!(is_forwarded(&did), "what was signed lets the call itself pass: {did:?}");
    assert!(is_forwarded(&glance(&mut world, 2)));
    let record = world.entries.iter().find(|entry| entry.kind == Kind::Agreed).expect("a record");
    assert!(
        record.uncut.json().contains("\"sshsig\":\"U1NIU0lH")
            && record.detail.json().contains("its definition is PURE")
    );
    // By the user's own pins, without the signature, it counts for nothing.
    world.signed.clear();
    world.keeps_pins();
    assert!(glance(&mut world, 3).contains(&Did::Ask("files-3".into())));
    world.finish();
}

#[test]
fn a_policy_is_accepted_in_the_console_with_a_signature_on_its_text() {
    let mut world = World::with(config(), ALWAYS).ready();
    let mut policy = mcp_approve::policy::parse::parse(ALWAYS).unwrap();
    let (file, digest) = ("/p".to_owned(), Digest::of(b"p"));
    let loosens = vec!["allows: x".into()];
    let pending = Pending {
        layer: Layer::User,
        file: file.clone(),
        digest,
        loosens,
        needs: Needs::Signature,
        diff: String::new(),
    };
    policy.pending.push(pending);
    world.step(Event::PolicyChanged(policy.into()));
    let (machine, user) = (config().machine.to_string(), config().user.to_string());
    let accepts = |world: &mut World, of: &str, changes: Vec<Digest>| {
        let (machine, user) = (machine.clone(), user.clone());
        let terms = ChangeTerms { changes, kind: ChangeKind::Policy, machine, of: of.into(), user };
        let statement = Change::new(terms, "mara@example.com".into(), world.now.wall).to_json();
        let making = Making { namespace: change::NAMESPACE, ..Making::default() };
        let signature = armored(&key("mara").sign(statement.as_bytes(), &making));
        let list = format!("mara@example.com {}\n", key("mara").line());
        let signers = Signers::read(&list, "", &TimeZone::UTC).unwrap();
        let signed = SignedChange::check(Evidence { statement, signature }, &signers).unwrap();
        let lists = InForce { file: "/etc/mcp-approve/allowed_signers".into(), owner: Owner::Root, signers };
        let signature = Signature::Attested(Box::new(signed), Box::new(lists));
        world.step(Event::PolicyAccepted { file: file.clone(), digest, operator: ann(), signature })
    };
    for (of, changes) in [("/q", vec![digest]), ("/p", vec![Digest::of(b"q")]), ("/p", Vec::new())] {
        let did = accepts(&mut world, of, changes);
        assert!(refusal(&did).contains("does not count"), "{did:?}");
    }
    accepts(&mut world, "/p", vec![digest]);
    let record = world.entries.iter().find(|entry| entry.detail.json().contains("accepted the changed policy"));
    assert!(record.expect("a record").uncut.json().contains("\"sshsig\""));
}
