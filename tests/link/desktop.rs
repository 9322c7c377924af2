//! A notice on the desktop: its words are one argument, and a program that hangs keeps nobody.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use mcp_approve::link::desktop::Desktop;

/// Milliseconds between two notices.
const PAUSE: i64 = 15_000;

/// A folder with a program of this name that writes down its arguments, one a line, then does `then`.
fn desktop(name: &str, then: &str) -> (tempfile::TempDir, Desktop, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("told");
    let script = format!("#!/bin/sh\nsaid=$(printf '%s\\n' \"$@\")\necho \"$said\" >> '{}'\n{then}\n", told.display());
    let path = folder.path().join(name);
    write_program(&path, &script);
    let desktop = Desktop::within(&[folder.path()]);
    (folder, desktop, told)
}

fn read(told: &Path) -> String {
    let start = Instant::now();
    while !fs::read_to_string(told).is_ok_and(|said| said.ends_with('\n')) && start.elapsed() < Duration::from_secs(20)
    {
        thread::sleep(Duration::from_millis(5));
    }
    fs::read_to_string(told).unwrap_or_default()
}

#[test]
fn its_words_are_one_argument_and_never_an_option_or_a_script() {
    for (name, last) in [("notify-send", "--\nmcp-approve\n"), ("osascript", "end run\n--\n")] {
        let (_folder, mut desktop, told) = desktop(name, "");
        desktop.show("--help \"; display dialog \"x", 0);
        let said = read(&told);
        assert!(said.ends_with(&format!("{last}--help \"; display dialog \"x\n")), "{said}");
    }
}

#[test]
fn what_a_call_names_is_no_markup() {
    let (_folder, mut desktop, told) = desktop("notify-send", "");
    desktop.show("files: deletes <a href=\"x\">&b</a>", 0);
    let said = read(&told);
    assert!(said.ends_with("files: deletes &lt;a href=\"x\"&gt;&amp;b&lt;/a&gt;\n"), "{said}");
}

#[test]
fn one_that_hangs_keeps_nobody_and_the_next_waits_its_turn() {
    let (_folder, mut desktop, told) = desktop("notify-send", "exec sleep 30");
    let start = Instant::now();
    desktop.show("one", 1_000);
    assert!(start.elapsed() < Duration::from_secs(25), "it was waited for");
    assert!(read(&told).ends_with("one\n"));
    fs::remove_file(&told).unwrap();
    desktop.show("two", 1_000 + PAUSE - 1);
    desktop.show("three", 1_000 + PAUSE);
    let said = read(&told);
    assert!(said.ends_with("three\n") && !said.contains("two"), "{said}");
}

#[test]
fn a_system_without_one_has_none() {
    assert!(!Desktop::within(&[tempfile::tempdir().unwrap().path()]).is_there());
}

/// Writes a program, through another process: if this one wrote it, a child of another test could have the
/// file open for a moment, and no system runs a file that is open for writing.
fn write_program(path: &Path, text: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"printf %s "$1" >"$0" && chmod 755 "$0""#]).arg(path).arg(text);
    assert!(shell.status().is_ok_and(|status| status.success()));
}
