//! Calls of a changing tool that only read: our list names their arguments, for one definition of one package.

use std::process::Command;

use mcp_approve::behavior::conclude::Trust;
use mcp_approve::behavior::curated::Curated;
use mcp_approve::gate::Config;
use mcp_approve::gate::data::pin::{AddedIn, Pin, PinState, Pins};
use mcp_approve::mcp::tool::Tool;
use mcp_approve::policy::role::Role;
use mcp_approve::policy::scope::{Limit, Scope};
use serde_json::{Value, json};

use crate::world::{Did, World, config};

const FILES: &str = "npm:@modelcontextprotocol/server-filesystem";
const BROWSER: &str = "npm:@playwright/mcp";

/// The definitions of a package, as its server gives them.
fn definitions(package: &str) -> Vec<Value> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/dangers/definitions.jsonl.gz");
    let unpacked = Command::new("gzip").args(["-dc", file]).output().unwrap();
    let text = String::from_utf8(unpacked.stdout).unwrap();
    let mut servers = text.lines().map(|server| serde_json::from_str::<Value>(server).unwrap());
    servers.find(|server| server["package"] == package).unwrap()["tools"].as_array().unwrap().clone()
}

/// What becomes of one call, whose arguments are this text.
fn called(config: Config, definitions: &[Value], tool: &str, arguments: &str) -> Vec<Did> {
    let mut world = World::with(config, "").ready();
    world.host(r#"{"jsonrpc":"2.0","id":"t","method":"tools/list"}"#);
    world.server(&json!({ "jsonrpc": "2.0", "id": "t", "result": { "tools": definitions } }).to_string());
    world.call("1", tool, arguments)
}

fn of_package(package: &str) -> Config {
    Config { pins: Pins { package: Some(package.into()), ..Pins::default() }, ..config() }
}

fn passes(did: &[Did]) -> bool {
    matches!(did, [Did::Forward(_)])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Passes,
    /// By the list it reads, and something else about it asks.
    ReadsAndAsks,
    Asks,
}
use Expected::{Asks, Passes, ReadsAndAsks};

#[test]
fn a_call_passes_where_its_arguments_are_exactly_those_of_a_read() {
    let all: &[(&str, &str, &str, Expected)] = &[
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[{"oldText":"a","newText":"b"}],"dryRun":true}"#, Passes),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[],"dryRun":true}"#, Passes),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[],"dryRun":false}"#, Asks),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[]}"#, Asks),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[],"dryRun":"true"}"#, Asks),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[],"dryRun":1}"#, Asks),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[],"dryRun":null}"#, Asks),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[],"dryRun":[true]}"#, Asks),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[],"DryRun":true}"#, Asks),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[],"dry_run":true}"#, Asks),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[],"dryRun\u200b":true}"#, Asks),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[{"dryRun":true,"oldText":"","newText":""}]}"#, Asks),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[],"dryRun":true,"dryrun":false}"#, Asks),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[],"dryRun":true,"dryRun":false}"#, Asks),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[],"dryRun":false,"dryRun":true}"#, ReadsAndAsks),
        (FILES, "edit_file", r#"{"path":"/w/a.txt","edits":[],"dryRun":true,"force":true}"#, Asks),
        (
            FILES,
            "edit_file",
            r#"{"path":"/w/a.txt","edits":[{"oldText":"a","newText":"b","x":1}],"dryRun":true}"#,
            ReadsAndAsks,
        ),
        (FILES, "edit_file", r#"{"path":"/elsewhere/a.txt","edits":[],"dryRun":true}"#, ReadsAndAsks),
        (FILES, "edit_file", r#"{"path":"/w/.ssh/id_rsa","edits":[],"dryRun":true}"#, ReadsAndAsks),
        (FILES, "write_file", r#"{"path":"/w/a.txt","content":"a","dryRun":true}"#, Asks),
        (BROWSER, "browser_console_messages", r#"{"level":"error"}"#, Passes),
        (BROWSER, "browser_console_messages", r#"{"level":"error","all":true}"#, Passes),
        (BROWSER, "browser_console_messages", r#"{"level":"debug","all":false}"#, Passes),
        (BROWSER, "browser_console_messages", r#"{"level":"error","filename":"a.txt"}"#, Asks),
        (BROWSER, "browser_console_messages", r#"{"level":"error","filename":""}"#, Asks),
        (BROWSER, "browser_console_messages", r#"{"level":"error","filename":null}"#, Asks),
        (BROWSER, "browser_console_messages", r#"{"level":"error","fileName":"a.txt"}"#, Asks),
        (BROWSER, "browser_console_messages", r#"{"level":"error","path":"a.txt"}"#, Asks),
        (BROWSER, "browser_network_requests", r#"{"static":false}"#, Passes),
        (BROWSER, "browser_network_requests", r#"{"static":true,"filter":"/api/.*user"}"#, Passes),
        (BROWSER, "browser_network_requests", r#"{"static":false,"filename":"a.txt"}"#, Asks),
        // It has the cookies of that request.
        (BROWSER, "browser_network_request", r#"{"index":1}"#, Asks),
        (BROWSER, "browser_snapshot", "{}", Passes),
        (BROWSER, "browser_snapshot", r#"{"target":"e12","depth":3,"boxes":true}"#, Passes),
        (BROWSER, "browser_snapshot", r#"{"filename":"a.md"}"#, Asks),
        (BROWSER, "browser_find", r#"{"text":"Sign in"}"#, Passes),
        (BROWSER, "browser_find", r#"{"text":"Sign in","filename":"a.md"}"#, Asks),
        (BROWSER, "browser_tabs", r#"{"action":"list"}"#, Passes),
        (BROWSER, "browser_tabs", r#"{"action":"LIST"}"#, Asks),
        (BROWSER, "browser_tabs", r#"{"action":"close"}"#, Asks),
        (BROWSER, "browser_tabs", r#"{"action":["list"]}"#, Asks),
        (BROWSER, "browser_tabs", r#"{"action":"list","url":"https://example.com"}"#, Asks),
        (BROWSER, "browser_tabs", r#"{"action":"list","index":0}"#, Asks),
        (BROWSER, "browser_tabs", r#"{"Action":"list"}"#, Asks),
        (BROWSER, "browser_tabs", "{}", Asks),
        (BROWSER, "browser_take_screenshot", "{}", Asks),
        (BROWSER, "browser_evaluate", r#"{"function":"() => 1"}"#, Asks),
    ];
    let wrong = all.iter().filter_map(|(package, tool, arguments, expected)| {
        let definitions = definitions(package);
        let read = definitions.iter().find(|one| one["name"] == *tool).unwrap();
        let reading = Curated::of_package(package).find(&Tool::read(read.clone()).unwrap().digest()).unwrap().reading;
        let arguments_read = serde_json::from_str(arguments).unwrap();
        let reads =
            reading.is_some_and(|one| one.of_call(&Tool::read(read.clone()).unwrap(), &arguments_read).is_some());
        let did = called(of_package(package), &definitions, tool, arguments);
        let right = reads == (*expected != Asks) && passes(&did) == (*expected == Passes);
        (!right).then(|| format!("{tool} {arguments}: reads {reads}, {did:?}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The list's word is about one definition of what runs, where nobody said otherwise.
#[test]
fn such_a_call_asks_where_the_list_does_not_count() {
    let (tool, arguments) = ("browser_tabs", r#"{"action":"list"}"#);
    let all = definitions(BROWSER);
    let did = |config: Config| called(config, &all, tool, arguments);
    assert!(passes(&did(of_package(BROWSER))));
    assert!(!passes(&did(config())), "another program");
    assert!(!passes(&did(of_package("npm:@playwright/mcp2"))), "another package");
    assert!(!passes(&did(Config { trust: Trust::None, ..of_package(BROWSER) })), "nothing the server says counts");
    let viewer = Role::given().into_iter().find(|role| role.name == "viewer").unwrap();
    assert!(
        !passes(&did(Config { scope: Scope::of(Limit::Role(viewer)).into(), ..of_package(BROWSER) })),
        "a role is about tools"
    );
    let definition = all.iter().find(|one| one["name"] == tool).unwrap().clone();
    let (listed, mut changed) = (Tool::read(definition.clone()).unwrap(), definition);
    changed["description"] = "Lists tabs.".into();
    assert!(!passes(&called(of_package(BROWSER), &[changed], tool, arguments)), "another definition");
    // The operator said that it changes things.
    let said = Curated::of_package(BROWSER).find(&listed.digest()).unwrap().identity;
    let pin = Pin {
        trusted: Some(listed.digest()),
        refused: None,
        latest: listed.digest(),
        version: 1,
        sense: Some(listed.sense()),
        identity: Some(said),
        said: Some(said),
        added_in: AddedIn::FirstSession,
        first_seen: 0,
    };
    assert_eq!(pin.state_of(listed.digest()), PinState::Trusted);
    let pins = Pins { tools: [(tool.to_owned(), pin)].into(), ..of_package(BROWSER).pins };
    assert!(!passes(&did(Config { pins, ..config() })), "the operator's word");
}
