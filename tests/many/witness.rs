//! The ends of all logs, signed by an operator: what follows from what was signed before, what is missed later, what may be dropped.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use mcp_approve::audit::chain::Head;
use mcp_approve::audit::record::Entry;
use mcp_approve::audit::removed::{self, Stretch};
use mcp_approve::cli::log::named::LogPlace;
use mcp_approve::desk::daily::Daily;
use mcp_approve::desk::engine::{Program, Target};
use mcp_approve::desk::log::Central;
use mcp_approve::desk::witness::{Done, Witnessing};
use mcp_approve::home::places::Places;
use mcp_approve::operator::sign::{self, OwnKey};
use mcp_approve::signing::signers::Signers;

use super::log::{Machine, NOON, call, owner, record, says, says_to, target, until};
use super::roles::desk;
use crate::postgres::Postgres;
use crate::signing_bed::Key;

const DAY: i64 = 86_400_000;

/// An operator's own machine: mara's, whose key lies in a file.
struct Own {
    home: tempfile::TempDir,
    places: Places,
    key: OwnKey,
    list: PathBuf,
    target: Target,
}

impl Own {
    fn new(postgres: &Postgres) -> Self {
        Self::with(postgres, "")
    }

    /// With a passphrase on the key.
    fn with(postgres: &Postgres, passphrase: &str) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let file = home.path().join("key");
        let mut keygen = Command::new("ssh-keygen");
        let made = keygen.args(["-q", "-t", "ed25519", "-N", passphrase, "-f"]).arg(&file).status();
        assert!(made.expect("ssh-keygen").success());
        let file = file.with_extension("pub");
        let public = sign::public_key(&file).expect("a key");
        let list = home.path().join("allowed_signers");
        std::fs::write(&list, format!("mara namespaces=\"witness@mcp-approve\" {}\n", public.line())).expect("a list");
        let key = OwnKey { signer: "mara".to_owned(), key: public, file: Some(file) };
        let places = Places::under(home.path()).expect("places");
        places.create_state().expect("a folder");
        Self { home, places, key, list, target: target(postgres, "mara") }
    }

    fn signers(&self) -> Signers {
        let list = std::fs::read_to_string(&self.list).expect("a list");
        Signers::read(&list, "", &jiff::tz::TimeZone::UTC).expect("a list")
    }

    fn with_witnessing<T>(&self, does: impl FnOnce(&Witnessing<'_>) -> T) -> T {
        let (desk, signers) = (Central::open(&self.target, Program::Command).expect("a desk"), self.signers());
        does(&Witnessing { desk: &desk, target: &self.target, places: &self.places, signers: &signers })
    }

    fn signs(&self, time: i64) -> Result<Done, String> {
        self.with_witnessing(|witnessing| {
            let sign = &mut |text: &sign::ToSign| text.sign(&self.places);
            witnessing.sign(time, &self.key, sign, &|| Ok(true)).map(|done| done.expect("it may"))
        })
    }

    fn verifies(&self) -> (String, bool) {
        let line = format!("log verify --allowed-signers {}", self.list.display());
        let (said, end) = says_to(&self.places, &line, LogPlace::Desk(&self.target));
        (said, end == format!("{:?}", Ok::<_, String>(ExitCode::SUCCESS)))
    }

    /// What a console of this operator has to say at a moment.
    fn looks(&self, daily: &mut Daily, keys: &[OwnKey], now: i64) {
        self.with_witnessing(|witnessing| daily.look(witnessing, keys, now)).expect("a desk");
    }
}

fn sent(postgres: &Postgres, machine: &'static str, numbers: std::ops::RangeInclusive<i64>) -> Machine {
    let mut machine = Machine::new(machine);
    machine.calls(numbers);
    sends(postgres, &mut machine);
    machine
}

