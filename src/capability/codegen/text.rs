//! Foreign text in generated source: as comments and as literals, where nothing in it can end either or hide.

/// Names that generated Rust uses itself.
pub const RUST_RESERVED: &[&str] = &[
    "Any", "Box", "Clone", "Debug", "Deserialize", "Deserializer", "Err", "Error", "Future", "HashMap", "McpError",
    "None", "Ok", "Option", "PartialEq", "Result", "Self", "Send", "Serialize", "SharedState", "Some", "String",
    "Sync", "Value", "Vec", "bool", "f64", "i64", "nullable",
];

/// Names that generated C# uses itself.
pub const CSHARP_RESERVED: &[&str] = &[
    "Activator", "CallbackRunner", "CancellationToken", "DateOnly", "DateTimeOffset", "Dictionary", "Exception",
    "Func", "GuardrailBlocked", "GuardrailEvidence", "Guid", "INoGuardrailRequired", "IReadOnlyList", "IToolCap",
    "Interlocked", "InvalidOperationException", "JsonDocument", "JsonElement", "JsonException", "JsonIgnoreCondition",
    "JsonSerializer", "JsonSerializerOptions", "McpException", "Object", "String", "Task", "TimeOnly", "TimeSpan",
    "Type", "Union", "UnionConverter", "Uri", "Utf8JsonReader", "Utf8JsonWriter",
];

/// A text's lines, every character that does not show itself written as its code point. At most this many lines.
pub fn lines(text: &str) -> impl Iterator<Item = String> {
    const MOST: usize = 40;
    text.lines().take(MOST).map(|line| plain(line.trim_end()))
}

/// One line on which every character shows itself.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push(' '),
            ' '..='~' => out.push(c),
            c if c.is_alphanumeric() => out.push(c),
            '–' | '—' | '…' | '‘' | '’' | '“' | '”' | '→' | '←' | '•' | '≤' | '≥' | '×' | '·' | '°' | '€' | '£' =>
            {
                out.push(c);
            }
            c => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    out
}

/// A string literal of Rust.
pub fn rust_literal(text: &str) -> String {
    literal(text, |c| format!("\\u{{{:x}}}", u32::from(c)))
}

/// A string literal of C#.
pub fn csharp_literal(text: &str) -> String {
    literal(text, |c| format!("\\U{:08x}", u32::from(c)))
}

/// A text in quotes, with what does not show itself as the language escapes it.
pub fn literal(text: &str, escape: impl Fn(char) -> String) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            c if c.is_alphanumeric() && u32::from(c) <= 0xffff => out.push(c),
            c => out.push_str(&escape(c)),
        }
    }
    out.push('"');
    out
}

/// The part of a file of templates that is below `[name]`, each `$key$` in it replaced by its value. Values are not read again.
pub fn filled(templates: &str, name: &str, value: impl Fn(&str) -> String) -> String {
    let template =
        templates.split("\n[").find_map(|part| part.strip_prefix(name)?.strip_prefix(']')).unwrap_or_default();
    let parts = template.split('$').enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { value(part) }).collect::<String>() + "\n"
}
