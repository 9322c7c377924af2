//! A stop for all, and what the desk cannot do about it: real wrappers, a real PostgreSQL, its owner as the attacker.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mcp_approve::gate::data::event::Now;
use mcp_approve::gate::state::frozen::Stops;
use mcp_approve::home::places::Places;
use mcp_approve::home::standing;
use mcp_approve::signing::standing::{ALIVE, Alive, FREEZE, LifeSign, Stop, StopWord, text};
use mcp_approve::signing::statement::Evidence;
use mcp_approve::wire::Digest;
use portable_pty::CommandBuilder;
use serde_json::json;

use super::bed::{Machine, mara, now, sam};
use super::roles::desk;
use crate::fake::operator::Operator;
use crate::fake::terminal::Terminal;
use crate::fake::{BINARY, log, until};
use crate::postgres::Postgres;
use crate::signing_bed::{Key, Making, armored};

fn robot() -> Key {
    Key::new("ssh-ed25519", 3)
}

pub fn signed(statement: String, key: &Key, namespace: &'static str) -> Evidence {
    let signature = armored(&key.sign(statement.as_bytes(), &Making { namespace, ..Making::default() }));
    Evidence { statement, signature }
}

fn stop(word: StopWord, machine: &str, reason: &str, time: i64) -> String {
    text(&Stop::new(word, machine.into(), reason.into(), ("mara@example.com".into(), time)))
}

fn lift(ends: &[&Evidence], time: i64) -> Evidence {
    let ends = ends.iter().map(|one| Digest::of(one.statement.as_bytes())).collect();
    let stop = Stop::new(StopWord::Lift, "*".into(), String::new(), ("mara@example.com".into(), time));
    signed(text(&stop.ending(ends)), &mara(), FREEZE)
}

/// Writes a row as the owner of the database would, who is held to no grant.
fn row(postgres: &Postgres, kind: &str, Evidence { statement, signature }: &Evidence) {
    let sql = format!(
        "INSERT INTO mcp_approve.standing (kind, statement, signature) VALUES ('{kind}', $a${statement}$a$, $a${signature}$a$)"
    );
    postgres.rows("postgres", &sql);
}

fn frozen(console: &mut Operator, by: &str) {
    let banner = |status: &mcp_approve::link::message::Status| status.banner.clone().unwrap_or_default();
    console.stands(by, |status| banner(status).starts_with("FROZEN: ") && banner(status).contains(by));
}

fn free(console: &mut Operator) {
    console.stands("no longer frozen", |status| status.banner.is_none());
}

fn reads(machine: &mut Machine, id: i64) {
    machine.host.call(id, "read", &json!({}));
}

fn passes(machine: &mut Machine, id: i64) {
    reads(machine, id);
    assert_eq!(machine.host.answer(id)["result"]["content"][0]["text"], "done");
}

