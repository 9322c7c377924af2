//! Who approves: terms of rules that ask, and `[operator] signed`, each pooled to the strictest.

use std::sync::Arc;

use mcp_approve::policy::decide::Ruling;
use mcp_approve::policy::layers::{Contribution, FileState, loosened, nothing, pool};
use mcp_approve::policy::lint::lint;
use mcp_approve::policy::parse::{built_in, parse};
use mcp_approve::policy::rule::{Decision, Given, Layer, Policy, Rule, TeamMay};
use mcp_approve::policy::terms::ApprovalTerms;
use mcp_approve::policy::under::Roots;
use mcp_approve::signing::grade::{Danger, Needs, Required};
use mcp_approve::signing::standing::LifeSign;

use super::{NOW, policy, rule_on};

fn rule(id: &str, decision: &str, more: &str) -> String {
    format!("[[rule]]\nid = '{id}'\ndecision = '{decision}'\n{more}\n")
}

fn words(ruling: &Ruling) -> String {
    ruling.terms.words().unwrap_or_else(|| "plain".to_owned())
}

#[test]
fn of_all_rules_that_ask_the_strictest_terms_count() {
    for (rules, terms) in [
        (vec![], "plain"),
        (vec![("ask", "")], "plain"),
        (vec![("ask", "approvals = 1")], "plain"),
        (vec![("ask", "other = false")], "plain"),
        (vec![("ask", "approvals = 2")], "2 different signers"),
        (vec![("ask", "signers = 'ada'")], "a signer out of ada"),
        (vec![("ask", "other = true")], "a signer, the user of this machine not counted"),
        (
            vec![("ask", "approvals = 2\nsigners = ['bob', 'ada', 'cy']\nother = true")],
            "2 different signers out of ada, bob, cy, the user of this machine not counted",
        ),
        (vec![("ask", "approvals = 2"), ("ask", "")], "2 different signers"),
        (vec![("ask", "approvals = 2"), ("ask", "approvals = 3")], "3 different signers"),
        (vec![("ask", "approvals = 2"), ("ask", "signers = ['a', 'b']")], "2 different signers out of a, b"),
        (vec![("ask", "signers = ['a', 'b']"), ("ask", "signers = ['b', 'c']")], "a signer out of b"),
        (
            vec![("ask", "signers = ['a']"), ("ask", "signers = ['b']")],
            "a signer whom all matching rules name, and there is none",
        ),
        (vec![("ask", "other = true"), ("allow", "")], "a signer, the user of this machine not counted"),
        (vec![("ask", "approvals = 2\ntool = 'other_tool'"), ("ask", "")], "plain"),
        (vec![("ask", "approvals = 2\ntool = 'other_tool'")], "plain"),
        (vec![("ask", "approvals = 2\nexpires = 2020-01-01")], "plain"),
        (vec![("ask", "approvals = 2\ndisabled = true")], "plain"),
        // A denial has no terms: nobody can approve it.
        (vec![("ask", "approvals = 2"), ("deny", "")], "plain"),
    ] {
        for order in [rules.clone(), rules.iter().rev().copied().collect()] {
            let texts = order.iter().enumerate().map(|(at, (decision, more))| rule(&format!("r{at}"), decision, more));
            let ruling = rule_on(&policy(&texts.collect::<String>()), "s.t", "MUTATES UPDATE");
            assert_eq!(words(&ruling), terms, "{order:?}");
        }
    }
}

#[test]
fn a_call_that_too_few_can_sign_cannot_be_approved() {
    let terms = |more: &str| policy(&rule("r", "ask", more)).rules[0].terms.clone();
    let two = terms("approvals = 2\nsigners = ['a', 'b']");
    assert!(two.can_be_met() && ApprovalTerms::default().can_be_met());
    for other in [terms("signers = ['b', 'c']"), terms("approvals = 3"), terms("signers = ['c', 'd']")] {
        assert!(!two.joined(&other).can_be_met(), "{other:?}");
        assert_eq!(two.joined(&other), other.joined(&two));
    }
}

