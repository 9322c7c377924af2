//! What a notice says of the calls that wait: server, effect and target of the last that came. Foreign text in it went
//! through the one door.

use super::{CallState, Model};
use crate::console::columns::cell;
use crate::console::row::{Row, Tone};

/// A notice has so many columns: desktops cut longer ones anywhere.
const LONGEST: usize = 160;

impl Model {
    /// The words of a notice, on one line without a control character.
    pub fn notice(&self) -> String {
        let waits = |held: &&super::Held| held.state == CallState::Waiting;
        let Some(last) = self.calls.iter().rev().find(waits) else { return "no call waits".to_owned() };
        let (server, effect) = (cell(Tone::Ours, &last.snapshot.server), cell(Tone::Ours, &last.snapshot.effect));
        let more = match self.waiting() {
            0 | 1 => String::new(),
            waiting => format!(" · {} more wait", waiting - 1),
        };
        let room = LONGEST.saturating_sub(more.len());
        let row = server.and(Tone::Ours, ": ").joined(effect).clipped(room).joined(Row::of(Tone::Ours, more));
        row.text()
    }
}
