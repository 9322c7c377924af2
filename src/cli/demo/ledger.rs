//! The demo's audit log as any user reads it: through `log list --json` and `log verify`. Owns no access of its own.

use serde_json::Value;

use super::chain;
use super::error;
use super::stage::Stage;
use crate::cli::error::Error;

/// All records, oldest first.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    pub(super) rows: Vec<Value>,
}

impl Ledger {
    /// Reads the log of this demo.
    pub(super) fn read(stage: &Stage) -> Result<Self, Error> {
        let cannot = |why: &str| error::between(format!("the audit log of the demo could not be read: {why}"));
        let listed = chain::ask(&stage.home(), &["log", "list", "--json", "--limit", "10000"])?;
        if !listed.status.success() {
            return Err(cannot(&String::from_utf8_lossy(&listed.stderr)));
        }
        let mut rows: Vec<Value> =
            serde_json::from_slice(&listed.stdout).map_err(|cause| cannot(&cause.to_string()))?;
        rows.sort_by_key(|row| row["seq"].as_u64());
        Ok(Self { rows })
    }

    /// The records of one kind: each `decision` is final, and what is `withdrawn` was taken back before one.
    pub(super) fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = Decided<'_>> {
        self.rows.iter().filter(move |row| row["kind"] == kind).map(Decided)
    }
}

/// One row about one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decided<'a>(&'a Value);

impl<'a> Decided<'a> {
    /// A field as text; a dash where it does not apply.
    pub(super) fn field(self, name: &str) -> &'a str {
        self.0[name].as_str().unwrap_or("-")
    }

    /// A text beside the columns.
    pub(super) fn detail(self, name: &str) -> Option<&'a str> {
        self.0["detail"][name].as_str()
    }

    /// Whether the operator changed the arguments that were decided about.
    pub(super) fn was_edited(self) -> bool {
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
    let verified = chain::ask(&stage.home(), &["log", "verify"])?;
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    Ok(if verified.status.success() {
        (Chained::Verifies, words(&verified.stdout))
    } else {
        (Chained::Broken, format!("{}\n{}", words(&verified.stdout), words(&verified.stderr)))
    })
}
