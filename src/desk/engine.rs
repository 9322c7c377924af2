//! One connection to the engine: which URLs are taken, where the password comes from, what is verified, and what wakes it.

use std::fs;
use std::future::poll_fn;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Client, Config, NoTls, Socket};

use super::tls::{self, CertificateError, Tls};
use crate::home::config::DeskPlace;
use crate::home::places::{PlaceError, check_owner};
use crate::wire::Digest;

/// The version of the schema that this program works with.
pub const VERSION: i32 = 1;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);

/// No other role's open transaction holds us up for long, nor does a function that others made in a schema of the database (until PostgreSQL
/// 15 any role may make one in `public`) take the place of one of PostgreSQL's own.
const SESSION: &str = "SET search_path = pg_catalog, pg_temp; \
    SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '60s'";

/// The columns that we read, with their types; what may be null ends with `?`. Whoever owns the tables can change them, and a value of another
/// type must not end a program.
const COLUMNS: &str = include_str!("../../assets/desk_columns.txt");
const CHANGED: &str = "SELECT wanted FROM unnest($1::text[]) AS of (wanted) WHERE NOT EXISTS (
    SELECT FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = 'mcp_approve' AND wanted = format('%s.%s %s%s', relname, attname, atttypid::regtype, CASE WHEN attnotnull THEN '' ELSE '?' END))";

/// Which of our programs connects. Everybody who is connected can see it of everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Machine,
    Console,
    /// A command that asks and ends.
    Command,
}

impl Program {
    /// The application's name on the connection.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Machine => "mcp-approve machine",
            Self::Console => "mcp-approve console",
            Self::Command => "mcp-approve",
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("{what}")]
    Url { what: String, hint: &'static str },
    #[error(transparent)]
    Certificates(#[from] CertificateError),
    #[error("the file of passwords {} cannot be used: {why}", path.display())]
    Passfile { path: PathBuf, why: String },
    #[error("the desk cannot be reached: {0}")]
    Unreachable(String),
    /// Its certificate does not count.
    #[error("the desk cannot be reached: {what}")]
    Untrusted { what: String, hint: &'static str },
    /// It lets this role not in.
    #[error("the desk does not let this role in: {0}")]
    Login(String),
    #[error("the desk has version {found} of the schema, and this program needs {VERSION}")]
    Version { found: i32 },
    #[error("the desk's tables were changed: {0} is missing or of another kind")]
    Changed(String),
    #[error("the desk did not do it: {0}")]
    Database(String),
    /// What `desk run` needs on its own machine.
    #[error("{what}")]
    Here { what: String, hint: &'static str },
}

impl EngineError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Url { hint, .. } | Self::Here { hint, .. } | Self::Untrusted { hint, .. } => hint,
            Self::Login(_) => {
                "give the role a password or a certificate on the server and a line in its pg_hba.conf, and name the file of passwords: \
                 `passfile` under [desk] in config.toml"
            }
            Self::Certificates(_) => {
                "name the file of your authority: `ca = \"/path/ca.pem\"` under [desk] in config.toml"
            }
            Self::Passfile { .. } => {
                "make it a file that only you can read (chmod 600), with lines of host:port:database:user:password"
            }
            Self::Unreachable(_) => {
                "look at the URL, the network and the role; calls wait meanwhile, and the console on each machine works"
            }
            Self::Changed(_) => {
                "have the owner of the database make it again as `mcp-approve desk init` does: nothing is read until then"
            }
            Self::Version { .. } => "have the owner of the database run `mcp-approve desk init` of the newest version",
            Self::Database(_) => "`mcp-approve doctor` says what this role may do on the desk",
        }
    }
}

impl From<tokio_postgres::Error> for EngineError {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(hint) = tls::hint(&error) {
            return Self::Untrusted { what: chain(&error), hint };
        }
        match (error.as_db_error(), error.is_closed()) {
            // Class 28: invalid authorization.
            (Some(said), _) if said.code().code().starts_with("28") => Self::Login(said.message().to_owned()),
            (Some(said), _) => Self::Database(said.message().to_owned()),
            (None, _) if chain(&error).contains(NO_PASSWORD) => Self::Login("it asks for a password".to_owned()),
            (None, _) => Self::Unreachable(chain(&error)),
        }
    }
}

/// How tokio-postgres says that the server wants a password, and there is none.
const NO_PASSWORD: &str = "password missing";

/// An error with all that caused it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(one) = cause {
        let said = one.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = one.source();
    }
    text
}

/// A place that may be connected to.
#[derive(Clone, Debug)]
pub struct Target {
    config: Config,
    place: DeskPlace,
    is_near: bool,
}

