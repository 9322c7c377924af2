/// Why a call failed: one variant for each code of the JSON-RPC error that answers it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// -32602: the arguments are not the tool's.
    #[error("Invalid params: {0}")]
    InvalidParams(String),
    /// -32601: the server has no tool of that name.
    #[error("Tool not found: {0}")]
    ToolNotFound(String),
    /// -32603: the tool failed.
    #[error("Internal error: {0}")]
    Internal(String),
    /// -32000: the caller may not do that.
    #[error("Permission denied: {0}")]
    PermissionDenied(String),
}

impl McpError {
    /// The code of the JSON-RPC error.
    pub const fn code(&self) -> i64 {
        match self {
            Self::InvalidParams(_) => -32602,
            Self::ToolNotFound(_) => -32601,
            Self::Internal(_) => -32603,
            Self::PermissionDenied(_) => -32000,
        }
    }

    /// The `error` of the JSON-RPC answer: `{ "code": -32601, "message": "Tool not found: x" }`.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::json!({ "code": self.code(), "message": self.to_string() })
    }
}

/// Reads a value of any type below: arguments, or a result.
///
/// # Errors
/// [`McpError::InvalidParams`]: which field is missing or of another type.
pub fn from_value<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> Result<T, McpError> {
    serde_json::from_value(value).map_err(|error| McpError::InvalidParams(error.to_string()))
}
