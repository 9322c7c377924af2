//! Conditions on what a call does, on its statements, on how often it runs, and on its tags.

use mcp_approve::behavior::agreed::{Agreement, What};
use mcp_approve::behavior::arguments;
use mcp_approve::behavior::arguments::effect::{Analysis, Effect, Language};
use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::behavior::shape::{New, Shape};
use mcp_approve::behavior::taxonomy::{Action, OutputDomain};
use mcp_approve::policy::decide::{Question, decide};
use mcp_approve::policy::glob::Holds;
use mcp_approve::policy::parse::parse;
use mcp_approve::policy::rate::{LONGEST, MOST, Recent};
use serde_json::{Value, json};

use super::{NOW, behavior, policy};

/// How one condition stands: an allow matches only on yes, an ask or a deny on all but no.
fn stands(condition: &str, behavior: &Behavior, arguments: &Value, recent: Option<&Recent>) -> Holds {
    let decides = |decision: &str| {
        let rule = format!("[[rule]]\nid = \"r\"\ndecision = \"{decision}\"\nserver = \"s\"\n{condition}\n");
        let question = Question { method: None, server: "s", tool: "t", behavior, arguments, now: NOW, recent };
        decide(&policy(&rule), &question).rule.is_some()
    };
    match (decides("allow"), decides("ask"), decides("deny")) {
        (true, true, true) => Holds::Yes,
        (false, true, true) => Holds::Undecided,
        (false, false, false) => Holds::No,
        other => panic!("{condition} on {arguments}: {other:?}"),
    }
}

fn shown(effects: &[Effect], mut behavior: Behavior) -> Behavior {
    let analysis = |effect: &Effect| Analysis {
        language: Language::Act,
        effect: *effect,
        action: Action::Unknown,
        also: Vec::new(),
        argument: "a".to_owned(),
        span: String::new(),
        says: String::new(),
        fingerprint: None,
    };
    behavior.analyses.extend(effects.iter().map(analysis));
    behavior
}

#[test]
fn effects() {
    use Holds::{No, Undecided, Yes};
    for (effect, words, effects, holds) in [
        ("'read'", "PURE READ", &[][..], Yes),
        ("'read'", "PURE SEARCH", &[], Yes),
        ("'read'", "MUTATES DELETE", &[], No),
        // `write` once meant these too: an allow that names it alone does not cover them, a deny still does.
        ("'write'", "MUTATES DELETE", &[], Undecided),
        ("'write'", "MUTATES SEND", &[], Undecided),
        ("'write'", "MUTATES UPDATE MONEY", &[], Undecided),
        ("'write'", "MUTATES UPDATE USER", &[], Undecided),
        ("['write', 'delete']", "MUTATES DELETE", &[], Yes),
        ("'delete'", "MUTATES DELETE", &[], Yes),
        ("'delete'", "MUTATES UPDATE", &[], No),
        ("'delete'", "MUTATES DELETE MONEY", &[], Undecided),
        ("['delete', 'pay']", "MUTATES DELETE MONEY", &[], Yes),
        ("'send'", "MUTATES SEND", &[], Yes),
        ("'send'", "MUTATES SEND MONEY", &[], No),
        ("'pay'", "MUTATES SEND MONEY", &[], Yes),
        ("'pay'", "PURE READ MONEY", &[], No),
        ("'administer'", "MUTATES UPDATE INFRA", &[], Undecided),
        ("['write', 'administer']", "MUTATES UPDATE INFRA", &[], Yes),
        ("'execute'", "MUTATES EXECUTE INFRA", &[], Undecided),
        ("'write'", "MUTATES UPDATE", &[Effect::Administer], Undecided),
        ("['read', 'write']", "MUTATES MOVE", &[], Yes),
        ("'execute'", "MUTATES EXECUTE", &[], Yes),
        // Nobody knows: no allow, and every ask and deny.
        ("'write'", "MUTATES UNKNOWN", &[], Undecided),
        ("'unknown'", "MUTATES UNKNOWN", &[], Yes),
        // The arguments show one thing, the tool is another.
        ("'write'", "MUTATES UPDATE", &[Effect::Execute], Undecided),
        ("['write', 'execute']", "MUTATES UPDATE", &[Effect::Execute], Yes),
        ("'administer'", "MUTATES UPDATE", &[Effect::Execute], No),
    ] {
        let domain = words.rsplit(' ').next().and_then(OutputDomain::from_word);
        let words = words.split(' ').take(2).collect::<Vec<_>>().join(" ");
        let mut behavior = shown(effects, behavior(&words));
        behavior.identity.output_domain = domain.unwrap_or(OutputDomain::Data);
        let condition = format!("when = [{{ effect = {effect} }}]");
        assert_eq!(stands(&condition, &behavior, &json!({}), None), holds, "{effect} of {words} {effects:?}");
    }
}

