//! Rules made from a call: scopes from "this exact call" to "this tool", as text to be written. Writes nothing.
//!
//! [`proposals`] gives the scopes, the narrowest first; [`Proposal::text`] the rule. Each is read back and matches the
//! call it was made from, or it is not offered.

mod scopes;

use serde_json::Value;

use super::decide::Question;
use super::fit::{Fit, Prepared, fit};
use super::glob::escaped;
use super::parse::parse_at;
use super::question::rules_name;
use super::rule::{Decision, Policy, Rule};
use super::under::Roots;
use super::written;
use crate::behavior::hazards::HazardKind;
use crate::behavior::taxonomy::Action;

pub use scopes::Scope;

/// Why no rule can be made from a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cannot {
    #[error("no rule can allow a call with the hazard {0}")]
    Hazard(&'static str),
    #[error("the arguments are not known: {0}")]
    Arguments(&'static str),
}

/// One rule that could be made.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub scope: Scope,
    /// The rule without id, decision, note and end, line by line: equal for equal rules.
    pub body: String,
    /// The rule as it would be read, as an allow.
    pub rule: Rule,
}

/// What a rule is called, how it decides, and until when.
#[derive(Clone, Copy, Debug)]
pub struct Title<'a> {
    pub id: &'a str,
    pub decision: Decision,
    /// Milliseconds since 1970, UTC.
    pub expires: Option<i64>,
    pub note: Option<&'a str>,
}

/// The allow rules that could be made from a call, the narrowest first. An allow covers only calls that are found to be the same.
///
/// # Errors
/// [`Cannot`] when no allow may cover it.
pub fn proposals(call: &Question<'_>, roots: &Roots) -> Result<Vec<Proposal>, Cannot> {
    if let Some(hazard) = call.behavior.hazards.iter().find(|hazard| hazard.kind.beyond_any_allow()) {
        return Err(Cannot::Hazard(hazard.kind.word()));
    }
    let Value::Object(arguments) = call.arguments else {
        return Err(Cannot::Arguments("they are not an object"));
    };
    let scopes = scopes::of(call.tool, arguments, roots);
    Ok(scopes.into_iter().filter_map(|(scope, conditions)| made(call, roots, scope, conditions)).collect())
}

/// Writes, reads back and tries one rule.
fn made(call: &Question<'_>, roots: &Roots, scope: Scope, mut conditions: Vec<String>) -> Option<Proposal> {
    let mut hazards: Vec<HazardKind> = call.behavior.hazards.iter().map(|hazard| hazard.kind).collect();
    // A rule with the tool's exact name covers the hazard that the tool is new, so it need not name it.
    hazards.retain(|kind| *kind != HazardKind::NewDefinition);
    hazards.sort();
    hazards.dedup();
    if !hazards.is_empty() {
        let words: Vec<String> = hazards.iter().map(|kind| kind.word().to_owned()).collect();
        conditions.push(format!("{{ hazard = {} }}", written::texts(&words)));
    }
    let mut body = names(call);
    body.push_str(&format!("identity = {}\n", written::text(&call.behavior.identity.to_string())));
    if !conditions.is_empty() {
        let lines: String = conditions.iter().map(|one| format!("  {one},\n")).collect();
        body.push_str(&format!("when = [\n{lines}]\n"));
    }
    let title = Title { id: "made", decision: Decision::Allow, expires: None, note: None };
    let text = format!("version = 1\n\n{}", entitled(&title, &body));
    let policy = parse_at(&text, roots).ok()?;
    let rule = policy.rules.first()?.clone();
    matches(&policy, &rule, call).then_some(Proposal { scope, body, rule })
}

fn matches(policy: &Policy, rule: &Rule, question: &Question<'_>) -> bool {
    fit(policy, rule, question, &Prepared::of(question), &policy.roots) == Fit::Matches
}

impl Proposal {
    /// The rule as it would be written.
    pub fn text(&self, title: &Title<'_>) -> String {
        match title.decision {
            Decision::Allow => entitled(title, &self.body),
            // An ask or a deny holds for these names and arguments, whatever identity and hazards the next call has.
            Decision::Ask | Decision::Deny => {
                let kept = |line: &&str| !line.starts_with("identity = ") && !line.starts_with("  { hazard = ");
                let body: String = self.body.lines().filter(kept).map(|line| format!("{line}\n")).collect();
                entitled(title, &body.replace("when = [\n]\n", ""))
            }
        }
    }

