//! What roles grant, and what tools require.

use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::behavior::curated::Entitlement;
use mcp_approve::behavior::taxonomy::Confidence;
use mcp_approve::policy::glob::Glob;
use mcp_approve::policy::role::{Lacks, Role, ToolProfile, Written};

fn behavior(identity: &str, confidence: Confidence) -> Behavior {
    Behavior { identity: identity.parse().unwrap(), confidence, ..Behavior::unknown() }
}

#[test]
fn each_given_role_has_all_that_the_one_before_has() {
    let cases = [
        ("PURE|READ|CONTENT", Confidence::Proven, "viewer"),
        ("PURE|READ|CONTENT", Confidence::Likely, "analyst"),
        ("MUTATES|UPDATE|CONTENT", Confidence::None, "editor"),
        ("MUTATES|OVERWRITE|CONTENT", Confidence::None, "editor"),
        ("MUTATES|DELETE|CONTENT", Confidence::None, "admin"),
        ("MUTATES|EXECUTE|DATA", Confidence::None, "admin"),
        ("MUTATES|SEND|MESSAGE", Confidence::None, "admin"),
        ("MUTATES|READ|CONTENT", Confidence::None, "admin"),
        ("MUTATES|UNKNOWN|UNKNOWN", Confidence::None, "admin"),
    ];
    for (identity, confidence, first) in cases {
        let behavior = behavior(identity, confidence);
        let mut granted = false;
        for role in Role::given() {
            granted |= role.name == first;
            let lacks = role.lacks("s", "frob_file", None, &behavior);
            assert_eq!(lacks.is_none(), granted, "{} {identity} {confidence:?} {lacks:?}", role.name);
            let json = serde_json::to_value(&role).unwrap();
            assert_eq!(serde_json::from_value::<Role>(json).unwrap(), role);
        }
    }
}

#[test]
fn what_a_tool_requires_must_be_granted_all_of_it() {
    let read = behavior("PURE|READ|CONTENT", Confidence::Proven);
    let tool = mcp_approve::mcp::tool::Tool::read(serde_json::json!({
        "name": "read_file", "_meta": { "required_entitlements": ["files:read", "admin:system"] },
    }));
    let viewer = &Role::given()[0];
    let lacks = viewer.lacks("s", "read_file", tool.as_ref(), &read);
    assert_eq!(lacks, Some(Lacks::Entitlement("admin:system".to_owned())));
    assert_eq!(viewer.lacks("s", "read_file", None, &read), None);
    let admin = &Role::given()[3];
    assert_eq!(admin.lacks("s", "read_file", tool.as_ref(), &read), None);
}

#[test]
fn what_our_list_says_that_a_tool_requires_holds_until_the_operator_says_otherwise() {
    let create = behavior("MUTATES|CREATE|ISSUE", Confidence::None);
    let create = Behavior { requires: Some(Entitlement::Repositories), ..create };
    let mut clerk = Role { capabilities: vec![Glob::new("issues:*").unwrap()], ..Role::default() };
    let lacks = clerk.lacks("github", "create_issue", None, &create);
    assert_eq!(lacks, Some(Lacks::Entitlement("repositories:write".to_owned())));
    clerk.tools = vec![ToolProfile { tools: Glob::new("create_*").unwrap(), written: Written::default() }];
    assert_eq!(clerk.lacks("github", "create_issue", None, &create), None);
    let editor = &Role::given()[2];
    assert_eq!(editor.lacks("github", "create_issue", None, &create), None);
}

#[test]
fn a_role_is_for_its_servers_and_a_requirement_for_its_tools() {
    let read = behavior("PURE|READ|CONTENT", Confidence::Proven);
    let viewer = Role { servers: vec![Glob::new("files*").unwrap()], ..Role::given()[0].clone() };
    for (server, lacks) in
        [("files", None), ("files#b", None), ("mail", Some(Lacks::Server)), ("m#files", Some(Lacks::Server))]
    {
        assert_eq!(viewer.lacks(server, "read_file", None, &read), lacks, "{server}");
    }
    let lacks = |glob: &str, server: &str, tool: &str| {
        let written = Written { requires: Some(vec!["x:y".to_owned()]), ..Written::default() };
        let tools = vec![ToolProfile { tools: Glob::new(glob).unwrap(), written }];
        Role { tools, ..Role::given()[0].clone() }.lacks(server, tool, None, &read).is_some()
    };
    assert!(lacks("read_*", "s", "read_file") && lacks("s/read_*", "s", "read_file"));
    assert!(!lacks("s/read_*", "t", "read_file") && !lacks("write_*", "s", "read_file"));
}
