//! Shell commands in arguments: cut as a shell cuts them, ranked by the riskiest word, never called harmless.
//!
//! The reading is for the eye and for rules that ask or deny. Nothing here lowers anything: a shell has too many ways.

use std::ops::Range;

use super::effect::Meaning;
use super::reading::{self, Part, Weight, WordKind};
use crate::behavior::words::{among, section};
use crate::wire::words::words;

/// One word of a command, quotes taken off.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ShellWord {
    text: String,
    start: usize,
    end: usize,
}

/// One simple command, and how it hangs together with the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Command {
    words: Vec<ShellWord>,
    /// It reads what the command before writes.
    piped: bool,
    writes: Vec<ShellWord>,
    /// What joins it to the one before: `&&`, `;`, `$(`.
    joint: &'static str,
}

impl Command {
    /// How risky it is; `all` are the commands it is among, `at` its place there.
    fn ranked(&self, at: usize, all: &[Self]) -> Ranked {
        let words: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        let before = at.checked_sub(1).filter(|_| self.piped).and_then(|before| all.get(before));
        let before = before.and_then(|before| before.words.first()).map(|word| word.text.as_str());
        let ranked = rank_of(&words, before, 0);
        match self.writes.first() {
            Some(file) if ranked.rank < Rank::Writes => {
                let runs = words.first().unwrap_or(&"a command");
                Ranked { rank: Rank::Writes, says: format!("runs {runs}, and writes to {}", file.text), ..ranked }
            }
            Some(_) | None => ranked,
        }
    }

    fn range(&self) -> Range<usize> {
        let words = || self.words.iter().chain(&self.writes);
        let start = words().map(|word| word.start).min().unwrap_or_default();
        start..words().map(|word| word.end).max().unwrap_or(start)
    }
}

/// The longest text that is cut into commands, in bytes; a longer one counts as a script that runs.
const MAX_BYTES: usize = 64 * 1024;
/// The most commands that are ranked one by one; a text with more also counts as a script.
const MOST: usize = 1_000;

/// The commands of a line, each with how risky it is; `None` where they are too many to be read.
fn ranked(text: &str) -> Option<Vec<(Command, Ranked)>> {
    let commands = cut(text).filter(|commands| commands.len() <= MOST)?;
    let ranked: Vec<Ranked> = (0..commands.len()).map(|at| commands[at].ranked(at, &commands)).collect();
    Some(commands.into_iter().zip(ranked).collect())
}

/// What a line for a shell does: its riskiest command first.
pub fn read(text: &str) -> Meaning {
    let Some(commands) = ranked(text) else { return Meaning::runs(head(text), "runs a script too long to be read") };
    let worst = commands.iter().reduce(|worst, one| if one.1.rank > worst.1.rank { one } else { worst });
    let Some((command, Ranked { says, .. })) = worst else { return Meaning::runs(head(text), "runs an empty command") };
    let says = match commands.len() - 1 {
        0 => says.clone(),
        1 => format!("{says}, and 1 more command"),
        more => format!("{says}, and {more} more commands"),
    };
    Meaning::runs(text.get(command.range()).unwrap_or(text), says)
}

/// What an argument vector does. Its words stay as they are: no shell cuts them again.
pub fn read_words(words: &[&str]) -> Meaning {
    let says = rank_of(words, None, 0).says;
    Meaning::runs(head(&words.join(" ")), says)
}

/// Whether a text is plainly a command that destroys or gives somebody control, or has too many commands to be read.
pub fn plainly_changes(text: &str) -> bool {
    text.len() <= MAX_BYTES
        && ranked(text).is_none_or(|commands| commands.iter().any(|(_, ranked)| ranked.rank >= Rank::Destroys))
}

