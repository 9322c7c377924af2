//! `rules add|import|suggest`: rules from a call of the log, from options or a text, from another program, or suggested.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cli::error::{Error, Exit, done};
use crate::cli::look::{JsonForm, json_rows, local, visible, visible_lines};
use crate::cli::manifest;
use crate::cli::rules::alter::{self, sound};
use crate::cli::rules::options::{AddOptions, ImportOptions, SuggestOptions};
use crate::cli::rules::{Site, past};
use crate::home::{places::quoted, policy_file};
use crate::operator::trial::{Named, named};
use crate::operator::tried::Matched;
use crate::policy::import::{Imported, import};
use crate::policy::maker::{Proposal, Title, id_about, proposals};
use crate::policy::past::{Answer, PastCall, answer, touches_obscured};
use crate::policy::{Decision, Policy, Recent, Roots, Rule, edit, lint::lint, parse::built_in, when::About, written};
use crate::wire::counted;

const DAY: i64 = 24 * 3600 * 1000;

pub(super) fn run(options: &AddOptions, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let (rule, warnings) = match (&options.record, &options.from) {
        (Some(record), _) => match from_record(record, options, site, out)? {
            Some(made) => made,
            None => return Ok(ExitCode::SUCCESS),
        },
        (None, Some(path)) => (manifest::text(path)?, Vec::new()),
        (None, None) => (from_options(options, site)?, Vec::new()),
    };
    write(&Addition { text: rule, warnings, dry_run: options.dry_run }, site, out)
}

pub(super) struct Addition {
    pub(super) text: String,
    pub(super) warnings: Vec<String>,
    pub(super) dry_run: bool,
}

