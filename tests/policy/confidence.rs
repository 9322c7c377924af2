//! What runs unasked: only what is proven to read, with nothing new in the call. Likely asks; what the definition says is no proof.

use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::behavior::shape::Shape;
use mcp_approve::behavior::taxonomy::Confidence;
use mcp_approve::policy::decide::{Question, Ruling, decide};
use mcp_approve::policy::layers::loosened;
use mcp_approve::policy::parse::built_in;
use mcp_approve::policy::rule::{Decision, Given, Likely, Policy};
use serde_json::json;

use super::{NOW, behavior, policy};

fn likely() -> Behavior {
    Behavior { confidence: Confidence::Likely, ..behavior("PURE READ") }
}

fn new(says: &str) -> Behavior {
    let mut shape = Shape::default();
    shape.asks("/a", says);
    Behavior { shape, ..behavior("PURE READ") }
}

fn ruled(policy: &Policy, behavior: &Behavior) -> Ruling {
    let arguments = json!({ "path": "/a" });
    decide(
        policy,
        &Question { method: None, server: "fs", tool: "read", behavior, arguments: &arguments, now: NOW, recent: None },
    )
}

#[test]
fn each_degree_has_its_default_and_the_stricter_counts() {
    for (defaults, proven, of_likely, of_new) in [
        ("", "allow", "ask", "ask"),
        ("likely = 'allow'", "allow", "allow", "ask"),
        ("likely = 'ask'", "allow", "ask", "ask"),
        ("pure = 'ask'\nlikely = 'allow'", "ask", "ask", "ask"),
        ("pure = 'deny'\nlikely = 'allow'", "deny", "deny", "deny"),
    ] {
        let policy = policy(&format!("[defaults]\n{defaults}\n"));
        for (behavior, decision) in [(behavior("PURE READ"), proven), (likely(), of_likely), (new("a = true"), of_new)]
        {
            assert_eq!(ruled(&policy, &behavior).decision.word(), decision, "{defaults}: {behavior:?}");
        }
    }
    let unknown = Behavior { confidence: Confidence::None, ..behavior("PURE READ") };
    assert_eq!(ruled(&policy("[defaults]\nlikely = 'allow'\n"), &unknown).decision, Decision::Ask);
}

#[test]
fn the_reason_says_who_has_not_confirmed_or_which_argument_it_is() {
    assert_eq!(
        ruled(&built_in(), &likely()).reason,
        "the tool seems to read, but not for sure, and no operator has confirmed that it only reads: it asks"
    );
    assert_eq!(ruled(&built_in(), &new("a = true")).reason, "new here: a = true: it asks");
}

#[test]
fn an_allow_for_what_a_call_is_covers_only_what_is_proven_and_one_that_names_the_tool_covers_it() {
    for (selects, covers) in [
        ("mutability = \"PURE\"", "asks"),
        ("mutability = \"PURE\"\ntool = \"read\"", "asks"),
        ("action = \"READ\"", "asks"),
        ("output_domain = \"DATA\"", "asks"),
        ("identity = \"PURE|READ|DATA\"", "asks"),
        ("capability = \"*\"", "asks"),
        ("when = [{ effect = \"read\" }]", "asks"),
        ("tool = \"read\"", "allows"),
        ("server = \"fs\"", "allows"),
        ("when = [{ arg = \"path\", eq = \"/a\" }]", "allows"),
    ] {
        let allow = policy(&format!("[[rule]]\nid = \"a\"\ndecision = \"allow\"\n{selects}\n"));
        assert_eq!(ruled(&allow, &behavior("PURE READ")).decision, Decision::Allow, "{selects}");
        for unproven in [likely(), new("a = true")] {
            let ruling = ruled(&allow, &unproven);
            let wanted = if covers == "allows" { Decision::Allow } else { Decision::Ask };
            assert_eq!(ruling.decision, wanted, "{selects}: {}", ruling.reason);
            let says = ruling.reason.starts_with("rule a covers only what is proven to read, and ");
            assert_eq!(says, covers == "asks", "{}", ruling.reason);
        }
        // What asks or denies holds of both.
        let deny = policy(&format!("[[rule]]\nid = \"d\"\ndecision = \"deny\"\n{selects}\n"));
        for any in [behavior("PURE READ"), likely(), new("a = true")] {
            assert_eq!(ruled(&deny, &any).decision, Decision::Deny, "{selects}");
        }
    }
}

#[test]
fn a_laxer_default_for_likely_waits_to_be_accepted() {
    let text = |likely: &str| policy(&format!("[defaults]\nlikely = \"{likely}\"\n"));
    assert_eq!(
        loosened(&text("ask"), &text("allow"), Given::default()),
        ["lowers the default for likely from ask to allow"]
    );
    assert_eq!(
        loosened(&text("ask"), &text("ask-once"), Given::default()),
        ["lowers the default for likely from ask to ask-once"]
    );
    assert_eq!(loosened(&text("ask-once"), &policy(""), Given::default()), [""; 0], "as the built-in default");
    assert_eq!(policy("").defaults.likely, Likely::AskOnce);
}
