//! `mcp-approve rules list`: the defaults and the rules, as text or JSON.

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cli::error::{Exit, done};
use crate::cli::look::{JsonForm, Look, json_rows, shown, visible};
use crate::cli::rules::options::ListOptions;
use crate::home::layers::Layers;
use crate::operator::{record_row::rule_says, rule_book::all};
use crate::policy::rule::{Defaults, Layer};
use crate::policy::{Decision, Policy, Rule, terms::ApproverKind, written};
use crate::text::row::{Row, Tone};
use crate::text::{columns::cell, time};

pub(super) fn run(policy: &Policy, layers: &Layers, options: ListOptions, look: Look<'_>, out: &mut dyn Write) -> Exit {
    if options.json {
        return done(json_rows(all(policy).map(|(rule, disabled)| row(rule, disabled)), JsonForm::Array, out));
    }
    let here: Vec<_> = layers.files().iter().filter(|file| file.place.path().exists()).collect();
    match here.as_slice() {
        [one] if one.layer == Layer::User => writeln!(out, "{}", shown(one.place.path()))?,
        [] => {
            let user = layers.files().iter().find(|file| file.layer == Layer::User);
            let path = user.map(|file| file.place.path().display().to_string()).unwrap_or_default();
            writeln!(out, "{path} (no file: the built-in default)")?;
        }
        several => {
            for file in several {
                writeln!(out, "{:7}  {}", file.layer.word(), shown(file.place.path()))?;
            }
        }
    }
    let Defaults { pure, likely, mutates, hazard, .. } = policy.defaults;
    let [pure, mutates, hazard] = [pure, mutates, hazard].map(Decision::word);
    writeln!(out, "defaults: pure {pure}, likely {}, mutates {mutates}, hazard {hazard}", likely.word())?;
    if let Some(signed) = policy.given.signed {
        writeln!(out, "operator: signed {}", signed.word())?;
    }
    let rows = all(policy).map(|(rule, disabled)| {
        let decision = if disabled {
            Row::of(Tone::Quiet, "off")
        } else {
            rule_says(rule.decision, rule.result.as_ref().map(|of| of.act))
        };
        let layer = if here.len() > 1 { format!("{}  ", rule.layer.word()) } else { String::new() };
        let covers = cell(Tone::Ours, &selects(rule, look));
        let note = |note: String| Row::of(Tone::Quiet, "# ").and_foreign(Tone::Quiet, &note);
        let note = rule.remark().map(note).unwrap_or_default();
        [Row::of(Tone::Quiet, layer).joined(cell(Tone::Strong, &rule.id)), decision, covers, note]
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() && policy.pending.is_empty() {
        let hint = look.hint("`mcp-approve rules add --record SEQ` makes one from a call of the log");
        writeln!(out, "There are no rules yet: r on a waiting call makes one, and {hint}.")?;
    } else if !rows.is_empty() {
        table(&rows, look.wide(options.look.wide), out)?;
    }
    for one in &policy.pending {
        writeln!(out, "\nnot accepted yet in {} ({}):", visible(&one.file), look.hint("mcp-approve rules accept"))?;
        for loosens in &one.loosens {
            writeln!(out, "  {}", visible(loosens))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// One row a rule: its name, decision, what it covers and its note; where one is too wide, the last two are below, whole.
fn table(rules: &[[Row; 4]], look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    const INDENT: &str = "    ";
    let joined = |[name, does, covers, note]: &[Row; 4]| {
        let gap = if note.runs.is_empty() { "" } else { "  " };
        [name.clone(), does.clone(), covers.clone().and(Tone::Ours, gap).joined(note.clone())]
    };
    let rows: Vec<[Row; 3]> = rules.iter().map(joined).collect();
    let widest = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(Row::width).max().unwrap_or(0);
    if widest(0) + widest(1).max("DOES".len()) + widest(2) + 2 * "  ".len() <= look.width {
        return look.list(["RULE", "DOES", "COVERS"], &rows, out);
    }
    for [name, does, covers, note] in rules {
        let does = does.clone().padded("allow".len()).and(Tone::Ours, "  ");
        look.print(&does.joined(name.clone()), out)?;
        let room = look.width.saturating_sub(INDENT.len());
        let below = covers.clone().hung(room, 2).into_iter().chain(note.clone().hung(room, 2));
        for line in below.filter(|line| !line.runs.is_empty()) {
            look.print(&Row::of(Tone::Ours, INDENT).joined(line), out)?;
        }
    }
    Ok(())
}

fn row(rule: &Rule, disabled: bool) -> Value {
    json!({
        "id": rule.id,
        "decision": rule.word(),
        "server": rule.server.iter().map(|glob| glob.text()).collect::<Vec<_>>(),
        "tool": rule.tool.iter().map(|glob| glob.text()).collect::<Vec<_>>(),
        "mutability": rule.mutability.map(|mutability| mutability.word()),
        "action": rule.action.iter().map(|action| action.word()).collect::<Vec<_>>(),
        "method": rule.method.iter().map(|glob| glob.text()).collect::<Vec<_>>(),
        "output_domain": rule.output_domain.iter().map(|domain| domain.word()).collect::<Vec<_>>(),
        "identity": rule.identity.iter().map(|identity| identity.hash()).collect::<Vec<_>>(),
        "capability": rule.capability.iter().map(|glob| glob.text()).collect::<Vec<_>>(),
        "when": rule.when.iter().map(|predicate| predicate.text.as_str()).collect::<Vec<_>>(),
        "unless": rule.unless.iter().map(|predicate| predicate.text.as_str()).collect::<Vec<_>>(),
        "approvals": rule.terms.approvals,
        "signers": rule.terms.signers,
        "other": rule.terms.by == ApproverKind::Others,
        "expires": rule.expires.and_then(|end| Some(jiff::Timestamp::from_millisecond(end).ok()?.to_string())),
        "note": rule.note,
        "team": rule.team,
        "disabled": disabled,
        "layer": rule.layer.word(),
        "file": rule.file.as_deref(),
        "line": rule.line,
    })
}

/// What a rule matches, on one line. Foreign text in it, raw.
fn selects(rule: &Rule, look: Look<'_>) -> String {
    let until = rule.expires.map(|end| ("until", until(end, look)));
    let part = |(key, words): (&str, String)| format!("{key} {words}");
    let parts: Vec<String> = rule.selects().into_iter().chain(until).map(part).collect();
    let covers = if parts.is_empty() { "every call".to_owned() } else { parts.join(", ") };
    rule.terms.words().map_or(covers.clone(), |terms| format!("{covers}; approved by {terms}"))
}

/// The last day, or the minute of a local day, as the reader's clock has it.
fn until(end: i64, look: Look<'_>) -> String {
    let minute = || time::date(end, look.clock.offset).rsplit_once(':').map(|(minute, _)| minute.to_owned());
    written::moment(end).filter(|day| day.len() == "2026-12-31".len()).or_else(minute).unwrap_or_default()
}
