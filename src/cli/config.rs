//! `config.toml`, and how it joins the command line: the option given wins over `[server.NAME]` over the top level.

mod approver;
pub mod console;
mod role;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::args::{Unattended, WrapOptions};
use crate::behavior::conclude::Trust;
use crate::behavior::expected::{Expected, NotExpected};
use crate::cli::error::Error;
use crate::gate::data::opinion::Approver;
use crate::home::places::Places;
use crate::home::policy_file::{self, PolicyPlace, Why};
use crate::home::{duration, name};
use crate::interpose::approver::Callback;
use crate::policy::reading::{Problem, Reading};
use crate::policy::role::Role;

/// How long a held call waits for an answer, unless told otherwise.
pub const APPROVAL_TIMEOUT: Duration = Duration::from_secs(300);

const KEYS: &[&str] = &[
    "name",
    "policy",
    "unattended",
    "approval-timeout",
    "host-timeout",
    "inline",
    "observe",
    "audit-db",
    "trust",
    "expect",
];
const TOP: &[&str] = &["server", "approver", "console", "roles"];

/// Everything that decides how one server is wrapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrapSettings {
    /// The server's command, never empty.
    pub command: Vec<OsString>,
    /// In rules and tickets, before it is numbered among wrappers of the same name.
    pub name: String,
    pub policy: PolicyPlace,
    pub unattended: Unattended,
    pub approval_timeout: Duration,
    /// `None`: as the table of hosts says.
    pub host_timeout: Option<Duration>,
    pub drawing: Drawing,
    pub mode: Mode,
    pub audit_db: PathBuf,
    pub trust: Trust,
    /// Asked about every call that they are for.
    pub approvers: Vec<(Approver, Callback)>,
    /// What the task expects of every call.
    pub expect: Option<Expected>,
}

/// Whether the wrapper draws the console itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    Never,
    /// On the controlling terminal.
    Inline,
}

/// Whether calls are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Guard,
    /// Everything passes; what would have been asked is recorded.
    Observe,
}

/// What `config.toml` says of wrapping, at one level.
#[derive(Clone, Debug, Default)]
struct Level {
    name: Option<String>,
    policy: Option<PathBuf>,
    unattended: Option<Unattended>,
    approval_timeout: Option<Duration>,
    host_timeout: Option<Duration>,
    inline: Option<bool>,
    observe: Option<bool>,
    audit_db: Option<PathBuf>,
    trust: Option<Trust>,
    expect: Option<Expected>,
}

/// Joins options and `config.toml`.
///
/// # Errors
/// No command was given, or `config.toml` is not to be trusted or has problems; all of them at once.
pub fn settle(options: &WrapOptions, places: &Places) -> Result<WrapSettings, Error> {
    if options.command.is_empty() {
        return Err(Error::Wrong {
            what: "no server command was given".to_owned(),
            hint: "put it after `--`: mcp-approve -- npx -y some-server".to_owned(),
        });
    }
    places.check_config()?;
    let Configured { top, servers, approvers, .. } = load(places)?;
    let called = options.name.clone().unwrap_or_else(|| name::of_command(&options.command));
    let own = servers.into_iter().find(|(name, _)| *name == called).map(|(_, level)| level).unwrap_or_default();
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let policy = options.policy.as_ref().map(absolute).or(own.policy).or(top.policy);
    let observe = options.observe || own.observe.or(top.observe).unwrap_or_default();
    let inline = options.inline || own.inline.or(top.inline).unwrap_or_default();
    Ok(WrapSettings {
        command: options.command.clone(),
        name: options.name.clone().or(own.name).or(top.name).unwrap_or(called),
        policy: policy.map_or_else(|| PolicyPlace::Usual(places.policy_file()), PolicyPlace::Named),
        unattended: options.unattended.or(own.unattended).or(top.unattended).unwrap_or_default(),
        approval_timeout: options
            .approval_timeout
            .or(own.approval_timeout)
            .or(top.approval_timeout)
            .unwrap_or(APPROVAL_TIMEOUT),
        host_timeout: options.host_timeout.or(own.host_timeout).or(top.host_timeout),
        drawing: if inline { Drawing::Inline } else { Drawing::Never },
        mode: if observe { Mode::Observe } else { Mode::Guard },
        audit_db: options
            .audit_db
            .as_ref()
            .map(absolute)
            .or(own.audit_db)
            .or(top.audit_db)
            .unwrap_or_else(|| places.audit_db()),
        trust: own.trust.or(top.trust).unwrap_or_default(),
        approvers,
        expect: options.expect.clone().or(own.expect).or(top.expect),
    })
}

/// Checks `config.toml` without using it.
///
/// # Errors
/// As [`settle`] finds them.
pub fn check(places: &Places) -> Result<(), Error> {
    places.check_config()?;
    load(places)?;
    let path = places.config_file();
    let problems = policy_file::text(&path).map(|text| console::parse(&text).1).unwrap_or_default();
    if problems.is_empty() { Ok(()) } else { Err(Error::Configuration { path, problems }) }
}