#[test]
fn g7_a_stop_holds_whatever_the_desk_does_and_only_its_signed_end_frees() {
    let Some(mut postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &[]);
    passes(&mut machine, 101);
    let mut console = machine.local();
    let began = Instant::now();
    let first = now();
    let freeze = signed(stop(StopWord::Freeze, "*", "a first leak", first), &mara(), FREEZE);
    row(&postgres, "stop", &freeze);
    frozen(&mut console, "a first leak");
    println!("a stop was seen {:?} after its row was there, without being woken", began.elapsed());
    let said = doctor(&machine);
    assert!(said.contains("frozen") && said.contains("mara@example.com froze all machines at"), "{said}");
    reads(&mut machine, 102);
    let asked = console.asked("read");
    // A person may still approve a single call.
    reads(&mut machine, 103);
    let other = console.asked("read");
    console.approve(&other);
    assert_eq!(machine.host.answer(103)["result"]["content"][0]["text"], "done");

    // What the owner of the database writes, by whoever's key that it may have, lifts nothing.
    let Evidence { statement: lifts, .. } = lift(&[&freeze], now());
    let unsigned = |statement: &str| Evidence { statement: statement.to_owned(), signature: freeze.signature.clone() };
    for evidence in [
        signed(lifts.clone(), &Key::new("ssh-ed25519", 9), FREEZE),
        signed(lifts.clone(), &sam(), FREEZE),
        signed(lifts.clone(), &mara(), "verdict@mcp-approve"),
        signed(lifts.clone(), &mara(), "change@mcp-approve"),
        signed(lifts.clone(), &mara(), ALIVE),
        signed(lifts.replace(',', ", "), &mara(), FREEZE),
        signed(stop(StopWord::Lift, "*", "names none", now()), &mara(), FREEZE),
        lift(&[&signed(stop(StopWord::Freeze, "*", "another", first), &mara(), FREEZE)], now()),
        lift(&[&freeze], now() + 3_600_000),
        unsigned(&lifts),
        Evidence { statement: lifts.clone(), signature: "no signature".into() },
    ] {
        row(&postgres, "stop", &evidence);
    }
    row(&postgres, "team", &lift(&[&freeze], now()));
    // The next stop, signed by a clock that is an hour behind, comes after all of these, and is seen: so they were read, and did nothing.
    let second = signed(stop(StopWord::Freeze, "*", "a second leak", first - 3_600_000), &mara(), FREEZE);
    row(&postgres, "stop", &second);
    frozen(&mut console, "a second leak");
    assert!(kept(&machine).contains("a first leak"));
    // Neither does taking the rows away, or `desk run`, or its files.
    postgres.rows("postgres", "DELETE FROM mcp_approve.standing");
    machine.stop_run();
    fs::remove_dir_all(machine.path().join("state/desk")).expect("its files");
    machine.start_run();
    row(&postgres, "stop", &lift(&[&freeze], now()));
    reads(&mut machine, 104);
    console.asked("read");
    // An answer that is there would have come first.
    row(&postgres, "stop", &lift(&[&second], now()));
    free(&mut console);
    for id in [102, 104] {
        assert_eq!(machine.host.answer(id)["result"]["content"][0]["text"], "done");
    }
    console.settled(&asked.call.ticket);
    passes(&mut machine, 105);
    // The first stop again, which was lifted since.
    row(&postgres, "stop", &freeze);
    let host = mcp_approve::home::standing::me().machine;
    let only = signed(stop(StopWord::Freeze, &host, "this machine", now()), &mara(), FREEZE);
    row(&postgres, "stop", &only);
    frozen(&mut console, "this machine");
    row(&postgres, "stop", &lift(&[&only], now()));
    free(&mut console);
    postgres.down();
    passes(&mut machine, 106);
    let records = log::of_kind(machine.path(), "policy");
    let stops = records.iter().filter(|one| one["detail"]["what"] == "calls are frozen");
    assert!(stops.clone().count() >= 3, "{records:?}");
    assert!(stops.clone().all(|one| one["detail"]["signatures"][0]["signer"] == "mara@example.com"));
    let list = machine.path().join("etc/allowed_signers").display().to_string();
    let said = log::run(machine.path(), &["verify", "--allowed-signers", &list]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("signatures hold"), "{said}");
}

/// The file of stops.
fn kept(machine: &Machine) -> String {
    fs::read_to_string(machine.path().join("state/desk/stop.json")).unwrap_or_default()
}

fn doctor(machine: &Machine) -> String {
    let doctor = Command::new(BINARY).arg("--home").arg(machine.path()).arg("doctor").output().expect("doctor");
    String::from_utf8_lossy(&doctor.stdout).into_owned()
}

