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
