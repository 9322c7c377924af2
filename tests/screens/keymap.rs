//! The one table of keys: one key has one meaning at a place, and `help keys` shows the table.

use mcp_approve::console::keymap::{Action, BINDINGS, Key, Keys, Place, markdown};

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
