//! A journal's write-ahead log: whether SQLite overlooks commits in it, whether its end was cut off, and room made in it.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, IoSlice, Read, Write as _};
use std::path::Path;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The last bit says whether checksums read their numbers as big-endian.
const WAL_MAGIC: u32 = 0x377f_0682;

/// What a write-ahead log shows of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frames {
    /// SQLite shows all of its commits.
    Whole,
    /// SQLite overlooks commits that are behind a damaged place.
    HideCommits,
    /// Behind the last commit there is less room than was made for it.
    CutOff,
}

/// Looks at the newest log in this file.
pub(super) fn look(wal: &Path) -> io::Result<Frames> {
    let mut file = match File::open(wal) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Frames::Whole),
        file => BufReader::new(file?),
    };
    let size = file.get_ref().metadata()?.len();
    let mut header = [0; HEADER];
    if !fill(&mut file, &mut header)? || header == [0; HEADER] {
        return Ok(Frames::Whole);
    }
    let (magic, page) = (word(&header[..4]), word(&header[8..12]) as usize);
    let mut sum = Sum { high_first: magic & 1 == 1, of: (0, 0) };
    sum.add(&header[..24]);
    if magic & !1 != WAL_MAGIC || !sum.is(&header[24..]) || !(512..=65_536).contains(&page) {
        return Ok(Frames::HideCommits);
    }
    let (mut frame, mut is_shown) = (vec![0; FRAME_HEADER + page], true);
    let (mut at, mut last) = (HEADER, 0);
    while fill(&mut file, &mut frame)? {
        let (head, content) = frame.split_at(FRAME_HEADER);
        let (is_of_this, commits) = (head[8..16] == header[16..24], word(&head[4..8]) != 0);
        if !is_shown && is_of_this && commits {
            return Ok(Frames::HideCommits);
        }
        sum.add(&head[..8]);
        sum.add(content);
        is_shown = is_shown && is_of_this && sum.is(&head[16..]);
        at += frame.len();
        if is_shown && commits {
            last = at as u64;
        }
    }
    Ok(if last > 0 && size < last + AHEAD / 2 { Frames::CutOff } else { Frames::Whole })
}

/// Fills `bytes` from the file; `false` if the file has fewer.
fn fill(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// The checksum of all frames so far.
struct Sum {
    high_first: bool,
    of: (u32, u32),
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        let of_bytes = if self.high_first { u32::from_be_bytes } else { u32::from_le_bytes };
        for [first, second] in bytes.as_chunks::<4>().0.as_chunks::<2>().0 {
            self.of.0 = self.of.0.wrapping_add(of_bytes(*first)).wrapping_add(self.of.1);
            self.of.1 = self.of.1.wrapping_add(of_bytes(*second)).wrapping_add(self.of.0);
        }
    }

    fn is(&self, stored: &[u8]) -> bool {
        (word(&stored[..4]), word(&stored[4..])) == self.of
    }
}

const PIECE: [u8; 4096] = [0; 4096];
/// Pieces that are written at once.
const PIECES: usize = 32;
/// How many bytes ahead of the need room is made.
pub(super) const AHEAD: u64 = 64 << 10;

/// Up to where a write-ahead log has room.
///
/// At the end of a file each page that SQLite writes takes a small piece of memory and disk; many pages at once take one large
/// piece, and overwriting a page there costs two thirds, then and ever after. SQLite takes zeros for the end of the log.
#[derive(Debug, Default)]
pub(super) struct Room(u64);

impl Room {
    /// Makes room for so many bytes in `wal`, which is open to append: so nothing that is there is ever written over.
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
