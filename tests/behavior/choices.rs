//! Arguments that choose the act: what they raise, however they are spelled.

use super::{called, named, tool};
use mcp_approve::behavior::taxonomy::Mutability;
use serde_json::{Value, json};

fn said(arguments: &Value) -> String {
    let fetch = named("fetch_url", "Fetches a page.");
    let behavior = called(&fetch, arguments);
    format!("{} {}", behavior.identity.mutability.word(), behavior.identity.action.word())
}

#[test]
fn padding_hides_no_method() {
    for white in [" ", "\t", "\u{a0}", "\u{2003}", "\u{3000}", "\r\n"] {
        for padded in [format!("DELETE{}", white.repeat(60)), format!("{}DELETE", white.repeat(300))] {
            assert_eq!(said(&json!({ "method": padded })), "MUTATES DELETE", "{padded:?}");
        }
    }
    assert_eq!(said(&json!({ "method": format!("  GET{}", " ".repeat(90)) })), "PURE READ");
    assert_eq!(said(&json!({ "action": "get_".repeat(16) })), "PURE READ", "as long as one is read");
    assert_eq!(said(&json!({ "action": format!("{}x", "get_".repeat(16)) })), "MUTATES UNKNOWN", "too long to read");
}

#[test]
fn a_method_passes_as_a_read_only_when_it_is_known_to_be_one() {
    for (method, expected) in [
        ("GET", "PURE READ"),
        ("head", "PURE READ"),
        ("PROPFIND", "PURE READ"),
        ("QUERY", "PURE READ"),
        ("eth_getBalance", "PURE READ"),
        ("MKCOL", "MUTATES CREATE"),
        ("PROPPATCH", "MUTATES UPDATE"),
        ("VERSION-CONTROL", "MUTATES UPDATE"),
        ("PURGE", "MUTATES DELETE"),
        ("BREW", "MUTATES UNKNOWN"),
        ("RUN", "MUTATES"),
        ("eth_call", "MUTATES"),
        ("ＤＥＬＥＴＥ", "MUTATES DELETE"),
        ("GET,DELETE", "MUTATES DELETE"),
        ("GET\r\nDELETE", "MUTATES DELETE"),
        ("POST;DELETE", "MUTATES UNKNOWN"),
        ("GET /items", "MUTATES UNKNOWN"),
        ("\"DELETE\"", "MUTATES DELETE"),
        ("", "PURE READ"),
        ("---", "MUTATES UNKNOWN"),
    ] {
        assert!(
            said(&json!({ "method": method })).starts_with(expected),
            "{method}: {}",
            said(&json!({ "method": method }))
        );
    }
}

#[test]
fn a_method_is_known_by_many_names_and_found_in_any_nesting() {
    for arguments in [
        json!({ "HTTPMethod": "BREW" }),
        json!({ "requestMethod": "BREW" }),
        json!({ "_method": "BREW" }),
        json!({ "http_verb": "BREW" }),
        json!({ "headers": { "X-HTTP-Method-Override": "BREW" } }),
        json!({ "httpmethod": "BREW" }),
        json!({ "methods": ["GET", "BREW"] }),
        json!({ "methods": [["GET", ["BREW"]]] }),
    ] {
        assert_eq!(said(&arguments), "MUTATES UNKNOWN", "{arguments}");
    }
    for arguments in [
        json!({ "verbose": "very" }),
        json!({ "paymentMethodId": "pm_1" }),
        json!({ "methodology": "agile" }),
        json!({ "proverb": "a stitch in time" }),
    ] {
        assert_eq!(said(&arguments), "PURE READ", "{arguments}");
    }
}

#[test]
fn a_method_of_computing_that_the_tool_lists_is_no_act() {
    let correlated = |choices: Value, choice: &str| {
        let tool = tool(json!({
            "name": "get_correlation",
            "description": "Computes a correlation.",
            "inputSchema": { "type": "object", "properties": { "method": { "type": "string", "enum": choices } } },
        }));
        called(&tool, &json!({ "method": choice })).identity.mutability
    };
    assert_eq!(correlated(json!(["pearson", "kendall"]), "pearson"), Mutability::Pure);
    assert_eq!(correlated(json!(["pearson", "kendall"]), "brew"), Mutability::Mutates);
    assert_eq!(correlated(json!(["GET", "BREW"]), "BREW"), Mutability::Mutates, "a list of HTTP methods");
}

/// A body, or a batch of requests: JSON in a text is read like the arguments around it.
#[test]
fn every_text_of_json_is_read_for_the_choices_in_it() {
    let text = |method: &str| json!({ "method": method }).to_string();
    assert_eq!(said(&json!({ "body": text("GET") })), "PURE READ");
    let mut batch = vec![text("GET"); 5];
    batch.push(text("DELETE"));
    assert_eq!(said(&json!({ "requests": batch })), "MUTATES DELETE", "the sixth counts like the first");
    let inner = json!({ "body": text("DELETE") }).to_string();
    assert_eq!(said(&json!({ "body": json!({ "body": inner }).to_string() })), "MUTATES DELETE", "three deep");
}

#[test]
fn the_worst_finding_is_never_crowded_out() {
    let request = |method: &str, n: usize| json!({ "method": method, "url": format!("https://h{n}/") });
    let found = |last: &str| {
        let mut batch: Vec<Value> = (0..64).map(|n| request("GET", n)).collect();
        batch.push(request(last, 64));
        mcp_approve::behavior::arguments::found(None, &json!({ "requests": batch }))
    };
    let says = |last: &str| found(last).iter().map(|one| one.says.clone()).collect::<Vec<_>>();
    let mild = says("GET");
    assert_eq!((mild.len(), mild[0].as_str(), mild[63].as_str()), (65, "GET to h0", "GET to h63"));
    assert_eq!(mild[64], "more statements than can be listed one by one");
    let worst = says("DELETE");
    assert_eq!((worst.len(), worst[0].as_str(), worst[1].as_str()), (65, "DELETE to h64", "GET to h1"));
}

#[test]
fn an_act_that_nobody_knows_is_new() {
    let fetch = named("fetch_url", "Fetches a page.");
    for arguments in [
        json!({ "action": "assigned" }),
        json!({ "bulk_action": "frob" }),
        json!({ "mode": "obliterate" }),
        json!({ "delete_after": true }),
    ] {
        let behavior = called(&fetch, &arguments);
        assert_eq!((behavior.identity.mutability, behavior.shape.new.len()), (Mutability::Pure, 1), "{arguments}");
    }
    assert!(called(&fetch, &json!({ "include_deleted": true })).shape.holds());
}
