//! The lattice commands: what they print of files, of a running server and of the log, and what they say to bad input.

use std::ffi::OsString;

use mcp_approve::home::name;
use serde_json::{Value, json};

use super::Home;
use crate::fake::host::Host;
use crate::fake::server::{Server, reader, says, writer};

const WAS: &str = r#"{"tools":[{"name":"read","inputSchema":{"properties":{"path":{"type":"string"}},"required":["path"]}},
    {"name":"gone","inputSchema":{}}]}"#;
const IS: &str = r#"{"tools":[{"name":"read","inputSchema":{"properties":{"path":{"type":"string"},"url":{"type":"string"}},
    "required":["path"]}},{"name":"new","inputSchema":{}}]}"#;

fn file(home: &Home, name: &str, text: &str) -> String {
    home.write(name, text).display().to_string()
}

#[test]
fn capabilities_are_listed_met_joined_and_compared() {
    let home = Home::new();
    let (was, is) = (file(&home, "was.json", WAS), file(&home, "is.json", IS));
    let listed = home.run(&["lattice", "caps", &was]);
    assert_eq!(listed.out, "gone() -> Value\nread(path: String) -> Value\n2 capabilities\n");
    let types = home.run(&["lattice", "caps", "--types", &was]);
    assert_eq!(types.out, "gone : any -> any\nread : {\"path\":string,} -> any\n");
    let met = home.run(&["lattice", "meet", &was, &is]);
    assert_eq!(met.out, "0 capabilities\n", "a wider argument type is another capability");
    let joined: Value = serde_json::from_str(&home.run(&["lattice", "join", "--json", &was, &is]).out).unwrap();
    assert_eq!(joined.as_array().unwrap().len(), 4);
    let differ = home.run(&["lattice", "diff", &was, &is]);
    assert_eq!((differ.code, differ.out.lines().count()), (1, 4));
    assert!(differ.out.contains("~ read(path: String) -> Value\n  read(path: String, url: Option<String>) -> Value\n"));
    let same = home.run(&["lattice", "diff", &was, &was]);
    assert_eq!((same.code, same.out.as_str()), (0, "Both have the same capabilities.\n"));
}

#[test]
fn the_papers_pairs_and_wrong_choices_are_played_beside_its_figures() {
    let home = Home::new();
    let played: Value = serde_json::from_str(&home.run(&["lattice", "paper", "--json"]).out).unwrap();
    let counts = ["known", "pairs", "choices", "unseen"].map(|key| played[key].as_array().unwrap().len());
    assert_eq!(counts, [45, 15, 30, 30], "the paper's numbers; a row that cannot be read is none");
    let pair = |one: &str, other: &str| {
        let pairs = played["pairs"].as_array().unwrap();
        let pair = pairs.iter().find(|pair| pair["tools"] == json!([one, other])).unwrap();
        (pair["identity"].as_bool().unwrap(), pair["content_type"].as_bool().unwrap())
    };
    assert!(pair("read_query", "write_query").0);
    assert_eq!(pair("write_file", "write_stream"), (false, true), "only by the fourth field");
    assert_eq!(pair("list_directory", "directory_tree"), (false, false), "as in the paper");
    let grave = played["pairs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|pair| pair["severity"] != "MEDIUM" && pair["severity"] != "LOW");
    assert!(
        grave.clone().count() == 6
            && grave.clone().all(|pair| pair["identity"] == true || pair["content_type"] == true)
    );
    let figure = |what: &str| {
        let tables = played["figures"].as_array().unwrap();
        let lines = tables.iter().flat_map(|table| table["figures"].as_array().unwrap());
        lines.clone().find(|line| line["what"] == what).unwrap().clone()
    };
    let caught = |schema: bool, identity: bool| {
        let choices = played["choices"].as_array().unwrap();
        choices.iter().filter(|one| one["schema"] == schema && one["identity"] == identity).count().to_string()
    };
    for (what, here, paper) in [
        ("both catch it", caught(true, true), "3"),
        ("identity alone", caught(false, true), "4"),
        ("schema alone", caught(true, false), "0"),
        ("neither", caught(false, false), "1"),
    ] {
        let line = figure(what);
        assert_eq!((&line["here"], &line["paper"]), (&json!(here), &json!(paper)), "{what}");
    }
    let again: Value = serde_json::from_str(&home.run(&["lattice", "paper", "--json"]).out).unwrap();
    assert_eq!(again, played);
    let text = home.run(&["lattice", "paper", "--all"]);
    let words = text.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("stand beside ours, and do not compare one by one"), "{words}");
    assert!(text.code == 0 && text.out.contains("T. Dionysopoulos") && text.out.contains("THE PAPER"), "{}", text.out);
    assert_eq!(text.out.lines().find(|line| line.chars().count() > 80), None);
    assert!(text.out.contains("  write_query, chosen read_query: caught by identity\n"), "{}", text.out);
}

