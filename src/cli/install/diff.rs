//! What a file's change looks like: a unified diff of its text, without any value but command lines and limits.

use similar::TextDiff;

use crate::behavior::secrets;
use crate::console::plain::block;
use crate::hosts::files::Edited;
use crate::hosts::{Found, masked};

/// The longest line that is shown; a file without line breaks is one.
const WIDEST: usize = 4000;

/// Every line is fit for a terminal.
pub(super) fn of(found: &Found, edited: &Edited) -> String {
    let shown = |text: &str| masked(found.host, found.syntax, text, &hides);
    let (Ok(before), Ok(after)) = (shown(&edited.before), shown(&edited.changed.text)) else {
        return "  (it cannot be shown)\n".to_owned();
    };
    let diff = TextDiff::from_lines(&before, &after);
    let line = |line: &str| {
        // The diff's own mark is not the line's indent.
        let mut rest = line.chars();
        let mark = rest.next().map(String::from).unwrap_or_default();
        let rest: String = rest.take(WIDEST).collect();
        format!("    {mark}{}", block(&rest)).trim_end().to_owned() + "\n"
    };
    diff.unified_diff().context_radius(1).missing_newline_hint(false).to_string().lines().map(line).collect()
}

fn hides(before: Option<&str>, word: &str) -> bool {
    before.is_some_and(secrets::is_secret_flag) || !secrets::spans(word).is_empty()
}
