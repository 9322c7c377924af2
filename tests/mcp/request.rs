//! What other requests than calls are, and what they are about.

use serde_json::json;

use mcp_approve::mcp::lifecycle::Revision;
use mcp_approve::mcp::request::{Content, Standing, contents, files, is_file, is_ruled, path_of, standing, target};

#[test]
fn a_file_address_is_read_in_every_spelling() {
    assert_eq!(path_of("file:///home/ada/my%20work/%C3%A9").as_deref(), Some("/home/ada/my work/é"));
    assert_eq!(path_of("file://localhost/srv/%zz").as_deref(), Some("/srv/%zz"));
    assert_eq!(path_of("file:///srv/%+5%-5%5").as_deref(), Some("/srv/%+5%-5%5"), "a sign is no digit");
    assert_eq!(path_of("FILE:/etc/passwd").as_deref(), Some("/etc/passwd"));
    assert_eq!(path_of("file:///etc/%23%3f").as_deref(), Some("/etc/#?"));
    for odd in ["file:///etc/passwd#top", "file:///srv/x?/../../etc", "file://elsewhere/srv", "file:srv", "file:~/a"] {
        assert_eq!(path_of(odd), None, "{odd}");
    }
    assert_eq!(path_of("https://example.org/x"), None);
    assert!(is_file(" File:///x") && !is_file("profile:///x"));
}

#[test]
fn a_request_is_about_what_its_params_name_first() {
    assert_eq!(target(&json!({"uri": "file:///a"})), Some("file:///a"));
    assert_eq!(target(&json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {}})), Some("p"));
    let messages = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]});
    assert_eq!(target(&messages), Some("hi"));
    assert_eq!(target(&json!(null)), None);
    assert!(
        is_ruled("resources/read")
            && !is_ruled("initialize")
            && !is_ruled("tools/list")
            && !is_ruled("notifications/cancelled")
    );
}
#[test]
fn each_revision_has_its_own_methods() {
    use Standing::{Contents, Other, Reads};
    for (method, old, tasks, newest) in [
        ("ping", Reads, Reads, Other),
        ("resources/templates/list", Reads, Reads, Reads),
        ("logging/setLevel", Reads, Reads, Other),
        ("tasks/result", Other, Reads, Other),
        ("tasks/get", Other, Reads, Reads),
        ("tasks/update", Other, Other, Other),
        ("resources/read", Contents, Contents, Contents),
        ("resources/subscribe", Contents, Contents, Other),
        ("subscriptions/listen", Other, Other, Contents),
        ("Resources/read", Other, Other, Other),
        ("acme/list", Other, Other, Other),
    ] {
        let revisions = [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28];
        assert_eq!(revisions.map(|revision| standing(method, revision)), [old, tasks, newest], "{method}");
    }
}

#[test]
fn contents_are_named_as_the_protocol_has_it() {
    use Content::{Prompt, Resource};
    for (method, params, named) in [
        ("resources/read", json!({"uri": "note:///a"}), Some(vec![Resource("note:///a")])),
        ("resources/read", json!({"uri": ["note:///a"]}), None),
        ("prompts/get", json!({"name": "p"}), Some(vec![Prompt("p")])),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/resource", "uri": "a://{x}"}}),
            Some(vec![Resource("a://{x}")]),
        ),
        ("completion/complete", json!({"ref": {"type": "ref/prompt", "name": "p"}}), Some(vec![Prompt("p")])),
        ("completion/complete", json!({"ref": {"type": "ref/tool", "name": "p"}}), None),
        ("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}), Some(vec![])),
        (
            "subscriptions/listen",
            json!({"notifications": {"resourceSubscriptions": ["a:b"]}}),
            Some(vec![Resource("a:b")]),
        ),
        ("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": [{"uri": "a:b"}]}}), None),
    ] {
        assert_eq!(contents(method, &params), named, "{method} {params}");
    }
}

#[test]
fn a_file_is_found_in_every_spelling_of_its_address() {
    for (method, params, paths) in [
        ("resources/read", json!({"uri": "file:///a"}), vec![Some("/a".to_owned())]),
        ("Resources/Read/", json!({"URI": "FILE:/a"}), vec![Some("/a".to_owned())]),
        ("resources/read", json!({"uri": "\tfi\nle:///a"}), vec![None]),
        ("resources/read", json!({"uri": "/etc/passwd"}), vec![None]),
        ("resources/read", json!({"uri": [{"x": "file:///a"}]}), vec![Some("/a".to_owned())]),
        ("resources/read", json!({"uri": "note:///a", "other": "file:///a"}), vec![]),
        ("resources/subscribe", json!({"uri": "file:///a"}), vec![]),
    ] {
        let found: Vec<_> = files(method, &params).into_iter().map(|(_, path)| path).collect();
        assert_eq!(found, paths, "{method} {params}");
    }
}
