//! What an operator grants beyond one call, and a policy that changes while calls wait.

use mcp_approve::audit::record::{By, Kind, VerdictWord};
use mcp_approve::gate::data::event::{Event, Signature};
use mcp_approve::gate::data::terms::{Covers, Lasts};
use mcp_approve::wire::digest::Digest;

use crate::world::{Did, TOOLS, World, ann, config};

const ALLOW: &str = "version = 1\n[[rule]]\nid = \"yes\"\ndecision = \"allow\"\ntool = \"write_file\"\n";
const DENY: &str = "version = 1\n[[rule]]\nid = \"no\"\ndecision = \"deny\"\ntool = \"write_file\"\n";
const ASK: &str = "version = 1\n[[rule]]\nid = \"look\"\ndecision = \"ask\"\ntool = \"write_file\"\n";

fn write(world: &mut World, id: u32, path: &str) -> Vec<Did> {
    world.call(&id.to_string(), "write_file", &format!(r#"{{"path":"{path}","content":"x"}}"#))
}

fn runs(did: &[Did]) -> bool {
    matches!(did, [Did::Forward(_)])
}

fn ended(world: &World) -> Vec<String> {
    let of_grants = world.entries.iter().filter(|entry| entry.kind == Kind::Policy);
    let reasons = of_grants.filter_map(|entry| entry.detail.get("reason"));
    reasons.map(|why| why.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_grant_answers_later_calls_and_the_record_names_it() {
    let mut world = World::new().ready();
    write(&mut world, 1, "/a");
    write(&mut world, 2, "/b");
    let did = world.grant("files-1", Covers::Tool, Lasts::Session);
    assert!(
        matches!(did.as_slice(), [Did::Settle(_), Did::Forward(_), Did::Settle(_), Did::Forward(_)]),
        "what waits already is covered too: {did:?}"
    );
    assert!(runs(&write(&mut world, 3, "/c")));
    assert_eq!(world.call("4", "delete_file", r#"{"path":"/c"}"#), [Did::Ask("files-4".into())], "another tool");
    let decisions: Vec<_> = world.entries.iter().filter(|entry| entry.kind == Kind::Decision).collect();
    assert_eq!((decisions[0].by, decisions[0].rule.as_deref()), (Some(By::Operator), None));
    assert!(decisions[0].detail.get("grant").is_some());
    for decision in &decisions[1..] {
        assert_eq!((decision.by, decision.rule.as_deref()), (Some(By::Rule), Some("grant:1")));
    }
    let card = &world.gate.status().grants[0];
    assert_eq!((card.id.as_str(), card.tool.as_str(), card.used), ("grant:1", "write_file", 2));
    let gone = world.step(Event::GrantEnded { grant: "grant:1".into(), operator: ann() });
    assert_eq!(gone, []);
    assert_eq!(write(&mut world, 5, "/d"), [Did::Ask("files-5".into())]);
    let again = world.step(Event::GrantEnded { grant: "grant:1".into(), operator: ann() });
    assert!(matches!(again.as_slice(), [Did::Refuse(_)]));
    assert_eq!(ended(&world), ["an operator ended it"]);
    world.finish();
}

#[test]
fn a_grant_ends_with_its_calls_its_time_and_its_definition() {
    let mut world = World::new().ready();
    write(&mut world, 1, "/a");
    world.grant("files-1", Covers::Tool, Lasts::Calls(1));
    assert!(runs(&write(&mut world, 2, "/b")));
    assert_eq!(write(&mut world, 3, "/c"), [Did::Ask("files-3".into())]);

    world.grant("files-3", Covers::Tool, Lasts::Minutes(2));
    assert!(runs(&write(&mut world, 4, "/b")));
    world.wait(119);
    assert!(runs(&write(&mut world, 5, "/b")));
    world.wait(1);
    assert!(world.gate.status().grants.is_empty(), "it ends without a call");
    assert_eq!(write(&mut world, 6, "/c"), [Did::Ask("files-6".into())]);

    world.grant("files-6", Covers::Tool, Lasts::Session);
    relist(&mut world, &TOOLS.replace("Replaces a file", "Replaces any file"));
    relist(&mut world, TOOLS);
    assert!(world.gate.status().grants.is_empty(), "changed and changed back");
    assert!(matches!(write(&mut world, 7, "/c").as_slice(), [Did::Ask(_)]));
    assert_eq!(ended(&world), ["its calls are used up", "its time is over", "the tool's definition has changed"]);
    world.finish();
}

#[test]
fn a_grant_covers_what_it_says_and_no_more() {
    let mut world = World::new().ready();
    write(&mut world, 1, "/a");
    world.grant("files-1", Covers::ThisCall, Lasts::Session);
    assert!(runs(&world.call("2", "write_file", r#"{"content":"x","path":"\u002fa"}"#)), "the same, otherwise written");
    assert_eq!(write(&mut world, 3, "/b"), [Did::Ask("files-3".into())]);
    world.deny("files-3", "");

    write(&mut world, 4, "/notes/a");
    let under = Covers::Under { argument: "path".into(), folder: "/notes".into() };
    world.grant("files-4", under, Lasts::Session);
    assert!(runs(&write(&mut world, 5, "/notes/b")));
    assert_eq!(write(&mut world, 6, "/notes/../etc/passwd"), [Did::Ask("files-6".into())]);
    world.disk.insert("/notes/link".into(), ("/etc/passwd".into(), String::new()));
    assert_eq!(write(&mut world, 7, "/notes/link"), [Did::Ask("files-7".into())], "links are followed");
    let elsewhere = world.call("9", "write_file", r#"{"path":"a","cwd":"/etc","content":"x"}"#);
    assert!(matches!(elsewhere.as_slice(), [Did::Ask(_)]), "the server may begin elsewhere: {elsewhere:?}");
    let hidden = "/notes/a\u{200b}";
    assert!(matches!(write(&mut world, 8, hidden).as_slice(), [Did::Ask(_)]), "a hazard is beyond any grant");
    world.finish();
}

#[test]
fn nothing_is_granted_where_each_call_must_be_asked() {
    let mut world = World::with(config(), ASK).ready();
    write(&mut world, 1, "/a");
    let did = world.grant("files-1", Covers::Tool, Lasts::Session);
    assert!(matches!(did.as_slice(), [Did::Refuse(why)] if why.contains("rule look asks")), "{did:?}");
    let mut world = World::new().ready();
    write(&mut world, 1, "/a\u{200b}");
    let did = world.grant("files-1", Covers::Tool, Lasts::Session);
    assert!(matches!(did.as_slice(), [Did::Refuse(why)] if why.contains("hazard")), "{did:?}");
    write(&mut world, 2, "/a");
    for (covers, lasts) in [
        (Covers::Tool, Lasts::Calls(0)),
        (Covers::Tool, Lasts::Minutes(0)),
        (Covers::Under { argument: "path".into(), folder: "notes".into() }, Lasts::Session),
        (Covers::Under { argument: "nowhere".into(), folder: "/".into() }, Lasts::Session),
    ] {
        let did = world.grant("files-2", covers.clone(), lasts);
        assert!(matches!(did.as_slice(), [Did::Refuse(_)]), "{covers:?} {lasts:?}: {did:?}");
    }
    assert!(world.gate.status().grants.is_empty());
    // A rule that denies is stricter than a grant, whenever it comes.
    world.grant("files-2", Covers::Tool, Lasts::Session);
    world.policy(ASK);
    assert_eq!(write(&mut world, 4, "/a"), [Did::Ask("files-3".into())]);
    world.policy(DENY);
    assert!(matches!(write(&mut world, 3, "/a").as_slice(), [Did::Settle(_), Did::Answer(_)]));
    world.finish();
}

#[test]
fn an_approval_that_is_not_on_the_disk_grants_nothing() {
    let mut world = World::new().ready();
    write(&mut world, 1, "/a");
    world.log_answers = false;
    world.grant("files-1", Covers::Tool, Lasts::Session);
    assert!(world.gate.status().grants.is_empty());
    let did = world.log_fails();
    assert!(matches!(did.as_slice(), [Did::Answer(_), Did::Settle(_)]), "{did:?}");
    assert!(world.gate.status().grants.is_empty());
    world.log_answers = true;
    world.finish();
}

#[test]
fn a_changed_policy_holds_for_every_call_that_is_not_decided_yet() {
    let mut world = World::new().ready();
    write(&mut world, 1, "/a");
    world.call("2", "delete_file", r#"{"path":"/a"}"#);
    let did = world.policy(ALLOW);
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Forward(_)]), "one waits on: {did:?}");
    assert!(matches!(&did[0], Did::Settle(ticket) if ticket.starts_with("files-1")), "no console shows it on: {did:?}");
    write(&mut world, 3, "/b");
    let mut world = World::new().ready();
    write(&mut world, 1, "/a");
    let did = world.policy(DENY);
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Answer(text)] if text.contains("rule no")), "{did:?}");
    let entry = world.entries.iter().rev().find(|entry| entry.kind == Kind::Decision).unwrap();
    assert_eq!((entry.verdict, entry.by), (Some(VerdictWord::Deny), Some(By::Rule)));
    assert_eq!(entry.policy, Some(Digest::of(DENY.as_bytes())));
    // What would only be asked again is not shown again.
    let mut world = World::new().ready();
    write(&mut world, 1, "/a");
    assert_eq!(world.policy("version = 1\n"), []);
    assert_eq!(world.policy(ASK), [Did::Ask("files-1".into())], "now a rule asks");
    world.finish();
}

#[test]
fn a_policy_is_accepted_only_as_it_was_shown() {
    let mut world = World::new().ready();
    let digest = Digest::of(b"text");
    let accept = |world: &mut World, file: &str, digest: Digest| {
        world.step(Event::PolicyAccepted { file: file.into(), digest, operator: ann(), signature: Signature::None })
    };
    assert!(matches!(accept(&mut world, "/p", digest).as_slice(), [Did::Refuse(_)]), "nothing waits");
    let mut policy = mcp_approve::policy::parse::built_in();
    policy.pending.push(mcp_approve::policy::rule::Pending {
        layer: mcp_approve::policy::rule::Layer::User,
        file: "/p".into(),
        digest,
        needs: mcp_approve::signing::grade::Needs::Nothing,
        loosens: vec!["allows: yes".into()],
        diff: String::new(),
    });
    world.step(Event::PolicyChanged(std::sync::Arc::new(policy)));
    assert_eq!(world.gate.status().pending.len(), 1);
    for (file, text) in [("/p", "another text"), ("/other", "text")] {
        let did = accept(&mut world, file, Digest::of(text.as_bytes()));
        assert!(matches!(did.as_slice(), [Did::Refuse(_)]), "{file} {text}: {did:?}");
    }
    assert_eq!(accept(&mut world, "/p", digest), [Did::Accept("/p".into())]);
    assert!(world.entries.iter().any(|entry| entry.detail.get("operator").is_some_and(|who| who == "ann")));
    world.finish();
}

#[test]
fn a_grant_is_over_when_the_time_it_shows_is_over_also_where_the_machine_slept() {
    let mut world = World::new().ready();
    write(&mut world, 1, "/a");
    world.grant("files-1", Covers::Tool, Lasts::Minutes(2));
    // Asleep, a machine's monotonic clock stands still.
    world.now.wall += 120_000;
    assert_eq!(write(&mut world, 2, "/b"), [Did::Ask("files-2".into())]);
    assert_eq!(ended(&world), ["its time is over"]);
    world.finish();
}

#[test]
fn what_is_remembered_and_never_comes_leaves_no_call_without_an_answer() {
    use mcp_approve::gate::Config;
    use mcp_approve::gate::data::pin::Pins;
    let mut world = World::with(Config { pins: Pins::awaited(), ..config() }, "").ready();
    assert_eq!(world.call("1", "read_file", r#"{"path":"/a"}"#), []);
    assert!(matches!(world.wait(301).as_slice(), [Did::Settle(_), Did::Answer(_)]));
    world.finish();
}

/// One key gave it, so it covers what one key approves: new files, and not what replaces one that is there.
#[test]
fn a_grant_from_a_plain_call_covers_no_dangerous_one() {
    for covers in [Covers::Tool, Covers::ThisCall, Covers::Under { argument: "path".into(), folder: "/".into() }] {
        let mut world = World::new().ready();
        write(&mut world, 1, "/a");
        world.grant("files-1", covers.clone(), Lasts::Minutes(15));
        assert!(!world.gate.status().grants[0].dangerous);
        assert!(runs(&write(&mut world, 2, "/a")), "{covers:?}: nothing is there yet");
        world.disk.insert("/a".into(), ("/a".into(), "all my notes".into()));
        assert_eq!(write(&mut world, 3, "/a"), [Did::Ask("files-3".into())], "{covers:?}: it replaces them");
        let many = (0..70).map(|n| format!(r#""/b{n}""#)).collect::<Vec<_>>().join(",");
        let arguments = format!(r#"{{"path":"/b","content":"x","paths":[{many}]}}"#);
        assert_eq!(
            world.call("4", "write_file", &arguments),
            [Did::Ask("files-4".into())],
            "{covers:?}: not all is seen"
        );
        // Two keys give one that covers what its card says, what waits already too.
        world.grant("files-3", covers.clone(), Lasts::Minutes(15));
        assert!(world.gate.status().grants[1].dangerous);
        assert!(runs(&write(&mut world, 5, "/a")), "{covers:?}");
        world.finish();
    }
    // What was new when it was looked at, and is there when it runs, does not run.
    let mut world = World::new().ready();
    write(&mut world, 1, "/a");
    world.grant("files-1", Covers::Tool, Lasts::Session);
    world.disk_answers = false;
    assert_eq!(write(&mut world, 2, "/b"), []);
    world.disk_shows();
    world.disk.insert("/b".into(), ("/b".into(), "made meanwhile".into()));
    world.disk_answers = true;
    let did = world.disk_shows();
    assert!(!did.iter().any(|one| matches!(one, Did::Forward(_))), "{did:?}");
    world.finish();
}

const APPENDS: &str = r#"[{"name":"append_to_file","description":"Appends text to a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"source":{"type":"string"},"attachment":{"type":"string"},"text":{"type":"string"},"output":{"type":"string"},"files":{"type":"array"}},"required":["path"]}}]"#;

fn relist(world: &mut World, tools: &str) {
    world.host(r#"{"jsonrpc":"2.0","id":"again","method":"tools/list"}"#);
    let tools = tools.replace('\n', " ");
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":"again","result":{{"tools":{tools}}}}}"#));
}

/// A folder that the host did not declare: one word of the operator spares the next reads in it, and nothing else.
#[test]
fn a_folder_outside_the_declared_ones_is_granted_for_plain_calls_in_it_alone() {
    let mut world = World::new().ready();
    world.server(r#"{"jsonrpc":"2.0","id":"r","method":"roots/list"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"r","result":{"roots":[{"uri":"file:///work"}]}}"#);
    let mut id = 0;
    let mut read = |world: &mut World, arguments: &str| {
        id += 1;
        (format!("files-{id}"), world.call(&id.to_string(), "read_file", arguments))
    };
    let under = |folder: &str| Covers::Under { argument: "path".into(), folder: folder.into() };
    assert!(runs(&read(&mut world, r#"{"path":"/work/a"}"#).1), "a read in a declared folder");
    // A grant that was given inside says nothing of what is outside.
    let (ticket, did) = read(&mut world, r#"{"path":"/srv/shared/a"}"#);
    assert_eq!(did, [Did::Ask(ticket.clone())]);
    let did = world.grant(&ticket, under("/srv/shared"), Lasts::Minutes(15));
    assert!(did.iter().any(|one| matches!(one, Did::Forward(_))), "{did:?}");
    assert!(runs(&read(&mut world, r#"{"path":"/srv/shared/deep/b"}"#).1));
    world.disk.insert("/srv/shared/link".into(), ("/etc/passwd".into(), String::new()));
    for beyond in [
        r#"{"path":"/srv/other"}"#,
        r#"{"path":"/srv/shared/../other"}"#,
        r#"{"path":"/srv/shared/link"}"#,
        "{\"path\":\"/srv/shared/a\u{200b}\"}",
        r#"{"path":"/srv/shared/a","output_path":"/etc/b"}"#,
        r#"{"path":"/work/a","files":[{"path":"/srv/shared/a"},{"path":"/srv/other"}]}"#,
    ] {
        let (ticket, did) = read(&mut world, beyond);
        assert_eq!(did, [Did::Ask(ticket.clone())], "{beyond}");
        world.deny(&ticket, "");
    }
    world.wait(15 * 60);
    let (ticket, did) = read(&mut world, r#"{"path":"/srv/shared/c"}"#);
    assert!(did.contains(&Did::Ask(ticket)), "its time is over: {did:?}");
    world.finish();

    // Nor is another place named by what no list of names has, or in another form.
    let mut world = World::new().ready();
    relist(&mut world, APPENDS);
    world.server(r#"{"jsonrpc":"2.0","id":"r","method":"roots/list"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"r","result":{"roots":[{"uri":"file:///work"}]}}"#);
    let append = |world: &mut World, id: u32, more: &str| {
        let arguments = format!(r#"{{"path":"/srv/shared/a",{more}}}"#);
        world.call(&id.to_string(), "append_to_file", &arguments)
    };
    append(&mut world, 1, r#""text":"x""#);
    world.grant("files-1", under("/srv/shared"), Lasts::Session);
    for (id, more) in
        [(2, r#""text":"see /etc and so on""#), (3, r#""output":"/srv/shared/b""#), (4, r#""text":"a\nb""#)]
    {
        assert!(runs(&append(&mut world, id, more)), "{more}");
    }
    let long = format!(r#""output":"/etc/{}b""#, "./".repeat(2100));
    let others = [
        long.as_str(),
        r#""output":"file:///etc/b""#,
        r#""output":"/etc/a\nb""#,
        r#""output":"$HOME/b""#,
        r#""source":"etc/b""#,
        r#""attachment":"/etc/b""#,
        r#""attachment":" /etc/b""#,
        r#""files":["file:/etc/b"]"#,
        r#""files":["b"]"#,
    ];
    for (id, more) in (5..).zip(others) {
        assert_eq!(append(&mut world, id, more), [Did::Ask(format!("files-{id}"))], "{more}");
    }
    world.finish();

    // What may replace or remove something is asked each time there, and a grant from inside does not reach it.
    let mut world = World::new().ready();
    world.server(r#"{"jsonrpc":"2.0","id":"r","method":"roots/list"}"#);
    world.host(r#"{"jsonrpc":"2.0","id":"r","result":{"roots":[{"uri":"file:///work"}]}}"#);
    write(&mut world, 1, "/work/a");
    world.grant("files-1", Covers::Tool, Lasts::Session);
    assert!(runs(&write(&mut world, 2, "/work/b")));
    assert_eq!(write(&mut world, 3, "/srv/shared/a"), [Did::Ask("files-3".into())]);
    let did = world.grant("files-3", under("/srv/shared"), Lasts::Session);
    assert!(matches!(did.as_slice(), [Did::Refuse(why)] if why.contains("dangerous")), "{did:?}");
    world.finish();
}
