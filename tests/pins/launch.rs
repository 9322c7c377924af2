//! What of a command line and its files counts as the same server.

use mcp_approve::pins::launch::{Counts, Launch};

fn launch(words: &[&str], target: Option<&str>) -> Launch {
    let command: Vec<_> = words.iter().map(Into::into).collect();
    Launch::new("s", &command, target.map(str::to_owned), None)
}

#[test]
fn every_word_counts_and_so_do_their_borders() {
    let print = |words: &[&str]| launch(words, None).fingerprint;
    assert_eq!(print(&["a", "b"]), print(&["a", "b"]));
    for other in [&["a", "c"][..], &["a", "b", ""], &["ab"], &["b", "a"], &["a b"]] {
        assert_ne!(print(&["a", "b"]), print(other), "{other:?}");
    }
}

#[test]
fn of_a_runner_the_place_counts_and_of_what_it_runs_the_content() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.sh");
    std::fs::write(&script, "exit").unwrap();
    let script = script.to_str().unwrap();
    let counts = |launch: &Launch| launch.parts().iter().map(|part| part.counts).collect::<Vec<_>>();
    let by_runner = launch(&["sh", script, "--token", "hunter2"], Some(script));
    assert_eq!(counts(&by_runner), [Counts::Place, Counts::Content]);
    assert!(!by_runner.shown.contains("hunter2"), "{}", by_runner.shown);
    assert_eq!(by_runner.words, ["sh", script, "--token", "(hidden)"]);
    let assigned = launch(&["server", "--token=hunter2", "/"], None);
    assert!(!assigned.words.concat().contains("hunter2") && assigned.words[2] == "/", "{:?}", assigned.words);
    assert_eq!(counts(&launch(&["sh", "-c", "exit"], None)), [Counts::Content]);
    assert_eq!(counts(&launch(&["no such program"], None)), []);
}
