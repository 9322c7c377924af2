//! Which calls of a tool that is proven to read pass: changing arguments never, ordinary ones nearly always, and each only
//! with an explanation for every leaf. The tables were written by somebody who had not seen the code they test.

use mcp_approve::behavior::conclude::{Behavior, Overrides, Trust, of_call, of_tool_with};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::{Action, Mutability, OutputDomain};
use serde_json::Value;

use super::tool;

/// A call of a table, judged as if an operator had pinned its tool PURE: only the arguments can make it ask.
struct Row {
    row: Value,
    name: String,
    /// How many hazards the definition has by itself: whoever pinned the tool has seen them.
    known: usize,
    behavior: Behavior,
}

fn table(text: &str) -> Vec<Row> {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of a table is JSON"));
    let (tools, calls): (Vec<Value>, Vec<Value>) = lines.partition(|line| line.get("tool").is_some());
    let tools: Vec<_> = tools.iter().map(|line| tool(line["tool"].clone())).collect();
    let pinned =
        Some(Identity { mutability: Mutability::Pure, action: Action::Read, output_domain: OutputDomain::Data });
    let judged = |row: Value| {
        let tool = &tools[row["of"].as_u64().and_then(|at| usize::try_from(at).ok()).expect("a number of a tool")];
        let described = of_tool_with(tool, Trust::Corroborate, Overrides { pinned, ..Overrides::default() });
        let behavior = of_call(Some(tool), &described, &row["arguments"].to_string(), &row["arguments"]);
        Row { name: tool.name.clone(), known: described.hazards.len(), row, behavior }
    };
    calls.into_iter().map(judged).collect()
}

impl Row {
    /// Whether its arguments let it run unasked: nothing raised it, every leaf is explained, and they hold no hazard.
    fn runs(&self) -> bool {
        self.behavior.runs_unasked() && self.behavior.hazards.len() == self.known
    }

    fn shown(&self) -> String {
        let arguments: String = self.row["arguments"].to_string().chars().take(300).collect();
        let hazards: Vec<&str> = self.behavior.hazards.iter().map(|hazard| hazard.kind.word()).collect();
        let line: String = self.behavior.explanation.line().chars().take(200).collect();
        let found: Vec<String> = self
            .behavior
            .analyses
            .iter()
            .filter(|one| !one.effect.reads())
            .map(|one| one.says.clone())
            .take(3)
            .collect();
        format!(
            "{}\t{}\t{arguments}\t{line}\t{found:?} {hazards:?}",
            self.row["class"].as_str().unwrap_or_default(),
            self.name
        )
    }
}

#[test]
fn no_changing_argument_runs_unasked() {
    let rows = table(include_str!("../fixtures/arguments/attacks.jsonl"));
    let clear = rows.iter().filter(|row| row.row["severity"] == "clear");
    let ran: Vec<String> = clear.clone().filter(|row| row.runs()).map(Row::shown).collect();
    let arguable =
        rows.iter().filter(|row| row.row["severity"] != "clear" && row.runs()).map(Row::shown).collect::<Vec<_>>();
    eprintln!("{} arguable ran\n{}", arguable.len(), arguable.join("\n"));
    assert!(clear.count() >= 400);
    assert!(ran.is_empty(), "{} ran\n{}", ran.len(), ran.join("\n"));
}

#[test]
fn at_most_four_of_a_hundred_ordinary_reads_are_asked() {
    let rows = table(include_str!("../fixtures/arguments/ordinary.jsonl"));
    let asked: Vec<String> = rows.iter().filter(|row| !row.runs()).map(Row::shown).collect();
    assert!(asked.len() * 100 <= rows.len() * 4, "{} of {}\n{}", asked.len(), rows.len(), asked.join("\n"));
}
