//! What a person reads is in plain words: no text that was replaced comes back, and no word of a list is used.

use std::fs;

use clap::CommandFactory as _;

use super::{check, root, sources};

/// Pictures, words that leave out who acts, and turns that need a second reading.
const NOT_USED: [&str; 21] = [
    "nobody", "somebody", "stand", "stands", "told", "mend", "mended", "shelf", "homework", "anew", "upon",
    "as far as", "waits no longer", "wait no longer", "hands over", "handed over", "has a say", "is no", "are no",
    "was no", "be no",
];

/// What may hold such a word: the words that readers look for, and turns that are plain; a table's name.
const LISTS: [&str; 2] = ["behavior/voters/", "behavior/hazards/definition.rs"];
const PLAIN: [&str; 7] = [
    " mcp_approve told ", " there is no ", " there are no ", " there was no ", " is no longer ", " are no longer ",
    " stands for ",
];

#[test]
fn texts_use_plain_words() {
    let mut complaints = Vec::new();
    for (place, text) in texts() {
        let words = text.split(|c: char| !(c.is_alphanumeric() || "'-_".contains(c)));
        let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        let line = PLAIN.iter().fold(format!(" {} ", words.join(" ")), |line, plain| line.replace(plain, " . "));
        let used = NOT_USED.iter().filter(|word| line.contains(&format!(" {word} ")));
        complaints
            .extend(used.map(|word| format!("{place}: {word:?} in {:?}", text.chars().take(120).collect::<String>())));
    }
    check(&complaints);
}

/// One text a line: as it was, and as it is now. What was replaced once does not come back.
#[test]
fn replaced_texts_do_not_come_back() {
    let replaced = include_str!("../fixtures/texts.tsv");
    assert!(replaced.lines().count() >= 100, "the texts that were replaced are remembered");
    let all: String = texts().into_iter().map(|(_, text)| text + "\n").collect();
    let mut complaints = Vec::new();
    for line in replaced.lines() {
        let (old, new) = line.split_once('\t').expect("old, a tab, new");
        if all.contains(old) {
            complaints.push(format!("{old:?} was replaced by {new:?}"));
        }
    }
    check(&complaints);
}

/// Every text that a person may read, as written in its place.
fn texts() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for (name, text) in sources().into_iter().filter(|(name, _)| !LISTS.iter().any(|list| name.starts_with(list))) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        texts.extend(literals(code).into_iter().filter(|text| text.contains(' ')).map(|text| (name.clone(), text)));
    }
    let topics = fs::read_dir(root().join("assets/help")).expect("the topics").map(|topic| topic.expect("one").path());
    let others = ["README.md", "assets/policy.toml", "assets/policy.schema.json"].map(|file| root().join(file));
    for file in topics.chain(others) {
        texts.push((file.display().to_string(), fs::read_to_string(&file).expect("readable")));
    }
    help(mcp_approve::cli::args::Cli::command(), &mut texts);
    texts
}

/// The help of a command and of all below it.
fn help(mut command: clap::Command, texts: &mut Vec<(String, String)>) {
    texts.push((format!("{} --help", command.get_name()), command.render_long_help().to_string()));
    command.get_subcommands().for_each(|below| help(below.clone(), texts));
}

/// The string literals of code, each on one line where a backslash joins several.
fn literals(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (before, from) = rest.split_at(at);
        let hashes = before.len() - before.trim_end_matches('#').len();
        let is_raw = before.trim_end_matches('#').ends_with('r');
        let skip = if from.starts_with("//") {
            from.find('\n').unwrap_or(from.len())
        } else if !from.starts_with('"') {
            ["'\"'", "'\\''"].into_iter().find(|quote| from.starts_with(quote)).map_or(1, str::len)
        } else if is_raw {
            let end = format!("\"{}", "#".repeat(hashes));
            let length = from[1..].find(&end).expect("a raw string ends");
            found.push(from[1..=length].to_owned());
            1 + length + end.len()
        } else {
            let mut escaped = false;
            let ends = |c: char| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            };
            let length = from[1..].find(ends).expect("a string ends");
            let lines = from[1..=length].split("\\\n").map(str::trim_start);
            found.push(lines.collect());
            length + 2
        };
        rest = &from[skip..];
    }
    found
}

/// A word list that no constant takes is dead; the compiler refuses only one that is missing.
#[test]
fn every_list_of_words_is_used() {
    for entry in fs::read_dir(root().join("assets/words")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        let users: Vec<String> =
            sources().into_iter().map(|(_, text)| text).filter(|text| text.contains(&file)).collect();
        let text = fs::read_to_string(&path).expect("readable");
        for name in text.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']')) {
            let used = format!("\"{name}\"");
            assert!(users.iter().any(|text| text.contains(&used)), "no constant takes [{name}] of {file}");
        }
    }
}
