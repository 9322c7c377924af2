//! hosts: every host's file with its servers wrapped and unwrapped; what is not ours stays, to the byte.

mod files;
mod masked;

use std::path::PathBuf;

use mcp_approve::hosts::change::{Changed, Done, File, Record};
use mcp_approve::hosts::table::{HOSTS, Host};
use mcp_approve::hosts::{Pass, Remote, Syntax, Wrap};
use proptest::prelude::*;

/// Each host, the form of its file, and such a file.
const FILES: &[(&str, Syntax, &str)] = &[
    ("claude-code", Syntax::Json, include_str!("fixtures/hosts/claude-code.json")),
    ("claude-desktop", Syntax::Json, include_str!("fixtures/hosts/claude-desktop.json")),
    ("cursor", Syntax::Json, include_str!("fixtures/hosts/cursor.json")),
    ("vscode", Syntax::Json, include_str!("fixtures/hosts/vscode.json")),
    ("copilot", Syntax::Json, include_str!("fixtures/hosts/copilot.json")),
    ("windsurf", Syntax::Json, include_str!("fixtures/hosts/windsurf.json")),
    ("zed", Syntax::Json, include_str!("fixtures/hosts/zed.json")),
    ("codex", Syntax::Toml, include_str!("fixtures/hosts/codex.toml")),
    ("gemini", Syntax::Json, include_str!("fixtures/hosts/gemini.json")),
    ("qwen", Syntax::Json, include_str!("fixtures/hosts/gemini.json")),
    ("goose", Syntax::Yaml, include_str!("fixtures/hosts/goose.yaml")),
    ("gemini", Syntax::Json, include_str!("fixtures/hosts/gemini-extension.json")),
    ("cline", Syntax::Json, include_str!("fixtures/hosts/cline.json")),
    ("antigravity", Syntax::Json, include_str!("fixtures/hosts/windsurf.json")),
    ("mcp-json", Syntax::Json, include_str!("fixtures/hosts/windsurf.json")),
    ("continue", Syntax::Yaml, include_str!("fixtures/hosts/continue.yaml")),
    ("opencode", Syntax::Json, include_str!("fixtures/hosts/opencode.jsonc")),
    ("opencode", Syntax::Json, include_str!("fixtures/hosts/opencode2.json")),
    ("junie", Syntax::Json, include_str!("fixtures/hosts/windsurf.json")),
    ("lm-studio", Syntax::Json, include_str!("fixtures/hosts/windsurf.json")),
    ("kiro", Syntax::Json, include_str!("fixtures/hosts/gemini.json")),
];

fn host(word: &str) -> &'static Host {
    HOSTS.iter().find(|host| host.word == word).unwrap()
}

fn file<'a>(word: &str, syntax: Syntax, text: &'a str, record: Option<Record>) -> File<'a> {
    File { host: host(word), syntax, path: PathBuf::from("/home/ada/list"), text, record }
}

fn how(pass: Pass) -> Wrap {
    Wrap { program: "/opt/bin/mcp-approve".to_owned(), home: None, pass, remote: Remote::Leave }
}

fn wrap(word: &str, syntax: Syntax, text: &str) -> Changed {
    file(word, syntax, text, None)
        .wrap(&|_, _| true, &how(Pass::Everything))
        .unwrap_or_else(|why| panic!("{word}: {why:?}\n{text}"))
}

fn bridged(word: &str, syntax: Syntax, text: &str) -> Changed {
    let how = Wrap { remote: Remote::Bridge, ..how(Pass::Unchanged) };
    file(word, syntax, text, None).wrap(&|_, _| true, &how).unwrap_or_else(|why| panic!("{word}: {why:?}\n{text}"))
}

/// The lines that differ, as a diff has them.
fn diff(before: &str, after: &str) -> String {
    similar::TextDiff::from_lines(before, after)
        .iter_all_changes()
        .filter(|change| change.tag() != similar::ChangeTag::Equal)
        .map(|change| format!("{}{}", change.tag(), change.value()))
        .collect()
}