/// Has `desk run` send all that a machine has, with the end of its log.
fn sends(postgres: &Postgres, machine: &mut Machine) {
    let heads = format!("SELECT count(*) FROM mcp_approve.head WHERE machine = '{}'", machine.name);
    let before = postgres.rows("eve", &heads);
    machine.runs(postgres);
    machine.is_sent(postgres);
    until("its head is there", || postgres.rows("eve", &heads) != before);
    machine.stops();
}

fn notes(postgres: &Postgres) -> String {
    postgres.rows("eve", "SELECT count(*) FROM mcp_approve.witness").concat()
}

#[test]
fn g5_what_an_operator_signed_is_missed() {
    let Some(postgres) = desk() else { return };
    let _ada = sent(&postgres, "ada", 1..=10);
    let own = Own::new(&postgres);
    assert_eq!(own.signs(NOON), Ok(Done { logs: 1, left_out: Vec::new() }));
    let note = postgres.rows("eve", "SELECT note FROM mcp_approve.witness");
    let id = postgres.rows("eve", "SELECT desk FROM mcp_approve.version").concat();
    assert_eq!(note[..2], [format!("mcp-approve/desk/{id}"), "1".to_owned()]);
    assert_eq!(note[3..5], ["signer \"mara\"", "time 1795255200000"]);
    assert!(
        note[5].starts_with("head \"ada\" 10 ") && note[6].is_empty() && note[7].starts_with("\u{2014} mara "),
        "{note:?}"
    );
    let (said, holds) = own.verifies();
    assert!(holds && said.contains("Compared with 1 text that an operator signed."), "{said}");
    // Its key was replaced: it counts no more, and is no finding, since the desk has it.
    let list = std::fs::read_to_string(&own.list).expect("a list");
    let other = format!("mara namespaces=\"witness@mcp-approve\" {}\n", Key::new("ssh-ed25519", 9).line());
    std::fs::write(&own.list, other).expect("a list");
    let (said, holds) = own.verifies();
    assert!(holds && said.contains("Without effect: 1 text that mara wrote and no signer signed"), "{said}");
    std::fs::write(&own.list, list).expect("a list");
    // The end is cut off with the machine's own word of it.
    owner(
        &postgres,
        "DELETE FROM mcp_approve.record WHERE seq > 8; UPDATE mcp_approve.head SET seq = 8, link = (SELECT link FROM mcp_approve.record WHERE seq = 8)",
    );
    let (said, holds) = own.verifies();
    assert!(!holds && said.contains("ada: THE LOG IS NOT AS IT WAS SENT, 8 records:\n  record 10 is missing or another: mara saw it and signed it on "), "{said}");
    owner(&postgres, "DELETE FROM mcp_approve.record; DELETE FROM mcp_approve.head");
    assert!(own.verifies().0.contains("record 10 is missing or another: mara saw it"));
    for (change, why) in [
        ("replace(note, '\"ada\" 10 ', '\"ada\" 11 ')", "the signature does not match the statement and the key"),
        ("replace(note, 'time 1', 'time 2')", "the signature does not match the statement and the key"),
        ("replace(note, E'\\n\\n', '')", "it is not canonical"),
    ] {
        owner(
            &postgres,
            &format!("CREATE TABLE kept AS TABLE mcp_approve.witness; UPDATE mcp_approve.witness SET note = {change}"),
        );
        let (said, holds) = own.verifies();
        assert!(!holds && said.contains("DOES NOT COUNT") && said.contains(why), "{change}: {said}");
        owner(&postgres, "UPDATE mcp_approve.witness SET note = (SELECT note FROM kept); DROP TABLE kept");
    }
}

