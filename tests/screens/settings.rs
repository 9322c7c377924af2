//! `[console]` in `config.toml`: what is right counts, and every mistake has its line and keeps nothing from opening.

use mcp_approve::console::keymap::{Action, Key, Place};
use mcp_approve::console::model::{Confirmation, Manner, Palette};
use mcp_approve::console::settings::{ConsoleSettings, Notice, Pointer, load};
use mcp_approve::home::places::Places;

/// The settings that a file with this text gives, and its problems without the file's name.
fn parse(text: &str) -> (ConsoleSettings, Vec<String>) {
    let home = tempfile::tempdir().unwrap();
    let places = Places::under(home.path()).unwrap();
    std::fs::create_dir_all(places.config_dir()).unwrap();
    std::fs::write(places.config_file(), text).unwrap();
    let (settings, problems) = load(&places);
    let file = format!("{}:", places.config_file().display());
    (settings, problems.into_iter().map(|problem| problem.replacen(&file, "", 1)).collect())
}

#[test]
fn what_is_said_is_taken() {
    let text = "observe = true\n[console]\ntheme = \"colour-blind\"\nquiet = true\nnotice = \"osc9\"\nmouse = false\nconfirm = \"word\"\n\
        [console.keys]\napprove = \"Ctrl-y\"\ndown = [\"b\", \"Down\"]\n";
    let (settings, problems) = parse(text);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!((settings.theme, settings.manner), (Some(Palette::Safe), Manner::Quiet));
    assert_eq!((settings.notice, settings.mouse), (Some(Notice::Osc9), Pointer::Left));
    assert_eq!(settings.confirmation, Confirmation::Word);
    assert_eq!(settings.keys.action(Key::Ctrl('y'), Place::Queue), Some(Action::Approve));
}

#[test]
fn a_confirmation_that_cannot_be_read_is_the_strict_one() {
    let (settings, problems) = parse("[console]\nconfirm = \"yes\"\n");
    assert_eq!(settings.confirmation, Confirmation::Word);
    for broken in ["[server.x\n", "x = \n", "a = 'b\n", "[[approver]\nname = \n", "[console]\nmouse = true\n"] {
        for text in [
            format!("{broken}[console]\nconfirm = \"word\"\n"),
            format!("[console]\nconfirm = \"word\"\n{broken}"),
            format!("console.confirm = \"word\"\n{broken}"),
        ] {
            assert_eq!(parse(&text).0.confirmation, Confirmation::Word, "{text}");
        }
    }
    assert!(problems[0].to_string().starts_with("2:11: `confirm` cannot be \"yes\"; one of: key, word"));
}

#[test]
fn an_error_anywhere_in_the_file_is_told_on_the_console() {
    let home = tempfile::tempdir().unwrap();
    let places = Places::under(home.path()).unwrap();
    std::fs::create_dir_all(places.config_dir()).unwrap();
    std::fs::write(places.config_file(), "approval-timeut = \"1m\"\n[console]\nquiet = true\n").unwrap();
    let (settings, problems) = load(&places);
    assert_eq!(settings.manner, Manner::Quiet, "what is right counts");
    assert!(problems.len() == 1 && problems[0].contains("config.toml:1:1: unknown key"), "{problems:?}");
    std::fs::write(places.config_file(), "[console]\nquiet = true\n").unwrap();
    assert_eq!(load(&places).1, Vec::<String>::new());
}

#[test]
fn every_problem_has_its_line_and_the_default_stands() {
    let text = "[console]\ntheme = \"pink\"\nmous = true\n[console.keys]\napprove = \"j\"\nfly = \"x\"\n";
    let (settings, problems) = parse(text);
    assert_eq!(settings, ConsoleSettings::default());
    let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let begins = [
        "2:9: `theme` cannot be \"pink\"; one of: auto, dark, light, colour-blind, none",
        "3:1: unknown key \"mous\"; did you mean `mouse`?",
        "5:1: j is bound to approve and to down; ",
        "6:1: there is no action \"fly\"; actions are approve, ",
    ];
    assert_eq!(found.len(), begins.len());
    for (found, begin) in found.iter().zip(begins) {
        assert!(found.starts_with(begin), "{found}");
    }
}
