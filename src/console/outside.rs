//! What the console needs of the world beside its terminal: files, the clock, the editor, how to notify.

pub use super::model::Process;
use super::settings::{Notice, Pointer};
use crate::home::places::Places;

/// What the console needs of the world.
#[derive(Debug)]
pub struct Outside {
    pub places: Places,
    /// Milliseconds since 1970.
    pub now: fn() -> i64,
    /// The operator's editor, as a shell would run it.
    pub editor: String,
    pub notice: Notice,
    pub mouse: Pointer,
    pub process: Process,
}

/// What a terminal multiplexer means for an operator who decides in it.
pub const OPEN_TO_OTHERS: &str =
    "any program of yours can type into it, and so approve; a terminal window of its own is safer";

/// The multiplexer that this terminal belongs to, by the variable each sets. Only shown, never relied on.
pub fn multiplexer() -> Option<&'static str> {
    let known = [
        ("TMUX", "this terminal is in tmux"),
        ("STY", "this terminal is in screen"),
        ("ZELLIJ", "this terminal is in Zellij"),
    ];
    known.into_iter().find_map(|(variable, says)| std::env::var_os(variable).map(|_| says))
}
