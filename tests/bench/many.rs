//! What one desk carries, all on one machine: a PostgreSQL that waits for its disk, and a `desk run` for each machine (threads of this process, each
//! with its own connection). Needs PostgreSQL; takes up to 20,000 open files.
//!
//! `cargo bench --profile dist --bench many -- [MACHINES [SECONDS]]`: how long a verdict takes from the desk to its wrapper with ten wrappers a
//! machine, 20,000 cards that wait, and one operator who answers 20 a second.
//!
//! `… -- ship [MACHINES [RECORDS]]`: how many records arrive in a second, of logs with so many records each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::panic, reason = "a bench prints")]

#[path = "../desk/mod.rs"]
mod desk;
#[path = "entries.rs"]
mod entries;
#[allow(dead_code, reason = "tests use the rest of it")]
#[path = "../postgres.rs"]
mod postgres;
#[allow(dead_code, reason = "the tables use the rest of it")]
#[path = "../signing/bed.rs"]
mod signing_bed;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::store::Store;
use mcp_approve::cli;
use mcp_approve::desk::engine::{Program, Target};
use mcp_approve::desk::run::{self, Site, Turn};
use mcp_approve::desk::told::Word;
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::home::config::DeskPlace;
use mcp_approve::home::{places::Places, user};
use mcp_approve::link::folder::NameClaim;
use mcp_approve::link::message::{FromConsole, FromWrapper, OperatorVerdict, Wrapper};
use mcp_approve::link::server::{FromConsoles, Server};
use mcp_approve::signing::statement::{Said, Statement, VERSION};
use mcp_approve::wire::digest::Digest;
use postgres::Postgres;
use signing_bed::{Key, Making, armored};
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::LocalSet;

const WRAPPERS: usize = 10;
const CARDS: usize = 20_000;
/// Verdicts a second.
const RATE: u32 = 20;

/// The database goes before those who are connected to it.
static OVER: AtomicBool = AtomicBool::new(false);

/// When each verdict was sent, by its ticket, and what came of it.
#[derive(Default)]
struct Book {
    sent: HashMap<String, Instant>,
    took: Vec<Duration>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let numbers: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let machines = numbers.first().copied().unwrap_or(300);
    let second = numbers.get(1).copied();
    let Some(postgres) = Postgres::with(true) else { return };
    let roles = (0..machines).flat_map(|at| ["--machine".to_owned(), name(at)]);
    let line = ["mcp-approve", "desk", "init", "--operator", "mara", "--url"].map(str::to_owned);
    let line = line.into_iter().chain([postgres.url("postgres")]).chain(roles);
    cli::run(line.map(Into::into), &mut Vec::new()).expect("a desk");
    if words.iter().any(|word| word == "ship") {
        ship(&postgres, machines, second.unwrap_or(1_000));
    } else {
        verdicts(&postgres, machines, second.unwrap_or(60));
    }
}

fn ship(postgres: &Postgres, machines: usize, records: usize) {
    let folder = tempfile::tempdir().unwrap();
    let redactor = Redactor::new(&[7; 32]);
    for at in 0..machines {
        let mut store = Store::open(&places(folder.path(), at).audit_db(), [1; 16]).unwrap();
        let numbers = 0..i64::try_from(records).unwrap() / 2;
        let entries: Vec<_> = numbers.flat_map(|n| [(0, entries::decision(n)), (0, entries::outcome(n))]).collect();
        for some in entries.chunks(1_000) {
            store.append(some, &redactor).unwrap();
        }
        store.close();
    }
    let said = |sql: &str| postgres.rows("postgres", sql)[0].clone();
    let began = Instant::now();
    (0..4).for_each(|thread| serve(folder.path(), postgres, (thread..machines).step_by(4).collect()));
    let wanted = machines * records;
    while said("SELECT count(*) FROM mcp_approve.record").parse::<usize>().unwrap() < wanted {
        assert!(began.elapsed() < Duration::from_secs(600), "they do not arrive");
        std::thread::sleep(Duration::from_millis(200));
    }
    let took = began.elapsed().as_secs_f64();
    OVER.store(true, Ordering::Relaxed);
    let (disk, bytes) = (said("SHOW fsync"), said("SELECT avg(length(body))::int FROM mcp_approve.record"));
    println!(
        "{machines} machines, {wanted} records of {bytes} bytes, fsync {disk}: {took:.1} s, {:.0} a second",
        wanted as f64 / took
    );
}