/// The commands of a line, each with its words; none where they are too many to be read.
pub fn parts(text: &str) -> Vec<Part> {
    let part = |(command, Ranked { rank, says, telling }): (Command, Ranked)| {
        let weight = match rank {
            Rank::Runs => Weight::Plain,
            Rank::Writes | Rank::Reaches => Weight::Changes,
            Rank::Administers | Rank::Destroys | Rank::GivesControl => Weight::Grave,
        };
        let word = |(at, word): (usize, &ShellWord)| {
            let kind = if telling.contains(&at) { WordKind::Verb } else { WordKind::Plain };
            reading::Word(word.start, word.end, kind)
        };
        let mut words: Vec<reading::Word> = command.words.iter().enumerate().map(word).collect();
        words.extend(command.writes.iter().map(|word| reading::Word(word.start, word.end, WordKind::Target)));
        words.sort_by_key(|word| word.0);
        let Range { start, end } = command.range();
        Part { says, object: None, weight, start, end, joint: command.joint.to_owned(), words }
    };
    ranked(text).unwrap_or_default().into_iter().map(part).collect()
}

fn head(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Cuts a line into simple commands; `None` where it is too long. Substitutions are commands of their own, also inside quotes.
fn cut(text: &str) -> Option<Vec<Command>> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let mut cutter = ShellCutter { text, commands: vec![Command::default()], ..ShellCutter::default() };
    while cutter.at < text.len() {
        cutter.step();
    }
    cutter.finish();
    cutter.commands.retain(|command| !command.words.is_empty() || !command.writes.is_empty());
    Some(cutter.commands)
}

#[derive(Default)]
struct ShellCutter<'a> {
    text: &'a str,
    at: usize,
    commands: Vec<Command>,
    current: usize,
    word: Option<ShellWord>,
    quoted: bool,
    redirected: bool,
    /// For each substitution we are in: what closes it, and the quoting and the command to go back to.
    open: Vec<(u8, bool, usize)>,
}

impl ShellCutter<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn step(&mut self) {
        let (byte, next, plain) = (self.byte(self.at), self.byte(self.at + 1), !self.quoted);
        let closes = self.open.last().is_some_and(|(closer, ..)| *closer == byte) && (plain || byte == b'`');
        match byte {
            _ if closes => {
                self.finish();
                if let Some((_, quoted, current)) = self.open.pop() {
                    (self.quoted, self.current) = (quoted, current);
                }
                self.at += 1;
            }
            b'`' => self.opens(b'`', "`"),
            b'$' if next == b'(' => self.opens(b')', "$("),
            b'<' if next == b'(' => self.opens(b')', "<("),
            b'>' if next == b'(' => self.opens(b')', ">("),
            b'(' if plain => self.opens(b')', "("),
            b'\\' => {
                let c = self.text[self.at + 1..].chars().next();
                if let Some(c) = c.filter(|c| *c != '\n') {
                    self.push(c, 1);
                }
                self.at += 1 + c.map_or(0, char::len_utf8);
            }
            b'"' => {
                self.quoted = !self.quoted;
                self.begun();
                self.at += 1;
            }
            b'\'' if plain => {
                let from = self.at + 1;
                let rest = &self.text.as_bytes()[from..];
                let end = memchr::memchr(b'\'', rest).map_or(self.text.len(), |found| from + found);
                let inside = &self.text[from..end];
                self.begun().text.push_str(inside);
                self.at = (end + 1).min(self.text.len());
                let at = self.at;
                self.begun().end = at;
            }
            b' ' | b'\t' if plain => {
                self.finish_word();
                self.at += 1;
            }
            b'#' if plain && self.word.is_none() => {
                let rest = &self.text.as_bytes()[self.at..];
                self.at = memchr::memchr(b'\n', rest).map_or(self.text.len(), |found| self.at + found);
            }
            b'>' if plain => {
                // The number before it is a file descriptor, not a word: `2>file`.
                if self.word.as_ref().is_some_and(|word| word.text.bytes().all(|byte| byte.is_ascii_digit())) {
                    self.word = None;
                }
                self.finish_word();
                self.at += 1 + usize::from(matches!(next, b'>' | b'|'));
                // `>&2` duplicates a file descriptor and writes no file.
                self.redirected = self.byte(self.at) != b'&';
                self.at += usize::from(!self.redirected);
            }
            b';' | b'&' | b'|' | b'\n' | b'\r' | b')' if plain => self.next_command(byte, next),
            b'{' | b'}' if plain && self.word.is_none() => self.next_command(byte, next),
            _ => {
                let c = self.text[self.at..].chars().next().unwrap_or(' ');
                self.push(c, 0);
                self.at += c.len_utf8();
            }
        }
    }

    fn next_command(&mut self, byte: u8, next: u8) {
        self.finish();
        let joint = match (byte, next) {
            (b'|', b'|') => "||",
            (b'|', b'&') => "|&",
            (b'&', b'&') => "&&",
            (b'|', _) => "|",
            (b'&', _) => "&",
            (b';', _) => ";",
            _ => "",
        };
        self.commands.push(Command { piped: byte == b'|' && next != b'|', joint, ..Command::default() });
        self.current = self.commands.len() - 1;
        self.at += joint.len().max(1);
    }

    fn opens(&mut self, closer: u8, joint: &'static str) {
        self.finish();
        self.open.push((closer, self.quoted, self.current));
        self.quoted = false;
        self.commands.push(Command { joint, ..Command::default() });
        self.current = self.commands.len() - 1;
        self.at += joint.len();
    }

    fn begun(&mut self) -> &mut ShellWord {
        let at = self.at;
        let word = self.word.get_or_insert_with(|| ShellWord { text: String::new(), start: at, end: at + 1 });
        word.end = word.end.max(at + 1);
        word
    }

    fn push(&mut self, c: char, skipped: usize) {
        let end = self.at + skipped + c.len_utf8();
        let word = self.begun();
        word.text.push(c);
        word.end = end;
    }

    fn finish_word(&mut self) {
        let (Some(done), Some(command)) = (self.word.take(), self.commands.get_mut(self.current)) else { return };
        if std::mem::take(&mut self.redirected) {
            command.writes.push(done);
        } else if !done.text.is_empty() || command.words.is_empty() {
            command.words.push(done);
        }
    }

    fn finish(&mut self) {
        self.finish_word();
        self.redirected = false;
    }
}

