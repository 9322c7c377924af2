//! `mcp-approve tools classify`: placeholder.

/// Which words of the server count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hints {
    Heard,
    Hidden,
}

/// A text that is no list of tools.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct NotTools(#[from] serde_json::Error);

/// Classifies every tool of `input`.
///
/// # Errors
/// [`NotTools`].
pub fn classify(input: &str, _hints: Hints) -> Result<String, NotTools> {
    serde_json::from_str::<serde_json::Value>(input)?;
    Ok("[]\n".to_owned())
}
