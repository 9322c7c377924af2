//! What a task expects of its tools, and what a tool's profile says of it.

use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::behavior::curated::Entitlement;
use mcp_approve::behavior::expected::Expected;
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::tags;
use mcp_approve::behavior::taxonomy::ContentType;
use mcp_approve::mcp::tool::Tool;
use mcp_approve::policy::glob::Glob;
use mcp_approve::policy::role::{self, CostTier, Idempotence, Profile, SideEffects, ToolProfile, Written, profile_of};
use serde_json::json;

#[test]
fn an_expectation_takes_what_it_names_and_nothing_else() {
    for (text, fits, differs) in [
        ("read-only", "PURE|SEARCH|DATA", "MUTATES|CREATE|DATA"),
        ("PURE", "PURE|READ|CONTENT", "MUTATES|UNKNOWN|UNKNOWN"),
        ("OVERWRITE", "MUTATES|OVERWRITE|ACK", "MUTATES|APPEND|ACK"),
        ("PURE|CONTENT", "PURE|READ|CONTENT", "PURE|READ|DATA"),
        ("MUTATES|*|ISSUE", "MUTATES|CREATE|ISSUE", "MUTATES|CREATE|PR"),
        ("MUTATES|OVERWRITE|DATA", "MUTATES|OVERWRITE|DATA", "PURE|READ|DATA"),
        ("PURE|READ|CONTENT|TEXT", "PURE|READ|CONTENT", "PURE|READ|DATA"),
        ("SEARCH, MUTATES|CREATE|ISSUE", "MUTATES|CREATE|ISSUE", "MUTATES|CREATE|PR"),
        ("read-only,APPEND", "MUTATES|APPEND|ACK", "MUTATES|OVERWRITE|ACK"),
    ] {
        let expected: Expected = text.parse().unwrap();
        assert!(expected.fits(fits.parse().unwrap(), ContentType::Text), "{text} takes {fits}");
        assert!(!expected.fits(differs.parse().unwrap(), ContentType::Text), "{text} does not take {differs}");
    }
    let identity: Identity = "MUTATES|DELETE|ACK".parse().unwrap();
    let by_hash: Expected = identity.hash().to_uppercase().parse().unwrap();
    let unknown = ContentType::Unknown;
    assert!(by_hash.fits(identity, unknown) && !by_hash.fits(Identity::UNKNOWN, unknown));
    for nonsense in [
        "", "readonly", "pure", "PURE|MUTATES", "*|*|*", "*|*|*|*", "UNKNOWN", "PURE|READ|DATA|X", "READ|READ",
        "PURE|READ|DATA|TEXT|TEXT", "PURE,", "PURE,nothing", "session:", "session:a b", "TEXT",
    ] {
        assert!(nonsense.parse::<Expected>().is_err(), "{nonsense:?}");
    }
}

#[test]
fn the_fourth_field_separates_text_from_bytes() {
    let expected: Expected = "PURE|READ|*|TEXT".parse().unwrap();
    let identity: Identity = "PURE|READ|CONTENT".parse().unwrap();
    assert!(expected.fits(identity, ContentType::Text));
    assert!(!expected.fits(identity, ContentType::Binary));
    assert!(!expected.fits(identity, ContentType::Unknown));
}

#[test]
fn a_session_fits_nothing_until_the_log_was_asked() {
    let mut expected: Expected = "session:0a1b".parse().unwrap();
    let identity: Identity = "PURE|READ|CONTENT".parse().unwrap();
    assert!(!expected.fits(identity, ContentType::Text));
    let resolved: Result<(), String> = expected.resolve(|session| {
        assert_eq!(session, "0a1b");
        Ok(vec![identity.hash().to_owned()])
    });
    assert_eq!(resolved, Ok(()));
    assert!(expected.fits(identity, ContentType::Text));
    assert!(!expected.fits(Identity::UNKNOWN, ContentType::Text));
}

