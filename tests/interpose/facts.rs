//! What a look finds: links followed as the system follows them, and what is there, within the budget.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mcp_approve::gate::data::facts::{Facts, FileKind, Look, TEXT};
use mcp_approve::interpose::facts::{PathBase, Projects, found};

fn later() -> Instant {
    Instant::now() + Duration::from_secs(5)
}

fn touched(base: &PathBase, path: &str) -> Facts {
    let wanted = Look { files: vec![("/path".into(), path.into())], ..Look::default() };
    found(base, &wanted, &mut Projects::default(), later()).files.remove(0)
}

#[test]
fn every_link_is_followed_as_the_system_does() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    fs::create_dir_all(top.join("a/b")).unwrap();
    fs::write(top.join("a/file"), "text").unwrap();
    for (link, target) in [
        ("a/up", "../a"),
        ("a/b/file", "../file"),
        ("whole", top.join("a").to_str().unwrap()),
        ("dangling", "a/new/file"),
        ("round", "about"),
        ("about", "round"),
    ] {
        symlink(target, top.join(link)).unwrap();
    }
    let base = PathBase { home: Some(top.join("a")), folder: Some(top.clone()) };
    for (path, real) in [
        ("a/file", Some("a/file")),
        ("~/file", Some("a/file")),
        ("~", Some("a")),
        ("a/up/up/b/file", Some("a/file")),
        ("whole/b/../file", Some("a/file")),
        ("a/b/file/", Some("a/file")),
        ("new/deep/er", Some("new/deep/er")),
        ("dangling", Some("a/new/file")),
        ("new/../a", None),
        ("round", None),
        ("a/file/below", None),
        ("~root/x", None),
        #[cfg(target_os = "linux")]
        ("/proc/self/cwd/a", None),
    ] {
        let wanted = Look { real: [path.into()].into(), ..Look::default() };
        let found =
            found(&base, &wanted, &mut Projects::default(), later()).real.remove(path).flatten().map(PathBuf::from);
        assert_eq!(found, real.map(|real| top.join(real)), "{path}");
        if let (Some(found), Ok(system)) = (&found, top.join(path).canonicalize()) {
            assert_eq!(*found, system, "{path}: the system opens another file");
        }
    }
    assert_eq!(touched(&base, "dangling").link.as_deref(), Some("a/new/file"));
    // Of two folders that do not exist, the first; where the folder exists, none.
    let lacks = |path: &str| touched(&base, path).lacks.map(PathBuf::from);
    assert_eq!(lacks("a/up/new/deep/er"), Some(top.join("a/new")));
    assert_eq!(lacks("dangling"), Some(top.join("a/new")));
    assert_eq!((lacks("a/other"), lacks("a/file")), (None, None));
    assert_eq!(touched(&base, "whole/file").link, None, "a link on the way is not the file's");
}

#[test]
fn what_stands_there_is_told_within_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let base = PathBase { home: None, folder: Some(folder.path().to_owned()) };
    fs::write(folder.path().join("text"), "one").unwrap();
    fs::write(folder.path().join("bytes"), [0xff, 0]).unwrap();
    fs::write(folder.path().join("long"), "x".repeat(TEXT as usize + 1)).unwrap();
    File::create(folder.path().join("huge")).unwrap().set_len((16 << 20) + 1).unwrap();
    let mut pipe = std::process::Command::new("mkfifo");
    assert!(pipe.arg(folder.path().join("pipe")).status().unwrap().success());
    let text = touched(&base, "text");
    assert_eq!((text.kind, text.size, text.text.as_deref()), (FileKind::File, Some(3), Some("one")));
    assert_eq!(text.digest, Some(mcp_approve::wire::digest::Digest::of(b"one")));
    let bytes = touched(&base, "bytes");
    assert!(bytes.digest.is_some() && bytes.text.is_none() && bytes.unseen.is_none());
    assert!(touched(&base, "long").digest.is_some_and(|_| touched(&base, "long").text.is_none()));
    let huge = touched(&base, "huge");
    assert!(huge.digest.is_none() && huge.stamp.is_some() && huge.unseen.is_some(), "{huge:?}");
    assert_eq!(touched(&base, "pipe").kind, FileKind::Other, "and no one waits for a writer");
    assert_eq!(touched(&base, ".").entries, Some(5));
    assert_eq!(touched(&base, "none").kind, FileKind::Missing);
    let late = found(
        &base,
        &Look { files: vec![("/p".into(), "text".into())], ..Look::default() },
        &mut Projects::default(),
        Instant::now() - Duration::from_secs(1),
    );
    assert!(late.files[0].unseen.as_deref().is_some_and(|why| why.contains("no time")));
}