#[test]
fn what_is_no_term_is_a_problem_with_its_place() {
    for (decision, more, problem) in [
        ("ask", "approvals = 0", "`approvals` cannot be 0; write a number from 1 to 9"),
        ("ask", "approvals = 10", "`approvals` cannot be 10; write a number from 1 to 9"),
        ("ask", "approvals = -2", "`approvals` cannot be -2; write a number from 1 to 9"),
        ("ask", "approvals = 'two'", "`approvals` cannot be 'two'; write a number from 1 to 9"),
        ("ask", "other = 'yes'", "`other` is of type string; write true or false"),
        ("ask", "signers = 5", "`signers` is of type integer; write a text in quotes, or a list of such texts"),
        (
            "ask",
            "signers = ['a b']",
            "`signers` cannot name \"a b\"; write one principal of the list of allowed signers, like \"ada@example.org\", \
             without wildcards",
        ),
        (
            "ask",
            "approvals = 3\nsigners = ['a', 'b', 'a']",
            "this can never be approved: it needs 3 different signers, and names 2; name more signers, or ask for fewer \
             approvals",
        ),
        (
            "allow",
            "approvals = 2",
            "`approvals` is about approvals, and this rule does not ask; write decision = \"ask\", or take it out",
        ),
        (
            "deny",
            "other = true",
            "`other` is about approvals, and this rule does not ask; write decision = \"ask\", or take it out",
        ),
    ] {
        let problems = parse(&format!("version = 1\n{}", rule("r", decision, more))).unwrap_err();
        let told: Vec<String> = problems.iter().map(|one| format!("{}; {}", one.what, one.hint)).collect();
        assert_eq!(told, [problem], "{more}");
        assert!(problems[0].line >= 5, "{problems:?}");
    }
    let problems = parse("version = 1\n[operator]\nsigned = 'allways'").unwrap_err();
    assert_eq!(problems[0].to_string(), "3:10: `signed` cannot be \"allways\"; did you mean \"always\"?");
}

#[test]
fn two_rules_that_name_other_signers_are_warned_about() {
    for (one, other, warned) in [
        ("signers = ['a']", "signers = ['b']", true),
        ("signers = ['a', 'b']", "signers = ['b']", false),
        ("signers = ['a', 'b']", "approvals = 3", true),
        ("tool = 't'\nsigners = ['a']", "tool = 't*'\nsigners = ['b']", true),
        ("tool = 't'\nsigners = ['a']", "tool = 'u'\nsigners = ['b']", false),
        ("signers = ['a']", "signers = ['b']\nexpires = 2020-01-01", false),
    ] {
        let found = lint(&policy(&format!("{}{}", rule("one", "ask", one), rule("other", "ask", other))), NOW);
        let told = found.iter().any(|warning| warning.what.contains("asks for an approval that no signer can give"));
        assert_eq!(told, warned, "{one} {other}: {found:?}");
    }
}

fn file(layer: Layer, state: FileState) -> Contribution {
    Contribution { layer, file: Arc::from(layer.word()), state }
}

fn signed(word: &str) -> Policy {
    policy(&if word.is_empty() { String::new() } else { format!("[operator]\nsigned = '{word}'\n") })
}

#[test]
fn the_strictest_file_says_which_approvals_are_signed() {
    use Required::{Always, Dangerous, Never};
    assert_eq!(built_in().signed, Never);
    for (machine, user, pooled) in [
        ("", "", Never),
        ("never", "", Never),
        ("dangerous", "", Dangerous),
        ("dangerous", "never", Dangerous),
        ("always", "dangerous", Always),
        ("dangerous", "always", Always),
        ("", "dangerous", Dangerous),
    ] {
        let of = |layer, word| file(layer, FileState::Whole(signed(word).into()));
        let files = [of(Layer::System, machine), of(Layer::User, user)];
        assert_eq!(pool(&files, &Roots::default()).signed, pooled, "{machine} {user}");
    }
}

