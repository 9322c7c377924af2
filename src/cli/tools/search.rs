//! `mcp-approve tools search`: ranks everything ever seen for a task. Tools that may not be used are left out;
//! relevance, times what a call costs, ranks the rest. What a tool says of itself does not open the gate before that.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::json;

use crate::behavior::{Badge, tags};
use crate::cli::args::{BadgeChoice, ToolsSearchOptions};
use crate::cli::error::{Error, Exit, done};
use crate::cli::look::{Here, Look, clipped, visible};
use crate::cli::tools::list::{NONE, badge, tag};
use crate::cli::tools::row::{self, Answers};
use crate::cli::tools::{answers, print, store};
use crate::gate::data::pin::PinState;
use crate::home::layers::{Keeps, Layers};
use crate::home::{config, places::Places, policy_file::PolicyPlace};
use crate::pins::reading::StoredTool;
use crate::policy::ranking::{self, Candidate, Hit};
use crate::policy::role::{Lacks, Profile, Role, profile_of};
use crate::policy::{Policy, decide::denied_beforehand};
use crate::text::columns::cell;
use crate::text::row::{Row, Tone};
use crate::wire::counted;

struct FoundTool<'t> {
    known: &'t StoredTool,
    hit: Hit,
    answers: Answers<'t>,
    profile: &'t Profile,
    exclusion: Option<Exclusion>,
}

pub(super) fn run(options: &ToolsSearchOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let Here { places, now } = here;
    let output = options.list.output;
    let look = Look::here(here).wide(options.list.look.wide);
    let role = options.role.as_deref().map(|name| config::role(places, name)).transpose()?;
    let policy = policy(places)?;
    let store = store(places)?;
    let tools = super::known(store.as_ref(), options.list.server.as_deref())?;
    if tools.is_empty() && !output.json && !output.jsonl {
        return done(writeln!(out, "{}", look.hint(NONE)));
    }
    let query = options.query.join(" ");
    let (tally, profiles) = (answers(places)?, config::tools(places)?);
    let answers: Vec<Answers<'_>> = tools.iter().map(|known| Answers::of(&tally, known)).collect();
    let all = tools.iter().zip(&answers);
    let candidates = all.map(|(StoredTool { server, tool, behavior, .. }, answers)| {
        let profile = profile_of(&profiles, &server.name, tool, behavior);
        Candidate { server: &server.name, tool, profile, observed: answers.observed() }
    });
    let candidates: Vec<Candidate<'_>> = candidates.collect();
    let exclusions = Exclusions { options, role: role.as_ref(), policy: &policy, now, places };
    let (hits, struck) = ranking::rank(&query, &candidates, |at| exclusions.of(&tools[at]));
    let found = |hit: Hit, exclusion| {
        let (known, answers, profile) = (&tools[hit.at], answers[hit.at], &candidates[hit.at].profile);
        FoundTool { known, hit, answers, profile, exclusion }
    };
    let mut hits: Vec<FoundTool<'_>> = hits.into_iter().map(|hit| found(hit, None)).collect();
    let struck: Vec<FoundTool<'_>> = struck.into_iter().map(|(hit, why)| found(hit, Some(why))).collect();
    let left_out = match struck.len() {
        0 => String::new(),
        count => {
            let why = counted_kinds(struck.iter().filter_map(|hit| hit.exclusion.as_ref()));
            let hint = if options.all { "" } else { "; --all shows them" };
            format!("{} left out: {why}{hint}", counted(count, "more tool fits and is|more tools fit and are"))
        }
    };
    let none = match (hits.is_empty(), left_out.is_empty()) {
        (true, true) => format!("No tool fits these words. `{}` shows them all.", places.command("tools list")),
        _ => format!("No tool that may be used fits these words; {}.", visible(&left_out)),
    };
    hits.truncate(output.limit.unwrap_or(10));
    if options.all {
        hits.extend(struck.into_iter().take(output.limit.unwrap_or(usize::MAX)));
    }
    let rows: Vec<_> = hits.iter().map(json).collect();
    done(print(output, &rows, &none, out, |out| table(&hits, &left_out, look, out)))
}

