//! What the key of a call proves of its value, in tables: roles of keys, forms of values, addresses, statements, places.

use std::sync::Arc;

use mcp_approve::behavior::agreed::{Agreement, Agreements, What};
use mcp_approve::behavior::arguments::sql::Dialect;
use mcp_approve::behavior::evidence::{Claim, Evidence, Source, Strength};
use mcp_approve::behavior::shape::{
    Given, Keys, Known, PathKind, PathState, PathStates, Places, Role, Roles, Shape, of_call,
};
use mcp_approve::behavior::taxonomy::Action;
use serde_json::json;

use super::tool;

/// The rows of a table.
fn rows(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|row| !row.starts_with("# "))
}

/// What our list of well-known servers says of one key.
fn given(key: &str, role: &str, dialect: Option<Dialect>) -> Given {
    let roles = [(key.to_owned(), Roles::from_words(role).unwrap())].into();
    Given { roles, dialect, ..Given::default() }
}

/// What is new about a call with this value under one key, of a tool that `given` speaks of.
fn shape(key: &str, value: &str, given: Given, places: &Places, path_states: &PathStates) -> Shape {
    let tool = tool(json!({ "name": "get_zorblax", "inputSchema": { "type": "object" } }));
    let says = Claim::default();
    let curated = Evidence { source: Source::Curated, says, span: String::new(), strength: Strength::Strong };
    let keys = Keys::of(&tool, Action::Read, &[curated], Some(&Arc::new(given)));
    let known = Known { agreed: &Agreements::default(), places, roots: &[], path_states };
    of_call(Some(&tool), &keys, &json!({ key: value }), known)
}

fn of_text(key: &str, text: &str, given: Given) -> Shape {
    shape(key, text, given, &Places::default(), &PathStates::new())
}

fn keys_of(name: &str, action: Action) -> Keys {
    Keys::of(&tool(json!({ "name": name, "inputSchema": { "type": "object" } })), action, &[], None)
}

#[test]
fn a_key_has_a_role_only_if_each_of_its_words_is_known() {
    let tool = keys_of("get", Action::Read);
    for row in rows(include_str!("keys.txt")) {
        let (role, keys) = row.split_once(' ').unwrap();
        for key in keys.split(' ') {
            let found = tool.roles(key);
            let is_role = |role: &Role| found.has(*role);
            assert!(Role::from_word(role).map_or(found.is_none(), |role| is_role(&role)), "{key}: {found:?}");
        }
    }
}

#[test]
fn a_noun_of_the_tools_own_name_is_known_and_its_verb_is_not() {
    let of = |tool: &str, key: &str| keys_of(tool, Action::Read).roles(key);
    assert!(of("get_zorblax_report", "zorblax_id").has(Role::Id));
    assert!(of("get_zorblax_report", "zorblax").has(Role::Name));
    assert!(of("zorblax_get", "get").is_none());
    assert!(of("get_user_delete", "delete").is_none(), "an act is no noun");
}

#[test]
fn a_role_proves_values_of_its_own_form_alone() {
    for row in rows(include_str!("forms.txt")) {
        let [role, fit, text] = row.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let shape = of_text("repo", &text.replace("\\n", "\n"), given("repo", role, None));
        assert_eq!(shape.holds(), fit == "yes", "{row}: {shape:?}");
    }
    assert!(!of_text("repo", "orders/7/delete", given("repo", "id", None)).holds(), "an act on a thing");
    assert!(!of_text("me", "me/you", given("me", "id", None)).holds(), "only where a name has a slash");
    let known = Known {
        agreed: &Agreements::default(),
        places: &Places::default(),
        roots: &[],
        path_states: &PathStates::new(),
    };
    let found = |action| of_call(None, &keys_of("get", action), &json!({ "query": "words to find" }), known).holds();
    assert!(found(Action::Search) && !found(Action::Read), "only where the tool searches");
}

#[test]
fn an_address_is_its_host_or_always_asks() {
    let read = |text: &str| {
        let shape = of_text("url", text, given("url", "address", None));
        match shape.new.first().map(|new| &new.agree) {
            _ if !shape.wanted.is_empty() => shape.wanted[0].clone(),
            Some(None) => "asks".to_owned(),
            Some(Some(Agreement { what: What::Host, value, .. })) => value.clone(),
            Some(Some(_)) | None => "none".to_owned(),
        }
    };
    for row in rows(include_str!("addresses.txt")) {
        let (wanted, text) = row.split_once(' ').unwrap();
        assert_eq!(read(text), wanted, "{text}");
    }
    assert_eq!(read(&format!("https://example.com/{}", "a".repeat(1100))), "asks");
}

