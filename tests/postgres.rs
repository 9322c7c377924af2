//! A real PostgreSQL for one test: made in a temporary folder, reached over a socket there, gone with the test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub struct Postgres {
    folder: TempDir,
    bin: PathBuf,
    server: Option<Child>,
    /// Where it listens on this machine besides its socket.
    port: Option<u16>,
    /// It waits for its disk, as one in use does.
    is_durable: bool,
}

impl Postgres {
    /// Starts one, with the superuser `postgres`; `None`, with a word, where PostgreSQL is not installed.
    pub fn start() -> Option<Self> {
        Self::with(false)
    }

    pub fn with(is_durable: bool) -> Option<Self> {
        let Some(bin) = bin() else {
            println!("skipped: PostgreSQL is not installed (Debian: apt-get install postgresql)");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("pg").tempdir().expect("a folder");
        let mut postgres = Self { folder, bin, server: None, port: None, is_durable };
        let made = postgres
            .command("initdb")
            .args(["-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C", "-U", "postgres", "-D"])
            .arg(postgres.data())
            .output()
            .expect("initdb");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        postgres.up();
        Some(postgres)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// PostgreSQL refuses to run as root: there it runs in a user namespace of its own.
    fn command(&self, program: &str) -> Command {
        let program = self.bin.join(program);
        if !rustix::process::geteuid().is_root() {
            return Command::new(program);
        }
        let mut command = Command::new("unshare");
        command.args(["-U", "--map-user=1000", "--map-group=1000"]).arg(program);
        command
    }

    /// Starts the server, and waits until it answers.
    pub fn up(&mut self) {
        let socket = format!("unix_socket_directories={}", self.folder.path().display());
        let log = fs::File::create(self.folder.path().join("log")).expect("a log");
        let server = self
            .command("postgres")
            .arg("-D")
            .arg(self.data())
            .args(["-c", &socket, "-c", "max_connections=400"])
            .args(if self.is_durable { &[][..] } else { &["-c", "fsync=off"] })
            .args(if self.port.is_none() { &["-c", "listen_addresses="][..] } else { &[] })
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("postgres");
        self.server = Some(server);
        let until = Instant::now() + Duration::from_secs(30);
        while !self.psql("postgres", "SELECT 1").status.success() {
            assert!(Instant::now() < until, "PostgreSQL does not start: {}", self.said());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn said(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Stops the server at once, as a crash would.
    pub fn down(&mut self) {
        if let Some(mut server) = self.server.take() {
            let pid = rustix::process::Pid::from_child(&server);
            // Immediate shutdown; it may have ended by itself.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
            let _ = server.wait();
        }
    }

    /// Starts again with TLS on a port of this machine, where passwords are asked for; returns the port.
    pub fn serve_tls(&mut self, certificate: &Path, key: &Path) -> u16 {
        self.down();
        let free = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = free.local_addr().expect("its address").port();
        drop(free);
        let rules =
            "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\nhostssl all all ::1/128 scram-sha-256\n";
        fs::write(self.data().join("pg_hba.conf"), rules).expect("written");
        fs::copy(certificate, self.data().join("tls.crt")).expect("copied");
        fs::copy(key, self.data().join("tls.key")).expect("copied");
        let more = format!(
            "listen_addresses = '127.0.0.1'\nport = {port}\nssl = on\nssl_cert_file = 'tls.crt'\nssl_key_file = 'tls.key'\n"
        );
        fs::write(self.data().join("postgresql.auto.conf"), more).expect("written");
        self.port = Some(port);
        self.up();
        port
    }

    /// The URL for a role of this server.
    pub fn url(&self, role: &str) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://{role}@{folder}/postgres")
    }

    /// Runs SQL as a role, as psql does.
    pub fn psql(&self, role: &str, sql: &str) -> std::process::Output {
        Command::new(self.bin.join("psql"))
            .args(["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", role, "-d", "postgres", "-h"])
            .arg(self.folder.path())
            .args(["-p", &self.port.unwrap_or(5432).to_string(), "-c", sql])
            .output()
            .expect("psql")
    }

    /// The rows that a role gets, one a line; panics where the engine refuses.
    pub fn rows(&self, role: &str, sql: &str) -> Vec<String> {
        let said = self.psql(role, sql);
        assert!(said.status.success(), "{role}: {sql}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).lines().map(str::to_owned).collect()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.down();
    }
}

fn bin() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions.map(|one| one.path().join("bin")).collect();
    found.sort();
    found.reverse();
    found.extend(["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map(PathBuf::from));
    found.into_iter().find(|bin| bin.join("initdb").exists() && bin.join("postgres").exists())
}
