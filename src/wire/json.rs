//! A text that is certain to be JSON, because it was read as such. Owns no reading.

use std::ops::Deref;
use std::str::FromStr;

use serde::de::IgnoredAny;

/// The exact text of one JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// A value that [`super::strict`] has read.
    pub(super) fn of_strict(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl FromStr for Json {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str::<IgnoredAny>(text).map(|_| Self(text.to_owned()))
    }
}

impl Deref for Json {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}
