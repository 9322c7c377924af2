//! `mcp-approve help`: the topics of the reference, each a file of `assets/help/`, and the help of a command.

pub mod page;

use std::io::{self, IsTerminal as _, Write};

use clap::CommandFactory as _;

use super::args::Cli;
use super::error::Error;
use crate::console::keymap;
use crate::policy::reading::nearest;
use page::{Ink, blocks, laid_out};

/// Each topic's name and text.
pub const TOPICS: [(&str, &str); 13] = [
    ("hosts", include_str!("../../assets/help/hosts.md")),
    ("judging", include_str!("../../assets/help/judging.md")),
    ("keys", include_str!("../../assets/help/keys.md")),
    ("waiting", include_str!("../../assets/help/waiting.md")),
    ("rules", include_str!("../../assets/help/rules.md")),
    ("hazards", include_str!("../../assets/help/hazards.md")),
    ("search", include_str!("../../assets/help/search.md")),
    ("log", include_str!("../../assets/help/log.md")),
    ("tools", include_str!("../../assets/help/tools.md")),
    ("capabilities", include_str!("../../assets/help/capabilities.md")),
    ("config", include_str!("../../assets/help/config.md")),
    ("trust", include_str!("../../assets/help/trust.md")),
    ("places", include_str!("../../assets/help/places.md")),
];

/// How many columns a text has without a terminal, and at most, for easy reading.
const PIPED: u16 = 80;
const WIDEST: u16 = 100;

/// Prints the topic or the command's help that `words` name; without words, what there is.
pub(super) fn run(words: &[String], out: &mut dyn Write) -> Result<(), Error> {
    match words {
        [] => Ok(write!(out, "{}\n{}", Cli::command().render_help(), contents())?),
        [word] if let Some(text) = topic(word) => {
            let terminal = io::stdout().is_terminal();
            let columns = crossterm::terminal::size().ok().filter(|_| terminal).map_or(PIPED, |(columns, _)| columns);
            let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            let ink = if colour { Ink::Bold } else { Ink::Plain };
            Ok(write!(out, "{}", laid_out(&blocks(&text), columns.min(WIDEST).into(), ink))?)
        }
        words => command(words, out),
    }
}

/// A topic's whole text. The table of keys is made from the keymap.
pub fn topic(name: &str) -> Option<String> {
    let (_, text) = TOPICS.iter().find(|(known, _)| *known == name)?;
    Some(text.replace("<!-- keys -->\n", &keymap::markdown()))
}

/// One line on each topic, as it says itself.
fn contents() -> String {
    let line = |(name, text): &(&str, &str)| {
        let title = text.lines().next().and_then(|line| line.split_once(": ")).map_or("", |(_, title)| title);
        format!("  {name:<13} {title}\n")
    };
    format!("Topics (mcp-approve help TOPIC):\n{}", TOPICS.iter().map(line).collect::<String>())
}

/// The long help of a command, by its words.
fn command(words: &[String], out: &mut dyn Write) -> Result<(), Error> {
    let mut root = Cli::command();
    root.build();
    let mut found = &root;
    for word in words {
        let Some(next) = found.find_subcommand(word) else {
            let topics = TOPICS.iter().map(|(name, _)| *name).filter(|_| found.get_name() == root.get_name());
            let known: Vec<&str> = found.get_subcommands().map(clap::Command::get_name).chain(topics).collect();
            let word: String = word.chars().flat_map(char::escape_debug).collect();
            let hint = match nearest(&word, &known) {
                Some(near) => format!("did you mean `{} help {near}`?", root.get_name()),
                None => "`mcp-approve help` lists the topics and commands".to_owned(),
            };
            return Err(Error::wrong(format!("there is no help on \"{word}\""), hint));
        };
        found = next;
    }
    let asked = [root.get_name()].into_iter().chain(words.iter().map(String::as_str)).chain(["--help"]);
    match root.clone().try_get_matches_from(asked) {
        Err(help) => Ok(write!(out, "{}", help.render())?),
        Ok(_) => Ok(()),
    }
}