#[test]
fn g7_a_stop_that_cannot_be_verified_any_more_is_kept_and_holds_until_somebody_lifts_it() {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &[]);
    let mut console = machine.local();
    let freeze = signed(stop(StopWord::Freeze, "*", "a leak", now()), &mara(), FREEZE);
    row(&postgres, "stop", &freeze);
    frozen(&mut console, "a leak");
    machine.stop_run();
    postgres.rows("postgres", "DELETE FROM mcp_approve.standing");
    let list = machine.path().join("etc/allowed_signers");
    let signers = fs::read_to_string(&list).expect("a list");
    for (allowed, why) in [
        (None, "there is no list of signers"),
        (Some("not a line"), "allowed_signers: line 1"),
        (Some(&*format!("sam@example.com {}\n", sam().line())), "is not in the list of allowed signers"),
    ] {
        match allowed {
            None => fs::remove_file(&list).expect("a list"),
            Some(text) => fs::write(&list, text).expect("a list"),
        }
        machine.start_run();
        // It writes what it has read.
        let mark = format!("none of ours {}", now());
        let other = text(&Stop::new(StopWord::Freeze, mark, String::new(), ("sam@example.com".into(), now())));
        row(&postgres, "stop", &signed(other.clone(), &sam(), FREEZE));
        if why.contains("is not in") {
            until("the other stop is kept", || kept(&machine).contains("none of ours").then_some(()));
        } else {
            std::thread::sleep(Duration::from_secs(2));
        }
        assert!(kept(&machine).contains("a leak"), "{why}: {}", kept(&machine));
        let said = doctor(&machine);
        assert!(said.contains("froze all machines at") && said.contains("cannot be verified now"), "{why}: {said}");
        assert!(said.contains(why), "{said}");
        machine.stop_run();
    }
    machine.start_run();
    let ends = vec![Digest::of(freeze.statement.as_bytes())];
    let by_sam = Stop::new(StopWord::Lift, "*".into(), String::new(), ("sam@example.com".into(), now()));
    row(&postgres, "stop", &signed(text(&by_sam.ending(ends)), &sam(), FREEZE));
    free(&mut console);
    assert!(!kept(&machine).contains("a leak"));
    fs::write(&list, signers).expect("a list");
    passes(&mut machine, 101);
}

/// Adds the robot's key to the machine's list, and its first sign of life to the desk.
fn robot_signs(machine: &Machine, postgres: &Postgres) {
    let list = machine.path().join("etc/allowed_signers");
    let signers = fs::read_to_string(&list).expect("a list");
    fs::write(&list, format!("{signers}robot@example.com namespaces=\"alive@mcp-approve\" {}\n", robot().line()))
        .expect("a list");
    let sign = text(&Alive::new(1, Vec::new(), ("robot@example.com".into(), now())));
    row(postgres, "alive", &signed(sign, &robot(), ALIVE));
}

#[test]
fn g7_where_stops_cannot_be_kept_no_sign_of_life_is() {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "[desk]\nrequired = true\n", &[]);
    machine.stop_run();
    let [stops, alive] = ["stop.json", "alive.json"].map(|name| machine.path().join("state/desk").join(name));
    fs::create_dir_all(&stops).expect("a folder in its place");
    robot_signs(&machine, &postgres);
    machine.start_run();
    let log = machine.path().join("state/log");
    let said = || {
        let files = fs::read_dir(&log).into_iter().flatten().flatten();
        files.filter_map(|file| fs::read_to_string(file.path()).ok()).find(|text| text.contains("was not kept"))
    };
    until("why it is not kept is written down", said);
    assert!(!alive.exists());
    fs::remove_dir(&stops).expect("a folder");
    until("it is kept", || alive.exists().then_some(()));
}