/// The policy for all servers, as it is. Where it is broken its denials still apply, as they do for calls.
fn policy(places: &Places) -> Result<Policy, Error> {
    let usual = config::policies(places)?.into_iter().next();
    let named = usual.unwrap_or_else(|| PolicyPlace::own(places));
    Ok(Layers::of(places, None, &named).load(Keeps::Nothing))
}

fn json(FoundTool { known, hit, answers, profile, exclusion }: &FoundTool<'_>) -> serde_json::Value {
    let mut row = row::json(known, *answers, profile);
    row["score"] = json!(round(hit.score()));
    row["relevance"] = json!(round(hit.relevance));
    row["cost"] = json!(round(hit.cost));
    row["why"] = json!(hit.why);
    row["may_use"] = json!(exclusion.is_none());
    row["why_not"] = json!(exclusion.as_ref().map(|exclusion| &exclusion.why));
    row
}

fn round(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

fn table(hits: &[FoundTool<'_>], left_out: &str, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    if look.is_wide() {
        whole(hits, out)?;
    } else {
        let rows: Vec<_> = hits.iter().map(short).collect();
        look.list([">SCORE", "BADGE", "SERVER", "TOOL", "TAG", "SAYS"], &rows, out)?;
    }
    if left_out.is_empty() { Ok(()) } else { writeln!(out, "{left_out}") }
}

fn first(known: &StoredTool) -> Option<&str> {
    let text = known.tool.description.as_deref()?;
    text.lines().find(|line| !line.trim().is_empty()).map(str::trim)
}

fn short(FoundTool { known, hit, exclusion, .. }: &FoundTool<'_>) -> [Row; 6] {
    let (score, says) = match exclusion {
        None => {
            (Row::of(Tone::Ours, format!("{:5.2}", hit.score())), cell(Tone::Foreign, first(known).unwrap_or_default()))
        }
        Some(exclusion) => {
            (Row::of(Tone::Danger, "    ✗"), cell(Tone::Danger, &format!("may not be used: {}", exclusion.why)))
        }
    };
    let (server, tool) = (cell(Tone::Quiet, &known.server.name), cell(Tone::Strong, &known.tool.name));
    [score, badge(known), server, tool, cell(Tone::Ours, &tag(known)), says]
}

fn whole(hits: &[FoundTool<'_>], out: &mut dyn Write) -> io::Result<()> {
    for FoundTool { known, hit, exclusion, .. } in hits {
        let score = if exclusion.is_none() { format!("{:7.2}", hit.score()) } else { format!("{:>7}", "✗") };
        let [server, tool, tag] = [&known.server.name, &known.tool.name, &tag(known)].map(|text| visible(text));
        writeln!(out, "{score}  {:7}  {server} / {tool}  ({tag})", known.behavior.badge().word())?;
        let identity = known.behavior.identity;
        let because = clipped(&visible(&row::because(&known.behavior)), 80);
        writeln!(out, "         {}  {identity}: {because}", identity.hash())?;
        if let Some(exclusion) = exclusion {
            writeln!(out, "         may not be used: {}", visible(&exclusion.why))?;
            continue;
        }
        if let Some(first) = first(known) {
            writeln!(out, "         | {}", clipped(&visible(first), 100))?;
        }
        writeln!(out, "         why: {}", visible(&hit.why))?;
    }
    Ok(())
}

struct Exclusions<'s> {
    pub(super) options: &'s ToolsSearchOptions,
    pub(super) role: Option<&'s Role>,
    pub(super) policy: &'s Policy,
    pub(super) now: i64,
    pub(super) places: &'s Places,
}

/// Why a tool may not be used. Foreign text in both, raw.
struct Exclusion {
    /// For a count of several: `the role analyst lacks the capability`.
    pub(super) kind: String,
    pub(super) why: String,
}

impl Exclusions<'_> {
    pub(super) fn of(&self, known: &StoredTool) -> Option<Exclusion> {
        let tags = tags::of(&known.behavior, &known.tool.name);
        self.role(known)
            .or_else(|| self.policy(known))
            .or_else(|| self.refused(known))
            .or_else(|| self.wishes(known, &tags))
    }

    fn role(&self, known: &StoredTool) -> Option<Exclusion> {
        let role = self.role?;
        let lacks = role.lacks(&known.server.name, &known.tool.name, Some(&known.tool), &known.behavior)?;
        let grants = || format!("; it grants {}", listed(role.granted(&known.server.name)));
        let (kind, has) = match &lacks {
            Lacks::Server => ("is not for their server", format!("; it is for {}", listed(role.servers.iter()))),
            Lacks::Capability(_) => ("has no capability for them", grants()),
            Lacks::Entitlement(_) => ("does not grant what they require", grants()),
        };
        let why = format!("the role {} {}{has}", role.name, lacks.words());
        Some(Exclusion { kind: format!("the role {} {kind}", role.name), why })
    }

    fn policy(&self, known: &StoredTool) -> Option<Exclusion> {
        let (server, tool) = (&known.server.name, &known.tool.name);
        let why = denied_beforehand(self.policy, server, tool, &known.behavior, self.now)?;
        Some(Exclusion { kind: "the policy denies every call of them".to_owned(), why: format!("the policy: {why}") })
    }

    fn refused(&self, known: &StoredTool) -> Option<Exclusion> {
        let why = format!("the operator refused this definition (see `{}`)", self.places.command("tools review"));
        (known.pin_state == PinState::Refused)
            .then(|| Exclusion { kind: "their definition was refused".to_owned(), why })
    }

    /// What the search itself asks for.
    fn wishes(&self, known: &StoredTool, tags: &[String]) -> Option<Exclusion> {
        let exclusion = |kind: &str, why: String| Some(Exclusion { kind: kind.to_owned(), why });
        let badge = match self.options.badge {
            Some(BadgeChoice::Pure) => Badge::Pure,
            Some(BadgeChoice::Likely) => Badge::Likely,
            Some(BadgeChoice::Mutates) => Badge::Mutates,
            None => known.behavior.badge(),
        };
        if known.behavior.badge() != badge {
            return exclusion("--badge asks for another badge", format!("it is {}", known.behavior.badge().word()));
        }
        let wanted = &self.options.capability;
        if !wanted.is_empty() && !wanted.iter().any(|wanted| tags.iter().any(|tag| grants(wanted, tag))) {
            let is = if tags.is_empty() { "unknown".to_owned() } else { tags.join(" or ") };
            return exclusion("--capability asks for another one", format!("its capability is {is}"));
        }
        None
    }
}

