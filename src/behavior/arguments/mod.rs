//! What the arguments of one call would do, and how each leaf of them is explained: one walk, one reading of each text.
//!
//! What is found raises and never lowers. What is not explained asks.

pub mod choice;
pub mod effect;
pub mod explain;
pub mod grammar;
pub mod graphql;
pub mod http;
pub mod language;
mod lists;
pub mod mongo;
pub mod named;
pub mod path;
pub mod reading;
pub mod redis;
pub mod shell;
pub mod sql;
pub mod statement;
mod texts;
mod walk;

use serde_json::Value;

use crate::mcp::tool::Tool;
use effect::Analysis;
use explain::Explanation;
use reading::Reading;
use walk::{Walk, Wants};

/// As many findings one call is told of; that there are more is one of them.
pub const MOST: usize = 64;

/// What one call's arguments would do, and how their leaves are explained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// What every argument would do that holds a text in a language we read, in their order.
    pub found: Vec<Analysis>,
    pub explanation: Explanation,
}

/// Judges the arguments of a call; `plain` are the parameters that the operator pinned as plain text.
pub fn judge(tool: Option<&Tool>, arguments: &Value, plain: &[String]) -> Judged {
    let walk = Walk::over(tool, arguments, plain, Wants::Judgement);
    Judged { found: walk.found, explanation: walk.explanation }
}

/// What every argument would do that holds a text in a language we read, in their order.
pub fn found(tool: Option<&Tool>, arguments: &Value) -> Vec<Analysis> {
    judge(tool, arguments, &[]).found
}

/// The texts of statements and commands among the arguments, each as [`found`] read it, part by part.
pub fn readings(tool: Option<&Tool>, arguments: &Value) -> Vec<Reading> {
    Walk::over(tool, arguments, &[], Wants::Parts).readings
}

#[cfg(test)]
mod speed {
    use super::*;

    #[test]
    #[ignore = "speed"]
    fn zz_speed() {
        use serde_json::json;
        let words = "reads the SQL query language of the redis store with mongodb ".repeat(7000);
        let t = Tool::read(
            json!({"name": "run_things", "description": words, "inputSchema": {"type":"object","properties":{"queries":{"type":"array","items":{"type":"string","enum": (0..500).map(|n| format!("v{n}")).collect::<Vec<_>>()}}}}}),
        ).unwrap();
        let small = Tool::read(
            json!({"name": "read_file", "description": "Reads a file.", "inputSchema": {"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"},"pattern":{"type":"string"}}}}),
        ).unwrap();
        let time = |name: &str, t: &Tool, a: &Value| {
            let s = std::time::Instant::now();
            let j = judge(Some(t), a, &[]);
            eprintln!(
                "{name}: {:?} holds {} {}",
                s.elapsed(),
                j.explanation.holds(),
                j.explanation.line().chars().take(80).collect::<String>()
            );
        };
        time("million", &t, &json!({"queries": vec!["SELECT 1"; 1_000_000]}));
        time("million words", &small, &json!({"queries": vec!["how to do this"; 1_000_000]}));
        time("numbers", &small, &json!({"n": vec![1; 4_000_000]}));
        time(
            "objects",
            &small,
            &json!({"n": (0..300_000).map(|n| json!({"someLongKey": n, "otherKey_name": "x"})).collect::<Vec<_>>()}),
        );
        time("keys", &small, &Value::Object((0..300_000).map(|n| (format!("key{n}"), json!(1))).collect()));
        time("one", &small, &json!({"text": "x ".repeat(8_000_000)}));
        time("quarter", &small, &json!({"query": "x, (y) \"z\" ".repeat(20_000)}));
        time("sql", &t, &json!({"sql": format!("SELECT {}", "a, ".repeat(60_000))}));
        time("brackets", &small, &json!({"regex": "({".repeat(100_000), "filter": "(a = ".repeat(3000)}));
        time(
            "percent",
            &small,
            &json!({"url": format!("https://a/{}", "%25".repeat(2_000)), "u2": format!("https://a/?{}", "a=b&".repeat(2_000))}),
        );
        for (n, d) in [("json", "{\"a\":"), ("arr", "[")] {
            time(n, &small, &json!({"x": d.repeat(60_000)}));
        }
        let call = json!({"path": "/home/someone/projects/a-longer-project-name/src/mod.rs", "limit": 200, "pattern": "a text of a few words that an agent might look for"});
        let s = std::time::Instant::now();
        for _ in 0..10_000 {
            std::hint::black_box(judge(Some(&small), &call, &[]));
        }
        eprintln!("one call: {:?}", s.elapsed() / 10_000);
    }
}
