//! The demo's audit log as any user reads it: through `log list --json` and `log verify`. Owns no access of its own.

use serde::Deserialize;
use serde_json::Value;

use super::chain;
use super::error;
use super::stage::Stage;
use crate::cli::error::Error;

/// One record. Of each call the `decision` is final; what is `withdrawn` was taken back before one.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Row(Value);

/// Reads the log of this demo: all records, oldest first.
pub(super) fn read(stage: &Stage) -> Result<Vec<Row>, Error> {
    let cannot = |why: &str| error::between(format!("the audit log of the demo could not be read: {why}"));
    let listed = chain::ask(&stage.home, &["log", "list", "--json", "--limit", "10000"])?;
    if !listed.status.success() {
        return Err(cannot(&String::from_utf8_lossy(&listed.stderr)));
    }
    let mut rows: Vec<Row> = serde_json::from_slice(&listed.stdout).map_err(|cause| cannot(&cause.to_string()))?;
    rows.sort_by_key(|row| row.0["seq"].as_u64());
    Ok(rows)
}

impl Row {
    /// A field as text; a dash where it does not apply.
    pub(super) fn field(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or("-")
    }

    /// A text beside the columns.
    pub(super) fn detail(&self, name: &str) -> Option<&str> {
        self.0["detail"][name].as_str()
    }

    /// Whether the operator changed the arguments that were decided about.
    pub(super) fn was_edited(&self) -> bool {
        self.detail("edited_from").is_some()
    }
}

/// Whether the chain holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chained {
    Verifies,
    Broken,
}

/// Runs `log verify`; its words say more.
pub(super) fn verify(stage: &Stage) -> Result<(Chained, String), Error> {
    let verified = chain::ask(&stage.home, &["log", "verify"])?;
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    Ok(if verified.status.success() {
        (Chained::Verifies, words(&verified.stdout))
    } else {
        (Chained::Broken, format!("{}\n{}", words(&verified.stdout), words(&verified.stderr)))
    })
}