/// How many of which kind, the most first: `4 because the role analyst has no capability for them, 1 because …`.
fn counted_kinds<'b>(exclusions: impl Iterator<Item = &'b Exclusion>) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    exclusions.for_each(|exclusion| *kinds.entry(&exclusion.kind).or_default() += 1);
    let mut kinds: Vec<(&str, usize)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    kinds.iter().map(|(kind, count)| format!("{count} because {kind}")).collect::<Vec<_>>().join(", ")
}

fn listed<'a>(globs: impl Iterator<Item = &'a crate::policy::glob::Glob>) -> String {
    let texts: Vec<&str> = globs.map(|glob| glob.text()).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}

/// `files:read` grants itself; `*:read` and `files:*` grant what they leave open.
fn grants(wanted: &str, tag: &str) -> bool {
    let part = |wanted: &str, is: &str| wanted == "*" || wanted == is;
    match (wanted.split_once(':'), tag.split_once(':')) {
        (Some((things, act)), Some((its_things, its_act))) => part(things, its_things) && part(act, its_act),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::grants;

    #[test]
    fn a_capability_grants_what_it_names_and_what_it_leaves_open() {
        for wanted in ["files:read", "*:read", "files:*"] {
            assert!(grants(wanted, "files:read"), "{wanted}");
        }
        for other in ["files:write", "issues:read", "files", "*", "file:read", ""] {
            assert!(!grants(other, "files:read"), "{other}");
        }
    }
}