#[test]
fn g5_only_what_follows_from_the_last_witness_is_signed() {
    let Some(postgres) = desk() else { return };
    let (mut ada, mut bob) = (sent(&postgres, "ada", 1..=10), sent(&postgres, "bob", 1..=5));
    let own = Own::new(&postgres);
    assert_eq!(own.signs(NOON), Ok(Done { logs: 2, left_out: Vec::new() }));
    ada.calls(11..=20);
    bob.calls(6..=9);
    for machine in [&mut ada, &mut bob] {
        sends(&postgres, machine);
    }
    owner(&postgres, "CREATE TABLE kept AS TABLE mcp_approve.record; CREATE TABLE kept_head AS TABLE mcp_approve.head");
    for (change, named) in [
        ("DELETE FROM mcp_approve.record WHERE machine = 'ada' AND seq = 15", "records 15 to 15 are missing"),
        ("DELETE FROM mcp_approve.record WHERE machine = 'ada' AND seq = 11", "records 11 to 11 are missing"),
        (
            "DELETE FROM mcp_approve.record WHERE machine = 'ada' AND seq >= 10",
            "record 20 is missing or another: the machine sent it",
        ),
        (
            "DELETE FROM mcp_approve.record WHERE machine = 'ada'",
            "record 20 is missing or another: the machine sent it",
        ),
        (
            "DELETE FROM mcp_approve.record WHERE machine = 'ada' AND seq >= 10; DELETE FROM mcp_approve.head WHERE seq = 20",
            "record 10 is missing or another: mara saw it and signed it on",
        ),
        (
            "UPDATE mcp_approve.record SET body = replace(body, '/tmp/17', '/tmp/71') WHERE machine = 'ada'",
            "record 17 does not carry the link it must have",
        ),
        (
            "UPDATE mcp_approve.record SET link = sha256('x') WHERE machine = 'ada' AND seq = 10",
            "from record 10 on there are two logs",
        ),
    ] {
        owner(&postgres, change);
        let left_out = own.signs(NOON + DAY).expect(change).left_out;
        assert!(left_out.len() == 1 && left_out[0].starts_with(&format!("ada: {named}")), "{change}: {left_out:?}");
        let note = postgres.rows("eve", "SELECT note FROM mcp_approve.witness ORDER BY place DESC LIMIT 1").join("\n");
        assert!(note.contains("head \"bob\" 9 ") && !note.contains("ada"), "{note}");
        owner(
            &postgres,
            "TRUNCATE mcp_approve.record, mcp_approve.head; INSERT INTO mcp_approve.record OVERRIDING SYSTEM VALUE SELECT * FROM kept; \
             INSERT INTO mcp_approve.head OVERRIDING SYSTEM VALUE SELECT * FROM kept_head",
        );
    }
    // What was signed is not read again: that is what `log verify` does.
    owner(&postgres, "DELETE FROM mcp_approve.record WHERE machine = 'ada' AND seq < 10");
    assert_eq!(own.signs(NOON + 2 * DAY), Ok(Done { logs: 2, left_out: Vec::new() }));
    let (said, holds) = own.verifies();
    assert!(
        !holds && said.contains("ada: THE LOG IS NOT AS IT WAS SENT, 11 records:\n  records 1 to 9 are missing"),
        "{said}"
    );
}

#[test]
fn g5_a_witness_is_of_one_desk_and_kept_by_who_signed_it() {
    let Some(postgres) = desk() else { return };
    let _ada = sent(&postgres, "ada", 1..=10);
    let own = Own::new(&postgres);
    own.signs(NOON).expect("signed");
    let change = |sql: &str| owner(&postgres, sql);
    // The desk is given another name, with all that was signed of it, and without.
    change(
        "CREATE TABLE kept AS SELECT desk FROM mcp_approve.version; UPDATE mcp_approve.version SET desk = gen_random_uuid()",
    );
    let (said, holds) = own.verifies();
    assert!(!holds && said.contains("A TEXT THAT WAS SIGNED HERE DOES NOT COUNT: it is of another desk"), "{said}");
    change("CREATE TABLE kept_note AS TABLE mcp_approve.witness; DELETE FROM mcp_approve.witness");
    let (said, holds) = own.verifies();
    assert!(!holds && said.contains("A TEXT THAT WAS SIGNED HERE DOES NOT COUNT: it is of another desk"), "{said}");
    let refused = own.signs(NOON + DAY).expect_err("refused");
    assert!(
        refused.contains("what was signed here last does not count on this desk: it is of another desk"),
        "{refused}"
    );
    // It has its name back, and what was signed is gone with the records of it.
    change(
        "UPDATE mcp_approve.version SET desk = (SELECT desk FROM kept); DELETE FROM mcp_approve.record WHERE seq > 8; UPDATE mcp_approve.head SET seq = 8, link = (SELECT link FROM mcp_approve.record WHERE seq = 8)",
    );
    let (said, holds) = own.verifies();
    assert!(!holds && said.contains("record 10 is missing or another: mara saw it"), "{said}");
    assert!(said.contains("DOES NOT COUNT: the desk does not have it any more"), "{said}");
    assert!(own.signs(NOON + DAY).is_err());
    // To another operator, who has none of it, nothing is missing.
    let line = format!("log verify --allowed-signers {}", own.list.display());
    let (said, _) = says(&line, LogPlace::Desk(&own.target));
    assert!(said.contains("ada: the chain holds, 8 records."), "{said}");
}

