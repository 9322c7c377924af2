//! Names that look alike: the skeletons of UTS #39, and which of two names is the one that deceives. Knows no server.

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
