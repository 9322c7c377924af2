//! `config.toml`, and how it joins the command line: an option wins over `[server.NAME]`, and that over the top level.

pub mod approver;
mod carried;
mod role;
pub mod value;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::de::DeTable;

pub use carried::{CarriedRole, carried_roles, role_objects, with_role, written_roles};

use crate::behavior::{Trust, expected::Expected};
use crate::capability::{schema::Mismatch, scope::Listed};
use crate::gate::{Discover, ForwardOrder, Mode, Polling, Unattended, data::facts::Approver};
use crate::home::config::approver::{Callback, Notify};
use crate::home::config::value::{check_name, duration, mismatch, parsed, path};
use crate::home::name;
use crate::home::places::{PlaceError, Places};
use crate::home::policy_file::{self, PolicyPlace, Why};
use crate::policy::reading::{Problem, Reading};
use crate::policy::role::{Role, ToolProfile};
use crate::policy::{Glob, Scope, scope::Limit};

/// How long a held call waits for an answer, unless a level says otherwise.
pub const APPROVAL_TIMEOUT: Duration = Duration::from_secs(300);

const KEYS: &[&str] = &[
    "name", "policy", "scope", "role", "discover", "unattended", "approval-timeout", "host-timeout", "ordered",
    "tasks", "inline", "observe", "audit-db", "trust", "expect", "schema",
];
const TOP: &[&str] = &["server", "approver", "notify", "console", "roles", "tools", "allow-unwrapped", "desk"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrapSettings {
    /// The server's name in rules and tickets, without the number that tells wrappers of one name apart.
    pub name: String,
    pub policy: PolicyPlace,
    /// What the wrapper may use, by its scope file and its role.
    pub scope: Scope,
    /// Whether the agent searches for tools.
    pub discover: Discover,
    pub unattended: Unattended,
    pub approval_timeout: Duration,
    /// `None`: as the table of hosts says.
    pub host_timeout: Option<Duration>,
    pub order: ForwardOrder,
    pub polling: Polling,
    pub drawing: Drawing,
    pub mode: Mode,
    pub audit_db: PathBuf,
    pub trust: Trust,
    pub approvers: Vec<(Approver, Callback)>,
    pub notify: Option<Notify>,
    /// What the task expects of every call.
    pub expect: Option<Expected>,
    pub mismatch: Mismatch,
    pub notices: Notices,
}

/// Whether the wrapper draws the console itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    Never,
    /// On the controlling terminal.
    Inline,
}

/// Whether a wrapper says on the desktop that a call waits while no console is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notices {
    Off,
    /// If the operator sits at this desktop.
    #[default]
    Auto,
    Desktop,
}

impl Notices {
    /// What `[console]` says. If the operator has chosen another kind of notice, this one is off.
    fn of(document: &DeTable<'_>) -> Self {
        let console = document.get("console").and_then(|value| value.get_ref().as_table());
        let of = |key: &str| console.and_then(|console| console.get(key)).map(|value| value.get_ref());
        match of("notice").map(|value| value.as_str()) {
            _ if of("quiet").and_then(|value| value.as_bool()) == Some(true) => Self::Off,
            None | Some(Some("auto")) => Self::Auto,
            Some(Some("desktop")) => Self::Desktop,
            Some(_) => Self::Off,
        }
    }
}

