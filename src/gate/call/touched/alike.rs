//! How many lines differ between two texts, if that can be found at a bounded cost. Knows no files.

use similar::{ChangeTag, TextDiff};

/// How long two texts may be together to be compared line by line, in bytes.
const COMPARED: usize = 1 << 20;
/// How many steps the check for likeness may take: texts without a common line cost the square of their lines.
const STEPS: usize = 4 << 20;
/// How many lines may be added and removed.
const CHANGED: usize = 4_000;

/// How many lines were added and removed; `None` if the texts are too long, or too unlike, to be compared.
pub fn lines_changed(old: &str, new: &str) -> Option<(usize, usize)> {
    if old.len() + new.len() > COMPARED || !is_close(old, new) {
        return None;
    }
    let diff = TextDiff::from_lines(old, new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    Some((count(ChangeTag::Insert), count(ChangeTag::Delete)))
}

/// Whether at most [`CHANGED`] lines lie between two texts, as far as [`STEPS`] can tell (Myers 1986, the greedy search).
fn is_close(old: &str, new: &str) -> bool {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let most = CHANGED.min(old.len() + new.len());
    // How far into the old text so many changes lead, by diagonal, shifted so that no index is negative.
    let middle = most + 1;
    let mut far = vec![0usize; 2 * most + 3];
    let mut steps = 0;
    for changes in 0..=most {
        for at in (middle - changes..=middle + changes).step_by(2) {
            let at_diagonal = |at: usize| far.get(at).copied().unwrap_or_default();
            let (left, right) = (at_diagonal(at - 1), at_diagonal(at + 1));
            let down = at == middle - changes || (at != middle + changes && left < right);
            let mut x = if down { right } else { left + 1 };
            while let (Some(one), Some(other)) = (old.get(x), new.get((x + middle).saturating_sub(at)))
                && one == other
            {
                x += 1;
                steps += 1;
            }
            if let Some(far) = far.get_mut(at) {
                *far = x;
            }
            if x >= old.len() && x + middle >= new.len() + at {
                return true;
            }
            steps += 1;
        }
        if steps > STEPS {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::lines_changed;

    #[test]
    fn texts_that_are_much_alike_are_compared_and_hostile_ones_cost_no_minutes() {
        let numbered = |word: &str, count: usize| (0..count).map(|n| format!("{word}{n}\n")).collect::<String>();
        let long = numbered("a", 40_000);
        assert_eq!(lines_changed(&long, &format!("x\n{}y\n", long.replace("a20000\n", ""))), Some((2, 1)));
        assert_eq!(lines_changed(&numbered("a", 1_000), &numbered("b", 900)), Some((900, 1_000)));
        assert_eq!(lines_changed("", "a\nb\n"), Some((2, 0)));
        assert_eq!(lines_changed("a\n", ""), Some((0, 1)));
        let start = std::time::Instant::now();
        assert_eq!(lines_changed(&long, &numbered("b", 40_000)), None);
        assert_eq!(lines_changed(&"a\n".repeat(200_000), &"a\n".repeat(190_000)), None);
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
    }
}
