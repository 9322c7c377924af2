//! What an operator agrees to, says of a tool or removes from the log, where the machine's policy asks for signatures: it counts only
//! with one that holds now, and everybody can verify it later.

use std::fs;
use std::process::{Command, ExitCode};

use clap::Parser as _;
use mcp_approve::audit::agreed::{agreed as agreed_entry, taken_back};
use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::behavior::agreed::{Agreement, Backing, What};
use mcp_approve::behavior::conclude::Trust;
use mcp_approve::behavior::taxonomy::Mutability;
use mcp_approve::cli::log::{LogCommand, run};
use mcp_approve::cli::look::Look;
use mcp_approve::gate::data::pin::{AddedIn, Pin, PinState, PinUpdate, UpdateKind};
use mcp_approve::home::agreed::{agree, all, change, of_team, record};
use mcp_approve::home::signers::{proof, word_needs};
use mcp_approve::mcp::tool::Tool;
use mcp_approve::operator::pinned::{PinReview, Shown, ToolReview};
use mcp_approve::operator::settle::Settlement;
use mcp_approve::pins::agreed::Standing;
use mcp_approve::pins::{Launch, PinStore};
use mcp_approve::signing::change::{Change, ChangeKind, ChangeTerms, NAMESPACE, Proof};
use mcp_approve::signing::grade::{Danger, Needs};
use mcp_approve::signing::statement::Evidence;
use mcp_approve::wire::digest::Digest;
use serde_json::json;

use super::signers::{Home, key};
use crate::signing::bed::{Key, Making, NOW, armored};

const ALWAYS: &str = "version = 1\n[operator]\nsigned = \"always\"\n";

fn host(name: &str) -> Agreement {
    Agreement::of_server(What::Host, name)
}

/// A home whose machine wants everything signed, by mara, with a server that was seen.
fn asking() -> (Home, Launch) {
    let home = Home::new();
    home.write("etc/policy.toml", ALWAYS);
    home.write("etc/allowed_signers", &format!("mara@example.com {}\n", key(1).line()));
    home.places.create_state().unwrap();
    let launch = Launch::new("files", &["server".into()], None, None);
    let mut store = PinStore::open(&home.places.pins_db()).unwrap();
    let (_, program) = store.greet(&launch, NOW).unwrap();
    store.note(&launch, &program, Trust::Corroborate, NOW).unwrap();
    (home, launch)
}

/// A signature over a change, but for what a forger does otherwise.
fn signs(terms: ChangeTerms, by: &Key, namespace: &'static str) -> Evidence {
    let statement = Change::new(terms, "mara@example.com".into(), NOW).to_json();
    let making = Making { namespace, ..Making::default() };
    Evidence { signature: armored(&by.sign(statement.as_bytes(), &making)), statement }
}

fn log(home: &Home, line: &str) -> (Option<ExitCode>, String) {
    #[derive(clap::Parser)]
    struct Line {
        #[command(subcommand)]
        command: LogCommand,
    }
    let words = ["log"].into_iter().chain(line.split(' '));
    let (line, mut out) = (Line::try_parse_from(words).unwrap(), Vec::new());
    let found = run(&line.command, &home.places.audit_db(), &home.places, Look::plain(NOW), &mut out);
    let says = found.as_ref().err().map(ToString::to_string).unwrap_or_default();
    (found.ok(), String::from_utf8(out).unwrap() + &says)
}

/// What our verifier and the exported one say of the signatures in the log.
fn verified(home: &Home) -> (bool, String) {
    let list = home.folder.path().join("etc/allowed_signers").display().to_string();
    let (found, said) = log(home, &format!("verify --allowed-signers {list}"));
    let holds = found == Some(ExitCode::SUCCESS);
    let (script, export) = (home.folder.path().join("v.py"), home.folder.path().join("e.jsonl"));
    fs::write(&script, log(home, "export --verifier").1).unwrap();
    fs::write(&export, log(home, "export").1).unwrap();
    let python = Command::new("python3").arg(&script).args(["--allowed-signers", &list]).arg(&export).output();
    if let Ok(python) = python
        && Command::new("ssh-keygen").arg("-?").output().is_ok()
    {
        let text = String::from_utf8_lossy(&[python.stdout, python.stderr].concat()).into_owned();
        assert_eq!(python.status.success(), holds, "ours: {said}\nelsewhere: {text}");
    }
    (holds, said)
}

