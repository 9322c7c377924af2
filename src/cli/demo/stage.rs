//! The demo's place on disk: one temporary folder with the workspace, the wrapper's home and the agent's diary.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::process::{Pid, getuid, test_kill_process};

use crate::cli::demo::error;
use crate::cli::demo::tools::{SHOP_FILE, Shop};
use crate::cli::error::Error;

const FILES: [(&str, &str); 5] = [
    ("report.md", "# Report of week 46\n\n| status | orders |\n|---|---|\n| open | 3 |\n| paid | 1 |\n"),
    (
        "notes.md",
        "# Notes\n\nWritten by hand; please keep.\n\n- call Ada about order 1003\n- check the skin parameter\n",
    ),
    ("drafts/plan-2024.md", "# Plan for 2024\n\nOut of date, and still the only copy.\n"),
    ("drafts/todo.md", "# To do\n\n- tidy the drafts\n"),
    ("jobs/README", "One file per simulation job.\n"),
];

/// How the folders' names begin; the process and a number follow.
const NAME: &str = "mcp-demo-";
/// A file that marks a folder whose demo is not over: a finished demo keeps its folder without it.
const PLAYING: &str = ".playing";

/// A temporary folder that this demo alone uses.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) root: PathBuf,
    /// The folder the server works in.
    pub(super) work: PathBuf,
    /// What `--home` names: configuration, log and sockets of this demo.
    pub(super) home: PathBuf,
}

/// The demo's own policy: what its agent reads of the database, statement by statement.
const POLICY: &str = include_str!("../../../assets/demo/policy.toml");

impl Stage {
    /// Makes the folder in `around`, readable by this user only, and furnishes the workspace.
    pub(super) fn set(around: &Path) -> Result<Self, Error> {
        let made = DirBuilder::new().mode(0o700).recursive(true).create(around);
        // As an absolute path, since the demo's processes work in other folders.
        let around = &made.and_then(|()| around.canonicalize()).map_err(|cause| error::io("making", around, cause))?;
        sweep(around);
        let root = (0..100)
            .map(|n| around.join(format!("{NAME}{}-{n}", std::process::id())))
            .find_map(|root| match private(&root) {
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => None,
                made => Some(made.map(|()| root)),
            })
            .unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))
            .map_err(|cause| error::io("making a folder in", around, cause))?;
        let stage = Self { work: root.join("work"), home: root.join("home"), root };
        let playing = stage.root.join(PLAYING);
        fs::write(&playing, "").map_err(|cause| error::io("writing", &playing, cause))?;
        for folder in [&stage.work, &stage.home] {
            private(folder).map_err(|cause| error::io("making", folder, cause))?;
        }
        let config = stage.home.join("config");
        private(&config).map_err(|cause| error::io("making", &config, cause))?;
        let policy = config.join("policy.toml");
        let written =
            fs::write(&policy, POLICY).and_then(|()| fs::set_permissions(&policy, Permissions::from_mode(0o600)));
        written.map_err(|cause| error::io("writing", &policy, cause))?;
        fill(&stage.work)?;
        Ok(stage)
    }

    /// Ends the demo, and leaves everything in place for the operator to look at.
    pub(super) fn keep(&self) {
        // If the mark cannot be removed, the next demo removes the folder as that of a killed demo.
        let _ = fs::remove_file(self.root.join(PLAYING));
    }
}

/// Puts the files and the database into an empty workspace.
pub(super) fn fill(work: &Path) -> Result<(), Error> {
    for (name, content) in FILES {
        let place = work.join(name);
        place
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&place, content))
            .map_err(|cause| error::io("writing", &place, cause))?;
    }
    Ok(Shop::create(&work.join(SHOP_FILE))?)
}

/// Removes the folders of demos that were killed: our own by owner, mode, name and what is in them, and only where
/// the process that made them is gone. What cannot be removed stays, and does no harm.
fn sweep(around: &Path) {
    let entries = fs::read_dir(around).into_iter().flatten().flatten();
    for entry in entries {
        let maker = entry.file_name().to_str().and_then(maker);
        let is_private =
            |meta: fs::Metadata| meta.is_dir() && meta.uid() == getuid().as_raw() && meta.mode() & 0o077 == 0;
        let ours = || entry.path().symlink_metadata().is_ok_and(is_private) && entry.path().join(PLAYING).is_file();
        if maker.is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH)) && ours() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The process in a folder's name.
fn maker(name: &str) -> Option<Pid> {
    let (pid, number) = name.strip_prefix(NAME)?.split_once('-')?;
    number.parse::<u8>().ok()?;
    Pid::from_raw(pid.parse().ok().filter(|pid| *pid > 0)?)
}

fn private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[test]
    fn only_what_a_killed_demo_of_ours_left_is_removed() {
        let mut gone = Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let (gone, alive) = (gone.id(), std::process::id());
        let around = tempfile::tempdir().unwrap();
        let folder = |name: String, mode: u32, playing: bool| {
            let root = around.path().join(name);
            fs::create_dir(&root).unwrap();
            fs::write(root.join("agent.log"), "").unwrap();
            if playing {
                fs::write(root.join(PLAYING), "").unwrap();
            }
            fs::set_permissions(&root, fs::Permissions::from_mode(mode)).unwrap();
            root
        };
        let killed = folder(format!("{NAME}{gone}-0"), 0o700, true);
        let kept = [
            folder(format!("{NAME}{gone}-1"), 0o700, false),
            folder(format!("{NAME}{gone}-2"), 0o755, true),
            folder(format!("{NAME}{alive}-0"), 0o700, true),
            folder(format!("{NAME}{gone}"), 0o700, true),
            folder(format!("other-{gone}-0"), 0o700, true),
        ];
        let (elsewhere, link) =
            (folder("elsewhere".into(), 0o700, true), around.path().join(format!("{NAME}{gone}-3")));
        symlink(&elsewhere, &link).unwrap();
        sweep(around.path());
        assert!(!killed.exists());
        for folder in kept.iter().chain([&elsewhere, &link]) {
            assert!(folder.exists(), "{} is gone", folder.display());
        }
        assert!(elsewhere.join("agent.log").exists());
    }
}
