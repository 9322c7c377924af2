//! Several files: pooled, the strictest wins; a changed one tightens at once and loosens nothing.

use mcp_approve::policy::decide::Ruling;
use mcp_approve::policy::layers::{Contribution, FileState, loosened, nothing, pool};
use mcp_approve::policy::parse::built_in;
use mcp_approve::policy::rule::{Decision, Given, Layer, Policy};
use mcp_approve::policy::under::Roots;
use proptest::prelude::*;

use super::properties::{any_call, any_defaults, any_rule, numbered};
use super::{policy, rule_on, rule_with};

fn whole(layer: Layer, text: &str) -> Contribution {
    Contribution { layer, file: layer.word().into(), state: FileState::Whole(policy(text).into()) }
}

fn changed(accepted: Policy, now: Policy) -> Policy {
    let state = FileState::Changed { now: Box::new(now), accepted: Box::new(accepted), diff: "+ it".into() };
    pool(&[Contribution { layer: Layer::User, file: "/p".into(), state }], &Roots::default())
}

fn rule(id: &str, decision: &str, tool: &str) -> String {
    format!("[[rule]]\nid = \"{id}\"\ndecision = \"{decision}\"\ntool = \"{tool}\"\n")
}

#[test]
fn the_strictest_of_all_layers_wins_and_defaults_are_the_strictest_given() {
    let pooled = pool(
        &[
            whole(Layer::System, &("[defaults]\nmutates = \"deny\"\n".to_owned() + &rule("no", "deny", "rm"))),
            whole(Layer::User, &("[defaults]\nhazard = \"allow\"\n".to_owned() + &rule("yes", "allow", "*"))),
            whole(Layer::Run, &("[defaults]\npure = \"ask\"\n".to_owned() + &rule("look", "ask", "put"))),
        ],
        &Roots::default(),
    );
    for (tool, decision, rule) in [("rm", "deny", "no"), ("put", "ask", "look"), ("get", "allow", "yes")] {
        let Ruling { decision: found, rule: by, .. } = rule_on(&pooled, &format!("s.{tool}"), "MUTATES UPDATE");
        assert_eq!((found.word(), by.as_deref()), (decision, Some(rule)), "{tool}");
    }
    let defaults = (pooled.defaults.pure, pooled.defaults.mutates, pooled.defaults.hazard);
    assert_eq!(defaults, (Decision::Ask, Decision::Deny, Decision::Allow), "what nobody gives is not given");
    let from: Vec<&str> = pooled.rules.iter().map(|rule| rule.layer.word()).collect();
    assert_eq!(from, ["system", "user", "run"]);
    assert_eq!(pool(&[], &Roots::default()).defaults, built_in().defaults);
}

#[test]
fn what_a_change_loosens_is_told_and_waits() {
    let was = policy(
        &("[defaults]\npure = \"ask\"\n".to_owned()
            + &rule("a", "allow", "x")
            + &rule("d", "deny", "y")
            + &rule("k", "ask", "z")),
    );
    let now = policy(&(rule("a", "allow", "*") + &rule("k", "deny", "z") + &rule("new", "deny", "w")));
    assert_eq!(
        loosened(&was, &now, Given::default()),
        [
            "allows: a",
            "drops the deny rule d",
            "changes the ask rule k",
            "lowers the default for pure from ask to allow"
        ]
    );
    let stands = changed(was, now.clone());
    for (tool, decision) in [("x", "ask"), ("q", "ask"), ("y", "deny"), ("z", "deny"), ("w", "deny")] {
        let ruling = rule_on(&stands, &format!("s.{tool}"), "MUTATES UPDATE");
        assert_eq!(ruling.decision.word(), decision, "{tool}: {}", ruling.reason);
    }
    assert_eq!(stands.defaults.pure, Decision::Ask);
    assert_eq!(stands.pending[0].loosens.len(), 4);
    assert!(stands.banner.unwrap().contains("4 changes that allow more are inactive until you accept it"));
    assert_ne!(stands.digest, now.digest, "another policy than the file alone");
    // Words around the rules change nothing.
    let noted =
        policy(&(rule("a", "allow", "x").replace("tool", "note = \"n\"\ntool") + "# why\n" + &rule("d", "deny", "y")));
    assert_eq!(
        loosened(&noted, &policy(&(rule("d", "deny", "y") + &rule("a", "allow", "x"))), Given::default()),
        [""; 0]
    );
}