#[test]
fn what_was_agreed_to_counts_only_with_a_signature_that_covers_it_and_holds_now() {
    let (home, launch) = asking();
    let fingerprint = launch.fingerprint.to_string();
    let one = host("example.org");
    let terms = || change(vec![one.digest(&fingerprint)]);
    let mara = key(1);
    let needs = word_needs(&home.places, Danger::Plain);
    assert_eq!(needs, Needs::Signature);
    // At the door: none, or one that does not cover it.
    type Forgery = fn(&mut ChangeTerms);
    let forged: [(&str, Forgery); 5] = [
        ("what is changed", |terms| terms.changes = vec![host("evil.example").digest("x")]),
        ("its kind", |terms| terms.kind = ChangeKind::Policy),
        ("the machine", |terms| terms.machine = "other".into()),
        ("the user", |terms| terms.user = "other".into()),
        ("the file", |terms| terms.of = "/etc".into()),
    ];
    let proves = |evidence: Option<&Evidence>, at| proof(&home.places, needs, evidence, (&terms(), at));
    assert!(proves(None, NOW).unwrap_err().contains("wants your signature"));
    for (why, forge) in forged {
        let mut other = terms();
        forge(&mut other);
        assert!(proves(Some(&signs(other, &mara, NAMESPACE)), NOW).unwrap_err().contains(why), "{why}");
    }
    for (why, evidence) in [
        ("is not in the list", signs(terms(), &key(2), NAMESPACE)),
        ("another purpose", signs(terms(), &mara, "verdict@mcp-approve")),
    ] {
        assert!(proves(Some(&evidence), NOW).unwrap_err().contains(why), "{why}");
    }
    let good = signs(terms(), &mara, NAMESPACE);
    assert!(proves(Some(&good), NOW + 11 * 60_000).unwrap_err().contains("has expired"));
    assert!(proves(Some(&good), NOW - 3 * 60_000).unwrap_err().contains("future"));
    let proven = proves(Some(&good), NOW).unwrap();
    let mut store = PinStore::open(&home.places.pins_db()).unwrap();
    agree(&mut store, &home.places, &[("files", &fingerprint, &one)], (&proven, None), NOW).unwrap();
    let stands = |store: &PinStore| all(store, &home.places, NOW).unwrap()[0].standing;
    assert_eq!(stands(&store), Standing::Proven(Backing::Signed));
    let (holds, said) = verified(&home);
    assert!(holds && said.contains("1 signature holds"), "{said}");
    // The key is revoked, expires before it signed, or is another's: it counts no more, and says why.
    let line = format!("mara@example.com {}\n", mara.line());
    for (allowed, revoked) in [
        (line.as_str(), mara.line()),
        (&line.replace(".com ", ".com valid-before=\"20261127095959Z\" "), String::new()),
        (&line.replace("mara@", "tom@"), String::new()),
        (&line.replace(".com ", ".com namespaces=\"verdict@mcp-approve\" "), String::new()),
        ("", String::new()),
    ] {
        home.write("etc/allowed_signers", allowed);
        home.write("etc/revoked_keys", &revoked);
        assert_eq!(stands(&store), Standing::Unsigned, "{allowed} {revoked}");
        let known = all(&store, &home.places, NOW).unwrap();
        assert!(known[0].is_unproven() && known[0].trouble().unwrap().contains("asks for signatures"));
    }
    home.write("etc/allowed_signers", &line);
    home.write("etc/revoked_keys", "");
    assert_eq!(stands(&store), Standing::Proven(Backing::Signed));
    // Where the policy asks only for dangerous calls to be signed, the approval of such a call needs none either.
    home.write("etc/policy.toml", &ALWAYS.replace("always", "dangerous"));
    assert_eq!(word_needs(&home.places, Danger::Plain), Needs::Nothing);
    home.write("etc/policy.toml", ALWAYS);
    // What was taken back stays so, whoever writes the row again.
    let entry = Entry::new(NOW, Kind::Agreed, &"files".into(), &"review".into());
    record(&home.places, taken_back(entry, &one, &fingerprint, "a mistake")).unwrap();
    assert_eq!(stands(&store), Standing::TakenBack);
}

