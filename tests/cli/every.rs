//! What holds for every command there is: clap's own tree says which. Each is tried bare and with its words filled in, in an
//! empty home, in one with a log, and in one with a broken configuration.

use clap::builder::ValueHint;
use clap::{Arg, CommandFactory as _};
use mcp_approve::cli::args::Cli;
use mcp_approve::home::places::COMMANDS;
use serde_json::Value;

use super::edits::observed;
use super::{Home, Run};

const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/manifest_sqlite.json");

/// A command and the words before it.
struct Node {
    words: Vec<String>,
    command: clap::Command,
}

/// Every command that is shown, those with commands of their own too.
fn nodes() -> Vec<Node> {
    fn below(command: &clap::Command, words: &[String], all: &mut Vec<Node>) {
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            let words = [words, &[inner.get_name().to_owned()]].concat();
            below(inner, &words, all);
            all.push(Node { words, command: inner.clone() });
        }
    }
    let (mut cli, mut all) = (Cli::command(), Vec::new());
    cli.build();
    below(&cli, &[], &mut all);
    all
}

/// A value that an argument takes, as far as its definition says.
fn value(arg: &Arg) -> String {
    let choice = arg.get_possible_values().first().map(|value| value.get_name().to_owned());
    let file = matches!(arg.get_value_hint(), ValueHint::FilePath).then(|| MANIFEST.to_owned());
    choice.or(file).unwrap_or_else(|| "1".to_owned())
}

/// Each command that does something, as it may be typed: with what it requires, and with all of its words.
fn lines() -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    // The demo plays for seconds, and has tests of its own.
    for node in nodes().iter().filter(|node| node.words[0] != "demo") {
        let line = |wanted: &dyn Fn(&Arg) -> bool| {
            let args = node.command.get_arguments().filter(|arg| wanted(arg) && !arg.is_last_set());
            let filled =
                args.flat_map(|arg| arg.get_long().map(|long| format!("--{long}")).into_iter().chain([value(arg)]));
            // Without that it would follow the log until it is ended.
            let once = (node.words == ["log", "follow"]).then(|| "--once".to_owned());
            node.words.iter().cloned().chain(filled).chain(once).collect::<Vec<_>>()
        };
        lines.push(line(&|arg| arg.is_required_set()));
        lines.push(line(&|arg| arg.is_required_set() || arg.is_positional()));
    }
    lines.dedup();
    lines
}

