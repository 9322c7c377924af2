//! Generated C# against somebody else's reader: the grammar of the registry.

use std::collections::BTreeSet;

use mcp_approve::capability::codegen::CodeLanguage;
use serde_json::{Value, json};
use tree_sitter::{Node, Parser};

use super::manifests::{Manifest, odd, real};

/// A manifest of more than ten mebibytes: many tools, long texts, wide and deep schemas.
fn large() -> Manifest {
    let deep = (0..60).fold(json!({ "type": "string" }), |inner, n| {
        json!({ "type": "object", "properties": { format!("level{n}"): inner }, "description": "/* \" */ ".repeat(20) })
    });
    let wide: serde_json::Map<String, Value> = (0..60)
        .map(|n| (format!("field-{n}"), json!({ "type": ["string", "null"], "enum": ["a", n.to_string()] })))
        .collect();
    let tool = |n: usize| {
        json!({ "name": format!("tool_{n}"), "description": "long ".repeat(6_000),
            "inputSchema": { "type": "object", "properties": wide, "required": ["field-1"] }, "outputSchema": deep })
    };
    let tools = Value::Array((0..280).map(tool).collect());
    assert!(tools.to_string().len() > 10 << 20);
    Manifest::of("large", &tools)
}

/// The keywords of C# (its language reference): no identifier may be one.
const WORDS: [&str; 77] = [
    "abstract", "as", "base", "bool", "break", "byte", "case", "catch", "char", "checked", "class", "const",
    "continue", "decimal", "default", "delegate", "do", "double", "else", "enum", "event", "explicit", "extern",
    "false", "finally", "fixed", "float", "for", "foreach", "goto", "if", "implicit", "in", "int", "interface",
    "internal", "is", "lock", "long", "namespace", "new", "null", "object", "operator", "out", "override", "params",
    "private", "protected", "public", "readonly", "ref", "return", "sbyte", "sealed", "short", "sizeof", "stackalloc",
    "static", "string", "struct", "switch", "this", "throw", "true", "try", "typeof", "uint", "ulong", "unchecked",
    "unsafe", "ushort", "using", "virtual", "void", "volatile", "while",
];

/// The first places where a text is not C#.
fn faults(source: &str) -> Vec<String> {
    fn search(node: Node<'_>, source: &str, found: &mut Vec<String>) {
        let text = &source[node.byte_range()];
        // Its words may be names where no word is expected: a compiler's may not.
        let is_word = node.kind() == "identifier" && WORDS.contains(&text);
        if (is_word || node.is_error() || node.is_missing()) && found.len() < 5 {
            let line = source.lines().nth(node.start_position().row).unwrap_or_default();
            found.push(format!("line {}: {} in {line:?}", node.start_position().row + 1, node.to_sexp()));
        }
        let mut cursor = node.walk();
        let mut names = BTreeSet::new();
        for name in node.children(&mut cursor).filter_map(|child| child.child_by_field_name("name")) {
            if !names.insert(&source[name.byte_range()]) {
                found.push(format!("line {}: {} twice", name.start_position().row + 1, &source[name.byte_range()]));
            }
        }
        node.children(&mut cursor).for_each(|child| search(child, source, found));
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_c_sharp::LANGUAGE.into()).unwrap();
    let tree = parser.parse(source, None).unwrap();
    let mut found = Vec::new();
    search(tree.root_node(), source, &mut found);
    found
}

#[test]
fn what_is_generated_in_csharp_is_csharp() {
    assert_ne!(faults("public record A(string class);"), [""; 0], "the grammar knows a fault");
    assert_ne!(faults("enum A { B, C, B }"), [""; 0], "and two of one name");
    assert_ne!(faults("class A { int x }"), [""; 0], "and what is missing");
    for manifest in real().into_iter().chain(odd()).chain([large()]) {
        let server = &manifest.server;
        assert_eq!(faults(&manifest.code(CodeLanguage::CSharp)), [""; 0], "{server}");
    }
}

#[test]
fn a_call_in_csharp_asks_for_its_evidence() {
    let mut total = 0;
    for manifest in real().into_iter().chain(odd()) {
        let code = manifest.code(CodeLanguage::CSharp);
        let [tools, calls, uses] =
            [">.Name => ", "> evidence,", "evidence.Use(Runner, args);"].map(|part| code.matches(part).count());
        assert_eq!((calls, uses), (tools, tools), "{}: each tool", manifest.server);
        let made = ["new GuardrailEvidence<", "    private GuardrailEvidence("].map(|part| code.matches(part).count());
        assert_eq!(made, [usize::from(tools > 0); 2], "{}: in one place, by itself", manifest.server);
        total += tools;
    }
    assert!(total > 60, "{total}");
}
