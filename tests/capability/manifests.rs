//! Manifests to generate code from: sixty of real servers, odd ones, and a large one.
//!
//! The sixty are of servers from npm and PyPI, as those described themselves: the ones whose schemas say most.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use mcp_approve::capability::codegen::{CodeLanguage, Options, generate};
use mcp_approve::mcp::tool::Tool;
use serde_json::{Value, json};

/// A server's name and its tools, as the server gave them.
pub struct Manifest {
    pub server: String,
    pub tools: Vec<Tool>,
}

impl Manifest {
    pub fn of(server: &str, tools: &Value) -> Self {
        let tools = tools.as_array().unwrap().iter().cloned().filter_map(Tool::read).collect();
        Self { server: server.to_owned(), tools }
    }

    pub fn code(&self, language: CodeLanguage) -> String {
        generate(&self.server, &self.tools, Options { language, typed: language == CodeLanguage::Rust })
    }
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/lattice").join(name)
}

pub fn real() -> Vec<Manifest> {
    let unpacked = Command::new("gzip").arg("-dc").arg(fixture("manifests.jsonl.gz")).output().unwrap();
    let text = String::from_utf8(unpacked.stdout).unwrap();
    let read = |line: &str| {
        let manifest: Value = serde_json::from_str(line).unwrap();
        Manifest::of(manifest["name"].as_str().unwrap_or("Server"), &manifest["tools"])
    };
    let manifests: Vec<Manifest> = text.lines().map(read).collect();
    assert_eq!(manifests.len(), 60);
    manifests
}

/// Manifests whose names fight with a language: keywords, its own types, no identifiers, and each other.
pub fn odd() -> Vec<Manifest> {
    let of_file = |name: &str, server: &str| {
        let manifest: Value = serde_json::from_str(&fs::read_to_string(fixture(name)).unwrap()).unwrap();
        Manifest::of(server, &manifest["tools"])
    };
    let words = "abstract as async await base become bool box break byte case catch char checked class const continue crate \
        decimal default delegate do double dyn else enum event explicit extern false field file final finally fixed float fn \
        for foreach gen global goto if impl implicit in init int interface internal is let lock long loop macro match mod move \
        mut namespace new null object operator out override params partial priv private protected pub public readonly record \
        ref required return sbyte scoped sealed self Self short sizeof stackalloc static string struct super switch this throw \
        trait true try type typeof uint ulong unchecked unsafe unsized use ushort using value var virtual void volatile where \
        while with yield String Vec Option Result Box Value Some None Ok Err Future Send Sync HashMap McpError SharedState \
        Task Uri Guid Type Object Union JsonElement CancellationToken List Dictionary Equals ToString Clone Rest args state ct \
        service Service Tools Caps Handlers Exception Attribute Args Success";
    let signs = [
        "", " ", "-", "_", "__", "1", "2nd", "a-b", "a_b", "aB", "a.b", "a b", "\u{202e}", "\"", "\\", "*/", "//", "{",
        "}", "ß", "名前", "🎈", "\0", "\n", "#if", "@class", "r#type", "$x", "é", "e\u{301}", "İ", "ǅ", "\u{85}",
        "\u{2028}",
    ];
    let all: Vec<&str> = words.split_whitespace().chain(signs).collect();
    let properties: serde_json::Map<String, Value> =
        all.iter().map(|word| ((*word).to_owned(), json!({ "enum": all, "description": word }))).collect();
    let branch =
        |word: &&str| json!({ "type": "object", "properties": { "kind": { "const": word } }, "required": ["kind"] });
    let either =
        |word: &&str| json!({ "type": "object", "properties": { *word: { "type": "string" } }, "required": [word] });
    let tool = |name: &str, input: &Value, output: &Value| json!({ "name": name, "description": name, "inputSchema": input, "outputSchema": output });
    let record = json!({ "type": "object", "properties": properties, "required": ["type", "class"], "additionalProperties": { "type": "string" } });
    let tagged = json!({ "oneOf": all.iter().map(branch).collect::<Vec<_>>() });
    let untagged = json!({ "anyOf": all.iter().map(either).collect::<Vec<_>>() });
    let mut tools = vec![tool("all", &record, &tagged)];
    tools.extend(
        all.iter().map(|word| {
            tool(word, &json!({ "properties": { *word: { "enum": [word] } } }), &json!({ "type": "string" }))
        }),
    );
    let nested: serde_json::Map<String, Value> =
        all.iter().map(|word| ((*word).to_owned(), untagged.clone())).collect();
    let nested = json!({ "type": "object", "properties": nested });
    let unions = vec![tool("Tools", &nested, &json!(false)), tool("tools", &untagged, &json!({ "enum": [] }))];
    // Names of types that the generated items around them have.
    let theirs = [
        "read", "read_args", "ReadSuccess", "read_result", "can_read", "i_can_read", "as_text", "file_caps",
        "file_handlers", "file_tools", "i_file_caps", "i_file_service",
    ];
    let record =
        |name: &&str| ((*name).to_owned(), json!({ "type": "object", "properties": { *name: { "type": "string" } } }));
    let mut types: serde_json::Map<String, Value> = theirs.iter().map(record).collect();
    types.insert("AsText".into(), json!({ "type": ["string", "integer"] }));
    let types = json!({ "type": "object", "properties": types });
    let clashing = theirs.iter().map(|name| tool(name, &types, &types)).collect();
    let one = vec![tool("read", &types, &types)];
    vec![
        of_file("file_manager.json", "FileManager"),
        of_file("odd.json", "odd */ server"),
        Manifest::of("class", &Value::Array(tools)),
        Manifest::of("\u{202e}\n}", &Value::Array(unions)),
        Manifest::of("file", &Value::Array(one)),
        Manifest::of("file", &Value::Array(clashing)),
        Manifest::of("", &json!([])),
    ]
}
