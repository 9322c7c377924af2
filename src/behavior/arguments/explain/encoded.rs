//! Text that is written as Base64. Judges nothing of it.

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};

/// What is shorter hides no statement.
const SHORTEST: usize = 12;

/// The text that this is the Base64 of: printable, with a sign that names and tokens do not have.
pub fn text(text: &str) -> Option<String> {
    let plain = text.trim_end_matches('=');
    if plain.len() < SHORTEST {
        return None;
    }
    let alphabet = if plain.contains(['-', '_']) { BASE64URL_NOPAD } else { BASE64_NOPAD };
    let found = String::from_utf8(alphabet.decode(plain.as_bytes()).ok()?).ok()?;
    let is_printable = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    (found.chars().all(is_printable) && found.contains([' ', '\n', '(', '{', '[', ';'])).then_some(found)
}
