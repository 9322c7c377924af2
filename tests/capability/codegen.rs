//! Generated code: the seed's FileManager to the letter, the odd rows of the table, and manifests that fight back.
//!
//! `mcp-approve help code` says where they differ from the seed's section 5, and why.

use std::collections::BTreeSet;

use mcp_approve::capability::codegen::{CodeLanguage, Options, generate};
use mcp_approve::mcp::tool::Tool;
use serde_json::{Value, json};

use super::tool;

/// The generated files themselves, compiled into this test.
#[path = "../fixtures/lattice/file_manager.rs"]
#[rustfmt::skip]
#[allow(dead_code, reason = "each test uses the part it needs")]
pub mod file_manager;
#[path = "../fixtures/lattice/odd.rs"]
#[rustfmt::skip]
#[allow(dead_code, reason = "its arguments are read, and no more")]
mod odd;

const FILE_MANAGER: &str = include_str!("../fixtures/lattice/file_manager.json");
const ODD: &str = include_str!("../fixtures/lattice/odd.json");

fn code(server: &str, manifest: &str, language: CodeLanguage) -> String {
    let manifest: Value = serde_json::from_str(manifest).unwrap();
    let tools: Vec<Tool> = manifest["tools"].as_array().unwrap().iter().cloned().map(tool).collect();
    generate(server, &tools, Options { language, typed: language == CodeLanguage::Rust })
}

#[test]
fn what_is_generated_is_the_same_to_the_letter() {
    for (server, manifest, language, golden, file) in [
        (
            "FileManager",
            FILE_MANAGER,
            CodeLanguage::Rust,
            include_str!("../fixtures/lattice/file_manager.rs"),
            "file_manager.rs",
        ),
        (
            "FileManager",
            FILE_MANAGER,
            CodeLanguage::CSharp,
            include_str!("../fixtures/lattice/file_manager.cs"),
            "file_manager.cs",
        ),
        ("odd */ server", ODD, CodeLanguage::Rust, include_str!("../fixtures/lattice/odd.rs"), "odd.rs"),
        ("odd */ server", ODD, CodeLanguage::CSharp, include_str!("../fixtures/lattice/odd.cs"), "odd.cs"),
    ] {
        let source = code(server, manifest, language);
        if std::env::var_os("GOLDEN").is_some() {
            std::fs::write(format!("tests/fixtures/lattice/{file}"), &source).unwrap();
        } else {
            assert_eq!(source, golden, "{file}: GOLDEN=1 writes it anew");
        }
    }
}

#[test]
fn what_falls_together_is_said() {
    let notes = |code: &str| -> Vec<String> {
        let head = code.lines().take_while(|line| line.starts_with("//"));
        head.skip(2)
            .map(|line| line.trim_start_matches(['/', '!', ' ']).to_owned())
            .filter(|line| !line.is_empty())
            .collect()
    };
    assert_eq!(notes(&code("FileManager", FILE_MANAGER, CodeLanguage::Rust)), [""; 0]);
    let renamed =
        |tool: &str, name: &str| format!("`{tool}` is {name} here: another name is the same in this language.");
    assert_eq!(
        notes(&code("odd", ODD, CodeLanguage::Rust)),
        [renamed("Odd", "Odd2"), renamed("odd", "Odd3"), renamed("String", "String2")]
    );
    let twice =
        json!({ "tools": [{ "name": "a", "inputSchema": {} }, { "name": "a", "inputSchema": {}, "title": "A" }] });
    assert_eq!(notes(&code("s", &twice.to_string(), CodeLanguage::CSharp)), ["`a` is listed twice, and is here once."]);
}

#[test]
fn generated_types_read_and_write_what_is_on_the_wire() {
    let read: file_manager::ReadFileSuccess =
        serde_json::from_value(json!({ "content": "x", "size_bytes": 1 })).unwrap();
    assert_eq!(read.size_bytes, Some(1));
    let whole = json!({
        "type": "t", "self": 1, "crate": true, "Type": "T", "a-b": "1", "a_b": "2", "": "3", "case": "b c", "must": null,
        "filter": { "kind": "by name", "name": "n" }, "target": { "x": 1 }, "unseen": [1], "other": 7,
        "tree": { "value": "v", "left": { "value": "w" }, "children": [{ "value": "x" }] },
        "json": { "a": [1.5, "b", {}] },
    });
    let args: odd::OddArgs = serde_json::from_value(whole.clone()).unwrap();
    assert_eq!(serde_json::to_value(&args).unwrap(), whole);
    assert_eq!((args.must, args.rest["other"]), (None, 7));
    for without in ["type", "case", "must", "unseen"] {
        let mut short = whole.clone();
        short.as_object_mut().unwrap().remove(without);
        assert!(serde_json::from_value::<odd::OddArgs>(short).is_err(), "{without} is required");
    }
    for (key, value) in [("case", json!("c")), ("never", json!(1)), ("filter", json!({ "kind": "none" }))] {
        let mut wrong = whole.clone();
        wrong[key] = value;
        assert!(serde_json::from_value::<odd::OddArgs>(wrong).is_err(), "{key}");
    }
}

/// The tables of `mcp-approve help code`: the first is of Rust, the second of C#; the middle column is ours.
#[test]
fn what_help_sets_beside_the_specification_is_what_is_generated() {
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| c != '_' && !c.is_alphanumeric()).map(str::to_owned).collect()
    };
    let golden =
        [include_str!("../fixtures/lattice/file_manager.rs"), include_str!("../fixtures/lattice/file_manager.cs")]
            .map(words);
    let help = mcp_approve::cli::help::topic("code").unwrap();
    let tables = help.split("| there | here | why |").skip(1);
    let mut rows = 0;
    for (table, golden) in tables.zip(&golden) {
        for row in table.lines().filter(|line| line.starts_with("| ")) {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
            let [_, here, _] = cells[..] else { panic!("{row}") };
            let missing: Vec<String> =
                here.split('`').skip(1).step_by(2).flat_map(words).filter(|word| !golden.contains(word)).collect();
            assert_eq!(missing, [""; 0], "{row}");
            rows += 1;
        }
    }
    assert!(rows >= 20, "{rows}");
    for (old, golden) in
        [("rename_all CallbackRunner UncheckedInvocation", &golden[0]), ("McpTool FromServices WithTool", &golden[1])]
    {
        assert!(old.split(' ').all(|word| help.contains(word) && !golden.contains(word)), "{old}");
    }
}