/// What one level says of wrapping: command line, `[server.NAME]` or top of `config.toml`. `None` leaves it to the next.
#[derive(Clone, Debug, Default)]
pub struct Level {
    pub name: Option<String>,
    pub policy: Option<PathBuf>,
    /// The file that lists the tools that may be used.
    pub scope: Option<PathBuf>,
    /// The role whose capabilities may be used.
    pub role: Option<String>,
    pub discover: Option<bool>,
    pub unattended: Option<Unattended>,
    pub approval_timeout: Option<Duration>,
    pub host_timeout: Option<Duration>,
    pub ordered: Option<bool>,
    pub tasks: Option<bool>,
    pub inline: Option<bool>,
    pub observe: Option<bool>,
    pub audit_db: Option<PathBuf>,
    pub trust: Option<Trust>,
    pub expect: Option<Expected>,
    pub mismatch: Option<Mismatch>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("{} cannot be read: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("{} has errors:{}", path.display(), listed(path, problems))]
    Problems { path: PathBuf, problems: Vec<Problem> },
    #[error("the scope {} {why}", path.display())]
    Scope { path: PathBuf, why: String },
    #[error("no role is called {name}")]
    Role { name: String, known: Vec<String> },
}

impl ConfigError {
    pub fn hint(&self) -> String {
        match self {
            Self::Place(error) => error.hint(),
            Self::Unreadable { .. } => "check the path, and that you may read the file".to_owned(),
            Self::Scope { .. } => {
                "give a JSON array of tool names, or the server's answer to tools/list, in a file that only you can write"
                    .to_owned()
            }
            Self::Role { known, .. } => format!(
                "one of: {}; another is written in config.toml: [roles.reader] and below it capabilities = [\"*:read\"]",
                known.join(", ")
            ),
            Self::Problems { .. } => {
                "fix the lines above, or move the file away: every key has a default, see `mcp-approve help config`"
                    .to_owned()
            }
        }
    }
}

fn listed(path: &Path, problems: &[Problem]) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    problems.iter().map(|problem| format!("\n  {file}:{problem}")).collect()
}

impl Level {
    /// This level, and the next one for what this one leaves open.
    #[must_use]
    fn or(self, next: Self) -> Self {
        macro_rules! each {
            ($($field:ident)*) => { Self { $($field: self.$field.or(next.$field)),* } };
        }
        each!(name policy scope role discover unattended approval_timeout host_timeout ordered tasks inline observe audit_db trust expect mismatch)
    }
}

/// Joins what the command line says with `config.toml`, for the server that `command` starts.
pub fn settle(command: &[OsString], given: Level, places: &Places) -> Result<WrapSettings, ConfigError> {
    let Config { top, servers, approvers, notify, roles, tools, notices, .. } = load(places)?;
    let called = given.name.clone().unwrap_or_else(|| name::of_command(command));
    let own = servers.into_iter().find(|(name, _)| *name == called).map(|(_, level)| level).unwrap_or_default();
    let level = given.or(own).or(top);
    Ok(WrapSettings {
        name: level.name.unwrap_or(called),
        policy: policy_place(level.policy, places),
        scope: scope(level.scope, level.role, roles)?,
        discover: if level.discover == Some(true) { Discover::On { profiles: tools } } else { Discover::Off },
        unattended: level.unattended.unwrap_or_default(),
        approval_timeout: level.approval_timeout.unwrap_or(APPROVAL_TIMEOUT),
        host_timeout: level.host_timeout,
        order: if level.ordered == Some(true) { ForwardOrder::Sent } else { ForwardOrder::Decided },
        polling: if level.tasks == Some(true) { Polling::Declared } else { Polling::Never },
        drawing: if level.inline == Some(true) { Drawing::Inline } else { Drawing::Never },
        mode: if level.observe == Some(true) { Mode::Observe } else { Mode::Enforce },
        audit_db: level.audit_db.unwrap_or_else(|| places.audit_db()),
        trust: level.trust.unwrap_or_default(),
        approvers,
        notify,
        expect: level.expect,
        mismatch: level.mismatch.unwrap_or_default(),
        notices,
    })
}

/// Checks `config.toml` without using it; `[console]` excepted, which the console reads.
pub fn check(places: &Places) -> Result<(), ConfigError> {
    load(places).map(drop)
}

/// The servers that hosts may start without mcp-approve, by their names in the hosts' files.
pub fn allow_unwrapped(places: &Places) -> Result<Vec<String>, ConfigError> {
    Ok(load(places)?.allow_unwrapped)
}

/// Where the desk of many machines is, and with what it is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeskPlace {
    /// `postgres://ROLE@HOST/DATABASE`; empty where none is named.
    pub url: String,
    /// The file of passwords, as libpq's: `host:port:database:user:password` in each line.
    pub passfile: Option<PathBuf>,
    /// The file of trusted certificates, in PEM; the system's, where it names none.
    pub ca: Option<PathBuf>,
}

/// The desk that `[desk]` names.
pub fn desk(places: &Places) -> Result<DeskPlace, ConfigError> {
    Ok(load(places)?.desk)
}

/// Whose signed sets of a team are offered here, by the names that they sign as; none without `[desk] team`.
pub fn team(places: &Places) -> Result<Vec<String>, ConfigError> {
    Ok(load(places)?.team)
}