fn verdicts(postgres: &Postgres, machines: usize, seconds: usize) {
    let each = CARDS.div_ceil(machines * WRAPPERS);
    let folder = tempfile::tempdir().unwrap();
    let book = Arc::new(Mutex::new(Book::default()));
    let began = Instant::now();
    wrappers(folder.path(), machines, each, &book);
    (0..4).for_each(|thread| serve(folder.path(), postgres, (thread..machines).step_by(4).collect()));
    let wanted = machines * WRAPPERS * each;
    loop {
        let there = postgres.rows("postgres", "SELECT count(*) FROM mcp_approve.told WHERE kind = 'held'");
        let there: usize = there[0].parse().unwrap();
        if there >= wanted {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(300), "{there} of {wanted} cards are on the desk");
        std::thread::sleep(Duration::from_millis(500));
    }
    println!(
        "{machines} machines, {} wrappers, {wanted} cards on the desk after {:.1} s",
        machines * WRAPPERS,
        began.elapsed().as_secs_f64()
    );
    operate(postgres, &book, machines, seconds, each);
    OVER.store(true, Ordering::Relaxed);
    let mut book = book.lock().unwrap();
    let (sent, came) = (book.sent.len(), book.took.len());
    book.took.sort();
    let at = |thousandths: usize| book.took[(came * thousandths / 1000).min(came - 1)].as_secs_f64() * 1e3;
    println!(
        "verdicts: {sent} sent, {came} came; median {:.1} ms, p90 {:.1}, p99 {:.1}, longest {:.1}",
        at(500),
        at(900),
        at(990),
        at(1000)
    );
}

fn name(at: usize) -> String {
    format!("m{at}")
}

fn places(folder: &Path, at: usize) -> Places {
    let home = folder.join(name(at));
    std::fs::create_dir_all(&home).unwrap();
    let places = Places::under(&home).unwrap();
    places.create_state().unwrap();
    std::fs::create_dir_all(home.join("etc")).unwrap();
    std::fs::write(home.join("etc/allowed_signers"), format!("mara@example.com {}\n", key().line())).unwrap();
    places
}

fn key() -> Key {
    Key::new("ssh-ed25519", 1)
}

/// A denial of a call, signed: what no signer signed is brought to no wrapper.
fn denial(call: &Snapshot, (session, number): (&str, usize)) -> (String, String) {
    let card = desk::signed(call.clone(), "files", session, (&user::name(), &user::machine()));
    let time = jiff::Timestamp::now().as_millisecond();
    let statement = Statement {
        also: Vec::new(),
        card: card.signs.unwrap(),
        log: None,
        not_after: time + 300_000 + i64::try_from(number).unwrap(),
        said: Said::denial(""),
        signer: "mara@example.com".to_owned(),
        time,
        version: VERSION,
    };
    let text = statement.to_json();
    let signature = armored(&key().sign(text.as_bytes(), &Making::default()));
    (text, signature)
}

/// The wrappers of all machines, on one thread: each shows its cards to whoever attaches.
fn wrappers(folder: &Path, machines: usize, each: usize, book: &Arc<Mutex<Book>>) {
    let folder = folder.to_owned();
    let book = Arc::clone(book);
    let (ready, wait) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let set = LocalSet::new();
        set.block_on(&runtime, async {
            for at in 0..machines {
                let run = places(&folder, at).run_dir();
                for number in 0..WRAPPERS {
                    tokio::task::spawn_local(wrapper(run.clone(), session(at, number), each, Arc::clone(&book)));
                }
            }
            tokio::task::yield_now().await;
            ready.send(()).unwrap();
            std::future::pending::<()>().await;
        });
    });
    wait.recv().unwrap();
}