#[test]
fn what_was_taken_over_from_a_team_counts_by_the_policy_as_it_is_now() {
    let home = Home::new();
    home.places.create_state().unwrap();
    let launch = Launch::new("files", &["server".into()], None, None);
    let (fingerprint, one) = (launch.fingerprint.to_string(), host("example.org"));
    let mut store = PinStore::open(&home.places.pins_db()).unwrap();
    let proof = Proof::unsigned(Needs::Nothing).unwrap();
    let from = json!({ "signer": "mara@example.com" });
    let mut agrees =
        |from| agree(&mut store, &home.places, &[("files", &fingerprint, &one)], (&proof, from), NOW).unwrap();
    agrees(Some(&from));
    let known = || all(&PinStore::open(&home.places.pins_db()).unwrap(), &home.places, NOW).unwrap().remove(0);
    assert_eq!(known().standing, Standing::Proven(Backing::Recorded));
    for file in ["etc/policy.toml", "config/policy.toml"] {
        home.write(file, "version = 1\n[desk]\nteam_may = \"tighten\"\n");
        assert_eq!(known().standing, Standing::OfTeam, "{file}");
        assert!(known().trouble().unwrap().starts_with("suspended: ") && !known().is_unproven());
        let back = of_team(&PinStore::open(&home.places.pins_db()).unwrap(), &home.places, "mara@example.com", NOW);
        assert_eq!(back.unwrap().len(), 1, "it can be taken back");
        fs::remove_file(home.folder.path().join(file)).unwrap();
        assert_eq!(known().standing, Standing::Proven(Backing::Recorded), "{file}");
    }
    // What the operator agrees to alone is no team's.
    home.write("etc/policy.toml", "version = 1\n[desk]\nteam_may = \"tighten\"\n");
    agrees(None);
    assert_eq!(known().standing, Standing::Proven(Backing::Recorded));
}

#[test]
fn a_row_and_a_record_that_a_process_of_the_user_writes_count_for_nothing() {
    let (home, launch) = asking();
    let fingerprint = launch.fingerprint.to_string();
    let (wanted, signed) = (host("evil.example"), host("example.org"));
    let good = signs(change(vec![signed.digest(&fingerprint)]), &key(1), NAMESPACE);
    let terms = change(vec![signed.digest(&fingerprint)]);
    let borrowed = proof(&home.places, Needs::Signature, Some(&good), (&terms, NOW)).unwrap();
    let mut store = PinStore::open(&home.places.pins_db()).unwrap();
    store.agree(&fingerprint, std::slice::from_ref(&wanted), NOW).unwrap();
    let plain = || agreed_entry(Entry::new(NOW, Kind::Agreed, &"files".into(), &"s".into()), &wanted, &fingerprint);
    // Without a signature, and with one that is good and for something else.
    for entry in [plain(), plain().with("fingerprint", &*fingerprint).proven(&borrowed)] {
        record(&home.places, entry).unwrap();
        assert_eq!(all(&store, &home.places, NOW).unwrap()[0].standing, Standing::Unsigned);
    }
    let (holds, said) = verified(&home);
    assert!(!holds && said.contains("for another change than its record"), "{said}");
    // A record that says something else than what its digest is of.
    let (home, _) = asking();
    let mut lying = agreed_entry(Entry::new(NOW, Kind::Agreed, &"files".into(), &"s".into()), &wanted, &fingerprint);
    lying.digest = Some(signed.digest(&fingerprint));
    record(&home.places, lying.with("fingerprint", &*fingerprint).proven(&borrowed)).unwrap();
    let (holds, said) = verified(&home);
    assert!(!holds && said.contains("for another change than its record"), "{said}");
}

