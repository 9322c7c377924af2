//! The policy's file and its acceptance: what the operator's own change accepts, and what still waits is tried.

use std::error::Error;
use std::fs;

use mcp_approve::home::layers::{Keeps, Layers, PROJECT};
use mcp_approve::home::places::Places;
use mcp_approve::home::policy_file::{Accepted, PolicyPlace, Written};
use mcp_approve::operator::rule_book::tried;
use mcp_approve::operator::tried::Which;
use mcp_approve::policy::rule::Layer;

#[test]
fn the_operators_own_change_is_accepted_unless_something_else_waits() {
    let home = tempfile::tempdir().unwrap();
    let policy = home.path().join("policy.toml");
    let places = Places::under(home.path()).unwrap();
    let accepted = Accepted::of(&places);
    let write = |text: &str| {
        let before = fs::read_to_string(&policy).ok();
        fs::write(&policy, text)?;
        Ok::<_, Box<dyn Error>>(Written { before, after: text.to_owned() })
    };
    let kept = || accepted.text(&policy).unwrap();
    accepted.with(&policy, || write("one")).unwrap();
    assert_eq!(kept().as_deref(), Some("one"));
    accepted.with(&policy, || write("two")).unwrap();
    assert_eq!(kept().as_deref(), Some("two"));
    let raced = || {
        fs::write(&policy, "sneaked").unwrap();
        write("sneaked and three")
    };
    accepted.with(&policy, raced).unwrap();
    assert_eq!(kept().as_deref(), Some("two"), "what was sneaked in rides along with nothing");
    accepted.accept(&policy, Some("sneaked and three")).unwrap();
    let overtaken = || write("four").inspect(|_| fs::write(&policy, "four and sneaked").unwrap());
    accepted.with(&policy, overtaken).unwrap();
    assert_eq!(kept().as_deref(), Some("four"), "nor what comes right after");
    accepted.accept(&policy, None).unwrap();
    assert_eq!(kept().as_deref(), Some(""), "a removed policy was one: the next text is not the first");
    assert!(accepted.with(&policy, || Err::<Written, _>(Box::<dyn Error>::from("no"))).is_err());
    // The copies are gone, and a wrapper has run: what is there was not accepted.
    fs::remove_dir_all(places.accepted_dir()).unwrap();
    fs::write(places.audit_db(), "").unwrap();
    accepted.with(&policy, || write("five")).unwrap();
    assert_eq!(kept(), None);
}

const RULE: &str = "[[rule]]\nid = 'more'\ndecision = 'allow'\ntool = 'write_file'\n";

#[test]
fn a_change_that_waits_is_tried_as_if_it_were_accepted_and_only_while_it_waits() {
    let home = tempfile::tempdir().unwrap();
    let places = Places::under(home.path()).unwrap();
    fs::create_dir_all(places.config_dir()).unwrap();
    let file = places.policy_file();
    let standing = || Layers::of(&places, None, &PolicyPlace::Usual(file.clone())).load(Keeps::Copies);
    fs::write(&file, "version = 1\n").unwrap();
    standing();
    fs::write(&file, format!("version = 1\n{RULE}")).unwrap();
    let stands = standing();
    assert!(stands.rules.is_empty(), "it waits");
    let which = |digest| Which::Accepted { layer: Layer::User, file: file.display().to_string(), digest, server: None };
    let pending = which(stands.pending[0].digest);
    assert_eq!(tried(&places, &pending).unwrap().rules[0].id, "more");
    assert_eq!(tried(&places, &Which::Written).unwrap().rules.len(), 1);
    assert!(standing().rules.is_empty(), "trying it accepts nothing");
    fs::write(&file, format!("version = 1\n{RULE}note = 'again'\n")).unwrap();
    assert!(tried(&places, &pending).unwrap_err().contains("look at it again"));
    fs::write(&file, "version = 1\nrules = 3\n").unwrap();
    assert!(tried(&places, &Which::Written).unwrap_err().contains("policy.toml:2"));
}

#[test]
fn a_projects_file_is_found_in_its_folder() {
    let home = tempfile::tempdir().unwrap();
    let project = tempfile::tempdir().unwrap();
    let places = Places::under(home.path()).unwrap();
    let file = project.path().join(PROJECT);
    fs::write(&file, format!("version = 1\n{RULE}")).unwrap();
    let usual = PolicyPlace::own(&places);
    let stands = Layers::of(&places, Some(project.path()), &usual).load(Keeps::Nothing);
    let (layer, digest) = (Layer::Project, stands.pending[0].digest);
    let which = Which::Accepted { layer, file: file.display().to_string(), digest, server: None };
    assert_eq!(tried(&places, &which).unwrap().rules.len(), 1);
}

#[test]
fn a_rule_that_asks_waits_where_another_files_default_denies() {
    let home = tempfile::tempdir().unwrap();
    let places = Places::under(home.path()).unwrap();
    for folder in [places.config_dir(), &places.system_dir()] {
        fs::create_dir_all(folder).unwrap();
    }
    let usual = PolicyPlace::own(&places);
    let loosens = || {
        let stands = Layers::of(&places, None, &usual).load(Keeps::Copies);
        stands.pending.iter().flat_map(|one| one.loosens.clone()).collect::<Vec<_>>()
    };
    fs::write(places.policy_file(), "version = 1\n").unwrap();
    assert!(loosens().is_empty());
    let asks = "version = 1\n[[rule]]\nid = 'k'\ndecision = 'ask'\n";
    fs::write(places.policy_file(), asks).unwrap();
    fs::write(places.system_policy_file(), "version = 1\n[defaults]\nmutates = 'deny'\n").unwrap();
    assert_eq!(loosens(), ["asks where a default denies: k"]);
    fs::write(places.system_policy_file(), "version = 1\n").unwrap();
    assert!(loosens().is_empty(), "then it only tightens");
    fs::write(places.system_policy_file(), "version = 1\n[defaults]\nmutates = 'deny'\n").unwrap();
    assert!(loosens().is_empty(), "it was there before");
}
