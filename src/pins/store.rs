//! The pins on disk: opens `pins.db`, reads what is known of a server that starts, keeps what its tools are. One of two
//! doors to SQLite: the audit's has no update and no delete, and this one needs both.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Row, TransactionBehavior};

use super::columns::{FORMER, PIN, arguments, changed, pin, words};
use super::launch::{self, Counts, Launch, Part};
use crate::audit::place;
use crate::behavior::{Agreements, Identity, Trust, hazards::lookalike};
use crate::gate::data::pin::{AddedIn, Other, Pin, PinUpdate, Pins, PinsArrival, UpdateKind};
use crate::mcp::Tool;
use crate::wire::Digest;

const SCHEMA: &str = concat!(include_str!("../../assets/pins.sql"), include_str!("../../assets/agreed.sql"));
const VERSION: i64 = 5;
/// For how many milliseconds sessions count as the server's first: a host may start a server several times at once.
const START: i64 = 60_000;
/// From version 1 to 2, and so on.
const UPGRADES: [&str; 4] = [
    "ALTER TABLE tool ADD COLUMN added INTEGER NOT NULL DEFAULT 0;",
    "ALTER TABLE server ADD COLUMN words TEXT;",
    include_str!("../../assets/agreed.sql"),
    "DROP TABLE IF EXISTS words;",
];
/// `mcpp`, so that another program's database is distinguished from ours.
const APPLICATION: i64 = 0x6d63_7070;
/// How long to wait while another wrapper writes.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug, thiserror::Error)]
pub enum PinsError {
    #[error("{} cannot be used: {why}", path.display())]
    Unusable { path: PathBuf, why: String },
    #[error("{} has format {found}; this program knows another", path.display())]
    Version { path: PathBuf, found: i64 },
    #[error("other processes keep writing to {}", path.display())]
    Busy { path: PathBuf },
}

