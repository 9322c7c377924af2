//! C# for a plan: records for `System.Text.Json`, one interface a capability, the server's union, the tools' methods.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::CodeNote;
use super::plan::{Body, Plan, PlannedField, PlannedTool, PlannedType, Use};
use crate::capability::names::{Taken, csharp_literal, filled, lines, plain, reserved, type_name};
use crate::capability::shape::TextFormat;

const HEAD: &str = include_str!("../../../assets/head.cs");

const ERROR: &str = include_str!("../../../assets/error.cs");

/// What makes a call impossible without its guardrail (capability lattice, section 8.3): only running the guardrail makes the
/// evidence, which serves one call, once. The section's `internal` protects nothing within one assembly.
const GUARDRAIL: &str = include_str!("../../../assets/guardrail.cs");

const UNION: &str = include_str!("../../../assets/union.cs");

const TOOLS: &str = include_str!("../../../assets/tools.cs");

pub fn source(plan: &Plan, notes: &[CodeNote]) -> String {
    let name = &plan.name;
    let mut out = format!(
        "// The capabilities of the MCP server {}: argument and result types, one interface a tool.\n// Made by `mcp-approve \
         lattice codegen --lang csharp`; generate it again when the server changes.\n",
        plain(&plan.server)
    );
    out.extend(notes.iter().map(|note| format!("//\n// {note}\n")));
    let _ = write!(out, "{HEAD}namespace {name}Capabilities;\n\n");
    out.push_str(ERROR);
    let bases = bases(&plan.types);
    for planned in &plan.types {
        out.push('\n');
        item(planned, bases.get(planned.name.as_str()).copied(), &mut out);
    }
    if plan.types.iter().any(|planned| matches!(planned.body, Body::Union(_))) {
        out.push_str(UNION);
    }
    interfaces(plan, &mut out);
    out
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn item(planned: &PlannedType, base: Option<&str>, out: &mut String) {
    let name = &planned.name;
    match &planned.body {
        Body::Record { fields, rest } => record(name, fields, base, rest.is_some(), out),
        Body::Choice(variants) => {
            let _ = writeln!(out, "[JsonConverter(typeof(JsonStringEnumConverter<{name}>))]\npublic enum {name}\n{{");
            for (variant, text) in variants {
                if variant != text {
                    let _ = writeln!(out, "    [JsonStringEnumMemberName({})]", csharp_literal(text));
                }
                let _ = writeln!(out, "    {variant},");
            }
            out.push_str("}\n");
        }
        Body::Union(variants) => {
            let _ = writeln!(
                out,
                "[JsonConverter(typeof(UnionConverter<{name}>))]\npublic abstract record {name}\n{{\n    private {name}() {{ }}\n"
            );
            let mut taken = Taken::with(&[name]);
            for (variant, of) in variants {
                // Not the type's own name: within this record it would mean the option, not the type.
                let option = taken.take(&format!("As{variant}"));
                let _ = writeln!(out, "    public sealed record {option}({} Value) : {name};", rendered(of));
            }
            out.push_str("}\n");
        }
        Body::Tagged { tag, variants } => {
            let _ = writeln!(out, "[JsonPolymorphic(TypeDiscriminatorPropertyName = {})]", csharp_literal(tag));
            for (_, text, of) in variants {
                let _ = writeln!(out, "[JsonDerivedType(typeof({}), {})]", rendered(of), csharp_literal(text));
            }
            let _ = writeln!(out, "public abstract record {name};");
        }
        Body::Wraps(of) => {
            let _ = match of {
                Use::List(items) => writeln!(out, "public sealed class {name} : List<{}> {{ }}", rendered(items)),
                Use::Map(values) => {
                    writeln!(out, "public sealed class {name} : Dictionary<string, {}> {{ }}", rendered(values))
                }
                other => {
                    let summary = xml(&rendered(other));
                    writeln!(out, "/// <summary>{summary}.</summary>\npublic sealed record {name}(JsonElement Value);")
                }
            };
        }
        Body::Never => {
            let _ = writeln!(
                out,
                "/// <summary>Its schema contradicts itself: there is no such value.</summary>\npublic sealed record \
                 {name}\n{{\n    private {name}() {{ }}\n}}"
            );
        }
    }
}

/// The type that each variant of a tagged choice derives from.
fn bases(types: &[PlannedType]) -> BTreeMap<&str, &str> {
    let mut bases = BTreeMap::new();
    for planned in types {
        if let Body::Tagged { variants, .. } = &planned.body {
            for (_, _, of) in variants {
                if let Use::Named(variant) = of {
                    bases.insert(variant.as_str(), planned.name.as_str());
                }
            }
        }
    }
    bases
}

/// A positional record, its documentation, what it derives from, and its body. Parameters without a default come first.
fn record(name: &str, fields: &[PlannedField], base: Option<&str>, has_rest: bool, out: &mut String) {
    // Its own name, and those of every object.
    let mut taken = Taken::with(&reserved("csharp-members"));
    taken.take(name);
    let (mut required, mut optional) = (Vec::new(), Vec::new());
    for field in fields {
        let (ident, of, wire) =
            (taken.take(&type_name(&field.wire, "Field")), rendered(&field.of), csharp_literal(&field.wire));
        let text: Vec<String> = field.doc.iter().flat_map(|text| lines(text)).collect();
        if !text.is_empty() {
            let _ = writeln!(out, "/// <param name=\"{ident}\">{}</param>", xml(&text.join(" ")));
        }
        let parameter = format!("\n    [property: JsonPropertyName({wire})] [property: Json");
        if field.required {
            required.push(format!("{parameter}Required] {of} {ident}"));
        } else {
            let of = nullable(of);
            optional.push(format!(
                "{parameter}Ignore(Condition = JsonIgnoreCondition.WhenWritingNull)] {of} {ident} = null"
            ));
        }
    }
    required.append(&mut optional);
    let base = base.map(|base| format!(" : {base}")).unwrap_or_default();
    let _ = write!(out, "public record {name}({}){base}", required.join(","));
    let _ = match has_rest {
        true => writeln!(
            out,
            "\n{{\n    /// <summary>Every other property.</summary>\n    [JsonExtensionData]\n    public Dictionary<string, \
             JsonElement>? {} {{ get; init; }}\n}}",
            taken.take("Rest")
        ),
        false => writeln!(out, ";"),
    };
}

fn rendered(of: &Use) -> String {
    let name = match of {
        Use::Any => "JsonElement",
        Use::Null => "object?",
        Use::Boolean => "bool",
        Use::Integer => "long",
        Use::Number => "double",
        Use::Text(Some(TextFormat::DateTime)) => "DateTimeOffset",
        Use::Text(Some(TextFormat::Date)) => "DateOnly",
        Use::Text(Some(TextFormat::Uuid)) => "Guid",
        Use::Text(Some(TextFormat::Uri)) => "Uri",
        Use::Text(Some(TextFormat::Base64)) => "byte[]",
        Use::Text(_) => "string",
        Use::List(items) => return format!("IReadOnlyList<{}>", rendered(items)),
        Use::Map(values) => return format!("Dictionary<string, {}>", rendered(values)),
        Use::Nullable(inner) => return nullable(rendered(inner)),
        Use::Named(name) | Use::Again(name) => name,
    };
    name.to_owned()
}

fn nullable(of: String) -> String {
    if of.ends_with('?') { of } else { of + "?" }
}

fn interfaces(plan: &Plan, out: &mut String) {
    let each = |template: &str| -> Vec<String> {
        plan.tools.iter().map(|tool| filled(TOOLS, template, |key| of_tool(plan, tool, key))).collect()
    };
    let once = |template: &str| {
        filled(TOOLS, template, |key| match key {
            "caps" => plan.tools.iter().map(|tool| format!("ICan{}", tool.pascal)).collect::<Vec<_>>().join(",\n    "),
            _ => plan.name.clone(),
        })
    };
    out.extend(each("can"));
    if plan.tools.is_empty() {
        return;
    }
    *out += &(once("caps") + GUARDRAIL);
    out.extend(each("class"));
    *out += &once("guarded");
    out.extend(each("call"));
    *out += "}\n";
    *out += &once("service");
    *out += &once("tools");
    // The first method has no blank line above it.
    *out += each("method").concat().trim_start_matches('\n');
    *out += "}\n";
}

fn of_tool(plan: &Plan, tool: &PlannedTool, key: &str) -> String {
    let doc = || tool.doc.as_deref().into_iter().flat_map(lines);
    match key {
        "server" => plan.name.clone(),
        "wire" => xml(&plain(&tool.wire)),
        "literal" => csharp_literal(&tool.wire),
        "pascal" => tool.pascal.clone(),
        "args" => rendered(&tool.arguments),
        "result" => tool.result.as_ref().map_or_else(|| "JsonElement".to_owned(), rendered),
        "described" => csharp_literal(&doc().next().unwrap_or_default()),
        _ => {
            let lines: String = doc().map(|line| format!("    /// {}\n", xml(&line))).collect();
            if lines.is_empty() { lines } else { format!("    /// <summary>\n{lines}    /// </summary>\n") }
        }
    }
}
