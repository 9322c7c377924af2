//! Names that look like another's: the skeleton of Unicode's security standard. Compares; keeps no names.

use unicode_security::confusable_detection::skeleton;

use super::{Hazard, HazardKind};

/// What two names share that look alike: UTS #39's skeleton, case aside.
///
/// Letters that only look Latin, `0` and `o`, `1`, `l` and `I`, `rn` and `m` are one.
pub fn skeleton_of(name: &str) -> String {
    let lower: String = skeleton(&name.to_lowercase()).collect();
    // The standard has capitals in its skeletons: `0` is like `O`, which is `o` where case is set aside.
    skeleton(&lower.to_lowercase()).collect()
}

/// The hazard of a tool whose name looks like `other`, another tool of the same server.
pub fn like(name: &str, other: &str) -> Option<Hazard> {
    (name != other).then(|| Hazard {
        kind: HazardKind::Confusable,
        what: format!("the name {} looks like another tool of this server: {}", spelled(name), spelled(other)),
    })
}

/// The hazard of a name that is written to look as if it were plain.
pub fn disguised(name: &str) -> Option<Hazard> {
    let plain = skeleton_of(name);
    let odd: Vec<char> = name.chars().filter(|c| !c.is_ascii()).collect();
    // A name in a script of its own is no disguise: only what turns wholly into plain letters is.
    let disguise = !odd.is_empty() && plain.is_ascii() && name.chars().any(|c| c.is_ascii_alphabetic());
    disguise.then(|| Hazard {
        kind: HazardKind::Confusable,
        what: format!("the name {} has letters that only look plain", spelled(name)),
    })
}

/// The name, its letters beyond ASCII by their code points.
fn spelled(name: &str) -> String {
    let shown = |c: char| if c.is_ascii() { c.to_string() } else { format!("⟨U+{:04X}⟩", u32::from(c)) };
    name.chars().take(64).map(shown).collect()
}