#[cfg(target_os = "linux")]
#[test]
fn g7_a_clock_that_is_set_back_gives_a_sign_of_life_no_second_five_minutes() {
    let Some(postgres) = desk() else { return };
    let machine = Machine::start(&postgres, "[desk]\nrequired = true\n", &[]);
    let mut console = machine.local();
    robot_signs(&machine, &postgres);
    free(&mut console);
    // As a wrapper finds it that is started now, and one that is started five minutes later by the clock since the machine was started.
    let places = Places::under(machine.path()).expect("places");
    let frozen = || {
        let mut stops = Stops::default();
        let now = Now { mono: 0, wall: now() };
        stops.take(standing::Reader::new(&places).changed(now.wall).expect("files"), now);
        stops.frozen_at(LifeSign::Required, now)
    };
    assert_eq!(frozen(), None);
    let file = places.desk_dir().join("taken.json");
    let mut taken: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).expect("a file")).expect("JSON");
    taken["millis"] = json!(taken["millis"].as_i64().expect("a number") - 300_000);
    fs::write(&file, taken.to_string()).expect("written");
    assert!(frozen().is_some_and(|frozen| frozen.says.starts_with("no sign of life of the desk since ")));
}

#[test]
fn g7_rows_of_a_role_without_a_key_hide_no_sign_of_life() {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "[desk]\nrequired = true\n", &[]);
    let mut console = machine.local();
    frozen(&mut console, "no sign of life of the desk so far");
    // While nothing is read.
    machine.stop_run();
    robot_signs(&machine, &postgres);
    postgres.rows(
        "sam",
        "INSERT INTO mcp_approve.standing (kind, statement, signature) SELECT 'alive', 'x', 'y' FROM generate_series(1, 17)",
    );
    machine.start_run();
    free(&mut console);
}

#[test]
fn g7_rows_that_mean_nothing_delay_no_stop() {
    let Some(postgres) = desk() else { return };
    let machine = Machine::start(&postgres, "", &[]);
    let mut console = machine.local();
    postgres.rows(
        "sam",
        "CREATE TEMP TABLE junk AS SELECT repeat('x', 65536) AS x, repeat('y', 16384) AS y;
         INSERT INTO mcp_approve.standing (kind, statement, signature) SELECT 'stop', x, y FROM junk, generate_series(1, 40000)",
    );
    let began = Instant::now();
    row(&postgres, "stop", &signed(stop(StopWord::Freeze, "*", "a leak", now()), &mara(), FREEZE));
    frozen(&mut console, "a leak");
    println!("a stop beside 40,000 rows of junk was seen {:?} after its row was there", began.elapsed());
}

#[test]
fn g7_cutting_the_database_off_frees_nothing_where_a_sign_of_life_is_required() {
    let Some(mut postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "[desk]\nrequired = true\n", &[]);
    let mut console = machine.local();
    frozen(&mut console, "no sign of life of the desk so far");
    reads(&mut machine, 101);
    console.asked("read");
    let list = machine.path().join("etc/allowed_signers");
    let signers = fs::read_to_string(&list).expect("a list");
    let robots = format!("{signers}robot@example.com namespaces=\"alive@mcp-approve\" {}\n", robot().line());
    fs::write(&list, robots).expect("a list");
    let alive = |counter, time: i64, who: &str, key: &Key| {
        signed(text(&Alive::new(counter, Vec::new(), (who.to_owned(), time))), key, ALIVE)
    };
    // A key that may sign verdicts is none for an unattended process; one that is too old is none either.
    row(&postgres, "alive", &alive(50, now(), "mara@example.com", &mara()));
    row(&postgres, "alive", &alive(5, now() - 301_000, "robot@example.com", &robot()));
    let fresh = now() - 290_000;
    row(&postgres, "alive", &alive(6, fresh, "robot@example.com", &robot()));
    free(&mut console);
    assert_eq!(machine.host.answer(101)["result"]["content"][0]["text"], "done");
    passes(&mut machine, 102);
    // No more comes through: that one was signed nearly five minutes ago.
    postgres.down();
    frozen(&mut console, "no sign of life of the desk since");
    assert!(now() >= fresh + 300_000, "not before its time");
    reads(&mut machine, 103);
    console.asked("read");
    // The same row again, and the same counter signed anew, are no new ones: a higher counter frees.
    postgres.up();
    row(&postgres, "alive", &alive(6, now(), "robot@example.com", &robot()));
    let mark = signed(stop(StopWord::Freeze, "*", "a mark", now()), &mara(), FREEZE);
    row(&postgres, "stop", &mark);
    frozen(&mut console, "a mark");
    row(&postgres, "stop", &lift(&[&mark], now()));
    frozen(&mut console, "no sign of life of the desk since");
    row(&postgres, "alive", &alive(7, now(), "robot@example.com", &robot()));
    free(&mut console);
    assert_eq!(machine.host.answer(103)["result"]["content"][0]["text"], "done");
}