#[test]
fn statements_by_their_fingerprint() {
    use Holds::{No, Undecided, Yes};
    let by_id = "SELECT name FROM users WHERE id = ?";
    for (arguments, holds) in [
        (json!({ "sql": "select name from users where id = 12" }), Yes),
        (json!({ "sql": "SELECT name FROM users WHERE id = 'x';", "limit": 3 }), Yes),
        (json!({ "sql": ["SELECT name FROM users WHERE id = 1", "SELECT name FROM users WHERE id=2"] }), Yes),
        (json!({ "sql": "SELECT name FROM users WHERE id = 12 OR 1 = 1" }), No),
        (json!({ "sql": ["SELECT name FROM users WHERE id = 1", "DROP TABLE users"] }), Undecided),
        (json!({ "sql": "SELECT name FROM users WHERE id = 1 -- x" }), Yes),
        (json!({ "sql": "SELECT name FROM users; SELECT name FROM users WHERE id = 1" }), Undecided),
        (json!({ "sql": "SELECT name FROM users WHERE id = 'x" }), Undecided),
        (json!({ "sql": "SELECT name FROM users WHERE id = 1", "command": "rm -r /" }), Undecided),
        (json!({ "sql": vec!["SELECT name FROM users WHERE id = 1"; 70] }), Undecided),
        (json!({ "sql": 5 }), Undecided),
        (json!({}), Undecided),
    ] {
        let condition = format!("when = [{{ sql = \"{by_id}\" }}]");
        let mut behavior = behavior("MUTATES UPDATE");
        behavior.analyses = arguments::found(None, &arguments);
        assert_eq!(stands(&condition, &behavior, &arguments, None), holds, "{arguments}");
    }
}

/// What is new may be a statement too, and so may a request or an act that changes something.
#[test]
fn what_may_be_one_more_statement_leaves_them_undecided() {
    use Holds::{Undecided, Yes};
    let leaf = |pointer: &str| New {
        pointer: pointer.to_owned(),
        says: String::new(),
        agree: None,
        any: Some(Agreement::of_server(What::Text, "")),
    };
    for (effects, new, more, holds) in [
        (&[][..], &[][..], 0, Yes),
        (&[], &["/sql"], 0, Yes),
        (&[], &["/note"], 0, Undecided),
        (&[], &["/sql", "/note"], 0, Undecided),
        (&[], &[], 1, Undecided),
        (&[], &["/sql"], 1, Undecided),
        (&[Effect::ReadHere], &[], 0, Yes),
        (&[Effect::Write], &[], 0, Undecided),
    ] {
        let arguments = json!({ "sql": "SELECT name FROM users WHERE id = 1", "note": "?" });
        let mut behavior = behavior("MUTATES UPDATE");
        behavior.analyses = arguments::found(None, &arguments);
        behavior.shape = Shape { new: new.iter().map(|pointer| leaf(pointer)).collect(), more, ..Shape::default() };
        let behavior = shown(effects, behavior);
        let condition = "when = [{ sql = \"SELECT name FROM users WHERE id = ?\" }]";
        let found = stands(condition, &behavior, &arguments, None);
        assert_eq!(found, holds, "{effects:?} {:?}", behavior.shape);
    }
}

