//! What of a command line and its files counts as the same server.

use mcp_approve::pins::launch::{Counts, Launch, environment};

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

#[test]
fn variables_that_decide_what_runs_count_and_their_values_are_not_shown() {
    let of = |set: &[(&str, &str)]| environment(set.iter().map(|(name, value)| (name.into(), value.into())));
    let one = of(&[("NODE_OPTIONS", "--require x"), ("HOME", "/home/ada"), ("DATABASE_URL", "pg://a:hunter2@b")]);
    assert_eq!(one.len(), 2);
    assert!(one[0].starts_with("environment DATABASE_URL ") && one[1].starts_with("environment NODE_OPTIONS "));
    assert!(!one.concat().contains("hunter2"));
    assert_ne!(one, of(&[("NODE_OPTIONS", "--require y"), ("DATABASE_URL", "pg://a:hunter2@b")]));
    assert_eq!(of(&[("LD_PRELOAD", "/x.so"), ("# the", "x"), ("PATH", "/bin"), ("PYTHONPATH", "")]).len(), 1);
    // An AppImage has another folder each time.
    let mounted = |name: &str| of(&[("LD_LIBRARY_PATH", &format!("/tmp/.mount_Edit{name}/usr/lib:/opt/lib"))]);
    assert_eq!(mounted("x7Kq2w"), mounted("aB3dE9"));
    assert_ne!(mounted("x7Kq2w"), of(&[("LD_LIBRARY_PATH", "/tmp/.mount_Evilx7Kq2w/usr/lib:/opt/lib")]));
}