#[test]
fn a_changed_file_asks_for_signatures_until_less_is_accepted() {
    use Required::{Always, Dangerous, Never};
    for (accepted, now, pooled, loosens) in [
        ("never", "always", Always, vec![]),
        ("always", "never", Always, vec!["lowers [operator] signed from always to never"]),
        ("always", "dangerous", Always, vec!["lowers [operator] signed from always to dangerous"]),
        ("dangerous", "", Dangerous, vec!["lowers [operator] signed from dangerous to never"]),
        ("", "dangerous", Dangerous, vec![]),
        ("", "", Never, vec![]),
    ] {
        let (accepted, now) = (signed(accepted), signed(now));
        assert_eq!(loosened(&accepted, &now, Given::default()), loosens);
        let state = FileState::Changed { now: now.into(), accepted: accepted.into(), diff: String::new() };
        assert_eq!(pool(&[file(Layer::User, state)], &Roots::default()).signed, pooled, "{loosens:?}");
    }
    let project = FileState::Changed {
        now: signed("always").into(),
        accepted: nothing(&Roots::default()).into(),
        diff: String::new(),
    };
    assert_eq!(pool(&[file(Layer::Project, project)], &Roots::default()).signed, Always, "a project's file tightens");
}

/// What a broken file may have asked for is not known; its last usable text is, where there was one.
#[test]
fn a_broken_file_never_asks_for_less() {
    use Required::{Always, Dangerous, Never};
    for (layer, before, pooled) in [
        (Layer::System, vec![], Always),
        (Layer::System, vec![signed("dangerous")], Dangerous),
        (Layer::System, vec![signed("")], Never),
        (Layer::User, vec![], Never),
        (Layer::User, vec![signed("always")], Always),
    ] {
        let state = FileState::Broken { banner: "broken".to_owned(), before };
        assert_eq!(pool(&[file(layer, state)], &Roots::default()).signed, pooled, "{layer:?}");
    }
}

#[test]
fn an_approval_needs_a_signature_where_the_machine_or_a_rule_says_so() {
    let plain = ApprovalTerms::default();
    let two = ApprovalTerms { approvals: 2, ..ApprovalTerms::default() };
    for (word, terms, of_plain, of_dangerous) in [
        ("never", &plain, Needs::Nothing, Needs::Nothing),
        ("dangerous", &plain, Needs::Nothing, Needs::Signature),
        ("always", &plain, Needs::Signature, Needs::Signature),
        ("never", &two, Needs::Signature, Needs::Signature),
    ] {
        let policy = signed(word);
        let needs = [Danger::Plain, Danger::Dangerous].map(|danger| policy.needs(terms, danger));
        assert_eq!(needs, [of_plain, of_dangerous], "{word} {terms:?}");
    }
}

#[test]
fn a_ruling_keeps_its_terms_on_the_way_to_a_console() {
    let ruling = rule_on(&policy(&rule("r", "ask", "approvals = 2\nsigners = ['a', 'b']")), "s.t", "MUTATES UPDATE");
    let text = serde_json::to_string(&ruling).unwrap();
    assert_eq!(serde_json::from_str::<Ruling>(&text).unwrap(), ruling);
    let plain = rule_on(&policy(""), "s.t", "MUTATES UPDATE");
    assert!(!serde_json::to_string(&plain).unwrap().contains("terms"), "{plain:?}");
}

