//! Opens the console with settings from the operator's files, the terminal and the environment. Draws nothing.

use super::editor;
use super::model::Palette;
use super::model::{Settings, Tour};
use super::outside::{Outside, Process};
use super::run::{self, Begin, End, RunError};
use super::settings::{self, Choice, Notice};
use crate::home::places::Places;
use crate::home::user;
use crate::link::desktop;
use crate::pins::page::Page;

/// Opens the console on standard input and output, until the operator leaves or the terminal goes away. `now` is milliseconds since
/// 1970.
///
/// # Errors
/// The terminal or the run folder is not usable.
pub fn open(places: &Places, now: fn() -> i64, process: Process) -> Result<(), RunError> {
    begin(places, now, process, Begin::Waiting).map(drop)
}

/// Shows the page of one server, until the operator answers it or leaves it.
///
/// # Errors
/// As [`open`].
pub fn page(places: &Places, now: fn() -> i64, page: Page) -> Result<End, RunError> {
    begin(places, now, Process::Own, Begin::Page(Box::new(page)))
}

fn begin(places: &Places, now: fn() -> i64, process: Process, begin: Begin) -> Result<End, RunError> {
    let (wanted, mut problems) = settings::load(places);
    let (notice, missing) = notice(wanted.notice);
    problems.extend(missing);
    let settings = Settings {
        palette: palette(wanted.theme),
        offset: jiff::Zoned::now().offset().seconds(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        home: user::current().ok().and_then(|user| user.home.into_os_string().into_string().ok()),
        root: places.root().map(Into::into),
        keys: wanted.keys,
        tour: if places.tour_seen().exists() { Tour::Dismissed } else { Tour::Shown },
        manner: wanted.manner,
        confirmation: wanted.confirmation,
        process,
        problems,
    };
    let (places, editor, mouse) = (places.clone(), editor::named(), wanted.mouse);
    let outside = Outside { places, now, editor, notice, mouse, process };
    run::run(settings, &outside, begin)
}

/// The theme. If none was chosen: no colours if the environment wants none (<https://no-color.org>), otherwise what
/// suits the terminal's background, if the terminal names it.
fn palette(theme: Choice<Palette>) -> Palette {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    // `15;0`: foreground and background, as rxvt, konsole and others set it.
    let ground = std::env::var("COLORFGBG").unwrap_or_default();
    match (theme, ground.rsplit(';').next()) {
        (Choice::Chosen(palette), _) => palette,
        (Choice::Auto, _) if unwanted => Palette::Monochrome,
        (Choice::Auto, Some("7" | "15")) => Palette::Light,
        (Choice::Auto, _) => Palette::Colours,
    }
}

/// How a notice is asked for, and what is wrong with the operator's wish. No terminal is asked in two ways, because
/// some would show the notice twice.
fn notice(wanted: Choice<Notice>) -> (Notice, Option<String>) {
    let is = |name: &str, words: &[&str]| {
        std::env::var(name).is_ok_and(|value| words.iter().any(|word| value.starts_with(word)))
    };
    let asked = match wanted {
        Choice::Chosen(Notice::Desktop) if !desktop::is_there() => {
            let hint = "install it (libnotify), or write `notice = \"auto\"`";
            let says = format!("`notice = \"desktop\"` needs notify-send or osascript in /usr/bin or /bin; {hint}");
            return (Notice::Off, Some(says));
        }
        Choice::Chosen(notice) => notice,
        // A multiplexer swallows what is meant for the terminal, or shows it as text.
        Choice::Auto if is("TERM", &["screen", "tmux"]) => own_desktop(),
        Choice::Auto if is("TERM_PROGRAM", &["iTerm", "WezTerm", "ghostty"]) => Notice::Osc9,
        Choice::Auto if is("TERM", &["xterm-kitty"]) => Notice::Osc9,
        Choice::Auto if is("TERM", &["foot", "rxvt"]) => Notice::Osc777,
        Choice::Auto => own_desktop(),
    };
    (asked, None)
}

/// The desktop's program, where the operator sits at this very desktop.
fn own_desktop() -> Notice {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let here = cfg!(target_os = "macos") || set("DISPLAY") || set("WAYLAND_DISPLAY");
    if here && !set("SSH_CONNECTION") && desktop::is_there() { Notice::Desktop } else { Notice::Off }
}
