//! C# for a plan: records for `System.Text.Json`, one interface a capability, the server's union, the tools' methods.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::plan::{Body, Plan, PlannedField, PlannedTool, PlannedType, Use};
use crate::capability::names::{Taken, csharp_literal, filled, lines, plain, reserved, type_name};
use crate::capability::shape::TextFormat;

const TOOLS: &str = include_str!("../../../assets/tools.cs");

pub fn source(plan: &Plan) -> String {
    let head = filled(TOOLS, "head", |key| match key {
        "server" => plan.server.clone(),
        "name" => plan.name.clone(),
        _ => plan.notes.iter().map(|note| format!("//\n// {note}\n")).collect(),
    });
    let mut out = head.trim_start().to_owned() + include_str!("../../../assets/error.cs");
    let bases = bases(&plan.types);
    for planned in &plan.types {
        out.push('\n');
        item(planned, bases.get(&planned.name).copied(), &mut out);
    }
    if plan.types.iter().any(|planned| matches!(planned.body, Body::Union(_))) {
        out.push_str(include_str!("../../../assets/union.cs"));
    }
    interfaces(plan, &mut out);
    out
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn item(planned: &PlannedType, base: Option<&str>, out: &mut String) {
    let name = &planned.name;
    if !planned.doc.is_empty() {
        let parts = planned.doc.split('`').enumerate();
        let coded = |(at, part)| if at % 2 == 0 { xml(part) } else { format!("<c>{}</c>", xml(part)) };
        let _ =
            writeln!(out, "/// <summary>{}</summary>", parts.map(coded).collect::<String>().replace(['[', ']'], ""));
    }
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
        Body::Wraps(Use::List(items)) => {
            let _ = writeln!(out, "public sealed class {name} : List<{}> {{ }}", rendered(items));
        }
        Body::Wraps(Use::Map(values)) => {
            let _ = writeln!(out, "public sealed class {name} : Dictionary<string, {}> {{ }}", rendered(values));
        }
        Body::Wraps(other) => {
            let summary = xml(&rendered(other));
            let _ = writeln!(out, "/// <summary>{summary}.</summary>\npublic sealed record {name}(JsonElement Value);");
        }
        Body::Never => {
            let _ = writeln!(out, "public sealed record {name}\n{{\n    private {name}() {{ }}\n}}");
        }
    }
}

/// The type that each variant of a tagged choice derives from.
fn bases(types: &[PlannedType]) -> BTreeMap<String, &str> {
    let tagged = types.iter().filter_map(|planned| match &planned.body {
        Body::Tagged { variants, .. } => Some((planned.name.as_str(), variants)),
        _ => None,
    });
    tagged.flat_map(|(base, variants)| variants.iter().map(move |(_, _, of)| (rendered(of), base))).collect()
}

