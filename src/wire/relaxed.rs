//! JSON with comments and commas before a closing bracket, as editors keep their settings. Never for what comes on a pipe.

use serde_json::Value;

/// Reads such a text.
///
/// # Errors
/// The text is no JSON even without its comments and trailing commas.
pub fn json(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&plain(text))
}

/// The same text as plain JSON; line breaks stay, so that an error names the right line.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let token = string_length(rest);
                out.push_str(&rest[..token]);
                token
            }
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => {
                let end = rest[2..].find("*/").map_or(rest.len(), |end| end + 4);
                // Two tokens with a comment between them stay two.
                out.push(' ');
                out.extend(rest[..end].matches('\n'));
                end
            }
            '}' | ']' => {
                let trimmed = out.trim_end().len();
                if out[..trimmed].ends_with(',') {
                    out.replace_range(trimmed - 1..trimmed, " ");
                }
                out.push(first);
                1
            }
            other => {
                out.push(other);
                other.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    out
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}
