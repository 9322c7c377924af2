//! Rust for a plan: types for serde, one trait a capability, the server's union, handlers, the error with its codes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::plan::{Body, Plan, PlannedField, PlannedTool, PlannedType, Use};
use crate::capability::names::{Taken, filled, identifier, lines, plain, reserved, rust_literal, snake};

const TOOLS: &str = include_str!("../../../assets/tools.rs");

pub fn source(plan: &Plan, typed: bool) -> String {
    let mut body = include_str!("../../../assets/error.rs").to_owned();
    for planned in &plan.types {
        body.push('\n');
        item(planned, &mut body);
    }
    if body.contains("deserialize_with = \"nullable\"") {
        body += &filled(TOOLS, "nullable", |_| String::new());
    }
    traits(plan, typed, &mut body);
    let head = filled(TOOLS, "head", |key| match key {
        "server" => plan.server.clone(),
        _ => plan.notes.iter().map(|note| format!("//!\n//! {note}\n")).collect(),
    });
    let mut out = head.trim_start().to_owned();
    let uses = [
        ("HashMap<", "use std::collections::HashMap;\n"),
        (" Future<", "use std::future::Future;\n"),
        ("Deserialize,", "\nuse serde::{Deserialize, Serialize};\n"),
        // What every file has: a blank line.
        ("McpError", "\n"),
    ];
    out.extend(uses.into_iter().filter(|(word, _)| body.contains(word)).map(|(_, line)| line));
    out + &body
}

fn doc(text: Option<&str>) -> String {
    let line = |line: String| format!("    ///{}{line}\n", if line.is_empty() { "" } else { " " });
    text.into_iter().flat_map(lines).map(line).collect()
}

fn item(planned: &PlannedType, out: &mut String) {
    let name = &planned.name;
    let (attribute, kind, lines) = match &planned.body {
        Body::Record { fields, rest } => (String::new(), "struct", record(fields, rest.as_ref())),
        Body::Choice(variants) => {
            (String::new(), "enum", variants.iter().map(|(name, text)| variant(name, text, None)).collect())
        }
        Body::Union(variants) => {
            let variants = variants.iter().map(|(name, of)| variant(name, name, Some(of))).collect();
            ("#[serde(untagged)]\n".to_owned(), "enum", variants)
        }
        Body::Tagged { tag, variants } => {
            let variants = variants.iter().map(|(name, text, of)| variant(name, text, Some(of))).collect();
            (format!("#[serde(tag = {})]\n", rust_literal(tag)), "enum", variants)
        }
        Body::Wraps(of) => ("#[serde(transparent)]\n".to_owned(), "struct", rendered(of, true)),
        Body::Never => (String::new(), "enum", String::new()),
    };
    if !planned.doc.is_empty() {
        let _ = writeln!(out, "/// {}", planned.doc);
    }
    let _ = write!(out, "#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]\n{attribute}pub {kind} {name}");
    let _ = match &planned.body {
        Body::Wraps(_) => writeln!(out, "(pub {lines});"),
        _ if lines.is_empty() => writeln!(out, " {{}}"),
        _ => writeln!(out, " {{\n{lines}}}"),
    };
}

fn variant(name: &str, text: &str, of: Option<&Use>) -> String {
    let rename = if name == text { String::new() } else { format!("    #[serde(rename = {})]\n", rust_literal(text)) };
    let of = of.map(|of| format!("({})", rendered(of, true))).unwrap_or_default();
    format!("{rename}    {}{of},\n", escaped(name))
}

fn record(fields: &[PlannedField], rest: Option<&Use>) -> String {
    let (mut out, mut taken) = (String::new(), Taken::default());
    for field in fields {
        out += &doc(field.doc.as_deref());
        let ident = escaped(&taken.take(&identifier(&snake(&field.wire), "field")));
        let of = rendered(&field.of, true);
        let is_option = of.starts_with("Option<");
        let mut serde = Vec::new();
        if ident.trim_start_matches("r#") != field.wire {
            serde.push(format!("rename = {}", rust_literal(&field.wire)));
        }
        if !field.required {
            serde.push("default, skip_serializing_if = \"Option::is_none\"".to_owned());
        } else if is_option {
            serde.push("deserialize_with = \"nullable\"".to_owned());
        }
        if !serde.is_empty() {
            let _ = writeln!(out, "    #[serde({})]", serde.join(", "));
        }
        let of = if field.required || is_option { of } else { format!("Option<{of}>") };
        let _ = writeln!(out, "    pub {ident}: {of},");
    }
    if let Some(rest) = rest {
        let _ = writeln!(out, "    /// Every other property.\n    #[serde(flatten)]");
        let _ = writeln!(out, "    pub {}: HashMap<String, {}>,", taken.take("rest"), rendered(rest, true));
    }
    out
}