const WORDS: &str = include_str!("../../../assets/words/shell.txt");
/// Rank; programs; words of which one must be behind them, if there are any; what is said of that. The first row that fits counts.
const RISKY: &str = section(WORDS, "risky");

words! {
    /// How risky a command is, from harmless to irreversible.
    Rank {
        Runs = "runs",
        Writes = "writes",
        Reaches = "reaches",
        /// It starts, stops, installs, or changes who may do what.
        Administers = "administers",
        /// It removes what cannot be brought back.
        Destroys = "destroys",
        /// It runs what somebody else wrote, or as somebody else.
        GivesControl = "gives-control",
    }
}

struct Ranked {
    rank: Rank,
    says: String,
    /// Which of its words tell: programs, and what makes them risky.
    telling: Vec<usize>,
}

impl Ranked {
    /// The same command behind `skipped` words, of which the one at `wrapper` started it.
    fn behind(mut self, skipped: usize, wrapper: usize) -> Self {
        self.telling.iter_mut().for_each(|at| *at += skipped);
        self.telling.insert(0, wrapper);
        self
    }
}

/// The rank of a command given as its words. `before` writes into it through a pipe.
fn rank_of(all: &[&str], before: Option<&str>, depth: usize) -> Ranked {
    let at = all.iter().take_while(|word| is_assignment(word)).count();
    let (Some(first), rest) = (all.get(at), all.get(at + 1..).unwrap_or_default()) else {
        return Ranked { rank: Rank::Runs, says: "sets variables of a shell".to_owned(), telling: Vec::new() };
    };
    let name = base_name(first);
    let only = |rank: Rank, says: String| Ranked { rank, says, telling: vec![at] };
    // The command behind the first word that is none of the wrapper's own.
    let behind = |is_own: fn(&str) -> bool| {
        let inner = rest.iter().position(|word| !is_own(word))?;
        Some((inner, rank_of(rest.get(inner..)?, before, depth + 1).behind(at + 1 + inner, at)))
    };
    if depth > 8 {
        return only(Rank::GivesControl, "runs commands inside commands".to_owned());
    }
    if among(name, const { section(WORDS, "as-another") }) {
        let inner = behind(|word| word.starts_with('-'));
        let what = inner.as_ref().map_or("a shell", |(inner, _)| rest[*inner]);
        let (rank, says) = (Rank::GivesControl, format!("runs {what} as another user, with {name}"));
        return match inner {
            Some((_, inner)) => Ranked { rank, says, ..inner },
            None => only(rank, says),
        };
    }
    if among(name, const { section(WORDS, "wrappers") }) {
        let inner = behind(|word| word.starts_with('-') || is_assignment(word) || is_amount(word));
        return inner.map_or_else(|| only(Rank::Runs, format!("runs {name}")), |(_, inner)| inner);
    }
    let is_shell = among(name, const { section(WORDS, "shells") });
    if let Some(before) =
        before.map(base_name).filter(|_| is_shell || among(name, const { section(WORDS, "interpreters") }))
    {
        let fetched = among(before, const { section(WORDS, "fetchers") });
        if fetched || among(before, const { section(WORDS, "decoders") }) {
            let what = if fetched { "a download" } else { "decoded text" };
            return only(Rank::GivesControl, format!("pipes {what} into {name}"));
        }
    }
    let code = rest.iter().position(|word| among(word, "-c /c /C -Command -command -lc -ic -xc"));
    if let Some(code) = code.and_then(|flag| rest.get(flag + 1)).filter(|_| is_shell) {
        let words = |inner: &Command| inner.words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
        let inner = cut(code).unwrap_or_default();
        let ranked = inner.iter().map(|inner| {
            let words = words(inner);
            rank_of(&words.iter().map(String::as_str).collect::<Vec<_>>(), None, depth + 1)
        });
        let worst = ranked.reduce(|worst, one| if one.rank > worst.rank { one } else { worst });
        return worst.map_or_else(|| only(Rank::Runs, format!("runs {name}")), |worst| only(worst.rank, worst.says));
    }
    for row in RISKY.lines() {
        let parts: Vec<&str> = row.splitn(4, '|').map(str::trim).collect();
        let [rank, names, with, why] = parts[..] else { continue };
        if !among(name, names) || !(with.is_empty() || with.split(' ').any(|with| has(rest, with))) {
            continue;
        }
        let shown: Vec<usize> = (0..rest.len()).filter(|at| is_shown(rest[*at], with)).take(2).collect();
        let words: String = shown.iter().map(|at| format!(" {}", rest[*at])).collect();
        let words = if words.is_empty() { words } else { format!(" with{words}") };
        let telling = std::iter::once(at).chain(shown.iter().map(|one| at + 1 + one)).collect();
        let rank = Rank::from_word(rank).unwrap_or(Rank::GivesControl);
        return Ranked { rank, says: format!("runs {name}{words}{why}"), telling };
    }
    let is_act =
        |word: &&&str| !word.starts_with('-') && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let act = rest.first().filter(is_act).map(|word| format!(" {word}")).unwrap_or_default();
    only(Rank::Runs, format!("runs {name}{act}"))
}

fn base_name(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn is_amount(word: &str) -> bool {
    let number = word.trim_end_matches(['s', 'm', 'h', 'd']);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Whether the words hold `with`: a word, a flag, or a letter among short flags (`-f` in `-rf`).
fn has(words: &[&str], with: &str) -> bool {
    let letter = with.strip_prefix('-').filter(|letter| letter.len() == 1);
    words.iter().any(|word| {
        *word == with
            || with.ends_with('=') && word.starts_with(with)
            || letter.is_some_and(|letter| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    })
}

/// Whether a word of the command is worth a place on the line: its flags, or one of those that its row looks for.
fn is_shown(word: &str, wanted: &str) -> bool {
    let is_flag = word.starts_with('-');
    among(word, wanted)
        || (is_flag && word.len() <= 24 && wanted.split_ascii_whitespace().any(|with| has(&[word], with)))
        || (is_flag && word.len() <= 12 && wanted.is_empty())
}
