//! `tools classify`: what the recogniser makes of a tool list; with `--verify-with CMD` beside the views of outside classifiers,
//! which see only parameter names and types (the behavioral identity paper, section 4.3). They can only dispute a tool.

use std::io::{self, Write};
use std::process::{Command, ExitCode};
use std::time::Duration;

use serde_json::{Value, json};

use crate::behavior::conclude::{self, Overrides};
use crate::behavior::{Action, Badge, Behavior, Identity, Mutability, OutputDomain, Source, Trust, curated};
use crate::cli::args::ClassifyOptions;
use crate::cli::error::{Error, Exit};
use crate::cli::look::{JsonForm, json_rows, visible};
use crate::cli::manifest::{self, Subprocess};
use crate::cli::tools::row::{conclusion, declared};
use crate::home::places::{PlaceError, Places};
use crate::mcp::Tool;
use crate::pins::PinStore;
use crate::wire::counted;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hints {
    /// Annotations, declared fields and our list of well-known tools too.
    Used,
    /// The recogniser alone: no annotations, no declared fields.
    Hidden,
}

/// What outside classifiers say otherwise is kept: for `tools review`, and for the calls of the tool.
pub(super) fn run(options: &ClassifyOptions, places: Result<Places, PlaceError>, out: &mut dyn Write) -> Exit {
    let input = manifest::text(&options.file)?;
    let hints = if options.no_annotations { Hints::Hidden } else { Hints::Used };
    let (_, definitions) = manifest::definitions(&input)?;
    let tools: Vec<Tool> = definitions.into_iter().filter_map(|definition| read(definition, hints)).collect();
    let started: Result<Vec<Classifier>, Error> =
        options.verify_with.iter().map(|one| Classifier::start(one)).collect();
    let mut verifiers = started?;
    let mut store = match verifiers.as_slice() {
        [_, ..] => {
            let places = places?;
            places.create_state()?;
            Some(PinStore::open(&places.pins_db())?)
        }
        [] => None,
    };
    let (mut rows, mut all_views, mut differ) = (Vec::new(), Vec::new(), 0);
    for tool in &tools {
        let behavior = concluded(tool, hints);
        let mut row = row(tool, &behavior);
        let views: Vec<Identity> = verifiers.iter_mut().map(|one| one.ask(tool)).collect::<Result<_, _>>()?;
        let differs = views.iter().any(|theirs| *theirs != behavior.identity);
        differ += usize::from(differs);
        if let (Some(store), Hints::Used) = (&mut store, hints) {
            store.keep_views(&tool.digest(), if differs { &views } else { &[] })?;
        }
        let compared: Vec<Value> = views.iter().map(|theirs| compared(behavior.identity, *theirs)).collect();
        // `verified` is the first of them, as it was when there could be one only.
        if let Some(first) = compared.first() {
            (row["verified"], row["verifiers"]) = (first.clone(), compared.into());
        }
        all_views.push(views);
        rows.push(row);
    }
    if options.json {
        json_rows(&rows, JsonForm::Array, out)?;
    } else {
        table(&rows, out)?;
        for at in 0..verifiers.len() {
            writeln!(out, "{}", agreement(&rows, at))?;
        }
        if verifiers.len() > 1 {
            writeln!(out, "{}", among_them(&all_views))?;
        }
        if differ > 0 {
            writeln!(
                out,
                "{} disputed. `mcp-approve tools review` shows those of wrapped servers.",
                counted(differ, "tool is|tools are")
            )?;
        }
    }
    Ok(if differ == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn table(rows: &[Value], out: &mut dyn Write) -> io::Result<()> {
    let text = |row: &Value, key: &str| visible(row[key].as_str().unwrap_or_default());
    for row in rows {
        let disputed = if row["disputed"] == true { "  disputed" } else { "" };
        let words = ["mutability", "action", "output_domain"].map(|key| text(row, key)).join("|");
        writeln!(out, "{:7}  {}  {}  {words}{disputed}", text(row, "badge"), text(row, "name"), text(row, "identity"))?;
        if let Some(declared) = row["declared"].as_str() {
            writeln!(out, "         declares {}", visible(declared))?;
        }
        for piece in row["evidence"].as_array().into_iter().flatten() {
            writeln!(out, "         {} {}: {}", text(piece, "source"), text(piece, "says"), text(piece, "span"))?;
        }
        if row["evidence"].as_array().is_none_or(Vec::is_empty) {
            writeln!(out, "         no evidence: its effect is unknown, which counts as MUTATES")?;
        }
        for (at, theirs) in row["verifiers"].as_array().into_iter().flatten().enumerate() {
            let word = if theirs["agrees"] == true { "agrees" } else { "differs" };
            writeln!(out, "         classifier {} {word}: {}", at + 1, text(theirs, "says"))?;
        }
    }
    let count = |badge: Badge| rows.iter().filter(|row| row["badge"] == badge.word()).count();
    let counts: Vec<_> = Badge::ALL.iter().map(|badge| format!("{} {}", count(*badge), badge.word())).collect();
    writeln!(out, "{}: {}", counted(rows.len(), "tool"), counts.join(", "))
}

/// Nothing is called here, so our list counts for exactly this definition, whichever server it came from.
fn concluded(tool: &Tool, hints: Hints) -> Behavior {
    let curated = match hints {
        Hints::Used => curated::of_any_package(&tool.digest()),
        Hints::Hidden => None,
    };
    conclude::of_tool_with(tool, Trust::Corroborate, Overrides { curated, ..Overrides::default() })
}

fn read(mut definition: Value, hints: Hints) -> Option<Tool> {
    if hints == Hints::Hidden
        && let Value::Object(fields) = &mut definition
    {
        for key in ["annotations", "_meta", "mutability", "action", "output_domain", "content_type"] {
            fields.remove(key);
        }
    }
    Tool::read(definition)
}

fn row(tool: &Tool, behavior: &Behavior) -> Value {
    let mut row = conclusion(tool, behavior);
    row["declared"] = declared(behavior).into();
    row["voters"] = Source::VOTERS.iter().map(|voter| vote(behavior, *voter)).collect();
    row
}

/// What one voter says: `PURE`, `MUTATES`, or null where it is silent; a weak `PURE` is none of the two that prove it.
fn vote(behavior: &Behavior, voter: Source) -> Value {
    let evidence = behavior.evidence.iter().find(|evidence| evidence.source == voter);
    json!({
        "name": voter.word(),
        "says": evidence.and_then(|evidence| evidence.says.mutability).map(Mutability::word),
        "strength": evidence.map(|evidence| evidence.strength),
        "span": evidence.map(|evidence| evidence.span.as_str()),
    })
}

/// How long one answer may take: it may come from a model.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How long an answer may be, in bytes.
const LONGEST: u64 = 64 << 10;

/// A running classifier; it is ended with this.
pub(super) struct Classifier {
    process: Subprocess,
    asked: usize,
}

impl Classifier {
    pub(super) fn start(command: &str) -> Result<Self, Error> {
        let started = Subprocess::start(Command::new("sh").args(["-c", command]), LONGEST);
        let process = started.map_err(|cause| wrong(format!("the classifier could not be started: {cause}")))?;
        Ok(Self { process, asked: 0 })
    }

    pub(super) fn ask(&mut self, tool: &Tool) -> Result<Identity, Error> {
        self.asked += 1;
        let at = self.asked;
        // A failure to write is no error yet: a classifier that has ended may have printed its answers before.
        let _ = self.process.write(&nameless(tool));
        let answer = self.process.next(TIMEOUT).map_err(|_| {
            let seconds = TIMEOUT.as_secs();
            wrong(format!(
                "the classifier ended, or took more than {seconds} s, before it answered tool {at} of the list"
            ))
        })?;
        identity(&answer).ok_or_else(|| {
            let shape = r#"{"mutability": …, "action": …, "output_domain": …}"#;
            wrong(format!("the classifier's answer to tool {at} is not {shape}"))
        })
    }
}

fn wrong(what: String) -> Error {
    Error::wrong(what, "`mcp-approve tools classify --help` shows an example")
}

/// Keys of a JSON Schema that describe in words, or by example.
const WORDS: [&str; 5] = ["title", "description", "examples", "example", "$comment"];

/// The schemas on one line, without the tool's name, its description and its server's claims. Where a schema says the name,
/// it says THIS_TOOL.
fn nameless(tool: &Tool) -> Value {
    let bare = |schema: Option<&Value>| {
        let mut schema = schema.cloned();
        if let Some(schema) = &mut schema {
            strip(schema);
        }
        // Written out and read again: the name may be in any key or text.
        let text = json!(schema).to_string().replace(&tool.name, "THIS_TOOL");
        serde_json::from_str::<Value>(&text).unwrap_or(Value::Null)
    };
    json!({
        "inputSchema": bare(Some(&tool.input_schema)),
        "outputSchema": bare(tool.output_schema.as_ref()),
        "answer_with": {
            "mutability": Mutability::ALL.iter().map(|word| word.word()).collect::<Vec<_>>(),
            "action": Action::ALL.iter().map(|word| word.word()).collect::<Vec<_>>(),
            "output_domain": OutputDomain::ALL.iter().map(|word| word.word()).collect::<Vec<_>>(),
        },
    })
}

/// Removes the words of a schema and of all schemas in it; a property that is called `description` stays.
fn strip(schema: &mut Value) {
    match schema {
        Value::Object(keys) => {
            for word in WORDS {
                keys.shift_remove(word);
            }
            for (key, value) in keys.iter_mut() {
                match (key.as_str(), value) {
                    ("enum" | "const" | "default", _) => {}
                    (
                        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                        Value::Object(named),
                    ) => {
                        named.iter_mut().for_each(|(_, schema)| strip(schema));
                    }
                    (_, value) => strip(value),
                }
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(strip),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn identity(answer: &str) -> Option<Identity> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let word = |key: &str| answer.get(key).and_then(Value::as_str);
    Some(Identity {
        mutability: Mutability::from_word(word("mutability")?)?,
        action: Action::from_word(word("action")?)?,
        output_domain: OutputDomain::from_word(word("output_domain")?)?,
    })
}

/// How often classifiers agree with each other on the whole identity: the paper's Table 3.
fn among_them(views: &[Vec<Identity>]) -> String {
    let most = |views: &Vec<Identity>| views.iter().map(|one| views.iter().filter(|other| *other == one).count()).max();
    let of = |enough: &dyn Fn(usize, usize) -> bool| {
        views.iter().filter(|views| most(views).is_some_and(|most| enough(most, views.len()))).count()
    };
    let (all, majority, tools) = (of(&|most, all| most == all), of(&|most, all| 2 * most > all), views.len());
    format!("All classifiers say the same identity of {all} of {tools} tools, a majority of {majority}")
}

fn agreement(rows: &[Value], at: usize) -> String {
    let of = |key: &str| rows.iter().filter(|row| row["verifiers"][at][key] == true).count();
    let [badge, action, domain, whole] = ["mutability", "action", "output_domain", "agrees"].map(of);
    let tools = rows.len();
    format!(
        "Classifier {} agrees on {badge} of {tools} badges, {action} actions, {domain} output domains, and {whole} whole \
         identities",
        at + 1
    )
}

pub(super) fn compared(ours: Identity, theirs: Identity) -> Value {
    json!({
        "says": theirs.to_string(),
        "agrees": ours == theirs,
        "mutability": ours.mutability == theirs.mutability,
        "action": ours.action == theirs.action,
        "output_domain": ours.output_domain == theirs.output_domain,
    })
}
