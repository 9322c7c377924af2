//! Writes out the alternatives of a pattern: `{a,b}`, `@(a|b)`. Knows no wildcard and no place.

/// The pieces of a text that may be patterns: cut at white space, quotes and commas, with `@(a|b)` written as `{a,b}`.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = String> {
    let cuts = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | ';' | '=' | ':' | '&');
    // What cuts pieces begins no pattern: a text that holds none has no piece that does.
    let chunks = if may_hold_pattern(text) { text } else { "" }.split(cuts);
    chunks.filter(|chunk| may_hold_pattern(chunk)).flat_map(|chunk| {
        let mut cut = Cutter::default();
        chunk.chars().for_each(|c| cut.take(c));
        cut.end();
        cut.pieces
    })
}

fn may_hold_pattern(chunk: &str) -> bool {
    let mut before = 0;
    chunk.bytes().any(|byte| {
        let group = byte == b'(' && matches!(before, b'@' | b'+' | b'!' | b'/' | b'\\' | b'.');
        before = byte;
        group || is_wild(byte)
    })
}

/// Whether a byte makes a pattern of a text by itself.
pub(super) fn is_wild(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'{')
}

/// What a parenthesis that is open now was taken for.
enum Open {
    Alternatives,
    Other,
}

#[derive(Default)]
struct Cutter {
    pieces: Vec<String>,
    piece: String,
    braces: usize,
    open: Vec<Open>,
}

impl Cutter {
    fn take(&mut self, c: char) {
        match c {
            '(' => self.open(),
            ')' if matches!(self.open.pop(), Some(Open::Alternatives)) => {
                self.piece.push('}');
                self.braces = self.braces.saturating_sub(1);
            }
            '|' if matches!(self.open.last(), Some(Open::Alternatives)) => self.piece.push(','),
            '{' => {
                self.braces += 1;
                self.piece.push(c);
            }
            '}' => {
                self.braces = self.braces.saturating_sub(1);
                self.piece.push(c);
            }
            ',' if self.braces > 0 => self.piece.push(c),
            '|' | ')' | ',' => self.end(),
            _ => self.piece.push(c),
        }
    }

    fn open(&mut self) {
        let (is_sign, group) = match self.piece.chars().last() {
            Some('@' | '+') => (true, "{"),
            Some('?' | '*') => (true, "{,"),
            Some('!') => (true, "{*,"),
            Some('/' | '\\' | '.') => (false, "{"),
            // A function's arguments, or a remark.
            _ => {
                self.end();
                return self.open.push(Open::Other);
            }
        };
        if is_sign {
            self.piece.pop();
        }
        self.piece.push_str(group);
        self.braces += 1;
        self.open.push(Open::Alternatives);
    }

    fn end(&mut self) {
        self.braces = 0;
        self.open.clear();
        if !self.piece.is_empty() {
            self.pieces.push(std::mem::take(&mut self.piece));
        }
    }
}

/// How many alternatives one pattern may have, and how long it may be, to be written out.
const MOST: usize = 64;
const LONGEST: usize = 4096;

/// More alternatives than are read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMany;

/// Every alternative of a pattern, written out.
pub(super) fn written_out(pattern: &str) -> Result<Vec<String>, TooMany> {
    let groups = pattern.bytes().filter(|byte| *byte == b'{').count();
    if groups == 0 {
        return Ok(vec![pattern.to_owned()]);
    }
    if groups > MOST || pattern.len() > LONGEST {
        return Err(TooMany);
    }
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(pattern) = open.pop() {
        // The innermost group: the last brace that opens before the first that closes it.
        let group = pattern.match_indices('}').find_map(|(end, _)| pattern[..end].rfind('{').map(|start| (start, end)));
        let Some((start, end)) = group else {
            done.push(pattern);
            continue;
        };
        let inside = &pattern[start + 1..end];
        // `{a..z}` is a range of things that are not said.
        let range = !inside.contains(',') && inside.contains("..");
        for alternative in inside.split(',') {
            let alternative = if range { "*" } else { alternative };
            open.push(format!("{}{alternative}{}", &pattern[..start], &pattern[end + 1..]));
        }
        if open.len() + done.len() > MOST {
            return Err(TooMany);
        }
    }
    Ok(done)
}
