//! `mcp-approve tools classify`: what the recogniser makes of a server's tool list. Owns the JSON it prints.

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

use super::row::piece;
use super::verify::{Agreement, Verifier, compared};
use crate::behavior::conclude::{self, Behavior, Overrides, Trust};
use crate::behavior::curated;
use crate::behavior::evidence::Source;
use crate::behavior::taxonomy::{Badge, Mutability};
use crate::capability::types;
use crate::cli::args::ClassifyOptions;
use crate::cli::error::{Exit, done};
use crate::cli::manifest;
use crate::cli::print::visible;
use crate::home::places::{PlaceError, Places};
use crate::mcp::tool::Tool;
use crate::pins::PinStore;
use crate::wire::number::counted;

/// Which words of the server count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hints {
    /// Annotations, declared fields and our list of well-known tools too.
    Used,
    /// The recogniser alone: no annotations, no declared fields.
    Hidden,
}

/// Reads the list, and prints what is made of it.
///
/// What an outside classifier says otherwise is kept for `tools review`.
pub(super) fn run(options: &ClassifyOptions, places: Result<Places, PlaceError>, out: &mut dyn Write) -> Exit {
    let input = manifest::text(&options.file)?;
    let hints = if options.no_annotations { Hints::Hidden } else { Hints::Used };
    let (_, definitions) = manifest::definitions(&input)?;
    let tools: Vec<Tool> = definitions.into_iter().filter_map(|definition| read(definition, hints)).collect();
    let mut verifier = options.verify_with.as_deref().map(Verifier::start).transpose()?;
    let mut store = match &verifier {
        Some(_) => {
            let places = places?;
            places.create_state()?;
            Some(PinStore::open(&places.pins_db())?)
        }
        None => None,
    };
    let mut rows = Vec::new();
    let mut agreement = Agreement::default();
    for tool in &tools {
        let behavior = concluded(tool, hints);
        let mut row = row(tool, &behavior);
        if let Some(verifier) = &mut verifier {
            let theirs = verifier.ask(tool)?;
            agreement.count(behavior.identity, theirs);
            if let (Some(store), Hints::Used) = (&mut store, hints) {
                store.keep_view(&tool.digest(), theirs, behavior.identity)?;
            }
            row["verified"] = compared(behavior.identity, theirs);
        }
        rows.push(row);
    }
    if options.json {
        return done(writeln!(out, "{:#}", Value::Array(rows)));
    }
    table(&rows, out)?;
    if verifier.is_some() {
        writeln!(out, "{agreement}")?;
        writeln!(out, "Where it differs about a tool of a wrapped server, `mcp-approve tools review` shows the tool.")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One line a tool, each followed by what speaks for it.
fn table(rows: &[Value], out: &mut dyn Write) -> io::Result<()> {
    let text = |row: &Value, key: &str| visible(row[key].as_str().unwrap_or_default());
    for row in rows {
        let disputed = if row["disputed"] == true { "  disputed" } else { "" };
        let words = ["mutability", "action", "output_domain"].map(|key| text(row, key)).join("|");
        writeln!(out, "{:7}  {}  {}  {words}{disputed}", text(row, "badge"), text(row, "name"), text(row, "identity"))?;
        for piece in row["evidence"].as_array().into_iter().flatten() {
            writeln!(out, "         {} {}: {}", text(piece, "source"), text(piece, "says"), text(piece, "span"))?;
        }
        if row["evidence"].as_array().is_none_or(Vec::is_empty) {
            writeln!(out, "         no evidence: its effect is unknown, which counts as MUTATES")?;
        }
        if let Some(theirs) = row["verified"]["says"].as_str() {
            let word = if row["verified"]["agrees"] == true { "agrees" } else { "differs" };
            writeln!(out, "         the outside classifier {word}: {theirs}")?;
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
    conclude::of_tool_with(tool, Trust::Corroborate, Overrides { pinned: None, curated })
}

/// Reads one definition, without what is to be ignored.
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
    let identity = behavior.identity;
    json!({
        "name": tool.name,
        "mutability": identity.mutability.word(),
        "confidence": behavior.confidence.word(),
        "action": identity.action.word(),
        "output_domain": identity.output_domain.word(),
        "content_type": behavior.content_type.word(),
        "identity": identity.hash(),
        "badge": behavior.badge().word(),
        "disputed": behavior.disputed,
        "voters": Source::VOTERS.iter().map(|voter| vote(behavior, *voter)).collect::<Vec<_>>(),
        "evidence": behavior.evidence.iter().map(piece).collect::<Vec<_>>(),
        "capability": types::signature(tool),
    })
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
