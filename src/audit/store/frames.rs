//! A write-ahead log by its bytes (sqlite.org/fileformat2.html, section 4): whether it holds commits that SQLite does not
//! show. SQLite reads up to the first frame whose checksum fails, and takes whatever is behind it for an older log.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The last bit says whether checksums read their numbers as big-endian.
const MAGIC: u32 = 0x377f_0682;

/// Whether SQLite overlooks commits of the newest log in this file. A cut-off end cannot be detected here.
///
/// # Errors
/// Why the file could not be read.
pub(super) fn hides_commits(wal: &Path) -> io::Result<bool> {
    let mut file = match File::open(wal) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        file => BufReader::new(file?),
    };
    let mut header = [0; HEADER];
    if !fill(&mut file, &mut header)? || header == [0; HEADER] {
        return Ok(false);
    }
    let (magic, page) = (number(&header[..4]), number(&header[8..12]) as usize);
    let mut sum = Sum { high_first: magic & 1 == 1, of: (0, 0) };
    sum.add(&header[..24]);
    if magic & !1 != MAGIC || !sum.is(&header[24..]) || !(512..=65_536).contains(&page) {
        return Ok(true);
    }
    let (mut frame, mut is_shown) = (vec![0; FRAME_HEADER + page], true);
    while fill(&mut file, &mut frame)? {
        let (head, content) = frame.split_at(FRAME_HEADER);
        let (is_of_this, commits) = (head[8..16] == header[16..24], number(&head[4..8]) != 0);
        if !is_shown && is_of_this && commits {
            return Ok(true);
        }
        sum.add(&head[..8]);
        sum.add(content);
        is_shown = is_shown && is_of_this && sum.is(&head[16..]);
    }
    Ok(false)
}

/// Fills `bytes` from the file; `false` if the file has fewer.
fn fill(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}

fn number(bytes: &[u8]) -> u32 {
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
        (number(&stored[..4]), number(&stored[4..])) == self.of
    }
}
