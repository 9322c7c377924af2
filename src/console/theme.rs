//! Colours: what a tone looks like. ANSI names only, so that the terminal's own theme rules.

use ratatui::style::{Color, Modifier, Style};

use crate::text::row::Tone;

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
    /// How a tone looks. No meaning depends on the colour alone: risk has its word and shape, escapes their brackets.
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

    /// The colour in place of one of the dark theme. ANSI names only: the terminal decides how they look.
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
