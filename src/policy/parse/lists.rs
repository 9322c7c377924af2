//! Values that are one or a list of them: globs, and words out of a closed list. Owns no key.

use toml::Spanned;
use toml::de::DeValue;

use crate::policy::glob::GlobError;
use crate::policy::reading::Reading;

/// Globs under `key`; also used for `glob` in a condition, and for approvers.
pub fn globs<T>(
    reading: &mut Reading<'_>,
    value: &Spanned<DeValue<'_>>,
    key: &str,
    new: impl Fn(&str) -> Result<T, GlobError>,
) -> Vec<T> {
    const HINT: &str = "write a name, with * ? [a-z] where it may vary and \\ before a literal one of these";
    reading.each(value, key, |text| new(text).map_err(|error| (format!("`{key}` cannot be {text:?}: {error}"), HINT)))
}

/// One word or a list of them.
pub(super) fn any_of<T: Copy>(
    reading: &mut Reading<'_>,
    value: &Spanned<DeValue<'_>>,
    key: &str,
    known: &[(&str, T)],
) -> Vec<T> {
    let found = reading.texts(value, key);
    found.into_iter().filter_map(|(at, word)| reading.one_of(at, &word, key, known)).collect()
}
