//! The protocol revisions, and what differs between them as far as the gate cares.

use serde::{Deserialize, Serialize};

/// A protocol revision. Unknown ones count as the newest handshake revision that is not newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Revision {
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

impl Revision {
    /// Whether arguments that fail the schema are a tool error (SEP-1303) rather than -32602.
    pub fn invalid_arguments_are_tool_errors(self) -> bool {
        self >= Self::V2025_11_25
    }
}