    /// What it covers, in the words of its scope; for a request other than a call, `this method` stands for
    /// `this tool`.
    pub fn says(&self) -> String {
        let says = self.scope.says();
        if self.rule.method.is_empty() { says } else { says.replace("this tool", "this method") }
    }

    /// Whether the rule, as an allow under this policy's roots, matches a call.
    pub fn covers(&self, policy: &Policy, question: &Question<'_>) -> bool {
        matches(policy, &self.rule, question)
    }

    /// What is worth saying before it is written.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.scope == Scope::ThisTool {
            warnings.push("it covers every argument this tool is ever called with".to_owned());
        }
        if self.body.contains("{ hazard = ") {
            warnings
                .push("it covers calls with the hazard it names, which you would be asked about otherwise".to_owned());
        }
        warnings
    }

    /// What it covers beyond the call it was made from: worth a line, but no second question.
    pub fn also(&self) -> Option<&'static str> {
        let replaces = self.rule.identity.iter().any(|identity| identity.action == Action::Overwrite);
        let varies = self.scope != Scope::ThisCall;
        (replaces && varies).then_some("it also covers calls that replace a whole file")
    }
}

fn names(call: &Question<'_>) -> String {
    let server = escaped(rules_name(call.server));
    if let Some(method) = call.method {
        return format!("server = {}\nmethod = {}\n", written::text(&server), written::text(&escaped(method)));
    }
    // Such a name would be read as a host's alias.
    let tool = match call.tool.strip_prefix("mcp__") {
        Some(rest) => format!("mcp_\\_{}", escaped(rest)),
        None => escaped(call.tool),
    };
    format!("server = {}\ntool = {}\n", written::text(&server), written::text(&tool))
}

/// A rule of this title, with a body of lines.
pub(super) fn entitled(title: &Title<'_>, body: &str) -> String {
    let id = written::text(title.id);
    let mut out = format!("[[rule]]\nid = {id}\ndecision = {}\n{body}", written::text(title.decision.word()));
    if let Some(end) = title.expires.and_then(written::moment) {
        out.push_str(&format!("expires = {end}\n"));
    }
    if let Some(note) = title.note {
        out.push_str(&format!("note = {}\n", written::text(note)));
    }
    out
}

impl Scope {
    /// An id for such a rule that is not `taken` yet, from what it covers: `allow-create-file-in-notes`.
    pub fn id(&self, tool: &str, decision: Decision, taken: impl Fn(&str) -> bool) -> String {
        let covers = match self {
            Self::ThisCall => " this call".to_owned(),
            Self::Same(names) => format!(" same {}", names.join(" ")),
            Self::Under { folder, .. } => {
                let last = folder.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                format!(" in {last}")
            }
            Self::Address { start, .. } => {
                format!(" at {}", start.split_once("://").map_or(start.as_str(), |(_, rest)| rest))
            }
            Self::ThisTool => String::new(),
        };
        id_for(&format!("{} {tool}{covers}", does(decision)), taken)
    }
}

/// The first word of a rule's id.
fn does(decision: Decision) -> &'static str {
    if decision == Decision::Deny { "never" } else { decision.word() }
}

/// An id for a rule about all calls of a tool, or of a server, that is not `taken` yet: `never-delete-file`.
pub fn id_about(name: &str, decision: Decision, taken: impl Fn(&str) -> bool) -> String {
    id_for(&format!("{} {name}", does(decision)), taken)
}

/// An id that is not `taken` yet, from these words, and a number where need be.
pub fn id_for(words: &str, taken: impl Fn(&str) -> bool) -> String {
    let plain = words.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '-' });
    let plain: String = plain.take(48).collect();
    let plain = if plain.trim_matches('-').is_empty() { "rule".to_owned() } else { plain.trim_matches('-').to_owned() };
    let numbered = (2..).map(|number| format!("{plain}-{number}"));
    std::iter::once(plain.clone()).chain(numbered).find(|id| !taken(id)).unwrap_or(plain)
}