pub(super) fn write(addition: &Addition, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let path = site.place.path();
    let ids = edit::ids(&addition.text);
    let drafted = site.file().draft(|text| edit::add(text, &addition.text))?;
    let Some(draft) = sound(drafted, path, out)? else { return Ok(ExitCode::FAILURE) };
    let what = format!("added rule {}", ids.join(", "));
    if !addition.dry_run {
        draft.write(&what, site.now)?;
    }
    let verb = if addition.dry_run { "Would be added to" } else { "Added to" };
    writeln!(out, "{verb} {}:\n\n{}", path.display(), visible_lines(&addition.text))?;
    let of_these = |rule: &&Rule| ids.contains(&rule.id);
    let added: Vec<&Rule> = draft.policy.rules.iter().filter(of_these).collect();
    if let Some(calls) = past::since(&site.db, None)? {
        for rule in &added {
            tell_past(rule, &draft.policy, &calls, site, out)?;
        }
    }
    for warning in &addition.warnings {
        writeln!(out, "warning: {}", visible(warning))?;
    }
    for warning in lint(&draft.policy, site.now).iter().filter(|warning| ids.contains(&warning.rule)) {
        writeln!(out, "warning: {}; {}", visible(&warning.what), warning.hint)?;
    }
    if !addition.dry_run {
        alter::offer(site, out)?;
        writeln!(out, "Take it back with: {}", site.places.command("rules undo"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Says which past calls a rule would have matched, and what in `policy` would still ask about them.
pub(in crate::cli) fn tell_past(
    rule: &Rule,
    policy: &Policy,
    calls: &[PastCall],
    site: &Site<'_>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut alone = policy.clone();
    alone.rules = vec![rule.clone()];
    let recent = Recent::default();
    let mut counts = Matched::default();
    let matched: Vec<_> = calls.iter().filter(|call| counts.count(call, &answer(&alone, call, &recent))).collect();
    let Matched { asked, denied, undecided, .. } = counts;
    let of = counted(calls.len(), "past call");
    writeln!(out, "Rule {} would have matched {} of {of}; {asked} asked, {denied} denied.", rule.id, matched.len())?;
    if undecided > 0 {
        writeln!(out, "For {undecided} more it is unknown: the log does not hold their secrets and long texts.")?;
    }
    past::some(&matched, 5, out)?;
    if rule.decision == Decision::Allow && denied > 0 {
        let times = counted(denied, "time");
        writeln!(out, "warning: it allows what was denied before ({times})")?;
    }
    // Calls that another rule denies or asks about: an allow does not override it.
    let mut obstacles: BTreeMap<&str, (Decision, usize)> = BTreeMap::new();
    for call in matched.iter().filter(|_| rule.decision == Decision::Allow) {
        if let Answer::Decided(ruling) = answer(policy, call, &recent)
            && let Some(other) = ruling.rule.as_deref().filter(|_| ruling.decision > Decision::Allow)
            && let Some(other) = policy.rules.iter().find(|rule| rule.id == other)
        {
            obstacles.entry(&other.id).or_insert((ruling.decision, 0)).1 += 1;
        }
    }
    for (id, (decision, count)) in obstacles {
        let does = if decision == Decision::Ask { "asks for" } else { "denies" };
        writeln!(out, "warning: rule {id} {does} {count} of them, and an allow does not override that.")?;
        match rule.when.iter().find(|one| matches!(one.about, About::Argument { .. })) {
            Some(condition) => {
                let (except, condition) = (site.places.command("rules except"), quoted(&visible(&condition.text)));
                writeln!(out, "  To except these from it: {except} {id} {condition}")?;
            }
            None => writeln!(out, "  The rule has no condition to except from it; narrow rule {id} itself.")?,
        }
    }
    Ok(())
}

/// The text of a rule made from a call, with its warnings; `None` after showing what could be chosen.
fn from_record(
    record: &str,
    options: &AddOptions,
    site: &Site<'_>,
    out: &mut dyn Write,
) -> Result<Option<(String, Vec<String>)>, Error> {
    let call = past::one(record, &site.db)?;
    let cannot = |why: String| {
        Error::wrong(
            format!("no rule can be made from {}: {why}", visible(&call.ticket)),
            "mcp-approve asks about such calls each time",
        )
    };
    // Where the server ran is not in the log: a relative path in the call lies in a folder that is not known.
    let roots = Roots { folder: None, ..policy_file::roots() };
    let made = proposals(&call.question(None), &roots).map_err(|why| cannot(why.to_string()))?;
    let is_known = |one: &Proposal| !touches_obscured(&one.rule, &call);
    let all: Vec<Proposal> = made.into_iter().filter(is_known).collect();
    let Some(scope) = &options.scope else {
        writeln!(out, "A rule from {} could cover:", visible(&call.ticket))?;
        let calls = past::since(&site.db, None)?.unwrap_or_default();
        for (number, one) in (1..).zip(&all) {
            let policy = Policy { roots: roots.clone(), ..built_in() };
            let count = calls.iter().filter(|call| one.covers(&policy, &call.question(None))).count();
            let count = counted(count, "past call");
            writeln!(out, "  {number}  {} ({count})", visible(&one.says()))?;
        }
        writeln!(out, "Choose one: {} --record {} --scope N", site.places.command("rules add"), visible(record))?;
        return Ok(None);
    };
    let numbered = scope.parse::<usize>().ok().and_then(|number| all.get(number.checked_sub(1)?));
    let chosen = numbered.or_else(|| all.iter().find(|one| one.scope.word() == scope.as_str()));
    let chosen = chosen.ok_or_else(|| {
        Error::wrong(
            format!("no rule from {} has the scope {}", visible(&call.ticket), visible(scope)),
            format!("`mcp-approve rules add --record {}` lists them", visible(record)),
        )
    })?;
    let taken = edit::ids(&site.file().text()?.unwrap_or_default());
    let decision = options.decision.unwrap_or(Decision::Allow);
    let made = || chosen.scope.id(&call.tool, decision, |id| taken.iter().any(|one| one == id));
    let id = options.id.clone().unwrap_or_else(made);
    let note = options.note.clone().unwrap_or_else(|| format!("from {}", call.ticket));
    let title = Title {
        id: &id,
        decision,
        expires: end(options.expires.as_deref().unwrap_or("30d"), site.now)?,
        note: Some(&note),
    };
    let warnings = if decision == Decision::Allow { warnings(chosen) } else { Vec::new() };
    Ok(Some((chosen.text(&title), warnings)))
}

pub(super) fn warnings(made: &Proposal) -> Vec<String> {
    made.warnings().into_iter().chain(made.also().map(str::to_owned)).collect()
}

fn from_options(options: &AddOptions, site: &Site<'_>) -> Result<String, Error> {
    let names = options.server.iter().chain(&options.tool).chain(&options.when).chain(&options.unless);
    if names.count() == 0 {
        return Err(Error::wrong(
            "the rule would be for every call",
            "name what it is for: --record, --server, --tool or --when; `mcp-approve rules add --help` has examples",
        ));
    }
    for condition in options.when.iter().chain(&options.unless) {
        edit::condition(condition).map_err(|error| {
            Error::wrong(visible(&error.to_string()), "`mcp-approve rules add --help` has examples")
        })?;
    }
    let taken = edit::ids(&site.file().text()?.unwrap_or_default());
    let about = options.tool.first().or(options.server.first()).map_or("rule", String::as_str);
    let decision = options.decision.unwrap_or(Decision::Allow);
    let made = || id_about(about, decision, |id| taken.iter().any(|one| one == id));
    let id = options.id.clone().unwrap_or_else(made);
    let mut text = format!("[[rule]]\nid = {}\ndecision = {}\n", written::text(&id), written::text(decision.word()));
    for (key, all) in [("server", &options.server), ("tool", &options.tool)] {
        if !all.is_empty() {
            text.push_str(&format!("{key} = {}\n", written::texts(all)));
        }
    }
    for (key, all) in [("when", &options.when), ("unless", &options.unless)] {
        if !all.is_empty() {
            text.push_str(&format!("{key} = [{}]\n", all.join(", ")));
        }
    }
    if let Some(end) = end(options.expires.as_deref().unwrap_or("never"), site.now)?.and_then(written::moment) {
        text.push_str(&format!("expires = {end}\n"));
    }
    if let Some(note) = &options.note {
        text.push_str(&format!("note = {}\n", written::text(note)));
    }
    Ok(text)
}

/// When a rule ends, in milliseconds since 1970, UTC; `None` for never. Days are whole: the last one counts.
pub(super) fn end(text: &str, now: i64) -> Result<Option<i64>, Error> {
    if text == "never" {
        return Ok(None);
    }
    let units = [('w', 7 * DAY), ('d', DAY), ('h', 3600 * 1000), ('m', 60 * 1000)];
    let unit = units.iter().find_map(|(unit, millis)| {
        let number: u32 = text.strip_suffix(*unit)?.parse().ok().filter(|number| *number > 0)?;
        let end = now.saturating_add(i64::from(number).saturating_mul(*millis));
        Some(if *millis < DAY { end } else { (end.div_euclid(DAY) + 1) * DAY })
    });
    let day = || text.parse::<jiff::civil::Date>().ok()?.tomorrow().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    let moment = || text.parse::<jiff::Timestamp>().ok().map(|moment| moment.as_millisecond());
    let end = unit.or_else(|| if text.len() == 10 { Some(day()?.timestamp().as_millisecond()) } else { moment() });
    end.map(Some).ok_or_else(|| {
        Error::wrong(
            format!("a rule cannot end at {:?}", visible(text)),
            "write 30d, 12h, 2026-12-31, a time like 2026-12-31T18:00:00Z, or never",
        )
    })
}

pub(super) fn run_import(options: &ImportOptions, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let text = manifest::text(&options.source)?;
    let host = options.host;
    let found = import(host, &text).map_err(|why| {
        let source = if options.source == Path::new("-") { Path::new("stdin") } else { &options.source };
        let (source, word, why) = (source.display(), host.word(), visible(&why.to_string()));
        Error::wrong(
            format!("{source} is not a permission file of {word}: {why}"),
            "`mcp-approve rules import --help` says which files are meant",
        )
    })?;
    let taken = edit::ids(&site.file().text()?.unwrap_or_default());
    let rules = found.rules(host, |id| taken.iter().any(|one| one == id));
    let mut code = ExitCode::SUCCESS;
    if options.write && !rules.is_empty() {
        let warnings = warnings_of_import(&found);
        code = write(&Addition { text: rules.join("\n"), warnings, dry_run: false }, site, out)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", visible_lines(&rules.join("\n")))?;
        if !rules.is_empty() {
            writeln!(out)?;
        }
        for warning in warnings_of_import(&found) {
            writeln!(out, "# warning: {warning}")?;
        }
    }
    report(&found, out)?;
    if !options.write && !rules.is_empty() {
        writeln!(out, "# Nothing was written; add them to the policy with --write.")?;
    }
    Ok(code)
}

fn warnings_of_import(found: &Imported) -> Vec<String> {
    let mut warnings = Vec::new();
    if found.carried.iter().any(|one| one.decision == Decision::Allow && one.tool == "*") {
        warnings.push("an allow without a tool covers everything its server does, deletions too".to_owned());
    }
    if !found.carried.is_empty() {
        warnings.push(
            "the rules name servers as `mcp-approve log list` does; if the other program uses another name, change \
             `server`, or wrap the server with --name"
                .to_owned(),
        );
    }
    warnings
}

fn report(found: &Imported, out: &mut dyn Write) -> io::Result<()> {
    let carried = counted(found.carried.len(), "entry|entries");
    writeln!(out, "# {carried} carried over, {} not.", found.left.len())?;
    found.left.iter().try_for_each(|left| writeln!(out, "#   {}: {}", visible(&left.what), visible(&left.why)))
}

pub(super) fn run_suggest(options: &SuggestOptions, policy: &Policy, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let calls = past::since(&site.db, options.since.map(|since| since.moment(local(site.now))))?.unwrap_or_default();
    let (found, questions) = named(policy, &calls, site.now, options.limit);
    if let Some(name) = &options.write {
        let chosen = found.iter().find(|one| one.name() == *name).ok_or_else(|| {
            Error::wrong(
                format!("there is no suggestion {name}"),
                "`mcp-approve rules suggest` lists them; give it the same --since and --limit",
            )
        })?;
        let text = chosen.text(end(&options.expires, site.now)?);
        let addition = Addition { text, warnings: warnings(&chosen.rule.proposal), dry_run: false };
        return write(&addition, site, out);
    }
    if options.json {
        return done(json_rows(found.iter().map(row), JsonForm::Array, out));
    }
    let expires = end(&options.expires, site.now)?;
    done(tell_suggested(&found, questions, calls.len(), expires, site, out))
}

fn row(named: &Named<'_>) -> Value {
    let one = &named.rule;
    json!({
        "name": named.name(),
        "id": named.id,
        "scope": one.proposal.scope.word(),
        "says": one.proposal.scope.says(),
        "saves": one.saves.len(),
        "calls": one.saves.iter().map(|call| json!({ "seq": call.seq, "ticket": call.ticket })).collect::<Vec<_>>(),
        "warnings": warnings(&one.proposal),
        "rule": named.text(None),
    })
}

fn tell_suggested(
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
    for named in found {
        let one = &named.rule;
        let saves = counted(one.saves.len(), "question");
        let tool = one.saves.first().map(|call| format!("{}, ", visible(&call.tool))).unwrap_or_default();
        let says = visible(&one.proposal.scope.says());
        writeln!(out, "\n{}  {tool}{says}: saves {saves}; no call it covers was denied", named.name())?;
        // As --write would write it.
        write!(out, "{}", visible_lines(&named.text(expires)))?;
        past::some(&one.saves, 3, out)?;
        for warning in warnings(&one.proposal) {
            writeln!(out, "  warning: {}", visible(&warning))?;
        }
    }
    writeln!(out, "\nAccept one with: {} --write NAME", site.places.command("rules suggest"))
}
