//! `mcp-approve rules` where somebody sits: the policy in an editor, and what a change loosens accepted on the spot.

use std::fs;

use mcp_approve::home::places::Places;
use mcp_approve::home::policy_file::Accepted;
use portable_pty::CommandBuilder;

use super::Home;
use crate::fake::BINARY;
use crate::fake::terminal::Terminal;

const RULES: &str = "version = 1\n# mine\n[[rule]]\nid = \"ask-all\"\ndecision = \"ask\"\ntool = \"create_*\"\n";
const ALLOW: &str = "\n[[rule]]\nid = \"notes\"\ndecision = \"allow\"\nserver = \"notes\"\n";

/// A home whose policy was accepted as it is.
fn accepted() -> Home {
    let home = Home::with_policy(RULES);
    keeps(&home).accept(&home.path("config/policy.toml"), Some(RULES)).unwrap();
    home
}

fn keeps(home: &Home) -> Accepted {
    Accepted::of(&Places::under(&home.path("")).unwrap())
}

fn kept(home: &Home) -> String {
    keeps(home).text(&home.path("config/policy.toml")).unwrap().unwrap_or_default()
}

fn policy(home: &Home) -> String {
    fs::read_to_string(home.path("config/policy.toml")).unwrap()
}

/// `rules …` at a terminal; the editor is a script that sees its file as `$1`.
fn at_terminal(home: &Home, words: &[&str], editor: &str) -> Terminal {
    home.write("editor.sh", &format!("#!/bin/sh\n{editor}\n"));
    let mut command = CommandBuilder::new(BINARY);
    command.args(["--home", home.0.path().to_str().unwrap(), "rules"]);
    command.args(words);
    command.env_remove("EDITOR");
    command.env("VISUAL", format!("sh {}", home.path("editor.sh").display()));
    Terminal::running(command, (120, 60))
}

fn left_over(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.path("state")).unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(|name| name.contains("edit")).collect()
}

#[test]
fn a_policy_is_edited_until_it_is_in_order_and_accepted_on_the_spot() {
    let home = accepted();
    // First with two mistakes, then mended.
    let broken = home.write("broken", &format!("{RULES}{}", ALLOW.replace("allow", "alow").replace("server", "sever")));
    let mended = home.write("mended", &format!("{RULES}{ALLOW}"));
    let script = format!(
        "grep -q alow \"$1\" && cp {mended} \"$1\" || cp {broken} \"$1\"",
        mended = mended.display(),
        broken = broken.display()
    );
    let mut terminal = at_terminal(&home, &["edit"], &script);
    terminal.shows(&["did you mean \"allow\"?", "did you mean `server`?", "2 errors in", "Edit again? [Y/n]"]);
    assert_eq!(policy(&home), RULES, "what is broken is not written");
    terminal.types("\r");
    terminal.shows(&["+id = \"notes\"", "Write this?"]);
    assert_eq!(policy(&home), RULES, "nor what was not agreed to");
    terminal.types("y\r");
    terminal.shows(&["Written to", "This allows more than what was accepted:", "allows: notes", "Accept now? [y/N]"]);
    assert_eq!(kept(&home), RULES);
    terminal.types("y\r");
    terminal.shows(&["Accepted: running servers use it within a second", "rules undo"]);
    assert!(terminal.wait().success());
    assert_eq!((policy(&home), kept(&home)), (format!("{RULES}{ALLOW}"), format!("{RULES}{ALLOW}")));
    assert_eq!(left_over(&home), [""; 0]);
    assert_eq!(home.run(&["rules", "undo"]).code, 0);
    assert_eq!(policy(&home), RULES);
    let log = home.run(&["log", "list", "--json"]).out;
    assert!(log.contains("an operator accepted the changed policy"), "{log}");
}

