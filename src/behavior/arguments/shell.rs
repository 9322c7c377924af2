//! Shell commands in arguments: cut as a shell cuts them, ranked by the riskiest word, never called harmless.
//!
//! The reading is for the eye and for rules that ask or deny. Nothing here lowers anything: a shell has too many ways.

mod risky;

use super::effect::{Effect, Found};
use crate::behavior::taxonomy::Action;
use risky::Rank;

/// One word of a command, quotes taken off.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    text: String,
    start: usize,
    end: usize,
}

/// One simple command, and how it hangs together with the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Command {
    words: Vec<Word>,
    /// It reads what the command before writes.
    piped: bool,
    /// Files that it writes over or adds to.
    writes: Vec<Word>,
}

/// Longer scripts are not cut; they are a script, and run.
const MAX_BYTES: usize = 64 * 1024;
/// Commands that are ranked; the rest are counted.
const MOST: usize = 200;

/// What a line for a shell does: its riskiest command first.
pub fn read(text: &str) -> Found {
    if text.len() > MAX_BYTES {
        return Found::new(Effect::Execute, Action::Execute, head(text), "runs a script too long to be read");
    }
    let commands = cut(text);
    let mut ranked: Vec<(Rank, String, String)> = Vec::new();
    for (at, command) in commands.iter().enumerate().take(MOST) {
        let before = at.checked_sub(1).filter(|_| command.piped).and_then(|before| commands.get(before));
        let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
        let (mut rank, mut says) =
            risky::of(&words, before.and_then(|before| before.words.first()).map(|word| word.text.as_str()), 0);
        if let Some(file) = command.writes.first()
            && rank < Rank::Writes
        {
            (rank, says) =
                (Rank::Writes, format!("runs {}, and writes to {}", words.first().unwrap_or(&"a command"), file.text));
        }
        let ends = |word: &Word| word.end;
        let start = command.words.first().or(command.writes.first()).map_or(0, |word| word.start);
        let end = command.words.iter().chain(&command.writes).map(ends).max().unwrap_or(start);
        ranked.push((rank, says, text.get(start..end).unwrap_or(text).to_owned()));
    }
    let others = commands.len().saturating_sub(1);
    let Some((_, says, span)) = ranked.into_iter().reduce(|worst, one| if one.0 > worst.0 { one } else { worst })
    else {
        return Found::new(Effect::Execute, Action::Execute, head(text), "runs an empty command");
    };
    let says = match others {
        0 => says,
        1 => format!("{says}, and 1 more command"),
        more => format!("{says}, and {more} more commands"),
    };
    Found::new(Effect::Execute, Action::Execute, span, says)
}

/// What an argument vector does: its words are words, no shell cuts them again.
pub fn read_words(words: &[&str]) -> Found {
    let (_, says) = risky::of(words, None, 0);
    Found::new(Effect::Execute, Action::Execute, head(&words.join(" ")), says)
}

/// Whether a text that may be anything is plainly a command that destroys, or hands the machine to somebody.
pub fn plainly_changes(text: &str) -> bool {
    if text.len() > MAX_BYTES {
        return false;
    }
    let commands = cut(text);
    commands.iter().enumerate().take(MOST).any(|(at, command)| {
        let before = at.checked_sub(1).filter(|_| command.piped).and_then(|before| commands.get(before));
        let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
        risky::of(&words, before.and_then(|before| before.words.first()).map(|word| word.text.as_str()), 0).0
            >= Rank::Destroys
    })
}

fn head(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Cuts a line into simple commands. Substitutions (`$(…)`, backquotes) are commands of their own.
fn cut(text: &str) -> Vec<Command> {
    let bytes = text.as_bytes();
    let mut commands = vec![Command::default()];
    let mut word: Option<Word> = None;
    let mut redirected = false;
    let mut at = 0;
    let mut quoted = false;
    while at < bytes.len() {
        let byte = bytes[at];
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        let opens = (byte == b'$' && next == b'(') || byte == b'`' || (matches!(byte, b'<' | b'>') && next == b'(');
        match byte {
            // Inside double quotes a substitution still runs.
            _ if opens => {
                finish(&mut commands, &mut word, &mut redirected);
                commands.push(Command::default());
                at += if byte == b'`' { 1 } else { 2 };
            }
            b'\\' => {
                let c = text[at + 1..].chars().next();
                if let Some(c) = c.filter(|c| *c != '\n') {
                    push(&mut word, c, at, at + 1 + c.len_utf8());
                }
                at += 1 + c.map_or(0, char::len_utf8);
            }
            b'"' => {
                quoted = !quoted;
                word.get_or_insert_with(|| Word { text: String::new(), start: at, end: at + 1 }).end = at + 1;
                at += 1;
            }
            b'\'' if !quoted => {
                let end = memchr::memchr(b'\'', &bytes[at + 1..]).map_or(bytes.len(), |found| at + 1 + found);
                let inside = &text[at + 1..end];
                let word = word.get_or_insert_with(|| Word { text: String::new(), start: at, end });
                word.text.push_str(inside);
                word.end = (end + 1).min(bytes.len());
                at = end + 1;
            }
            b' ' | b'\t' if !quoted => {
                finish_word(&mut commands, &mut word, &mut redirected);
                at += 1;
            }
            b'#' if !quoted && word.is_none() => {
                at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |found| at + found);
            }
            b'>' if !quoted => {
                // The number before it is a channel, no word: `2>file`.
                if word.as_ref().is_some_and(|word| word.text.bytes().all(|byte| byte.is_ascii_digit())) {
                    word = None;
                }
                finish_word(&mut commands, &mut word, &mut redirected);
                at += 1 + usize::from(matches!(next, b'>' | b'|'));
                // `>&2` joins channels and writes no file.
                redirected = bytes.get(at) != Some(&b'&');
                at += usize::from(!redirected);
            }
            b';' | b'&' | b'|' | b'\n' | b'(' | b')' | b'{' | b'}' | b'\r'
                if !quoted && !(matches!(byte, b'{' | b'}') && word.is_some()) =>
            {
                finish(&mut commands, &mut word, &mut redirected);
                let piped = byte == b'|' && next != b'|';
                commands.push(Command { piped, ..Command::default() });
                at += if matches!((byte, next), (b'|', b'|' | b'&') | (b'&', b'&')) { 2 } else { 1 };
            }
            _ => {
                let c = text[at..].chars().next().unwrap_or(' ');
                push(&mut word, c, at, at + c.len_utf8());
                at += c.len_utf8();
            }
        }
    }
    finish(&mut commands, &mut word, &mut redirected);
    commands.retain(|command| !command.words.is_empty() || !command.writes.is_empty());
    commands
}

fn push(word: &mut Option<Word>, c: char, start: usize, end: usize) {
    let word = word.get_or_insert_with(|| Word { text: String::new(), start, end });
    word.text.push(c);
    word.end = end;
}

fn finish_word(commands: &mut [Command], word: &mut Option<Word>, redirected: &mut bool) {
    let (Some(done), Some(command)) = (word.take(), commands.last_mut()) else { return };
    if std::mem::take(redirected) {
        command.writes.push(done);
    } else {
        command.words.push(done);
    }
}

fn finish(commands: &mut [Command], word: &mut Option<Word>, redirected: &mut bool) {
    finish_word(commands, word, redirected);
    *redirected = false;
}