/// Every policy file that wrappers read: the one for all of them first.
///
/// # Errors
/// As [`settle`].
pub fn policies(places: &Places) -> Result<Vec<PolicyPlace>, Error> {
    places.check_config()?;
    let Configured { top, servers, .. } = load(places)?;
    let usual = top.policy.map_or_else(|| PolicyPlace::Usual(places.policy_file()), PolicyPlace::Named);
    let own = servers.into_iter().filter_map(|(_, level)| level.policy.map(PolicyPlace::Named));
    let mut places = vec![usual];
    places.extend(own);
    Ok(places)
}

/// The log that wrappers write, unless they are told another one.
///
/// # Errors
/// As [`settle`].
pub fn audit_db(places: &Places) -> Result<PathBuf, Error> {
    places.check_config()?;
    Ok(load(places)?.top.audit_db.unwrap_or_else(|| places.audit_db()))
}

/// The roles of `config.toml`, in its order.
///
/// # Errors
/// As [`settle`].
pub fn roles(places: &Places) -> Result<Vec<Role>, Error> {
    places.check_config()?;
    Ok(load(places)?.roles)
}

/// All of `config.toml`.
#[derive(Debug, Default)]
struct Configured {
    top: Level,
    servers: Vec<(String, Level)>,
    approvers: Vec<(Approver, Callback)>,
    roles: Vec<Role>,
}

fn load(places: &Places) -> Result<Configured, Error> {
    let path = places.config_file();
    let text = match policy_file::text(&path) {
        Ok(text) => text,
        Err(Why::Unreadable(cause)) if cause.kind() == io::ErrorKind::NotFound && path.symlink_metadata().is_err() => {
            return Ok(Configured::default());
        }
        Err(Why::Untrusted(error)) => return Err(error.into()),
        Err(Why::Unreadable(cause)) => return Err(Error::Unreadable { path, cause }),
        Err(why @ (Why::NoText | Why::Problems(_))) => {
            return Err(Error::Unreadable { path, cause: io::Error::other(why.to_string()) });
        }
    };
    parse(&text, places.config_dir()).map_err(|problems| Error::Configuration { path, problems })
}

/// Reads `config.toml`; relative paths in it start at `folder`.
fn parse(text: &str, folder: &Path) -> Result<Configured, Vec<Problem>> {
    let (mut reading, document) = Reading::new(text);
    let mut servers = Vec::new();
    let top = level(&mut reading, document.get_ref(), folder, TOP);
    if let Some(value) = document.get_ref().get("server")
        && let Some(tables) = reading.table(value, "server")
    {
        for (key, value) in tables {
            let called = key.get_ref().to_string();
            if !name::is_name(&called) {
                let what = format!("{called:?} cannot be a server's name");
                reading.problem(key.span(), what, "use 1 to 64 of the characters a-z A-Z 0-9 . _ -");
            }
            if let Some(table) = reading.table(value, "server") {
                servers.push((called, level(&mut reading, table, folder, &[])));
            }
        }
    }
    let approvers = document.get_ref().get("approver");
    let approvers = approvers.map(|value| approver::read_all(&mut reading, value, folder)).unwrap_or_default();
    let roles = document.get_ref().get("roles");
    let roles = roles.map(|value| role::read_all(&mut reading, value)).unwrap_or_default();
    let problems = reading.finish();
    if problems.is_empty() { Ok(Configured { top, servers, approvers, roles }) } else { Err(problems) }
}

/// Reads one level; `besides` are keys that somebody else reads.
fn level(reading: &mut Reading<'_>, table: &DeTable<'_>, folder: &Path, besides: &[&str]) -> Level {
    let mut level = Level::default();
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "name" => level.name = server_name(reading, value),
            "policy" => level.policy = path(reading, value, "policy", folder),
            "unattended" => {
                let words = [("wait", Unattended::Wait), ("deny", Unattended::Deny)];
                level.unattended = reading.word(value, "unattended", &words);
            }
            "approval-timeout" => level.approval_timeout = time(reading, value, "approval-timeout"),
            "host-timeout" => level.host_timeout = time(reading, value, "host-timeout"),
            "inline" => level.inline = reading.switch(value, "inline"),
            "observe" => level.observe = reading.switch(value, "observe"),
            "audit-db" => level.audit_db = path(reading, value, "audit-db", folder),
            "trust" => {
                let words =
                    [("corroborate", Trust::Corroborate), ("annotations", Trust::Annotations), ("none", Trust::None)];
                level.trust = reading.word(value, "trust", &words);
            }
            "expect" => level.expect = expect(reading, value),
            known if besides.contains(&known) => {}
            other => reading.unknown_key(key.span(), other, &[KEYS, besides].concat()),
        }
    }
    level
}

