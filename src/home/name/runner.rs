//! Finds what a command line runs, after the runners that fetch, isolate or interpret it (`assets/runners.toml`). Owns no name.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The runners that we know, and the packages of well-known images.
pub(super) static KNOWN: LazyLock<Runners> =
    LazyLock::new(|| toml::from_str(include_str!("../../../assets/runners.toml")).unwrap_or_default());

#[derive(Default, Deserialize)]
pub(super) struct Runners {
    runner: Vec<Runner>,
    pub(super) generic: String,
    pub(super) extensions: String,
    pub(super) images: HashMap<String, String>,
}

/// Which words are a runner's own options, before the one that names what it runs. Lists of options are separated by spaces.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Runner {
    programs: Vec<String>,
    before: Vec<String>,
    alone: String,
    valued: String,
    others: Others,
    target: String,
    nested: bool,
}

/// What an option means that is in neither list.
#[derive(Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Others {
    #[default]
    Alone,
    Valued,
}

/// The word of a command line that names what is run.
pub(super) fn target<'w>(words: &[&'w str]) -> &'w str {
    let Some((program, rest)) = words.split_first() else { return "" };
    let stem = program.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches(".exe").trim_end_matches(".cmd");
    let found = match stem {
        "sh" | "bash" | "zsh" => rest.iter().copied().find(|word| !word.starts_with('-') && !word.contains(' ')),
        "env" => {
            rest.iter().position(|word| !word.starts_with('-') && !word.contains('=')).map(|at| target(&rest[at..]))
        }
        _ => {
            let stem = if is_python(stem) { "python" } else { stem };
            KNOWN.runner.iter().find_map(|runner| Some((runner, runner.after(stem, rest)?))).and_then(
                |(runner, rest)| {
                    let found = runner.target(rest)?;
                    // `uv run python -m x`: one runner inside another.
                    let inner = rest.iter().position(|word| runner.nested && *word == found);
                    Some(inner.map_or(found, |at| target(&rest[at..])))
                },
            )
        }
    };
    found.unwrap_or(program)
}

pub(super) fn is_python(stem: &str) -> bool {
    stem.strip_prefix("python")
        .or_else(|| stem.strip_prefix("pypy"))
        .is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

impl Runner {
    /// The words after the program and the phrase that must follow it; `None` where this is another runner.
    fn after<'a, 'w>(&self, program: &str, words: &'a [&'w str]) -> Option<&'a [&'w str]> {
        if !self.programs.iter().any(|known| known == program) {
            return None;
        }
        let follows = |phrase: &String| {
            let (phrase, length) = (phrase.split(' '), phrase.split(' ').count());
            words.iter().copied().take(length).eq(phrase).then(|| &words[length..])
        };
        if self.before.is_empty() { Some(words) } else { self.before.iter().find_map(follows) }
    }

    fn target<'w>(&self, words: &[&'w str]) -> Option<&'w str> {
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            if word == "--" || lists(&self.target, word) {
                return words.next();
            }
            if !word.starts_with('-') || word == "-" {
                return Some(word);
            }
            if !word.contains('=') && self.takes_next(word) {
                words.next();
            }
        }
        None
    }

    /// Whether an option takes the next word; `-it` is `-i` and `-t`.
    fn takes_next(&self, option: &str) -> bool {
        match self.others {
            Others::Alone => lists(&self.valued, option),
            Others::Valued if option.starts_with("--") => !lists(&self.alone, option),
            Others::Valued => !option.chars().skip(1).all(|letter| lists(&self.alone, &format!("-{letter}"))),
        }
    }
}

pub(super) fn lists(list: &str, option: &str) -> bool {
    list.split_whitespace().any(|listed| listed == option)
}