#[test]
fn a_desk_of_an_earlier_version_says_what_its_owner_has_to_run() {
    let Some(postgres) = desk() else { return };
    let own = Own::new(&postgres);
    sent(&postgres, "ada", 1..=3);
    postgres.rows("postgres", "ALTER TABLE mcp_approve.version DROP COLUMN desk");
    let said = own.signs(NOON).unwrap_err();
    assert!(said.contains("by an earlier version") && said.contains("`mcp-approve desk init --url "), "{said}");
}

#[test]
fn a_console_signs_the_days_witness_where_the_key_asks_nobody() {
    let Some(postgres) = desk() else { return };
    let own = Own::new(&postgres);
    let [mut first, mut second] = [Daily::default(), Daily::default()];
    let keys = [own.key.clone()];
    own.looks(&mut first, &keys, NOON);
    assert_eq!((first.news.clone(), notes(&postgres)), (second.news.clone(), "0".to_owned()), "nothing was sent yet");
    let mut ada = sent(&postgres, "ada", 1..=10);
    own.looks(&mut first, &keys, NOON);
    assert_eq!(first.news.signed, Some((NOON, "the ends of 1 log, as mara".to_owned())));
    // A junk note of an operator without a key changes nothing, and the second console signs no second one.
    owner(&postgres, "INSERT INTO mcp_approve.witness (note) SELECT 'x' FROM generate_series(1, 40)");
    own.looks(&mut second, &keys, NOON + DAY - 1);
    assert_eq!((&second.news.signed, &second.news.wrong), (&None, &None));
    assert_eq!(notes(&postgres), "41");
    let (said, holds) = own.verifies();
    assert!(holds && said.contains("Compared with 1 text that an operator signed."), "{said}");
    assert!(
        said.contains(
            "\nWithout effect: 40 texts that postgres wrote and no signer signed for this desk (the statement cannot be read"
        ),
        "{said}"
    );
    own.looks(&mut second, &keys, NOON + DAY);
    own.looks(&mut first, &keys, NOON + DAY);
    assert_eq!((notes(&postgres), second.news.signed.is_some()), ("42".to_owned(), true));
    // A log that does not hold is named.
    ada.calls(11..=14);
    sends(&postgres, &mut ada);
    owner(&postgres, "DELETE FROM mcp_approve.record WHERE seq = 12");
    own.looks(&mut first, &keys, NOON + 2 * DAY);
    let wrong = first.news.wrong.take().unwrap_or_default();
    assert!(wrong.contains("nothing to sign: ada: records 12 to 12 are missing"), "{wrong}");
    assert_eq!(notes(&postgres), "42");
}