/// Ends with the test.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The commands, with the real ssh-keygen.
#[test]
fn a_stop_is_signed_listed_and_lifted_and_signs_of_life_are_signed() {
    let Some(postgres) = desk() else { return };
    let home = tempfile::tempdir().expect("a folder");
    let key = |name: &str| {
        let file = home.path().join(name);
        let made =
            Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", "k", "-f"]).arg(&file).status();
        made.is_ok_and(|made| made.success()).then(|| fs::read_to_string(file.with_extension("pub")).expect("a key"))
    };
    let (Some(own), Some(unattended)) = (key("own"), key("robot")) else {
        println!("SKIPPED: there is no ssh-keygen here (openssh-client)");
        return;
    };
    let list = format!("tom@example.com {own}robot@example.com namespaces=\"alive@mcp-approve\" {unattended}");
    fs::create_dir_all(home.path().join("etc")).expect("a folder");
    fs::write(home.path().join("etc/allowed_signers"), &list).expect("a list");
    let socket = home.path().join("agent");
    let agent =
        Command::new("ssh-agent").arg("-D").arg("-a").arg(&socket).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let _agent = Ends(agent.expect("an agent"));
    until("the agent has the key", || {
        let mut add = Command::new("ssh-add");
        add.arg("-q").arg(home.path().join("own")).env("SSH_AUTH_SOCK", &socket).stderr(Stdio::null());
        add.status().expect("ssh-add").success().then_some(())
    });
    let command = |words: &[&str]| {
        let mut command = Command::new(BINARY);
        command.arg("--home").arg(home.path()).arg("desk").args(words);
        command.args(["--url", &postgres.url("mara")]).env("SSH_AUTH_SOCK", &socket);
        command
    };
    let run = |words: &[&str]| {
        let said = command(words).output().expect("run");
        assert!(said.status.success(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).into_owned()
    };
    let mut machine = Machine::start(&postgres, "", &[]);
    let signers = machine.path().join("etc/allowed_signers");
    fs::write(&signers, &list).expect("a list");
    let mut console = machine.local();
    assert_eq!(run(&["freeze", "--status"]), "No stop is in force.\nThere is no sign of life.\n");
    assert_eq!(run(&["freeze", "--lift"]), "There is nothing to lift: no stop for all machines is in force.\n");
    let began = Instant::now();
    let said = run(&["freeze", "--reason", "a leaked token"]);
    assert!(
        said.ends_with(
            "The stop is on the desk: all machines. Where it arrives each call is asked, until you lift it.\n"
        ),
        "{said}"
    );
    frozen(&mut console, "a leaked token");
    println!("a stop was signed, written and seen within {:?}", began.elapsed());
    let said = run(&["freeze", "--status"]);
    assert!(said.starts_with("tom@example.com froze all machines at 20"), "{said}");
    assert!(said.contains("(a leaked token): each call is asked until"), "{said}");
    reads(&mut machine, 101);
    console.asked("read");
    // `desk alive` names a stop from the moment that it has seen it, also when its row is gone and it starts again.
    let file = home.path().join("robot.pub").display().to_string();
    let signs =
        || postgres.rows("eve", "SELECT statement FROM mcp_approve.standing WHERE kind = 'alive' ORDER BY place");
    let signed = |n: usize| {
        let _alive = Ends(command(&["alive", "--key", &file]).stdout(Stdio::null()).spawn().expect("run"));
        until("a sign of life is on the desk", || signs().get(n - 1).cloned())
    };
    assert!(!signed(1).contains(r#""stops":[]"#));
    super::log::owner(
        &postgres,
        "CREATE TABLE kept AS SELECT statement, signature FROM mcp_approve.standing WHERE kind = 'stop';
         DELETE FROM mcp_approve.standing WHERE kind = 'stop'",
    );
    assert!(!signed(2).contains(r#""stops":[]"#));
    super::log::owner(&postgres, "DELETE FROM mcp_approve.standing WHERE kind = 'alive'");
    assert!(run(&["freeze", "--lift"]).ends_with("Lifted: all machines.\n"));
    assert!(signed(1).contains(r#""stops":[]"#));
    super::log::owner(&postgres, "DELETE FROM mcp_approve.standing WHERE kind = 'alive'");
    assert_eq!(machine.host.answer(101)["result"]["content"][0]["text"], "done");

    // A machine is named as it names itself, or by its role on the desk; a stop for a name that no one has would hold nowhere.
    let role = run(&["freeze", "--machine", "ADA"]);
    assert!(role.contains("ADA is the role of ") && role.contains("The stop is on the desk: "), "{role}");
    frozen(&mut console, "tom@example.com");
    assert!(run(&["freeze", "--machine", "ada", "--lift"]).contains("Lifted: "));
    free(&mut console);
    // Whatever a role says of itself later, what it said before is not forgotten.
    super::log::owner(
        &postgres,
        "INSERT INTO mcp_approve.told (machine, session, ticket, kind, said) SELECT machine, session, '', 'hello',
            regexp_replace(said, '\"host\":\"[^\"]*\"', '\"host\":\"zz\"') FROM mcp_approve.told WHERE kind = 'hello'",
    );
    let wrong = command(&["freeze", "--machine", "ada"]).output().expect("run");
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(!wrong.status.success() && said.contains("ada can be more than one machine of the desk: "), "{said}");
    super::log::owner(&postgres, "DELETE FROM mcp_approve.told WHERE said LIKE '%\"zz\"%'");
    // A role that fills the table of stops keeps no sign of life from being signed. Not all is read; what is there of others is.
    super::log::owner(&postgres, "DELETE FROM mcp_approve.standing");
    postgres.rows(
        "sam",
        "INSERT INTO mcp_approve.standing (kind, statement, signature) SELECT 'stop', repeat('x', 65536), repeat('y', 16384) FROM generate_series(1, 20000)",
    );
    assert!(signed(1).contains(r#""stops":[]"#));
    super::log::owner(&postgres, "DELETE FROM mcp_approve.standing");
    let wrong = command(&["freeze", "--machine", "build-99"]).output().expect("run");
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(!wrong.status.success() && said.contains("build-99 names none of the desk's machines: "), "{said}");
    assert!(said.contains("(role ada)") && said.contains("--unseen"), "{said}");
    assert!(run(&["freeze", "--machine", "build-99", "--unseen"]).contains("The stop is on the desk: build-99."));
    assert!(run(&["freeze", "--machine", "build-99", "--lift"]).contains("Lifted: build-99."));

    let alive = Ends(command(&["alive", "--key", &file]).stdout(Stdio::null()).spawn().expect("run"));
    let count = || postgres.rows("eve", "SELECT count(*) FROM mcp_approve.standing WHERE kind = 'alive'");
    until("a sign of life is on the desk", || (count() == ["1"]).then_some(()));
    drop(alive);
    let said = run(&["freeze", "--status"]);
    assert!(said.contains("The last sign of life is") && said.contains("robot@example.com"), "{said}");
    // The key of a person signs none.
    let own = home.path().join("own.pub").display().to_string();
    let mut refused = command(&["alive", "--key", &own]).stdout(Stdio::piped()).spawn().expect("run");
    std::thread::sleep(Duration::from_secs(2));
    let _ = refused.kill();
    let said = String::from_utf8(refused.wait_with_output().expect("ended").stdout).expect("UTF-8");
    assert!(said.contains("lets this key sign more than signs of life"), "{said}");
    assert_eq!(said.lines().count(), 1, "each failure once: {said}");
    assert_eq!(count(), ["1"]);

    // What a team has agreed to: offered where the author is named, and taken over by a person at a terminal.
    let file = home.path().join("agreed.json");
    let one =
        r#"{"version":1,"agreed":[{"what":"meta","key":"example.com/turn","value":"tester","since":"2026-11-20"}]}"#;
    fs::write(&file, one).expect("a file");
    let said = run(&["share", &file.display().to_string()]);
    assert!(said.contains("Shared: 1 agreement."), "{said}");
    let forged = Evidence { statement: "{}".into(), signature: "no signature".into() };
    row(&postgres, "team", &forged);
    let review = |words: &[&str]| {
        let mut command = Command::new(BINARY);
        command.arg("--home").arg(machine.path()).args(["tools", "review"]).args(words);
        let said = command.output().expect("run");
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).into_owned()
    };
    assert!(review(&["--team"]).starts_with("There is nothing to take over"));
    let names = |author: &str| {
        fs::create_dir_all(machine.path().join("config")).expect("a folder");
        let text = format!("[desk]\nteam = [\"{author}\"]\n");
        fs::write(machine.path().join("config/config.toml"), text).expect("a configuration");
    };
    names("tom@example.com");
    until("the set was brought", || review(&[]).contains("tom@example.com has shared 1 agreement").then_some(()));
    let said = review(&["--team"]);
    assert!(said.contains("as the set that tom@example.com signed at 20"), "{said}");
    assert!(said.contains("run this at a terminal") && log::of_kind(machine.path(), "agreed").is_empty(), "{said}");
    names("robot@example.com");
    assert!(review(&["--team"]).starts_with("There is nothing to take over"), "another author is named");
    names("tom@example.com");
    let mut command = CommandBuilder::new(BINARY);
    command.args(["--home".as_ref(), machine.path().as_os_str()]);
    command.args(["tools", "review", "--team"]);
    let mut terminal = Terminal::running(command, (120, 40));
    terminal.shows(&["example.com/turn in _meta from tester"]);
    terminal.types("a\r");
    terminal.shows(&["Agreed to 1"]);
    assert!(terminal.wait().success());
    let records = log::of_kind(machine.path(), "agreed");
    assert_eq!(records[0]["detail"]["from_team"]["signer"], "tom@example.com", "{records:?}");
    assert!(review(&["--team"]).contains("There is nothing new to agree to"));
    assert!(!review(&[]).contains("has shared"));
    // It is taken back.
    assert!(run(&["share", "--none"]).contains("Shared: nothing."));
    until("that was brought", || review(&[]).contains("tom@example.com has taken 1 back that you have").then_some(()));
    let mut command = CommandBuilder::new(BINARY);
    command.args(["--home".as_ref(), machine.path().as_os_str()]);
    command.args(["tools", "review", "--team"]);
    let mut terminal = Terminal::running(command, (120, 40));
    terminal.shows(&["To be asked about again", "example.com/turn in _meta from tester"]);
    terminal.types("1\r");
    terminal.shows(&["Taken back: 1"]);
    assert!(terminal.wait().success());
    assert_eq!(log::of_kind(machine.path(), "agreed")[1]["detail"]["taken_back"], true);
    assert!(run(&["share", &file.display().to_string()]).contains("Shared: 1 agreement."));
    until("it was brought again", || review(&[]).contains("has shared 1 agreement").then_some(()));
    // Its file, changed: it is not the text that was signed.
    let brought = machine.path().join("state/desk/team.json");
    let text = fs::read_to_string(&brought).expect("a set");
    fs::write(&brought, text.replace("example.com/turn", "example.com/burn")).expect("a set");
    let said = review(&["--team"]);
    assert!(said.contains("example.com/turn") || said.starts_with("There is nothing to take over"), "{said}");
    assert!(!said.contains("burn"), "{said}");
}
