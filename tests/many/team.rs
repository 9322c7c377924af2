//! What a team has signed: rules and roles of one home, reviewed and taken over on another; its forgers and the desk's owner as attackers.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use mcp_approve::signing::standing::{FREEZE, TEAM, TeamSet, text};
use mcp_approve::signing::statement::Evidence;
use mcp_approve::wire::Digest;
use portable_pty::CommandBuilder;
use serde_json::{Value, json};

use super::bed::{Machine, mara, now, sam};
use super::roles::desk;
use super::stop::signed;
use crate::fake::operator::Operator;
use crate::fake::terminal::Terminal;
use crate::fake::{BINARY, log, until};
use crate::postgres::Postgres;
use crate::signing_bed::Key;

const NOTHING: &str = "There is nothing to take over";

fn set(said: &str, (signer, key): (&str, &Key), time: i64) -> Evidence {
    signed(text(&TeamSet::new(Digest::of(said.as_bytes()), (signer.into(), time))), key, TEAM)
}

/// Writes a set as the owner of the database would, who is held to no grant.
fn row(postgres: &Postgres, Evidence { statement, signature }: &Evidence, said: &str) {
    postgres.rows(
        "postgres",
        &format!(
            "INSERT INTO mcp_approve.standing (kind, statement, signature, said) \
             VALUES ('team', $a${statement}$a$, $a${signature}$a$, $a${said}$a$)"
        ),
    );
}

fn share(postgres: &Postgres, said: &str) {
    row(postgres, &set(said, ("mara@example.com", &mara()), now()), said);
}

fn names(machine: &Machine, author: &str) {
    fs::create_dir_all(machine.path().join("config")).expect("a folder");
    let text = format!("[desk]\nteam = [\"{author}\"]\n");
    fs::write(machine.path().join("config/config.toml"), text).expect("a configuration");
}

