//! What the console needs of the world beside its terminal: files, clock, the editor on a private file, notices, colours.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use super::model::{Edit, Palette};
use super::settings::{Notice, Pointer};
use crate::home::places::Places;
use crate::link::desktop::Desktop;

pub use super::model::Process;

#[derive(Debug)]
pub struct Outside {
    pub places: Places,
    pub now: fn() -> i64,
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

pub fn editor() -> String {
    let named = |name| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}

pub fn run_editor(editor: &str, file: &Path) -> std::io::Result<ExitStatus> {
    // A shell splits $EDITOR as every other program does; the file's name is an argument, not part of the command.
    Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file).status()
}

/// Opens `text` with `editor` (a command line as in `$EDITOR`) in a file of mode 0600 under `folder`.
pub fn edit(editor: &str, folder: &Path, text: &str) -> Edit {
    let file = match Draft::write(folder, text) {
        Ok(file) => file,
        Err(error) => {
            return Edit::Failed(format!("The editor's file could not be written in {}: {error}.", folder.display()));
        }
    };
    match run_editor(editor, &file.path) {
        Ok(status) if status.success() => {}
        Ok(status) => {
            return Edit::Failed(format!("The editor ended with {status}; nothing was sent."));
        }
        Err(error) => {
            return Edit::Failed(format!(
                "The editor could not be started: {error}. Set EDITOR to an editor that can."
            ));
        }
    }
    match std::fs::read_to_string(&file.path) {
        Ok(after) if after == text => Edit::Unchanged,
        Ok(after) => Edit::Text(after),
        Err(error) => Edit::Failed(format!("The edited file could not be read back: {error}; nothing was sent.")),
    }
}

struct Draft {
    path: PathBuf,
}

impl Draft {
    fn write(folder: &Path, text: &str) -> std::io::Result<Self> {
        let mut number = 0_u32;
        loop {
            let path = folder.join(format!("mcp-approve-{}-{number}.json", std::process::id()));
            let open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
            match open {
                Ok(mut file) => {
                    let draft = Self { path };
                    file.write_all(text.as_bytes())?;
                    return Ok(draft);
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < 100 => number += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // If the file cannot be removed, nothing more can be done; it is private and in a temporary folder.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// If none was chosen: none under NO_COLOR (<https://no-color.org>), else what suits the background, if the terminal says which.
pub(super) fn palette(theme: Option<Palette>) -> Palette {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    // `15;0`: foreground and background, as rxvt, konsole and others set it.
    let ground = std::env::var("COLORFGBG").unwrap_or_default();
    match (theme, ground.rsplit(';').next()) {
        // Yellow cannot be read there, and the colours for it have no green.
        (Some(Palette::Safe), Some("7" | "15")) => Palette::Light,
        (Some(palette), _) => palette,
        (None, _) if unwanted => Palette::Monochrome,
        (None, Some("7" | "15")) => Palette::Light,
        (None, _) => Palette::Colours,
    }
}

/// How to notify, and what is wrong with the wish. No terminal is asked in two ways: some would show the notice twice.
pub(super) fn notice(wanted: Option<Notice>) -> (Notice, Option<String>) {
    let is = |name: &str, words: &[&str]| {
        std::env::var(name).is_ok_and(|value| words.iter().any(|word| value.starts_with(word)))
    };
    let asked = match wanted {
        Some(Notice::Desktop) if !Desktop::default().is_there() => {
            let hint = "install it (libnotify), or write `notice = \"auto\"`";
            let says = format!("`notice = \"desktop\"` needs notify-send or osascript in /usr/bin or /bin; {hint}");
            return (Notice::Off, Some(says));
        }
        Some(notice) => notice,
        // A multiplexer swallows what is meant for the terminal, or shows it as text.
        None if is("TERM", &["screen", "tmux"]) => own_desktop(),
        None if is("TERM_PROGRAM", &["iTerm", "WezTerm", "ghostty"]) => Notice::Osc9,
        None if is("TERM", &["xterm-kitty"]) => Notice::Osc9,
        None if is("TERM", &["foot", "rxvt"]) => Notice::Osc777,
        None => own_desktop(),
    };
    (asked, None)
}

/// The desktop's program, where the operator sits at this very desktop.
fn own_desktop() -> Notice {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let here = cfg!(target_os = "macos") || set("DISPLAY") || set("WAYLAND_DISPLAY");
    if here && !set("SSH_CONNECTION") && Desktop::default().is_there() { Notice::Desktop } else { Notice::Off }
}
