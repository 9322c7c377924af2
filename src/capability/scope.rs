//! The scope: which capabilities this wrapper may use. `Effective = Caps(S) ∩ Scope`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::wire::call::Call;
use crate::wire::digest::Digest;

/// What a wrapper may use of its server's capabilities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Everything the server has.
    #[default]
    Whole,
    /// Only tools of these names.
    Only(BTreeSet<String>),
}

/// Proof that a call's tool lies in the scope. Only [`Scope::admit`] makes one.
///
/// ```compile_fail,E0451
/// use mcp_approve::capability::scope::InScope;
/// let forged = InScope { call: mcp_approve::wire::digest::Digest::of(b"") };
/// ```
#[derive(Debug)]
#[must_use = "a proof that is dropped proves nothing"]
pub struct InScope {
    /// The call it was made for.
    call: Digest,
}

/// A text that names no tools.
#[derive(Debug, thiserror::Error)]
pub enum NotAScope {
    #[error("it is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("it is no list of tools")]
    NoList,
    #[error("one of its tools has no name")]
    NoName,
}

impl Scope {
    /// Reads the tools that may be used: a JSON array of names or definitions, an object with `tools`, or an answer to
    /// `tools/list`.
    ///
    /// # Errors
    /// [`NotAScope`] when the text names no tools. A list with nothing in it is a scope: nothing may be used.
    pub fn read(text: &str) -> Result<Self, NotAScope> {
        let read: Value = serde_json::from_str(text)?;
        let holder = read.get("result").unwrap_or(&read);
        let list = holder.get("tools").unwrap_or(holder).as_array().ok_or(NotAScope::NoList)?;
        let name = |tool: &Value| tool.as_str().or_else(|| tool.get("name")?.as_str()).map(str::to_owned);
        list.iter().map(name).collect::<Option<_>>().map(Self::Only).ok_or(NotAScope::NoName)
    }

    /// The proof for one call; `None` when its tool lies outside. A scope is about tools: other requests lie in any.
    pub fn admit(&self, call: &Call) -> Option<InScope> {
        let admits = match self {
            _ if call.method().is_some() => true,
            Self::Whole => true,
            Self::Only(names) => names.contains(call.name()),
        };
        admits.then(|| InScope { call: call.digest() })
    }
}

impl InScope {
    /// Whether it was made for exactly these bytes.
    pub fn is_for(&self, call: &Call) -> bool {
        self.call == call.digest()
    }
}

#[cfg(test)]
mod tests {
    use super::Scope;

    #[test]
    fn a_scope_is_read_from_any_list_of_tools() {
        for text in [
            r#"["read", "list"]"#,
            r#"[{"name":"read"}, "list"]"#,
            r#"{"tools":[{"name":"list","inputSchema":{}},{"name":"read"}]}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"list"},{"name":"read"}]}}"#,
        ] {
            let names = ["list", "read"].map(str::to_owned).into();
            assert_eq!(Scope::read(text).unwrap(), Scope::Only(names), "{text}");
        }
        assert_eq!(Scope::read("[]").unwrap(), Scope::Only([].into()), "nothing may be used");
        for text in ["", "read", r#"{"read":1}"#, r#"["read", 7]"#, r#"[{"title":"read"}]"#, r#"{"tools":"read"}"#] {
            assert!(Scope::read(text).is_err(), "{text}");
        }
    }
}