fn session(at: usize, number: usize) -> String {
    format!("{at}-{number}")
}

async fn wrapper(run: std::path::PathBuf, session: String, each: usize, book: Arc<Mutex<Book>>) {
    let claim = NameClaim::claim(&run, "files").unwrap();
    let (on, mut consoles) = unbounded_channel();
    let me = Wrapper { session: session.clone(), ..desk::wrapper(claim.name(), &session) };
    let server = Server::start(&run, &claim, me, on).unwrap();
    while let Some(said) = consoles.recv().await {
        match said {
            FromConsoles::Attached { console, .. } => {
                for number in 0..each {
                    let call = desk::write(&format!("{session}-{number}"));
                    let call = desk::signed(call, claim.name(), &session, (&user::name(), &user::machine()));
                    server.send(console, &FromWrapper::Held { call: Box::new(call) });
                }
            }
            FromConsoles::Said { message: FromConsole::Decide { ticket, .. }, .. } => {
                let now = Instant::now();
                let mut book = book.lock().unwrap();
                if let Some(sent) = book.sent.get(&ticket) {
                    let took = now - *sent;
                    book.took.push(took);
                }
            }
            _ => {}
        }
    }
}

/// `desk run` of these machines, on a thread.
fn serve(folder: &Path, postgres: &Postgres, machines: Vec<usize>) {
    let served: Vec<(Target, Site)> = machines
        .into_iter()
        .map(|at| {
            let place = DeskPlace { url: postgres.url(&name(at)), ..DeskPlace::default() };
            let places = places(folder, at);
            (Target::read(&place).unwrap(), Site { log: places.audit_db(), places })
        })
        .collect();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            for (target, site) in served {
                tokio::task::spawn_local(async move {
                    let mut tell = |turn| {
                        if let Turn::Broken(error) = turn
                            && !OVER.load(Ordering::Relaxed)
                        {
                            println!("{}: {error}", target.role());
                        }
                    };
                    let Err(error) = run::run(&target, site, &mut tell).await;
                    panic!("{error}");
                });
            }
            std::future::pending::<()>().await;
        });
    });
}

/// One operator: a verdict on another call every twentieth of a second, and the machine is woken.
fn operate(postgres: &Postgres, book: &Mutex<Book>, machines: usize, seconds: usize, each: usize) {
    let target = Target::read(&DeskPlace { url: postgres.url("mara"), ..DeskPlace::default() }).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = target.connect(Program::Console).await.unwrap();
        let mut every = tokio::time::interval(Duration::from_secs(1) / RATE);
        for number in 0..seconds * RATE as usize {
            every.tick().await;
            // A walk that meets each machine, wrapper and card in another order than they came.
            let at = (number * 7919) % machines;
            let session = session(at, (number / machines + number) % WRAPPERS);
            let ticket = format!("{session}-{}", number % each);
            let call = desk::write(&ticket);
            let verdict = OperatorVerdict::Deny { reason: String::new() };
            let word = Word { ticket: ticket.clone(), digest: call.digest, verdict };
            let (statement, signature) = denial(&call, (&session, number));
            let digest = Digest::of(statement.as_bytes());
            book.lock().unwrap().sent.insert(ticket.clone(), Instant::now());
            engine
                .client
                .execute(
                    "INSERT INTO mcp_approve.verdict (machine, session, ticket, principal, digest, statement, signature, said) \
                     VALUES ($1, $2, $3, 'mara', $4, $5, $6, $7) ON CONFLICT DO NOTHING",
                    &[&name(at), &session, &ticket, &digest.as_bytes().as_slice(), &statement, &signature, &serde_json::to_string(&word).unwrap()],
                )
                .await
                .unwrap();
            engine.wake_machine(&name(at)).await;
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
    });
}