#[test]
fn a_console_asks_for_a_witness_where_the_key_asks_a_person() {
    let Some(postgres) = desk() else { return };
    let _ada = sent(&postgres, "ada", 1..=10);
    let own = Own::with(&postgres, "correct horse");
    // A key that is touched is not asked for it.
    let touched = Key::new("sk-ssh-ed25519@openssh.com", 1);
    let file = own.home.path().join("touched.pub");
    std::fs::write(&file, touched.line()).expect("a file");
    let touched = OwnKey { key: sign::public_key(&file).expect("a key"), file: Some(file), signer: "mara".to_owned() };
    let mut daily = Daily::default();
    own.looks(&mut daily, &[touched], NOON);
    let wrong = daily.news.wrong.as_deref();
    assert_eq!(
        wrong,
        Some("no witness of all logs was ever signed: `mcp-approve desk witness` signs one, with a touch")
    );
    // One with a passphrase fails, asks nowhere, and is left alone for a day.
    let (mut daily, keys) = (Daily::default(), [own.key.clone()]);
    own.looks(&mut daily, &keys, NOON);
    let wrong = daily.news.wrong.clone().unwrap_or_default();
    assert!(
        wrong.contains("`mcp-approve desk witness` signs one; in the background it failed: ssh-keygen did not sign"),
        "{wrong}"
    );
    assert_eq!(notes(&postgres), "0");
    // Signed by hand meanwhile, it is asked for no longer.
    std::fs::copy(own.home.path().join("key"), own.home.path().join("locked")).expect("a copy");
    let mut keygen = Command::new("ssh-keygen");
    let opened =
        keygen.args(["-q", "-p", "-P", "correct horse", "-N", "", "-f"]).arg(own.home.path().join("key")).status();
    assert!(opened.expect("ssh-keygen").success());
    own.looks(&mut daily, &keys, NOON + 1);
    assert_eq!((daily.news.wrong.is_some(), notes(&postgres)), (true, "0".to_owned()));
    own.signs(NOON + 2).expect("signed");
    own.looks(&mut daily, &keys, NOON + 3);
    assert_eq!(daily.news.wrong, None);
    std::fs::copy(own.home.path().join("locked"), own.home.path().join("key")).expect("a copy");
    own.looks(&mut daily, &keys, NOON + 3 * DAY + 2);
    let wrong = daily.news.wrong.unwrap_or_default();
    assert!(wrong.starts_with("no witness of all logs for 3 days: "), "{wrong}");
}

/// The record that says that the first records of a log were removed; it names the link that the last of them has on the desk.
fn removal(postgres: &Postgres, machine: &str, last: u64) -> Entry {
    let link =
        format!("SELECT encode(link, 'hex') FROM mcp_approve.record WHERE machine = '{machine}' AND seq = {last}");
    let head = serde_json::from_value(postgres.rows("eve", &link).concat().into()).expect("a link");
    let (from, to) = (String::new(), String::new());
    let before = Head::EMPTY.link;
    removed::entry(NOON, "ada", &[Stretch { first: 1, last, count: last, before, head, from, to, digest: head }])
}

#[test]
fn g5_a_record_that_others_were_removed_hides_nothing_that_was_here() {
    let Some(postgres) = desk() else { return };
    let (mut ada, mut bob) = (sent(&postgres, "ada", 1..=10), sent(&postgres, "bob", 1..=5));
    let own = Own::new(&postgres);
    // Of bob's they were removed before anybody had signed: it is named, and no fault once that is signed.
    record(&bob.log(), [removal(&postgres, "bob", 3)]);
    sends(&postgres, &mut bob);
    owner(
        &postgres,
        "DELETE FROM mcp_approve.record WHERE machine = 'bob' AND seq <= 3; DELETE FROM mcp_approve.head WHERE machine = 'bob' AND seq < 6",
    );
    assert!(own.verifies().0.contains("bob: THE LOG IS NOT AS IT WAS SENT, 3 records:\n  records 1 to 3 are missing"));
    assert_eq!(own.signs(NOON), Ok(Done { logs: 2, left_out: Vec::new() }));
    let (said, holds) = own.verifies();
    let named = "bob: records 1 to 3 were removed at the machine, by ada, before it sent any: record 6 says so.";
    assert!(holds && said.contains(named), "{said}");
    // Of ada's they were signed.
    record(&ada.log(), [removal(&postgres, "ada", 5)]);
    sends(&postgres, &mut ada);
    owner(&postgres, "DELETE FROM mcp_approve.record WHERE machine = 'ada' AND seq <= 5");
    for time in [NOON + 1, NOON + DAY] {
        let (said, holds) = own.verifies();
        let missing = "ada: THE LOG IS NOT AS IT WAS SENT, 6 records:\n  records 1 to 5 are missing";
        assert!(!holds && said.contains("record 11 says so.") && said.contains(missing), "{said}");
        // The first text that was signed here is kept beside the next ones.
        assert_eq!(own.signs(time).is_ok(), time == NOON + 1);
        owner(&postgres, "DELETE FROM mcp_approve.witness WHERE place = 1");
    }
}

