//! What a wrapper hands on: each leaves a record of what it may use in the runtime folder while it runs, and one that is started
//! underneath finds that record by its own ancestors, whatever its environment says (capability lattice, section 4.3). Joins no
//! scopes itself.
//!
//! A process whose parents have all ended has other ancestors. Where the system lets orphans fall to the wrapper (Linux, see
//! `interpose/adopted`) it is still found underneath it; elsewhere it is not.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use serde_json::{Value, json};

use super::error::LinkError;
use super::folder;
use super::peer::{self, Kin};
use crate::policy::scope::Scope;

/// How far up ancestors are followed; deeper families are made to be lost in.
const DEPTH: usize = 64;
/// How often they are followed anew when one of them ends meanwhile.
const ATTEMPTS: usize = 8;
/// The longest record that is read.
const LONGEST: u64 = 64 << 20;

/// What one wrapper may use, and who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub server: String,
    pub session: String,
    /// Its own scope and that of all above it.
    pub scope: Scope,
    /// The wrappers above it, the outermost first, as names for people.
    pub above: Vec<String>,
}

/// A record in its place; it is gone with this.
#[derive(Debug)]
pub struct Handed(PathBuf);

impl Record {
    /// The wrapper and those above it, as names for people: `agents (viewer)`. Foreign text.
    pub fn chain(&self) -> Vec<String> {
        let own = match self.scope.words() {
            Some(scope) => format!("{} ({scope}, session {})", self.server, self.session),
            None => format!("{} (session {})", self.server, self.session),
        };
        self.above.iter().cloned().chain([own]).collect()
    }

    /// This record underneath an outer one: a server writes what it likes for its own number, so that a record only narrows
    /// what those above it leave.
    fn under(self, outer: Self) -> Self {
        let mut above = outer.chain();
        for one in self.above {
            if !above.contains(&one) {
                above.push(one);
            }
        }
        Self { scope: self.scope.meet(outer.scope), above, ..self }
    }

    fn json(&self, pid: u32, started: &str) -> Value {
        json!({
            "version": 1, "pid": pid, "started": started, "server": self.server, "session": self.session,
            "scope": self.scope.json(), "above": self.above,
        })
    }

    /// Reads the record of a process that started then; `None` for one that is none, or another's.
    fn read(value: &Value, pid: u32, started: &str) -> Option<Self> {
        let text = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
        let is_theirs = value.get("version")? == 1 && value.get("pid")? == pid && value.get("started")? == started;
        let above = value.get("above")?.as_array()?.iter().map(|one| Some(one.as_str()?.to_owned()));
        is_theirs.then_some(())?;
        Some(Self {
            server: text("server")?,
            session: text("session")?,
            scope: Scope::read(value.get("scope")?)?,
            above: above.collect::<Option<_>>()?,
        })
    }
}

/// Leaves this process's record for those that will be started underneath it.
///
/// # Errors
/// The folder is not safe, or the record cannot be written: whatever is started underneath then gets nothing.
pub fn hand_on(run: &Path, record: &Record) -> Result<Handed, LinkError> {
    folder::prepare(run)?;
    sweep(run);
    let pid = std::process::id();
    let unusable = |source| LinkError::Unusable { path: run.to_owned(), source };
    let started = peer::kin(pid).map(|kin| kin.started).unwrap_or_default();
    let (draft, place) = (run.join(format!("{pid}.scope.new")), place(run, pid));
    // What a process of the same number left there before it died.
    let _ = fs::remove_file(&draft);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(&draft, flags, Mode::from_raw_mode(0o600)).map_err(|error| unusable(error.into()))?;
    let mut file = fs::File::from(file);
    file.write_all(record.json(pid, &started).to_string().as_bytes()).map_err(unusable)?;
    fs::rename(&draft, &place).map_err(unusable)?;
    Ok(Handed(place))
}

/// What all wrappers above this process leave to it, by the name of the nearest; `None` where there is none. `run_of` is the
/// runtime folder below what `--home` names, or that of the user.
///
/// # Errors
/// Why it is not known, where there is one: then nothing may be used.
pub fn handed_down(run_of: &dyn Fn(Option<&Path>) -> Option<PathBuf>) -> Result<Option<Record>, String> {
    let us = std::process::id();
    let lost =
        || "the processes above this wrapper come and go, so what it may use is not known; start it again".to_owned();
    // An ancestor may end while they are followed; whoever it leaves behind has another parent then.
    (0..ATTEMPTS).find_map(|_| follow(us, run_of)).unwrap_or_else(|| Err(lost()))
}

