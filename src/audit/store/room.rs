//! Room in a write-ahead log, made ahead of SQLite. Knows nothing of what is written there.
//!
//! SQLite writes a page at a time. At the end of a file, the file system takes a small piece of memory and disk for
//! each page; for many pages written at once it takes one large piece, and overwriting a page there costs only two
//! thirds, then and ever after. SQLite takes zeros for the end of the log.

use std::fs::File;
use std::io::{IoSlice, Write as _};

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
    pub(super) fn reach(&mut self, mut wal: &File, bytes: u64) {
        while self.0 < bytes + AHEAD {
            let Ok(found) = wal.metadata() else { return };
            self.0 = found.len();
            let is_short = self.0 < bytes + AHEAD;
            if is_short && !wal.write_vectored(&[IoSlice::new(&PIECE); PIECES]).is_ok_and(|written| written > 0) {
                // SQLite meets the same error when it writes, and then nothing is recorded.
                return;
            }
        }
    }
}