#[test]
fn g5_what_is_left_out_of_a_witness_is_not_forgotten_by_who_signed_it() {
    let Some(postgres) = desk() else { return };
    let (_ada, _bob) = (sent(&postgres, "ada", 1..=10), sent(&postgres, "bob", 1..=5));
    let own = Own::new(&postgres);
    own.signs(NOON).expect("signed");
    owner(&postgres, "DELETE FROM mcp_approve.record WHERE machine = 'ada' AND seq = 10");
    assert_eq!(own.signs(NOON + DAY).map(|done| (done.logs, done.left_out.len())), Ok((1, 1)));
    owner(
        &postgres,
        "DELETE FROM mcp_approve.witness WHERE place = 1; DELETE FROM mcp_approve.record WHERE machine = 'ada'; \
         DELETE FROM mcp_approve.head WHERE machine = 'ada'",
    );
    let (said, holds) = own.verifies();
    assert!(!holds && said.contains("  record 10 is missing or another: mara saw it"), "{said}");
}

#[test]
fn g5_where_no_month_has_begun_none_was_dropped() {
    let Some(postgres) = desk() else { return };
    let _ada = sent(&postgres, "ada", 1..=10);
    let own = Own::new(&postgres);
    own.signs(NOON).expect("signed");
    let [last, this] = [month(&postgres, -1).1, month(&postgres, 0).1];
    owner(&postgres, &format!("DROP TABLE {last}, {this}; DELETE FROM mcp_approve.record"));
    let (said, holds) = own.verifies();
    assert!(!holds && said.contains("record 10 is missing or another"), "{said}");
}

/// When a month begins, counted from this one, and the name of its table.
fn month(postgres: &Postgres, from_now: i64) -> (i64, String) {
    let sql = format!(
        "SELECT (extract(epoch FROM m) * 1000)::bigint, 'mcp_approve.record_' || to_char(m, 'YYYY_MM') \
         FROM (SELECT date_trunc('month', now()) + {from_now} * interval '1 month' AS m) AS one"
    );
    let row = postgres.rows("eve", &sql).concat();
    let (begin, name) = row.split_once('|').expect("two columns");
    (begin.parse().expect("a number"), name.to_owned())
}

