//! The demo server's workspace: files by relative path, confined to one folder. Knows nothing of MCP.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// What went wrong with a file, in the tool's answer to the agent.
#[derive(Debug, thiserror::Error)]
pub(super) enum FolderError {
    #[error("{0:?} leads out of the workspace; give a path inside it, relative to its root")]
    Outside(String),
    #[error("{0:?} exists already; choose another destination")]
    Exists(String),
    #[error("{path:?}: {cause}")]
    Failed { path: String, cause: io::Error },
}

/// The folder that all paths are relative to.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Takes an existing folder.
    pub(super) fn at(root: &Path) -> io::Result<Self> {
        Ok(Self { root: fs::canonicalize(root)? })
    }

    /// A path in the folder that no caller chose.
    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Names in a folder, sorted, folders with a trailing slash.
    pub(super) fn list(&self, path: &str) -> Result<Vec<String>, FolderError> {
        let inside = self.inside(path)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(inside).map_err(|cause| failed(path, cause))? {
            let entry = entry.map_err(|cause| failed(path, cause))?;
            let slash = if entry.path().is_dir() { "/" } else { "" };
            names.push(format!("{}{slash}", entry.file_name().to_string_lossy()));
        }
        names.sort();
        Ok(names)
    }

    /// The text of a file.
    pub(super) fn read(&self, path: &str) -> Result<String, FolderError> {
        fs::read_to_string(self.inside(path)?).map_err(|cause| failed(path, cause))
    }

    /// Creates or replaces a file.
    pub(super) fn write(&self, path: &str, content: &str) -> Result<(), FolderError> {
        fs::write(self.inside(path)?, content).map_err(|cause| failed(path, cause))
    }

    /// Deletes a file.
    pub(super) fn delete(&self, path: &str) -> Result<(), FolderError> {
        fs::remove_file(self.inside(path)?).map_err(|cause| failed(path, cause))
    }

    /// Moves a file to a place that is free.
    pub(super) fn rename(&self, source: &str, destination: &str) -> Result<(), FolderError> {
        let (from, to) = (self.inside(source)?, self.inside(destination)?);
        if to.exists() {
            return Err(FolderError::Exists(destination.into()));
        }
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(|cause| failed(destination, cause))?;
        }
        fs::rename(from, to).map_err(|cause| failed(source, cause))
    }

    /// The real path, if no part of it leaves the folder: neither by `..` nor over a link.
    fn inside(&self, path: &str) -> Result<PathBuf, FolderError> {
        let asked = Path::new(path);
        let relative = asked.strip_prefix(&self.root).unwrap_or(asked);
        let mut real = self.root.clone();
        for part in relative.components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) => real.push(name),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(FolderError::Outside(path.into()));
                }
            }
            if real.is_symlink() {
                return Err(FolderError::Outside(path.into()));
            }
        }
        Ok(real)
    }
}

fn failed(path: &str, cause: io::Error) -> FolderError {
    FolderError::Failed { path: path.into(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leaves_the_workspace() {
        let around = tempfile::tempdir().unwrap();
        let root = around.path().join("work");
        fs::create_dir(&root).unwrap();
        fs::write(around.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink(around.path(), root.join("up")).unwrap();
        let folder = Folder::at(&root).unwrap();
        for path in ["../secret", "a/../../secret", "/etc/passwd", "up/secret", "up"] {
            assert!(folder.read(path).is_err(), "{path} was read");
            assert!(folder.write(path, "x").is_err(), "{path} was written");
            assert!(folder.delete(path).is_err(), "{path} was deleted");
        }
        folder.write("./inside.txt", "x").unwrap();
        let absolute = folder.place("inside.txt");
        assert_eq!(folder.read(absolute.to_str().unwrap()).unwrap(), "x");
        assert_eq!(fs::read_to_string(around.path().join("secret")).unwrap(), "s");
    }

    #[test]
    fn a_move_never_replaces() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::at(root.path()).unwrap();
        folder.write("a", "1").unwrap();
        folder.write("b", "2").unwrap();
        assert!(matches!(folder.rename("a", "b"), Err(FolderError::Exists(_))));
        folder.rename("a", "deep/er/c").unwrap();
        assert_eq!(folder.read("deep/er/c").unwrap(), "1");
        assert_eq!(folder.list(".").unwrap(), ["b", "deep/"]);
    }
}