impl Target {
    /// Reads a place. Errors: what the URL may not have.
    pub fn read(place: &DeskPlace) -> Result<Self, EngineError> {
        let wrong = |what: &str, hint| Err(EngineError::Url { what: what.to_owned(), hint });
        const WHOLE: &str = "write it as postgres://ROLE@HOST/DATABASE; a search goes before `--desk`, which takes what follows as its URL";
        if !["postgres://", "postgresql://"].iter().any(|scheme| place.url.starts_with(scheme)) {
            return wrong("this is not the URL of a PostgreSQL database", WHOLE);
        }
        let config: Config = match place.url.parse() {
            Ok(config) => config,
            // What it says repeats parts of the URL, which may hold a password.
            Err(_) => return wrong("the URL of the desk cannot be read", WHOLE),
        };
        if config.get_password().is_some() {
            return wrong(
                "the URL of the desk has a password in it, which every user of this machine can read",
                "write it into a file that only you can read, and name that: `passfile` under [desk] in config.toml",
            );
        }
        if config.get_user().is_none() || config.get_hosts().is_empty() {
            return wrong("the URL of the desk names no role or no host", WHOLE);
        }
        if config.get_hosts().len() > 1 {
            return wrong("the URL of the desk names several hosts", "name one: its password is for no other");
        }
        if !config.get_hostaddrs().is_empty() || config.get_options().is_some() {
            return wrong(
                "the URL of the desk has `hostaddr` or `options`",
                "leave them out: the server's name is verified",
            );
        }
        let is_near = config.get_hosts().iter().all(is_near);
        if !is_near && place.url.contains("sslmode=") && config.get_ssl_mode() != SslMode::Require {
            return wrong(
                "the URL of the desk turns TLS off",
                "leave `sslmode` out: TLS with a verified name is what another machine is reached by",
            );
        }
        Ok(Self { config, place: place.clone(), is_near })
    }

    /// The role that it logs in as.
    pub fn role(&self) -> &str {
        self.config.get_user().unwrap_or_default()
    }

    /// Where it is, whoever logs in: as we keep what we know of it.
    pub fn place(&self) -> String {
        let Self { config, .. } = self;
        format!("{:?} {:?} {:?}", config.get_hosts(), config.get_ports(), config.get_dbname().or(config.get_user()))
    }

    /// Connects, and checks the schema's version.
    pub async fn connect(&self, program: Program) -> Result<Engine, EngineError> {
        let engine = self.connect_to_any(program).await?;
        let found = engine.client.query_opt("SELECT max(number) FROM mcp_approve.version", &[]).await;
        let found: Option<i32> = match found {
            Ok(row) => row.and_then(|row| row.get(0)),
            Err(error) if is_missing(&error) => None,
            Err(error) => return Err(error.into()),
        };
        match found.unwrap_or_default() {
            VERSION => {}
            found => return Err(EngineError::Version { found }),
        }
        let rows = engine.client.query(CHANGED, &[&COLUMNS.lines().collect::<Vec<_>>()]).await?;
        match rows.first() {
            Some(row) => Err(EngineError::Changed(row.get(0))),
            None => Ok(engine),
        }
    }

    /// Connects, whatever schema is there.
    pub async fn connect_to_any(&self, program: Program) -> Result<Engine, EngineError> {
        let mut config = self.config.clone();
        let is_plain = self.is_near && config.get_ssl_mode() != SslMode::Require;
        if let Some(file) = &self.place.passfile
            && let Some(password) = password(file, &self.config)?
        {
            // While the server is down any user of this machine can listen on its port, and ask for the password as it is.
            if is_plain && matches!(config.get_hosts(), [Host::Tcp(_)]) {
                let what = "a password goes to a port of this machine only over TLS".to_owned();
                let hint = "add ?sslmode=require to the URL, or name the folder of the server's socket as the host";
                return Err(EngineError::Url { what, hint });
            }
            // The same in a folder that another user may have made, or may make a socket in.
            if let [Host::Unix(folder)] = config.get_hosts() {
                let Some(own) = of_the_machine(folder) else {
                    let what =
                        format!("a password goes to no socket in {}, where any user can make one", folder.display());
                    let hint = "have the server listen in a folder of its own (unix_socket_directories), or name localhost with ?sslmode=require";
                    return Err(EngineError::Url { what, hint });
                };
                config = at_socket(&config, &own);
            }
            config.password(password);
        }
        config.application_name(program.name()).connect_timeout(CONNECT);
        config.keepalives_idle(Duration::from_secs(30)).tcp_user_timeout(Duration::from_secs(30));
        let engine = if is_plain {
            config.ssl_mode(SslMode::Disable);
            open(&config, NoTls).await?
        } else {
            config.ssl_mode(SslMode::Require);
            open(&config, Tls::trusting(self.place.ca.as_deref())?).await?
        };
        engine.client.batch_execute(SESSION).await?;
        Ok(engine)
    }
}

