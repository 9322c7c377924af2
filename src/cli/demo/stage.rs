//! The demo's place on disk: one temporary folder with the workspace, the wrapper's home and the agent's diary.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::DemoError;
use super::database::Shop;
use super::story::REPORT;
use super::tools::SHOP_FILE;

const FILES: [(&str, &str); 5] = [
    ("report.md", REPORT),
    (
        "notes.md",
        "# Notes\n\nWritten by hand; please keep.\n\n- call Ada about order 1003\n- check the skin parameter\n",
    ),
    ("drafts/plan-2024.md", "# Plan for 2024\n\nOut of date, and still the only copy.\n"),
    ("drafts/todo.md", "# To do\n\n- tidy the drafts\n"),
    ("jobs/README", "One file per simulation job.\n"),
];

/// A temporary folder that this demo alone uses.
#[derive(Debug)]
pub(super) struct Stage {
    root: PathBuf,
}

impl Stage {
    /// Makes the folder, readable by this user only, and furnishes the workspace.
    pub(super) fn set() -> Result<Self, DemoError> {
        let around = std::env::temp_dir();
        let root = (0..100)
            .map(|n| around.join(format!("mcp-demo-{}-{n}", std::process::id())))
            .find_map(|root| match private(&root) {
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => None,
                made => Some(made.map(|()| root)),
            })
            .unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))
            .map_err(|cause| DemoError::io("making a temporary folder in", &around, cause))?;
        let stage = Self { root };
        for folder in [stage.work(), stage.home()] {
            private(&folder).map_err(|cause| DemoError::io("making", &folder, cause))?;
        }
        furnish(&stage.work())?;
        Ok(stage)
    }

    /// The whole folder.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder the server works in.
    pub(super) fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// What `--home` names: configuration, log and sockets of this demo.
    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Where the wrapper's socket appears.
    pub(super) fn run_dir(&self) -> PathBuf {
        self.home().join("state").join("run")
    }

    /// The agent's diary.
    pub(super) fn diary(&self) -> PathBuf {
        self.root.join("agent.log")
    }

    /// Removes everything.
    pub(super) fn strike(self) -> Result<(), DemoError> {
        fs::remove_dir_all(&self.root).map_err(|cause| DemoError::io("removing", &self.root, cause))
    }
}

/// Puts the files and the database into an empty workspace.
pub(super) fn furnish(work: &Path) -> Result<(), DemoError> {
    for (name, content) in FILES {
        let place = work.join(name);
        place
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&place, content))
            .map_err(|cause| DemoError::io("writing", &place, cause))?;
    }
    Ok(Shop::create(&work.join(SHOP_FILE))?)
}

fn private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}
