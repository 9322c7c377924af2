//! C# for a plan: records for `System.Text.Json`, one interface a capability, the server's union, the tools' methods.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Note;
use super::plan::{Body, Plan, PlannedField, PlannedTool, PlannedType, Use};
use super::text::{csharp_literal, lines, plain};
use crate::capability::names::{Taken, type_name};
use crate::capability::shape::Format;

/// Names that the generated text uses itself.
pub const RESERVED: &[&str] = &[
    "Activator", "CallbackRunner", "CancellationToken", "DateOnly", "DateTimeOffset", "Dictionary", "Exception",
    "Func", "GuardrailBlocked", "GuardrailEvidence", "Guid", "INoGuardrailRequired", "IReadOnlyList", "IToolCap",
    "Interlocked", "InvalidOperationException", "JsonDocument", "JsonElement", "JsonException", "JsonIgnoreCondition",
    "JsonSerializer", "JsonSerializerOptions", "McpException", "Object", "String", "Task", "TimeOnly", "TimeSpan",
    "Type", "Union", "UnionConverter", "Uri", "Utf8JsonReader", "Utf8JsonWriter",
];

const HEAD: &str = include_str!("../../../assets/head.cs");

const ERROR: &str = include_str!("../../../assets/error.cs");

/// What makes a call impossible without its guardrail (capability lattice, section 8.3). Two things differ from the section, where
/// internal is no wall within one assembly: running the guardrail is what makes the evidence, and it serves one call, once.
const GUARDRAIL: &str = include_str!("../../../assets/guardrail.cs");

const UNION: &str = include_str!("../../../assets/union.cs");

