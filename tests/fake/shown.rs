//! The text behind what is shown: reads the escapes of `text::plain` back, so that tests can say that nothing was lost.

use mcp_approve::text::plain::{Edges, TextPiece, segment};

const OPEN: char = '⟨';
const CLOSE: char = '⟩';
const SPACE: char = '␠';

/// An escape at this byte is none of ours.
#[derive(Debug, PartialEq, Eq)]
pub struct Undecodable {
    pub at: usize,
}

/// Gives back the text that is shown so.
pub fn decode(shown: &str) -> Result<String, Undecodable> {
    let mut text = String::with_capacity(shown.len());
    let mut at = 0;
    while let Some(c) = shown[at..].chars().next() {
        let start = at;
        at += c.len_utf8();
        match c {
            OPEN => {
                let wrong = || Undecodable { at: start };
                let (inside, _) = shown[at..].split_once(CLOSE).ok_or_else(wrong)?;
                if let Some(count) = inside.strip_suffix(" spaces") {
                    text.extend(std::iter::repeat_n(' ', count.parse().map_err(|_| wrong())?));
                } else {
                    text.push(decoded(inside).ok_or_else(wrong)?);
                }
                at += inside.len() + CLOSE.len_utf8();
            }
            SPACE => text.push(' '),
            _ => text.push(pictured(c).unwrap_or(c)),
        }
    }
    Ok(text)
}

fn decoded(inside: &str) -> Option<char> {
    let (_, hex) = inside.rsplit_once("U+")?;
    char::from_u32(u32::from_str_radix(hex, 16).ok()?)
}

/// Shows a text on as many lines as it has.
pub fn lines(text: &str) -> Vec<Vec<TextPiece>> {
    text.split_inclusive('\n').map(|line| segment(line, Edges::Block)).collect()
}

/// The control that a picture stands for.
fn pictured(c: char) -> Option<char> {
    let code = u32::from(c).checked_sub(0x2400)?;
    if code < 0x20 { char::from_u32(code) } else { None }
}