fn server_name(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>) -> Option<String> {
    let text = reading.text(value, "name")?;
    if !name::is_name(&text) {
        let what = format!("`name` cannot be {text:?}");
        reading.problem(value.span(), what, "use 1 to 64 of the characters a-z A-Z 0-9 . _ -");
    }
    Some(text)
}

fn expect(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>) -> Option<Expected> {
    let text = reading.text(value, "expect")?;
    match text.parse() {
        Ok(expected) => Some(expected),
        Err(error) => {
            let error: NotExpected = error;
            reading.problem(value.span(), format!("`expect` cannot be {text:?}"), error.to_string());
            None
        }
    }
}

fn time(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>, key: &str) -> Option<Duration> {
    let text = reading.text(value, key)?;
    match duration::parse(&text) {
        Ok(time) => Some(time),
        Err(error) => {
            reading.problem(value.span(), format!("`{key}` cannot be {text:?}"), error.to_string());
            None
        }
    }
}

fn path(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>, key: &str, folder: &Path) -> Option<PathBuf> {
    let text = reading.text(value, key)?;
    if text.is_empty() || text.starts_with('~') {
        let what = format!("`{key}` cannot be {text:?}");
        reading.problem(value.span(), what, "write the whole path, or one that starts at this file's folder");
    }
    Some(folder.join(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(config: &str, options: &WrapOptions) -> WrapSettings {
        let home = tempfile::tempdir().unwrap();
        let places = Places::under(home.path()).unwrap();
        std::fs::create_dir(places.config_dir()).unwrap();
        std::fs::write(places.config_file(), config).unwrap();
        settle(options, &places).unwrap()
    }

    fn command(words: &str) -> WrapOptions {
        WrapOptions { command: words.split(' ').map(OsString::from).collect(), ..WrapOptions::default() }
    }

    #[test]
    fn without_a_file_the_defaults_stand() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::under(home.path()).unwrap();
        let settings = settle(&command("npx -y @a/mcp-notes"), &places).unwrap();
        assert_eq!(settings.name, "notes");
        assert_eq!(settings.policy, PolicyPlace::Usual(places.policy_file()));
        assert_eq!(settings.audit_db, places.audit_db());
        assert_eq!(settings.approval_timeout, APPROVAL_TIMEOUT);
        assert_eq!((settings.unattended, settings.host_timeout), (Unattended::Wait, None));
        assert_eq!(
            (settings.drawing, settings.mode, settings.trust),
            (Drawing::Never, Mode::Guard, Trust::Corroborate)
        );
        assert!(settle(&WrapOptions::default(), &places).is_err(), "no command");
    }

    #[test]
    fn the_option_wins_over_the_server_over_the_top() {
        let config = "approval-timeout = \"1m\"\nhost-timeout = \"2m\"\nunattended = \"deny\"\nobserve = true\n\
            [server.notes]\napproval-timeout = \"3m\"\npolicy = \"notes.toml\"\nobserve = false\ntrust = \"none\"\n\
            [server.other]\nhost-timeout = \"9h\"\n";
        let mut options = command("notes-mcp-server");
        options.host_timeout = Some(Duration::from_secs(4));
        let settings = settled(config, &options);
        assert_eq!(settings.approval_timeout, Duration::from_secs(180));
        assert_eq!(settings.host_timeout, Some(Duration::from_secs(4)));
        assert_eq!(settings.unattended, Unattended::Deny);
        assert_eq!((settings.mode, settings.trust), (Mode::Guard, Trust::None));
        assert!(matches!(&settings.policy, PolicyPlace::Named(path) if path.ends_with("config/notes.toml")));
        options.name = Some("else".to_owned());
        let settings = settled(config, &options);
        assert_eq!(settings.approval_timeout, Duration::from_secs(60));
        assert_eq!(settings.mode, Mode::Observe);
    }

    #[test]
    fn every_problem_at_once() {
        let text = "unattended = \"hope\"\napproval_timeout = \"1m\"\nhost-timeout = \"60\"\ninline = 1\n\
            policy = \"~/p.toml\"\n[server.\"a b\"]\ntrust = \"all\"\n[server.c]\nserver = 1\n";
        let problems = parse(text, Path::new("/c")).unwrap_err();
        let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(found.join("\n"), @r#"
        1:14: `unattended` cannot be "hope"; one of: wait, deny
        2:1: unknown key "approval_timeout"; did you mean `approval-timeout`?
        3:16: `host-timeout` cannot be "60"; write a whole number and its unit, like 500ms, 60s, 5m or 1h
        4:10: `inline` is of type integer; write true or false
        5:10: `policy` cannot be "~/p.toml"; write the whole path, or one that starts at this file's folder
        6:9: "a b" cannot be a server's name; use 1 to 64 of the characters a-z A-Z 0-9 . _ -
        7:9: `trust` cannot be "all"; one of: corroborate, annotations, none
        9:1: unknown key "server"; did you mean `observe`?
        "#);
    }
}
