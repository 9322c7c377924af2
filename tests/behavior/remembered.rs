//! What is remembered of the texts of earlier calls only saves work: every call comes out as it does without a memory.

use mcp_approve::behavior::arguments::key::Said;
use mcp_approve::behavior::arguments::memory::Memory;
use mcp_approve::behavior::conclude::{CallBehavior, Trust, of_described_call, of_tool};
use mcp_approve::mcp::tool::Tool;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::named;

fn judged(tool: &Tool, arguments: &Value, memory: &mut Memory) -> CallBehavior {
    let described = of_tool(tool, Trust::Corroborate);
    of_described_call(Some(tool), &Said::of(tool), &described, arguments, memory)
}

const NAMES: [&str; 9] = ["path", "query", "sql", "command", "url", "name", "action", "$where", "a/b~c"];
const TEXTS: [&str; 16] = [
    "src/main.rs", "/home/ada/.ssh/id_rsa", "how to do this", "SELECT 1", "DROP TABLE users", "delete", "rm -rf /",
    "https://example.org/?q=1", "http://169.254.169.254/", "../../x", "a\u{200b}b", "GET", "", "{\"a\": \"b\"}",
    "{\"sql\": \"DELETE FROM t\"}", "_method: DELETE",
];

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        8 => prop::sample::select(TEXTS.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,20}",
        1 => (1_usize..400).prop_map(|length| "x".repeat(length)),
    ];
    prop_oneof![
        8 => text.prop_map(Value::from),
        1 => any::<i32>().prop_map(Value::from),
        1 => Just(json!({ "path": "src/main.rs", "sql": "DROP TABLE users" })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_calls_comes_out_the_same_by_memory(
        calls in prop::collection::vec(prop::collection::vec((prop::sample::select(NAMES.to_vec()), value()), 0..6), 1..30),
        spoken in prop::sample::select(vec!["Reads notes.", "Runs SQL on the database.", "Runs a shell command."]),
    ) {
        let tool = named("search_notes", spoken);
        let mut memory = Memory::default();
        for fields in calls {
            let arguments = Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
            let remembering = judged(&tool, &arguments, &mut memory);
            prop_assert_eq!(remembering, judged(&tool, &arguments, &mut Memory::default()), "{}", arguments);
        }
    }
}
