//! How soon the screen changes by itself. Owns no clock.

use super::{Model, Screen, Unarmed};

impl Model {
    /// How soon the screen changes by itself, in milliseconds; `None` when only a message can change it.
    pub fn next_tick(&self) -> Option<u64> {
        match self.armed() {
            Err(Unarmed::TooSoon) => Some(100),
            _ if self.is_arming() && self.overlay.is_some() => Some(100),
            _ if self.note_until.is_some() => Some(1000),
            _ => match self.screen {
                Screen::Queue | Screen::Detail if self.calls.is_empty() => None,
                Screen::Activity => None,
                Screen::Queue | Screen::Detail | Screen::Log | Screen::Tools | Screen::Rules | Screen::Servers => {
                    Some(1000)
                }
            },
        }
    }
}
