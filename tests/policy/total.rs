//! Every predicate on every type of value: each has an answer, and what cannot be told is told so.

use serde_json::{Value, json};

use super::{policy, rule_with};

/// `Y`, `N` or `?`, by what matches: an allow on yes only, a deny on all but no.
fn stands(predicate: &str, arguments: &Value) -> char {
    let matches = |decision: &str| {
        let rule = format!("[[rule]]\nid = 'r'\ndecision = '{decision}'\nwhen = [{{ {predicate} }}]\n");
        rule_with(&policy(&rule), "s.t", "MUTATES UPDATE", arguments).rule.is_some()
    };
    match (matches("allow"), matches("ask"), matches("deny")) {
        (true, true, true) => 'Y',
        (false, true, true) => '?',
        (false, false, false) => 'N',
        other => panic!("{predicate} on {arguments}: {other:?}"),
    }
}

#[test]
fn every_predicate_has_an_answer_for_every_value() {
    let values = [
        json!({}),
        json!({ "p": null }),
        json!({ "p": true }),
        json!({ "p": 7 }),
        json!({ "p": serde_json::from_str::<Value>("1e999999999999").unwrap() }),
        json!({ "p": "/a/b" }),
        json!({ "p": "" }),
        json!({ "p": "7" }),
        json!({ "p": ["/a/b"] }),
        json!({ "p": { "k": 1 } }),
        json!({ "p": [] }),
        json!({ "P": 7 }),
    ];
    // In the order of the values: missing, null, true, 7, too large, text, empty text, "7", list, object, empty, other case.
    for (predicate, wanted) in [
        ("arg = 'p', eq = '/a/b'", "?????YNN????"),
        ("arg = 'p', eq = 7", "???Y????????"),
        ("arg = 'p', eq = true", "??Y?????????"),
        ("arg = 'p', eq = ['/a/b']", "????????Y?N?"),
        ("arg = 'p', eq = { k = 1 }", "?????????Y??"),
        ("arg = 'p', in = ['/a/b', 7]", "???Y?Y??????"),
        ("arg = 'p', glob = '*b*'", "?????YNN????"),
        ("arg = 'p', under = '/a'", "?????Y??????"),
        ("arg = 'p', lt = 8", "???Y????????"),
        ("arg = 'p', gt = 8", "???N????????"),
        ("arg = 'p', len = 1", "?????NNYYYN?"),
        ("arg = 'p', present = true", "NYYYYYYYYYY?"),
        ("arg = 'p', absent = true", "YNNNNNNNNNN?"),
        ("arg = '/p/k', eq = 1", "?????????Y??"),
        ("arg = '/p/0', eq = '/a/b'", "????????Y???"),
        ("arg = '', len = 0", "YNNNNNNNNNNN"),
        ("effect = 'write'", "YYYYYYYYYYYY"),
        ("effect = ['read', 'execute']", "NNNNNNNNNNNN"),
        ("sql = 'SELECT a FROM b'", "????????????"),
        ("rate = { most = 1, per = '1h' }", "????????????"),
    ] {
        let told: String = values.iter().map(|value| stands(predicate, value)).collect();
        assert_eq!(told, wanted, "{predicate}");
    }
    // A hazard is there or not; without it an allow has nothing to cover.
    assert_eq!(stands("hazard = 'sensitive-read'", &json!({})), 'N');
}
