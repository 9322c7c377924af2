//! What is fixed for one run of the console, and what of it a person may change while it runs.

use std::path::PathBuf;

use super::Confirmation;
use crate::console::keymap::Keys;
use crate::console::theme::Palette;

/// What is fixed for one run of the console.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub palette: Palette,
    /// The local time's distance from UTC, in seconds.
    pub offset: i32,
    /// Our own version, to name in messages about other ones.
    pub version: String,
    /// The operator's home, for rules about paths.
    pub home: Option<String>,
    /// What `--home` named.
    pub root: Option<PathBuf>,
    /// The keys as the operator has bound them.
    pub keys: Keys,
    /// Whether this is the first console that this operator opens.
    pub tour: Tour,
    pub manner: Manner,
    pub confirmation: Confirmation,
    pub process: Process,
    /// What is wrong with `[console]` in config.toml; the defaults replace it.
    pub problems: Vec<String>,
}

/// Whose process the console runs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Process {
    #[default]
    Own,
    /// Its own, and the demo ends with it.
    Demo,
    /// A wrapper's (`--inline`): stopping it would stop the server's pipe.
    Shared,
}

/// The five lines for a first look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tour {
    #[default]
    Dismissed,
    Shown,
}

/// Whether the console may ring and notify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    #[default]
    Rings,
    /// Neither bell nor notice.
    Quiet,
}