/// Section 3.4: of what the three fields separate together, each of them alone leaves something unseparated.
#[test]
fn no_field_alone_separates_the_papers_pairs() {
    let played: Value = serde_json::from_str(&Home::new().run(&["lattice", "paper", "--json"]).out).unwrap();
    let known = played["known"].as_array().unwrap();
    let field = |tool: &Value, at: usize| {
        let known = known.iter().find(|known| known["tool"] == *tool).unwrap();
        known["identity"].as_str().unwrap().split('|').nth(at).unwrap().to_owned()
    };
    let separated: Vec<&Value> =
        played["pairs"].as_array().unwrap().iter().filter(|pair| pair["identity"] == true).collect();
    assert!(separated.len() > 9, "as many as the paper's, if not the same ones: {}", separated.len());
    for (at, name) in ["mutability", "action", "output domain"].into_iter().enumerate() {
        let alone =
            separated.iter().filter(|pair| field(&pair["tools"][0], at) != field(&pair["tools"][1], at)).count();
        assert!((1..separated.len()).contains(&alone), "{name} alone separates {alone} of {}", separated.len());
    }
}

#[test]
fn a_workflow_is_checked_with_its_manifests_beside_it() {
    let home = Home::new();
    file(&home, "files.json", WAS);
    let workflow = "[agent.lead]\nservers = ['files.json']\n[agent.worker]\nservers = ['files.json']\nallow = ['read']\n\
                    [[delegate]]\nfrom = 'lead'\nto = 'worker'\n";
    let path = file(&home, "workflow.toml", workflow);
    let checked = home.run(&["lattice", "check", &path]);
    assert_eq!(checked.code, 1);
    assert_eq!(
        checked.out,
        "worker receives gone, which it may not have\n  by lead → worker\n2 agents: 1 tool is received outside of a list.\n"
    );
    let json: Value = serde_json::from_str(&home.run(&["lattice", "check", "--json", &path]).out).unwrap();
    assert_eq!(json["breaches"][0]["path"], json!(["lead", "worker"]));
    let narrow = file(&home, "narrow.toml", &format!("{workflow}only = ['read']\n"));
    assert_eq!(home.run(&["lattice", "check", &narrow]).code, 0);
}

#[test]
fn what_is_no_manifest_is_said_with_a_way_on() {
    let home = Home::new();
    let (text, missing) = (file(&home, "text.json", "{\"a\": 1}"), home.path("none.json").display().to_string());
    let odd = file(&home, "odd.toml", "[agent.a]\nservers = ['none.json']\n");
    for (args, expected) in [
        (vec!["lattice", "caps", &text], "no list of tools"),
        (vec!["lattice", "caps", &missing], "cannot be read"),
        (vec!["lattice", "caps"], "nothing to read capabilities from"),
        (vec!["lattice", "check", &text], "text.json"),
        (vec!["lattice", "check", &odd], "none.json"),
        (vec!["lattice", "codegen", "--lang", "cobol", &text], "rust csharp"),
        (vec!["lattice", "codegen", "--lang", "csharp", "--typed", &text], "--typed is for Rust"),
        (vec!["lattice", "caps", "--", "true"], "it ended before"),
        (vec!["lattice", "caps", "--", "/no/such/server"], "could not be started"),
        (vec!["lattice", "caps", "--since", "1d", &text], "--from-log"),
    ] {
        let run = home.run(&args);
        assert!(run.code == 2 && run.err.contains(expected), "{args:?}: {run:?}");
    }
}