fn run(home: &Home, line: &[String]) -> Run {
    home.run(&line.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Commands that an answer offers, without the home that it is about.
fn homeless(text: &str) -> Vec<&str> {
    let pieces = text.split("mcp-approve ").skip(1);
    let word = |piece: &str| COMMANDS.contains(&piece.split(|c: char| !c.is_ascii_lowercase()).next().unwrap());
    // Help is of no home.
    let is_help = |piece: &&str| piece.split('`').next().is_some_and(|command| command.ends_with(" --help"));
    pieces.filter(|piece| !is_help(piece)).filter(|piece| word(piece) || piece.starts_with("-- ")).collect()
}

#[test]
fn every_command_answers_or_says_what_to_do() {
    for home in [Home::new(), observed(None)] {
        for line in lines() {
            let Run { code, out, err } = run(&home, &line);
            assert!((0..=2).contains(&code), "{line:?}: {code} {err}");
            assert_eq!(code == 2, !err.is_empty(), "{line:?}: {code}\n{out}\n{err}");
            assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'), "{line:?}: {out}{err}");
            if code == 2 {
                let helps = ["hint:", "--help", "similar", "possible values", "Usage:"];
                assert!(helps.iter().any(|word| err.contains(word)), "{line:?}: {err}");
            }
            // Help, completions, schemas and the form of a command are of no home.
            let is_form = code == 2 && err.contains("Usage: ");
            // A record shows the policy as it read then, comments with commands and all.
            let is_text = ["schema", "show", "export", "follow"].iter().any(|word| line.iter().any(|is| is == word));
            if !is_form && !["help", "completions"].contains(&line[0].as_str()) && !is_text {
                assert_eq!(homeless(&(out + &err)), [""; 0], "{line:?}");
            }
        }
    }
}

#[test]
fn every_row_for_programs_says_its_version() {
    let home = observed(None);
    let mut rows = 0;
    for mut line in lines() {
        let node = nodes().into_iter().filter(|node| line.starts_with(&node.words)).max_by_key(|node| node.words.len());
        let forms = ["json", "jsonl"].into_iter().filter(|form| {
            node.as_ref().is_some_and(|node| node.command.get_arguments().any(|arg| arg.get_long() == Some(form)))
        });
        for form in forms.collect::<Vec<_>>() {
            line.push(format!("--{form}"));
            let Run { out, .. } = run(&home, &line);
            line.pop();
            let values: Vec<Value> =
                serde_json::Deserializer::from_str(&out).into_iter().map_while(Result::ok).collect();
            for row in
                values.iter().flat_map(|value| value.as_array().map_or(vec![value], |rows| rows.iter().collect()))
            {
                assert_eq!(row["version"], 1, "{line:?} --{form}: {row}");
                rows += 1;
            }
        }
    }
    assert!(rows > 50, "{rows}");
}

#[test]
fn every_command_ends_quietly_where_nobody_reads_on() {
    let home = observed(None);
    for line in lines() {
        if run(&home, &line).out.is_empty() {
            continue;
        }
        assert_eq!(home.unread(&line), (Some(141), String::new()), "{line:?}");
    }
}

#[test]
fn every_slip_in_a_command_or_an_option_gets_a_suggestion() {
    let home = Home::new();
    for node in nodes() {
        let words: Vec<&str> = node.words.iter().map(String::as_str).collect();
        let (last, before) = words.split_last().unwrap();
        let slip = format!("{last}{}", last.chars().last().unwrap());
        let said = home.run(&[before, &[slip.as_str()]].concat());
        assert!(said.code == 2 && said.err.contains(last), "{words:?}: {}", said.err);
        let longs = node.command.get_arguments().filter_map(Arg::get_long).filter(|long| long.len() > 3);
        for long in longs.filter(|long| !["home", "help"].contains(long)).take(2) {
            let slip = format!("--{}", &long[..long.len() - 1]);
            if node.command.get_arguments().any(|arg| arg.get_long() == slip.strip_prefix("--")) {
                continue;
            }
            let said = home.run(&[&words[..], &[slip.as_str()]].concat());
            assert!(said.code == 2 && said.err.contains(&format!("'--{long}'")), "{words:?} {slip}: {}", said.err);
        }
    }
}

#[test]
fn who_reads_a_broken_configuration_tells_all_that_is_wrong_with_it() {
    let home = Home::new();
    home.write("config/config.toml", "approval-timeout = 5\n[server.x]\ntrust = \"all\"\n[console]\nthem = 1\n");
    let mut told = 0;
    for line in lines() {
        let Run { err, out, .. } = run(&home, &line);
        let said = out + &err;
        if said.contains("config.toml:") {
            told += 1;
            for place in ["config.toml:1:20: ", "config.toml:3:9: ", "config.toml:5:1: "] {
                assert!(said.contains(place), "{line:?}: {said}");
            }
        }
    }
    assert!(told > 0);
}

#[test]
fn every_help_fits_a_terminal() {
    for node in nodes() {
        let texts = [node.command.get_after_help(), node.command.get_after_long_help()];
        for text in texts.into_iter().flatten() {
            let text = text.to_string();
            // Sentences are broken for the terminal, examples are not.
            let code = text.lines().filter(|line| line.starts_with("  "));
            code.for_each(|line| assert!(line.chars().count() <= 80, "{:?}: {line}", node.words));
        }
    }
}
