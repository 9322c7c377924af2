//! Rules and roles as a file that others take over: written, read again on this machine, and what they would change here.

use mcp_approve::home::change::{By, RuleFile};
use mcp_approve::home::config::{carried_roles, role_objects, with_role};
use mcp_approve::home::layers::{Keeps, Layers};
use mcp_approve::home::policy_file::{PolicyPlace, roots};
use mcp_approve::home::set::{NOTHING, Set, of_file, to_file};
use mcp_approve::home::taken::{Step, StepOf, grants, steps, take_over};
use mcp_approve::policy::carried::objects;
use mcp_approve::policy::parse::built_in;
use mcp_approve::policy::rule::{Given, Policy, TeamMay};
use serde_json::{Value, json};

use super::signers::Home;
use crate::signing::bed::NOW;

const MARA: Option<&str> = Some("mara@example.com");

fn set(rules: &Value, roles: &Value) -> Set {
    of_file(&json!({ "version": 2, "agreed": [], "rules": rules, "roles": roles }).to_string()).unwrap()
}

fn in_force(may: TeamMay) -> Policy {
    let built_in = built_in();
    Policy { given: Given { team: Some(may), ..built_in.given }, ..built_in }
}

fn refused(rules: &Value, roles: &Value) -> String {
    of_file(&json!({ "version": 2, "agreed": [], "rules": rules, "roles": roles }).to_string()).unwrap_err().to_string()
}

#[test]
fn rules_and_roles_are_read_again_as_they_were_and_what_would_differ_is_left_out() {
    let policy = r#"
version = 1
[defaults]
hazard = "deny"
[operator]
signed = "always"

# Why it is here.
[[rule]]
id = "force"
decision = "deny"
tool = ["*force*", "mcp__git__push"]
unless = [{ arg = "dry_run", eq = true }, { arg = "size", lt = 1.5 }]
match = [{ branch = "main" }]
expires = 2099-12-31
note = "\u202e\u001b[2J\" hostile"

[[rule]]
id = "moment"
decision = "ask"
approvals = 2
signers = ["ada", "bob"]
expires = 2099-12-31T10:00:00Z

[[rule]]
id = "results"
decision = "redact"
result = { secret = true }

[[rule]]
id = "off"
decision = "allow"
tool = "x"
disabled = true

[[rule]]
id = "theirs"
decision = "deny"
tool = "y"
team = "tom@example.com"
"#;
    let config = r#"
[roles.viewer]
capabilities = ["secrets:*"]
[roles.clerk]
inherits = "viewer"
capabilities = ["invoices:*"]
servers = ["books"]
[roles.chief]
inherits = ["clerk"]
[roles.foreign]
capabilities = ["*"]
team = "tom@example.com"
[roles.heir]
inherits = "foreign"
"#;
    let (rules, left) = objects(policy, &roots());
    assert_eq!(rules.iter().map(|rule| &rule["id"]).collect::<Vec<_>>(), ["force", "moment", "results"]);
    assert!(left.is_empty(), "{left:?}");
    let (roles, left) = role_objects(config);
    assert_eq!(roles.keys().collect::<Vec<_>>(), ["chief", "clerk"]);
    assert_eq!(left, ["viewer", "heir"], "they would grant otherwise elsewhere");
    let file = to_file(&[], &[], (rules, roles)).to_string();
    let read = of_file(&file).unwrap();
    let parsed = mcp_approve::policy::parse::parse(policy).unwrap();
    for carried in &read.rules {
        let own = parsed.all_rules().find(|rule| rule.id == carried.rule.id).unwrap();
        assert!(own.says_the_same(&carried.rule), "{}", carried.text(None));
        assert!(!carried.text(MARA).contains(['\u{1b}', '\u{202e}']), "what does not show itself is escaped");
    }
    assert_eq!(read.says(), "3 rules, 2 roles");
    // What has no rules can be read by earlier versions, and theirs by this one.
    assert_eq!(to_file(&[], &[], Default::default())["version"], 1);
    assert_eq!(of_file(NOTHING).unwrap(), Set::default());
}