/// A type where it is used; a recursive type is boxed unless a list or map holds it.
fn rendered(of: &Use, boxed: bool) -> String {
    let name = match of {
        Use::Any => "serde_json::Value",
        Use::Null => "()",
        Use::Boolean => "bool",
        Use::Integer => "i64",
        Use::Number => "f64",
        Use::Text(_) => "String",
        Use::List(items) => return format!("Vec<{}>", rendered(items, false)),
        Use::Map(values) => return format!("HashMap<String, {}>", rendered(values, false)),
        Use::Nullable(inner) => return format!("Option<{}>", rendered(inner, boxed)),
        Use::Again(name) if boxed => return format!("Box<{name}>"),
        Use::Named(name) | Use::Again(name) => name,
    };
    name.to_owned()
}

fn escaped(name: &str) -> String {
    if reserved("rust-fixed").contains(&name) {
        format!("{name}_")
    } else if reserved("rust-keywords").contains(&name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

fn traits(plan: &Plan, typed: bool, out: &mut String) {
    let mut methods = Taken::default();
    let tools: Vec<(String, &PlannedTool)> =
        plan.tools.iter().map(|tool| (escaped(&methods.take(&identifier(&tool.snake, "tool"))), tool)).collect();
    let each = |template: &str| -> Vec<String> {
        let fill = |(at, (method, tool)): (usize, &(String, &PlannedTool))| {
            filled(TOOLS, template, |key| match key {
                "place" => place(at, tools.len()),
                _ => of_tool(method, tool, key),
            })
        };
        tools.iter().enumerate().map(fill).collect()
    };
    out.extend(each("can"));
    if tools.is_empty() {
        return;
    }
    let caps: Vec<String> = plan.tools.iter().map(|tool| format!("Can{}", tool.pascal)).collect();
    let bounds = caps.join(" + ");
    let mut names = BTreeSet::new();
    // Of two tools of one name, a call means the first.
    let arms = each("arm").into_iter().zip(&tools).filter(|(_, (_, tool))| names.insert(&tool.wire));
    let arms: String = arms.map(|(arm, _)| arm.trim_start_matches('\n').to_owned()).collect();
    let once = |key: &str| match key {
        "caps" => bounds.clone(),
        "arms" => arms.clone(),
        "bounds" if bounds.len() < 60 => format!(" {bounds} {{}}"),
        "bounds" => format!("\n    {}\n{{\n}}", caps.join("\n    + ")),
        _ => plan.name.clone(),
    };
    *out += &filled(TOOLS, "caps", once);
    out.extend(each("handler"));
    *out += &("}\n".to_owned() + &filled(TOOLS, "dispatch", once));
    if typed {
        // It is generated, so that an agent's program depends on nothing of this one.
        *out += include_str!("../../../assets/typed.rs");
        out.extend(each("typed"));
    }
}

fn of_tool(method: &str, tool: &PlannedTool, key: &str) -> String {
    match key {
        "method" => method.to_owned(),
        "wire" => plain(&tool.wire),
        "literal" => rust_literal(&tool.wire),
        "pascal" => tool.pascal.clone(),
        "args" => rendered(&tool.arguments, false),
        "result" => tool.result.as_ref().map_or_else(|| "serde_json::Value".to_owned(), |of| rendered(of, false)),
        "guardrail" if tool.is_unguarded => "NotRequired".to_owned(),
        "guardrail" => "Required".to_owned(),
        _ => doc(tool.doc.as_deref()),
    }
}

/// Where one of so many tools is, as a type: halves of halves, the last of them outermost.
fn place(at: usize, of: usize) -> String {
    let half = |inner: String, bit: u32| match at >> bit & 1 {
        0 => format!("typed::First<{inner}>"),
        _ => format!("typed::Second<{inner}>"),
    };
    (0..of.next_power_of_two().ilog2()).fold("typed::Here".to_owned(), half)
}
