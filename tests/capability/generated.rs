//! Generated C# against somebody else's reader, the grammar of the registry, and against the signatures of what it uses.

use std::collections::{BTreeMap, BTreeSet};

use mcp_approve::capability::codegen::CodeLanguage;
use serde_json::{Value, json};
use tree_sitter::{Node, Parser, Tree};

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
            let parameters = name.next_sibling().filter(|next| next.kind() == "type_parameter_list");
            if !names.insert((&source[name.byte_range()], parameters.map(|list| list.named_child_count()))) {
                found.push(format!("line {}: {} twice", name.start_position().row + 1, &source[name.byte_range()]));
            }
        }
        node.children(&mut cursor).for_each(|child| search(child, source, found));
    }
    let mut found = Vec::new();
    search(parsed(source).root_node(), source, &mut found);
    found
}

fn parsed(source: &str) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_c_sharp::LANGUAGE.into()).unwrap();
    parser.parse(source, None).unwrap()
}

/// What a text takes from elsewhere that is not there, or not in this form.
fn strange(source: &str) -> BTreeSet<String> {
    let rows = include_str!("../fixtures/lattice/csharp.tsv").lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<Vec<&str>> = rows.map(|line| line.split('\t').collect()).collect();
    let known: BTreeMap<(&str, &str), (&str, &str)> =
        rows.iter().map(|row| ((row[0], row[1]), (row[2], row[3]))).collect();
    let tree = parsed(source);
    let mut nodes = vec![tree.root_node()];
    let mut at = 0;
    while let Some(node) = nodes.get(at).copied() {
        nodes.extend(node.children(&mut node.walk()));
        at += 1;
    }
    let text = |node: Node<'_>| &source[node.byte_range()];
    let declares = |node: &&Node<'_>| {
        let kind = node.kind();
        kind.ends_with("_declaration")
            || kind.ends_with("declarator")
            || ["parameter", "type_parameter"].contains(&kind)
    };
    let names = nodes.iter().filter(declares).filter_map(|node| node.child_by_field_name("name"));
    let loops = nodes.iter().filter_map(|node| node.child_by_field_name("left"));
    let own: BTreeSet<&str> = names.chain(loops).map(text).collect();
    let used: Vec<&str> = nodes
        .iter()
        .filter(|node| node.kind() == "using_directive")
        .map(|node| text(node.named_child(0).unwrap()))
        .collect();
    let mut found: BTreeSet<String> =
        used.iter().filter(|name| !known.contains_key(&("namespace", **name))).map(|name| (*name).to_owned()).collect();
    let count = |node: Option<Node<'_>>| node.map_or(0, |list| list.named_child_count()).to_string();
    for node in nodes.iter().filter(|node| node.kind() == "identifier" && !own.contains(text(**node))) {
        // The name with its type arguments, and what it is a part of.
        let generic = node.parent().filter(|parent| parent.kind() == "generic_name");
        let whole = generic.unwrap_or(*node);
        let Some(parent) = whole.parent() else { continue };
        let types = count(generic.and_then(|name| name.named_child(1)));
        let call = if parent.child_by_field_name("name") == Some(whole) { parent.parent() } else { Some(parent) };
        let call = call.filter(|call| call.kind() == "invocation_expression");
        let (form, shape) = match (parent.kind(), call) {
            ("qualified_name" | "using_directive" | "attribute_argument", _) => continue,
            ("attribute", _) => {
                let list = parent.children(&mut parent.walk()).find(|child| child.kind() == "attribute_argument_list");
                let arguments: Vec<Node<'_>> =
                    list.map_or(Vec::new(), |list| list.named_children(&mut list.walk()).collect());
                let named: Vec<&str> =
                    arguments.iter().filter_map(|node| node.child_by_field_name("name")).map(text).collect();
                ("attribute", format!("{} {}", arguments.len() - named.len(), named.join(" ")))
            }
            (_, Some(call)) => ("method", format!("{types}/{}", count(call.child_by_field_name("arguments")))),
            ("member_access_expression" | "member_binding_expression", None)
                if parent.child_by_field_name("name") == Some(whole) =>
            {
                ("member", "-".to_owned())
            }
            _ => ("type", types),
        };
        let is_known = known.get(&(form, text(*node))).is_some_and(|(namespace, allowed)| {
            let mut parts = shape.split_whitespace();
            used.contains(namespace) && parts.all(|part| allowed.split(' ').any(|one| one == part))
        });
        if !is_known {
            found.insert(format!("{form} {} {shape}", text(*node)));
        }
    }
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
fn what_is_generated_in_csharp_takes_from_elsewhere_what_is_there() {
    let golden = include_str!("../fixtures/lattice/file_manager.cs");
    for (right, wrong, said) in [
        ("[McpServerTool(Name", "[McpTool(Name", "attribute McpTool 0 Name UseStructuredContent"),
        ("(Name = \"readFile\"", "(\"readFile\"", "attribute McpServerTool 1 UseStructuredContent"),
        ("UseStructuredContent", "Structured", "attribute McpServerTool 0 Name Structured"),
        ("using System.ComponentModel;", "", "attribute Description 1 "),
        ("using System;", "using Microsoft.AspNetCore.Mvc;", "Microsoft.AspNetCore.Mvc"),
        ("WithTools<FileManagerTools>()", "WithTool<FileManagerTools>()", "method WithTool 1/0"),
        ("AddScoped<FileManagerAgent>()", "AddScoped(caps)", "method AddScoped 0/1"),
        ("McpErrorCode.MethodNotFound", "McpErrorCode.ToolNotFoundError", "member ToolNotFoundError -"),
        ("Task<ReadFileResult> ReadFile(", "Result<ReadFileResult> ReadFile(", "type Result 1"),
    ] {
        assert!(golden.contains(right), "{right}");
        assert!(
            strange(&golden.replace(right, wrong)).contains(said),
            "{wrong}: {:?}",
            strange(&golden.replace(right, wrong))
        );
    }
    for manifest in real().into_iter().chain(odd()) {
        assert_eq!(strange(&manifest.code(CodeLanguage::CSharp)), BTreeSet::new(), "{}", manifest.server);
    }
}

#[test]
fn a_call_in_csharp_asks_for_its_evidence() {
    let mut total = 0;
    for manifest in real().into_iter().chain(odd()) {
        let code = manifest.code(CodeLanguage::CSharp);
        let count = |part: &str| code.matches(part).count();
        let tools = count("static string IToolCap.Name => ");
        assert_eq!(count("> evidence, Canc"), tools, "{}: each tool", manifest.server);
        assert_eq!(count("evidence.Take(runner)!"), tools, "{}: with its arguments", manifest.server);
        assert_eq!(count("(guardrails, args, ct);") + count("runner.Unchecked<"), tools, "{}", manifest.server);
        assert_eq!(
            count("runner.Unchecked<"),
            count(", INoGuardrailRequired\n"),
            "{}: by its definition",
            manifest.server
        );
        let made = ["new GuardrailEvidence<", "    private GuardrailEvidence("].map(count);
        assert_eq!(made, [usize::from(tools > 0); 2], "{}: in one place, by itself", manifest.server);
        total += tools;
    }
    assert!(total > 60, "{total}");
}