fn run(home: &Path, words: &[&str]) -> String {
    let said = Command::new(BINARY).arg("--home").arg(home).args(words).output().expect("run");
    assert!(said.status.success(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8_lossy(&said.stdout).into_owned()
}

fn review(machine: &Machine) -> String {
    run(machine.path(), &["tools", "review", "--team"])
}

/// Waits until `desk run` has brought what its review shows so.
fn brings(machine: &Machine, words: &[&str]) -> String {
    until("the set is brought", || Some(review(machine)).filter(|said| words.iter().all(|word| said.contains(word))))
}

fn at_terminal(machine: &Machine) -> Terminal {
    let mut command = CommandBuilder::new(BINARY);
    command.args(["--home".as_ref(), machine.path().as_os_str()]);
    command.args(["tools", "review", "--team"]);
    Terminal::running(command, (160, 80))
}

fn of(rules: &Value) -> String {
    json!({ "version": 2, "agreed": [], "rules": rules }).to_string()
}

fn allow(title: &str) -> Value {
    json!({ "id": "go", "decision": "allow", "server": "s", "tool": "write",
        "when": [{ "arg": "title", "glob": title }] })
}

#[test]
fn rules_and_roles_of_one_home_are_reviewed_and_taken_over_on_another() {
    let Some(postgres) = desk() else { return };
    let author = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        fs::create_dir_all(author.path().join("config")).expect("a folder");
        fs::write(author.path().join("config").join(name), text).expect("a file");
    };
    write(
        "policy.toml",
        "version = 1\n[[rule]]\nid = \"no\"\ndecision = \"deny\"\ntool = \"write\"\nwhen = [{ arg = \"title\", eq = \"bad\" }]\n\
         [[rule]]\nid = \"go\"\ndecision = \"allow\"\nserver = \"s\"\ntool = \"write\"\nwhen = [{ arg = \"title\", glob = \"ok*\" }]\n",
    );
    write("config.toml", "[roles.clerk]\ncapabilities = [\"invoices:*\"]\n");
    let file = author.path().join("team.json");
    let said = run(author.path(), &["tools", "review", "--export", file.to_str().expect("UTF-8")]);
    assert!(said.starts_with("2 rules, 1 role written to"), "{said}");
    let said = fs::read_to_string(&file).expect("a file");

    let mut machine = Machine::start(&postgres, "", &[]);
    let mut console = machine.local();
    let asks = |machine: &mut Machine, console: &mut Operator, title: &str| {
        let id = machine.write(title);
        let asked = console.asked("write");
        console.approve(&asked);
        assert!(machine.answer(id).contains("done"), "{title}");
    };
    asks(&mut machine, &mut console, "ok 1");
    names(&machine, "mara@example.com");
    share(&postgres, &said);
    let shown = brings(&machine, &["new rule no", "new rule go", "new role clerk"]);
    for words in [
        &format!("the digest of its text is {}", Digest::of(said.as_bytes())),
        "mara@example.com",
        "+team = \"mara@example.com\"",
        "Rule go would have matched 1 of 1 past call",
        "Here it is about s (",
        "role clerk grants here: invoices:* on every server",
        "Of these 3, 1 would let more calls pass.",
        "run this at a terminal",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let told = run(machine.path(), &["tools", "review"]);
    assert!(told.contains("mara@example.com has shared 2 rules, 1 role that you have not"), "{told}");
    // To read it changes nothing.
    assert!(!machine.path().join("config/policy.toml").exists());
    asks(&mut machine, &mut console, "ok 2");

    let mut terminal = at_terminal(&machine);
    terminal.shows(&["new role clerk", "Enter: to none"]);
    terminal.types("a\r");
    terminal.shows(&["Accept now? [y/N]"]);
    // Written, and not accepted: what tightens counts, what allows does not.
    console.stands("what it allows waits", |status| !status.pending.is_empty());
    let id = machine.write("bad");
    assert!(machine.answer(id).contains("rule no"), "the deny counts");
    asks(&mut machine, &mut console, "ok 3");
    terminal.types("y\r");
    terminal.shows(&["Accepted: running servers use it"]);
    assert!(terminal.wait().success());
    console.stands("accepted", |status| status.pending.is_empty());
    let id = machine.write("ok 4");
    assert!(machine.answer(id).contains("done"));
    assert_eq!(machine.decisions().last().expect("a decision")["rule"], "go");
    let records = log::of_kind(machine.path(), "policy");
    let taken =
        records.iter().find(|one| one["detail"]["from_team"]["signer"] == "mara@example.com").expect("a record");
    let statement = taken["detail"]["from_team"]["statement"].as_str().expect("a statement");
    assert!(statement.contains(&Digest::of(said.as_bytes()).to_string()), "{statement}");
    assert!(
        records.iter().any(|one| one["detail"]["what"] == "an operator accepted the changed policy"),
        "{records:?}"
    );
    log::verifies(machine.path());
    let listed = run(machine.path(), &["rules", "list"]);
    assert!(listed.contains("its file says from mara@example.com"), "{listed}");

    // A newer set is a change of what was taken over; nothing at all takes it back.
    share(&postgres, &of(&json!([allow("fine*")])));
    let shown = brings(&machine, &["rule go, changed", "rule no, taken back", "role clerk, taken back"]);
    assert!(shown.contains("glob = \"ok*\"") && shown.contains("glob = \"fine*\""), "{shown}");
    assert!(shown.contains("It loosens your policy: drops the deny rule no"), "{shown}");
    share(&postgres, "{\"version\":1,\"agreed\":[]}\n");
    brings(&machine, &["rule go, taken back", "rule no, taken back", "role clerk, taken back"]);
    let told = run(machine.path(), &["tools", "review"]);
    assert!(told.contains("mara@example.com has taken 3 back that you have"), "{told}");
    let mut terminal = at_terminal(&machine);
    terminal.shows(&["Enter: to none"]);
    terminal.types("2 3\r");
    terminal.shows(&["Taken over: rule go, taken back; role clerk, taken back."]);
    assert!(terminal.wait().success());
    // It is read again within a second.
    thread::sleep(Duration::from_secs(2));
    asks(&mut machine, &mut console, "ok 5");
    assert!(!fs::read_to_string(machine.path().join("config/config.toml")).expect("a file").contains("clerk"));
}

#[test]
fn g10_what_nobody_named_has_signed_is_offered_to_nobody_and_an_older_set_takes_no_place() {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "", &[]);
    names(&machine, "mara@example.com");
    let good = of(&json!([allow("ok*")]));
    let (mara_s, sam_s) = (mara(), sam());
    let as_mara = |said: &str, time| set(said, ("mara@example.com", &mara_s), time);
    for (evidence, said) in [
        // An author that this machine does not name; a name with another's key; another text; another purpose; tomorrow.
        (set(&good, ("sam@example.com", &sam_s), now()), good.clone()),
        (set(&good, ("mara@example.com", &sam_s), now()), good.clone()),
        (as_mara(&good, now()), good.replace("ok*", "*")),
        (signed(as_mara(&good, now()).statement, &mara_s, FREEZE), good.clone()),
        (as_mara(&good, now() + 86_400_000), good.clone()),
    ] {
        row(&postgres, &evidence, &said);
    }
    let mark = of(&json!([{ "id": "mark", "decision": "deny", "tool": "x" }]));
    let earlier = as_mara(&mark, now() - 60_000);
    row(&postgres, &earlier, &mark);
    let shown = brings(&machine, &["new rule mark"]);
    assert!(!shown.contains("rule go"), "{shown}");
    // A thousand rows of one who may write there and sign nothing hide no set below them.
    postgres.rows(
        "postgres",
        "INSERT INTO mcp_approve.standing (kind, statement, signature, said) SELECT 'team', 'x', 'y', 'z' FROM generate_series(1, 1000)",
    );
    let latest = of(&json!([{ "id": "later", "decision": "deny", "tool": "x" }]));
    row(&postgres, &as_mara(&latest, now()), &latest);
    brings(&machine, &["new rule later"]);
    postgres.rows(
        "postgres",
        "INSERT INTO mcp_approve.standing (kind, statement, signature, said) SELECT 'team', 'x', 'y', 'z' FROM generate_series(1, 1000)",
    );
    fs::remove_file(machine.path().join("state/desk/team.json")).expect("what was brought");
    machine.stop_run();
    machine.start_run();
    brings(&machine, &["new rule later"]);
    // Another author's set that cannot be read is named, and keeps nobody else's from the review.
    let both = "[desk]\nteam = [\"mara@example.com\", \"sam@example.com\"]\n";
    fs::write(machine.path().join("config/config.toml"), both).expect("a configuration");
    row(&postgres, &set("{}", ("sam@example.com", &sam_s), now()), "{}");
    let shows = |machine: &Machine, words: &[&str]| {
        until("the set is brought", || {
            let said =
                Command::new(BINARY).arg("--home").arg(machine.path()).args(["tools", "review", "--team"]).output();
            let said = said.expect("run");
            let text = String::from_utf8_lossy(&said.stdout).into_owned();
            words.iter().all(|word| text.contains(word)).then(|| (text, said.status.success()))
        })
    };
    assert!(!shows(&machine, &["new rule later", "is not a file of agreements"]).1);
    assert!(run(machine.path(), &["tools", "review"]).contains("mara@example.com has shared 1 rule"));
    names(&machine, "mara@example.com");
    // The owner takes the latest away, and brings an older one again.
    postgres.rows("postgres", "DELETE FROM mcp_approve.standing");
    row(&postgres, &earlier, &mark);
    let diagnostics = machine.path().join("state/log");
    until("it is named", || {
        let files = fs::read_dir(&diagnostics).into_iter().flatten().flatten();
        let mut texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
        texts.find(|text| text.contains("no longer has the latest set of mara@example.com"))
    });
    assert!(review(&machine).contains("new rule later") && !review(&machine).contains("rule mark"));
    machine.stop_run();
    machine.start_run();
    assert!(review(&machine).contains("new rule later"));
    // Nor does an older one count once the key of the latest is off the list, or has come back to it.
    fs::write(machine.path().join("config/config.toml"), both).expect("a configuration");
    let list = machine.path().join("etc/allowed_signers");
    let before = fs::read_to_string(&list).expect("a list");
    let of_sam = format!("sam@example.com {}\n", sam_s.line());
    for (list_now, rule, mara_has) in [(&of_sam, "without", false), (&before, "with", true)] {
        fs::write(&list, list_now).expect("a list");
        let said = of(&json!([{ "id": rule, "decision": "deny", "tool": "x" }]));
        row(&postgres, &set(&said, ("sam@example.com", &sam_s), now()), &said);
        let (shown, _) = shows(&machine, &[&format!("new rule {rule}")]);
        assert!(!shown.contains("rule mark") && shown.contains("new rule later") == mara_has, "{shown}");
    }
    names(&machine, "mara@example.com");
    // Who is named no more is offered no more.
    names(&machine, "tom@example.com");
    assert!(review(&machine).starts_with(NOTHING));
}

#[test]
fn g10_a_machine_that_lets_a_team_only_tighten_takes_no_rule_that_allows() {
    let Some(postgres) = desk() else { return };
    let mut machine = Machine::start(&postgres, "[desk]\nteam_may = \"tighten\"\n", &[]);
    let mut console = machine.local();
    names(&machine, "mara@example.com");
    let agreed = json!({ "what": "meta", "key": "example.com/turn", "value": "tester", "since": "2026-11-20" });
    let rules = json!([allow("*"), { "id": "no", "decision": "deny", "tool": "write",
        "when": [{ "arg": "title", "eq": "bad" }], "note": "\u{1b}[2J\u{202e}" }]);
    share(&postgres, &json!({ "version": 2, "agreed": [agreed], "rules": rules }).to_string());
    let shown = brings(&machine, &["rule go left out", "1 agreement left out", "new rule no"]);
    assert!(!shown.contains(['\u{1b}', '\u{202e}']) && !shown.contains("new rule go"), "{shown}");
    // Whoever writes it into the file all the same: it counts for nothing.
    let policy =
        "version = 1\n[[rule]]\nid = \"go\"\ndecision = \"allow\"\ntool = \"write\"\nteam = \"mara@example.com\"\n";
    fs::write(machine.path().join("config/policy.toml"), policy).expect("a policy");
    let mut accept = CommandBuilder::new(BINARY);
    accept.args(["--home".as_ref(), machine.path().as_os_str()]);
    accept.args(["rules", "accept"]);
    let mut terminal = Terminal::running(accept, (160, 40));
    terminal.shows(&["Accept this? Type yes:"]);
    terminal.types("yes\r");
    terminal.shows(&["Accepted"]);
    assert!(terminal.wait().success());
    thread::sleep(Duration::from_secs(2));
    machine.write("ok");
    console.asked("write");
}

#[test]
fn what_was_never_accepted_is_not_given_to_others() {
    let Some(postgres) = desk() else { return };
    let machine = Machine::start(&postgres, "", &[]);
    fs::create_dir_all(machine.path().join("config")).expect("a folder");
    // Written by a program of the same user.
    let policy = "version = 1\n[[rule]]\nid = \"planted\"\ndecision = \"allow\"\ntool = \"write\"\n";
    fs::write(machine.path().join("config/policy.toml"), policy).expect("a policy");
    let file = machine.path().join("team.json");
    let said = run(machine.path(), &["tools", "review", "--export", file.to_str().expect("UTF-8")]);
    assert!(said.contains("Left out: all rules: policy.toml has a change that waits until you accept it"), "{said}");
    assert!(!fs::read_to_string(file).expect("a file").contains("planted"));
}