#[test]
fn a_file_says_one_thing_to_every_machine_or_is_refused() {
    let rule = |key: &str, value: Value| {
        let mut rule = json!({ "id": "r", "decision": "allow", "tool": "t" });
        rule[key] = value;
        json!([rule])
    };
    for (rules, why) in [
        (rule("team", json!("tom")), "`team` is for the machine"),
        (rule("disabled", json!(false)), "`disabled` is for the machine"),
        (rule("colour", json!("red")), "unknown key \"colour\""),
        (rule("x = 1\n[defaults]\nhazard", json!("allow")), "unknown key"),
        (rule("note", json!(null)), "a null"),
        (rule("note", json!("x".repeat(7000))), "longer than 6144 bytes"),
        (rule("expires", json!("2099-12-31\n[defaults]")), "not a date"),
        (rule("expires", json!("soon")), "not a date"),
        (rule("expires", json!("2099-99-99")), "rule 1: "),
        (rule("id", json!("a\u{1b}[2J")), "`id` cannot be"),
        (rule("decision", json!("perhaps")), "rule 1: "),
        (rule("not_match", json!([{}])), "rule 1: "),
        (json!([{ "id": "r", "decision": "deny" }, { "id": "r", "decision": "ask" }]), "another has the id r"),
        (json!([["[[rule]]"]]), "invalid type"),
        (Value::Array(vec![json!({}); 1001]), "more than 1000 rules"),
    ] {
        assert!(refused(&rules, &json!({})).contains(why), "{why}");
    }
    let role = |name: &str, fields: Value| refused(&json!([]), &json!({ name: fields }));
    for (said, why) in [
        (role("viewer", json!({ "capabilities": ["*"] })), "it is built in"),
        (role("x", json!({ "capabilities": ["*"], "team": "tom" })), "`team` is for the machine"),
        (role("x", json!({ "inherits": "somebody" })), "cannot inherit"),
        (role("x", json!("*")), "not an object"),
        (role("x]\n[approver", json!({ "capabilities": ["*"] })), "cannot be a role's name"),
        (role("x", json!({ "command": "sh" })), "unknown key"),
    ] {
        assert!(said.contains(why), "{why}: {said}");
    }
    for (text, why) in [
        (r#"{"version":1,"agreed":[],"rules":[{"id":"r","decision":"deny"}]}"#, "version 1 has not"),
        (r#"{"version":2,"agreed":[],"rules":[{"id":"r","decision":"deny","decision":"allow"}]}"#, "there twice"),
        (r#"{"version":2,"agreed":[],"policy":"x"}"#, "unknown field"),
    ] {
        assert!(of_file(text).unwrap_err().to_string().contains(why), "{why}");
    }
}

#[test]
fn a_set_changes_what_was_taken_over_from_its_author_and_nothing_else() {
    let home = Home::new();
    home.places.create_state().unwrap();
    let policy = "version = 1\n# Mine.\n[[rule]]\nid = \"mine\"\ndecision = \"deny\"\ntool = \"x\"\n";
    home.write("config/policy.toml", policy);
    home.write("config/config.toml", "[roles.own]\ncapabilities = [\"*:read\"]\n");
    let place = PolicyPlace::own(&home.places);
    let file = RuleFile { place: &place, places: &home.places, by: By::Command };
    let says = |set: &Set, author, may| {
        let found = steps(set, author, &in_force(may), file).unwrap();
        let says: Vec<String> = found.steps.iter().map(Step::says).collect();
        (says.join("; "), found)
    };
    let make = |set: &Set, author| {
        let found = steps(set, author, &in_force(TeamMay::Loosen), file).unwrap();
        take_over(&found.steps.iter().collect::<Vec<_>>(), (author, None), file, NOW).unwrap();
    };
    let allow = |tool: &str| json!({ "id": "go", "decision": "allow", "tool": tool });
    let deny = json!({ "id": "no", "decision": "deny", "tool": "b" });
    let clerk = |tag: &str| json!({ "clerk": { "capabilities": [tag] } });
    let first = set(&json!([allow("a"), deny, { "id": "mine", "decision": "allow" }]), &clerk("invoices:*"));
    let (said, found) = says(&first, MARA, TeamMay::Loosen);
    assert_eq!(said, "new rule go (allow); new rule no (deny); new role clerk");
    assert_eq!(found.others, ["rule mine"], "a rule of the operator's is not replaced");
    let (said, found) = says(&first, MARA, TeamMay::Tighten);
    assert_eq!((said.as_str(), found.forbidden.join(", ")), ("new rule no (deny)", "rule go, role clerk".to_owned()));
    make(&first, MARA);
    let text = std::fs::read_to_string(home.places.policy_file()).unwrap();
    assert!(text.starts_with(policy) && text.matches("team = \"mara@example.com\"").count() == 2, "{text}");
    assert_eq!(says(&first, MARA, TeamMay::Loosen).1.already, 3);
    // The same text of another author is not theirs, and takes nothing back.
    let (said, found) = says(&first, Some("tom@example.com"), TeamMay::Loosen);
    assert_eq!((said.as_str(), found.others.len()), ("", 4), "{said}");
    assert_eq!(says(&of_file(NOTHING).unwrap(), Some("tom@example.com"), TeamMay::Loosen).0, "");
    let newer = set(&json!([allow("*")]), &clerk("*"));
    let (said, found) = says(&newer, MARA, TeamMay::Loosen);
    assert_eq!(said, "rule go, changed (allow); rule no, taken back; role clerk, changed");
    let diff = found.steps[0].diff();
    assert!(diff.contains("-tool = \"a\"\n+tool = \"*\""), "{diff}");
    assert!(found.steps[2].diff().contains("+capabilities = [\"*\"]"), "{}", found.steps[2].diff());
    make(&newer, MARA);
    let (said, found) = says(&of_file(NOTHING).unwrap(), MARA, TeamMay::Tighten);
    assert_eq!(said, "rule go, taken back; role clerk, taken back");
    assert!(found.steps.iter().all(|step| step.after.is_none() && step.before.is_some()));
    make(&of_file(NOTHING).unwrap(), MARA);
    assert_eq!(std::fs::read_to_string(home.places.policy_file()).unwrap(), policy);
    let config = std::fs::read_to_string(home.places.config_file()).unwrap();
    assert_eq!(config, "[roles.own]\ncapabilities = [\"*:read\"]\n");
    // A file without a signature is read as the operator's own.
    let (said, _) =
        says(&set(&json!([{ "id": "mine", "decision": "allow", "tool": "x" }]), &json!({})), None, TeamMay::Tighten);
    assert_eq!(said, "rule mine, changed (allow)");
}

#[test]
fn a_role_has_its_place_in_a_file_with_comments() {
    let config =
        "# Top.\nrole = \"own\"\n\n[roles.own] # mine\ncapabilities = [\"*:read\"]\n\n[server.s]\nrole = \"clerk\"\n";
    let clerk = carried_roles(json!({ "clerk": { "capabilities": ["a:*"] } }).as_object().unwrap()).unwrap().remove(0);
    let with = with_role(config, "clerk", Some(&clerk.text(MARA))).unwrap();
    assert_eq!(with, format!("{config}\n[roles.clerk]\ncapabilities = [\"a:*\"]\nteam = \"mara@example.com\"\n"));
    let clerk = carried_roles(json!({ "clerk": { "capabilities": ["b:*"] } }).as_object().unwrap()).unwrap().remove(0);
    let changed = with_role(&with, "clerk", Some(&clerk.text(MARA))).unwrap();
    assert_eq!(changed, with.replace("a:*", "b:*"));
    assert_eq!(with_role(&changed, "clerk", None).unwrap().trim_end(), config.trim_end());
    assert!(with_role("roles = { own = {} }\n", "own", Some("[roles.own]\n")).is_err());
    let step = Step { of: StepOf::Role, name: "x".into(), before: None, after: None, rule: None };
    assert_eq!(step.made_in("").unwrap(), "");
}

#[test]
fn what_a_team_allows_waits_to_be_accepted_also_where_no_server_was_wrapped_yet() {
    let home = Home::new();
    home.places.create_state().unwrap();
    home.write("config/policy.toml", "version = 1\n[[rule]]\nid = \"mine\"\ndecision = \"allow\"\ntool = \"x\"\n");
    let place = PolicyPlace::own(&home.places);
    let file = RuleFile { place: &place, places: &home.places, by: By::Command };
    let allows = set(&json!([{ "id": "go", "decision": "allow", "tool": "t" }]), &json!({}));
    let found = steps(&allows, MARA, &in_force(TeamMay::Loosen), file).unwrap();
    take_over(&found.steps.iter().collect::<Vec<_>>(), (MARA, Some(&json!({ "signer": "mara" }))), file, NOW).unwrap();
    let policy = Layers::of(&home.places, None, &place).load(Keeps::Copies);
    assert_eq!(
        policy.rules.iter().map(|rule| &*rule.id).collect::<Vec<_>>(),
        ["mine"],
        "theirs waits, and ours does not"
    );
    assert_eq!(policy.pending[0].loosens, ["allows: go"]);
    assert!(home.places.audit_db().exists(), "it has its record");
}

#[test]
fn what_was_not_shown_is_not_changed() {
    let home = Home::new();
    home.places.create_state().unwrap();
    let place = PolicyPlace::own(&home.places);
    let file = RuleFile { place: &place, places: &home.places, by: By::Command };
    let make = |set: &Set, meanwhile: &dyn Fn()| {
        let found = steps(set, MARA, &in_force(TeamMay::Loosen), file).unwrap();
        meanwhile();
        take_over(&found.steps.iter().collect::<Vec<_>>(), (MARA, None), file, NOW)
    };
    let both = |tool: &str| {
        let role = json!({ "clerk": { "capabilities": [tool] } });
        set(&json!([{ "id": "no", "decision": "deny", "tool": tool }]), &role)
    };
    make(&both("a:*"), &|| ()).unwrap();
    let (policy, config) = (home.places.policy_file(), home.places.config_file());
    for path in [&policy, &config] {
        let before = [&policy, &config].map(|path| std::fs::read_to_string(path).unwrap());
        let other = std::fs::read_to_string(path).unwrap().replace("team = \"mara@example.com\"", "");
        let done = make(&both("b:*"), &|| std::fs::write(path, &other).unwrap());
        assert!(done.unwrap_err().to_string().contains("changed while"), "{}", path.display());
        let now = [&policy, &config].map(|path| std::fs::read_to_string(path).unwrap());
        assert!(now.concat().contains("a:*") && !now.concat().contains("b:*"), "neither file: {now:?}");
        for (path, text) in [&policy, &config].into_iter().zip(before) {
            std::fs::write(path, text).unwrap();
        }
    }
    // A role that is right alone and wrong here: neither is written, and each problem is said.
    std::fs::write(
        &config,
        "[roles.boss]\nservers = [\"x\"]\ninherits = \"clerk\"\n[roles.clerk]\nteam = \"mara@example.com\"\n",
    )
    .unwrap();
    let text = std::fs::read_to_string(&policy).unwrap();
    let said = make(&of_file(NOTHING).unwrap(), &|| ()).unwrap_err().to_string();
    assert!(said.contains("config.toml could not be read then: line 3: "), "boss would inherit from nothing: {said}");
    assert_eq!(std::fs::read_to_string(&policy).unwrap(), text);
}

#[test]
fn every_role_that_would_grant_otherwise_is_named_with_its_servers() {
    let home = Home::new();
    home.write(
        "config/config.toml",
        "[roles.boss]\ninherits = \"clerk\"\n[roles.clerk]\ncapabilities = [\"a:*\"]\nteam = \"mara@example.com\"\n",
    );
    let place = PolicyPlace::own(&home.places);
    let file = RuleFile { place: &place, places: &home.places, by: By::Command };
    let roles = json!({ "clerk": { "capabilities": ["b:*"] }, "heir": { "inherits": "clerk", "servers": ["books"] } });
    let found = steps(&set(&json!([]), &roles), MARA, &in_force(TeamMay::Loosen), file).unwrap();
    let mut said = grants(&home.places, &found.steps.iter().collect::<Vec<_>>()).unwrap();
    said.sort();
    let of = |name: &str, words: &str| (name.to_owned(), words.to_owned());
    let all = [of("boss", "b:* on every server"), of("clerk", "b:* on every server"), of("heir", "b:* on books")];
    assert_eq!(said, all);
}
