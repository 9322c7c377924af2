//! `mcp-approve help`: topics for a width, commands, and what it says of a word it does not know.

use std::io::Write as _;

use clap::CommandFactory as _;
use mcp_approve::audit::moment::Clock;
use mcp_approve::audit::search::Search;
use mcp_approve::cli::args::Cli;
use mcp_approve::cli::help::{Ink, TOPICS, blocks, laid_out, topic};
use mcp_approve::cli::prose::{Prose, broken};
use mcp_approve::home::places::COMMANDS;

use super::Home;

#[test]
fn every_topic_is_listed_and_printed_whole() {
    let home = Home::new();
    let list = home.run(&["help"]);
    assert_eq!((list.code, list.err.as_str()), (0, ""));
    for (name, _) in TOPICS {
        assert!(list.out.contains(&format!("\n  {name} ")), "{name}: {}", list.out);
        let run = home.run(&["help", name]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{name}");
        let text = topic(name).unwrap();
        let letters = |text: &str| {
            let mut letters: Vec<char> = text.chars().filter(|c| c.is_alphanumeric()).collect();
            letters.sort_unstable();
            letters
        };
        // Cells are laid side by side: their letters are all there, in another order. Names of columns are not printed.
        let names = text.lines().zip(text.lines().skip(1)).filter(|(_, next)| next.starts_with("|-"));
        let names: String = names.map(|(names, _)| names).collect();
        let fences: String = text.lines().filter_map(|line| line.strip_prefix("```")).collect();
        assert_eq!(letters(&(run.out.clone() + &names + &fences)), letters(&text), "{name}: {}", run.out);
        run.out.lines().for_each(|line| assert!(line.chars().count() <= 80, "{name}: {line}"));
    }
    let rules = home.run(&["help", "rules"]).out;
    assert!(rules.contains("looks `under` up") && rules.contains("    [[rule]]\n    id = \"no-force\"\n"), "{rules}");
    assert!(!rules.contains('\u{1b}'), "no escapes in a pipe");
}

/// What a topic shows of `config.toml` and of a policy is read without a problem, and the commands of the log's are commands.
#[test]
fn the_examples_of_the_topics_are_right() {
    let block = |name: &str, kind: &str| -> Vec<String> {
        let (text, opens) = (topic(name).unwrap(), format!("```{kind}\n"));
        let blocks = text.split(&opens).skip(1);
        blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
    };
    for text in
        ["config", "waiting"].iter().flat_map(|name| block(name, "toml")).filter(|text| !text.contains("[custom"))
    {
        let home = Home::new();
        home.write("config/config.toml", &text);
        let said = home.run(&["doctor"]).out;
        assert!(said.contains("ok      configuration"), "{text}{said}");
    }
    for text in ["rules", "signing", "trust"].iter().flat_map(|name| block(name, "toml")) {
        let version = if text.contains("version") { "" } else { "version = 1\n" };
        let run = Home::with_policy(&format!("{version}{text}")).run(&["rules", "check"]);
        assert!(run.code == 0 && run.out.contains("in order"), "{text}{run:?}");
    }
    for line in block("log", "sh").iter().flat_map(|block| block.lines()) {
        let words: Vec<&str> = line.split(['#', '>']).next().unwrap().split_whitespace().collect();
        if let ["mcp-approve", words @ ..] = &words[..] {
            // What follows a log ends with its newest record here.
            let once = words.contains(&"follow").then_some("--once");
            let run = Home::new().run(&words.iter().copied().chain(once).collect::<Vec<_>>());
            let usage = ["invalid value", "unexpected argument"].iter().any(|fault| run.err.contains(fault));
            assert!(!usage, "{line}: {run:?}");
        }
    }
}

#[test]
fn a_command_has_its_help_and_a_slip_gets_a_suggestion() {
    let home = Home::new();
    let both = [home.run(&["help", "rules", "add"]), home.run(&["rules", "add", "--help"])];
    assert_eq!((both[0].code, &both[0].out), (0, &both[1].out));
    for (args, hint) in [
        (&["help", "kesy"][..], "did you mean `mcp-approve help keys`?"),
        (&["help", "wrp"], "did you mean `mcp-approve help wrap`?"),
        (&["help", "something"], "`mcp-approve help` lists the topics and commands"),
        (&["help", "log", "\u{1b}[2J"], "there is no help on \"\\u{1b}[2J\""),
        (&["log", "lits"], "hint: did you mean `mcp-approve log list`?"),
        (&["log", "list", "--limt", "3"], "hint: a similar argument exists: '--limit'"),
        (&["log", "list", "-server:x"], "mcp-approve log list -- -server:x"),
        (&["lattice", "check"], "lattice check --hosts` checks"),
    ] {
        let run = home.run(args);
        assert!(run.code == 2 && run.out.is_empty() && run.err.contains(hint), "{args:?}: {}", run.err);
        assert!(!run.err.contains("tip:") && !run.err.contains("For more"), "{args:?}: {}", run.err);
    }
}

/// clap breaks lines at the terminal's width: a line that was broken by hand is broken twice.
#[test]
fn what_a_commands_help_adds_is_broken_by_the_terminal_alone() {
    fn walk(command: &clap::Command) {
        let added = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for (line, next) in added.lines().zip(added.lines().skip(1)) {
            let goes_on = !line.is_empty() && !line.starts_with(' ') && next.starts_with(char::is_lowercase);
            assert!(!goes_on, "{}: {line}\n{next}", command.get_name());
        }
        command.get_subcommands().for_each(walk);
    }
    walk(&Cli::command());
}

#[test]
fn the_topics_name_every_option_and_every_field() {
    let cli = Cli::command();
    for command in cli.get_subcommands().filter(|command| !command.is_hide_set()).map(clap::Command::get_name) {
        let elsewhere = ["help", "completions"].contains(&command);
        assert!(
            elsewhere || COMMANDS.contains(&command),
            "a hint that names `mcp-approve {command}` would forget --home"
        );
    }
    let config = topic("config").unwrap();
    let wrap = cli.find_subcommand("wrap").unwrap();
    for option in wrap.get_arguments().filter_map(|option| option.get_long()).filter(|long| *long != "home") {
        assert!(config.contains(&format!("`--{option}")), "{option} is not in the topic on config.toml");
    }
    let search = topic("search").unwrap();
    let rows = search.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut shown: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    let known = Search::read("qqqqqqqqqqqq:x", Clock::utc(0)).unwrap_err().hint;
    let mut known: Vec<&str> = known.strip_prefix("fields are ").unwrap().split(", ").collect();
    shown.sort_unstable();
    known.sort_unstable();
    assert_eq!(shown, known);
}

const TOPIC: &str = "# keys: the keys\n\nOne `key name`\nand **more**.\n\n- first\n  goes on\n- second\n\n\
    | key | does |\n|---|---|\n| `a\\|b` | does something with many words |\n\n```sh\n  run   it\n```\n";

#[test]
fn what_is_said_beside_code_stands_above_it_where_it_is_too_wide() {
    let blocks = blocks("```sh\nlist          # one row a call\nlist --all\n```\n");
    assert_eq!(laid_out(&blocks, 40, Ink::Plain), "    list          # one row a call\n    list --all\n");
    assert_eq!(laid_out(&blocks, 20, Ink::Plain), "    # one row a call\n    list\n    list --all\n");
}

#[test]
fn a_topic_is_laid_out_for_its_width() {
    let blocks = blocks(TOPIC);
    assert_eq!(blocks.len(), 6);
    let plain = "keys: the keys\n\nOne `key name` and more.\n\n- first goes on\n- second\n\n\
        `a|b`  does something\n       with many words\n\n      run   it\n";
    assert_eq!(laid_out(&blocks, 24, Ink::Plain), plain);
    let wide = laid_out(&blocks, 100, Ink::Bold);
    assert!(wide.contains("One \u{1b}[1mkey name\u{1b}[22m and \u{1b}[1mmore\u{1b}[22m.\n"), "{wide:?}");
    assert!(wide.contains("\n\u{1b}[1ma|b\u{1b}[22m  does something with many words\n"), "{wide:?}");
    let narrow = laid_out(&blocks, 6, Ink::Bold);
    assert!(
        narrow.contains("\u{1b}[1mkey\u{1b}[22m\n\u{1b}[1mname\u{1b}[22m"),
        "a mark never runs into the next line: {narrow:?}"
    );
}

#[test]
fn sentences_are_broken_between_words_and_go_on_under_their_text() {
    for (line, shown) in [
        ("Fits to its last cell\n", "Fits to its last cell\n"),
        ("One sentence that is too wide for it.\n", "One sentence that is\n  too wide for it.\n"),
        ("  asked      two questions today\n", "  asked      two\n             questions\n             today\n"),
        ("\u{1b}[32mok\u{1b}[m  policy  of this user\n", "\u{1b}[32mok\u{1b}[m  policy  of this\n            user\n"),
        ("Then run (`mcp-approve log list`), please.\n", "Then run\n  (`mcp-approve log list`),\n  please.\n"),
        ("Choose one: mcp-approve --home /x rules add N\n", "Choose one:\n  mcp-approve --home /x rules add N\n"),
        ("a/path/that/is/longer/than/the/line goes\n", "a/path/that/is/longer/than/the/line\n  goes\n"),
        ("  \"path\": \"a string with many words\"\n", "  \"path\": \"a string with many words\"\n"),
        ("note = \"a string with many words in it\"\n", "note = \"a string with many words in it\"\n"),
        ("no line end, and too wide for it", "no line end, and too\n  wide for it"),
    ] {
        assert_eq!(broken(line, 21), shown);
    }
}

#[test]
fn a_pipe_keeps_lines_and_a_question_waits_for_no_line_end() {
    let written = |columns| {
        let mut out = Vec::new();
        let mut prose = Prose::new(&mut out, columns);
        write!(prose, "first ").unwrap();
        writeln!(prose, "second third").unwrap();
        write!(prose, "Which one? ").unwrap();
        prose.flush().unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(written(Some(12)), "first second\n  third\nWhich one? ");
    assert_eq!(written(None), "first second third\nWhich one? ");
}
