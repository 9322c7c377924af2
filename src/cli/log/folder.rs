//! The folder that most targets of a list lie in: written once above the list, and `./` in its rows. Pure.

use std::collections::BTreeMap;

/// Shown in a row in place of the folder.
pub(super) const HERE: &str = "./";

/// The absolute folder, without a slash at its end, whose omission saves the most; `None` where no folder has two
/// targets, or where a call wrote `./` itself.
pub(super) fn of<'t>(targets: impl Iterator<Item = &'t str> + Clone) -> Option<String> {
    if targets.clone().any(|target| paths(target).any(|(_, path)| path.starts_with("./"))) {
        return None;
    }
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    for target in targets {
        let mut above: Vec<&str> = paths(target).flat_map(|(_, path)| folders(path)).collect();
        above.sort_unstable();
        above.dedup();
        above.into_iter().for_each(|folder| *rows.entry(folder).or_default() += 1);
    }
    let saved = |(folder, rows): &(&str, usize)| (folder.len() - 1) * rows;
    let best = rows.into_iter().filter(|(_, rows)| *rows > 1).max_by_key(saved)?;
    Some(best.0.to_owned())
}

/// A target with `./` for the folder, wherever a path in it lies there.
pub(super) fn shorten(folder: &str, target: &str) -> String {
    let mut out = String::with_capacity(target.len());
    let mut from = 0;
    for (at, path) in paths(target) {
        let Some(rest) = path.strip_prefix(folder) else { continue };
        let Some(rest) = rest.strip_prefix('/').or(rest.is_empty().then_some(rest)) else { continue };
        out.push_str(target.get(from..at).unwrap_or_default());
        out.push_str(HERE);
        from = at + path.len() - rest.len();
    }
    out + target.get(from..).unwrap_or_default()
}

/// The paths in a target, each with its place: the words with a slash, without a comma or colon at their end.
fn paths(target: &str) -> impl Iterator<Item = (usize, &str)> {
    let words = target.split(' ').scan(0, |at, word| {
        let here = *at;
        *at += word.len() + 1;
        Some((here, word))
    });
    words.map(|(at, word)| (at, word.strip_suffix([',', ':']).unwrap_or(word))).filter(|(_, word)| word.contains('/'))
}

/// Every folder above an absolute path that is at least two names deep. Only of plain characters, so that the heading
/// shows the reader exactly one folder.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    let plain = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
    path.match_indices('/').filter_map(move |(end, _)| path.get(..end)).filter(move |folder| {
        folder.starts_with('/')
            && !folder.ends_with('/')
            && folder.matches('/').count() > 1
            && folder.chars().all(plain)
    })
}

#[cfg(test)]
mod tests {
    use super::{of, shorten};

    #[test]
    fn the_folder_that_saves_the_most_is_left_out_of_every_path_in_it() {
        let targets = [
            "/home/ada/engine/README.md",
            "/home/ada/engine",
            "/home/ada/engine/src/a.rs → /home/ada/engine/src/b.rs",
            "2 paths: /home/ada/engine/x, /home/ada/engine-2/y",
            "/etc/passwd",
            "notes.md",
            "/home/ada/engine: topic/x",
            "DELETE on people",
        ];
        let folder = of(targets.into_iter()).unwrap();
        assert_eq!(folder, "/home/ada/engine");
        assert_eq!(
            targets.map(|target| shorten(&folder, target)),
            [
                "./README.md", "./", "./src/a.rs → ./src/b.rs", "2 paths: ./x, /home/ada/engine-2/y", "/etc/passwd",
                "notes.md", "./: topic/x", "DELETE on people",
            ]
        );
    }

    #[test]
    fn nothing_is_left_out_where_it_could_be_mistaken() {
        for targets in [
            &["/home/ada/a", "/srv/b"][..],
            &["/a", "/b"],
            &["/home/ada/a", "/home/ada/b", "./c"],
            &["/home/a\u{202e}da/a", "/home/a\u{202e}da/b"],
            &["https://one/two/three", "https://one/two/four"],
        ] {
            assert_eq!(of(targets.iter().copied()), None, "{targets:?}");
        }
    }
}
