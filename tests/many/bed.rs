//! A machine on the desk: its wrapper with a fake server, `desk run`, and an operator who reads and writes the tables as a console would.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use mcp_approve::desk::told::{Told, Word};
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::message::{CallEnd, OperatorVerdict};
use mcp_approve::signing::statement::{CardTerms, Said, SignedWord, Statement, VERSION};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

use crate::fake::host::Host;
use crate::fake::operator::Operator;
use crate::fake::server::{Server, reader, writer};
use crate::fake::{BINARY, log};
use crate::postgres::Postgres;
use crate::signing_bed::{Key, Making, armored};

/// How long anything may take.
pub const LONG: Duration = Duration::from_secs(30);

/// One machine: ada's, whose signers are mara and sam.
pub struct Machine {
    pub home: TempDir,
    pub server: Server,
    pub host: Host,
    run: Option<Child>,
    url: String,
    next: AtomicI64,
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.stop_run();
    }
}

pub fn mara() -> Key {
    Key::new("ssh-ed25519", 1)
}

pub fn sam() -> Key {
    Key::new("ssh-ed25519", 2)
}

impl Machine {
    /// A wrapper with these options beside `desk run`.
    pub fn start(postgres: &Postgres, policy: &str, options: &[&str]) -> Self {
        Self::serving(postgres, policy, options, (Server::with(&[reader("read"), writer("write")]), &[]))
    }

    /// The same around this server, with more words for its command.
    pub fn serving(postgres: &Postgres, policy: &str, options: &[&str], (server, words): (Server, &[&str])) -> Self {
        let home = tempfile::tempdir().unwrap();
        let private = |name: &str, text: &str| {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        private("etc/policy.toml", &format!("version = 1\n{policy}"));
        private(
            "etc/allowed_signers",
            &format!("mara@example.com {}\nsam@example.com {}\n", mara().line(), sam().line()),
        );
        let command: Vec<String> = server.command().into_iter().chain(words.iter().map(|&word| word.into())).collect();
        let mut host = Host::wrapping(home.path(), &[&["--name", "s"], options].concat(), &command);
        host.handshake("2025-06-18");
        let mut this = Self { home, server, host, run: None, url: postgres.url("ada"), next: AtomicI64::new(1) };
        this.start_run();
        this
    }

    pub fn path(&self) -> &Path {
        self.home.path()
    }

    pub fn start_run(&mut self) {
        let mut run = Command::new(BINARY);
        run.arg("--home").arg(self.home.path()).args(["desk", "run", "--url", &self.url]);
        self.run = Some(run.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap());
    }

    /// Ends `desk run` as a crash would.
    pub fn stop_run(&mut self) {
        if let Some(mut run) = self.run.take() {
            let _ = run.kill();
            let _ = run.wait();
        }
    }

    /// Has the host call `write`; its id.
    pub fn write(&mut self, title: &str) -> i64 {
        self.call(&json!({ "title": title }))
    }

    pub fn call(&mut self, arguments: &Value) -> i64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.host.call(id, "write", arguments);
        id
    }

    pub fn answer(&mut self, id: i64) -> String {
        let answer = self.host.answer(id);
        answer["result"]["content"][0]["text"].as_str().map_or_else(|| answer.to_string(), str::to_owned)
    }

    pub fn local(&self) -> Operator {
        Operator::attach(self.home.path(), "ann")
    }

    pub fn decisions(&self) -> Vec<Value> {
        log::decisions(self.home.path(), "write")
    }

    /// Verdicts without effect, as the log has them.
    pub fn ineffective(&self) -> Vec<Value> {
        let faults = log::of_kind(self.home.path(), "fault").into_iter();
        faults.filter(|one| one["detail"]["what"].as_str().is_some_and(|what| what.starts_with("a verdict"))).collect()
    }

    /// The records of verdicts that were counted, as they are for no wrapper.
    pub fn counted(&self) -> Vec<Value> {
        let faults = log::of_kind(self.home.path(), "fault").into_iter();
        faults.filter(|one| one["session"] == "desk verdicts").collect()
    }
}

/// What an operator does with rows, over one connection.
pub struct Desk {
    runtime: tokio::runtime::Runtime,
    client: Client,
    read: Mutex<Vec<Row>>,
}

/// A row of `told`.
#[derive(Clone, Debug)]
pub struct Row {
    place: i64,
    pub session: String,
    pub told: Told,
    pub said: String,
}

