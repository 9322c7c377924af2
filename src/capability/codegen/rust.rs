//! Rust for a plan: types for serde, one trait a capability, the server's union, handlers, the error with its codes.

use std::fmt::Write as _;

use super::Note;
use super::plan::{Body, Plan, PlannedField, PlannedTool, PlannedType, Use};
use super::text::{lines, plain, rust_literal};
use crate::capability::names::{Taken, identifier, snake};

/// Names that the generated text uses itself.
pub const RESERVED: &[&str] = &[
    "Any", "Box", "Clone", "Debug", "Deserialize", "Deserializer", "Err", "Error", "Future", "HashMap", "McpError",
    "None", "Ok", "Option", "PartialEq", "Result", "Self", "Send", "Serialize", "SharedState", "Some", "String",
    "Sync", "Value", "Vec", "bool", "f64", "i64", "nullable",
];

/// Words that no identifier may be.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Keywords that `r#` does not free.
const FIXED: &[&str] = &["crate", "self", "super", "Self"];

const ERROR: &str = include_str!("../../../assets/error.rs");

const NULLABLE: &str = r#"
/// Reads a value that may be null but must be there.
fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}
"#;

/// The source file.
pub fn source(plan: &Plan, notes: &[Note], typed: bool) -> String {
    let mut body = String::from(ERROR);
    for planned in &plan.types {
        body.push('\n');
        item(planned, &mut body);
    }
    if body.contains("deserialize_with = \"nullable\"") {
        body.push_str(NULLABLE);
    }
    traits(plan, &mut body);
    if typed {
        typed_tools(plan, &mut body);
    }
    let mut out = format!(
        "//! The capabilities of the MCP server {}: argument and result types, one trait a tool.\n//! Made by `mcp-approve \
         lattice codegen --lang rust`; generate it again when the server changes.\n",
        plain(&plan.server)
    );
    out.extend(notes.iter().map(|note| format!("//!\n//! {note}\n")));
    out.push('\n');
    let uses = [
        ("HashMap<", "use std::collections::HashMap;\n"),
        (" Future<", "use std::future::Future;\n"),
        ("Deserializer<", "\nuse serde::{Deserialize, Deserializer, Serialize};\n"),
        ("Deserialize,", "\nuse serde::{Deserialize, Serialize};\n"),
    ];
    for (word, line) in uses {
        if body.contains(word) && !out.contains("Deserializer,") {
            out.push_str(line);
        }
    }
    if !out.ends_with("\n\n") {
        out.push('\n');
    }
    out + &body
}

fn doc(out: &mut String, text: Option<&str>) {
    for line in text.into_iter().flat_map(lines) {
        let _ = writeln!(out, "    ///{}{}", if line.is_empty() { "" } else { " " }, line);
    }
}

fn item(planned: &PlannedType, out: &mut String) {
    let name = &planned.name;
    let derive = "#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]\n";
    match &planned.body {
        Body::Record { fields, rest } => {
            out.push_str(derive);
            record(name, fields, rest.as_ref(), out);
        }
        Body::Choice(variants) => {
            let _ = writeln!(out, "{derive}pub enum {name} {{");
            for (name, text) in variants {
                let _ = writeln!(out, "{},", variant(name, text));
            }
            out.push_str("}\n");
        }
        Body::Union(variants) => {
            let _ = writeln!(out, "{derive}#[serde(untagged)]\npub enum {name} {{");
            for (variant, of) in variants {
                let _ = writeln!(out, "    {}({}),", escaped(variant), rendered(of, true));
            }
            out.push_str("}\n");
        }
        Body::Tagged { tag, variants } => {
            let _ = writeln!(out, "{derive}#[serde(tag = {})]\npub enum {name} {{", rust_literal(tag));
            for (name, text, of) in variants {
                let _ = writeln!(out, "{}({}),", variant(name, text), rendered(of, true));
            }
            out.push_str("}\n");
        }
        Body::Wraps(of) => {
            let _ = writeln!(out, "{derive}#[serde(transparent)]\npub struct {name}(pub {});", rendered(of, true));
        }
        Body::Never => {
            let _ = writeln!(
                out,
                "/// Its schema contradicts itself: there is no such value.\n{derive}pub enum {name} {{}}"
            );
        }
    }
}

/// A variant's name, with its text on the wire where that is another.
fn variant(name: &str, text: &str) -> String {
    let name = escaped(name);
    if name == text {
        format!("    {name}")
    } else {
        format!("    #[serde(rename = {})]\n    {name}", rust_literal(text))
    }
}

