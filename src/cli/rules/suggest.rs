//! `rules suggest`: rules that would have saved questions, and the way to accept one.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::add::{Addition, end, warnings, write};
use super::options::SuggestOptions;
use super::{Site, past};
use crate::cli::error::{Error, Exit, done};
use crate::cli::print::{local, visible, visible_lines};
use crate::operator::trial::suggestions::{Named, named};
use crate::policy::rule::Policy;
use crate::wire::number::counted;

/// Suggests rules, or writes one of them.
pub(super) fn run(options: &SuggestOptions, policy: &Policy, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let calls = past::since(&site.db, options.since.map(|since| since.moment(local(site.now))))?.unwrap_or_default();
    let (found, questions) = named(policy, &calls, site.now, options.limit);
    if let Some(number) = options.write {
        let chosen = number.checked_sub(1).and_then(|at| found.get(at)).ok_or_else(|| {
            Error::wrong(
                format!("there is no suggestion {number}"),
                "`mcp-approve rules suggest` lists them; give it the same --since",
            )
        })?;
        let text = chosen.text(end(&options.expires, site.now)?);
        let addition = Addition { text, warnings: warnings(&chosen.rule.proposal), dry_run: false };
        return write(&addition, site, out);
    }
    if options.json {
        return done(writeln!(out, "{:#}", found.iter().map(row).collect::<Value>()));
    }
    let expires = end(&options.expires, site.now)?;
    done(tell(&found, questions, calls.len(), expires, site, out))
}

fn row(named: &Named<'_>) -> Value {
    let one = &named.rule;
    json!({
        "id": named.id,
        "scope": one.proposal.scope.word(),
        "says": one.proposal.scope.says(),
        "saves": one.saves.len(),
        "calls": one.saves.iter().map(|call| json!({ "seq": call.seq, "ticket": call.ticket })).collect::<Vec<_>>(),
        "warnings": warnings(&one.proposal),
        "rule": named.text(None),
    })
}

fn tell(
    found: &[Named<'_>],
    questions: usize,
    calls: usize,
    expires: Option<i64>,
    site: &Site<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let of = counted(calls, "past call");
    let questions = counted(questions, "question that was|questions that were");
    writeln!(out, "{of} in the log; {questions} approved, or passed while observing, would come again.")?;
    if found.is_empty() {
        return writeln!(
            out,
            "Nothing to suggest: a rule helps when similar calls came at least twice, and none was denied.\n\
             To start, wrap servers with --observe for a day: it holds no call, and records what would have been asked."
        );
    }
    for (number, named) in (1..).zip(found) {
        let one = &named.rule;
        let saves = counted(one.saves.len(), "question");
        let tool = one.saves.first().map(|call| format!("{}, ", visible(&call.tool))).unwrap_or_default();
        let says = visible(&one.proposal.scope.says());
        writeln!(out, "\n{number}. {tool}{says}: saves {saves}; no call it covers was denied")?;
        // As --write would write it.
        write!(out, "{}", visible_lines(&named.text(expires)))?;
        past::some(&one.saves, 3, out)?;
        for warning in warnings(&one.proposal) {
            writeln!(out, "  warning: {}", visible(&warning))?;
        }
    }
    writeln!(out, "\nAccept one with: {} --write N", site.places.command("rules suggest"))
}
