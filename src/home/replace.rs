//! Replaces the text of a file, whole or not at all: a reader sees the old text or the new one. A link stays a link.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Drafts begun by this process.
static DRAFTS: AtomicU64 = AtomicU64::new(0);

/// Replaces a file of our own, with the mode that it has; makes its folder where there is none.
/// Errors: what could not be written; then nothing was changed.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mode = fs::metadata(path).map_or(0o600, |found| found.permissions().mode() & 0o777);
    let prepare = |new: &File| new.set_permissions(Permissions::from_mode(mode));
    replace_if(path, text, prepare, || Ok(true)).map(drop)
}

/// Replaces a file if `may` agrees at the last moment; returns whether it did. `prepare` sets the new mode and owner.
pub fn replace_if(
    path: &Path,
    text: &str,
    prepare: impl FnOnce(&File) -> io::Result<()>,
    may: impl FnOnce() -> io::Result<bool>,
) -> io::Result<bool> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = target.parent().unwrap_or(Path::new("/")).to_path_buf();
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // Unique even among threads: the console of `--inline` writes beside the wrapper's reload.
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let draft = folder.join(format!(".{name}.mcp-approve-{}-{number}", std::process::id()));
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(text.as_bytes())?;
        prepare(&file)?;
        file.sync_all()?;
        if !may()? {
            fs::remove_file(&draft)?;
            return Ok(false);
        }
        fs::rename(&draft, &target)?;
        File::open(&folder)?.sync_all()?;
        Ok(true)
    };
    write().inspect_err(|_| drop(fs::remove_file(&draft)))
}
