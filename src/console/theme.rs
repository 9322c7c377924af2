//! Colours and shapes: what a tone looks like, and how risk is marked. ANSI names only, so that the terminal's own theme rules.

use ratatui::style::{Color, Modifier, Style};

use super::row::{Run, Tone};
use crate::behavior::taxonomy::Mutability;
use crate::gate::snapshot::Snapshot;

/// Whether the terminal is to have colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    #[default]
    Colours,
    /// For a light background, where yellow and green are hard to read.
    Light,
    /// Without red against green: blue, yellow and magenta.
    Safe,
    /// `NO_COLOR`: weight, dimness and reversal only.
    Monochrome,
}

impl Palette {
    /// How a tone looks. No meaning hangs on the colour alone: risk has its word and shape, escapes their brackets.
    pub fn style(self, tone: Tone) -> Style {
        let plain = Style::new();
        let (colour, style) = match tone {
            Tone::Ours | Tone::Foreign => (None, plain),
            Tone::Strong => (None, plain.add_modifier(Modifier::BOLD)),
            Tone::Quiet | Tone::Border => (None, plain.add_modifier(Modifier::DIM)),
            Tone::Escape => (Some(Color::Magenta), plain.add_modifier(Modifier::BOLD)),
            Tone::Key => (Some(Color::Cyan), plain.add_modifier(Modifier::BOLD)),
            Tone::Good => (Some(Color::Green), plain),
            Tone::Warn => (Some(Color::Yellow), plain),
            Tone::Danger => (Some(Color::Red), plain.add_modifier(Modifier::BOLD)),
            Tone::Loud => {
                let loud = Modifier::BOLD.union(Modifier::REVERSED);
                (Some(Color::Red), plain.add_modifier(loud))
            }
        };
        match colour.and_then(|colour| self.colour(colour)) {
            Some(colour) => style.fg(colour),
            None => style,
        }
    }

    /// What stands for a colour of the dark theme. ANSI names only: the terminal says how they look.
    fn colour(self, dark: Color) -> Option<Color> {
        match self {
            Self::Colours => Some(dark),
            Self::Light => Some(match dark {
                Color::Yellow => Color::Magenta,
                Color::Cyan | Color::Green => Color::Blue,
                Color::Magenta => Color::Red,
                other => other,
            }),
            Self::Safe => Some(match dark {
                Color::Green => Color::Blue,
                Color::Red => Color::LightMagenta,
                Color::Magenta => Color::LightYellow,
                other => other,
            }),
            Self::Monochrome => None,
        }
    }
}

/// How much care a call asks for. Ordered: the most dangerous is the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// It only reads.
    Pure,
    /// It changes something; one key may approve it.
    Mutates,
    /// One careless key must not approve it.
    Danger,
}

impl Risk {
    /// The risk of a held call.
    pub fn of(snapshot: &Snapshot) -> Self {
        match (&snapshot.danger, snapshot.identity.mutability) {
            (Some(_), _) => Self::Danger,
            (None, Mutability::Mutates) => Self::Mutates,
            (None, Mutability::Pure) => Self::Pure,
        }
    }

    /// Shape and word, always together.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Pure => "○ PURE",
            Self::Mutates => "● MUTATES",
            Self::Danger => "◆ DANGER",
        }
    }

    /// Shape and word in their tone.
    pub fn run(self) -> Run {
        let tone = match self {
            Self::Pure => Tone::Good,
            Self::Mutates => Tone::Warn,
            Self::Danger => Tone::Danger,
        };
        Run { text: self.mark().to_owned(), tone }
    }
}