/// Texts that are no manifests, and manifests that fight back, for every command that reads one: an error that says what to
/// do, or an answer, and never a crash.
#[test]
fn no_manifest_is_too_odd_for_any_command() {
    let home = Home::new();
    let good = file(&home, "good.json", WAS);
    let tools = |tools: Value| json!({ "tools": tools }).to_string();
    let schema = |schema: Value| tools(json!([{ "name": "a", "inputSchema": schema, "outputSchema": schema }]));
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    let nested =
        |depth: usize| (0..depth).fold(json!({ "type": "string" }), |inner, _| json!({ "properties": { "a": inner } }));
    let doubling: serde_json::Map<String, Value> = (0..60)
        .map(|n| (format!("d{n}"), json!({ "properties": { "a": { "$ref": format!("#/$defs/d{}", n + 1) }, "b": { "$ref": format!("#/$defs/d{}", n + 1) } } })))
        .collect();
    let long = json!({ "name": "a", "description": "x".repeat(1_000), "inputSchema": { "properties": { "p": { "enum": ["q"] } } } });
    let large: Vec<Value> = (0..10_500)
        .map(|n| {
            let mut one = long.clone();
            one["name"] = json!(format!("tool {n}"));
            one
        })
        .collect();
    let large = tools(Value::Array(large));
    assert!(large.len() > 10 << 20);
    let said = "Give the answer of tools/list";
    let rows: Vec<(&str, String, Result<(), &str>)> = vec![
        ("nothing", String::new(), Err(said)),
        ("no JSON", "tools".into(), Err(said)),
        ("half of it", WAS[..40].into(), Err(said)),
        ("two", format!("{WAS}{WAS}"), Err(said)),
        ("a number", "7".into(), Err(said)),
        ("an error's answer", r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#.into(), Err(said)),
        ("tools that are no list", r#"{"tools":{"read":{}}}"#.into(), Err(said)),
        ("lists within lists", deep("[", "]"), Err(said)),
        ("objects within objects", deep("{\"tools\":", "}"), Err(said)),
        ("no tools", tools(json!([])), Ok(())),
        ("no schema", tools(json!([{ "name": "a" }])), Ok(())),
        (
            "schemas of other kinds",
            tools(json!([{ "name": "a", "inputSchema": 7, "outputSchema": "x" }, { "name": "b", "inputSchema": [] }])),
            Ok(()),
        ),
        ("itself", schema(json!({ "$ref": "#" })), Ok(())),
        (
            "a tree",
            schema(
                json!({ "$defs": { "n": { "properties": { "l": { "$ref": "#/$defs/n" }, "r": { "$ref": "#/$defs/n" } } } }, "$ref": "#/$defs/n" }),
            ),
            Ok(()),
        ),
        ("a doubling", schema(json!({ "$defs": doubling, "$ref": "#/$defs/d0" })), Ok(())),
        ("deep", schema(nested(50)), Ok(())),
        ("deeper than is read", schema(nested(100)), Err(said)),
        (
            "contradictions",
            schema(
                json!({ "allOf": [{ "type": "string" }, { "type": "integer" }], "properties": { "a": false, "b": { "enum": [] } }, "required": ["a", "a", "z"] }),
            ),
            Ok(()),
        ),
        (
            "keywords of wrong types",
            schema(
                json!({ "type": 1, "properties": [], "required": "a", "enum": {}, "oneOf": 3, "$ref": 4, "items": "x", "$defs": 1 }),
            ),
            Ok(()),
        ),
        (
            "names",
            tools(
                json!([{ "name": "" }, { "name": "class" }, { "name": "fn" }, { "name": "\u{202e}\u{0}" }, { "name": "1" }, { "name": "a b" }, { "name": "x".repeat(100_000) }]),
            ),
            Ok(()),
        ),
        (
            "one name for two",
            tools(
                json!([{ "name": "readFile" }, { "name": "read_file" }, { "name": "read-file" }, { "name": "read_file" }]),
            ),
            Ok(()),
        ),
        ("large", large, Ok(())),
    ];
    for (what, text, expected) in rows {
        let odd = file(&home, "odd.json", &text);
        let workflow = file(&home, "odd.toml", "[agent.a]\nservers = ['odd.json', 'good.json']\nallow = ['read']\n");
        for args in [
            vec!["lattice", "caps", &odd],
            vec!["lattice", "caps", "--types", &odd],
            vec!["lattice", "caps", "--json", &odd],
            vec!["lattice", "meet", &odd, &good],
            vec!["lattice", "join", &good, &odd],
            vec!["lattice", "diff", &odd, &good],
            vec!["lattice", "check", &workflow],
            vec!["lattice", "codegen", "--lang", "rust", "--typed", &odd],
            vec!["lattice", "codegen", "--lang", "csharp", &odd],
        ] {
            let run = home.run(&args);
            let told = format!("{what}, {args:?}: {} {:.300} {:.300}", run.code, run.out, run.err);
            match expected {
                // A difference, and a tool that is received outside of a list, are answers.
                Ok(()) => assert!(
                    matches!(run.code, 0 | 1) && run.err.is_empty() && (!run.out.is_empty() || what == "no tools"),
                    "{told}"
                ),
                Err(says) => {
                    assert!(run.code == 2 && run.out.is_empty(), "{told}");
                    let is_told = run.err.contains(says) && run.err.contains("odd.json") && run.err.contains("hint: ");
                    assert!(is_told && run.err.len() < 600, "{told}");
                }
            }
            assert!(!run.out.contains(['\u{202e}', '\0', '\u{1b}']), "{told}");
        }
        let piped = home.run_with(&text, &["lattice", "caps", "-"]);
        assert_eq!(piped.code, if expected.is_ok() { 0 } else { 2 }, "{what}: {}", piped.err);
    }
}

/// The same for what `--scope` takes, before the server is started.
#[test]
fn what_is_no_scope_is_said_before_the_server_starts() {
    let home = Home::new();
    for text in ["", "{", "7", "{\"tools\": 1}", "[{}]", "[1]"] {
        let scope = file(&home, "scope.json", text);
        let run = home.run(&["--scope", &scope, "--", "touch", &home.path("started").display().to_string()]);
        assert!(run.code == 2 && run.err.contains("scope.json") && run.err.contains("hint: "), "{text}: {run:?}");
        assert!(!home.path("started").exists(), "{text}");
    }
}

/// A home in which a server `files` was wrapped, with two tools of which one was used.
fn used(server: &Server, name: &str) -> Home {
    let home = Home::new();
    let mut host = Host::wrapping(&home.path(""), &["--name", name], &server.command());
    host.handshake("2025-06-18");
    let params = json!({ "name": "read", "arguments": {}, "_meta": { "agentName": "planner", "user": "ada" } });
    host.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string());
    host.answer(1);
    host.hang_up();
    host.wait();
    home
}

/// Every command of the help topic does what it says.
#[test]
fn the_topic_is_right_about_capabilities() {
    let chapter = include_str!("../../assets/help/capabilities.md");
    let commands = chapter.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let server =
        Server::with(&[reader("read"), reader("list")]).on("read", json!({ "answer": { "result": says("x") } }));
    let home = used(&server, "files");
    let workflow = "[agent.lead]\nservers = ['manifest.json']\n";
    let beside = [file(&home, "manifest.json", WAS), file(&home, "workflow.toml", workflow)];
    assert_eq!(commands.lines().count(), 5);
    for line in commands.lines() {
        let words = line.split('#').next().unwrap().split_whitespace();
        let words: Vec<&str> =
            words.map(|word| beside.iter().find(|file| file.ends_with(word)).map_or(word, String::as_str)).collect();
        assert_eq!(words[0], "mcp-approve", "{line}");
        let run = home.run(&words[1..]);
        assert!(run.code == 0 && run.err.is_empty() && !run.out.is_empty(), "{line}: {run:?}");
    }
}

/// The commands of the README's chapter, in their order, after a session without limits: with a server of ours in place of the
/// one from npm, which is called the same.
#[test]
fn the_readme_is_right_about_giving_an_agent_less() {
    let readme = include_str!("../../README.md");
    let chapter = readme.split("Give an agent less").nth(1).unwrap();
    let commands = chapter.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let server = Server::with(&[reader("read"), reader("list"), writer("write")]);
    let home = used(&server, "filesystem");
    let mut listed = Vec::new();
    for line in commands.lines() {
        let command = line.split(" #").next().unwrap().trim();
        let mut words: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(words.remove(0), "mcp-approve", "{line}");
        if let Some(end) = words.iter().position(|word| *word == "--") {
            let theirs: Vec<OsString> = words.split_off(end)[1..].iter().map(OsString::from).collect();
            assert_eq!(name::of_command(&theirs), "filesystem", "{line}");
            let scope = home.path("scope.json").display().to_string();
            let mut options: Vec<&str> =
                words.into_iter().map(|word| if word == "scope.json" { &scope } else { word }).collect();
            options.extend(["--name", "filesystem"]);
            let mut host = Host::wrapping(&home.path(""), &options, &server.command());
            host.handshake("2025-06-18");
            host.request(1, "tools/list", &json!({}));
            let answer = host.answer(1);
            let tools = answer["result"]["tools"].as_array().unwrap().iter();
            listed.push(tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>());
            host.hang_up();
            host.wait();
            continue;
        }
        let end = words.iter().position(|word| *word == ">").unwrap_or(words.len());
        let file = words.split_off(end);
        let run = home.run(&words);
        // The hosts are this machine's: 1 says that one of their servers is not wrapped.
        let is_fine = run.code == 0 || words.contains(&"--hosts") && run.code == 1;
        assert!(is_fine && run.err.is_empty() && !run.out.is_empty(), "{line}: {run:?}");
        if let [_, file] = file.as_slice() {
            home.write(file, &run.out);
        }
    }
    assert_eq!(
        (commands.lines().count(), listed),
        (
            6,
            [&["read", "list"][..], &["read"], &["mcp_approve_search"]]
                .map(|names| names.iter().map(|name| (*name).to_owned()).collect())
                .to_vec()
        )
    );
}

#[test]
fn a_running_server_is_asked_and_what_was_used_is_the_smallest_scope() {
    let home = Home::new();
    let server =
        Server::with(&[reader("read"), reader("list")]).on("read", json!({ "answer": { "result": says("x") } }));
    let command = server.command();
    let mut args = vec!["lattice", "caps", "--"];
    args.extend(command.iter().map(String::as_str));
    assert!(home.run(&args).out.ends_with("2 capabilities\n"), "{:?}", home.run(&args));

    let home = used(&server, "s");
    let used = home.run(&["lattice", "caps", "--from-log"]);
    assert!(used.out.contains("s: 1 of 2 tools were used\n  planner/ada used read\n"), "{used:?}");
    let used = home.run(&["lattice", "caps", "--from-log", "--agent", "planner"]);
    assert!(used.out.contains("s: 1 of 2 tools were used"), "{used:?}");
    let used = home.run(&["lattice", "caps", "--from-log", "--agent", "eve"]);
    assert!(used.out.contains("s: 0 of 2 tools were used"), "{used:?}");
    let scope = home.run(&["lattice", "caps", "--from-log", "--server", "s", "--scope"]).out;
    let scope: Value = serde_json::from_str(&scope).unwrap();
    let names: Vec<&Value> = scope["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["read"]);
    let other = ["lattice", "caps", "--from-log", "--server", "other"];
    assert!(home.run(&other).out.contains("no server of that name"));
    let scope = home.run(&[&other[..], &["--scope"]].concat());
    assert!(scope.code == 2 && scope.out.is_empty() && scope.err.contains("no server of that name"), "{}", scope.err);
    let list = home.run(&["tools", "list", "--server", "other"]).out;
    assert!(list.contains("`mcp-approve --home HOME tools list`"), "{list}");
}
