//! How commands print: times, width, colours, a pager, as git does it; JSON rows; and foreign text, made visible first.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};

use serde_json::Value;

use crate::audit::moment::Clock;
use crate::behavior::hazards::lookalike::is_hidden;
use crate::cli::error::{Error, Exit};
use crate::cli::prose::Prose;
use crate::home::places::{Places, under};
use crate::text::columns::{Columns, fitted};
use crate::text::plain::json_escaped;
use crate::text::row::{Row, Tone};

pub(super) use crate::text::plain::{visible, visible_lines};

/// How many columns a list has that goes to no terminal.
const COLUMNS: usize = 80;
/// Wider than any list.
const WIDE: usize = 4096;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct LookOptions {
    /// Show each row in full, hashes too, however wide
    #[arg(long)]
    pub wide: bool,
    /// Do not pipe the list into a pager ($PAGER, less)
    #[arg(long)]
    pub no_pager: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Here<'p> {
    pub places: &'p Places,
    /// Milliseconds since 1970, UTC.
    pub now: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look<'h> {
    pub clock: Clock,
    pub width: usize,
    pub colours: Colours,
    /// What `--home` named: every command that is offered to the reader names it too.
    pub home: Option<&'h Path>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    None,
    Ansi,
}

impl<'h> Look<'h> {
    pub const fn plain(now: i64) -> Self {
        Self { clock: Clock::utc(now), width: COLUMNS, colours: Colours::None, home: None }
    }

    pub(super) fn here(Here { places, now }: Here<'h>) -> Self {
        let columns = columns(&io::stdout());
        let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colours = if columns.is_some() && !is_set("NO_COLOR") && !is_dumb { Colours::Ansi } else { Colours::None };
        Self { clock: local(now), width: columns.unwrap_or(COLUMNS), colours, home: places.root() }
    }

    #[must_use]
    pub const fn wide(self, wide: bool) -> Self {
        Self { width: if wide { WIDE } else { self.width }, ..self }
    }

    /// With everything that a row has, where it goes to no terminal: its reader may be a program.
    #[must_use]
    pub(super) fn whole_in_a_pipe(self) -> Self {
        self.wide(columns(&io::stdout()).is_none())
    }

    #[must_use]
    pub const fn utc(self, utc: bool) -> Self {
        Self { clock: if utc { Clock::utc(self.clock.now) } else { self.clock }, ..self }
    }

    pub(super) fn hint(&self, hint: &str) -> String {
        under(self.home, hint)
    }

    pub const fn is_wide(&self) -> bool {
        self.width >= WIDE
    }

    pub(super) fn print(&self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        let mut line = String::new();
        for run in &row.runs {
            match code(run.tone).filter(|_| self.colours == Colours::Ansi) {
                Some(code) => line.push_str(&format!("\u{1b}[{code}m{}\u{1b}[m", run.text)),
                None => line.push_str(&run.text),
            }
        }
        writeln!(out, "{}", line.trim_end())
    }
}

/// How many columns this terminal has; `None` where it is none.
pub(super) fn columns(stream: &impl IsTerminal) -> Option<usize> {
    let size = || crossterm::terminal::size().map_or(COLUMNS, |(columns, _)| usize::from(columns).max(40));
    stream.is_terminal().then(size)
}

fn code(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Ours | Tone::Foreign => None,
        Tone::Strong => Some("1"),
        Tone::Quiet | Tone::Border => Some("2"),
        Tone::Escape => Some("1;35"),
        Tone::Key => Some("36"),
        Tone::Good => Some("32"),
        Tone::Warn => Some("33"),
        Tone::Danger => Some("31"),
        Tone::Loud => Some("1;7;31"),
    }
}

