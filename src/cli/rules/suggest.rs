//! `rules suggest`: rules that would have saved questions, and the way to accept one.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::add::{Addition, end, warnings, write};
use super::options::SuggestOptions;
use super::{Site, past};
use crate::cli::error::{Error, Exit, done};
use crate::cli::print::{local, visible, visible_lines};
use crate::home::policy_file;
use crate::policy::maker::Title;
use crate::policy::rule::{Decision, Policy};
use crate::policy::suggest::{Suggestion, Suggestions, suggest};
use crate::wire::number::counted;

/// Suggests rules, or writes one of them.
pub(super) fn run(options: &SuggestOptions, policy: &Policy, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let calls = past::since(&site.db, options.since.map(|since| since.moment(local(site.now))))?.unwrap_or_default();
    // A rule that the policy's parser would refuse is not suggested.
    let mut found = suggest(policy, &calls, site.now, usize::MAX);
    found.rules.retain(|one| policy_file::read(&format!("version = 1\n{}", text(one, "x", None))).is_ok());
    found.rules.truncate(options.limit);
    let taken: Vec<&str> = policy.rules.iter().map(|rule| rule.id.as_str()).collect();
    let mut used: Vec<String> = Vec::new();
    for one in &found.rules {
        let tool = &one.saves.first().map_or("rule", |call| call.tool.as_str());
        let is_taken = |id: &str| taken.contains(&id) || used.iter().any(|used| used == id);
        let id = one.proposal.scope.id(tool, Decision::Allow, is_taken);
        used.push(id);
    }
    if let Some(number) = options.write {
        let chosen = number.checked_sub(1).and_then(|at| Some((found.rules.get(at)?, used.get(at)?)));
        let (chosen, id) = chosen.ok_or_else(|| {
            Error::wrong(
                format!("there is no suggestion {number}"),
                "`mcp-approve rules suggest` lists them; give it the same --since",
            )
        })?;
        let text = text(chosen, id, end(&options.expires, site.now)?);
        let addition = Addition { text, warnings: warnings(&chosen.proposal), dry_run: false };
        return write(&addition, site, out);
    }
    if options.json {
        let rows = found.rules.iter().zip(&used).map(|(one, id)| row(one, id));
        return done(writeln!(out, "{:#}", rows.collect::<Value>()));
    }
    let expires = end(&options.expires, site.now)?;
    done(tell(&found, &used, calls.len(), expires, site, out))
}

fn text(one: &Suggestion<'_>, id: &str, expires: Option<i64>) -> String {
    let saved = counted(one.saves.len(), "question");
    let note = format!("suggested: {saved} saved");
    one.proposal.text(&Title { id, decision: Decision::Allow, expires, note: Some(&note) })
}

fn row(one: &Suggestion<'_>, id: &str) -> Value {
    json!({
        "id": id,
        "scope": one.proposal.scope.word(),
        "says": one.proposal.scope.says(),
        "saves": one.saves.len(),
        "calls": one.saves.iter().map(|call| json!({ "seq": call.seq, "ticket": call.ticket })).collect::<Vec<_>>(),
        "warnings": warnings(&one.proposal),
        "rule": text(one, id, None),
    })
}

fn tell(
    found: &Suggestions<'_>,
    ids: &[String],
    calls: usize,
    expires: Option<i64>,
    site: &Site<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let of = counted(calls, "past call");
    let questions = counted(found.questions, "question that was|questions that were");
    writeln!(out, "{of} in the log; {questions} approved, or passed while observing, would come again.")?;
    if found.rules.is_empty() {
        return writeln!(
            out,
            "Nothing to suggest: a rule helps when similar calls came at least twice, and none was denied.\n\
             To start, wrap servers with --observe for a day: it holds no call, and records what would have been asked."
        );
    }
    for (number, (one, id)) in (1..).zip(found.rules.iter().zip(ids)) {
        let saves = counted(one.saves.len(), "question");
        let tool = one.saves.first().map(|call| format!("{}, ", visible(&call.tool))).unwrap_or_default();
        let says = visible(&one.proposal.scope.says());
        writeln!(out, "\n{number}. {tool}{says}: saves {saves}; no call it covers was denied")?;
        // As --write would write it.
        write!(out, "{}", visible_lines(&text(one, id, expires)))?;
        past::some(&one.saves, 3, out)?;
        for warning in warnings(&one.proposal) {
            writeln!(out, "  warning: {}", visible(&warning))?;
        }
    }
    writeln!(out, "\nAccept one with: {} --write N", site.places.command("rules suggest"))
}
