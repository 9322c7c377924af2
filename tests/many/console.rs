//! The operator's side of the desk on a real PostgreSQL: what a console hears of all machines, what it writes, and what becomes of it.

use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use mcp_approve::audit::record::{By, VerdictWord};
use mcp_approve::cli;
use mcp_approve::console::keymap::Key;
use mcp_approve::console::model::Reach;
use mcp_approve::console::update::Command;
use mcp_approve::desk::engine::{Engine, Program, Target};
use mcp_approve::desk::operator::{ONLY_THERE, Operator, UNSIGNED, WITHHELD};
use mcp_approve::desk::told::Told;
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::home::config::DeskPlace;
use mcp_approve::link::message::{Around, CallEnd, ClientEvent, FromConsole, FromWrapper, OperatorVerdict, Wrapper};
use mcp_approve::signing::statement::{Evidence, Said, SignedWord, Statement, VERSION};
use mcp_approve::wire::Digest;

use super::roles::desk;
use crate::desk::{Desk, NINE, verdicts, wrapper, write};
use crate::postgres::Postgres;

fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// What a machine says, as its role.
fn says(postgres: &Postgres, machine: &str, told: &Told) {
    let (kind, ticket, said) = (told.kind(), told.ticket(), serde_json::to_string(told).unwrap());
    row(postgres, machine, kind, ticket, &said);
}

fn row(postgres: &Postgres, machine: &str, kind: &str, ticket: &str, said: &str) {
    let sql = format!(
        "INSERT INTO mcp_approve.told (session, ticket, kind, said) VALUES ('s1', '{ticket}', '{kind}', $said${said}$said$)"
    );
    let done = postgres.psql(machine, &sql);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn hello(machine: &str) -> Told {
    let wrapper = Wrapper { at: None, ..wrapper("files", "s1") };
    Told::Hello { wrapper, host: format!("{machine}-host"), user: machine.to_owned() }
}

/// A card as its machine asks for a signature on it.
fn card(machine: &str, ticket: &str) -> Snapshot {
    crate::desk::signed(write(ticket), "files", "s1", (machine, &format!("{machine}-host")))
}

fn held(machine: &str, ticket: &str, withheld: bool) -> Told {
    Told::Held { card: Box::new(card(machine, ticket)), withheld }
}

/// A statement of mara's on a card, until a moment. No signature is checked on the desk.
fn signed(card: &Snapshot, verdict: SignedWord, not_after: i64) -> Evidence {
    let said = Said { grants: None, reason: None, until: None, verdict };
    let (also, card) = (Vec::new(), card.signs.clone().unwrap());
    let statement = Statement {
        also,
        card,
        log: None,
        not_after,
        said,
        signer: "mara@example.com".into(),
        time: now(),
        version: VERSION,
    };
    Evidence { statement: statement.to_json(), signature: "a signature".into() }
}

fn decide(card: &Snapshot, verdict: OperatorVerdict, signed: Option<Evidence>) -> FromConsole {
    FromConsole::Decide { ticket: card.ticket.clone(), digest: card.digest, verdict, signed }
}

fn target(postgres: &Postgres, role: &str) -> Target {
    Target::read(&DeskPlace { url: postgres.url(role), ..DeskPlace::default() }).expect("a place")
}

struct Console {
    operator: Operator,
    events: Receiver<ClientEvent>,
    screen: Desk,
    refused: Vec<(String, String)>,
    settled: Vec<CallEnd>,
}

impl Console {
    fn open(postgres: &Postgres, role: &str) -> Self {
        let (heard, events) = channel();
        let operator = Operator::watch(target(postgres, role), now, move |event| drop(heard.send(event)));
        let mut screen = Desk::new(120, 40);
        screen.model.settings.reach = Reach::Desk;
        Self { operator: operator.expect("a desk"), events, screen, refused: Vec::new(), settled: Vec::new() }
    }

    /// Takes events until this holds.
    fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while !holds(self) {
            assert!(Instant::now() < end, "{what}:\n{}", self.screen.screen());
            let Ok(event) = self.events.recv_timeout(Duration::from_millis(50)) else { continue };
            if let ClientEvent::Said { session, message } = &event {
                match message {
                    FromWrapper::Refused { why, .. } => self.refused.push((session.clone(), why.clone())),
                    FromWrapper::Settled(end) => self.settled.push(end.clone()),
                    _ => {}
                }
            }
            self.screen.link(event);
        }
    }

    fn shows(&mut self, words: &str) {
        self.until(words, |console| console.screen.screen().contains(words));
    }

    fn around(&self) -> &Around {
        &self.screen.model.around
    }

    fn waiting(&self) -> usize {
        self.screen.model.queue.waiting()
    }
}

