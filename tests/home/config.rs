//! `config.toml`: what decides how a server is wrapped, its roles and approvers, and every problem in it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use mcp_approve::behavior::conclude::Trust;
use mcp_approve::gate::{Mode, Unattended};
use mcp_approve::home::config::Notices;
use mcp_approve::home::config::approver::Values;
use mcp_approve::home::config::approver::program;
use mcp_approve::home::config::value::duration;
use mcp_approve::home::config::{self, APPROVAL_TIMEOUT, ConfigError, Drawing, Level, WrapSettings, settle};
use mcp_approve::home::places::Places;
use mcp_approve::home::policy_file::PolicyPlace;
use mcp_approve::policy::role::Role;
use tempfile::TempDir;

/// A home with this `config.toml`.
fn home(config: &str) -> (TempDir, Places) {
    let home = tempfile::tempdir().unwrap();
    let places = Places::under(home.path()).unwrap();
    fs::create_dir(places.config_dir()).unwrap();
    fs::write(places.config_file(), config).unwrap();
    (home, places)
}

fn settled(config: &str, command: &str, given: Level) -> WrapSettings {
    let (_home, places) = home(config);
    settle(&words(command), given, &places).unwrap()
}

/// What is wrong with this `config.toml`, a problem a line.
fn problems(config: &str) -> String {
    let (_home, places) = home(config);
    let Err(ConfigError::Problems { problems, .. }) = config::check(&places) else { panic!("{config}: no problems") };
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn words(command: &str) -> Vec<OsString> {
    command.split(' ').map(OsString::from).collect()
}

#[test]
fn without_a_file_the_defaults_stand() {
    let home = tempfile::tempdir().unwrap();
    let places = Places::under(home.path()).unwrap();
    let settings = settle(&words("npx -y @a/mcp-notes"), Level::default(), &places).unwrap();
    assert_eq!(settings.name, "notes");
    assert_eq!(settings.policy, PolicyPlace::own(&places));
    assert_eq!(settings.audit_db, places.audit_db());
    assert_eq!(settings.approval_timeout, APPROVAL_TIMEOUT);
    assert_eq!((settings.unattended, settings.host_timeout), (Unattended::Wait, None));
    assert_eq!((settings.drawing, settings.mode, settings.trust), (Drawing::Never, Mode::Enforce, Trust::Corroborate));
}

#[test]
fn the_option_wins_over_the_server_over_the_top() {
    let config = "approval-timeout = \"1m\"\nhost-timeout = \"2m\"\nunattended = \"deny\"\nobserve = true\n\
        [server.notes]\napproval-timeout = \"3m\"\npolicy = \"notes.toml\"\nobserve = false\ntrust = \"none\"\n\
        [server.other]\nhost-timeout = \"9h\"\n";
    let mut given = Level { host_timeout: Some(Duration::from_secs(4)), ..Level::default() };
    let settings = settled(config, "notes-mcp-server", given.clone());
    assert_eq!(settings.approval_timeout, Duration::from_secs(180));
    assert_eq!(settings.host_timeout, Some(Duration::from_secs(4)));
    assert_eq!(settings.unattended, Unattended::Deny);
    assert_eq!((settings.mode, settings.trust), (Mode::Enforce, Trust::None));
    assert!(matches!(&settings.policy, PolicyPlace::Named(path) if path.ends_with("config/notes.toml")));
    given.name = Some("else".to_owned());
    let settings = settled(config, "notes-mcp-server", given);
    assert_eq!(settings.approval_timeout, Duration::from_secs(60));
    assert_eq!(settings.mode, Mode::Observe);
}

#[test]
fn every_problem_at_once() {
    let text = "unattended = \"hope\"\napproval_timeout = \"1m\"\nhost-timeout = \"60\"\ninline = 1\n\
        policy = \"~/p.toml\"\n[server.\"a b\"]\ntrust = \"all\"\n[server.c]\nserver = 1\n";
    insta::assert_snapshot!(problems(text), @r#"
    1:14: `unattended` cannot be "hope"; one of: wait, deny, elicit
    2:1: unknown key "approval_timeout"; did you mean `approval-timeout`?
    3:16: `host-timeout` cannot be "60"; write a whole number and its unit, like 500ms, 60s, 5m or 1h
    4:10: `inline` is of type integer; write true or false
    5:10: `policy` cannot be "~/p.toml"; write the whole path, or one that starts at this file's folder
    6:9: "a b" cannot be a server's name; use 1 to 64 of the characters a-z A-Z 0-9 . _ -
    7:9: `trust` cannot be "all"; one of: corroborate, annotations, none
    9:1: unknown key "server"; did you mean `observe`?
    "#);
}

#[test]
fn a_role_has_what_it_inherits() {
    let text = "[roles.clerk]\ninherits = \"viewer\"\ncapabilities = [\"invoices:*\"]\n\
        [roles.chief]\ninherits = [\"clerk\", \"analyst\"]\n[roles.viewer]\ncapabilities = [\"logs:*\"]\n\
        [tools.\"delete_*\"]\nrequires = [\"admin:system\"]\n";
    let (_home, places) = home(text);
    let granted = |name: &str| {
        let role = config::role(&places, name).unwrap();
        assert_eq!(role.tools.len(), 1, "{name}");
        role.capabilities.iter().map(|glob| glob.text().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(granted("viewer"), ["*:read", "logs:*"]);
    assert_eq!(granted("analyst"), ["*:read", "*:read[?]", "logs:*"]);
    assert_eq!(granted("clerk"), ["invoices:*", "*:read", "logs:*"]);
    assert!(granted("chief").contains(&"invoices:*".to_owned()) && granted("chief").contains(&"*:read[?]".to_owned()));
}

#[test]
fn a_role_grants_what_it_inherits_on_no_other_servers() {
    let text = "[roles.a]\nservers = [\"d\", \"e\"]\n[roles.b]\ninherits = [\"a\", \"viewer\"]\nservers = \"d\"\n\
        [roles.c]\ninherits = [\"b\", \"viewer\"]\n";
    let (_home, places) = home(text);
    for name in ["b", "c"] {
        let role = config::role(&places, name).unwrap();
        assert_eq!(role.servers.iter().map(|glob| glob.text()).collect::<Vec<_>>(), ["d"], "{name}");
    }
}

#[test]
fn what_is_added_to_a_given_role_for_some_servers_is_granted_on_those_alone_to_whoever_inherits_it() {
    let text = "[roles.viewer]\nservers = \"d\"\ncapabilities = [\"logs:*\"]\n\
        [roles.editor]\ncapabilities = [\"notes:*\"]\n[roles.mine]\ninherits = \"editor\"\n";
    let (_home, places) = home(text);
    let granted = |name: &str, server: &str| {
        let role = config::role(&places, name).unwrap();
        let json = serde_json::to_value(&role).unwrap();
        assert_eq!(serde_json::from_value::<Role>(json).unwrap(), role, "{name}");
        role.granted(server).any(|glob| glob.matches("logs:delete"))
    };
    for name in ["analyst", "editor", "mine"] {
        assert!(granted(name, "d"), "{name}");
        assert!(!granted(name, "e"), "{name}");
    }
    let viewer = config::role(&places, "viewer").unwrap();
    assert_eq!(viewer.servers.iter().map(|glob| glob.text()).collect::<Vec<_>>(), ["d"]);
    let mine = config::role(&places, "mine").unwrap();
    assert!(mine.granted("e").any(|glob| glob.matches("notes:delete")), "what names no servers is for any");
}

#[test]
fn a_role_that_inherits_what_it_cannot_is_a_problem() {
    for (text, says) in [
        ("[roles.a]\ninherits = \"b\"\n[roles.b]\ninherits = \"a\"\n", "a role cannot inherit itself"),
        ("[roles.a]\ninherits = \"boss\"\n", "one of: viewer, analyst, editor, admin"),
        ("[roles.viewer]\ninherits = \"admin\"\n", "give your role another name"),
        ("[roles.a]\nservers = \"d\"\n[roles.b]\nservers = \"p\"\n[roles.c]\ninherits = [\"a\", \"b\"]\n", "\"a\""),
        ("[roles.a]\nservers = \"d\"\n[roles.b]\ninherits = \"a\"\nservers = [\"d\", \"p\"]\n", "the role b is for"),
        ("[roles.viewer]\nservers = \"d\"\n[roles.b]\ninherits = \"viewer\"\nservers = \"p\"\n", "two roles"),
        ("[tools.\"[\"]\nrequires = \"x\"\n", "names no tools"),
        ("[tools.a]\nrequire = \"x\"\n", "did you mean `requires`"),
        ("[tools.a]\ncost = \"dear\"\n", "one of: free, low, medium, high"),
        ("[tools.a]\nlatency = 5\n", "a text in quotes"),
    ] {
        let problem = problems(text);
        assert!(problem.contains(says), "{text}: {problem}");
    }
}

#[test]
fn durations() {
    for (text, millis) in [
        ("500ms", Ok(500)),
        ("60s", Ok(60_000)),
        ("5m", Ok(300_000)),
        ("720h", Ok(2_592_000_000)),
        ("721h", Err("it must be longer than 0, and at most 30 days (720h)")),
        ("0s", Err("it must be longer than 0, and at most 30 days (720h)")),
        ("99999999999999999999s", Err("it must be longer than 0, and at most 30 days (720h)")),
        ("60", Err("write a whole number and its unit, like 500ms, 60s, 5m or 1h")),
        ("s", Err("write a whole number and its unit, like 500ms, 60s, 5m or 1h")),
        ("", Err("write a whole number and its unit, like 500ms, 60s, 5m or 1h")),
        ("-5s", Err("write a whole number and its unit, like 500ms, 60s, 5m or 1h")),
        ("1.5h", Err("write a whole number and its unit, like 500ms, 60s, 5m or 1h")),
        ("5 m", Err("write a whole number and its unit, like 500ms, 60s, 5m or 1h")),
        ("5M", Err("write a whole number and its unit, like 500ms, 60s, 5m or 1h")),
        ("٥s", Err("write a whole number and its unit, like 500ms, 60s, 5m or 1h")),
    ] {
        assert_eq!(duration(text), millis.map(Duration::from_millis), "{text}");
    }
}

#[test]
fn an_approvers_program_is_found_where_no_host_chose() {
    let text = |word: &str| format!("[[approver]]\nname = 'a'\ncommand = ['{word}', 'x']\n");
    let found = |word: &str| settled(&text(word), "s", Level::default()).approvers[0].1.command[0].clone();
    assert!(["/usr/bin/sh", "/bin/sh"].contains(&found("sh").to_str().unwrap()));
    assert!(found("./first/check").to_string_lossy().ends_with("config/./first/check"));
    assert_eq!(found("/no/such/program"), "/no/such/program");
    let problem = problems(&text("no-such-program-here"));
    assert!(problem.contains("is in none of") && problem.contains("whole path"), "{problem}");
    let home = tempfile::tempdir().unwrap();
    let (first, second) = (home.path().join("first"), home.path().join("second"));
    for (folder, mode) in [(&first, 0o644), (&second, 0o755)] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("check"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(folder.join("check"), fs::Permissions::from_mode(mode)).unwrap();
    }
    let path = format!("{}:{}", first.display(), second.display());
    assert_eq!(program("check", home.path(), &path), Some(second.join("check")), "what cannot be run is passed over");
}

#[test]
fn only_the_desktops_own_notice_is_a_wrappers() {
    for (text, expected) in [
        ("", Notices::Auto),
        ("[console]\ntheme = \"dark\"", Notices::Auto),
        ("[console]\nnotice = \"auto\"", Notices::Auto),
        ("[console]\nnotice = \"desktop\"", Notices::Desktop),
        ("[console]\nnotice = \"desktop\"\nquiet = true", Notices::Off),
        ("[console]\nnotice = \"off\"", Notices::Off),
        ("[console]\nnotice = \"osc9\"", Notices::Off),
        ("[console]\nnotice = 3", Notices::Off),
    ] {
        assert_eq!(settled(text, "s", Level::default()).notices, expected, "{text}");
    }
}

#[test]
fn a_notice_has_a_program_that_no_host_chose_and_no_values_unless_asked_for() {
    let of =
        |text: &str| settled(&format!("[notify]\ncommand = ['sh', '-c', 'x']\n{text}"), "s", Level::default()).notify;
    let plain = of("").unwrap();
    assert!(["/usr/bin/sh", "/bin/sh"].contains(&plain.command[0].to_str().unwrap()));
    assert_eq!((plain.after, plain.values), (Duration::from_secs(20), Values::LeftOut));
    let asked = of("after = '1m'\narguments = true\n").unwrap();
    assert_eq!((asked.after, asked.values), (Duration::from_secs(60), Values::Redacted));
    for (text, says) in [
        ("[notify]\nafter = '5s'\n", "without a command"),
        ("[notify]\ncommand = ['no-such-program-here']\n", "the notice's program"),
        ("[notify]\ncommand = ['sh']\nargument = true\n", "did you mean `arguments`"),
        ("[server.s]\nnotify = {}\n", "notify"),
    ] {
        let problem = problems(text);
        assert!(problem.contains(says), "{text}: {problem}");
    }
}
