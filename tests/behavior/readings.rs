//! Everything that is found in some arguments, whole: each statement, each hazard, each part.
//! Half of the arguments were chosen so that a change of one expression of the readers shows in one of them (`SEEDED.md`).

use std::fmt::Write as _;

use mcp_approve::behavior::arguments::readings;
use mcp_approve::behavior::conclude::{Overrides, Trust, of_call, of_tool_with};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::{Action, Mutability, OutputDomain};
use mcp_approve::mcp::tool::Tool;
use serde_json::Value;

use super::tool;

fn said(tool: &Tool, arguments: &Value) -> String {
    let pinned =
        Some(Identity { mutability: Mutability::Pure, action: Action::Read, output_domain: OutputDomain::Data });
    let described = of_tool_with(tool, Trust::Corroborate, Overrides { pinned, ..Overrides::default() });
    let behavior = of_call(Some(tool), &described, arguments);
    let mut lines = format!("{} {arguments}\n", tool.name);
    let mut add = |line: std::fmt::Arguments<'_>| writeln!(lines, "    {line}").unwrap();
    add(format_args!("{}", behavior.identity));
    for one in &behavior.analyses {
        let (language, effect) = (one.language.word(), one.effect.word());
        let (action, also, print) = (one.action, &one.also, one.fingerprint.as_deref().unwrap_or_default());
        add(format_args!("{language} {effect} {action:?} {also:?} {} <{}> {print}", one.says, one.span));
    }
    for hazard in &behavior.hazards {
        add(format_args!("{}: {}", hazard.kind.word(), hazard.what));
    }
    for reading in readings(Some(tool), arguments) {
        for part in &reading.parts {
            let words = part.words.iter().map(|word| (word.2, reading.text.get(word.0..word.1).unwrap_or_default()));
            let words: Vec<String> = words.map(|(kind, text)| format!("{kind:?} {text}")).collect();
            let (weight, object) = (part.weight, part.object.as_deref().unwrap_or_default());
            add(format_args!("{weight:?} {} <{object}> {}: {}", part.says, part.joint, words.join(", ")));
        }
        if reading.more > 0 {
            add(format_args!("{} more, {} grave", reading.more, reading.grave));
        }
    }
    lines
}

#[test]
fn nothing_that_is_said_of_arguments_changes_unseen() {
    let lines = include_str!("../fixtures/arguments/readings.jsonl").lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).expect("a line of a table is JSON"));
    let (tools, calls): (Vec<Value>, Vec<Value>) = lines.partition(|line| line.get("tool").is_some());
    let tools: Vec<Tool> = tools.iter().map(|line| tool(line["tool"].clone())).collect();
    let of = |call: &Value| usize::try_from(call["of"].as_u64().expect("a number of a tool")).expect("a small one");
    let all: String = calls.iter().map(|call| said(&tools[of(call)], &call["arguments"])).collect();
    insta::assert_snapshot!(all);
}