/// Each default that allows more, and an allow whose server is another, is told.
#[test]
fn every_part_that_a_change_loosens_is_told() {
    for name in ["pure", "likely", "first_use", "new", "mutates", "hazard"] {
        let with = |decision: &str| policy(&format!("[defaults]\n{name} = \"{decision}\"\n"));
        // What is only likely to read is asked, or counts as reading.
        let (strict, loose) = match name {
            "likely" => ("ask", "allow"),
            "first_use" => ("ask-once", "allow"),
            "new" => ("deny", "ask-once"),
            _ => ("deny", "ask"),
        };
        let told = loosened(&with(strict), &with(loose), Given::default());
        assert!(told.iter().any(|line| line.starts_with(&format!("lowers the default for {name} from"))), "{told:?}");
        assert_eq!(loosened(&with(loose), &with(strict), Given::default()), [""; 0], "{name}");
        assert_eq!(loosened(&with(loose), &with(loose), Given::default()), [""; 0], "{name}");
    }
    let of = |server: &str| policy(&(rule("a", "allow", "x") + &format!("server = \"{server}\"\n")));
    assert_eq!(loosened(&of("s"), &of("*"), Given::default()), ["allows: a"]);
}

/// The digest of several texts is in every record: none of them can change without it.
#[test]
fn the_digest_of_pooled_layers_is_of_every_text() {
    let broken = |banner: &str, before: &str| FileState::Broken { banner: banner.into(), before: vec![policy(before)] };
    let changed = |now: &str, accepted: &str| FileState::Changed {
        now: Box::new(policy(now)),
        accepted: Box::new(policy(accepted)),
        diff: String::new(),
    };
    let (one, other) = (&rule("a", "ask", "x"), &rule("a", "ask", "y"));
    let states = [
        FileState::Whole(policy(one).into()),
        FileState::Whole(policy(other).into()),
        changed(one, one),
        changed(other, one),
        changed(one, other),
        broken("p:3", one),
        broken("p:4", one),
        broken("p:3", other),
    ];
    let digest = |layer: Layer, state: FileState| {
        let own = Contribution { layer, file: "/p".into(), state };
        pool(&[whole(Layer::System, ""), own], &Roots::default()).digest
    };
    let mut found: Vec<_> = states.map(|state| digest(Layer::User, state)).to_vec();
    found.push(digest(Layer::Project, FileState::Whole(policy(one).into())));
    for (at, one) in found.iter().enumerate() {
        assert!(!found[..at].contains(one), "{at}");
    }
    assert_eq!(
        pool(&[whole(Layer::User, one)], &Roots::default()).digest,
        policy(one).digest,
        "one text alone is itself"
    );
    assert_eq!(pool(&[], &Roots::default()).digest, built_in().digest);
}

#[test]
fn a_rule_that_asks_takes_no_place_of_a_default_that_denies_until_it_is_accepted() {
    let machine = whole(Layer::System, "[defaults]\nmutates = \"deny\"\n");
    let asks = |tool: &str| policy(&rule("k", "ask", tool));
    let changed = |accepted: Policy, now: Policy| {
        let state = FileState::Changed { now: now.into(), accepted: accepted.into(), diff: String::new() };
        pool(&[machine.clone(), Contribution { layer: Layer::User, file: "/p".into(), state }], &Roots::default())
    };
    let nothing = || nothing(&Roots::default());
    let on = |policy: &Policy, tool: &str, words: &str| rule_on(policy, &format!("s.{tool}"), words);
    let waits = changed(nothing(), asks("x"));
    let denied = on(&waits, "x", "MUTATES UPDATE");
    assert_eq!(denied.decision, Decision::Deny);
    assert_eq!(denied.reason, "Changes something, and the default denies it; rule k may not change that here");
    assert_eq!(waits.pending[0].loosens, ["asks where a default denies: k"]);
    assert_eq!(on(&waits, "x", "PURE READ").decision, Decision::Ask, "it tightens at once");
    let whole = pool(&[machine.clone(), whole(Layer::User, &rule("k", "ask", "x"))], &Roots::default());
    assert_eq!(on(&whole, "x", "MUTATES UPDATE").decision, Decision::Ask, "accepted, it is an answer");
    // One that reaches more has what was accepted of it.
    let more = changed(asks("x"), asks("*"));
    let decided = ["x", "y"].map(|tool| on(&more, tool, "MUTATES UPDATE").decision.word());
    assert_eq!(decided, ["ask", "deny"]);
    assert_eq!(more.pending[0].loosens, ["asks where a default denies: k", "changes the ask rule k"]);
    // Where none denies, a rule that asks only tightens.
    assert_eq!(loosened(&nothing(), &asks("x"), Given::default()), [""; 0]);
    // One that comes with the default that it is an answer to loosens nothing.
    let both = policy(&format!("[defaults]\nmutates = \"deny\"\n{}", rule("k", "ask", "x")));
    assert_eq!(loosened(&nothing(), &both, Given::default()), [""; 0]);
    let broken = FileState::Broken { banner: "p:3".into(), before: vec![asks("x")] };
    let broken = Contribution { layer: Layer::User, file: "/p".into(), state: broken };
    let broken = pool(&[machine.clone(), broken], &Roots::default());
    assert_eq!(on(&broken, "x", "MUTATES UPDATE").decision, Decision::Deny);
    assert_eq!(on(&broken, "x", "PURE READ").decision, Decision::Ask);
}