#[test]
fn any_file_requires_a_sign_of_life_and_none_below_takes_that_back() {
    use LifeSign::{Optional, Required};
    let desk =
        |text: &str| policy(&if text.is_empty() { String::new() } else { format!("[desk]\nrequired = {text}\n") });
    assert_eq!(built_in().life, Optional);
    for (machine, user, pooled) in [
        ("", "", Optional),
        ("true", "", Required),
        ("true", "false", Required),
        ("false", "true", Required),
        ("", "true", Required),
        ("false", "false", Optional),
    ] {
        let of = |layer, text| file(layer, FileState::Whole(desk(text).into()));
        let files = [of(Layer::System, machine), of(Layer::User, user)];
        assert_eq!(pool(&files, &Roots::default()).life, pooled, "{machine} {user}");
    }
    // Taken out of a file, it counts until that was accepted.
    let (accepted, now) = (desk("true"), desk(""));
    assert_eq!(loosened(&accepted, &now, Given::default()), ["drops [desk] required"]);
    let state = FileState::Changed { now: now.into(), accepted: accepted.into(), diff: String::new() };
    assert_eq!(pool(&[file(Layer::User, state)], &Roots::default()).life, Required);
    // A machine's file that was never usable may have required it.
    let state = FileState::Broken { banner: "broken".into(), before: Vec::new() };
    assert_eq!(pool(&[file(Layer::System, state)], &Roots::default()).life, Required);
    let problems = parse("version = 1\n[desk]\nrequire = true").unwrap_err();
    assert!(problems[0].to_string().contains("required"), "{}", problems[0]);
}

#[test]
fn where_the_machine_lets_a_team_only_tighten_no_rule_of_a_team_allows() {
    let may = |word: &str| policy(&format!("[desk]\nteam_may = '{word}'\n"));
    let teams = format!(
        "{}{}{}",
        rule("own", "allow", "tool = 'a'"),
        rule("theirs", "allow", "tool = 'b'\nteam = 'mara@example.com'"),
        rule("no", "deny", "tool = 'c'\nteam = 'mara@example.com'"),
    );
    let of = |layer, policy: Policy| file(layer, FileState::Whole(policy.into()));
    for (machine, user, counts) in [
        ("loosen", "loosen", vec!["own", "theirs", "no"]),
        ("tighten", "loosen", vec!["own", "no"]),
        ("loosen", "tighten", vec!["own", "no"]),
    ] {
        let own = policy(&format!("[desk]\nteam_may = '{user}'\n{teams}"));
        let pooled = pool(&[of(Layer::System, may(machine)), of(Layer::User, own)], &Roots::default());
        assert_eq!(pooled.rules.iter().map(|rule| &*rule.id).collect::<Vec<_>>(), counts, "{machine} {user}");
        assert_eq!(pooled.disabled.len(), 3 - counts.len(), "it is listed as switched off");
        let remarks: Vec<String> = pooled.disabled.iter().filter_map(Rule::remark).collect();
        let why = "its file says from mara@example.com, suspended: [desk] team_may lets a team only tighten";
        assert!(remarks.iter().all(|one| one == why), "{remarks:?}");
    }
    // One that asks lifts no default that denies.
    let asks = rule("asks", "ask", "tool = 'a'\nteam = 'mara@example.com'");
    for (may, decision) in [("loosen", Decision::Ask), ("tighten", Decision::Deny)] {
        let machine = policy(&format!("[defaults]\nmutates = 'deny'\n[desk]\nteam_may = '{may}'\n"));
        let pooled = pool(&[of(Layer::System, machine), of(Layer::User, policy(&asks))], &Roots::default());
        assert_eq!(rule_on(&pooled, "s.a", "MUTATES UPDATE").decision, decision, "{may}");
        assert_eq!(rule_on(&pooled, "s.a", "PURE READ").decision, Decision::Ask, "{may}");
    }
    assert_eq!(
        loosened(&may("tighten"), &may("loosen"), Given::default()),
        ["lowers [desk] team_may from tighten to loosen"]
    );
    let state = FileState::Changed { now: may("loosen").into(), accepted: may("tighten").into(), diff: String::new() };
    assert_eq!(pool(&[file(Layer::User, state)], &Roots::default()).given.team_may(), TeamMay::Tighten);
    let state = FileState::Broken { banner: "broken".into(), before: Vec::new() };
    assert_eq!(pool(&[file(Layer::System, state)], &Roots::default()).given.team_may(), TeamMay::Tighten);
    // To call a team's rule one's own is a change to be accepted.
    let (theirs, own) = (rule("r", "allow", "tool = 'b'\nteam = 'mara'"), rule("r", "allow", "tool = 'b'"));
    assert_eq!(loosened(&policy(&theirs), &policy(&own), Given::default()), ["allows: r"]);
}
