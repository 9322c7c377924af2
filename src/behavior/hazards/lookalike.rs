//! Names that look alike: the skeletons of UTS #39, and which of two names is the one that deceives. Knows no server.

use unicode_security::confusable_detection::skeleton;

/// What a name looks like: two names with one skeleton can be told apart by their code points only.
pub fn shape(name: &str) -> String {
    skeleton(name).collect()
}

/// Whether `name` deceives next to `other`: it looks the same and is not, and it is the less plain of the two, or came
/// later. The same name on two servers deceives nobody: a call names its server.
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

#[cfg(test)]
mod tests {
    use super::deceives;

    #[test]
    fn the_less_plain_or_later_of_two_that_look_alike_deceives() {
        for (name, other, later, is) in [
            ("re\u{430}d_file", "read_file", false, true),
            ("read_file", "re\u{430}d_file", true, false),
            ("read_file", "read_file", true, false),
            ("read_fi1e", "read_file", true, true),
            ("read_fi1e", "read_file", false, false),
            ("ｒead_file", "read_file", false, true),
            ("read_file", "write_file", true, false),
            ("get_modern", "get_rnodern", true, true),
        ] {
            assert_eq!(deceives(name, other, later), is, "{name} beside {other}");
        }
    }
}
