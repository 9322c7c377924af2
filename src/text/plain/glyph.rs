//! What one character does on a terminal: shows, joins, or must be escaped; and whether a word's letters pass for ASCII ones:
//! Latin mixed with its rivals, or a rival's word tied to ASCII by a joint. The tables are Unicode's general categories plus
//! the characters that are assigned, printable by category, and yet look like nothing.

use unicode_general_category::{GeneralCategory as Category, get_general_category};
use unicode_width::UnicodeWidthChar;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Glyph {
    /// Shows as itself, in columns of its own.
    Shows,
    /// Joins the character before it: a combining mark, a conjoining vowel.
    Joins,
    /// A C0 control: shown as its control picture.
    Picture(char),
    /// Anything a reader would not see, or take for something of ours: shown as its code point.
    Hides,
}

/// The opener of every escape but the control pictures.
pub(super) const OPEN: char = '⟨';
pub(super) const CLOSE: char = '⟩';
pub(super) const SPACE: char = '␠';

/// What `c` does. Not for spaces: these depend on where they are.
pub(super) fn glyph(c: char) -> Glyph {
    if c.is_ascii() {
        return match u32::from(c) {
            code @ 0..0x20 => char::from_u32(0x2400 + code).map_or(Glyph::Hides, Glyph::Picture),
            0x7F => Glyph::Hides,
            _ => Glyph::Shows,
        };
    }
    if c == OPEN || is_picture(c) || looks_empty(c) {
        return Glyph::Hides;
    }
    match get_general_category(c) {
        Category::Control
        | Category::Format
        | Category::PrivateUse
        | Category::Surrogate
        | Category::Unassigned
        | Category::LineSeparator
        | Category::ParagraphSeparator
        | Category::SpaceSeparator => Glyph::Hides,
        Category::NonspacingMark | Category::SpacingMark | Category::EnclosingMark => Glyph::Joins,
        _ if c.width() == Some(0) => Glyph::Joins,
        _ => Glyph::Shows,
    }
}

/// The whole block of control pictures: we use these ourselves, so foreign ones are escaped.
fn is_picture(c: char) -> bool {
    matches!(c, '\u{2400}'..='\u{243F}')
}

/// Assigned and not of a hiding category, but default-ignorable or blank in every font.
fn looks_empty(c: char) -> bool {
    matches!(c,
        '\u{034F}'                      // combining grapheme joiner
        | '\u{115F}' | '\u{1160}'       // Hangul fillers
        | '\u{3164}' | '\u{FFA0}'
        | '\u{17B4}' | '\u{17B5}'       // Khmer inherent vowels
        | '\u{180B}'..='\u{180F}'       // Mongolian variation selectors
        | '\u{2800}'                    // blank braille pattern
        | '\u{FE00}'..='\u{FE0F}'       // variation selectors
        | '\u{FFFC}'                    // object replacement
        | '\u{16FE4}'                   // Khitan filler
        | '\u{1D159}'                   // null notehead
        | '\u{E0000}'..='\u{E0FFF}'     // tags, variation selectors supplement
    )
}

/// Whether `c` belongs to a script whose letters can pass for ASCII ones.
fn is_rival(c: char) -> bool {
    matches!(c,
        '\u{0370}'..='\u{058F}'         // Greek, Cyrillic, Armenian
        | '\u{13A0}'..='\u{13FF}' | '\u{AB70}'..='\u{ABBF}' // Cherokee
        | '\u{1C80}'..='\u{1C8F}' | '\u{2DE0}'..='\u{2DFF}' | '\u{A640}'..='\u{A69F}' // more Cyrillic
        | '\u{1F00}'..='\u{1FFF}'       // more Greek
        | '\u{2C80}'..='\u{2CFF}'       // Coptic
        | '\u{A4D0}'..='\u{A4FF}'       // Lisu
        | '\u{FF10}'..='\u{FF5A}'       // full-width forms
        | '\u{1D400}'..='\u{1D7FF}'     // mathematical alphabets
    ) && c.is_alphanumeric()
}

/// Whether `c` is one of the letters that are drawn like an ASCII letter in most fonts.
fn is_double(c: char) -> bool {
    const CYRILLIC: &str = "аАВсСԁеЕһНіІјЈкКӏМоОрРԛѕЅТуУѵѡхХ";
    const GREEK: &str = "αΑΒγΕΖΗιΙκΚΜνΝοΟρΡτΤυΥχΧ";
    CYRILLIC.contains(c) || GREEK.contains(c) || (is_rival(c) && !matches!(c, '\u{0370}'..='\u{058F}'))
}

/// Characters drawn like a slash, a dot or a colon, which seem to divide a path or a host where nothing does.
fn is_false_separator(c: char) -> bool {
    const FALSE: &str =
        "\u{2044}\u{2215}\u{29F8}\u{FF0F}\u{FF3C}\u{29F5}\u{2216}\u{2024}\u{FF0E}\u{3002}\u{FF1A}\u{A789}\u{2236}";
    FALSE.contains(c)
}

/// The current word, and whether its foreign letters could pass for ASCII.
#[derive(Default)]
pub(super) struct Word {
    end: usize,
    betrays: bool,
}

impl Word {
    /// Looks at the word that begins at `at`, unless it is still the last one.
    pub(super) fn enter(&mut self, text: &str, at: usize, c: char) {
        const LONGEST: usize = 256;
        if at < self.end || !is_letter(c) {
            return;
        }
        let rest = &text[at..];
        let len: usize = rest.chars().take(LONGEST).take_while(|c| is_letter(*c)).map(char::len_utf8).sum();
        let word = &rest[..len];
        self.end = at + len;
        self.betrays = if word.is_ascii() || !word.chars().any(is_rival) {
            false
        } else if word.contains(|c: char| c.is_ascii_alphabetic()) {
            true
        } else {
            let doubles = |c: char| is_double(c) || !c.is_alphabetic();
            word.chars().all(doubles) && touches_ascii(&text[..at], &rest[len..])
        };
    }

    /// Whether the character at `at` is to be shown with its code point.
    pub(super) fn betrays(&self, text: &str, at: usize, c: char) -> bool {
        if is_false_separator(c) {
            let ascii = |c: Option<char>| c.is_some_and(|c| c.is_ascii_graphic());
            let after = text[at + c.len_utf8()..].chars().next();
            return ascii(text[..at].chars().next_back()) && ascii(after);
        }
        at < self.end && self.betrays && is_rival(c)
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric()
}

/// Whether what is around a word ties it to ASCII letters, as in a path, a host or an address.
fn touches_ascii(before: &str, after: &str) -> bool {
    const JOINTS: &[char] = &['.', '-', '_', '/', '\\', ':', '@'];
    let tied = |joint: Option<char>, next: Option<char>| {
        joint.is_some_and(|c| JOINTS.contains(&c))
            && next.is_some_and(|c| c.is_ascii_alphanumeric() || JOINTS.contains(&c))
    };
    let mut back = before.chars().rev();
    let mut forth = after.chars();
    tied(back.next(), back.next()) || tied(forth.next(), forth.next())
}
