//! An agent hides from the log what it does, or somebody guesses a secret by what the log has of it: row G6.

use mcp_approve::audit::body::write_body;
use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::wire::digest::Digest;

use crate::world::{Did, World, call, config, modern_call};

const SECRET: &str = "q7Rz9x81Lm5";
const ALLOWS: &str = "version = 1\n[[rule]]\nid = \"notes\"\ndecision = \"allow\"\ntool = \"write_file\"\n";

fn written(path: &str, content: &str) -> String {
    format!(r#"{{"path":"{path}","content":"{content}"}}"#)
}

fn body(entry: &Entry) -> String {
    let mut out = String::new();
    write_body(entry, &config().redactor, &mut out);
    out
}

#[test]
fn g6_a_call_that_says_a_secret_again_is_asked_although_a_rule_allows_it() {
    let login = written("/a/login", &format!("Authorization: Bearer {SECRET}"));
    let again = written(&format!("/a/{SECRET}/x"), "text");
    let asked = |policy: &str, calls: &[&str]| {
        let mut world = World::with(config(), policy).ready();
        let did = calls.iter().zip(1..).map(|(arguments, id)| world.call(&format!("{id}"), "write_file", arguments));
        let did = did.last().unwrap();
        let told: Vec<String> = world.entries.iter().map(body).collect();
        (did.iter().any(|one| matches!(one, Did::Ask(_))), told)
    };
    // Nothing is known of it, or it is a secret by its place alone.
    assert!(!asked(ALLOWS, &[&again]).0 && !asked(ALLOWS, &[&login]).0 && !asked(ALLOWS, &[&login, &login]).0);
    let (is_asked, told) = asked(ALLOWS, &[&login, &again]);
    assert!(is_asked && !told.iter().any(|body| body.contains(SECRET)), "{told:#?}");
    let mark = config().redactor.mark(SECRET.as_bytes());
    assert!(told.last().unwrap().contains(&format!(r#""path":"/a/{mark}/x""#)), "{told:#?}");
    // As JSON may write it, too.
    for spelled in [format!("\\u0071{}", &SECRET[1..]), SECRET.replace("Lm", "\\u004c\\u006d")] {
        let (is_asked, told) = asked(ALLOWS, &[&login, &written(&format!("/a/{spelled}/x"), "text")]);
        assert!(is_asked && told.last().unwrap().contains(&mark), "{told:#?}");
    }
    let names_it = format!("{ALLOWS}when = [{{ hazard = \"repeated-secret\" }}]\n");
    assert!(!asked(&names_it, &[&login, &again]).0);
    // What is done stays in the log: a command, a path, a name.
    for act in ["rm -rf /a/x", "/a/b/x9y8z7w6v5", "backup-prod-2024"] {
        let hides = written("/a/login", &format!("password='{act}'"));
        let (is_asked, told) = asked(ALLOWS, &[&hides, &written("/a/y", act)]);
        assert!(!is_asked && told.last().unwrap().contains(&format!(r#""content":"{act}""#)), "{told:#?}");
    }
}

#[test]
fn g6_what_surrounds_a_call_inside_a_request_hides_nothing_either() {
    let policy = format!("{ALLOWS}[[rule]]\nid = \"tasks\"\ndecision = \"allow\"\nmethod = \"tasks/create\"\n");
    let mut world = World::with(config(), &policy).ready();
    let login = written("/a/login", &format!("Authorization: Bearer {SECRET}"));
    world.call("1", "write_file", &login);
    let task = |id: u32, odd: &str| {
        let call =
            format!(r#"{{"name":"write_file","arguments":{},"task":{{"odd":"{odd}"}}}}"#, written("/a/y", "text"));
        let params = format!(r#"{{"method":"tools/call","params":{call},"ttl":60000}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tasks/create","params":{params}}}"#)
    };
    assert!(matches!(world.host(&task(2, "text")).as_slice(), [Did::Forward(_)]));
    let did = world.host(&task(3, &format!("/{SECRET}")));
    assert!(matches!(did.as_slice(), [Did::Ask(_)]), "{did:?}");
    let card = world.cards.values().last().unwrap();
    assert!(card.hazards.iter().any(|one| format!("{one:?}").contains("RepeatedSecret")), "{:?}", card.hazards);
}

#[test]
fn g6_a_digest_confirms_no_guess_and_is_one_for_all_records_of_a_call() {
    let redactor = config().redactor;
    let with_secret = written("/a/x", &format!("Authorization: Bearer {SECRET}"));
    for (arguments, meta, is_plain) in [
        (written("/a/x", "text").as_str(), "", true),
        (&written("/a/x", "tabs\\tand \\\"quotes\\\""), r#","_meta":{"progressToken":7}"#, true),
        (&with_secret, "", false),
        // Records have no other part of `_meta`, but the digest covers it.
        (&written("/a/x", "text"), r#","_meta":{"progressToken":7,"apiKey":"4711"}"#, false),
        (&written("/a/x", &format!("{{\\\"password\\\":\\\"{SECRET}\\\"}}")), "", false),
    ] {
        let line = call("1", "write_file", arguments).replace("}}}", &format!("}}{meta}}}}}"));
        let mut world = World::new().ready();
        world.host(&line);
        world.approve("files-1");
        world.server(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
        let of_call = |entry: &&Entry| entry.ticket.as_deref() == Some("files-1");
        let digests: Vec<_> = world.entries.iter().filter(of_call).filter_map(|entry| entry.digest).collect();
        let plain = Digest::of(line.as_bytes());
        let expected = if is_plain { plain } else { redactor.key().of(plain.as_bytes()) };
        assert!(digests.len() >= 4 && digests.iter().all(|one| *one == expected), "{line} {digests:?}");
        let last = world.entries.last().unwrap().detail.get("answer").unwrap();
        let answer = Digest::of(br#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
        assert_eq!(last, redactor.key().of(answer.as_bytes()).to_string(), "a result may be any secret");
        // All that a guesser of a secret lacks of the card, too.
        let card = &world.cards["files-1"];
        assert_eq!(card.digest, expected);
        assert!(card.salt.is_some());
    }
}

#[test]
fn g6_what_a_call_brings_beside_its_arguments_has_a_digest_that_confirms_no_guess_and_no_half_of_a_secret() {
    let redactor = config().redactor;
    let login = written("/a/login", &format!("Authorization: Bearer {SECRET}"));
    for (ends, is_plain) in [("nothing", true), (SECRET, false)] {
        for cut in 0..SECRET.len() {
            let responses = format!(r#"{{"a":"{} {ends} {}"}}"#, "x".repeat(1024 - 7 - cut), "y".repeat(4096));
            let mut world = World::new().ready();
            world.call("1", "write_file", &login);
            let more = format!(r#","requestState":"s","inputResponses":{responses}"#);
            world.host(&modern_call("2", "write_file", &written("/a/x", "text"), &more));
            let told = body(world.entries.iter().rev().find(|entry| entry.kind == Kind::DecisionAsked).unwrap());
            let plain = Digest::of(responses.as_bytes());
            let named = if is_plain { plain } else { redactor.key().of(plain.as_bytes()) };
            assert!(told.contains(&named.to_string()) && !told.contains(&SECRET[..6]), "{cut}: {told}");
        }
    }
}

/// Whatever we say of a call may be cut: the target of a request, a value of `_meta`, a path from both ends.
#[test]
fn g6_a_cut_leaves_no_half_of_a_secret_that_comes_again() {
    let login = written("/a/login", &format!("Authorization: Bearer {SECRET}"));
    let halves = [&SECRET[..6], &SECRET[SECRET.len() - 6..]];
    for before in 80..210 {
        let long = format!("{}{SECRET}{}", "/x".repeat(before / 2), "/y".repeat(150));
        let meta = format!(r#","_meta":{{"sessionId":"{}{SECRET}","progressToken":7}}"#, "x".repeat(before));
        let mut world = World::with(config(), &crate::world::play::about_methods("ask")).ready();
        world.call("1", "write_file", &login);
        world.host(&call("2", "write_file", &written(&long, "text")).replace("}}}", &format!("}}{meta}}}}}")));
        world.host(&format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{{"uri":"file://{long}"}}}}"#
        ));
        let key = format!("{}{SECRET}", "k".repeat(before / 4));
        world.host(&modern_call("4", "write_file", &written("/a", "text"), &format!(r#","{key}":1,"z":2"#)));
        for told in world.entries.iter().map(body) {
            assert!(!halves.iter().any(|half| told.contains(half)), "{before}: {told}");
        }
    }
}

#[test]
fn g6_a_call_with_more_secrets_than_are_remembered_drives_out_none_and_is_asked_and_told_nowhere() {
    let mut world = World::with(config(), ALLOWS).ready();
    world.call("1", "write_file", &written("/a/login", &format!("Authorization: Bearer {SECRET}")));
    let many: Vec<String> = (0..300).map(|n| format!("k{n}Rz9x81Lm{n}q7")).collect();
    let all = many.iter().map(|one| format!("Authorization: Bearer {one}\\n")).collect::<String>();
    let did = world.call("2", "write_file", &written(&format!("/a/{}", many[7]), &all));
    assert!(matches!(did.as_slice(), [Did::Ask(_)]), "{did:?}");
    world.approve("files-2");
    world.server(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#);
    let of_call = |entry: &&Entry| entry.ticket.as_deref() == Some("files-2");
    let told: Vec<String> = world.entries.iter().filter(of_call).map(body).collect();
    assert!(told.len() >= 4 && told[0].contains("too many secrets"), "{told:#?}");
    for one in &told {
        assert!(!many.iter().any(|secret| one.contains(secret)) && !one.contains("/a/"), "{one}");
    }
    assert!(matches!(world.call("3", "write_file", &written(&format!("/a/{SECRET}"), "x")).as_slice(), [Did::Ask(_)]));
}
