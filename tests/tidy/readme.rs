//! The README begins with what works from a clone; what needs a published package is in a chapter of its own, and CI runs
//! the README's very line.

use std::fs;

use super::root;

/// What starts the product from a registry.
const FROM_A_REGISTRY: [&str; 6] = [
    "npx -y mcp-approve", "\"-y\", \"mcp-approve\"", "uvx mcp-approve", "npm install -g", "uv tool install",
    "cargo install --locked mcp-approve",
];

#[test]
fn the_readme_begins_with_a_clone_and_nothing_else() {
    let text = |name: &str| fs::read_to_string(root().join(name)).expect(name);
    let readme = text("README.md");
    let mut blocks = readme.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let mut commands = || -> Vec<&str> {
        let lines = blocks.next().unwrap_or_default().lines();
        lines.map(|line| line.split(" #").next().unwrap_or_default().trim_end()).collect()
    };
    let [demo, tests] = commands()[..] else { panic!("the first block has two commands") };
    assert!(demo.starts_with("cargo run") && demo.ends_with("demo"), "{demo}");
    assert!(text(".ci/run").lines().any(|line| line == tests), ".ci/run does not run `{tests}`");
    assert_eq!(commands()[0], "cargo install --locked --path .");

    let (before, after) = readme.split_once("## Once a release exists\n").expect("the chapter");
    let (chapter, after) = after.split_once("\n## ").expect("a next chapter");
    for words in FROM_A_REGISTRY {
        assert!(chapter.contains(words), "{words:?} is not in the chapter; is it somewhere else?");
        assert!(!before.contains(words) && !after.contains(words), "{words:?} needs a published package");
    }
}

/// The marks of Waiting are the same in the README and in the help.
#[test]
fn the_readme_has_the_marks_of_the_help() {
    let marks = |text: &str, from: &str| -> Vec<String> {
        let table = text.split_once(from).expect("the table").1.lines().skip_while(|line| !line.starts_with("| `"));
        let rows = table.take_while(|line| line.starts_with("| `"));
        let code =
            |row: &str| row.split('`').skip(1).step_by(2).flat_map(str::split_whitespace).map(str::to_owned).collect();
        rows.flat_map(|row| -> Vec<String> { code(row.rsplit_once(" | ").map_or(row, |(marks, _)| marks)) }).collect()
    };
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let help = fs::read_to_string(root().join("assets/help/keys.md")).expect("keys.md");
    let ours = marks(&readme, "| mark in Waiting |");
    let mut theirs = marks(&help, "## The signs of the queue");
    assert_eq!(theirs.pop().as_deref(), Some("▲"), "the flag is the last row of the help");
    assert_eq!(ours, theirs);
}
