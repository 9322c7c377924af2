//! Which changes of files are reported, and which are looked for by time.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use mcp_approve::interpose::watch::{Files, Watch};

/// Microseconds after which a changed file is looked at.
const SETTLED: u64 = 150_000;

#[tokio::test]
async fn a_link_on_the_way_to_files_of_both_kinds_concerns_both() {
    let folder = tempfile::tempdir().unwrap();
    let (link, draft) = (folder.path().join("link"), folder.path().join("draft"));
    for (target, place) in [("one", &link), ("two", &draft)] {
        fs::create_dir(folder.path().join(target)).unwrap();
        symlink(target, place).unwrap();
    }
    let mut watch = Watch::new();
    for (files, name) in [(Files::Policy, "policy.toml"), (Files::Pins, "pins.db")] {
        let added = watch.watcher(files).add(&[link.join(name)]);
        watch.begin(added);
    }
    fs::rename(draft, link).unwrap();
    watch.reported().await;
    watch.take(0);
    assert_eq!([Files::Policy, Files::Pins].map(|files| watch.is_due(SETTLED, files)), [true; 2]);
}

/// Whether the system reports every change of a file: then there is no look for a long time.
fn is_reported(file: &Path) -> bool {
    let mut watch = Watch::new();
    let added = watch.watcher(Files::Policy).add(&[file.to_owned()]);
    watch.begin(added);
    watch.wake_at().unwrap() > 1_000_000
}

#[tokio::test]
async fn a_file_that_cannot_be_watched_is_looked_for_by_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    fs::write(&file, "").unwrap();
    let is_local = is_reported(&file);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o200)).unwrap();
    // Root may read it all the same.
    let may_read = fs::File::open(&file).is_ok();
    assert_eq!(is_reported(&file), is_local && may_read);
}

/// Only in a separate mount namespace, which not every system gives to every user.
#[tokio::test]
async fn a_file_mounted_over_another_is_judged_by_its_own_disk() {
    const MOUNTED: &str = "MCP_APPROVE_TEST_MOUNTED";
    if let Some(file) = std::env::var_os(MOUNTED) {
        return assert!(!is_reported(&PathBuf::from(file)), "its folder's disk reports, and its own does not");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    fs::write(&file, "").unwrap();
    let may_mount = Command::new("unshare").args(["--mount", "true"]).output().is_ok_and(|out| out.status.success());
    if !may_mount || !is_reported(&file) {
        return println!("SKIPPED: no mount namespace, or no local disk");
    }
    let script = r#"mount --bind /proc/version "$1" && exec "$0" --exact interpose::watch::a_file_mounted_over_another_is_judged_by_its_own_disk"#;
    let mut inside = Command::new("unshare");
    inside.args(["--mount", "sh", "-c", script]).arg(std::env::current_exe().unwrap()).arg(&file);
    let out = inside.env(MOUNTED, &file).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && said.contains("1 passed"), "{said}");
}
