//! What the log says of tools: calls, latency, errors. Reads the newest records only, and says so.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use memchr::memmem;
use serde_json::{Value, json};

use crate::audit::query::Fields;
use crate::audit::store::{Order, Reader, StoreError};

/// How many records are looked through, the newest first.
pub(super) const RECORDS: usize = 200_000;

/// What was observed of one tool.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    /// Milliseconds of every answered call.
    latencies: Vec<f64>,
    errors: usize,
}

/// By server (without `#2`) and tool.
pub(super) type Log = HashMap<(String, String), Observed>;

/// Looks through the log; empty where there is none.
pub(super) fn observe(db: &Path) -> Result<Log, StoreError> {
    let mut log = Log::new();
    let Some(reader) = Reader::open(db)? else {
        return Ok(log);
    };
    let outcome = memmem::Finder::new("\"kind\":\"outcome\"");
    let mut seen = 0;
    reader.each(Order::NewestFirst, &mut |row| {
        seen += 1;
        if seen > RECORDS {
            return ControlFlow::Break(());
        }
        if outcome.find(row.body).is_some()
            && let Ok(fields) = serde_json::from_slice::<Fields<'_>>(row.body)
            && let (Some(tool), Some(latency)) = (&fields.tool, fields.latency_ms)
            && let Ok(latency) = latency.get().parse::<f64>()
        {
            let name = fields.server.split('#').next().unwrap_or_default().to_owned();
            let one = log.entry((name, tool.clone())).or_default();
            one.latencies.push(latency);
            let detail: Option<Value> = fields.detail.and_then(|json| serde_json::from_str(json.get()).ok());
            let result = detail.as_ref().and_then(|detail| detail["result"].as_str());
            one.errors += usize::from(matches!(result, Some("tool-error" | "error" | "unreadable")));
        }
        ControlFlow::Continue(())
    })?;
    for one in log.values_mut() {
        one.latencies.sort_by(f64::total_cmp);
    }
    Ok(log)
}

impl Observed {
    pub(super) fn calls(&self) -> usize {
        self.latencies.len()
    }

    /// The latency that so many of a hundred calls do not exceed, in milliseconds.
    pub(super) fn percentile(&self, of_hundred: usize) -> Option<f64> {
        let last = self.latencies.len().checked_sub(1)?;
        self.latencies.get((last * of_hundred).div_ceil(100)).copied()
    }

    /// Between 0 and 1.
    pub(super) fn error_rate(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "counts of at most 200,000")]
        (self.calls() > 0).then(|| self.errors as f64 / self.calls() as f64)
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "calls": self.calls(),
            "p50_ms": self.percentile(50),
            "p95_ms": self.percentile(95),
            "error_rate": self.error_rate(),
        })
    }

    /// `12 calls, p50 3.1 ms, p95 9.8 ms, 8 % errors`.
    pub(super) fn line(&self) -> String {
        match (self.percentile(50), self.percentile(95), self.error_rate()) {
            (Some(p50), Some(p95), Some(rate)) => {
                let calls = self.calls();
                let s = if calls == 1 { "" } else { "s" };
                format!("{calls} call{s}, p50 {p50:.1} ms, p95 {p95:.1} ms, {:.0} % errors", rate * 100.0)
            }
            _ => "no call answered yet".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Observed;

    #[test]
    fn percentiles_are_of_calls_that_were_made() {
        let observed = Observed { latencies: (1..=100).map(f64::from).collect(), errors: 25 };
        assert_eq!((observed.percentile(50), observed.percentile(95)), (Some(51.0), Some(96.0)));
        assert_eq!(observed.error_rate(), Some(0.25));
        assert_eq!(Observed { latencies: vec![7.0], errors: 0 }.percentile(95), Some(7.0));
        assert_eq!(Observed::default().line(), "no call answered yet");
    }
}
