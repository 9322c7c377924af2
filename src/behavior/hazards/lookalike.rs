//! What deceives the eye or the terminal: look-alike names (UTS #39's skeletons), and characters not seen or obeyed.

use unicode_security::confusable_detection::skeleton;

use super::{Hazard, HazardKind};

/// What a name looks like: two names with one skeleton can be told apart by their code points only.
pub fn shape(name: &str) -> String {
    skeleton(name).collect()
}

/// Whether `name` deceives next to `other`: it looks the same and is not, and it is the less plain of the two, or came
/// later. The same name on two servers deceives no one: a call names its server.
pub fn deceives(name: &str, other: &str, came_later: bool) -> bool {
    if name == other || shape(name) != shape(other) {
        return false;
    }
    match (name.is_ascii(), other.is_ascii()) {
        (false, true) => true,
        (true, false) => false,
        (true, true) | (false, false) => came_later,
    }
}

/// The hazard of a tool whose name looks like `other`, an earlier one of the same server.
pub fn within(name: &str, other: &str) -> Option<Hazard> {
    (name != other && shape(name) == shape(other)).then(|| Hazard {
        kind: HazardKind::Confusable,
        what: format!("the name {} looks like another tool of this server: {}", spelled(name), spelled(other)),
    })
}

/// The hazard of a name whose letters only look plain: a name in a script of its own is no disguise.
pub fn disguised(name: &str) -> Option<Hazard> {
    let plain = name.chars().any(|c| c.is_ascii_alphabetic());
    (plain && !name.is_ascii() && shape(name).is_ascii()).then(|| Hazard {
        kind: HazardKind::Confusable,
        what: format!("the name {} has letters that only look like plain ones", spelled(name)),
    })
}

/// The name, its letters beyond ASCII by their code points.
fn spelled(name: &str) -> String {
    let shown = |c: char| if c.is_ascii() { c.to_string() } else { format!("⟨U+{:04X}⟩", u32::from(c)) };
    name.chars().take(64).map(shown).collect()
}

/// Every deceiving character of `text`, with the kind of hazard that it is, in order.
pub fn deceiving(text: &str) -> impl Iterator<Item = (char, HazardKind)> {
    let mut before = '\0';
    let mut rest = text.chars().peekable();
    std::iter::from_fn(move || {
        loop {
            let c = rest.next()?;
            let found = judged(before, c, rest.peek().copied());
            before = c;
            if let Some(kind) = found {
                return Some((c, kind));
            }
        }
    })
}

/// Whether no byte of `text` can belong to a deceiving character; one pass, for the common case.
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..0x7f).contains(&byte) || matches!(byte, b'\t' | b'\n' | b'\r'))
}

fn judged(before: char, c: char, after: Option<char>) -> Option<HazardKind> {
    match c {
        '\t' | '\n' | '\r' | ' '..='~' => None,
        // It ends a text for some programs and not for others.
        '\0' => Some(HazardKind::NulCharacter),
        // A terminal or a log might obey it.
        '\u{1}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => Some(HazardKind::TerminalSequence),
        // Joiners have their place between letters of joining scripts and between the parts of one emoji.
        '\u{200c}' | '\u{200d}' if is_joining(before) && after.is_some_and(is_joining) => None,
        '\u{200d}' if is_emoji_part(before) && after.is_some_and(is_emoji_part) => None,
        '\u{fe0e}' | '\u{fe0f}' if is_emoji_part(before) || matches!(before, '0'..='9' | '#' | '*') => None,
        _ if is_hidden(c) => Some(HazardKind::HiddenCharacters),
        _ => None,
    }
}

/// Default-ignorable code points (Unicode 16, `DerivedCoreProperties`), separators that break lines, and fillers.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Letters of scripts that write joiners: Arabic, Syriac, Thaana, N'Ko, and the Indic blocks.
fn is_joining(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{7ff}' | '\u{8a0}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17b3}')
}

fn is_emoji_part(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}'
        | '\u{fe0f}')
}