impl PinsError {
    pub fn hint(&self) -> String {
        match self {
            Self::Unusable { path, .. } => format!(
                "make it a file of your own that you may write; or move {} away, and review every server again",
                path.display()
            ),
            Self::Version { path, .. } => format!(
                "use the version of mcp-approve that wrote it, or move {} away, and review every server again",
                path.display()
            ),
            Self::Busy { path } => format!("try again; or see what has {} open, and end it", path.display()),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its files with their digests, one a line.
    files: String,
    /// When a tool was added that is not remembered yet.
    added_in: AddedIn,
}

#[derive(Debug)]
pub struct PinStore {
    pub(super) db: Connection,
    path: PathBuf,
}

impl PinStore {
    /// Opens the pins, and makes them where there are none.
    pub fn open(path: &Path) -> Result<Self, PinsError> {
        // Made with the right mode before SQLite writes into it.
        if !path.exists()
            && let Err(error) = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
            && error.kind() != ErrorKind::AlreadyExists
        {
            return Err(PinsError::Unusable { path: path.into(), why: error.to_string() });
        }
        Self::connect(path)
    }

    pub fn open_existing(path: &Path) -> Result<Option<Self>, PinsError> {
        if path.symlink_metadata().is_err() { Ok(None) } else { Self::connect(path).map(Some) }
    }

    fn connect(path: &Path) -> Result<Self, PinsError> {
        let unusable = |why: String| PinsError::Unusable { path: path.into(), why };
        place::open_own(path).map_err(|error| unusable(error.to_string()))?;
        let flags =
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let path_buf = path.canonicalize().map_err(|error| unusable(error.to_string()))?;
        let db = Connection::open_with_flags(path_buf, flags).map_err(|error| unusable(error.to_string()))?;
        let mut store = Self { db, path: path.into() };
        let found = store.prepare().map_err(|error| store.fault(&error))?;
        if found == (APPLICATION, VERSION) {
            Ok(store)
        } else if found.0 == APPLICATION {
            Err(PinsError::Version { path: path.into(), found: found.1 })
        } else {
            Err(unusable("it is a database of another program".to_owned()))
        }
    }

    /// Makes the tables in an empty database; returns what its header then holds.
    fn prepare(&mut self) -> rusqlite::Result<(i64, i64)> {
        self.db.busy_timeout(PATIENCE)?;
        let header = |db: &Connection| -> rusqlite::Result<(i64, i64)> {
            let read = |name: &str| db.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
            Ok((read("application_id")?, read("user_version")?))
        };
        if header(&self.db)? == (0, 0) {
            // The tables are many and small: with small pages, a first start writes little.
            self.db.pragma_update(None, "page_size", 1024)?;
            self.db.pragma_update(None, "journal_mode", "WAL")?;
            let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let tables: i64 = change.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            // Another wrapper may have done this meanwhile.
            if tables == 0 {
                change.execute_batch(SCHEMA)?;
                change.pragma_update(None, "application_id", APPLICATION)?;
                change.pragma_update(None, "user_version", VERSION)?;
            }
            change.commit()?;
        }
        for (from, upgrade) in (1..).zip(UPGRADES) {
            if header(&self.db)? == (APPLICATION, from) {
                let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
                // Another wrapper may have done this meanwhile.
                if header(&change)? == (APPLICATION, from) {
                    change.execute_batch(upgrade)?;
                    change.pragma_update(None, "user_version", from + 1)?;
                }
                change.commit()?;
            }
        }
        self.db.pragma_update(None, "synchronous", "NORMAL")?;
        header(&self.db)
    }

    /// A server is being started: returns what is remembered of it. `now` is milliseconds since 1970, UTC.
    pub fn greet(&mut self, launch: &Launch, now: i64) -> Result<(Pins, Program), PinsError> {
        let first = "SELECT min(first_seen) FROM tool WHERE fingerprint = ?1";
        let added_in = match self.db.query_row(first, [launch.fingerprint.to_string()], |row| row.get(0)) {
            Ok(None) => AddedIn::FirstSession,
            Ok(Some(first)) if now.saturating_sub(first) < START => AddedIn::FirstSession,
            Ok(Some::<i64>(_)) | Err(_) => AddedIn::LaterSession,
        };
        let environment = launch::environment(std::env::vars_os());
        let files = [self.program(&launch.parts())].into_iter().chain(environment).filter(|line| !line.is_empty());
        let program = Program { files: files.collect::<Vec<_>>().join("\n"), added_in };
        Ok((self.load(launch, &program)?, program))
    }

    /// The server has answered: notes how it was started, and with what program. One that never answers is not remembered.
    ///
    /// The first command line under a name is trusted as it is, and so are its files; a later one waits for a review.
    pub fn note(&mut self, launch: &Launch, program: &Program, trust: Trust, now: i64) -> Result<(), PinsError> {
        self.write(|change| {
            let Launch { fingerprint, name, shown, package, words, .. } = launch;
            let (fingerprint, words) = (fingerprint.to_string(), serde_json::Value::from(words.as_slice()).to_string());
            let trusted = is_new(change, name)?.then_some(&program.files);
            let mut insert = change.prepare(
                "INSERT INTO server
                     (fingerprint, name, command, package, trust, program, trusted, first_seen, last_seen, words)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)
                 ON CONFLICT DO UPDATE SET package = ?4, trust = ?5, program = ?6, last_seen = ?8, words = ?9",
            )?;
            let values = (fingerprint, name, shown, package, trust.word(), &program.files, trusted, now, words);
            insert.execute(values).map(drop)
        })
    }

    /// What is remembered of a server that runs this program.
    pub fn load(&self, launch: &Launch, program: &Program) -> Result<Pins, PinsError> {
        self.read(|db| {
            let fingerprint = launch.fingerprint.to_string();
            let noted = db.query_row(
                "SELECT trusted FROM server WHERE fingerprint = ?1 AND name = ?2",
                (&fingerprint, &launch.name),
                |row| row.get::<_, Option<String>>(0),
            );
            let trusted = match noted.optional()? {
                Some(trusted) => trusted,
                // As [`Self::note`] will do: the first command line under a name is trusted as it is.
                None => is_new(db, &launch.name)?.then(|| program.files.clone()),
            };
            let former = match trusted {
                Some(_) => Vec::new(),
                None => db.query_row(
                    &format!("SELECT {FORMER} FROM (SELECT ?1 AS name) AS server"),
                    [&launch.name],
                    |row| words(row, 0),
                )?,
            };
            let mut tools = HashMap::new();
            let mut rows = db.prepare(&format!(
                "SELECT tool.name, {PIN}, definition.text FROM tool
                 LEFT JOIN definition ON definition.digest = tool.trusted WHERE fingerprint = ?1"
            ))?;
            let row = |row: &Row<'_>| Ok((row.get(0)?, pin(row, 1)?, row.get(9)?));
            for row in rows.query_map([&fingerprint], row)? {
                let (name, mut pin, trusted): (String, Pin, Option<String>) = row?;
                pin.sense = trusted.and_then(|text| Some(Tool::read(serde_json::from_str(&text).ok()?)?.sense()));
                tools.insert(name, pin);
            }
            let mut others: HashMap<String, Vec<Other>> = HashMap::new();
            let mut rows = db.prepare(
                "SELECT tool.shape, server.name, tool.name, tool.first_seen FROM tool JOIN server USING (fingerprint)
                 WHERE fingerprint <> ?1 AND server.name <> ?2",
            )?;
            let row = |row: &Row<'_>| {
                Ok((row.get(0)?, Other { server: row.get(1)?, tool: row.get(2)?, first_seen: row.get(3)? }))
            };
            for row in rows.query_map((&fingerprint, &launch.name), row)? {
                let (shape, other): (String, _) = row?;
                others.entry(shape).or_default().push(other);
            }
            let package = launch.package.as_deref().map(Into::into);
            Ok(Pins {
                package,
                changed: changed(&program.files, trusted.as_deref(), &arguments(&former, &launch.words))
                    .map(Into::into),
                tools,
                others,
                fingerprint: fingerprint.as_str().into(),
                added_in: program.added_in,
                arrival: PinsArrival::Here,
                // What is agreed to counts only with its record, which is not kept here.
                agreed: Agreements::default(),
                signed: Agreements::default(),
                unproven: Vec::new(),
                lapsed: Vec::new(),
                views: views(db)?,
            })
        })
    }

