//! The key that redacted values are hashed with: made once, kept in the state folder. Owns the file, not the hashing.

use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use super::place::open_own;

/// Random bytes from the system.
pub(super) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The redaction key, made when it is missing. Two wrappers that start at once agree on one: the file appears whole,
/// under its name, or not at all.
pub(super) fn key(path: &Path) -> io::Result<[u8; 32]> {
    match read(path) {
        Ok(key) => return Ok(key),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let suffix = u64::from_be_bytes(random()?);
    let draft = path.with_extension(format!("{suffix:016x}"));
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let written =
        file.write_all(&random::<32>()?).and_then(|()| file.sync_all()).and_then(|()| {
            match std::fs::hard_link(&draft, path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                _ => Ok(()),
            }
        });
    std::fs::remove_file(&draft)?;
    written?;
    read(path)
}

/// Whoever knows the key can guess what it hides, so it is taken from a file of our own only.
fn read(path: &Path) -> io::Result<[u8; 32]> {
    let mut bytes = Vec::new();
    open_own(path)?.take(33).read_to_end(&mut bytes)?;
    bytes.try_into().map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it does not hold 32 bytes"))
}