impl Desk {
    pub fn open(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
            tokio::spawn(connection);
            client
        });
        Self { runtime, client, read: Mutex::default() }
    }

    /// All rows, the oldest first. What was read before is not read again: no other machine writes meanwhile.
    fn reads(&self) -> MutexGuard<'_, Vec<Row>> {
        const ALL: &str = "SELECT place, session, said FROM mcp_approve.told WHERE place > $1 ORDER BY place";
        let mut read = self.read.lock().unwrap();
        let last: i64 = read.last().map_or(0, |row| row.place);
        let rows = self.runtime.block_on(self.client.query(ALL, &[&last])).unwrap();
        read.extend(rows.iter().map(|row| {
            let said: String = row.get(2);
            Row { place: row.get(0), session: row.get(1), told: serde_json::from_str(&said).unwrap(), said }
        }));
        read
    }

    pub fn rows(&self) -> Vec<Row> {
        self.reads().clone()
    }

    /// The first row as wanted, the latest first, once it is there.
    #[track_caller]
    pub fn finds<T>(&self, what: &str, look: impl Fn(&Row) -> Option<T>) -> T {
        let until = Instant::now() + LONG;
        loop {
            let rows = self.reads();
            if let Some(found) = rows.iter().rev().find_map(&look) {
                return found;
            }
            assert!(Instant::now() < until, "no row: {what}; {rows:#?}");
            drop(rows);
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The card of the call with this title.
    #[track_caller]
    pub fn card(&self, title: &str) -> Card {
        self.finds(title, |row| match &row.told {
            Told::Held { card, withheld } if card.arguments.contains(title) => {
                Some(Card { session: row.session.clone(), call: (**card).clone(), withheld: *withheld })
            }
            _ => None,
        })
    }

    #[track_caller]
    pub fn settled(&self, ticket: &str) -> CallEnd {
        self.finds(ticket, |row| match &row.told {
            Told::Settled(end) if end.ticket == ticket => Some(end.clone()),
            _ => None,
        })
    }

    /// Why this verdict had no effect.
    #[track_caller]
    pub fn refused(&self, verdict: &Verdict) -> String {
        self.refused_as(&verdict.statement, verdict)
    }

    /// The same for one with a name.
    #[track_caller]
    pub fn refused_as(&self, what: &str, verdict: &Verdict) -> String {
        let digest = mcp_approve::wire::digest::Digest::of(verdict.statement.as_bytes());
        self.finds(what, |row| match &row.told {
            Told::Refused { statement, why, .. } if *statement == digest => Some(why.clone()),
            _ => None,
        })
    }

    /// Writes a verdict; the same again changes nothing.
    pub fn say(&self, machine: &str, verdict: &Verdict) {
        const INSERT: &str = "INSERT INTO mcp_approve.verdict (machine, session, ticket, principal, digest, statement, signature, said) \
            VALUES ($1, $2, $3, $4, sha256(convert_to($5, 'UTF8')), $5, $6, $7)";
        let Verdict { session, word, principal, statement, signature } = verdict;
        let said = serde_json::to_string(word).unwrap();
        self.runtime
            .block_on(
                self.client.execute(INSERT, &[&machine, session, &word.ticket, principal, statement, signature, &said]),
            )
            .unwrap();
        let wake = format!("NOTIFY mcp_approve_{}", mcp_approve::wire::digest::Digest::of(machine.as_bytes()).short());
        self.runtime.block_on(self.client.batch_execute(&wake)).unwrap();
    }
}

/// A card as an operator has it.
#[derive(Clone, Debug)]
pub struct Card {
    pub session: String,
    pub call: Snapshot,
    pub withheld: bool,
}

/// A row of `verdict`.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub session: String,
    pub word: Word,
    pub principal: String,
    pub statement: String,
    pub signature: String,
}

pub fn now() -> i64 {
    i64::try_from(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

impl Card {
    pub fn ticket(&self) -> &str {
        &self.call.ticket
    }

    /// What an honest console signs.
    pub fn statement(&self, signer: &str, said: Said) -> Statement {
        let terms = self.call.signs.clone().expect("every card on the desk says what must be signed");
        let card = CardTerms { call: self.call.digest, card: self.call.card_digest(), ..terms };
        let (time, signer) = (now(), signer.to_owned());
        // No two of one moment are the same.
        static NEXT: AtomicI64 = AtomicI64::new(0);
        let not_after = time + 300_000 + NEXT.fetch_add(1, Ordering::Relaxed) % 100_000;
        Statement { also: Vec::new(), card, log: None, not_after, said, signer, time, version: VERSION }
    }

    pub fn approve(&self, signer: &str, key: &Key) -> Verdict {
        self.signed(&self.statement(signer, approves()), key)
    }

    pub fn deny(&self, signer: &str, key: &Key, reason: &str) -> Verdict {
        self.signed(&self.statement(signer, Said::denial(reason)), key)
    }

    /// A statement as a row, whatever it says.
    pub fn signed(&self, statement: &Statement, key: &Key) -> Verdict {
        let verdict = match statement.said.verdict {
            SignedWord::Approve => OperatorVerdict::Approve { unread: false },
            SignedWord::Deny => OperatorVerdict::Deny { reason: statement.said.reason.clone().unwrap_or_default() },
        };
        let json = statement.to_json();
        let signature = armored(&key.sign(json.as_bytes(), &Making::default()));
        Verdict {
            session: self.session.clone(),
            word: Word { ticket: self.call.ticket.clone(), digest: self.call.digest, verdict },
            principal: statement.signer.clone(),
            statement: json,
            signature,
        }
    }
}

pub fn approves() -> Said {
    Said { grants: None, reason: None, until: None, verdict: SignedWord::Approve }
}