    /// Keeps a definition that is new or changed. The trusted one stays so until a review, or until one that says the same.
    pub fn keep(&mut self, launch: &Launch, update: &PinUpdate, now: i64) -> Result<(), PinsError> {
        self.write(|change| {
            let (tool, pin) = (&update.tool, &update.pin);
            let former = match update.kind {
                UpdateKind::Replaces(former) => Some(former),
                UpdateKind::Seen => None,
            };
            change.execute(
                "INSERT INTO tool
                     (fingerprint, name, shape, version, latest, trusted, identity, added, first_seen, last_seen)
                 VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?8, ?7, ?7)
                 ON CONFLICT DO UPDATE SET version = version + (latest <> ?4), latest = ?4, last_seen = ?7,
                     -- It says the same as this one, which others may have replaced or refused in the meantime.
                     trusted = iif(trusted = ?9, ?4, trusted)",
                (
                    launch.fingerprint.to_string(),
                    &tool.name,
                    lookalike::shape(&tool.name),
                    pin.latest.to_string(),
                    pin.trusted.map(|digest| digest.to_string()),
                    pin.identity.map(|identity| identity.to_string()),
                    now,
                    pin.added_in == AddedIn::LaterSession,
                    former.map(|digest| digest.to_string()),
                ),
            )?;
            let definition = (pin.latest.to_string(), tool.definition.to_string());
            change.execute("INSERT OR IGNORE INTO definition (digest, text) VALUES (?1, ?2)", definition).map(drop)
        })
    }

    /// A number that rises when another process has written.
    pub fn generation(&self) -> Result<i64, PinsError> {
        self.read(|db| db.query_row("PRAGMA data_version", [], |row| row.get(0)))
    }

    /// The files of a program with their digests, one a line. A file that has not changed is not read again.
    fn program(&self, parts: &[Part]) -> String {
        let line = |part: &Part| match part.counts {
            Counts::Place => part.path.display().to_string(),
            Counts::Content => {
                let digest = self.digest(&part.path).unwrap_or_else(|error| format!("unreadable: {error}"));
                format!("{} {digest}", part.path.display())
            }
        };
        parts.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn digest(&self, path: &Path) -> std::io::Result<String> {
        let (name, stamp) = (path.display().to_string(), launch::stamp(path)?);
        let known = "SELECT digest FROM file WHERE path = ?1 AND stamp = ?2";
        if let Ok(known) = self.db.query_row(known, (&name, &stamp), |row| row.get(0)) {
            return Ok(known);
        }
        let digest = launch::digest(path)?;
        // A failure costs only time at the next start.
        let _ = self.db.execute("INSERT OR REPLACE INTO file VALUES (?1, ?2, ?3)", (&name, &stamp, &digest));
        Ok(digest)
    }

    /// Reads, with an error of this file's own.
    pub(super) fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, PinsError> {
        read(&self.db).map_err(|error| self.fault(&error))
    }

    /// Writes in one transaction, with an error of this file's own. The file's time is then that of the change.
    pub(super) fn write(&mut self, write: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), PinsError> {
        let written = || {
            let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            write(&change)?;
            change.commit()
        };
        written().map_err(|error| self.fault(&error))?;
        // SQLite writes beside the file first. Wrappers that sleep watch the file alone.
        let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        // The file was written, so it is ours.
        let _ = rustix::fs::utimensat(CWD, &self.path, &times, AtFlags::empty());
        Ok(())
    }

    /// Moves what SQLite has written beside the file into it, where no reader is in the way.
    pub fn checkpoint(&self) -> Result<(), PinsError> {
        self.read(|db| db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())))
    }

    pub(super) fn fault(&self, error: &rusqlite::Error) -> PinsError {
        let path = self.path.clone();
        match error.sqlite_error_code() {
            // The last occurs when many wrappers open a new file at once.
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
                PinsError::Busy { path }
            }
            _ => PinsError::Unusable { path, why: error.to_string() },
        }
    }
}

fn is_new(db: &Connection, name: &str) -> rusqlite::Result<bool> {
    let known = db.query_row("SELECT 1 FROM server WHERE name = ?1 LIMIT 1", [name], |_| Ok(()));
    Ok(known.optional()?.is_none())
}

/// What outside classifiers say of definitions, where one of them differs from us.
pub(super) fn views(db: &Connection) -> rusqlite::Result<HashMap<Digest, Vec<Identity>>> {
    // The first view that is kept creates the table.
    if !db.table_exists(None, "view")? {
        return Ok(HashMap::new());
    }
    let mut rows = db.prepare("SELECT digest, says FROM view")?;
    let rows = rows.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    let rows: Vec<(String, String)> = rows.collect::<Result<_, _>>()?;
    let says = |says: &str| says.split(' ').filter_map(|one| one.parse().ok()).collect();
    Ok(rows.into_iter().filter_map(|(digest, text)| Some((digest.parse().ok()?, says(&text)))).collect())
}
