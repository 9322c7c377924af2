//! What is fixed for one run of the console, and what of it a person may change while it runs; what a tone looks like.

use std::path::PathBuf;

use ratatui::style::{Color, Modifier, Style};

use crate::console::keymap::Keys;
use crate::text::row::Tone;

#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub palette: Palette,
    /// The local time's distance from UTC, in seconds.
    pub offset: i32,
    pub version: String,
    /// The operator's name, as records have it.
    pub operator: String,
    /// The operator's home, for rules about paths.
    pub home: Option<String>,
    pub root: Option<PathBuf>,
    pub keys: Keys,
    /// Whether this is the first console that this operator opens.
    pub tour: Tour,
    pub manner: Manner,
    pub confirmation: Confirmation,
    pub process: Process,
    pub reach: Reach,
    /// What is wrong with `[console]` in config.toml; the defaults replace it.
    pub problems: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Process {
    #[default]
    Own,
    /// Its own, and the demo ends with it.
    Demo,
    /// A wrapper's (`--inline`): stopping it would stop the server's pipe.
    Shared,
}

/// Whose calls are here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// This user's, on this machine.
    #[default]
    Own,
    /// Those of all machines of a desk: they are approved or denied, and nothing else is done to them or their machines from here.
    Desk,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tour {
    #[default]
    Dismissed,
    Shown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    #[default]
    Rings,
    Quiet,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirmation {
    #[default]
    Key,
    /// A word of the effect line, typed letter by letter.
    Word,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    #[default]
    Colours,
    /// For a light background, where yellow and green are hard to read.
    Light,
    /// Without red against green, for a dark background: cyan, yellow and pink.
    Safe,
    /// `NO_COLOR`: weight, dimness and reversal only.
    Monochrome,
}

/// Red and magenta as they are named are too dark on black in most terminals.
const RED: Color = Color::Indexed(203);
const PINK: Color = Color::Indexed(213);

impl Palette {
    /// How a tone looks. No meaning depends on the colour alone: risk has its word and shape, escapes their brackets.
    pub fn style(self, tone: Tone) -> Style {
        let plain = Style::new();
        let (colour, style) = match tone {
            Tone::Ours | Tone::Foreign => (None, plain),
            Tone::Strong => (None, plain.add_modifier(Modifier::BOLD)),
            Tone::Quiet | Tone::Border => (None, plain.add_modifier(Modifier::DIM)),
            Tone::Escape => (Some(PINK), plain.add_modifier(Modifier::BOLD)),
            Tone::Key => (Some(Color::Cyan), plain.add_modifier(Modifier::BOLD)),
            Tone::Good => (Some(Color::Green), plain),
            Tone::Warn => (Some(Color::Yellow), plain),
            Tone::Danger => (Some(RED), plain.add_modifier(Modifier::BOLD)),
            Tone::Loud => {
                let loud = Modifier::BOLD.union(Modifier::REVERSED);
                (Some(RED), plain.add_modifier(loud))
            }
        };
        match colour.and_then(|colour| self.colour(colour)) {
            Some(colour) => style.fg(colour),
            None => style,
        }
    }

    /// The colour in place of one of the dark theme. By name, so that the terminal decides how it looks, where no terminal shows
    /// that name too dark to be read.
    fn colour(self, dark: Color) -> Option<Color> {
        match self {
            Self::Colours => Some(dark),
            Self::Light => Some(match dark {
                Color::Yellow => Color::Magenta,
                Color::Cyan | Color::Green => Color::Blue,
                RED | PINK => Color::Red,
                other => other,
            }),
            Self::Safe => Some(match dark {
                Color::Green => Color::Cyan,
                RED => PINK,
                PINK => Color::Yellow,
                other => other,
            }),
            Self::Monochrome => None,
        }
    }
}
