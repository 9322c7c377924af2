//! `mcp-approve rules import`: permissions of other programs become rules, with a report of what has none.

use super::Home;
use super::edits::{RULES, policy};

#[test]
fn permissions_are_imported_with_a_report() {
    let home = Home::with_policy(RULES);
    let file = home.write("s.json", r#"{ "permissions": { "allow": ["mcp__github__list\u001b", "Bash(ls)"] } }"#);
    let file = file.display().to_string();
    let run = home.run(&["rules", "import", "claude", &file]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(!run.out.contains('\u{1b}') && run.out.contains("tool = \"list\\u001B\""), "{}", run.out);
    assert!(run.out.contains("# 1 entry carried over, 1 not.\n#   Bash(ls): it is about a tool of the program itself"));
    assert_eq!(policy(&home), RULES);
    assert_eq!(home.run(&["rules", "import", "claude", &file, "--write"]).code, 0);
    assert!(policy(&home).contains("id = \"claude-allow-github\""));
    home.run(&["rules", "undo"]);
    assert_eq!(policy(&home), RULES);
    let run = home.run(&["rules", "import", "codex", &file]);
    assert!(run.code == 2 && run.err.contains("is not a permission file of codex"), "{}", run.err);
}

/// What people have in their homes becomes a policy in order, from an empty one.
#[test]
fn every_program_s_file_is_imported_to_a_policy_in_order() {
    for (host, file, rules) in [
        ("claude", "claude.settings.json", 10),
        ("cursor", "cursor.permissions.json", 3),
        ("cursor", "cursor.cli-config.json", 4),
        ("gemini", "gemini.settings.json", 6),
        ("gemini", "gemini.policy.toml", 4),
        ("codex", "codex.config.toml", 6),
        ("zed", "zed.settings.json", 3),
    ] {
        let home = Home::new();
        let path = format!("{}/tests/fixtures/import/{file}", env!("CARGO_MANIFEST_DIR"));
        let run = home.run(&["rules", "import", host, &path, "--write"]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{file}: {}", run.out);
        let check = home.run(&["rules", "check"]);
        let last = check.out.lines().last().unwrap_or_default().to_owned();
        assert_eq!((check.code, last), (0, format!("HOME/config/policy.toml: in order, {rules} rules")), "{file}");
        assert!(!check.out.contains("never") && !check.out.contains("waits"), "{file}: {}", check.out);
    }
}