#[test]
fn switching_off_a_deny_waits_and_switching_off_an_allow_does_not() {
    let text = |off: &str| {
        let switched = |id: &str| if id == off { "disabled = true\n" } else { "" };
        policy(&(rule("a", "allow", "x") + switched("a") + &rule("d", "deny", "y") + switched("d")))
    };
    let decides = |policy: &Policy, tool: &str| rule_on(policy, &format!("s.{tool}"), "MUTATES UPDATE").decision;
    let now = changed(text(""), text("d"));
    assert_eq!(now.pending[0].loosens, ["drops the deny rule d"]);
    assert_eq!(decides(&now, "y"), Decision::Deny, "until it is accepted");
    let now = changed(text(""), text("a"));
    assert!(now.pending.is_empty());
    assert_eq!((decides(&now, "x"), now.disabled.len()), (Decision::Ask, 1));
    let now = changed(text("a"), text(""));
    assert_eq!(now.pending[0].loosens, ["allows: a"], "on again, it is a new allow");
    assert_eq!(decides(&now, "x"), Decision::Ask);
}

#[test]
fn of_a_broken_file_the_asks_and_denies_stand() {
    let before = policy(&(rule("yes", "allow", "x") + &rule("no", "deny", "y")));
    let broken = FileState::Broken { banner: "p:3: it is broken; mend it".into(), before: vec![before] };
    let stands = pool(
        &[
            whole(Layer::System, &rule("machine", "allow", "m")),
            Contribution { layer: Layer::User, file: "/p".into(), state: broken },
        ],
        &Roots::default(),
    );
    for (tool, decision) in [("x", "ask"), ("y", "deny"), ("m", "ask")] {
        assert_eq!(rule_on(&stands, &format!("s.{tool}"), "PURE READ").decision.word(), decision, "{tool}");
    }
    assert!(stands.banner.unwrap().contains("p:3:"));
    let strict = FileState::Broken { banner: "p:3".into(), before: vec![policy("[defaults]\npure = \"deny\"\n")] };
    let own = Contribution { layer: Layer::User, file: "/p".into(), state: strict };
    let stands = pool(&[whole(Layer::System, ""), own], &Roots::default());
    assert_eq!(rule_on(&stands, "s.z", "PURE READ").decision.word(), "deny", "its defaults stand too");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_change_that_waits_is_never_looser_than_what_was_accepted_nor_than_what_was_written(
        was in prop::collection::vec(any_rule(), 0..5), now in prop::collection::vec(any_rule(), 0..5),
        keeps in 0usize..5, defaults in (any_defaults(), any_defaults()), (call, words, arguments) in any_call(),
    ) {
        let was = numbered(&was);
        let mut now = numbered(&now);
        now.truncate(4);
        now.extend(was.iter().take(keeps).map(|rule| rule.replacen("id = \"", "id = \"kept-", 1)));
        let was = policy(&(was.concat() + &defaults.0));
        let now = policy(&(now.concat() + &defaults.1));
        let stands = rule_with(&changed(was.clone(), now.clone()), &call, &words, &arguments);
        let (before, after) = (rule_with(&was, &call, &words, &arguments), rule_with(&now, &call, &words, &arguments));
        if before.decision > Decision::Allow {
            prop_assert!(stands.decision >= before.decision, "{before:?} {stands:?}");
        }
        if stands.decision == Decision::Allow {
            prop_assert!(before.decision == Decision::Allow && after.decision == Decision::Allow, "{before:?} {after:?}");
        }
    }

    #[test]
    fn a_project_that_nobody_accepted_allows_nothing_more(
        user in prop::collection::vec(any_rule(), 0..4), project in prop::collection::vec(any_rule(), 0..4),
        defaults in (any_defaults(), any_defaults()), (call, words, arguments) in any_call(),
    ) {
        let user = numbered(&user).concat() + &defaults.0;
        let alone = pool(&[whole(Layer::User, &user)], &Roots::default());
        let now = Box::new(policy(&(numbered(&project).concat() + &defaults.1)));
        let state = FileState::Changed { now, accepted: Box::new(nothing(&Roots::default())), diff: String::new() };
        let both = [whole(Layer::User, &user), Contribution { layer: Layer::Project, file: "/q".into(), state }];
        let ruling = rule_with(&pool(&both, &Roots::default()), &call, &words, &arguments);
        prop_assert!(ruling.decision >= rule_with(&alone, &call, &words, &arguments).decision);
    }
}

#[test]
fn a_file_of_many_rules_is_compared_in_no_time() {
    let many: String =
        (0..5_000).map(|n| rule(&format!("r{n}"), if n % 2 == 0 { "allow" } else { "deny" }, "x")).collect();
    let (was, now) = (policy(&many), policy(&many.replace("\"x\"", "\"y\"")));
    let start = std::time::Instant::now();
    assert_eq!(loosened(&was, &was, Given::default()), [""; 0]);
    assert_eq!(loosened(&was, &now, Given::default()).len(), 5_000);
    assert_eq!(changed(was, now).rules.len(), 5_000, "the denies of both");
    // What compares each rule with each takes minutes.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