#[test]
fn rates_count_what_the_rule_fits() {
    use Holds::{No, Undecided, Yes};
    let mut recent = Recent::default();
    for minutes in [90, 59, 30, 1] {
        recent.note("s", None, "t", NOW - minutes * 60_000);
    }
    recent.note("s#2", None, "other", NOW);
    recent.note("elsewhere", None, "t", NOW);
    for (rate, tool, holds) in [
        ("most = 4, per = '1h'", "tool = 't'", Yes),
        ("most = 3, per = '1h'", "tool = 't'", No),
        ("most = 5, per = '2h'", "tool = 't'", Yes),
        ("most = 1, per = '59s'", "tool = 't'", Yes),
        ("most = 2, per = '31m'", "tool = 't'", No),
        ("most = 3, per = '31m'", "tool = 't'", Yes),
        // Without a tool, the rule counts every call of its server, of its second instance too.
        ("most = 4, per = '1h'", "", No),
        ("over = 3, per = '1h'", "tool = 't'", Yes),
        ("over = 4, per = '1h'", "tool = 't'", No),
    ] {
        let condition = format!("{tool}\nwhen = [{{ rate = {{ {rate} }} }}]");
        let stands = |recent| stands(&condition, &behavior("MUTATES SEND"), &json!({}), recent);
        assert_eq!(stands(Some(&recent)), holds, "{rate} {tool}");
        assert_eq!(stands(None), Undecided, "{rate} where nobody counted");
    }
}

/// However many calls ran, what is remembered stays small, and the largest bound is still told right.
#[test]
fn rates_remember_no_more_than_they_can_be_asked_for() {
    let mut recent = Recent::default();
    (0..3 * MOST).for_each(|_| recent.note("s", None, "t", NOW));
    assert_eq!(recent.count(NOW - 1, |_, _, _| true), MOST);
    let condition = "when = [{ rate = { most = 1000, per = '24h' } }]";
    assert_eq!(stands(condition, &behavior("MUTATES SEND"), &json!({}), Some(&recent)), Holds::No);
}

/// Calls of very many tools: what is older than any rate counts is forgotten, and nothing younger.
#[test]
fn rates_forget_only_what_no_rate_can_ask_for() {
    let mut recent = Recent::default();
    (0..5 * MOST).for_each(|n| recent.note("s", None, format!("old{n}"), NOW - LONGEST));
    (5 * MOST..10 * MOST).for_each(|n| recent.note("s", None, format!("young{n}"), NOW - LONGEST + 1));
    let count = |recent: &Recent, word: &str| recent.count(0, |_, _, tool| tool.starts_with(word));
    assert_eq!((count(&recent, "old"), count(&recent, "young")), (5 * MOST, 5 * MOST));
    recent.note("s", None, "now", NOW);
    assert_eq!((count(&recent, "old"), count(&recent, "young"), count(&recent, "now")), (0, 5 * MOST, 1));
}

#[test]
fn capabilities_by_their_tag() {
    use Holds::{No, Undecided, Yes};
    for (capability, words, holds) in [
        ("'data:read'", "PURE READ", Yes),
        ("'data:*'", "MUTATES DELETE", Yes),
        ("['issue:*', '*:delete']", "MUTATES DELETE", Yes),
        ("'*:read'", "MUTATES DELETE", No),
        ("'data:*'", "MUTATES UNKNOWN", Undecided),
    ] {
        let condition = format!("capability = {capability}");
        assert_eq!(stands(&condition, &behavior(words), &json!({}), None), holds, "{capability} of {words}");
    }
    let mut nowhere = behavior("PURE READ");
    nowhere.identity.output_domain = OutputDomain::Unknown;
    assert_eq!(stands("capability = '*'", &nowhere, &json!({}), None), Undecided);
}

