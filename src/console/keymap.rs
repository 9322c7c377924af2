//! The table of keys as the operator has bound it: other keys for the same actions, and what may not be bound. Help, footer
//! and `help keys` are made from it.

mod table;

pub use table::{Action, BINDINGS, Binding, CARD, Is, Key, LISTS, Place, SCREENS};

/// The table with the operator's own keys in it. Without any it is the table itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    own: Vec<Own>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Own {
    action: Action,
    keys: Vec<Key>,
    /// The keys as they are written.
    shown: String,
}

/// Why a set of keys is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {hint}")]
pub struct Conflict {
    /// The action it is about, as config.toml names it.
    pub name: String,
    pub what: String,
    pub hint: String,
}

impl Conflict {
    fn new(name: &str, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name: name.to_owned(), what: what.into(), hint: hint.into() }
    }
}

impl Keys {
    /// The table with these keys instead: actions and keys as config.toml names them.
    ///
    /// # Errors
    /// Every conflict: unknown names, a key for two things at one place, a deciding key for anything else anywhere.
    pub fn bind(own: &[(String, Vec<String>)]) -> Result<Self, Vec<Conflict>> {
        let mut conflicts = Vec::new();
        let mut keys = Self::default();
        for (name, words) in own {
            let Some(binding) = BINDINGS.iter().find(|binding| config_name(binding) == *name) else {
                let free = BINDINGS.iter().filter(|binding| !binding.is.contains(&Is::Fixed));
                let known: Vec<String> = free.map(config_name).collect();
                let hint = format!("actions are {}", known.join(", "));
                conflicts.push(Conflict::new(name, format!("there is no action {name:?}"), hint));
                continue;
            };
            if binding.is.contains(&Is::Fixed) {
                let what = format!("{name} keeps its key {}", binding.shown);
                conflicts.push(Conflict::new(name, what, "remove it from [console.keys]"));
                continue;
            }
            let mut bound = Vec::new();
            for word in words {
                match read(word) {
                    Some(Key::Ctrl('c')) => {
                        conflicts.push(Conflict::new(name, "Ctrl-C always leaves the console", "choose another key"));
                    }
                    Some(key) => bound.push(key),
                    None => {
                        let hint = "write one character, Ctrl-x, Enter, Up, Down, PgUp, PgDn, Home, End or Tab";
                        conflicts.push(Conflict::new(name, format!("{word:?} names no key"), hint));
                    }
                }
            }
            if words.is_empty() {
                let what = format!("{name} would have no key");
                conflicts.push(Conflict::new(name, what, "name at least one"));
            }
            keys.own.push(Own { action: binding.action, keys: bound, shown: words.join(" ") });
        }
        keys.conflicts(&mut conflicts);
        if conflicts.is_empty() { Ok(keys) } else { Err(conflicts) }
    }

    /// What a key does at a place; `None` where it does nothing.
    pub fn action(&self, key: Key, place: Place) -> Option<Action> {
        BINDINGS
            .iter()
            .find(|binding| binding.places.contains(&place) && self.of(binding).contains(&key))
            .map(|binding| binding.action)
    }

    /// The keys of a line of the table.
    pub fn of<'a>(&'a self, binding: &'a Binding) -> &'a [Key] {
        self.own(binding.action).map_or(binding.keys, |own| &own.keys)
    }

    /// The keys of a line of the table as they are written.
    pub fn shown<'a>(&'a self, binding: &'a Binding) -> &'a str {
        self.own(binding.action).map_or(binding.shown, |own| &own.shown)
    }

    fn own(&self, action: Action) -> Option<&Own> {
        self.own.iter().find(|own| own.action == action)
    }