#[test]
fn what_is_given_up_or_overtaken_is_kept_aside_and_not_written() {
    let home = accepted();
    let mut terminal = at_terminal(&home, &["edit", "ask-all"], "echo 'x = 1' >> \"$1\"");
    terminal.shows(&["unknown key", "Edit again? [Y/n]"]);
    terminal.types("n\r");
    terminal.shows(&["Nothing was written.", "Your text is kept in"]);
    assert_eq!(terminal.wait().exit_code(), 1);
    assert_eq!(policy(&home), RULES);
    let aside = left_over(&home);
    assert!(fs::read_to_string(home.path("state").join(&aside[0])).unwrap().ends_with("x = 1\n"), "{aside:?}");
    // Somebody else writes while the editor is open.
    let meanwhile = home.path("config/policy.toml");
    let script =
        format!("printf '{}' >> \"$1\"; echo '# by hand' >> {}", ALLOW.replace('\n', "\\n"), meanwhile.display());
    let mut terminal = at_terminal(&home, &["edit"], &script);
    terminal.shows(&["Write this?"]);
    terminal.types("y\r");
    terminal.shows(&["was changed while this command ran", "Your text is kept in"]);
    assert_eq!(terminal.wait().exit_code(), 2);
    assert_eq!(policy(&home), format!("{RULES}# by hand\n"));
}

#[test]
fn an_editor_that_changes_nothing_or_fails_changes_nothing() {
    let home = accepted();
    for (editor, code, says) in [
        ("true", 0, "Nothing was changed"),
        ("exit 3", 2, "nothing was written"),
        ("kill -9 $$", 2, "nothing was written"),
    ] {
        let mut terminal = at_terminal(&home, &["edit"], editor);
        terminal.shows(&[says]);
        assert_eq!(terminal.wait().exit_code(), code, "{editor}");
        assert_eq!(policy(&home), RULES);
        assert_eq!(left_over(&home), [""; 0], "{editor}");
    }
    let mut terminal = at_terminal(&home, &["edit", "nobody"], "true");
    terminal.shows(&["has no rule nobody"]);
    assert_eq!(terminal.wait().exit_code(), 2);
    let run = home.run(&["rules", "edit"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("an editor needs a terminal") && run.err.contains("--set KEY=VALUE"), "{}", run.err);
}

#[test]
fn a_rule_that_is_added_is_accepted_on_the_spot_by_a_person_only() {
    let home = accepted();
    let add = ["rules", "add", "--server", "notes", "--tool", "add"];
    let run = home.run_with("y\ny\n", &add);
    assert!(run.out.contains("takes effect once you accept it") && !run.out.contains("[y/N]"), "{}", run.out);
    assert_eq!(kept(&home), RULES);
    // Everything that waits is shown, not only what is added now.
    let mut terminal = at_terminal(&home, &["add", "--server", "diary", "--tool", "write"], "true");
    terminal.shows(&["allows: allow-add", "allows: allow-write", "Accept now? [y/N]"]);
    terminal.types("\r");
    terminal.shows(&["takes effect once you accept it: mcp-approve --home"]);
    assert!(terminal.wait().success());
    assert_eq!(kept(&home), RULES, "no answer is no");
    let mut terminal = at_terminal(&home, &["add", "--server", "diary", "--tool", "read"], "true");
    terminal.shows(&["allows: allow-read", "Accept now? [y/N]"]);
    terminal.types("y\r");
    terminal.shows(&["Accepted: running servers"]);
    assert!(terminal.wait().success());
    assert_eq!(kept(&home), policy(&home));
}

#[test]
fn a_rule_that_is_too_wide_for_its_row_is_shown_whole_below_its_name() {
    let policy = "version = 1\n[[rule]]\nid = \"notes\"\ndecision = \"allow\"\nserver = \"filesystem\"\ntool = \"write_file\"\n\
        when = [{ arg = \"path\", under = \"~/projects/engine/notes/today\" }]\nexpires = 2099-12-31\nnote = \"mine\"\n";
    let home = Home::with_policy(policy);
    let mut command = CommandBuilder::new(BINARY);
    command.args(["--home", home.0.path().to_str().unwrap(), "rules", "list", "--no-pager"]);
    let mut terminal = Terminal::running(command, (60, 24));
    terminal.shows(&["allow  notes", "/engine/notes/today", "until 2099-12-31", "# mine"]);
    assert!(terminal.wait().success());
}