#[test]
fn an_outline_has_every_name() {
    for row in rows(include_str!("outlines.txt")) {
        let [dialect, wanted, text] = row.splitn(3, " | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        let shape = of_text("sql", text, given("sql", "statement", Dialect::from_word(dialect)));
        let found = match shape.new.first().and_then(|new| new.agree.as_ref()) {
            None => "Reads".to_owned(),
            Some(Agreement { what: What::Outline, value, .. }) => {
                value.strip_prefix(&format!("{dialect}: ")).unwrap_or(value).to_owned()
            }
            Some(_) => "None".to_owned(),
        };
        assert_eq!(found, wanted, "{row}");
    }
}

/// What a path asks for that leads here; `Ok` where it is read unasked. `role` is `None` for a tool that nobody has reviewed.
fn path(real: Option<&str>, kind: PathKind, project: Option<&str>, is_reviewed: bool) -> Result<(), Agreement> {
    let places = Places {
        folders: vec!["/home/ada/engine".into(), "/".into()],
        home: Some("/home/ada".into()),
        own: vec!["/home/ada/.local/state/mcp-approve".into()],
    };
    let state = PathState { real: real.map(str::to_owned), kind, project: project.map(str::to_owned) };
    let path_states = PathStates::from([("/x".to_owned(), Arc::new(state))]);
    let shape = if is_reviewed {
        shape("path", "/x", Given::default(), &places, &path_states)
    } else {
        let known = Known { agreed: &Agreements::default(), places: &places, roots: &[], path_states: &path_states };
        of_call(None, &keys_of("get", Action::Read), &json!({ "path": "/x" }), known)
    };
    shape.new.into_iter().next().map_or(Ok(()), |new| Err(new.agree.unwrap()))
}

#[test]
fn only_places_are_read_unasked() {
    use PathKind::{File, Folder, Missing, Other};
    let of = |what, value: &str| Some((what, value.to_owned()));
    let folder = |path: &str| of(What::Folder, path);
    let file = |path: &str| of(What::File, path);
    let words = of(What::Value, "\"/x\"");
    let found = |real, kind, project, is_reviewed| {
        path(real, kind, project, is_reviewed).err().map(|one| (one.what, one.value))
    };
    for (real, kind, project, wanted) in [
        ("/home/ada/engine/src/a.rs", File, None, None),
        ("/home/ada/engine", Folder, None, None),
        ("/home/ada/engine2/a", File, None, folder("/home/ada/engine2")),
        ("/home/ada/other/src/a", File, Some("/home/ada/other"), folder("/home/ada/other")),
        ("/home/ada/.bashrc", File, Some("/home/ada"), file("/home/ada/.bashrc")),
        ("/home", Folder, None, file("/home")),
        ("/home/ada/projects", Folder, None, file("/home/ada/projects")),
        ("/etc/hosts", File, None, folder("/etc")),
        ("/hosts", File, None, file("/hosts")),
        ("/home/ada/.local/state/mcp-approve/a.db", File, None, file("/home/ada/.local/state/mcp-approve/a.db")),
        ("/home/ada/engine/new", Missing, None, words.clone()),
        ("/home/ada/engine/pipe", Other, None, words.clone()),
    ] {
        assert_eq!(found(Some(real), kind, project, false), wanted, "{real}");
    }
    assert_eq!(
        found(Some("/home/ada/engine/new"), Missing, None, true),
        None,
        "a reviewed tool's path need not be there"
    );
    assert_eq!(found(None, File, None, true), words);
}

#[test]
fn an_agreement_never_makes_a_place_of_the_home() {
    let agreed: Agreements = [Agreement::of_server(What::Folder, "/home/ada")].into();
    let places = Places { home: Some("/home/ada".into()), ..Places::default() };
    let state = PathState { real: Some("/home/ada/.ssh/id".into()), kind: PathKind::File, project: None };
    let path_states = PathStates::from([("/x".to_owned(), Arc::new(state))]);
    let known = Known { agreed: &agreed, places: &places, roots: &["/home".to_owned()], path_states: &path_states };
    assert!(!of_call(None, &keys_of("get", Action::Read), &json!({ "path": "/x" }), known).holds());
}