fn rows_of_verdicts(postgres: &Postgres) -> Vec<String> {
    postgres.rows("eve", "SELECT operator, machine, session, ticket, principal FROM mcp_approve.verdict ORDER BY place")
}

/// Keeps a machine connected.
fn is_here(postgres: &Postgres, role: &str) -> (tokio::runtime::Runtime, Engine) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let engine = runtime.block_on(target(postgres, role).connect(Program::Machine)).expect("connected");
    (runtime, engine)
}

#[test]
fn calls_of_two_machines_that_say_the_same_of_themselves_are_two_and_a_key_writes_one_row() {
    let Some(postgres) = desk() else { return };
    for machine in ["ada", "bob"] {
        says(&postgres, machine, &hello(machine));
        says(&postgres, machine, &held(machine, "files-1", machine == "bob"));
    }
    let (_runtime, _ada) = is_here(&postgres, "ada");
    let mut mara = Console::open(&postgres, "mara");
    mara.until("both calls", |console| console.waiting() == 2 && console.around().away.len() == 1);
    let screen = mara.screen.screen();
    assert!(screen.contains("ada@ada-host") && screen.contains("bob@bob-host") && screen.contains("away"), "{screen}");
    assert!(mara.around().away.contains("s1@bob"), "{:?}", mara.around());

    mara.screen.now = NINE;
    mara.screen.look();
    let sent = mara.screen.press(Key::Char('a'));
    let (session, ticket, digest, verdict) = verdicts(&sent).remove(0);
    assert_eq!((&*session, &*ticket), ("s1@ada", "files-1"));
    let evidence = signed(&card("ada", "files-1"), SignedWord::Approve, now() + 60_000);
    let message = FromConsole::Decide { ticket, digest, verdict, signed: Some(evidence) };
    mara.operator.send(&session, &message);
    mara.operator.send(&session, &message);
    mara.until("a row", |_| rows_of_verdicts(&postgres) == ["mara|ada|s1|files-1|mara@example.com"]);
    // What a machine reads is its own.
    let ada = postgres.rows("ada", "SELECT said FROM mcp_approve.verdict");
    assert!(ada.len() == 1 && ada[0].contains(r#""verdict":"approve""#), "{ada:?}");
    assert!(postgres.rows("bob", "SELECT said FROM mcp_approve.verdict").is_empty());

    // Of the other call something is withheld: its key says so, and sends nothing.
    mara.screen.look();
    let sent = mara.screen.press(Key::Char('a'));
    assert!(
        verdicts(&sent).is_empty() && mara.screen.screen().contains("only at its machine"),
        "{}",
        mara.screen.screen()
    );
}

#[test]
fn what_can_be_done_only_at_a_machine_is_answered_at_once_and_a_denial_of_what_is_withheld_is_sent() {
    let Some(postgres) = desk() else { return };
    says(&postgres, "ada", &hello("ada"));
    says(&postgres, "ada", &held("ada", "files-1", true));
    let mut mara = Console::open(&postgres, "mara");
    mara.until("the call", |console| console.waiting() == 1);
    let (call, far) = (card("ada", "files-1"), now() + 60_000);
    let (approve, deny) = (OperatorVerdict::Approve { unread: false }, OperatorVerdict::Deny { reason: "no".into() });
    let (ticket, digest) = (call.ticket.clone(), call.digest);
    for (message, why) in [
        (decide(&call, approve, Some(signed(&call, SignedWord::Approve, far))), WITHHELD),
        (decide(&call, deny.clone(), None), UNSIGNED),
        (FromConsole::Edit { ticket: ticket.clone(), digest, arguments: "{}".into() }, ONLY_THERE),
        (FromConsole::Extend { ticket, digest }, ONLY_THERE),
        (FromConsole::EndGrant { grant: "grant:1".into() }, ONLY_THERE),
    ] {
        mara.operator.send("s1@ada", &message);
        mara.until(why, |console| console.refused.pop().is_some_and(|(_, said)| said == why));
    }
    mara.operator.send("s1@ada", &decide(&call, deny, Some(signed(&call, SignedWord::Deny, far))));
    mara.until("a row", |_| rows_of_verdicts(&postgres).len() == 1);
}

#[test]
fn two_consoles_see_each_other_who_looks_and_one_outcome() {
    let Some(postgres) = desk() else { return };
    says(&postgres, "ada", &hello("ada"));
    says(&postgres, "ada", &held("ada", "files-1", false));
    let (mut mara, mut sam) = (Console::open(&postgres, "mara"), Console::open(&postgres, "sam"));
    for (console, other) in [(&mut mara, "sam"), (&mut sam, "mara")] {
        console.until(other, |console| console.waiting() == 1 && console.around().operators.iter().eq([other]));
    }
    let call = card("ada", "files-1");
    let look = FromConsole::Look { ticket: call.ticket.clone(), digest: call.digest };
    (0..3).for_each(|_| mara.operator.send("s1@ada", &look));
    sam.shows("you and mara");
    assert_eq!(postgres.rows("eve", "SELECT operator FROM mcp_approve.look"), ["mara"]);
    assert!(mara.around().looks.is_empty());
    // However many another writes.
    let junk = "INSERT INTO mcp_approve.look (operator, machine, session, ticket) SELECT 'zoe', 'x', 's', 't' FROM generate_series(1, 2000)";
    postgres.rows("postgres", junk);
    let mut later = Console::open(&postgres, "sam");
    later.shows("you and mara");

    let approval = signed(&call, SignedWord::Approve, now() + 60_000);
    let approve = OperatorVerdict::Approve { unread: false };
    mara.operator.send("s1@ada", &decide(&call, approve, Some(approval.clone())));
    mara.until("a row", |_| rows_of_verdicts(&postgres).len() == 1);
    // That it had no effect is for whoever signed it.
    let (ticket, statement) = (call.ticket, Digest::of(approval.statement.as_bytes()));
    says(&postgres, "ada", &Told::Refused { ticket: ticket.clone(), statement, why: "too late".into() });
    let (verdict, by, who) = (Some(VerdictWord::Deny), By::Operator, "sam".to_owned());
    says(&postgres, "ada", &Told::Settled(CallEnd { ticket, time: now(), verdict, by, who }));
    for console in [&mut mara, &mut sam] {
        console.until("its end", |console| console.settled.iter().any(|end| end.who == "sam"));
    }
    assert_eq!(mara.refused, [("s1@ada".to_owned(), "too late".to_owned())]);
    assert!(sam.refused.is_empty(), "{:?}", sam.refused);
    says(&postgres, "ada", &Told::Gone);
    mara.until("nothing", |console| console.screen.model.wrappers.is_empty());
    // Whoever comes later hears of none of it.
    let mut late = Console::open(&postgres, "sam");
    late.until("mara", |console| !console.around().operators.is_empty());
    assert_eq!((late.waiting(), late.screen.model.wrappers.len()), (0, 0));
}

#[test]
fn a_verdict_is_kept_while_the_desk_is_down_and_is_given_up_aloud_when_its_signature_ends() {
    let Some(mut postgres) = desk() else { return };
    says(&postgres, "ada", &hello("ada"));
    says(&postgres, "ada", &held("ada", "files-1", false));
    says(&postgres, "ada", &held("ada", "files-2", false));
    let mut mara = Console::open(&postgres, "mara");
    mara.until("the calls", |console| console.waiting() == 2);
    postgres.down();
    mara.until("a word on it", |console| console.around().broken.is_some());
    assert!(mara.screen.screen().contains("it is tried again"), "{}", mara.screen.screen());
    let approve = || OperatorVerdict::Approve { unread: false };
    let (long, short) = (card("ada", "files-1"), card("ada", "files-2"));
    for (call, until) in [(&long, 60_000), (&short, 500)] {
        let evidence = signed(call, SignedWord::Approve, now() + until);
        mara.operator.send("s1@ada", &decide(call, approve(), Some(evidence)));
    }
    mara.until("given up", |console| console.refused.iter().any(|(_, why)| why.contains("could not be delivered")));
    postgres.up();
    mara.until("it is back", |console| console.around().broken.is_none());
    mara.until("a row", |_| rows_of_verdicts(&postgres) == ["mara|ada|s1|files-1|mara@example.com"]);
    // And it hears again.
    says(&postgres, "ada", &held("ada", "files-3", false));
    mara.until("the next call", |console| console.waiting() == 3);
}

#[test]
fn rows_that_cannot_be_what_they_say_are_left_out_and_counted() {
    let Some(postgres) = desk() else { return };
    says(&postgres, "ada", &hello("ada"));
    says(&postgres, "ada", &held("ada", "files-1", false));
    let mut mara = Console::open(&postgres, "mara");
    mara.until("the call", |console| console.waiting() == 1);
    row(&postgres, "ada", "held", "files-2", "no JSON");
    // Of a ticket that is another's.
    let said = serde_json::to_string(&held("ada", "files-1", false)).unwrap();
    row(&postgres, "ada", "held", "files-3", &said);
    // A card that would have something else signed: another machine, another call.
    says(&postgres, "ada", &held("bob", "files-4", false));
    let mut other = card("ada", "files-5");
    other.digest = Digest::of(b"other bytes");
    says(&postgres, "ada", &Told::Held { card: Box::new(other), withheld: false });
    // A wrapper that nobody has heard of.
    says(&postgres, "bob", &held("bob", "files-1", false));
    let words = "5 messages on the desk cannot be read and are left out";
    mara.until(words, |console| console.around().left_out.as_ref().is_some_and(|said| said.starts_with(words)));
    assert_eq!(mara.waiting(), 1);
}

/// Calls of a machine's role, all at once: each card as this one, with another ticket and with its `milk` so often.
fn hold_many(postgres: &Postgres, machine: &str, of: std::ops::RangeInclusive<u32>, milk: u32) {
    let (from, to) = (of.start(), of.end());
    let said = serde_json::to_string(&held(machine, "files-0", false)).unwrap();
    let sql = format!(
        "INSERT INTO mcp_approve.told (session, ticket, kind, said) SELECT 's1', 'files-' || n, 'held',
            replace(replace($said${said}$said$, 'files-0', 'files-' || n), 'milk', repeat('milk', {milk}))
        FROM generate_series({from}, {to}) AS n"
    );
    let done = postgres.psql(machine, &sql);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn g6_what_a_machine_tells_without_end_delays_and_swells_no_other() {
    let Some(postgres) = desk() else { return };
    says(&postgres, "bob", &hello("bob"));
    says(&postgres, "bob", &held("bob", "files-1", false));
    let mut mara = Console::open(&postgres, "mara");
    mara.until("a card", |console| console.waiting() == 1);
    let junk = |kind: &str, said: &str, rows: u32| {
        let columns = format!("'s' || n, '', '{kind}', {said}");
        let sql = format!(
            "INSERT INTO mcp_approve.told (session, ticket, kind, said) SELECT {columns} FROM generate_series(1, {rows}) AS n"
        );
        postgres.rows("ada", &sql);
    };
    let long = "CREATE TEMP TABLE junk AS SELECT repeat('x', 1048576) AS said;
        INSERT INTO mcp_approve.told (session, ticket, kind, said) SELECT 's', '', 'status', said FROM junk, generate_series(1, 10000)";
    postgres.rows("ada", long);
    junk("status", "'{}'", 100_000);
    says(&postgres, "bob", &held("bob", "files-2", false));
    mara.until("the next card", |console| console.waiting() == 2);
    // Wrappers that are none.
    let said = serde_json::to_string(&hello("ada")).unwrap().replace("\"s1\"", "\"s' || n || '\"");
    junk("hello", &format!("'{said}'"), 1000);
    let mut sam = Console::open(&postgres, "sam");
    sam.until("cards", |console| console.waiting() == 2 && console.around().left_out.is_some());
    assert_eq!(sam.screen.model.wrappers.len(), 257);
    // The same again, each from another host.
    let said = serde_json::to_string(&hello("ada")).unwrap().replace("\"s1\"", "\"s' || n % 250 || '\"");
    let said = said.replace("\"ada-host\"", "\"h' || n || '\"");
    junk("hello", &format!("'{said}'"), 30_000);
    says(&postgres, "bob", &held("bob", "files-3", false));
    sam.until("the next card", |console| console.waiting() == 3);
}

#[test]
fn a_machine_has_its_share_of_a_console_and_hides_no_call_of_another() {
    let Some(postgres) = desk() else { return };
    for machine in ["ada", "bob"] {
        says(&postgres, machine, &hello(machine));
    }
    hold_many(&postgres, "ada", 1..=2_050, 1);
    says(&postgres, "bob", &held("bob", "files-1", false));
    let mut mara = Console::open(&postgres, "mara");
    let left_out =
        |console: &Console, said: &str| console.around().left_out.as_ref().is_some_and(|all| all.starts_with(said));
    mara.until("the rest", |console| left_out(console, "left out: 50 calls of ada;"));
    assert_eq!(mara.waiting(), 2_001);
    // Later ones, too; one that ends makes room.
    hold_many(&postgres, "ada", 2_051..=2_052, 1);
    says(&postgres, "bob", &held("bob", "files-2", false));
    mara.until("bob's", |console| left_out(console, "left out: 52 calls of ada;") && console.waiting() == 2_002);
    let end = CallEnd { ticket: "files-1".into(), time: now(), verdict: None, by: By::Expiry, who: String::new() };
    says(&postgres, "ada", &Told::Settled(end));
    says(&postgres, "ada", &held("ada", "files-9000", false));
    mara.until("one more", |console| console.settled.len() == 1 && console.waiting() == 2_002);
    assert!(left_out(&mara, "left out: 52 calls of ada;"), "{:?}", mara.around());
    // Calls end that are here, and one that was left out: the oldest of those that were left out come in their place.
    for n in (2..=11).chain([2_052]) {
        let ticket = format!("files-{n}");
        let end = CallEnd { ticket, time: now(), verdict: None, by: By::Expiry, who: String::new() };
        says(&postgres, "ada", &Told::Settled(end));
    }
    mara.until("the next ten", |console| left_out(console, "left out: 41 calls of ada;") && console.waiting() == 2_002);
    let is_here = |n: u32| {
        mara.screen.model.queue.calls.iter().any(|held| held.waits() && held.key.ticket == format!("files-{n}"))
    };
    assert!(is_here(2_001) && is_here(2_010) && !is_here(2_011) && is_here(9_000), "the oldest first");
    // Such a call is as any other: it ends, and the next comes.
    let end = CallEnd { ticket: "files-2001".into(), time: now(), verdict: None, by: By::Expiry, who: String::new() };
    says(&postgres, "ada", &Told::Settled(end));
    mara.until("one more", |console| left_out(console, "left out: 40 calls of ada;") && console.waiting() == 2_002);
}

#[test]
fn the_cards_of_a_machine_take_no_more_memory_than_its_share() {
    let Some(postgres) = desk() else { return };
    for machine in ["ada", "bob"] {
        says(&postgres, machine, &hello(machine));
    }
    hold_many(&postgres, "ada", 1..=40, 220_000);
    says(&postgres, "bob", &held("bob", "files-1", false));
    let mut mara = Console::open(&postgres, "mara");
    mara.until("the rest", |console| console.around().left_out.is_some() && console.waiting() > 1);
    let left_out = mara.around().left_out.clone().unwrap_or_default();
    let waiting = mara.waiting();
    assert!((20..40).contains(&waiting) && mara.screen.model.wrappers.len() == 2, "{waiting} {left_out}");
    assert!(left_out.starts_with(&format!("left out: {} calls of ada;", 41 - waiting)), "{waiting} {left_out}");
}

#[test]
fn what_a_machine_does_not_tell_again_has_ended() {
    let Some(postgres) = desk() else { return };
    says(&postgres, "ada", &hello("ada"));
    says(&postgres, "ada", &held("ada", "files-1", false));
    says(&postgres, "ada", &held("ada", "files-2", false));
    let mut mara = Console::open(&postgres, "mara");
    mara.until("the calls", |console| console.waiting() == 2);
    // Its process ends and begins again: what it tells again goes on, without a word about an end.
    let all =
        "INSERT INTO mcp_approve.told (session, ticket, kind, said) VALUES ('*', '', 'gone', '{\"say\":\"gone\"}')";
    assert!(postgres.psql("ada", all).status.success());
    says(&postgres, "ada", &hello("ada"));
    says(&postgres, "ada", &held("ada", "files-2", false));
    says(&postgres, "ada", &held("ada", "files-3", false));
    mara.until("the next call", |console| console.waiting() == 3);
    mara.until("an end", |console| console.settled.iter().any(|end| end.ticket == "files-1"));
    assert_eq!(mara.settled.len(), 1);
    assert!(mara.screen.model.lost.is_empty());
    // Whoever comes now sees the same.
    let mut sam = Console::open(&postgres, "sam");
    sam.until("the calls", |console| console.waiting() == 2);
    assert!(postgres.psql("ada", all).status.success());
    mara.until("nothing", |console| console.screen.model.wrappers.is_empty());
    let mut late = Console::open(&postgres, "sam");
    late.until("mara", |console| !console.around().operators.is_empty());
    assert_eq!(late.screen.model.wrappers.len(), 0);
}

#[test]
fn waiting_on_the_desk_is_one_line_or_json() {
    let Some(postgres) = desk() else { return };
    let home = tempfile::tempdir().unwrap();
    let waiting = |more: &[&str]| {
        let url = postgres.url("mara");
        let words = ["mcp-approve", "--home", home.path().to_str().unwrap(), "waiting", "--desk", &url];
        let mut out = Vec::new();
        let code = cli::run(words.iter().chain(more).map(Into::into), &mut out).expect("it can be asked");
        (format!("{code:?}"), String::from_utf8(out).unwrap())
    };
    let code = |code: std::process::ExitCode| format!("{code:?}");
    assert_eq!(waiting(&[]), (code(std::process::ExitCode::SUCCESS), String::new()));
    says(&postgres, "ada", &hello("ada"));
    says(&postgres, "ada", &held("ada", "files-1", false));
    let (exit, said) = waiting(&[]);
    assert_eq!(exit, code(std::process::ExitCode::FAILURE));
    assert!(said.starts_with("1 call waits · ada@ada-host:filesystem: creates notes/today.md"), "{said}");
    let (_, json) = waiting(&["--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["waiting"], &json["calls"][0]["machine"]), (&1.into(), &"ada-host".into()));
}

#[test]
fn the_desk_alone_says_what_is_true_of_it() {
    let Some(postgres) = desk() else { return };
    let home = tempfile::tempdir().unwrap();
    let says = |words: &[&str]| {
        let all = ["mcp-approve", "--home", home.path().to_str().unwrap(), "desk"];
        let mut out = Vec::new();
        let code = cli::run(all.iter().chain(words).map(Into::into), &mut out).expect("it can be asked");
        (format!("{code:?}"), String::from_utf8(out).unwrap())
    };
    let success = format!("{:?}", std::process::ExitCode::SUCCESS);
    let (code, none) = says(&[]);
    assert!(code == success && none.starts_with("No desk is configured here"), "{none}");
    assert!(none.contains(" desk init --url") && none.contains(" desk run\n"), "{none}");
    let (_ada, url) = (is_here(&postgres, "ada"), postgres.url("mara"));
    let folder = postgres.folder().display().to_string();
    let home_words = format!(" --home {}", home.path().display());
    let plain = |text: String| text.replace(&folder.replace('/', "%2F"), "FOLDER").replace(&home_words, "");
    hold_many(&postgres, "ada", 1..=3, 1);
    super::console::says(&postgres, "ada", &hello("ada"));
    hold_many(&postgres, "ada", 4..=5, 1);
    let (code, said) = says(&["--url", &url]);
    assert_eq!(code, success);
    // A desk that no config.toml names is named in each command.
    assert!(said.contains(&format!("mcp-approve{home_words} --desk {url}: ")), "{said}");
    insta::assert_snapshot!("desk_operator", plain(said));
    insta::assert_snapshot!("desk_machine", plain(says(&["--url", &postgres.url("ada")]).1));
    insta::assert_snapshot!("desk_json", plain(says(&["--url", &url, "--json"]).1));
    // As whoever has no part in it, and where none answers.
    postgres.rows("postgres", "CREATE ROLE stranger LOGIN");
    assert!(says(&["--url", &postgres.url("stranger")]).1.contains("permission denied"));
    let (code, away) = says(&["--url", "postgres://mara@127.0.0.1:1/none"]);
    assert!(code != success && away.contains("answers    no: the desk cannot be reached"), "{away}");
    assert!(away.contains("\nnext       look at the URL"), "{away}");
}

/// Only what decides is sent: see `Command`.
#[test]
fn keys_that_are_for_a_machine_say_so() {
    let mut screen = Desk::connected(120, 40);
    screen.model.settings.reach = Reach::Desk;
    screen.hold(write("files-1"));
    screen.look();
    for key in ['e', 'r', 't', 'p', 'm', 'w', '+'] {
        let sent = screen.press(Key::Char(key));
        let is_sent = |command: &Command| matches!(command, Command::Send { message, .. } if !matches!(message, FromConsole::Look { .. }));
        assert!(!sent.iter().any(is_sent), "{key}: {sent:?}");
        assert!(screen.screen().contains("only at its machine"), "{key}: {}", screen.screen());
        screen.now += 5_000;
        screen.look();
    }
}
