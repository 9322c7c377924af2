//! The paths that a call names, and what its relative ones may begin at.

use mcp_approve::behavior::arguments::base::{Bases, is_relative, readings as readings_of};
use mcp_approve::behavior::arguments::path::{LeftOut, MOST, Named, path_arguments};
use serde_json::{Value, json};

#[test]
fn paths_are_recognised_by_their_parameters() {
    for (arguments, paths) in [
        (json!({ "path": "a.txt", "content": "/etc/passwd" }), vec![("/path", "a.txt")]),
        (json!({ "file_path": "~/a", "to": "ann@example.org" }), vec![("/file_path", "~/a")]),
        (json!({ "source": "/a", "destination": "./b" }), vec![("/source", "/a"), ("/destination", "./b")]),
        (json!({ "paths": ["/a", 1, "/b"] }), vec![("/paths/0", "/a"), ("/paths/2", "/b")]),
        (json!({ "a/b~file": "x" }), vec![("/a~1b~0file", "x")]),
        (
            json!({ "moves": [{ "from": "/a", "to": "/b" }, { "from": "/c", "to": "mail" }] }),
            vec![("/moves/0/from", "/a"), ("/moves/0/to", "/b"), ("/moves/1/from", "/c")],
        ),
        (
            json!({ "files": [{ "path": "a", "content": "/etc/passwd" }, "b"], "options": { "deep": { "cwd": "/w" } } }),
            vec![("/files/0/path", "a"), ("/files/1", "b"), ("/options/deep/cwd", "/w")],
        ),
        (json!({ "sources": ["/a", "b"], "tags": ["/c"] }), vec![("/sources/0", "/a")]),
        (json!({ "path": "https://example.org/a", "file": "a\nb" }), vec![]),
        (json!([1]), vec![]),
    ] {
        let found = path_arguments(&arguments).paths;
        let found: Vec<(&str, &str)> = found.iter().map(|(at, path)| (at.as_str(), path.as_str())).collect();
        assert_eq!(found, paths, "{arguments}");
        assert!(found.iter().all(|(at, path)| arguments.pointer(at).is_some_and(|value| value == path)));
    }
}

#[test]
fn paths_beyond_the_bound_are_left_out_and_that_is_said() {
    let files =
        |count: usize| json!({ "files": (0..count).map(|n| json!({ "path": format!("/f{n}") })).collect::<Vec<_>>() });
    let at_most = path_arguments(&files(MOST));
    assert_eq!((at_most.paths.len(), at_most.left_out), (MOST, LeftOut::None));
    let beyond = path_arguments(&files(MOST + 1));
    assert_eq!((beyond.paths.len(), beyond.left_out), (MOST, LeftOut::Some));
    let numbers: Vec<Value> = (0..20_000).map(Value::from).collect();
    let behind = json!({ "numbers": numbers, "path": "/behind" });
    assert_eq!(path_arguments(&behind), Named { paths: Vec::new(), left_out: LeftOut::Some });
    let long = "k".repeat(4096 + 1);
    let named = path_arguments(&json!({ (long): [{ "path": "/a" }, { "path": "/b" }], "path": "/c" }));
    assert_eq!((named.paths.len(), named.left_out), (1, LeftOut::Some), "a pointer is no longer than a path");
    let deep = (0..65).fold(json!({ "path": "/deep" }), |inner, _| json!({ "in": inner }));
    assert_eq!(path_arguments(&deep).left_out, LeftOut::Some);
}