impl Look<'_> {
    /// Prints a list, one row a line under its titles. A title that begins with `>` is over numbers, which are never
    /// cut. Where the list is too wide, the last columns are cut first, then left out.
    pub(super) fn list<const N: usize>(
        &self,
        titles: [&'static str; N],
        rows: &[[Row; N]],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        const GAP: usize = 2;
        const LEAST: usize = 8;
        let is_number = titles.map(|title| title.starts_with('>'));
        let titles = titles.map(|title| title.trim_start_matches('>'));
        let wants: [(usize, usize, usize); N] = std::array::from_fn(|at| {
            let widest = rows.iter().map(|row| row[at].width()).chain([titles[at].len()]).max().unwrap_or_default();
            (if at == 0 { 0 } else { GAP }, widest, if is_number[at] { widest } else { LEAST })
        });
        let widths = fitted(self.width, wants, &(2..N).rev().collect::<Vec<_>>());
        let mut columns = Columns::default();
        for (at, (width, is_number)) in widths.into_iter().zip(is_number).enumerate() {
            let gap = if at == 0 { 0 } else { GAP };
            columns = if is_number { columns.right(gap, width, "") } else { columns.left(gap, width, "") };
        }
        let titles = titles.map(|title| Row::of(Tone::Quiet, title));
        for row in std::iter::once(&titles).chain(rows) {
            self.print(&columns.row(row.iter().cloned()), out)?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    Top,
    /// The end: the newest is the last.
    Newest,
}

pub(super) fn paged(
    options: LookOptions,
    first: First,
    out: &mut dyn Write,
    print: impl FnOnce(&mut dyn Write) -> Exit,
) -> Exit {
    let pager = if options.no_pager || !io::stdout().is_terminal() { None } else { pager(first) };
    let Some((mut child, mut input)) = pager else { return print(out) };
    let mut prose = Prose::new(&mut input, columns(&io::stdout()).filter(|_| !options.wide));
    let printed = print(&mut prose);
    drop(input);
    // The pager ends when its reader quits it.
    let _ = child.wait();
    match printed {
        // The reader quit before the end: nothing is wrong.
        Err(Error::Unheard) => Ok(ExitCode::SUCCESS),
        printed => printed,
    }
}

/// The user's pager, started; `None` where they want none, or there is none: then the list is printed as it is.
fn pager(first: First) -> Option<(Child, ChildStdin)> {
    let named = env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    let mut words = named.split_whitespace();
    let program = words.next().filter(|program| *program != "cat")?;
    let mut command = Command::new(program);
    if env::var_os("LESS").is_none() {
        // A list that fits the screen stays on it, and colours are shown.
        command.env("LESS", "FRX");
    }
    if first == First::Newest && program == "less" {
        command.arg("+G");
    }
    let mut child = command.args(words).stdin(Stdio::piped()).spawn().ok()?;
    let input = child.stdin.take()?;
    Some((child, input))
}

pub(super) fn local(now: i64) -> Clock {
    let at = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    Clock { now, offset: jiff::tz::TimeZone::system().to_offset(at).seconds() }
}

pub(super) fn shown(path: &Path) -> String {
    visible(&path.display().to_string())
}

pub(super) fn clipped(text: &str, widest: usize) -> String {
    Row::of(Tone::Ours, text).clipped(widest).text()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonForm {
    Array,
    Lines,
}

/// The version of every JSON object that a command prints: it stays while keys are only added.
const VERSION: &str = "\"version\":1";

pub(super) fn json_rows<T: ToString>(
    rows: impl IntoIterator<Item = T>,
    form: JsonForm,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut rows = rows.into_iter().map(|row| versioned(&row.to_string()));
    match form {
        JsonForm::Lines => rows.try_for_each(|row| writeln!(out, "{row}")),
        JsonForm::Array => {
            let rows: Vec<String> = rows.collect();
            if rows.is_empty() { writeln!(out, "[]") } else { writeln!(out, "[\n{}\n]", rows.join(",\n")) }
        }
    }
}

pub(super) fn json_object(mut object: Value, out: &mut dyn Write) -> io::Result<()> {
    if let Value::Object(fields) = &mut object {
        fields.shift_insert(0, "version".to_owned(), 1.into());
    }
    writeln!(out, "{}", pretty(&object))
}

pub(super) fn versioned(object: &str) -> String {
    match object.strip_prefix('{') {
        Some(rest) if rest != "}" => visible_json(&format!("{{{VERSION},{rest}")),
        _ => visible_json(object),
    }
}

pub(super) fn pretty(value: &Value) -> String {
    format!("{value:#}").lines().map(visible_json).collect::<Vec<_>>().join("\n")
}

/// JSON text with every hidden character escaped: the same value, fit for a terminal.
pub(super) fn visible_json(json: &str) -> String {
    json_escaped(json, |c| c.is_control() || is_hidden(c))
}