/// Follows the ancestors once; `None` where one of them has just ended.
fn follow(us: u32, run_of: &dyn Fn(Option<&Path>) -> Option<PathBuf>) -> Option<Result<Option<Record>, String>> {
    let (mut below, mut at) = (us, peer::kin(us)?.parent);
    let mut nearest: Option<Record> = None;
    for _ in 0..DEPTH {
        if at <= 1 {
            return Some(Ok(nearest));
        }
        let Some(kin) = peer::kin(at) else {
            // Still the parent, so it lives: another user's, which this system does not show.
            return (peer::kin(below)?.parent == at).then_some(Ok(nearest));
        };
        match record_of(at, &kin, run_of) {
            Ok(None) => {}
            Ok(Some(outer)) => {
                nearest = Some(match nearest {
                    Some(inner) => inner.under(outer),
                    None => outer,
                });
            }
            Err(why) => return Some(Err(why)),
        }
        (below, at) = (at, kin.parent);
    }
    Some(Err(format!("more than {DEPTH} processes are above this wrapper, so what it may use is not known")))
}

/// The record of one ancestor; `None` where it is no wrapper.
fn record_of(pid: u32, kin: &Kin, run_of: &dyn Fn(Option<&Path>) -> Option<PathBuf>) -> Result<Option<Record>, String> {
    let words = peer::command(pid);
    let home = home_of(&words);
    let place = run_of(home.as_deref()).map(|run| place(&run, pid));
    let why = match place.as_deref().map(text) {
        Some(Ok(text)) => {
            let value = serde_json::from_str(&text).unwrap_or_default();
            match Record::read(&value, pid, &kin.started) {
                Some(record) => return Ok(Some(record)),
                None => "its record is not its own, or of another version".to_owned(),
            }
        }
        Some(Err(error)) => error.to_string(),
        None => "its folder is not known".to_owned(),
    };
    // A record alone may have been left by another process of this number.
    if !wraps(&words) {
        return Ok(None);
    }
    Err(format!(
        "this wrapper was started underneath another (process {pid}), and what that one may use is not known: {why}; \
         restart the outer server in its host"
    ))
}

/// Whether a command line is that of a wrapper.
fn wraps(words: &[String]) -> bool {
    let Some((program, words)) = words.split_first() else { return false };
    let is_ours = |program: &str| {
        Path::new(program).file_name().is_some_and(|name| name.to_string_lossy().starts_with("mcp-approve"))
    };
    let own =
        std::env::args_os().next().is_some_and(|own| Path::new(&own).file_name() == Path::new(program).file_name());
    let given: Vec<&str> = words.iter().map(String::as_str).take_while(|word| *word != "--").collect();
    let behind_home = match given.as_slice() {
        ["--home", _, rest @ ..] => rest,
        rest => rest,
    };
    // Every other command has its name there.
    let is_other = behind_home.first().is_some_and(|word| !word.starts_with('-') && *word != "wrap");
    (own || is_ours(program)) && given.len() < words.len() && !is_other
}

/// What a wrapper's command line names as `--home`.
fn home_of(words: &[String]) -> Option<PathBuf> {
    let mut given = words.iter().skip(1).take_while(|word| *word != "--");
    let mut home = None;
    while let Some(word) = given.next() {
        match word.strip_prefix("--home") {
            Some("") => home = given.next(),
            Some(rest) if rest.starts_with('=') => return rest.get(1..).map(PathBuf::from),
            _ => {}
        }
    }
    home.map(PathBuf::from)
}

fn place(run: &Path, pid: u32) -> PathBuf {
    run.join(format!("{pid}.scope"))
}

