//! Rules made from a call: scopes from "this exact call" to "this tool", as text to be written. Writes nothing.
//!
//! [`proposals`] gives the scopes, the narrowest first. Each rule is read back and matches its own call, or it is not offered.

use serde_json::{Map, Value};

use super::decide::Question;
use super::fit::{Fit, Prepared, fit, rules_name};
use super::glob::{Holds, escaped};
use super::parse::parse_at;
use super::rule::{Decision, Policy, Rule};
use super::under::{Folder, Roots, absolute};
use super::written;
use crate::behavior::{Action, HazardKind, words};
use crate::wire::fold::in_pointer;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cannot {
    #[error("no rule can allow a call with the hazard {0}")]
    Hazard(&'static str),
    #[error("the arguments are not known: {0}")]
    Arguments(&'static str),
}

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
/// Errors: [`Cannot`] when no allow may cover it.
pub fn proposals(call: &Question<'_>, roots: &Roots) -> Result<Vec<Proposal>, Cannot> {
    if let Some(hazard) = call.behavior.hazards.iter().find(|hazard| hazard.kind.beyond_any_allow()) {
        return Err(Cannot::Hazard(hazard.kind.word()));
    }
    let Value::Object(arguments) = call.arguments else {
        return Err(Cannot::Arguments("they are not an object"));
    };
    let scopes = scopes_of(call.tool, arguments, roots);
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

    /// What it covers, in the words of its scope; for other requests `this method` stands for `this tool`.
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

/// What a made rule covers, said as data; the server, the tool and what the call is are always part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    ThisCall,
    /// Calls whose arguments of these names have the same values.
    Same(Vec<String>),
    /// Calls whose arguments of these names are paths in this folder.
    Under {
        names: Vec<String>,
        folder: String,
    },
    /// Calls whose argument of this name is an address that begins with this.
    Address {
        name: String,
        start: String,
    },
    ThisTool,
}

impl Scope {
    /// What it covers, in words: `this tool with path under ~/scratch`. Holds foreign text.
    pub fn says(&self) -> String {
        match (self, self.narrowed()) {
            (Self::ThisCall, _) => "this exact call".to_owned(),
            (_, Some(narrowed)) => format!("this tool with {narrowed}"),
            (_, None) => "this tool".to_owned(),
        }
    }

    /// What of the tool's calls it covers: `path under ~/scratch`; `None` where it is all of them, or one. Holds foreign text.
    pub fn narrowed(&self) -> Option<String> {
        match self {
            Self::Same(names) => Some(format!("the same {}", names.join(" and "))),
            Self::Under { names, folder } => Some(format!("{} under {folder}", names.join(" and "))),
            Self::Address { name, start } => Some(format!("{name} at {start}")),
            Self::ThisCall | Self::ThisTool => None,
        }
    }

    /// The word on the command line.
    pub fn word(&self) -> &'static str {
        match self {
            Self::ThisCall => "call",
            Self::Same(_) | Self::Address { .. } => "args",
            Self::Under { .. } => "folder",
            Self::ThisTool => "tool",
        }
    }
}

const NAMING: &str = words::section(include_str!("../../assets/words/objects.txt"), "naming");
/// The longest text that a rule compares whole, in bytes, apart from a whole call.
const LONGEST: usize = 200;
/// The longest call that is pinned whole, in bytes of its conditions.
const LONGEST_CALL: usize = 8 * 1024;
/// How many folders above the nearest are offered.
const ABOVE: usize = 2;

/// Every scope with its conditions, the narrowest first.
pub(super) fn scopes_of(tool: &str, arguments: &Map<String, Value>, roots: &Roots) -> Vec<(Scope, Vec<String>)> {
    let mut found = Vec::new();
    found.extend(exactly(arguments).map(|conditions| (Scope::ThisCall, conditions)));
    found.extend(naming(arguments));
    found.extend(folders(tool, arguments, roots));
    found.extend(addresses(arguments));
    if found.len() <= 1 {
        found.extend(each(arguments));
    }
    found.push((Scope::ThisTool, Vec::new()));
    found
}

fn condition(name: &str, test: &str) -> String {
    // A name that begins with `/` would be read as a pointer.
    let arg = if name.is_empty() || name.starts_with('/') { format!("/{}", in_pointer(name)) } else { name.to_owned() };
    format!("{{ arg = {}, {test} }}", written::text(&arg))
}

fn exactly(arguments: &Map<String, Value>) -> Option<Vec<String>> {
    let equal = |(name, value): (&String, &Value)| Some(condition(name, &format!("eq = {}", written::value(value)?)));
    let mut conditions = arguments.iter().map(equal).collect::<Option<Vec<_>>>()?;
    conditions.push(format!("{{ arg = \"\", len = {} }}", arguments.len()));
    (conditions.iter().map(String::len).sum::<usize>() <= LONGEST_CALL).then_some(conditions)
}

fn same(names: Vec<&String>, arguments: &Map<String, Value>) -> Option<(Scope, Vec<String>)> {
    let equal = |name: &&String| Some(condition(name, &format!("eq = {}", written::value(arguments.get(*name)?)?)));
    let conditions = names.iter().map(equal).collect::<Option<Vec<_>>>()?;
    (!names.is_empty()).then(|| (Scope::Same(names.into_iter().cloned().collect()), conditions))
}

fn is_short(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= LONGEST && !text.contains('\n'),
        Value::Bool(_) | Value::Number(_) => true,
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// All arguments that say whose thing it is about, together.
fn naming(arguments: &Map<String, Value>) -> Option<(Scope, Vec<String>)> {
    let named = |(name, value): &(&String, &Value)| {
        is_short(value) && value.is_string() && words::among(&name.to_lowercase(), NAMING)
    };
    same(arguments.iter().filter(named).map(|(name, _)| name).collect(), arguments)
}

/// Where nothing better is known: each short argument for itself.
fn each(arguments: &Map<String, Value>) -> Vec<(Scope, Vec<String>)> {
    let short = arguments.iter().filter(|(_, value)| is_short(value));
    short.take(4).filter_map(|(name, _)| same(vec![name], arguments)).collect()
}

fn is_path(name: &str, value: &Value) -> bool {
    let Value::String(text) = value else { return false };
    let name = name.to_lowercase();
    let named = ["path", "file", "filename", "dir", "directory", "folder", "source", "destination", "cwd"];
    let is_named = named.iter().any(|known| name == *known) || name.ends_with("path") || name.ends_with("_file");
    text.starts_with('/') || text.starts_with("~/") || (is_named && !text.is_empty() && !text.contains("://"))
}

/// Whether the call itself says that its path is a folder.
fn is_folder(tool: &str, name: &str, path: &str) -> bool {
    let is_word = |word: &str| matches!(word, "dir" | "directory" | "directories" | "folder" | "folders" | "cwd");
    let says = |name: &str| name.to_lowercase().split(|c: char| !c.is_ascii_alphanumeric()).any(is_word);
    path.ends_with('/') || says(tool) || says(name)
}

/// The nearest folder that all path arguments lie in, or that the only one names, and a few above it.
fn folders(tool: &str, arguments: &Map<String, Value>, roots: &Roots) -> Vec<(Scope, Vec<String>)> {
    let paths = arguments.iter().filter(|(name, value)| is_path(name, value));
    let mut whole = None;
    let paths: Vec<(&String, String)> = paths
        .filter_map(|(name, value)| {
            let path = absolute(value.as_str()?, roots)?;
            whole = Some(path.clone()).filter(|_| is_folder(tool, name, value.as_str().unwrap_or_default()));
            Some((name, path))
        })
        .collect();
    let whole = whole.filter(|_| paths.len() == 1);
    let parent = |path: &str| path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
    let nearest = || paths.iter().filter_map(|(_, path)| parent(path)).reduce(|one, other| common(&one, &other));
    let Some(mut folder) = whole.or_else(nearest) else { return Vec::new() };
    let mut found = Vec::new();
    while found.len() <= ABOVE && !is_too_wide(&folder, found.is_empty(), roots) {
        let shown = at_home(&folder, roots);
        let holds = |path: &str| Folder::new(&shown).is_some_and(|folder| folder.holds(path, roots) == Holds::Yes);
        if paths.iter().all(|(_, path)| holds(path)) {
            let names: Vec<String> = paths.iter().map(|(name, _)| (*name).clone()).collect();
            let test = format!("under = {}", written::text(&shown));
            let conditions = names.iter().map(|name| condition(name, &test)).collect();
            found.push((Scope::Under { names, folder: shown }, conditions));
        }
        let Some(above) = parent(&folder) else { break };
        folder = above;
    }
    found
}

fn common(one: &str, other: &str) -> String {
    let words = one.split('/').zip(other.split('/')).take_while(|(one, other)| one == other);
    words.map(|(word, _)| word).collect::<Vec<_>>().join("/")
}

/// Whether a folder is too wide to offer: the root, a home or a folder above it, a system folder; and, if it is above
/// the nearest folder, whatever lies directly in the root or in a home.
fn is_too_wide(folder: &str, nearest: bool, roots: &Roots) -> bool {
    let home = roots.home.as_deref().unwrap_or("~");
    let holds_home = home == folder || home.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let depth = folder.split('/').filter(|word| !word.is_empty() && *word != "~").count();
    let in_home = folder.strip_prefix(home).map(|rest| rest.split('/').filter(|word| !word.is_empty()).count());
    let shallow = in_home.unwrap_or(depth) < 2;
    let system = ["/etc", "/usr", "/var", "/bin", "/lib", "/opt", "/home", "/Users", "/root"].contains(&folder);
    depth == 0 || holds_home || system || (!nearest && shallow)
}

fn at_home(folder: &str, roots: &Roots) -> String {
    let home = roots.home.as_deref().filter(|home| home.len() > 1);
    match home.and_then(|home| folder.strip_prefix(home)).filter(|rest| rest.starts_with('/')) {
        Some(rest) => format!("~{rest}"),
        None => folder.to_owned(),
    }
}

/// For each address: its scheme and host, up to the slash, so that nothing can be put between them.
fn addresses(arguments: &Map<String, Value>) -> Vec<(Scope, Vec<String>)> {
    let start_of = |value: &Value| {
        let text = value.as_str()?;
        let (scheme, rest) = text.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"))?;
        let (host, _) = rest.split_once('/')?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
        (!host.is_empty() && host.chars().all(plain)).then(|| format!("{scheme}://{host}/"))
    };
    let found = arguments.iter().filter_map(|(name, value)| Some((name, start_of(value)?)));
    let scoped = found.map(|(name, start)| {
        let test = format!("glob = {}", written::text(&format!("{}*", escaped(&start))));
        (Scope::Address { name: name.clone(), start }, vec![condition(name, &test)])
    });
    scoped.collect()
}
