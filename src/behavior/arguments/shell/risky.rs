//! Which commands are risky, and why: one table (`assets/words/shell.txt`). A command that is not in it is still a command
//! that runs.

use crate::behavior::words::{among, section};

const WORDS: &str = include_str!("../../../../assets/words/shell.txt");
/// Programs that run the program named behind them, and words of the shell behind which a command is.
const WRAPPERS: &str = section(WORDS, "wrappers");
const SHELLS: &str = section(WORDS, "shells");
const INTERPRETERS: &str = section(WORDS, "interpreters");
const FETCHERS: &str = section(WORDS, "fetchers");
const DECODERS: &str = section(WORDS, "decoders");
const AS_ANOTHER: &str = section(WORDS, "as-another");
/// Rank; programs; words of which one must be behind them, where there are any; what is said of that. The first row that fits
/// is taken.
const RISKY: &str = section(WORDS, "risky");

/// How risky a command is, from harmless to irreversible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Runs,
    /// It changes files or settings.
    Writes,
    /// It talks to other machines.
    Reaches,
    /// It starts, stops, installs, or changes who may do what.
    Administers,
    /// It removes what cannot be brought back.
    Destroys,
    /// It runs what somebody else wrote, or as somebody else.
    GivesControl,
}

/// A command as it is ranked.
pub(super) struct Ranked {
    pub(super) rank: Rank,
    /// Our own line on it.
    pub(super) says: String,
    /// Which of its words tell: programs, and what makes them risky.
    pub(super) telling: Vec<usize>,
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
pub(super) fn of(all: &[&str], before: Option<&str>, depth: usize) -> Ranked {
    let at = all.iter().take_while(|word| is_assignment(word)).count();
    let (Some(first), rest) = (all.get(at), all.get(at + 1..).unwrap_or_default()) else {
        return Ranked { rank: Rank::Runs, says: "sets variables of a shell".to_owned(), telling: Vec::new() };
    };
    let name = base(first);
    let only = |rank: Rank, says: String| Ranked { rank, says, telling: vec![at] };
    // The command behind the first word that is none of the wrapper's own.
    let behind = |is_own: fn(&str) -> bool| {
        let inner = rest.iter().position(|word| !is_own(word))?;
        Some((inner, of(rest.get(inner..)?, before, depth + 1).behind(at + 1 + inner, at)))
    };
    if depth > 8 {
        return only(Rank::GivesControl, "runs commands inside commands".to_owned());
    }
    if among(name, AS_ANOTHER) {
        let inner = behind(|word| word.starts_with('-'));
        let what = inner.as_ref().map_or("a shell", |(inner, _)| rest[*inner]);
        let (rank, says) = (Rank::GivesControl, format!("runs {what} as another user, with {name}"));
        return match inner {
            Some((_, inner)) => Ranked { rank, says, ..inner },
            None => only(rank, says),
        };
    }
    if among(name, WRAPPERS) {
        let inner = behind(|word| word.starts_with('-') || is_assignment(word) || is_amount(word));
        return inner.map_or_else(|| only(Rank::Runs, format!("runs {name}")), |(_, inner)| inner);
    }
    let is_shell = among(name, SHELLS);
    if let Some(before) = before.map(base).filter(|_| is_shell || among(name, INTERPRETERS)) {
        let fetched = among(before, FETCHERS);
        if fetched || among(before, DECODERS) {
            let what = if fetched { "a download" } else { "decoded text" };
            return only(Rank::GivesControl, format!("pipes {what} into {name}"));
        }
    }
    let code = rest.iter().position(|word| among(word, "-c /c /C -Command -command -lc -ic -xc"));
    if let Some(code) = code.and_then(|flag| rest.get(flag + 1)).filter(|_| is_shell) {
        let words = |inner: &super::Command| inner.words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
        let inner = super::cut(code).unwrap_or_default();
        let ranked = inner.iter().map(|inner| {
            let words = words(inner);
            of(&words.iter().map(String::as_str).collect::<Vec<_>>(), None, depth + 1)
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
        let rank = match rank {
            "writes" => Rank::Writes,
            "reaches" => Rank::Reaches,
            "administers" => Rank::Administers,
            "destroys" => Rank::Destroys,
            _ => Rank::GivesControl,
        };
        return Ranked { rank, says: format!("runs {name}{words}{why}"), telling };
    }
    let is_act =
        |word: &&&str| !word.starts_with('-') && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let act = rest.first().filter(is_act).map(|word| format!(" {word}")).unwrap_or_default();
    only(Rank::Runs, format!("runs {name}{act}"))
}

fn base(word: &str) -> &str {
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
