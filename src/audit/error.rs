//! Why the log cannot be written or read, with what to do next. Knows nothing of SQLite.

use std::path::PathBuf;

/// Why the log cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the audit log {path} cannot be written: {why}")]
    ReadOnly { path: PathBuf, why: String },
    #[error("the audit log {path} cannot grow: {why}")]
    Full { path: PathBuf, why: String },
    #[error("{path} is not an audit log: {why}")]
    NotALog { path: PathBuf, why: String },
    #[error("the audit log {path} is not used: {why}")]
    Exposed { path: PathBuf, why: String },
    #[error("the audit log {path} has format {found}; this program knows another")]
    Version { path: PathBuf, found: i64 },
    #[error("the audit log cannot be in {path}: it is on a network file system ({kind})")]
    Network { path: PathBuf, kind: String },
    #[error("the audit log stayed locked by another process: {path}")]
    Busy { path: PathBuf },
    #[error("the audit log {path} is damaged: {why}")]
    Damaged { path: PathBuf, why: String },
    #[error("the audit log {path} failed: {why}")]
    Io { path: PathBuf, why: String },
}

impl StoreError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::ReadOnly { .. } => {
                "make its folder writable for your user, or choose another with --home or --audit-db"
            }
            Self::Full { .. } => "free some space, or raise the file size limit (ulimit -f)",
            Self::NotALog { .. } => "move that file away, or choose another with --audit-db",
            Self::Exposed { .. } => {
                "find out who did that; then make it a file of your own (chmod go-w), or move it away, or choose another with --audit-db"
            }
            Self::Version { .. } => {
                "use the version of mcp-approve that wrote it, or move it and its audit.head away to begin a new log"
            }
            Self::Network { .. } => "choose a local folder with --home or --audit-db",
            Self::Busy { .. } => {
                "look for a stopped mcp-approve process that holds the lock, and end it; if there is none, the disk is too slow"
            }
            Self::Damaged { .. } => "keep a copy, and move it and its audit.head away to begin a new log",
            Self::Io { .. } => "look at the disk and the folder, then try again",
        }
    }
}