/// This folder without links, if a socket in it is of the machine's owner or of this user: others cannot write to it, and those who can write
/// above it made it, or had others make it; and so for the links on the way. A link can be turned, so it is this that is connected to.
fn of_the_machine(folder: &Path) -> Option<PathBuf> {
    let is_trusted = |found: &fs::Metadata| [rustix::process::geteuid().as_raw(), 0].contains(&found.uid());
    let is_anchored = |path: &Path| {
        path.ancestors().zip(path.ancestors().skip(1)).all(|(below, above)| {
            let (Ok(below), Ok(above)) = (fs::symlink_metadata(below), fs::metadata(above)) else { return false };
            let is_own = !below.is_symlink() && above.uid() == below.uid();
            let is_closed = above.mode() & 0o022 == 0 && (is_trusted(&above) || is_own);
            // What is in a folder like /tmp is whoever's who came first, and no other can take its place.
            is_closed || above.mode() & 0o1000 != 0 && is_trusted(&below)
        })
    };
    // In this order: links that hold are followed.
    let found = is_anchored(folder).then(|| folder.canonicalize().ok()).flatten()?;
    let is_closed = fs::metadata(&found).is_ok_and(|found| found.mode() & 0o002 == 0);
    (is_closed && is_anchored(&found)).then_some(found)
}

/// The same server, by the socket in this folder.
fn at_socket(config: &Config, folder: &Path) -> Config {
    let mut own = Config::new();
    own.host_path(folder).ssl_mode(config.get_ssl_mode());
    config.get_user().map(|user| own.user(user));
    config.get_dbname().map(|name| own.dbname(name));
    for port in config.get_ports() {
        own.port(*port);
    }
    own
}

fn is_missing(error: &tokio_postgres::Error) -> bool {
    use tokio_postgres::error::SqlState;
    [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME].iter().any(|code| error.code() == Some(code))
}

/// Whether nothing leaves this machine on the way to it.
fn is_near(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
    }
}

/// The password of the first line that fits; `None` where none does.
fn password(path: &Path, config: &Config) -> Result<Option<String>, EngineError> {
    let unusable = |why: String| EngineError::Passfile { path: path.into(), why };
    let found = fs::metadata(path).map_err(|error| unusable(error.to_string()))?;
    check_owner(path, &found).map_err(|error: PlaceError| unusable(error.to_string()))?;
    if found.mode() & 0o077 != 0 {
        return Err(unusable(format!("others than you can read it (mode {:04o})", found.mode() & 0o7777)));
    }
    let text = fs::read_to_string(path).map_err(|error: io::Error| unusable(error.to_string()))?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(_)) | None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let user = config.get_user().unwrap_or_default();
    let wanted = [&*host, &*port, config.get_dbname().unwrap_or(user), user];
    let fits = |line: &&str| {
        let fields = fields(line);
        fields.len() == 5 && wanted.iter().zip(&fields).all(|(wanted, field)| field == "*" || field == wanted)
    };
    let line = text.lines().filter(|line| !line.starts_with('#')).find(fits);
    Ok(line.and_then(|line| fields(line).pop()))
}

/// The fields of a line, between colons; a backslash takes the next character as it is.
fn fields(line: &str) -> Vec<String> {
    let (mut all, mut field) = (Vec::new(), String::new());
    let mut characters = line.chars();
    while let Some(one) = characters.next() {
        match one {
            ':' => all.push(std::mem::take(&mut field)),
            '\\' => field.extend(characters.next()),
            one => field.push(one),
        }
    }
    all.push(field);
    all
}

async fn open<T>(config: &Config, tls: T) -> Result<Engine, EngineError>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let (client, mut connection) = config.connect(tls).await?;
    let (wake, wakes) = watch::channel(());
    let driver = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if matches!(message, AsyncMessage::Notification(_)) {
                wake.send_replace(());
            }
        }
    });
    Ok(Engine { client, wakes, driver })
}

/// A connection. Dropped, it is closed.
#[derive(Debug)]
pub struct Engine {
    pub client: Client,
    /// Something may have changed: the tables say what. Closed with the connection.
    pub wakes: watch::Receiver<()>,
    driver: JoinHandle<()>,
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Engine {
    /// Hears what wakes operators.
    pub async fn listen_as_operator(&self) {
        self.signals(format!("LISTEN {OPERATORS}")).await;
    }

    /// Hears what wakes this machine.
    pub async fn listen_as_machine(&self, machine: &str) {
        self.signals(format!("LISTEN {}", channel(machine))).await;
    }

    /// Wakes all operators' consoles. Whoever calls it does so at most ten times a second.
    pub async fn wake_operators(&self) {
        self.signals(format!("NOTIFY {OPERATORS}")).await;
    }

    /// Wakes a machine. Whoever calls it does so at most ten times a second.
    pub async fn wake_machine(&self, machine: &str) {
        self.signals(format!("NOTIFY {}", channel(machine))).await;
    }

    /// Any role can fill the engine's queue of signals, and then it takes none. The tables are read without them, too; where the connection
    /// has ended, the next statement says so.
    async fn signals(&self, statement: String) {
        if let Err(error) = self.client.batch_execute(&statement).await {
            tracing::debug!(%error, "the desk took no signal");
        }
    }
}

const OPERATORS: &str = "mcp_approve_operators";

/// The channel of a machine, whose name may be any text.
fn channel(machine: &str) -> String {
    format!("mcp_approve_{}", Digest::of(machine.as_bytes()).short())
}
