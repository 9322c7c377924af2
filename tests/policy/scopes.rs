//! What lies in a scope, and what passes under it.

use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::behavior::taxonomy::Confidence;
use mcp_approve::capability::scope::Listed;
use mcp_approve::mcp::lifecycle::Revision;
use mcp_approve::policy::role::Role;
use mcp_approve::policy::scope::{Admission, Asked, Limit, Scope};
use serde_json::json;

fn listed(text: &str) -> Scope {
    Scope::of(Limit::Listed(Listed::read(text).unwrap()))
}

fn role(name: &str) -> Scope {
    Scope::of(Limit::Role(Role::given().into_iter().find(|role| role.name == name).unwrap()))
}

#[test]
fn whoever_delegates_hands_on_no_more_than_it_has() {
    let read = Behavior {
        identity: "PURE|READ|CONTENT".parse().unwrap(),
        confidence: Confidence::Proven,
        ..Behavior::unknown()
    };
    let unknown = Behavior::unknown();
    let scopes = [
        Scope::default(),
        listed(r#"["a","b"]"#),
        role("viewer"),
        role("admin"),
        Scope::of(Limit::Nothing("x".into())),
    ];
    for above in &scopes {
        for own in &scopes {
            let both = own.clone().meet(above.clone());
            for (name, behavior) in [("a", &read), ("a", &unknown), ("c", &read), ("c", &unknown)] {
                let holds = |scope: &Scope| scope.holds(Asked { server: "s", name, tool: None, behavior }).is_ok();
                assert_eq!(holds(&both), holds(own) && holds(above), "{name} {own:?} {above:?}");
                assert!(both.may_name(name).is_ok() || !holds(&both), "{name} {both:?}");
            }
            let json = serde_json::to_value(&both).unwrap();
            assert_eq!(serde_json::from_value::<Scope>(json).unwrap(), both);
        }
    }
    assert_eq!(role("viewer").meet(listed(r#"["a"]"#)).words().as_deref(), Some("viewer ∩ 1 tool"));
    assert_eq!(Scope::default().words(), None);
}

#[test]
fn a_scope_that_cannot_be_read_whole_is_none() {
    for text in ["{}", "null", r#"[{"listed":["a"],"role":{}}]"#, r#"[{"more":1}]"#, r#"[{"role":{"name":"viewer"}}]"#]
    {
        assert!(serde_json::from_str::<Scope>(text).is_err(), "{text}");
    }
}
#[test]
fn what_else_passes_under_a_scope_is_what_it_names() {
    use Admission::{Asks, Passes};
    let named = listed(r#"{"tools":["a"],"resources":["note:///*"],"prompts":["p"]}"#);
    let old = listed(r#"["a"]"#);
    let nothing = Scope::of(Limit::Nothing("x".into()));
    let writer =
        Role { name: "w".into(), capabilities: vec!["files:write".to_owned().try_into().unwrap()], ..Role::default() };
    let elsewhere = Role { servers: vec!["t".to_owned().try_into().unwrap()], ..Role::given()[3].clone() };
    let of = |role: Role| Scope::of(Limit::Role(role));
    let (read, prompt) = (r#"{"uri":"note:///a"}"#, r#"{"name":"p"}"#);
    for (scope, method, params, admission) in [
        (&Scope::default(), "acme/run", "{}", Some(Passes)),
        (&old, "resources/list", "{}", Some(Passes)),
        (&old, "resources/read", read, None),
        (&old, "prompts/get", prompt, None),
        (&old, "acme/run", "{}", Some(Asks)),
        (&old, "tasks/update", "{}", Some(Asks)),
        (&named, "resources/read", read, Some(Passes)),
        (&named, "resources/subscribe", read, Some(Passes)),
        (&named, "resources/read", r#"{"uri":"notes:///a"}"#, None),
        (&named, "resources/read", "{}", None),
        (&named, "prompts/get", prompt, Some(Passes)),
        (&named, "prompts/get", r#"{"name":"q"}"#, None),
        (&named, "completion/complete", r#"{"ref":{"type":"ref/prompt","name":"q"}}"#, None),
        (&named, "subscriptions/listen", r#"{"notifications":{"resourceSubscriptions":["note:///a"]}}"#, Some(Asks)),
        (&role("viewer"), "resources/read", read, Some(Passes)),
        (&role("viewer"), "prompts/get", prompt, Some(Passes)),
        (&role("viewer"), "acme/run", "{}", Some(Asks)),
        (&role("admin"), "acme/run", "{}", Some(Passes)),
        (&of(writer), "resources/read", read, None),
        (&of(elsewhere.clone()), "resources/read", read, None),
        (&of(elsewhere), "acme/run", "{}", Some(Asks)),
        (&role("admin").meet(named.clone()), "acme/run", "{}", Some(Asks)),
        (&role("viewer").meet(old.clone()), "prompts/get", prompt, None),
        (&named.clone().meet(nothing.clone()), "acme/run", "{}", None),
        (&nothing.meet(role("admin")), "resources/read", read, None),
    ] {
        let params = serde_json::from_str(params).unwrap();
        let says = scope.admits("s", method, &params, Revision::V2025_11_25).ok();
        assert_eq!(says, admission, "{method} {params} {scope:?}");
    }
}

#[test]
fn an_address_lies_in_a_glob_part_by_part() {
    for (glob, address, lies) in [
        ("note:///*", "note:///a/b", true),
        ("note://*", "note:///a", true),
        ("note:///*", "notes:///a", false),
        ("https://*.example.com/*", "https://www.example.com/a", true),
        ("https://*.example.com/*", "https://evil.io/?q=.example.com/x", false),
        ("https://*.example.com/*", "https://a.example.com@evil.io/", false),
        ("file:///work/*", "file:///work/a", true),
        ("file:///work/*", "file:///work/../etc/passwd", false),
        ("file:///work/*", "file:///work/%2e%2E/etc/passwd", false),
        ("file:///work/*", "file:///work/a\n", false),
        ("*", "anything", true),
        ("git:*", "git:main", true),
        ("[", "[", true),
        ("[", "a", false),
    ] {
        let scope = listed(&json!({ "tools": [], "resources": [glob] }).to_string());
        let admitted = scope.admits("s", "resources/read", &json!({ "uri": address }), Revision::V2025_11_25);
        assert_eq!(admitted.is_ok(), lies, "{glob} {address}");
    }
}