/// The text of a record that only this user can have written.
fn text(path: &Path) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file: OwnedFd = rustix::fs::open(path, flags, Mode::empty())?;
    let file = fs::File::from(file);
    let found = file.metadata()?;
    if !found.is_file() || found.uid() != folder::me() || found.mode() & 0o077 != 0 || found.len() > LONGEST {
        return Err(io::Error::other("its record is not a file of this user's alone"));
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// Removes what killed wrappers left.
fn sweep(run: &Path) {
    for entry in fs::read_dir(run).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.split_once(".scope")?.0.parse().ok());
        if pid.is_some_and(|pid: u32| peer::kin(pid).is_none()) {
            // Where it stays it is found to be another's.
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Drop for Handed {
    fn drop(&mut self) {
        // Where it stays it is found to be another's.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use super::{Record, follow, fs, hand_on, home_of, peer, place, record_of, text, wraps};
    use crate::policy::scope::{Limit, Scope};

    fn record() -> Record {
        let scope = Scope::of(Limit::Nothing("a test".into()));
        Record { server: "agents".into(), session: "s1".into(), scope, above: vec!["outer".into()] }
    }

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_record_is_found_while_its_wrapper_lives_and_is_this_users_alone() {
        let run = tempfile::tempdir().unwrap();
        let run = run.path().join("run");
        let us = std::process::id();
        let kin = peer::kin(us).unwrap();
        let run_of = |_: Option<&Path>| Some(run.clone());
        let handed = hand_on(&run, &record()).unwrap();
        assert_eq!(record_of(us, &kin, &run_of), Ok(Some(record())));
        assert_eq!(record().chain(), ["outer", "agents (nothing, session s1)"]);
        assert_eq!(fs::metadata(place(&run, us)).unwrap().permissions().mode() & 0o777, 0o600);
        let other = peer::Kin { started: "another time".into(), ..peer::kin(us).unwrap() };
        assert_eq!(record_of(us, &other, &run_of), Ok(None), "a test is no wrapper");
        fs::set_permissions(place(&run, us), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(text(&place(&run, us)).is_err());
        drop(handed);
        assert!(!place(&run, us).exists());
    }

    #[test]
    fn a_record_that_a_server_wrote_of_itself_widens_nothing() {
        let run = tempfile::tempdir().unwrap();
        let run = run.path().join("run");
        let _handed = hand_on(&run, &record()).unwrap();
        // A server below us, and one below it, which says its number.
        let mut server = Command::new("sh");
        server.args(["-c", "sh -c 'echo $$; read -r end'; :"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = server.spawn().unwrap();
        let mut inner = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut inner).unwrap();
        let inner = inner.trim().parse().unwrap();

        let run_of = |_: Option<&Path>| Some(run.clone());
        assert_eq!(follow(inner, &run_of), Some(Ok(Some(record()))));
        let (own, started) = (place(&run, server.id()), peer::kin(server.id()).unwrap().started);
        let spoofed = Record { server: "x".into(), session: "s2".into(), scope: Scope::default(), above: vec![] };
        fs::write(&own, spoofed.json(server.id(), &started).to_string()).unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o600)).unwrap();
        let found = follow(inner, &run_of).unwrap().unwrap().unwrap();
        assert_eq!((found.scope.clone(), found.above.clone()), (record().scope, record().chain()));
        assert_eq!(found.clone().under(record()), found, "an honest one names those above it already");
        drop(server.stdin.take());
        server.wait().unwrap();
    }

    #[test]
    fn a_wrapper_is_known_by_its_command_line() {
        for (line, is_wrapper) in [
            ("mcp-approve -- npx server", true),
            ("/usr/bin/mcp-approve --role viewer -- npx server", true),
            ("mcp-approve wrap --home=/x -- npx", true),
            ("mcp-approve --home /x -- npx", true),
            ("mcp-approve --name lattice -- npx", true),
            ("mcp-approve lattice caps -- npx server", false),
            ("mcp-approve --home /x lattice caps -- npx server", false),
            ("mcp-approve demo-agent -- mcp-approve -- npx server", false),
            ("mcp-approve demo", false),
            ("node server.js -- x", false),
        ] {
            assert_eq!(wraps(&words(line)), is_wrapper, "{line}");
        }
        assert!(!wraps(&[]));
        assert_eq!(home_of(&words("mcp-approve --home /x -- --home /y")), Some(PathBuf::from("/x")));
        assert_eq!(home_of(&words("mcp-approve --home=/x -- y")), Some(PathBuf::from("/x")));
        assert_eq!(home_of(&words("mcp-approve -- --home /y")), None);
    }
}