#[test]
fn a_relative_path_is_known_only_where_nothing_else_can_be_its_base() {
    for (arguments, at, path, is_known) in [
        (json!({ "path": "f", "content": "x" }), "/path", "f", true),
        (json!({ "path": "f", "content": "/etc/passwd" }), "/path", "f", true),
        (json!({ "path": "/f", "cwd": "/w" }), "/path", "/f", true),
        (json!({ "path": "f", "cwd": "." }), "/path", "f", true),
        (json!({ "files": ["f", "/g"] }), "/files/0", "f", true),
        (json!({ "files": [{ "path": "f" }, { "path": "/g" }] }), "/files/0/path", "f", true),
        (json!({ "directory": "d" }), "/directory", "d", true),
        (json!({ "repo_path": "/x/repo", "files": ["f"] }), "/files/0", "f", false),
        (json!({ "repo_path": "repo", "files": ["f"] }), "/files/0", "f", false),
        (json!({ "path": "f", "cwd": "w" }), "/path", "f", false),
        (json!({ "path": "f", "workspace": "w" }), "/path", "f", false),
        (json!({ "path": "f", "cwd": format!("/{}etc", "./".repeat(3000)) }), "/path", "f", false),
        (json!({ "path": "f", "in": format!("/{}etc", "./".repeat(3000)) }), "/path", "f", false),
        (json!({ "path": "f", "cwd": "/etc\n" }), "/path", "f", false),
        (json!({ "path": "f", "cwd": "/a\n/b" }), "/path", "f", false),
        (json!({ "path": "f", "in": " /etc" }), "/path", "f", false),
        (json!({ "path": "f", "project": "w" }), "/path", "f", false),
        (json!({ "path": "../f", "where": "~/w" }), "/path", "../f", false),
        (json!({ "path": "f", "in": "/../etc" }), "/path", "f", false),
        (json!({ "path": "f", "repo": "../../etc" }), "/path", "f", false),
        (json!({ "path": "f", "repo": "other" }), "/path", "f", true),
        (json!({ "path": "f", "flags": ["-C/etc"] }), "/path", "f", false),
        (json!({ "path": "f", "flags": "-q -C ../x" }), "/path", "f", false),
        (json!({ "path": "f", "flags": "-q\n-C/etc" }), "/path", "f", false),
        (json!({ "path": "f", "flags": format!("-C/etc {}", "a ".repeat(3000)) }), "/path", "f", false),
        (json!({ "path": "f", "flags": "-xC/etc" }), "/path", "f", false),
        (json!({ "path": "f", "flags": "-d@/etc/passwd" }), "/path", "f", false),
        (json!({ "path": "f", "flags": "-C~/x" }), "/path", "f", false),
        (json!({ "path": "f", "flags": "--directory=\"/etc\"" }), "/path", "f", false),
        (json!({ "path": "f", "env": ["GIT_DIR=~/x"] }), "/path", "f", false),
        (json!({ "path": "f", "flags": ["-n", "--max=3"], "query": "a = b, see x/y" }), "/path", "f", true),
        (json!({ "directory": "src", "filename": "f" }), "/filename", "f", false),
        (json!({ "options": { "in": ["/w"] }, "path": "f" }), "/path", "f", false),
        (json!({ "moves": [{ "from": "/a", "to": "./b" }] }), "/moves/0/to", "./b", false),
    ] {
        let is_left = !is_relative(path) || Bases::of(&arguments).leave(at);
        assert_eq!(is_left, is_known, "{arguments}");
    }
}

#[test]
fn a_relative_path_is_read_below_everything_that_may_be_its_base() {
    for (arguments, readings) in [
        (json!({ "path": "f" }), Some(vec!["f"])),
        (json!({ "path": "f", "repo_path": "/x" }), Some(vec!["f", "/x/f"])),
        (json!({ "path": "../f", "cwd": "~/x" }), Some(vec!["../f", "~/x/../f"])),
        (json!({ "path": "/f", "cwd": "w" }), Some(vec!["/f"])),
        (json!({ "path": "f", "cwd": "w" }), None),
        (json!({ "path": "f", "in": "../x" }), None),
        (json!({ "path": "f", "flags": "-C/etc" }), None),
        (json!({ "path": "f", "in": ["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9"] }), None),
    ] {
        let path = arguments["path"].as_str().unwrap_or_default();
        let found = readings_of(&arguments, "path", path);
        assert_eq!(
            found.as_deref(),
            readings.map(|all| all.into_iter().map(str::to_owned).collect::<Vec<_>>()).as_deref(),
            "{arguments}"
        );
    }
}
