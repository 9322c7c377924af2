//! Reads the frames of a journal's write-ahead log: whether SQLite overlooks commits in it, and whether its end was cut off.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

use super::room::AHEAD;

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
///
/// # Errors
/// Why the file could not be read.
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
