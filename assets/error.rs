/// What a call fails with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    #[error("Invalid params: {0}")]
    InvalidParams(String),
    #[error("Tool not found: {0}")]
    ToolNotFound(String),
    #[error("Internal error: {0}")]
    Internal(String),
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
}
