//! The one table of keys: one key has one meaning at a place, the operator's own keys replace it, the commands are made
//! from it, and `help keys` shows it.

use mcp_approve::console::keymap::{Action, BINDINGS, Conflict, Key, Keys, Place, decides, markdown};
use mcp_approve::console::model::{Model, Screen};
use mcp_approve::console::palette::{EntryAction, entries};

#[test]
fn one_key_has_one_meaning_at_a_place() {
    for place in [
        Place::Queue,
        Place::Detail,
        Place::Activity,
        Place::Log,
        Place::Tools,
        Place::Rules,
        Place::Servers,
        Place::Search,
        Place::Palette,
        Place::Help,
        Place::Confirm,
        Place::Reason,
        Place::Unreadable,
        Place::Batch,
        Place::Rule,
        Place::Review,
        Place::Find,
    ] {
        let keys: Vec<Key> =
            BINDINGS.iter().filter(|b| b.places.contains(&place)).flat_map(|b| b.keys).copied().collect();
        for (i, key) in keys.iter().enumerate() {
            assert!(!keys[..i].contains(key), "{key:?} at {place:?}");
        }
    }
    assert_eq!(Keys::default().action(Key::Char('u'), Place::Queue), Some(Action::Undo));
    assert_eq!(Keys::default().action(Key::Enter, Place::Confirm), None);
    assert_eq!(Keys::default().action(Key::Char('a'), Place::Queue), Some(Action::Approve));
}

#[test]
fn the_help_topic_has_the_table() {
    let table = markdown();
    assert!(table.starts_with("| key | does | where |\n|---|---|---|\n| `a` | Approves the call on screen"));
    assert_eq!(table.lines().count(), BINDINGS.len() + 2);
    assert!(table.lines().all(|line| line.matches('|').count() == 4));
    assert!(mcp_approve::cli::help::topic("keys").is_some_and(|topic| topic.contains(&table)));
}

fn bind(own: &[(&str, &[&str])]) -> Result<Keys, Vec<Conflict>> {
    let own: Vec<_> = own
        .iter()
        .map(|(name, keys)| ((*name).to_owned(), keys.iter().map(|key| (*key).to_owned()).collect()))
        .collect();
    Keys::bind(&own)
}

fn told(own: &[(&str, &[&str])]) -> String {
    bind(own).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_table_itself_has_no_conflict_at_any_place() {
    assert_eq!(bind(&[]), Ok(Keys::default()));
    for (at, first) in BINDINGS.iter().enumerate() {
        for second in &BINDINGS[at + 1..] {
            let meet = first.places.iter().any(|place| second.places.contains(place));
            let same = first.keys.iter().any(|key| second.keys.contains(key));
            assert!(!(meet && same), "{:?} and {:?}", first.action, second.action);
        }
    }
}

#[test]
fn an_own_key_stands_for_the_table_s() {
    let keys = bind(&[("approve", &["Ctrl-y"]), ("down", &["b", "Down"])]).unwrap();
    assert_eq!(keys.action(Key::Ctrl('y'), Place::Queue), Some(Action::Approve));
    assert_eq!(keys.action(Key::Char('a'), Place::Queue), None);
    assert_eq!(keys.action(Key::Char('b'), Place::Log), Some(Action::Down));
    assert_eq!(keys.action(Key::Char('k'), Place::Log), Some(Action::Up));
    let down = BINDINGS.iter().find(|binding| binding.action == Action::Down).unwrap();
    assert_eq!(keys.shown(down), "b Down");
}

#[test]
fn a_deciding_key_does_nothing_else_anywhere() {
    let why = "a key that decides a call does nothing else anywhere";
    let told_first = |own: &[(&str, &[&str])]| told(own).lines().next().map(str::to_owned).unwrap_or_default();
    for (own, both) in [
        (&[("approve", &["z"][..]), ("find", &["z"])][..], "z is bound to approve and to find"),
        (&[("approve", &["j"])], "j is bound to approve and to down"),
        (&[("approve", &["Enter"])], "Enter is bound to approve and to send"),
        (&[("log", &["y"])], "y is bound to confirm and to log"),
    ] {
        assert!(told_first(own).starts_with(&format!("{both}; {why}: ")), "{}", told(own));
    }
    assert!(told(&[("sort", &["4"])]).starts_with("4 is bound to sort and to tools; both act on the same screen: "));
}

#[test]
fn what_cannot_be_bound_is_told_all_at_once() {
    let told = told(&[("fly", &["x"]), ("help", &["F1"]), ("confirm", &["x"]), ("start", &[])]);
    let found: Vec<&str> = told.lines().map(|line| line.split(';').next().unwrap_or_default()).collect();
    let none =
        ["there is no action \"fly\"", "\"F1\" names no key", "confirm keeps its key y", "start would have no key"];
    assert_eq!(found, none);
}

fn first(text: &str) -> String {
    entries(&Model::default(), text).first().map(|entry| entry.name.clone()).unwrap_or_default()
}

#[test]
fn a_few_letters_find_what_is_meant() {
    let found: Vec<String> = ["qui", "ver", "thl", "tcb", "log", "sort", "den"].into_iter().map(first).collect();
    assert_eq!(found, ["quit", "verify", "theme light", "theme colour-blind", "log", "sort", "deny"]);
    assert_eq!(first("quiet"), "quiet");
    assert_eq!(first("bell"), "quiet");
    assert_eq!(["zzz", "nosuch", "undoo"].map(first), ["", "", ""]);
}

#[test]
fn no_command_decides_a_call() {
    for entry in entries(&Model::default(), "") {
        if let EntryAction::Press(action) = entry.action {
            assert!(!decides(action), "{}", entry.name);
        }
    }
}

#[test]
fn a_screen_s_name_and_words_are_a_search() {
    let found = entries(&Model::default(), "log tool:write verdict:deny");
    assert_eq!(found[0].action, EntryAction::Search(Screen::Log, "tool:write verdict:deny".into()));
}