/// Every policy file that wrappers read: the one for all of them first.
pub fn policies(places: &Places) -> Result<Vec<PolicyPlace>, ConfigError> {
    let Config { top, servers, .. } = load(places)?;
    let own = servers.into_iter().filter_map(|(_, level)| level.policy.map(PolicyPlace::Named));
    Ok(std::iter::once(policy_place(top.policy, places)).chain(own).collect())
}

/// The log that wrappers write, unless an option names another.
pub fn audit_db(places: &Places) -> Result<PathBuf, ConfigError> {
    Ok(load(places)?.top.audit_db.unwrap_or_else(|| places.audit_db()))
}

/// The role of this name: a built-in one, or one of `config.toml`.
pub fn role(places: &Places, name: &str) -> Result<Role, ConfigError> {
    find_role(load(places)?.roles, name)
}

pub fn tools(places: &Places) -> Result<Vec<ToolProfile>, ConfigError> {
    Ok(load(places)?.tools)
}

/// The roles of a text of `config.toml`, the built-in ones too; or every problem that the text has.
pub fn roles_of(text: &str, places: &Places) -> Result<Vec<Role>, Vec<Problem>> {
    parse(text, places.config_dir()).map(|config| config.roles)
}

fn find_role(roles: Vec<Role>, name: &str) -> Result<Role, ConfigError> {
    let known = roles.iter().map(|role| role.name.clone()).collect();
    let found = roles.into_iter().find(|role| role.name == name);
    found.ok_or_else(|| ConfigError::Role { name: name.to_owned(), known })
}

/// What lies within the scope file and the role; everything without either. An unreadable file stops the wrapper.
fn scope(file: Option<PathBuf>, role: Option<String>, roles: Vec<Role>) -> Result<Scope, ConfigError> {
    let mut scope = Scope::default();
    if let Some(path) = file {
        let listed = policy_file::text(&path).map_err(|why| why.to_string()).and_then(|text| listed_tools(&text));
        scope = Scope::of(Limit::Listed(listed.map_err(|why| ConfigError::Scope { path, why })?));
    }
    match role {
        Some(name) => Ok(scope.meet(Scope::of(Limit::Role(find_role(roles, &name)?)))),
        None => Ok(scope),
    }
}

fn listed_tools(text: &str) -> Result<Listed, String> {
    let listed = Listed::read(text).map_err(|error| format!("cannot be used: {error}"))?;
    if let Some(glob) = listed.resources().find(|glob| Glob::new(glob).is_err()) {
        return Err(format!("cannot be used: `resources` cannot hold {glob:?}, since it is not a glob"));
    }
    Ok(listed)
}

fn policy_place(named: Option<PathBuf>, places: &Places) -> PolicyPlace {
    named.map_or_else(|| PolicyPlace::own(places), PolicyPlace::Named)
}

/// All of `config.toml`; of `[console]`, which the console reads and checks, only whether notices are wanted.
#[derive(Debug)]
struct Config {
    top: Level,
    servers: Vec<(String, Level)>,
    approvers: Vec<(Approver, Callback)>,
    notify: Option<Notify>,
    roles: Vec<Role>,
    tools: Vec<ToolProfile>,
    notices: Notices,
    allow_unwrapped: Vec<String>,
    desk: DeskPlace,
    team: Vec<String>,
}

fn load(places: &Places) -> Result<Config, ConfigError> {
    places.check_config()?;
    let path = places.config_file();
    match policy_file::text(&path) {
        Ok(text) => parse(&text, places.config_dir()).map_err(|problems| ConfigError::Problems { path, problems }),
        Err(Why::Unreadable(cause)) if cause.kind() == io::ErrorKind::NotFound && path.symlink_metadata().is_err() => {
            // The same as an empty file, which can always be parsed.
            parse("", places.config_dir()).map_err(|problems| ConfigError::Problems { path, problems })
        }
        Err(Why::Untrusted(error)) => Err(error.into()),
        Err(Why::Unreadable(cause)) => Err(ConfigError::Unreadable { path, cause }),
        Err(why @ (Why::NoText | Why::Program | Why::Problems(_))) => {
            Err(ConfigError::Unreadable { path, cause: io::Error::other(why.to_string()) })
        }
    }
}