/// A positional record, its documentation, what it derives from, and its body.
fn record(name: &str, fields: &[PlannedField], base: Option<&str>, has_rest: bool, out: &mut String) {
    // Its own name, and those of every object.
    let mut taken = Taken::with(&reserved("csharp-members"));
    taken.take(name);
    let mut parameters = Vec::new();
    for field in required_first(fields) {
        let (ident, wire) = (taken.take(&type_name(&field.wire, "Field")), csharp_literal(&field.wire));
        let text: Vec<String> = field.doc.iter().flat_map(|text| lines(text)).collect();
        if !text.is_empty() {
            let _ = writeln!(out, "/// <param name=\"{ident}\">{}</param>", xml(&text.join(" ")));
        }
        let json = match field.required {
            true => "Required",
            false => "Ignore(Condition = JsonIgnoreCondition.WhenWritingNull)",
        };
        let parameter = parameter(field, &ident);
        parameters.push(format!("\n    [property: JsonPropertyName({wire})] [property: Json{json}] {parameter}"));
    }
    let base = base.map(|base| format!(" : {base}")).unwrap_or_default();
    let _ = write!(out, "public record {name}({}){base}", parameters.join(","));
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

/// Parameters without a default come first.
fn required_first(fields: &[PlannedField]) -> Vec<&PlannedField> {
    let (mut first, mut rest): (Vec<_>, Vec<_>) = fields.iter().partition(|field| field.required);
    first.append(&mut rest);
    first
}

fn parameter(field: &PlannedField, name: &str) -> String {
    match field.required {
        true => format!("{} {name}", rendered(&field.of)),
        false => format!("{} {name} = null", nullable(rendered(&field.of))),
    }
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
    let of = |tool: &PlannedTool, template: &str| filled(TOOLS, template, |key| of_tool(plan, tool, key));
    let each = |template: &str| plan.tools.iter().map(|tool| of(tool, template)).collect::<String>();
    let once = |template: &str| {
        filled(TOOLS, template, |key| match key {
            "caps" => listed(plan.tools.iter().map(|tool| format!("ICan{}", tool.pascal))),
            "guardrails" => {
                let guarded = plan.tools.iter().filter(|tool| !tool.is_unguarded);
                let each = listed(guarded.map(|tool| of(tool, "guardrail").trim().to_owned()));
                if each.is_empty() { each } else { format!(" :\n    {each}") }
            }
            _ => plan.name.clone(),
        })
    };
    *out += &each("can");
    if plan.tools.is_empty() {
        return;
    }
    *out += &(once("caps") + include_str!("../../../assets/guardrail.cs") + &each("class") + &once("agent"));
    for tool in &plan.tools {
        *out += &(of(tool, if tool.is_unguarded { "unchecked" } else { "before" }) + &of(tool, "call"));
    }
    *out += &("}\n".to_owned() + &once("tools") + &each("method") + "}\n" + &once("registration"));
}

fn listed(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(",\n    ")
}

fn of_tool(plan: &Plan, tool: &PlannedTool, key: &str) -> String {
    match key {
        "wire" => xml(&plain(&tool.wire)),
        "literal" => csharp_literal(&tool.wire),
        "pascal" => tool.pascal.clone(),
        "args" => rendered(&tool.arguments),
        "result" => tool.result.as_ref().map_or_else(|| "JsonElement".to_owned(), rendered),
        "unguarded" => if tool.is_unguarded { ", INoGuardrailRequired" } else { "" }.to_owned(),
        "attribute" => attribute(tool),
        "described" => tool.doc.as_deref().map(described).unwrap_or_default(),
        "parameters" => parameters(plan, tool).0,
        "new" => parameters(plan, tool).1,
        _ => {
            let lines = tool.doc.as_deref().into_iter().flat_map(lines);
            let lines: String = lines.map(|line| format!("    /// {}\n", xml(&line))).collect();
            if lines.is_empty() { lines } else { format!("    /// <summary>\n{lines}    /// </summary>\n") }
        }
    }
}

fn described(text: &str) -> String {
    format!("\n    [Description({})]", csharp_literal(text))
}

/// What the SDK is to say of a tool: what its definition says.
fn attribute(tool: &PlannedTool) -> String {
    let hints = [
        ("ReadOnly", tool.hints.read_only),
        ("Destructive", tool.hints.destructive),
        ("Idempotent", tool.hints.idempotent),
        ("OpenWorld", tool.hints.open_world),
        ("UseStructuredContent", tool.result.as_ref().map(|_| true)),
    ];
    let title = tool.title.iter().map(|title| format!(", Title = {}", csharp_literal(title)));
    let hints = hints.iter().filter_map(|(name, hint)| Some(format!(", {name} = {}", (*hint)?)));
    format!("Name = {}", csharp_literal(&tool.wire)) + &title.chain(hints).collect::<String>()
}

/// The parameters of a tool's method, and the arguments made of them. The SDK takes the names on the wire from the parameters;
/// where C# has no such names, the method reads the request.
fn parameters(plan: &Plan, tool: &PlannedTool) -> (String, String) {
    let args = rendered(&tool.arguments);
    let body = plan.types.iter().find(|planned| planned.name == args).map(|planned| &planned.body);
    let fields = match body {
        Some(Body::Record { fields, rest: None }) if fields.iter().all(|field| is_name(&field.wire)) => fields,
        _ => {
            let request = "RequestContext<CallToolRequestParams> request,\n        CancellationToken ct = default";
            return (request.to_owned(), format!("McpErrors.Read<{args}>(request), ct"));
        }
    };
    let mut taken = Taken::default();
    let fields = required_first(fields).into_iter().map(|field| {
        let name = taken.take(&field.wire);
        let name = if reserved("csharp-keywords").contains(&name.as_str()) { format!("@{name}") } else { name };
        let doc = field.doc.as_deref().map(|text| described(text).trim_start().to_owned() + " ").unwrap_or_default();
        (format!("{doc}{},\n        ", parameter(field, &name)), name)
    });
    let (parameters, names): (Vec<String>, Vec<String>) = fields.unzip();
    let ct = taken.take("ct");
    let made = format!("new {args}({}), {ct}", names.join(", "));
    (parameters.concat() + &format!("CancellationToken {ct} = default"), made)
}

/// Whether a name on the wire can be a parameter's.
fn is_name(wire: &str) -> bool {
    !wire.starts_with(|first: char| first.is_ascii_digit())
        && !wire.is_empty()
        && wire.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}