#[test]
fn g5_old_months_may_be_dropped_once_they_are_witnessed_and_are_named() {
    let Some(postgres) = desk() else { return };
    let (begin, _) = month(&postgres, 0);
    let (_, gone) = month(&postgres, -1);
    let at = |time: i64, n: i64| Entry { time, ..call(n) };
    let own = Own::new(&postgres);
    let [mut ada, mut bob] = [Machine::new("ada"), Machine::new("bob")];
    record(&ada.log(), (1..=30).map(|n| at(begin - DAY + n, n)));
    record(&bob.log(), (1..=5).map(|n| at(begin - DAY + n, n)));
    for machine in [&mut ada, &mut bob] {
        sends(&postgres, machine);
    }
    own.signs(begin - DAY / 2).expect("signed");
    record(&ada.log(), (31..=40).map(|n| at(begin - 1000 + n, n)));
    record(&ada.log(), (41..=60).map(|n| at(begin + n, n)));
    sends(&postgres, &mut ada);
    own.signs(begin + DAY / 2).expect("signed");
    record(&ada.log(), (61..=80).map(|n| at(begin + DAY + n, n)));
    sends(&postgres, &mut ada);
    own.signs(begin + 10 * DAY).expect("signed");
    assert!(own.verifies().1, "{}", own.verifies().0);
    let kept = |sql: &str| {
        owner(
            &postgres,
            "CREATE TABLE kept AS TABLE mcp_approve.record; CREATE TABLE kept_note AS TABLE mcp_approve.witness",
        );
        owner(&postgres, sql);
        let found = own.verifies();
        owner(
            &postgres,
            "TRUNCATE mcp_approve.record, mcp_approve.witness; INSERT INTO mcp_approve.record OVERRIDING SYSTEM VALUE SELECT * FROM kept; \
             INSERT INTO mcp_approve.witness OVERRIDING SYSTEM VALUE SELECT * FROM kept_note; DROP TABLE kept, kept_note",
        );
        found
    };
    // The month is here, so what is missing of it was deleted.
    let (said, holds) = kept("DELETE FROM mcp_approve.record WHERE seq <= 40");
    assert!(
        !holds && said.contains("ada: THE LOG IS NOT AS IT WAS SENT, 40 records:\n  records 1 to 40 are missing"),
        "{said}"
    );
    owner(&postgres, &format!("DROP TABLE {gone}"));
    // What a machine sends with an old date is no record of another's.
    owner(
        &postgres,
        "INSERT INTO mcp_approve.record (machine, seq, writer, body, link, time) VALUES ('carol', 9, '', '', '', '1970-01-02')",
    );
    let (said, _) = own.verifies();
    assert_eq!(said.matches("THE LOG IS NOT AS IT WAS SENT").count(), 1, "{said}");
    owner(&postgres, "DELETE FROM mcp_approve.record WHERE machine = 'carol'");
    let first = jiff::Timestamp::from_millisecond(begin).expect("a moment").strftime("%Y-%m-%d").to_string();
    let (said, holds) = own.verifies();
    assert!(holds, "{said}");
    assert!(
        said.contains(&format!(
            "ada: the chain holds, 40 records.\nada: records 1 to 40 of before {first} were dropped from the desk; the witness of {first} by mara covers them.\n"
        )),
        "{said}"
    );
    assert!(
        said.contains(&format!("bob: the chain holds, 0 records.\nbob: records 1 to 5 of before {first} were dropped")),
        "{said}"
    );
    let json =
        says(&format!("log verify --json --allowed-signers {}", own.list.display()), LogPlace::Desk(&own.target)).0;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["machines"][0]["dropped"]["last"], 40, "{json}");
    // What nobody witnessed in time, what is missing besides, and where it goes on elsewhere.
    for (sql, named) in [
        ("DELETE FROM mcp_approve.record WHERE seq <= 65", "records 1 to 65 are missing"),
        ("DELETE FROM mcp_approve.record WHERE seq = 50", "records 50 to 50 are missing"),
        ("DELETE FROM mcp_approve.record WHERE machine = 'ada'", "record 80 is missing or another"),
        (
            "UPDATE mcp_approve.record SET link = sha256('x') WHERE seq = 41",
            "record 42 does not carry the link it must have",
        ),
        ("UPDATE mcp_approve.witness SET note = 'x' WHERE place < 3", "records 1 to 40 are missing"),
    ] {
        let (said, holds) = kept(sql);
        assert!(!holds && said.contains(named), "{sql}: {said}");
    }
    // Without a list of signers nothing is covered.
    let (said, _) = says("log verify", LogPlace::Desk(&own.target));
    assert!(said.contains("records 1 to 40 are missing"), "{said}");
    // The next witness goes on from what is left, and names what is gone.
    assert_eq!(own.signs(begin + 11 * DAY), Ok(Done { logs: 2, left_out: Vec::new() }));
    assert!(own.verifies().1);
}
