//! Lists of words that a word is looked up in, whatever its case: by length and first letter, without hashing or copying.

/// The words of a list, upper case, sorted by where [`slot`] puts them.
pub(super) struct Words {
    words: Vec<&'static str>,
    /// Where the words of each slot begin; the last is where all end.
    begins: Vec<u16>,
}

const SLOTS: usize = 1024;

/// Words of one length that begin with one letter share a slot. ASCII's cases differ in a bit that is left out.
fn slot(word: &str) -> usize {
    let first = word.bytes().next().map_or(0, |byte| usize::from(byte & 0x1f));
    first << 5 | word.len().min(31)
}

impl Words {
    /// From texts of words separated by white space.
    pub(super) fn of(texts: &[&'static str]) -> Self {
        let mut words: Vec<&str> = texts.iter().flat_map(|text| text.split_ascii_whitespace()).collect();
        words.sort_by_key(|word| slot(word));
        let begin = |at: usize| words.partition_point(|word| slot(word) < at);
        let begins = (0..=SLOTS).map(|at| u16::try_from(begin(at)).unwrap_or(u16::MAX)).collect();
        Self { words, begins }
    }

    /// Whether the list holds the word in any case.
    pub(super) fn hold(&self, word: &str) -> bool {
        let slot = slot(word);
        let (from, to) = (usize::from(self.begins[slot]), usize::from(self.begins[slot + 1]));
        self.words[from..to].iter().any(|known| known.eq_ignore_ascii_case(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_in_any_case_and_nothing_else_is() {
        let long = "AN_EXCEEDINGLY_LONG_NAME_OF_A_FUNCTION_X";
        let list = Words::of(&["SELECT SET LOG10 LOG2 \n ST_X", long]);
        for word in ["select", "SELECT", "Set", "log10", "Log2", "st_X", &long.to_lowercase()] {
            assert!(list.hold(word), "{word}");
        }
        for word in ["", "s", "selec", "selects", "\u{17f}et", "LOG1", "3ELECT", "\u{13}ELECT", &long.replace('X', "Y")]
        {
            assert!(!list.hold(word), "{word}");
        }
    }
}
