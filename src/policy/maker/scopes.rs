//! Which parts of a call a rule could hold on to: all arguments, a folder, an address, a few names. Owns no rule text
//! but its conditions.

use serde_json::{Map, Value};

use crate::policy::glob::escaped;
use crate::policy::holds::Holds;
use crate::policy::under::{Folder, Roots, absolute};
use crate::policy::written;
use crate::wire::fields::in_pointer;

/// What a made rule covers, said as data; the server, the tool and what the call is are always part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Calls with exactly these arguments.
    ThisCall,
    /// Calls whose arguments of these names have the same values.
    Same(Vec<String>),
    /// Calls whose arguments of these names are paths in this folder.
    Under { names: Vec<String>, folder: String },
    /// Calls whose argument of this name is an address that begins with this.
    Address { name: String, start: String },
    /// Every call of the tool.
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

/// Arguments that say whose thing it is about.
const NAMING: &[&str] = &[
    "owner", "repo", "repository", "org", "organization", "project", "project_id", "workspace", "team", "database",
    "db", "schema", "table", "collection", "bucket", "namespace", "cluster", "context", "host", "hostname", "branch",
    "channel", "channel_id", "calendar", "calendarid", "service", "environment", "env", "region", "account", "mailbox",
    "list_id", "board", "boardid", "space", "index", "topic", "queue", "repo_path",
];
/// The longest text that a rule compares whole, in bytes, apart from a whole call.
const LONGEST: usize = 200;
/// The longest call that is pinned whole, in bytes of its conditions.
const LONGEST_CALL: usize = 8 * 1024;
/// How many folders above the nearest are offered.
const ABOVE: usize = 2;

/// Every scope with its conditions, the narrowest first.
pub(super) fn of(tool: &str, arguments: &Map<String, Value>, roots: &Roots) -> Vec<(Scope, Vec<String>)> {
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
        is_short(value) && value.is_string() && NAMING.contains(&name.to_lowercase().as_str())
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

/// The deepest folder above both.
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
