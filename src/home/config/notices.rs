//! Whether wrappers show notices on the desktop, by `[console]` of `config.toml`: the console reads and checks the rest of it.

use toml::de::DeTable;

/// Whether a wrapper says on the desktop that a call waits while no console is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notices {
    Off,
    /// If the operator sits at this desktop.
    #[default]
    Auto,
    Desktop,
}

impl Notices {
    /// What `[console]` says. If the operator has chosen another kind of notice, this one is off.
    pub(super) fn of(document: &DeTable<'_>) -> Self {
        let console = document.get("console").and_then(|value| value.get_ref().as_table());
        let of = |key: &str| console.and_then(|console| console.get(key)).map(|value| value.get_ref());
        match of("notice").map(|value| value.as_str()) {
            _ if of("quiet").and_then(|value| value.as_bool()) == Some(true) => Self::Off,
            None | Some(Some("auto")) => Self::Auto,
            Some(Some("desktop")) => Self::Desktop,
            Some(_) => Self::Off,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DeTable, Notices};

    #[test]
    fn only_the_desktops_own_notice_is_a_wrappers() {
        for (text, expected) in [
            ("", Notices::Auto),
            ("[console]\ntheme = \"dark\"", Notices::Auto),
            ("[console]\nnotice = \"auto\"", Notices::Auto),
            ("[console]\nnotice = \"desktop\"", Notices::Desktop),
            ("[console]\nnotice = \"desktop\"\nquiet = true", Notices::Off),
            ("[console]\nnotice = \"off\"", Notices::Off),
            ("[console]\nnotice = \"osc9\"", Notices::Off),
            ("[console]\nnotice = 3", Notices::Off),
        ] {
            assert_eq!(Notices::of(DeTable::parse(text).unwrap().get_ref()), expected, "{text}");
        }
    }
}