#[test]
fn what_a_server_declares_makes_a_tool_no_safer() {
    let profile = |more: serde_json::Value, identity: &str| {
        let tool = Tool::read(json!({ "name": "t", "_meta": more })).unwrap();
        Profile::of(&tool, &Behavior { identity: identity.parse().unwrap(), ..Behavior::unknown() })
    };
    let delete = profile(
        json!({ "capabilities": ["knowledge_packs:delete"], "required_entitlements": "admin:system",
            "cost_tier": "medium", "estimated_latency_ms": 500, "idempotent": true, "side_effects": "none" }),
        "MUTATES|DELETE|DATA",
    );
    assert_eq!((delete.side_effects, delete.cost), (SideEffects::Delete, Some(CostTier::Medium)));
    assert_eq!(delete.latency_ms, Some(500));
    assert_eq!(
        (delete.capabilities, delete.requires),
        (vec!["knowledge_packs:delete".into()], vec!["admin:system".into()])
    );
    assert_eq!(delete.idempotence, Idempotence::Said);
    assert_eq!(profile(json!({}), "MUTATES|DELETE|DATA").idempotence, Idempotence::No);
    let read = profile(json!({ "side_effects": "delete", "idempotent": false }), "PURE|READ|DATA");
    assert_eq!((read.side_effects, read.idempotence), (SideEffects::Delete, Idempotence::No));
    let odd = profile(json!({ "required_entitlements": { "any": 1 } }), "PURE|READ|DATA");
    assert_eq!(odd.requires, [r#"{"any":1}"#], "what cannot be read is granted by nothing");
}

/// As a role is held to: where the operator says something of a tool, our list does not.
#[test]
fn a_profile_requires_what_our_list_says_until_the_operator_says_something() {
    let tool = Tool::read(json!({ "name": "write_file", "required_entitlements": ["a:b"] })).unwrap();
    let behavior = Behavior { requires: Some(Entitlement::Files), ..Behavior::unknown() };
    let written = Written { requires: Some(vec!["c:d".to_owned()]), ..Written::default() };
    let own = ToolProfile { tools: Glob::new("s/write_*").unwrap(), written };
    for (profiles, requires) in [(vec![], "a:b files:write"), (vec![own], "c:d a:b")] {
        let profile = profile_of(&profiles, "s", &tool, &behavior);
        assert_eq!(profile.requires.join(" "), requires);
    }
    let says = ["a:b", "files:write", "c:d"].map(|word| role::requires(&tool, &behavior, word));
    assert_eq!(says, ["says its server", "says our list of well-known servers", "says your config.toml"]);
}

#[test]
fn a_name_speaks_of_things() {
    let read = Behavior { identity: "PURE|READ|DATA".parse().unwrap(), ..Behavior::unknown() };
    for (name, spoken) in [
        ("read_text_file", &["data:read", "files:read", "text_files:read"][..]),
        ("listDirectory", &["data:read", "directories:read"]),
        ("create_issue", &["data:read", "issues:read"]),
        ("search_requirements", &["data:read", "requirements:read"]),
        ("get_user_by_id", &["data:read", "users:read"]),
        ("delete_branch", &["data:read", "branches:read"]),
        ("query", &["data:read", "data:read"]),
        ("send-message-to-channel", &["data:read", "messages:read"]),
        ("delete_knowledge_pack", &["data:read", "packs:read", "knowledge_packs:read"]),
        ("browser_run_code_unsafe", &["data:read", "code:read"]),
        ("get_beta", &["data:read", "beta:read"]),
        ("find_best", &["data:read", "data:read"]),
        ("get_current_weather", &["data:read", "weather:read"]),
        ("list_people", &["data:read", "people:read"]),
        ("list_open_issues", &["data:read", "issues:read"]),
    ] {
        assert_eq!(tags::of(&read, name), spoken, "{name}");
    }
    let odd = ["gits", "stageds", "unstageds", "unsafes", "bests", "betas"];
    for name in ["git_log", "git_show", "git_status", "git_diff_staged", "git_diff_unstaged", "show_best", "beta"] {
        let tags = tags::of(&read, name);
        assert!(!tags.iter().any(|tag| odd.iter().any(|word| tag.contains(word))), "{name}: {tags:?}");
    }
}
