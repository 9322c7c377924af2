//! The protocol revisions, and the differences that the gate needs.

use crate::wire::words::words;

words! {
    /// A protocol revision. Unknown ones count as the newest handshake revision that is not newer.
    Revision {
        V2024_11_05 = "2024-11-05",
        V2025_03_26 = "2025-03-26",
        V2025_06_18 = "2025-06-18",
        V2025_11_25 = "2025-11-25",
        V2026_07_28 = "2026-07-28",
    }
}

impl Revision {
    /// The revision that a handshake agreed on.
    ///
    /// Never the stateless one, which has no handshake: some hosts ask for it in `initialize` all the same. A text we
    /// do not know counts as the newest handshake revision that is not newer; one that is no date, as the oldest.
    pub fn of_handshake(text: &str) -> Self {
        if !is_date(text) {
            return Self::V2024_11_05;
        }
        let earlier = |revision: &&Self| **revision < Self::V2026_07_28 && revision.word() <= text;
        Self::ALL.iter().copied().rfind(|revision| earlier(&revision)).unwrap_or(Self::V2024_11_05)
    }
}

/// Whether the text has the form `YYYY-MM-DD`, so that order of text is order of time.
fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(i, byte)| match i {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::Revision;

    #[test]
    fn a_handshake_text_is_read_as_the_newest_revision_that_is_not_newer() {
        let table = [
            ("2024-11-05", Revision::V2024_11_05),
            ("2025-03-26", Revision::V2025_03_26),
            ("2025-06-18", Revision::V2025_06_18),
            ("2025-11-25", Revision::V2025_11_25),
            ("2026-07-28", Revision::V2025_11_25),
            ("2024-10-07", Revision::V2024_11_05),
            ("2025-09-01", Revision::V2025_06_18),
            ("2031-01-01", Revision::V2025_11_25),
            ("DRAFT-2026-v1", Revision::V2024_11_05),
            ("DRAFT-2026", Revision::V2024_11_05),
            ("2025-03-260", Revision::V2024_11_05),
            ("", Revision::V2024_11_05),
        ];
        for (text, revision) in table {
            assert_eq!(Revision::of_handshake(text), revision, "{text}");
        }
    }
}
