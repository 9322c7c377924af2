//! `mcp-approve tools show`: one tool in full, with everything that was concluded about it and why.

use std::io::{self, Write};

use crate::behavior::{Behavior, Confidence, Mutability, Source, tags};
use crate::capability::types;
use crate::cli::args::ToolsShowOptions;
use crate::cli::error::{Exit, done};
use crate::cli::look::{Here, local, visible};
use crate::cli::tools::row::{self, Answers};
use crate::cli::tools::{RECORDS, answers, named, print, store, transfer::Lines};
use crate::home::config;
use crate::home::places::{Places, under};
use crate::pins::{diff::Diff, reading::StoredTool};
use crate::policy::role::{self, Profile, profile_of};
use crate::text::time;
use crate::wire::number::grouped;

pub(super) fn run(options: &ToolsShowOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let places = here.places;
    let store = store(places)?;
    let tools = named(store.as_ref(), &options.names)?;
    let agreed = Lines::of(store.as_ref(), here, &tools)?;
    let (tally, profiles) = (answers(places)?, config::tools(places)?);
    let mut rows = Vec::new();
    let mut shown = Vec::new();
    for known in &tools {
        let seen = Answers::of(&tally, known);
        let changes = store.as_ref().map(|store| store.changes(known)).transpose()?.unwrap_or_default();
        let profile = profile_of(&profiles, &known.server.name, &known.tool, &known.behavior);
        let mut row = row::json(known, seen, &profile);
        row["agreed"] = agreed.json(known);
        row["definition"] = known.tool.definition.clone();
        row["changes"] = changes.iter().map(json).collect();
        rows.push(row);
        shown.push((known, profile, seen, changes));
    }
    done(print(options.output, &rows, "", out, |out| {
        shown.iter().try_for_each(|(known, profile, seen, changes)| {
            whole(known, profile, *seen, changes, places, out)?;
            agreed.print(known, out)?;
            said(known, out)
        })
    }))
}

fn json(change: &Diff) -> serde_json::Value {
    serde_json::json!({ "place": change.place, "before": change.before, "after": change.after })
}

pub(super) fn print_changes(diff: &[Diff], out: &mut dyn Write) -> io::Result<()> {
    for change in diff {
        writeln!(out, "    {}", visible(&change.place))?;
        for (mark, text) in [('-', &change.before), ('+', &change.after)] {
            if let Some(text) = text {
                writeln!(out, "      {mark} {}", visible(text))?;
            }
        }
    }
    Ok(())
}

fn confidence(known: &StoredTool) -> &'static str {
    match known.behavior.confidence {
        Confidence::Proven => "proven: its calls run unasked while every argument is explained",
        Confidence::Likely => {
            "likely: it looks like a read, and mcp-approve asks about its first call; it is proven once you confirm it (`mcp-approve tools review`), \
             once a second reader agrees, or once its server says readOnlyHint: true and nothing contradicts that"
        }
        Confidence::None => {
            "no proof that it only reads: mcp-approve asks about its calls, unless a rule decides; `mcp-approve tools pin` says what it is"
        }
    }
}

fn vote(behavior: &Behavior, voter: Source) -> String {
    let evidence = behavior.evidence.iter().find(|evidence| evidence.source == voter);
    let says = evidence.and_then(|evidence| evidence.says.mutability).map_or("silent", Mutability::word);
    format!("{} {says}", voter.word())
}

fn whole(
    known: &StoredTool,
    profile: &Profile,
    seen: Answers<'_>,
    diff: &[Diff],
    places: &Places,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (tool, behavior, server) = (&known.tool, &known.behavior, &known.server);
    let identity = behavior.identity;
    writeln!(out, "{} / {}", visible(&server.name), visible(&tool.name))?;
    let mut line = |label: &str, text: &str| writeln!(out, "  {label:12} {text}");
    line("badge", behavior.badge().word())?;
    line("confidence", &under(places.root(), confidence(known)))?;
    line("readers", &Source::VOTERS.map(|voter| vote(behavior, voter)).join(", "))?;
    line("identity", &format!("{}  {identity}, {}", identity.hash(), behavior.content_type.word()))?;
    line("capability", &visible(&types::signature(tool)))?;
    line("tags", &visible(&tags::of(behavior, &tool.name).join(", ")))?;
    line("effects", &profile.effects())?;
    for (at, word) in profile.requires.iter().enumerate() {
        let says = role::requires(tool, behavior, word);
        line(if at == 0 { "requires" } else { "" }, &visible(&format!("{word}, {says}")))?;
    }
    if let Some((said, author)) = profile.said() {
        line("cost", &format!("{said}, {}", author.says()))?;
    }
    if !profile.capabilities.is_empty() {
        let said = format!("{}, {}", profile.capabilities.join(", "), profile.capabilities_author.says());
        line("declared", &visible(&said))?;
    }
    if let Some(version) = profile.version {
        line("", &format!("version {version}, says its server"))?;
    }
    if let Some(declared) = row::declared(behavior) {
        line("declares", &visible(&declared))?;
    }
    let mut label = "evidence";
    for evidence in behavior.evidence.iter() {
        line(label, &visible(&row::evidence(evidence)))?;
        label = "";
    }
    if behavior.evidence.is_empty() {
        line("evidence", "none: its effect is unknown, which counts as MUTATES")?;
    }
    if behavior.disputed {
        let pin = places.command("tools pin");
        line("disputed", &format!("the evidence contradicts itself, which counts as MUTATES; settle it with `{pin}`"))?;
    }
    let mut label = "hazards";
    for hazard in &behavior.hazards {
        line(label, &visible(&format!("{}: {}", hazard.kind.word(), hazard.what)))?;
        label = "";
    }
    line("observed", &format!("{} (in the last {} records)", seen.line(), grouped(RECORDS)))?;
    let pinned = known.pin.said.map(|said| format!("; pinned as {said}")).unwrap_or_default();
    line(
        "pin",
        &format!("version {}, {}: {}{pinned}", known.pin.version, known.pin_state.word(), known.pin.latest.short()),
    )?;
    line("server", &visible(&server.command))?;
    line("package", &visible(server.package.as_deref().unwrap_or("not known for certain")))?;
    for file in server.program.lines() {
        line("", &visible(file))?;
    }
    let seen = |at: i64| time::date(at, local(at).offset);
    line("seen", &format!("{} to {}", seen(known.pin.first_seen), seen(known.last_seen)))?;
    if !diff.is_empty() {
        line("changes", "since the definition that is trusted:")?;
        print_changes(diff, out)?;
    }
    Ok(())
}

fn said(known: &StoredTool, out: &mut dyn Write) -> io::Result<()> {
    if let Some(description) = &known.tool.description {
        writeln!(out, "  the server says:")?;
        for text in description.lines() {
            writeln!(out, "  | {}", visible(text))?;
        }
    }
    Ok(())
}