/// The source file.
pub fn source(plan: &Plan, notes: &[Note]) -> String {
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

/// A method's documentation.
fn doc(out: &mut String, text: Option<&str>) {
    let lines: String = text.into_iter().flat_map(lines).map(|line| format!("    /// {}\n", xml(&line))).collect();
    if !lines.is_empty() {
        let _ = writeln!(out, "    /// <summary>\n{lines}    /// </summary>");
    }
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn item(planned: &PlannedType, base: Option<&str>, out: &mut String) {
    let name = &planned.name;
    match &planned.body {
        Body::Record { fields, rest } => {
            record_doc(name, fields, out);
            let _ = writeln!(out, "public record {name}{}", parameters(name, fields, base, rest.is_some()));
        }
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
        Body::Wraps(of) => match of {
            Use::List(items) => {
                let _ = writeln!(out, "public sealed class {name} : List<{}> {{ }}", rendered(items));
            }
            Use::Map(values) => {
                let _ = writeln!(out, "public sealed class {name} : Dictionary<string, {}> {{ }}", rendered(values));
            }
            other => {
                let _ = writeln!(out, "/// <summary>{}.</summary>", xml(&rendered(other)));
                let _ = writeln!(out, "public sealed record {name}(JsonElement Value);");
            }
        },
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

fn record_doc(name: &str, fields: &[PlannedField], out: &mut String) {
    let mut taken = members(name);
    for field in fields {
        let ident = taken.take(&type_name(&field.wire, "Field"));
        let text: Vec<String> = field.doc.iter().flat_map(|text| lines(text)).collect();
        if !text.is_empty() {
            let _ = writeln!(out, "/// <param name=\"{ident}\">{}</param>", xml(&text.join(" ")));
        }
    }
}

/// The names that a record's properties may not have: its own, and those of every object.
fn members(name: &str) -> Taken {
    Taken::with(&[
        name, "Clone", "Deconstruct", "EqualityContract", "Equals", "Finalize", "GetHashCode", "GetType",
        "MemberwiseClone", "PrintMembers", "ReferenceEquals", "ToString",
    ])
}

/// The parameters of a positional record, what it derives from, and its body. Those without a default come first.
fn parameters(name: &str, fields: &[PlannedField], base: Option<&str>, has_rest: bool) -> String {
    let mut taken = members(name);
    let parameter = |field: &PlannedField| {
        let ident = taken.take(&type_name(&field.wire, "Field"));
        let of = rendered(&field.of);
        let wire = csharp_literal(&field.wire);
        let text = if field.required {
            format!("\n    [property: JsonPropertyName({wire})] [property: JsonRequired] {of} {ident}")
        } else {
            let of = if of.ends_with('?') { of } else { format!("{of}?") };
            format!(
                "\n    [property: JsonPropertyName({wire})] \
                 [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] {of} {ident} = null"
            )
        };
        (field.required, text)
    };
    let (mut all, optional): (Vec<_>, Vec<_>) = fields.iter().map(parameter).partition(|(is_required, _)| *is_required);
    all.extend(optional);
    let list: Vec<String> = all.into_iter().map(|(_, text)| text).collect();
    let base = base.map(|base| format!(" : {base}")).unwrap_or_default();
    let body = if has_rest {
        let ident = taken.take("Rest");
        format!(
            "\n{{\n    /// <summary>Every other property.</summary>\n    [JsonExtensionData]\n    public Dictionary<string, \
             JsonElement>? {ident} {{ get; init; }}\n}}"
        )
    } else {
        ";".to_owned()
    };
    format!("({}){base}{body}", list.join(","))
}

fn rendered(of: &Use) -> String {
    match of {
        Use::Any => "JsonElement".to_owned(),
        Use::Null => "object?".to_owned(),
        Use::Boolean => "bool".to_owned(),
        Use::Integer => "long".to_owned(),
        Use::Number => "double".to_owned(),
        Use::Text(format) => match format {
            Some(Format::DateTime) => "DateTimeOffset".to_owned(),
            Some(Format::Date) => "DateOnly".to_owned(),
            Some(Format::Uuid) => "Guid".to_owned(),
            Some(Format::Uri) => "Uri".to_owned(),
            Some(Format::Base64) => "byte[]".to_owned(),
            Some(Format::Time | Format::Duration | Format::Email | Format::Hostname | Format::Ipv4 | Format::Ipv6)
            | None => "string".to_owned(),
        },
        Use::List(items) => format!("IReadOnlyList<{}>", rendered(items)),
        Use::Map(values) => format!("Dictionary<string, {}>", rendered(values)),
        Use::Nullable(inner) => {
            let inner = rendered(inner);
            if inner.ends_with('?') { inner } else { format!("{inner}?") }
        }
        Use::Named(name) | Use::Again(name) => name.clone(),
    }
}

fn result(tool: &PlannedTool) -> String {
    tool.result.as_ref().map_or_else(|| "JsonElement".to_owned(), rendered)
}

fn interfaces(plan: &Plan, out: &mut String) {
    let name = &plan.name;
    for tool in &plan.tools {
        let (wire, pascal, args) = (xml(&plain(&tool.wire)), &tool.pascal, rendered(&tool.arguments));
        let _ = writeln!(
            out,
            "\n/// <summary>May call <c>{wire}</c>.</summary>\npublic interface ICan{pascal}\n{{\n    Task<{}> {pascal}Async({args} \
             args, CancellationToken ct = default);\n}}",
            result(tool)
        );
    }
    let all: Vec<String> = plan.tools.iter().map(|tool| format!("ICan{}", tool.pascal)).collect();
    if all.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\n/// <summary>All that the server can do.</summary>\npublic interface I{name}Caps :\n    {}\n{{\n}}",
        all.join(",\n    ")
    );
    guarded(plan, out);
    let _ = writeln!(
        out,
        "\n/// <summary>\n/// What the server's tools need. Register it as Scoped where it holds anything of one call (a permitted \
         root, a\n/// DbContext), as Singleton where it is stateless and safe to share, as Transient where it is cheap and \
         short-lived.\n/// A Scoped service is never injected into a Singleton: the container refuses that at its \
         start.\n/// </summary>\npublic interface I{name}Service;"
    );
    let _ = writeln!(
        out,
        "\n/// <summary>What the server implements: one method a tool.</summary>\npublic abstract class {name}Tools\n{{"
    );
    for (at, tool) in plan.tools.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        doc(out, tool.doc.as_deref());
        let described: String = tool.doc.as_deref().and_then(|text| lines(text).next()).unwrap_or_default();
        let (wire, described) = (csharp_literal(&tool.wire), csharp_literal(&described));
        let (result, pascal, args) = (result(tool), &tool.pascal, rendered(&tool.arguments));
        let _ = writeln!(
            out,
            "    [McpTool({wire}, {described})]\n    public abstract Task<{result}> {pascal}(\n        [FromServices] I{name}Service \
             service,\n        {args} args,\n        CancellationToken ct = default);"
        );
    }
    out.push_str("}\n");
}

/// Each tool as a type, and the calls that ask for its guardrail's evidence.
fn guarded(plan: &Plan, out: &mut String) {
    let name = &plan.name;
    out.push_str(GUARDRAIL);
    for tool in &plan.tools {
        let (wire, pascal, args) = (xml(&plain(&tool.wire)), &tool.pascal, rendered(&tool.arguments));
        let _ = writeln!(
            out,
            "\n/// <summary>The tool <c>{wire}</c>.</summary>\npublic sealed partial class {pascal} : IToolCap<{args}>\n{{\n    \
             static string IToolCap<{args}>.Name => {};\n}}",
            csharp_literal(&tool.wire)
        );
    }
    let _ = writeln!(
        out,
        "\n/// <summary>One agent's calls: none without the evidence that its guardrail ran for that very \
         call.</summary>\npublic sealed class {name}Guarded\n{{\n    private readonly I{name}Caps caps;\n\n    public \
         {name}Guarded(I{name}Caps caps) => this.caps = caps;\n\n    public CallbackRunner Runner {{ get; }} = new();"
    );
    for tool in &plan.tools {
        let (result, pascal, args) = (result(tool), &tool.pascal, rendered(&tool.arguments));
        let _ = writeln!(
            out,
            "\n    public Task<{result}> {pascal}Async(\n        {args} args,\n        GuardrailEvidence<{pascal}> evidence,\n        \
             CancellationToken ct = default)\n    {{\n        evidence.Use(Runner, args);\n        return \
             caps.{pascal}Async(args, ct);\n    }}"
        );
    }
    out.push_str("}\n");
}