#[test]
fn whole_values() {
    use Holds::{No, Undecided, Yes};
    let arguments = json!({ "tags": ["a", 1.0, true], "o": { "k": "v", "n": [] }, "s": "a" });
    for (condition, holds) in [
        ("arg = 'tags', eq = ['a', 1, true]", Yes),
        ("arg = 'tags', eq = ['a', 1]", No),
        ("arg = 'tags', eq = ['b', 1, true]", No),
        ("arg = 'tags', eq = ['a', '1', true]", Undecided),
        ("arg = 'o', eq = { n = [], k = 'v' }", Yes),
        ("arg = 'o', eq = { k = 'v' }", No),
        ("arg = 's', eq = ['a']", Undecided),
        ("arg = '', len = 3", Yes),
        ("arg = '', eq = { s = 'a' }", No),
    ] {
        let condition = format!("when = [{{ {condition} }}]");
        assert_eq!(stands(&condition, &behavior("MUTATES UPDATE"), &arguments, None), holds, "{condition}");
    }
}

/// Examples have arguments only; what they cannot show is taken as the rule wants it.
#[test]
fn examples_are_about_arguments() {
    let rule = |examples: &str| {
        parse(&format!(
            "version = 1\n[[rule]]\nid = 'r'\ndecision = 'allow'\nwhen = [{{ effect = 'write' }}, {{ rate = {{ most = 1, per = '1h' }} }}, {{ arg = 'a', eq = 1 }}]\n{examples}\n"
        ))
    };
    rule("match = [{ a = 1 }]\nnot_match = [{ a = 2 }]").unwrap();
    assert_eq!(rule("match = [{ a = 2 }]").unwrap_err().len(), 1);
    let sql = |example: &str| {
        parse(&format!(
            "version = 1\n[[rule]]\nid = 'r'\ndecision = 'allow'\nwhen = [{{ sql = 'SELECT 1' }}]\nmatch = [{{ sql = '{example}' }}]\n"
        ))
    };
    sql("SELECT 2").unwrap();
    sql("DROP TABLE t").unwrap_err();
}

/// The tool executes any statement; this call's is an UPDATE. The identity is raised by that and never lowered, so an
/// allow for updates does not meet it, and a deny for updates does.
#[test]
fn an_action_that_only_the_arguments_show_is_met_by_asks_and_denies_alone() {
    let call = |words: &str, sql: &str| {
        let arguments = json!({ "sql": sql });
        let mut behavior = behavior(words);
        behavior.analyses = arguments::found(None, &arguments);
        (behavior, arguments)
    };
    let decides = |decision: &str, action: &str, words: &str, sql: &str| {
        let rule = format!("[[rule]]\nid = \"r\"\ndecision = \"{decision}\"\naction = \"{action}\"\n");
        let (behavior, arguments) = call(words, sql);
        let question = Question {
            method: None,
            server: "s",
            tool: "t",
            behavior: &behavior,
            arguments: &arguments,
            now: NOW,
            recent: None,
        };
        decide(&policy(&rule), &question).rule.is_some()
    };
    let (update, delete, select) = ("UPDATE t SET a = 1 WHERE b = 2", "DELETE FROM t", "SELECT * FROM t");
    for (decision, action, words, sql, matches) in [
        ("deny", "UPDATE", "MUTATES EXECUTE", update, true),
        ("ask", "UPDATE", "MUTATES EXECUTE", update, true),
        ("allow", "UPDATE", "MUTATES EXECUTE", update, false),
        ("deny", "DELETE", "MUTATES UNKNOWN", delete, true),
        ("deny", "EXECUTE", "MUTATES EXECUTE", update, true),
        ("deny", "UPDATE", "MUTATES EXECUTE", select, false),
        ("deny", "READ", "MUTATES EXECUTE", select, false),
    ] {
        assert_eq!(decides(decision, action, words, sql), matches, "{decision} {action} of {words} with {sql}");
    }
}