#[test]
fn each_hosts_servers_are_wrapped_in_its_own_form() {
    let mut shown = String::new();
    for (word, syntax, text) in FILES
        .iter()
        .filter(|(word, ..)| !["qwen", "antigravity", "mcp-json", "junie", "lm-studio", "kiro"].contains(word))
    {
        let changed = wrap(word, *syntax, text);
        shown.push_str(&format!("== {word}\n{}", diff(text, &changed.text)));
        for one in &changed.servers {
            let project = one.project.as_ref().map(|project| format!(" for {project}")).unwrap_or_default();
            shown.push_str(&format!("# {}{project}: {:?}\n", one.name, one.done));
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_second_time_changes_nothing() {
    for (word, syntax, text) in FILES {
        let once = wrap(word, *syntax, text);
        let twice =
            file(word, *syntax, &once.text, once.record.clone()).wrap(&|_, _| true, &how(Pass::Everything)).unwrap();
        assert_eq!((&twice.text, &twice.record), (&once.text, &once.record), "{word}");
        assert!(!twice.servers.iter().any(|one| matches!(one.done, Done::Wrapped(_))), "{word}");
        let record = once.record.clone();
        let back = file(word, *syntax, &once.text, record).unwrap(&|_, _| true).unwrap();
        assert_eq!((back.text.as_str(), back.record), (*text, None), "{word}");
        let never = file(word, *syntax, text, None).unwrap(&|_, _| true).unwrap();
        assert_eq!((never.text.as_str(), never.servers.len()), (*text, 0), "{word}");
        let crlf = wrap(word, *syntax, &text.replace('\n', "\r\n")).text;
        assert!(!crlf.replace("\r\n", "").contains('\n'), "{word}: {crlf}");
    }
}

/// An odd but valid spelling of the same file.
#[derive(Clone, Copy, Debug)]
enum Odd {
    As,
    Crlf,
    Mark,
    Tabs,
    Blank,
    NoEnd,
}

fn spelled(text: &str, syntax: Syntax, odd: Odd) -> String {
    match odd {
        Odd::As => text.to_owned(),
        Odd::Crlf => text.replace('\n', "\r\n"),
        Odd::Mark => format!("\u{feff}{text}"),
        Odd::Tabs if syntax == Syntax::Yaml => text.replace("\n  ", "\n      "),
        Odd::Tabs => text.replace("  ", "\t"),
        Odd::Blank => text.replace('\n', if syntax == Syntax::Json { "\n \n" } else { "\n\n" }),
        Odd::NoEnd => text.trim_end().to_owned(),
    }
}

fn any_file() -> impl Strategy<Value = (&'static str, Syntax, String)> {
    let odd = prop_oneof![
        Just(Odd::As),
        Just(Odd::Crlf),
        Just(Odd::Mark),
        Just(Odd::Tabs),
        Just(Odd::Blank),
        Just(Odd::NoEnd)
    ];
    (0..FILES.len(), odd).prop_map(|(at, odd)| {
        let (word, syntax, text) = FILES[at];
        (word, syntax, spelled(text, syntax, odd))
    })
}

/// A few names in the same order as ever, some of them.
fn some(mask: u32) -> impl Fn(Option<&str>, &str) -> bool {
    move |project, name| {
        let hash: u32 = name.bytes().chain(project.unwrap_or_default().bytes()).map(u32::from).sum();
        mask & (1 << (hash % 32)) != 0
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is wrapped and unwrapped, in any order and in part: in the end the bytes are those from before.
    #[test]
    fn what_was_wrapped_in_steps_is_unwrapped_to_the_byte(
        (word, syntax, text) in any_file(),
        steps in prop::collection::vec((any::<bool>(), any::<u32>()), 1..6),
    ) {
        let (mut now, mut record) = (text.clone(), None);
        for (wraps, mask) in steps {
            let file = file(word, syntax, &now, record.clone());
            let some = some(mask);
            let changed = if wraps { file.wrap(&some, &how(Pass::Everything)) } else { file.unwrap(&some) }.unwrap();
            (now, record) = (changed.text, changed.record);
        }
        let back = file(word, syntax, &now, record).unwrap(&|_, _| true).unwrap();
        prop_assert_eq!(back.text, text);
        prop_assert_eq!(back.record, None);
    }

    /// Somebody writes the file in between: what they wrote stays, and our wrapping goes.
    #[test]
    fn what_was_changed_in_between_stays((word, syntax, text) in any_file(), mask in any::<u32>(), told in any::<bool>()) {
        let some = some(mask);
        let wrapped = file(word, syntax, &text, None).wrap(&some, &how(Pass::Unchanged)).unwrap();
        prop_assume!(wrapped.record.is_some());
        let by_hand = |text: &str| match syntax {
            Syntax::Json => text.replacen('{', "{ /* new */ ", 3).replace("Filesystem", "filesystem"),
            Syntax::Toml => format!("{text}\n[tui]\nx = 1 # new\n"),
            Syntax::Yaml => format!("{}\nadded: [1, 2] # new\n", text.trim_end()),
        };
        let (edited, wanted) = (by_hand(&wrapped.text), by_hand(&text));
        let record = wrapped.record.filter(|_| told);
        let remembered = record.is_some();
        let back = file(word, syntax, &edited, record).unwrap(&|_, _| true).unwrap();
        prop_assert!(!back.text.contains("/opt/bin/mcp-approve"), "{}", back.text);
        // Without what is remembered, an empty list of words and a raised limit stay.
        if remembered {
            prop_assert_eq!(&back.text, &wanted);
            prop_assert_eq!(back.record, None);
        }
    }
}

#[test]
fn an_entry_that_was_edited_after_it_was_wrapped_keeps_the_edit() {
    for (word, syntax, text) in FILES {
        let wrapped = wrap(word, *syntax, text);
        let more = |text: &str| match syntax {
            Syntax::Json => text.replace("\"command\":", "\"mine\": 1, \"command\":"),
            Syntax::Toml => text.replace("\ncommand =", "\nmine.x = 1\ncommand ="),
            Syntax::Yaml => {
                text.replace("type: stdio", "type: stdio ").replace("\n    cmd:", "\n    mine: 1\n    cmd:")
            }
        };
        let edited = more(&wrapped.text);
        let back = file(word, *syntax, &edited, wrapped.record)
            .unwrap(&|_, _| true)
            .unwrap_or_else(|why| panic!("{word}: {why:?}\n{edited}"));
        assert_eq!(back.text, more(text), "{word}");
    }
}

#[test]
fn a_host_that_writes_its_file_anew_loses_nothing_when_it_is_unwrapped() {
    for (word, syntax, text) in FILES {
        let Ok(before) = serde_json::from_str::<serde_json::Value>(text) else { continue };
        let wrapped = wrap(word, *syntax, text);
        let anew = serde_json::from_str::<serde_json::Value>(&wrapped.text).map(|value| format!("{value:#}")).unwrap();
        let back = file(word, *syntax, &anew, wrapped.record).unwrap(&|_, _| true).unwrap();
        assert_eq!((back.text, back.record), (format!("{before:#}"), None), "{word}");
    }
}

#[test]
fn a_server_over_the_network_is_wrapped_when_asked_unless_it_says_more_than_its_address() {
    let mut shown = String::new();
    for (word, syntax, text) in FILES
        .iter()
        .filter(|(word, ..)| ["claude-code", "windsurf", "codex", "gemini", "goose", "opencode"].contains(word))
    {
        let changed = bridged(word, *syntax, text);
        let remote = diff(text, &changed.text);
        shown
            .extend(remote.lines().filter(|line| line.contains("https://example.com")).map(|line| format!("{line}\n")));
        let why =
            changed.servers.iter().filter(|one| matches!(&one.done, Done::Left(why) if why.contains("help hosts")));
        shown.extend(why.map(|one| format!("# {}: {:?}\n", one.name, one.done)));
        let back = file(word, *syntax, &changed.text, changed.record.clone()).unwrap(&|_, _| true).unwrap();
        assert_eq!(back.text, *text, "{word}");
        // Where the entry was changed since, its address comes back all the same.
        let more = |text: &str| match syntax {
            Syntax::Json => text
                .replace("\"type\": \"remote\"", "\"type\" :\"remote\"")
                .replace("\"type\": \"local\"", "\"type\" :\"local\""),
            Syntax::Toml => text.replace("[mcp_servers.web]\n", "[mcp_servers.web]\nname = 1\n"),
            Syntax::Yaml => text.to_owned(),
        };
        let edited = more(&changed.text);
        let back = file(word, *syntax, &edited, changed.record).unwrap(&|_, _| true).unwrap();
        assert_eq!(back.text, more(text), "{word}");
        // Without what is remembered, the address is no command line.
        let left =
            file(word, *syntax, &changed.text, None).unwrap(&|_, name| name == "web" || name == "three").unwrap();
        assert!(
            left.servers.iter().all(|one| matches!(&one.done, Done::Left(why) if why.contains("over the network")))
        );
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn what_cannot_be_edited_exactly_is_left_with_the_reason() {
    let yaml = |entry: &str| format!("extensions:\n  s:\n    type: stdio\n{entry}");
    for (word, syntax, text, why) in [
        ("cursor", Syntax::Json, r#"{ "mcpServers": { "s": {} } }"#.to_owned(), "no command of its own"),
        (
            "cursor",
            Syntax::Json,
            r#"{ "mcpServers": { "s": { "command": "x", "args": "y" } } }"#.to_owned(),
            "a list of words",
        ),
        (
            "cursor",
            Syntax::Json,
            r#"{ "mcpServers": { "s": { "command": "x", "args": null } } }"#.to_owned(),
            "`args` is not a list",
        ),
        (
            "cursor",
            Syntax::Json,
            r#"{ "mcpServers": { "s": { "command": "x", "args": [["y"]] } } }"#.to_owned(),
            "a list of words",
        ),
        ("goose", Syntax::Yaml, yaml("    cmd: &x npx\n"), "no command of its own"),
        (
            "goose",
            Syntax::Yaml,
            yaml("    cmd: x\n    args: *y\n").replace("type: stdio", "type: &y stdio"),
            "a list of words",
        ),
        ("goose", Syntax::Yaml, yaml("    <<: {cmd: x}\n"), "no command of its own"),
        ("goose", Syntax::Yaml, yaml("    cmd: x\n    args:\n"), "`args` is not a list"),
        (
            "continue",
            Syntax::Yaml,
            "mcpServers:\n- {name: a, command: x}\n- {name: a, command: y}\n".to_owned(),
            "two servers",
        ),
    ] {
        let changed = file(word, syntax, &text, None).wrap(&|_, _| true, &how(Pass::Unchanged)).unwrap();
        assert_eq!((changed.text.as_str(), &changed.record), (text.as_str(), &None));
        let left = matches!(&changed.servers[0].done, Done::Left(said) if said.contains(why));
        assert!(left, "{text}: {:?}", changed.servers);
    }
    for (syntax, text, why) in [
        (Syntax::Json, "{ \"mcpServers\": {}, \"mcpServers\": {} }", "\"mcpServers\" is there twice"),
        (Syntax::Json, "{ mcpServers: {} }", "line 1"),
        (Syntax::Json, "{} {}", "line 1"),
        (Syntax::Toml, "a = 1\na = 2\n", "line 2: duplicate key"),
        (Syntax::Yaml, "a: 1\na: 2\n", "\"a\" is there twice"),
        (Syntax::Yaml, "a: 1\n---\nb: 2\n", "several documents"),
        (Syntax::Yaml, "extensions: &all\n  x: {cmd: y}\n", "anchors or tags"),
    ] {
        let said = file("goose", syntax, text, None).wrap(&|_, _| true, &how(Pass::Unchanged)).unwrap_err().0;
        assert!(said.contains(why), "{text}: {said}");
    }
    for (syntax, text) in
        [(Syntax::Json, ""), (Syntax::Json, " // nothing\n"), (Syntax::Toml, ""), (Syntax::Yaml, "# nothing\n")]
    {
        let changed = file("goose", syntax, text, None).wrap(&|_, _| true, &how(Pass::Unchanged)).unwrap();
        assert_eq!((changed.text.as_str(), changed.servers.len()), (text, 0));
    }
}

#[test]
fn each_row_of_the_table_says_where_its_places_are_told() {
    for host in HOSTS.iter() {
        assert!(host.source.starts_with("https://"), "{}", host.name);
        let absolute = |path: &&&str| path.starts_with('/');
        assert_eq!(host.system.iter().filter(absolute).count(), host.system.len(), "{}", host.name);
        assert_eq!(host.home.iter().chain(&host.project).chain(&host.bundles).find(absolute), None, "{}", host.name);
    }
    let help = include_str!("../assets/help/hosts.md");
    for host in HOSTS.iter() {
        let name = if host.word == "qwen" { "Qwen" } else { host.name };
        assert!(help.contains(name), "`help hosts` does not name {name}");
        for (variable, _) in &host.variables {
            assert!(help.contains(variable), "`help hosts` does not name {variable}");
        }
    }
}

#[test]
fn a_host_that_prefers_an_address_is_not_taken_for_wrapped() {
    let text =
        r#"{ "mcpServers": { "s": { "command": "mcp-approve", "args": ["--", "x"], "httpUrl": "https://a.b/mcp" } } }"#;
    let changed = wrap("gemini", Syntax::Json, text);
    assert!(
        matches!(&changed.servers[0].done, Done::Left(why) if why.contains("and an address")),
        "{:?}",
        changed.servers
    );
    // An empty one is none.
    let changed = wrap("gemini", Syntax::Json, &text.replace("https://a.b/mcp", ""));
    assert_eq!(changed.servers[0].done, Done::Already);
}
