//! The one table of keys: one key has one meaning at a place, and the README shows the table.

use mcp_approve::console::keymap::{Action, BINDINGS, Key, Place, action, markdown};

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
    assert_eq!(action(Key::Char('u'), Place::Queue), Some(Action::Undo));
    assert_eq!(action(Key::Enter, Place::Confirm), None);
    assert_eq!(action(Key::Char('a'), Place::Queue), Some(Action::Approve));
}

#[test]
fn the_readme_gets_a_table() {
    let table = markdown();
    assert!(table.starts_with("| key | does | where |\n|---|---|---|\n| `a` | Approves the call on screen"));
    assert_eq!(table.lines().count(), BINDINGS.len() + 2);
    assert!(table.lines().all(|line| line.matches('|').count() == 4));
}

#[test]
#[ignore = "writes the README's table: run it after a change of the keys"]
fn write_the_readme_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (head, rest) = text.split_once("<!-- keys -->").unwrap();
    let (_, tail) = rest.split_once("<!-- /keys -->").unwrap();
    std::fs::write(path, format!("{head}<!-- keys -->\n{}\n<!-- /keys -->{tail}", markdown().trim())).unwrap();
}
