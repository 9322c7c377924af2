//! The rules a held call could become, narrowest first, as text for the policy file. Owns the offers, not the language.

use serde_json::{Map, Value};

use super::model::rule::Choice;
use crate::gate::snapshot::Snapshot;

/// Arguments that are folders' children: a rule may hold for all of the folder.
const PATHS: [&str; 7] = ["path", "file_path", "filename", "source", "destination", "file", "directory"];

/// How long an offered rule lasts.
const DAYS: i64 = 30;

/// The rules on offer: this very call, this tool within its folder, this tool, and never this tool.
///
/// `now` is milliseconds since 1970; the rules end some weeks later, so that what is forgotten does not stay open.
pub fn choices(snapshot: &Snapshot, now: i64) -> Vec<Choice> {
    let Ok(Value::Object(arguments)) = serde_json::from_str::<Value>(&snapshot.arguments) else {
        return Vec::new();
    };
    let tool = &snapshot.tool;
    let mut choices = Vec::new();
    let offer = |label: String, decision: &str, when: Vec<String>, width: Width| {
        let expires = if decision == "allow" { Some(date(now + DAYS * 86_400_000)) } else { None };
        Choice {
            label,
            toml: text(snapshot, decision, &when, expires.as_deref(), now),
            warnings: warnings(snapshot, decision, width),
        }
    };
    if let Some(mut exact) = exactly(&arguments) {
        exact.extend(named_hazards(snapshot));
        choices.push(offer("allow exactly this call".to_owned(), "allow", exact, Width::Narrow));
    }
    for (name, folder) in folders(snapshot, &arguments) {
        let mut when = vec![format!("{{ arg = {}, under = {} }}", string(name), string(&folder))];
        when.extend(named_hazards(snapshot));
        choices.push(offer(format!("allow {tool} where {name} is under {folder}"), "allow", when, Width::Folder));
    }
    choices.push(offer(
        format!("allow every {tool} on {}", snapshot.server),
        "allow",
        named_hazards(snapshot),
        Width::Tool,
    ));
    choices.push(offer(format!("deny every {tool} on {}", snapshot.server), "deny", Vec::new(), Width::Narrow));
    choices
}

/// How much more than this call a rule covers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Narrow,
    Folder,
    Tool,
}

fn warnings(snapshot: &Snapshot, decision: &str, width: Width) -> Vec<String> {
    let mut found = Vec::new();
    if decision != "allow" {
        return found;
    }
    if snapshot.hazards.iter().any(|hazard| hazard.kind.beyond_any_allow()) {
        found.push("This call has a hazard that no allow covers: it will ask all the same.".to_owned());
    }
    if width == Width::Tool {
        found.push("Wide: any arguments at all pass without a question.".to_owned());
    }
    if width != Width::Narrow && snapshot.danger.is_some() {
        found.push("Calls like this one are dangerous; the rule lets the next one pass unseen.".to_owned());
    }
    if snapshot.signature.is_none() {
        found.push("No server has described this tool, so its arguments are not checked.".to_owned());
    }
    found
}

/// Every argument as it is; `None` where one of them is no plain value, so that a rule would cover more than it says.
fn exactly(arguments: &Map<String, Value>) -> Option<Vec<String>> {
    arguments
        .iter()
        .map(|(name, value)| {
            let plain = match value {
                Value::String(text) => string(text),
                Value::Bool(_) => value.to_string(),
                Value::Number(number) if number.is_i64() => value.to_string(),
                _ => return None,
            };
            Some(format!("{{ arg = {}, eq = {plain} }}", string(name)))
        })
        .collect()
}

/// The folder of each argument that is a path: where it leads on this machine, else as it was sent where that is absolute.
fn folders<'a>(snapshot: &'a Snapshot, arguments: &'a Map<String, Value>) -> Vec<(&'a str, String)> {
    let folder = |(name, value): (&'a str, &'a Value)| {
        let sent = value.as_str()?;
        let pointer = format!("/{name}");
        let seen = snapshot.facts.iter().find(|facts| facts.argument == pointer);
        let path = seen.and_then(|facts| facts.real.as_deref()).unwrap_or(sent);
        let (folder, _) = path.trim_end_matches('/').rsplit_once('/')?;
        let is_whole = folder.starts_with('/') || folder.starts_with("~/");
        (is_whole && !path.contains("..")).then(|| (name, folder.to_owned()))
    };
    PATHS.iter().filter_map(|name| folder((name, arguments.get(*name)?))).collect()
}

/// An allow covers a hazard only where it names it.
fn named_hazards(snapshot: &Snapshot) -> Vec<String> {
    let nameable = snapshot.hazards.iter().filter(|hazard| !hazard.kind.beyond_any_allow());
    let mut kinds: Vec<&str> = nameable.map(|hazard| hazard.kind.word()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.into_iter().map(|kind| format!("{{ hazard = {} }}", string(kind))).collect()
}

fn text(snapshot: &Snapshot, decision: &str, when: &[String], expires: Option<&str>, now: i64) -> String {
    let mut out = format!("[[rule]]\nid = {}\ndecision = \"{decision}\"\n", string(&id(snapshot, decision, now)));
    out.push_str(&format!("server = {}\ntool = {}\n", string(&glob(&snapshot.server)), string(&glob(&snapshot.tool))));
    match when {
        [] => {}
        [one] => out.push_str(&format!("when = [{one}]\n")),
        many => out.push_str(&format!("when = [\n    {},\n]\n", many.join(",\n    "))),
    }
    if let Some(date) = expires {
        out.push_str(&format!("expires = {date}\n"));
    }
    out.push_str(&format!("note = {}\n", string(&format!("made in the console from {}", snapshot.ticket))));
    out
}

/// A name for the log: the tool, and the moment, so that two never meet.
fn id(snapshot: &Snapshot, decision: &str, now: i64) -> String {
    let tame = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let tool: String = snapshot.tool.chars().take(40).map(tame).collect();
    format!("{decision}-{}-{}", tool.trim_matches('-'), now / 1000)
}

/// A name that matches itself only: `*`, `?`, `[` and `{` are escaped.
fn glob(name: &str) -> String {
    name.chars()
        .flat_map(|c| {
            let special = matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!');
            special.then_some('\\').into_iter().chain([c])
        })
        .collect()
}

/// A TOML string that says exactly this.
fn string(text: &str) -> String {
    toml_edit::Value::from(text).to_string().trim().to_owned()
}

/// `2026-12-31`.
fn date(millis: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    moment.to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}
