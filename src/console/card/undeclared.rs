//! Which of a call's undeclared keys lie in the container that a walk is in. Knows pointers, no text.

use crate::wire::fields::in_pointer;

/// The undeclared keys in one container: a range of the sorted list, whose pointers all begin with the container's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Within {
    first: usize,
    end: usize,
    /// Bytes of the container's own pointer.
    length: usize,
}

impl Within {
    /// All of them: those in the arguments as a whole.
    pub(super) fn all(list: &[String]) -> Self {
        Self { first: 0, end: list.len(), length: 0 }
    }

    /// Those in the member of this name: the member itself, or what it contains.
    pub(super) fn member(self, list: &[String], name: &str) -> Self {
        let list = list.get(self.first..self.end).unwrap_or_default();
        if list.is_empty() {
            return self;
        }
        let mut name = format!("/{}", in_pointer(name));
        let length = self.length + name.len();
        if let Ok(at) = list.binary_search_by(|pointer| after(pointer, self.length).cmp(&name)) {
            return Self { first: self.first + at, end: self.first + at + 1, length };
        }
        name.push('/');
        let before = list.partition_point(|pointer| after(pointer, self.length) < name.as_str());
        let inside = list[before..].partition_point(|pointer| after(pointer, self.length).starts_with(&name));
        Self { first: self.first + before, end: self.first + before + inside, length }
    }

    /// Whether the member itself is undeclared.
    pub(super) fn is_one(self, list: &[String]) -> bool {
        self.first < self.end && list.get(self.first).is_some_and(|pointer| pointer.len() == self.length)
    }

    /// Whether some lie in the member, and the member itself is declared.
    pub(super) fn is_around(self, list: &[String]) -> bool {
        self.first < self.end && !self.is_one(list)
    }
}

fn after(pointer: &str, length: usize) -> &str {
    pointer.get(length..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::folds::Folds;
    use super::super::paged::{Paged, Writing};
    use super::Within;
    use crate::text::row::Row;

    #[test]
    fn a_key_is_found_by_its_way_and_by_no_other() {
        let mut list: Vec<String> =
            ["/force", "/a b", "/a/c", "/a/list/1/x", "/a/list/10/x", "/s~1l~0t"].map(str::to_owned).into();
        list.sort();
        for (way, expected) in [
            (&["force"][..], true),
            (&["force", "force"], false),
            (&["a"], false),
            (&["a b"], true),
            (&["a", "c"], true),
            (&["a", "cc"], false),
            (&["a", "list", "1", "x"], true),
            (&["a", "list", "10", "x"], true),
            (&["a", "list", "0", "x"], false),
            (&["a", "list", "1"], false),
            (&["s/l~t"], true),
            (&["c"], false),
            (&["x"], false),
        ] {
            let within = way.iter().fold(Within::all(&list), |within, name| within.member(&list, name));
            assert_eq!(within.is_one(&list), expected, "{way:?}");
        }
    }

    #[test]
    fn the_card_marks_the_key_and_nothing_beside_it() {
        let text = r#"{"force": 0, "edits": [{"force": 1}, {"to": 2, "force": 3}], "deep": {"force": 4}}"#;
        let undeclared = ["/deep/force".to_owned(), "/edits/1/force".to_owned()];
        let paged = Paged::lay(text, undeclared.into(), Writing::Json, Row::default(), 60, Folds::open());
        let rows = paged.window(text, 0, 20);
        let marked: Vec<String> = rows.iter().map(Row::text).filter(|row| row.contains("(undeclared)")).collect();
        assert_eq!(marked.len(), 2, "{marked:?}");
        assert!(marked[0].contains('3') && marked[1].contains('4'), "{marked:?}");
    }

    #[test]
    fn a_folded_row_says_that_undeclared_keys_are_in_it() {
        let text = r#"{"plain": {"a": 1}, "deep": {"force": 4}, "own": {"b": 1}}"#;
        let undeclared = ["/deep/force".to_owned(), "/own".to_owned()];
        let mut folds = Folds::open();
        for at in [r#"{"a""#, r#"{"force""#, r#"{"b""#] {
            folds.turn(text.find(at).expect("it is there"));
        }
        let paged = Paged::lay(text, undeclared.into(), Writing::Json, Row::default(), 90, folds);
        let rows: Vec<String> = paged.window(text, 0, 20).iter().map(Row::text).collect();
        let told: Vec<bool> = rows.iter().map(|row| row.contains("undeclared keys in it")).collect();
        assert_eq!(told, [false, true, false], "{rows:?}");
    }
}