/// Reads `config.toml`; relative paths in it start at `folder`.
fn parse(text: &str, folder: &Path) -> Result<Config, Vec<Problem>> {
    let (mut reading, document) = Reading::new(text);
    let document = document.get_ref();
    let top = level(&mut reading, document, folder, TOP);
    let mut servers = Vec::new();
    let tables = document.get("server").and_then(|value| reading.table(value, "server"));
    for (key, value) in tables.into_iter().flatten() {
        let called = key.get_ref().to_string();
        check_name(&mut reading, key.span(), &called, || format!("{called:?} cannot be a server's name"));
        if let Some(table) = reading.table(value, "server") {
            servers.push((called, level(&mut reading, table, folder, &[])));
        }
    }
    let approvers = document.get("approver");
    let approvers = approvers.map(|value| approver::read_all(&mut reading, value, folder)).unwrap_or_default();
    let notify = document.get("notify").and_then(|value| approver::read_notify(&mut reading, value, folder));
    let tools = role::tools(&mut reading, document);
    let roles = role::read_all(&mut reading, document, &tools);
    let allowed = document.get("allow-unwrapped").map(|value| reading.texts(value, "allow-unwrapped"));
    let allow_unwrapped = allowed.into_iter().flatten().map(|(_, name)| name).collect();
    let desk = document.get("desk").and_then(|value| reading.table(value, "desk"));
    let team = desk.and_then(|table| table.get("team")).map(|value| reading.texts(value, "team"));
    let team = team.into_iter().flatten().map(|(_, name)| name).collect();
    let desk = desk.map(|table| desk_place(&mut reading, table, folder)).unwrap_or_default();
    let problems = reading.finish();
    if problems.is_empty() {
        let notices = Notices::of(document);
        Ok(Config { top, servers, approvers, notify, roles, tools, notices, allow_unwrapped, desk, team })
    } else {
        Err(problems)
    }
}

fn desk_place(reading: &mut Reading<'_>, table: &DeTable<'_>, folder: &Path) -> DeskPlace {
    let mut desk = DeskPlace::default();
    for (key, value) in table {
        match key.get_ref().as_ref() {
            name @ "url" => desk.url = reading.text(value, name).unwrap_or_default(),
            name @ "passfile" => desk.passfile = path(reading, value, name, folder),
            name @ "ca" => desk.ca = path(reading, value, name, folder),
            "team" => {}
            other => reading.unknown_key(key.span(), other, &["url", "passfile", "ca", "team"]),
        }
    }
    desk
}

/// Reads one level; `besides` are keys that are read elsewhere.
fn level(reading: &mut Reading<'_>, table: &DeTable<'_>, folder: &Path, besides: &[&str]) -> Level {
    let mut level = Level::default();
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        match name {
            "name" => {
                level.name = reading.text(value, name);
                if let Some(text) = &level.name {
                    check_name(reading, value.span(), text, || format!("`name` cannot be {text:?}"));
                }
            }
            "policy" => level.policy = path(reading, value, name, folder),
            "scope" => level.scope = path(reading, value, name, folder),
            "role" => level.role = reading.text(value, name),
            "discover" => level.discover = reading.switch(value, name),
            "unattended" => {
                let words = [("wait", Unattended::Wait), ("deny", Unattended::Deny), ("elicit", Unattended::Elicit)];
                level.unattended = reading.word(value, name, &words);
            }
            "approval-timeout" => level.approval_timeout = parsed(reading, value, name, duration),
            "host-timeout" => level.host_timeout = parsed(reading, value, name, duration),
            "ordered" => level.ordered = reading.switch(value, name),
            "tasks" => level.tasks = reading.switch(value, name),
            "inline" => level.inline = reading.switch(value, name),
            "observe" => level.observe = reading.switch(value, name),
            "audit-db" => level.audit_db = path(reading, value, name, folder),
            "trust" => level.trust = reading.word(value, name, Trust::WORDS),
            "expect" => level.expect = parsed(reading, value, name, str::parse),
            "schema" => level.mismatch = mismatch(reading, value, name),
            known if besides.contains(&known) => {}
            other => reading.unknown_key(key.span(), other, &[KEYS, besides].concat()),
        }
    }
    level
}