#[test]
fn words_on_a_definition_are_signed_recorded_and_verified_like_what_was_agreed_to() {
    let (home, launch) = asking();
    let mut store = PinStore::open(&home.places.pins_db()).unwrap();
    let definition = json!({ "name": "zap_board", "inputSchema": { "type": "object" } });
    let tool = Tool::read(definition).unwrap();
    let latest = tool.digest();
    let pin = Pin {
        trusted: Some(latest),
        refused: None,
        latest,
        version: 1,
        sense: None,
        identity: None,
        said: None,
        added_in: AddedIn::FirstSession,
        first_seen: NOW,
    };
    let update = PinUpdate { tool, pin, pin_state: PinState::Trusted, kind: UpdateKind::Seen };
    store.keep(&launch, &update, NOW).unwrap();
    let fingerprint = launch.fingerprint.to_string();
    let shown = || Shown { fingerprint: fingerprint.clone(), tool: "zap_board".into(), latest };
    let settlement = Settlement { places: &home.places, now: NOW };
    let said = |store: &PinStore| store.tools().unwrap()[0].pin.said.map(|says| says.mutability);
    // What tightens needs no signature.
    let tightens = PinReview::Tools(vec![(shown(), ToolReview::Is(Mutability::Mutates))]);
    assert_eq!(settlement.to_sign(&tightens).unwrap(), None);
    settlement.of(&tightens, None).unwrap();
    assert_eq!(said(&store), Some(Mutability::Mutates));
    let accepts = PinReview::Tools(vec![(shown(), ToolReview::Accepted)]);
    let reads = PinReview::Tools(vec![(shown(), ToolReview::Is(Mutability::Pure))]);
    let unpins = PinReview::Tools(vec![(shown(), ToolReview::Pinned(None))]);
    for loosens in [&accepts, &reads, &unpins] {
        assert!(settlement.of(loosens, None).unwrap_err().to_string().contains("wants your signature"));
        let of_other = signs(change(vec![Digest::of(b"x")]), &key(1), NAMESPACE);
        assert!(settlement.of(loosens, Some(&of_other)).is_err());
    }
    assert_eq!(said(&store), Some(Mutability::Mutates), "nothing was changed");
    for (n, loosens) in [&accepts, &reads].into_iter().enumerate() {
        let terms = settlement.to_sign(loosens).unwrap().unwrap();
        settlement.of(loosens, Some(&signs(terms, &key(1), NAMESPACE))).unwrap();
        let (holds, said) = verified(&home);
        assert!(holds && said.contains(&format!("{} signature", n + 1)), "{said}");
    }
    assert_eq!(said(&store), Some(Mutability::Pure));
    let known = all(&store, &home.places, NOW).unwrap();
    assert!(known.len() == 1 && known[0].kept.agreement.what == What::Definition, "{known:?}");
    assert_eq!(known[0].standing, Standing::Proven(Backing::Signed));
    // To say the same once more takes nothing back.
    let again = Settlement { places: &home.places, now: NOW + 1000 };
    let terms = again.to_sign(&reads).unwrap().unwrap();
    again.of(&reads, Some(&signs(terms, &key(1), NAMESPACE))).unwrap();
    assert_eq!(all(&store, &home.places, NOW).unwrap()[0].standing, Standing::Proven(Backing::Signed));
    assert!(verified(&home).0);
    // What was signed of it counts no more once something else is said.
    settlement.of(&tightens, None).unwrap();
    assert_eq!(all(&store, &home.places, NOW).unwrap(), []);
    // A word on a definition that changed since it was trusted trusts the new one.
    let file = rusqlite::Connection::open(home.places.pins_db()).unwrap();
    file.execute("UPDATE tool SET trusted = ?1", [Digest::of(b"before").to_string()]).unwrap();
    assert!(settlement.to_sign(&tightens).unwrap().is_some());
}

#[test]
fn a_stretch_of_the_log_is_removed_with_a_signature_where_the_machine_asks_for_them() {
    let (home, _) = asking();
    let old = |n: i64| Entry::new(NOW - (200 - n) * 86_400_000, Kind::Event, &"files".into(), &"s".into());
    for n in 1..=5 {
        record(&home.places, old(n)).unwrap();
    }
    record(&home.places, Entry::new(NOW, Kind::Event, &"files".into(), &"s".into())).unwrap();
    let (found, said) = log(&home, "prune --before 90d --yes");
    assert!(found.is_none() && said.contains("run it at a terminal"), "{said}");
    let db = home.places.audit_db();
    let mut recording = mcp_approve::audit::recording::Recording::open(&db, &home.places.redaction_key()).unwrap();
    let mut removes = |by: &Key, last: Option<Digest>| {
        let wanted =
            mcp_approve::audit::retention::Wanted { before: NOW - 90 * 86_400_000, now: NOW, operator: "mara" };
        mcp_approve::audit::retention::remove(&db, &mut recording, wanted, |head| {
            let terms = |last| mcp_approve::home::signers::change(ChangeKind::Log, String::new(), vec![last]);
            let signed = signs(terms(last.unwrap_or(head)), by, NAMESPACE);
            proof(&home.places, Needs::Signature, Some(&signed), (&terms(head), NOW))
        })
    };
    assert!(removes(&key(2), None).is_err() && removes(&key(1), Some(Digest::of(b"x"))).is_err());
    let (_, said) = verified(&home);
    assert!(said.contains("6 records"), "nothing was removed: {said}");
    removes(&key(1), None).unwrap();
    let (holds, said) = verified(&home);
    assert!(holds && said.contains("1 signature holds") && !said.contains("is not signed"), "{said}");
    // One that nobody signed is named.
    home.write("etc/policy.toml", "version = 1\n");
    for n in 6..=8 {
        record(&home.places, Entry::new(NOW, Kind::Event, &"files".into(), &n.to_string().as_str().into())).unwrap();
    }
    let mut later = mcp_approve::audit::recording::Recording::open(&db, &home.places.redaction_key()).unwrap();
    let wanted = mcp_approve::audit::retention::Wanted { before: NOW + 1, now: NOW + 2, operator: "mara" };
    mcp_approve::audit::retention::remove(&db, &mut later, wanted, |_| {
        mcp_approve::signing::change::Proof::unsigned(Needs::Nothing)
    })
    .unwrap();
    let (holds, said) = verified(&home);
    assert!(!holds && said.contains("is not signed"), "{said}");
}