fn record(name: &str, fields: &[PlannedField], rest: Option<&Use>, out: &mut String) {
    if fields.is_empty() && rest.is_none() {
        let _ = writeln!(out, "pub struct {name} {{}}");
        return;
    }
    let _ = writeln!(out, "pub struct {name} {{");
    let mut taken = Taken::default();
    for field in fields {
        doc(out, field.doc.as_deref());
        let ident = taken.take(&identifier(&snake(&field.wire), "field"));
        let of = rendered(&field.of, true);
        let mut serde = Vec::new();
        let ident = escaped(&ident);
        if ident.trim_start_matches("r#") != field.wire {
            serde.push(format!("rename = {}", rust_literal(&field.wire)));
        }
        let of = match (field.required, of.starts_with("Option<")) {
            (true, true) => {
                serde.push("deserialize_with = \"nullable\"".to_owned());
                of
            }
            (true, false) => of,
            (false, is_option) => {
                serde.push("default, skip_serializing_if = \"Option::is_none\"".to_owned());
                if is_option { of } else { format!("Option<{of}>") }
            }
        };
        if !serde.is_empty() {
            let _ = writeln!(out, "    #[serde({})]", serde.join(", "));
        }
        let _ = writeln!(out, "    pub {ident}: {of},");
    }
    if let Some(rest) = rest {
        let ident = taken.take("rest");
        let _ = writeln!(out, "    /// Every other property.\n    #[serde(flatten)]");
        let _ = writeln!(out, "    pub {ident}: HashMap<String, {}>,", rendered(rest, true));
    }
    out.push_str("}\n");
}

/// A type where it is used; a type within itself is boxed where no list or map holds it.
fn rendered(of: &Use, boxed: bool) -> String {
    match of {
        Use::Any => "serde_json::Value".to_owned(),
        Use::Null => "()".to_owned(),
        Use::Boolean => "bool".to_owned(),
        Use::Integer => "i64".to_owned(),
        Use::Number => "f64".to_owned(),
        Use::Text(_) => "String".to_owned(),
        Use::List(items) => format!("Vec<{}>", rendered(items, false)),
        Use::Map(values) => format!("HashMap<String, {}>", rendered(values, false)),
        Use::Nullable(inner) => format!("Option<{}>", rendered(inner, boxed)),
        Use::Named(name) => name.clone(),
        Use::Again(name) if boxed => format!("Box<{name}>"),
        Use::Again(name) => name.clone(),
    }
}

fn escaped(name: &str) -> String {
    if FIXED.contains(&name) {
        format!("{name}_")
    } else if KEYWORDS.contains(&name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

fn result(tool: &PlannedTool) -> String {
    tool.result.as_ref().map_or_else(|| "serde_json::Value".to_owned(), |of| rendered(of, false))
}

fn traits(plan: &Plan, out: &mut String) {
    let mut methods = Taken::default();
    let named: Vec<(String, &PlannedTool)> =
        plan.tools.iter().map(|tool| (escaped(&methods.take(&identifier(&tool.snake, "tool"))), tool)).collect();
    for (method, tool) in &named {
        let _ = writeln!(out, "\n/// May call `{}`.\npub trait Can{} {{", plain(&tool.wire), tool.pascal);
        doc(out, tool.doc.as_deref());
        let (args, result) = (rendered(&tool.arguments, false), result(tool));
        let _ = writeln!(
            out,
            "    fn {method}(&self, args: {args}) -> impl Future<Output = Result<{result}, McpError>> + Send;\n}}"
        );
    }
    let name = &plan.name;
    let all: Vec<String> = plan.tools.iter().map(|tool| format!("Can{}", tool.pascal)).collect();
    if all.is_empty() {
        return;
    }
    let bounds = all.join(" + ");
    let body = match bounds.len() {
        0..60 => format!(" {bounds} {{}}"),
        _ => format!("\n    {}\n{{\n}}", all.join("\n    + ")),
    };
    let _ = writeln!(out, "\n/// All that the server can do.\npub trait {name}Caps:{body}");
    let _ = writeln!(out, "\nimpl<T> {name}Caps for T where T: {bounds} {{}}");
    let _ = writeln!(
        out,
        "\n/// What the server implements: one handler a tool. The state is the server's own, and no argument.\npub trait \
         {name}Handlers {{\n    type SharedState: Clone + Send + Sync;"
    );
    for (method, tool) in &named {
        let (args, result) = (rendered(&tool.arguments, false), result(tool));
        let _ = writeln!(
            out,
            "\n    fn {method}(\n        args: {args},\n        state: Self::SharedState,\n    ) -> impl Future<Output = \
             Result<{result}, McpError>> + Send;"
        );
    }
    out.push_str("}\n");
}

/// Each tool as a type of the library's typed interface.
fn typed_tools(plan: &Plan, out: &mut String) {
    for tool in &plan.tools {
        let (wire, name, pascal) = (plain(&tool.wire), rust_literal(&tool.wire), &tool.pascal);
        let (args, result) = (rendered(&tool.arguments, false), result(tool));
        let _ = writeln!(
            out,
            "\n/// `{wire}`, as a type.\n#[derive(Debug)]\npub enum {pascal} {{}}\n\nimpl \
             mcp_approve::capability::typed::ToolCap for {pascal} {{\n    type Args = {args};\n    type Output = {result};\n    \
             type Guardrail = mcp_approve::capability::typed::Required;\n    const NAME: &'static str = {name};\n}}"
        );
    }
}
