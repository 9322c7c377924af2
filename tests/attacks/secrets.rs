//! An agent hides from the log what it does, or somebody guesses a secret by what the log has of it: row G6.

use mcp_approve::audit::body::write_body;
use mcp_approve::audit::record::Entry;
use mcp_approve::wire::digest::Digest;

use crate::world::{Did, World, call, config};

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