    fn conflicts(&self, conflicts: &mut Vec<Conflict>) {
        for (at, first) in BINDINGS.iter().enumerate() {
            for second in &BINDINGS[at + 1..] {
                let Some(key) = self.of(first).iter().find(|key| self.of(second).contains(key)) else { continue };
                let by_us = self.own(first.action).is_none() && self.own(second.action).is_none();
                let meet = first.places.iter().any(|place| second.places.contains(place));
                let decides = decides(first.action) || decides(second.action);
                // Where the table itself binds a key twice, both mean the same: Enter goes on, and never approves.
                if by_us || !(meet || decides) {
                    continue;
                }
                let named = if self.own(second.action).is_some() { second } else { first };
                let other = if named.action == first.action { second } else { first };
                let why = if decides {
                    "a key that decides a call does nothing else anywhere"
                } else {
                    "both act on the same screen"
                };
                let what =
                    format!("{} is bound to {} and to {}", written(*key), config_name(first), config_name(second));
                let hint = format!("{why}: choose another key for {} or {}", config_name(named), config_name(other));
                conflicts.push(Conflict::new(&config_name(named), what, hint));
            }
        }
    }
}

/// Whether an action ends in a verdict.
pub fn decides(action: Action) -> bool {
    BINDINGS.iter().any(|binding| binding.action == action && binding.is.contains(&Is::Deciding))
}

/// An action's name in config.toml: its name in the table, with `-` for what is no letter.
fn config_name(binding: &Binding) -> String {
    match binding.action {
        // Their names in the footer say what they do there, so they have other names here.
        Action::Send => "send".to_owned(),
        Action::Confirm => "confirm".to_owned(),
        Action::Seek => "seek".to_owned(),
        Action::WriteRule => "write-rule".to_owned(),
        _ => binding.name.replace(' ', "-"),
    }
}

fn read(word: &str) -> Option<Key> {
    let mut letters = word.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return (!letter.is_control()).then_some(Key::Char(letter));
    }
    if let Some(letter) = word.strip_prefix("Ctrl-") {
        let mut letters = letter.chars();
        return match (letters.next(), letters.next()) {
            (Some(letter), None) if letter.is_ascii_lowercase() => Some(Key::Ctrl(letter)),
            _ => None,
        };
    }
    NAMED.iter().find(|(name, _)| *name == word).map(|(_, key)| *key)
}

/// Keys without a letter, as config.toml names them.
const NAMED: [(&str, Key); 9] = [
    ("Space", Key::Char(' ')),
    ("Enter", Key::Enter),
    ("Up", Key::Up),
    ("Down", Key::Down),
    ("PgUp", Key::PageUp),
    ("PgDn", Key::PageDown),
    ("Home", Key::Home),
    ("End", Key::End),
    ("Tab", Key::Tab),
];

fn written(key: Key) -> String {
    let named = NAMED.iter().find(|(_, one)| *one == key).map(|(name, _)| (*name).to_owned());
    named.unwrap_or_else(|| match key {
        Key::Char(letter) => letter.to_string(),
        Key::Ctrl(letter) => format!("Ctrl-{letter}"),
        other => format!("{other:?}"),
    })
}

/// The table for `mcp-approve help keys`.
pub fn markdown() -> String {
    let mut out = String::from("| key | does | where |\n|---|---|---|\n");
    for binding in BINDINGS {
        let keys: Vec<String> = binding.shown.split(' ').map(|key| format!("`{key}`")).collect();
        let places = place_names(binding.places);
        out.push_str(&format!("| {} | {} | {} |\n", keys.join(" "), binding.help, places.join(", ")));
    }
    out
}

/// Where a key works: all screens, or all lists, in one word.
fn place_names(places: &[Place]) -> Vec<&'static str> {
    let groups = [("every screen", SCREENS), ("every list", LISTS)];
    let all = |group: &[Place]| group.iter().all(|place| places.contains(place));
    let group = groups.into_iter().find(|(_, group)| all(group));
    let (name, group) = group.map_or((None, &[][..]), |(name, group)| (Some(name), group));
    let others = places.iter().filter(|place| !group.contains(place)).map(|place| place.word());
    name.into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(
            told(&[("sort", &["4"])]).starts_with("4 is bound to sort and to tools; both act on the same screen: ")
        );
    }

    #[test]
    fn what_cannot_be_bound_is_told_all_at_once() {
        let told = told(&[("fly", &["x"]), ("help", &["F1"]), ("confirm", &["x"]), ("start", &[])]);
        let found: Vec<&str> = told.lines().map(|line| line.split(';').next().unwrap_or_default()).collect();
        let none =
            ["there is no action \"fly\"", "\"F1\" names no key", "confirm keeps its key y", "start would have no key"];
        assert_eq!(found, none);
    }
}
