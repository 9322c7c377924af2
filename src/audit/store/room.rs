//! Room in a write-ahead log, made ahead of SQLite. Knows nothing of what is written there.
//!
//! SQLite writes a page at a time. At the end of a file, the file system takes a small piece of memory and disk for
//! each page; for many pages written at once it takes one large piece, and overwriting a page there costs only two
//! thirds, then and ever after. SQLite takes zeros for the end of the log.

use std::fs::File;
use std::io::{self, ErrorKind, IoSlice, Write as _};

const PIECE: [u8; 4096] = [0; 4096];
/// Pieces that are written at once.
const PIECES: usize = 32;
/// How many bytes ahead of the need room is made.
pub(super) const AHEAD: u64 = 64 << 10;

/// Up to where a write-ahead log has room.
#[derive(Debug, Default)]
pub(super) struct Room(u64);

impl Room {
    /// Makes room for so many bytes in `wal`, which is open to append: so nothing that is there is ever written over.
    ///
    /// # Errors
    /// Why there is no such room.
    pub(super) fn reach(&mut self, mut wal: &File, bytes: u64) -> io::Result<()> {
        while self.0 < bytes + AHEAD {
            self.0 = wal.metadata()?.len();
            if self.0 < bytes + AHEAD && wal.write_vectored(&[IoSlice::new(&PIECE); PIECES])? == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
        }
        Ok(())
    }
}
