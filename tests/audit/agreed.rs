//! What a record says of an agreement.

use std::process::ExitCode;

use mcp_approve::audit::agreed::{Says, agreed, read, taken_back};
use mcp_approve::audit::body::write_body;
use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::audit::recording::Recording;
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::store::Reader;
use mcp_approve::behavior::agreed::{Agreement, What};
use mcp_approve::signing::change::{Change, ChangeKind, ChangeTerms};
use serde_json::json;

use crate::audit::log::log;
use crate::audit::{folder, numbered};

#[test]
fn a_record_is_read_as_it_was_written() {
    let entry = |kind| Entry::new(0, kind, &r#"a","kind":"agreed"#.into(), &"session".into());
    let body = |entry: &Entry| {
        let mut body = String::new();
        write_body(entry, &Redactor::new(&[0; 32]), &mut body);
        body
    };
    let one = Agreement { tool: "weather".into(), ..Agreement::of_server(What::Host, "example.com") };
    let digest = one.digest("f");
    let said = |body: &str| read(body).map(|said| (said.digest, said.says));
    assert_eq!(said(&body(&agreed(entry(Kind::Agreed), &one, "f"))), Some((digest, Says::Agreed)));
    let back = taken_back(entry(Kind::Agreed), &one, "f", "by the operator");
    assert_eq!(said(&body(&back)), Some((digest, Says::TakenBack)));
    assert_eq!(read(&body(&agreed(entry(Kind::Tools), &one, "f"))), None, "another kind of record");
    assert_eq!(read(&body(&entry(Kind::Agreed))), None, "a record without a digest");
}

/// What finds a record is no part of the chain: who can write the file can have the log find the record of before.
#[test]
fn a_record_that_is_taken_for_the_last_word_and_is_not_is_named() {
    let (_home, db) = folder();
    let one = Agreement::of_server(What::Host, "example.com");
    let entry = || Entry::new(0, Kind::Agreed, &"files".into(), &"session".into());
    let said = vec![agreed(entry(), &one, "f"), taken_back(entry(), &one, "f", "by the operator")];
    Recording::open(&db, &db.with_extension("key")).unwrap().record(&numbered(said)).unwrap();
    let verify = || log(&db, "log verify");
    let (found, said) = verify();
    assert!(found.unwrap() == ExitCode::SUCCESS && !said.contains("NOT TRUE"), "{said}");
    let file = rusqlite::Connection::open(&db).unwrap();
    let older = "UPDATE agreed SET seq = seq - 1 WHERE digest = ?1";
    assert_eq!(file.execute(older, [one.digest("f").as_bytes()]).unwrap(), 1);
    let (found, said) = verify();
    assert!(
        found.unwrap() == ExitCode::FAILURE && said.contains("IS NOT TRUE: it is taken for the last word"),
        "{said}"
    );
}

/// What was signed once stays signed: whoever can write to the log can say it again.
#[test]
fn a_copy_of_what_was_signed_before_it_was_taken_back_is_not_the_last_word() {
    let (_home, db) = folder();
    let one = Agreement::of_server(What::Host, "example.com");
    let digest = one.digest("f");
    let entry = |at| Entry::new(at, Kind::Agreed, &"files".into(), &"session".into());
    let signed = |at, time| {
        let (machine, user, of) = (String::new(), String::new(), String::new());
        let change = ChangeTerms { changes: vec![digest], kind: ChangeKind::Tools, machine, of, user };
        let statement = Change::new(change, "mara".to_owned(), time).to_json();
        let mut entry = agreed(entry(at), &one, "f");
        entry.uncut.add("signatures", json!([{ "statement": statement, "sshsig": "" }]));
        entry
    };
    let record = |entries| Recording::open(&db, &db.with_extension("key")).unwrap().record(&numbered(entries)).unwrap();
    let says = || {
        let reader = Reader::open(&db).unwrap().unwrap();
        reader.agreed(&[digest]).unwrap().remove(0).map(|latest| latest.says)
    };
    record(vec![signed(110, 100), taken_back(entry(200), &one, "f", "by the operator")]);
    assert_eq!((says(), log(&db, "log verify").0.unwrap()), (Some(Says::TakenBack), ExitCode::SUCCESS));

    record(vec![signed(300, 100)]);
    assert_eq!(says(), Some(Says::TakenBack));
    let (found, said) = log(&db, "log verify");
    let copy = "RECORD 3 IS NOT TRUE: it agrees, with a signature from before, to what was taken back since";
    assert!(found.unwrap() == ExitCode::FAILURE && said.contains(copy), "{said}");
    // The log's own index can be made to find the copy: that is named, too.
    let file = rusqlite::Connection::open(&db).unwrap();
    file.execute("UPDATE agreed SET seq = 3 WHERE digest = ?1", [digest.as_bytes()]).unwrap();
    assert!(log(&db, "log verify").1.contains("RECORD 3 IS NOT TRUE: it is taken for the last word"));
    file.execute("UPDATE agreed SET seq = 2 WHERE digest = ?1", [digest.as_bytes()]).unwrap();

    record(vec![signed(410, 400)]);
    assert_eq!(says(), Some(Says::Agreed));
    // Nor does something between them help: what it was taken back by does not change.
    let unsigned = agreed(entry(500), &one, "f");
    let old = taken_back(entry(50), &one, "f", "by the operator");
    record(vec![taken_back(entry(450), &one, "f", "by the operator"), old, unsigned, signed(600, 400)]);
    let said = log(&db, "log verify").1;
    assert!(said.contains("RECORD 8 IS NOT TRUE: it agrees, with a signature from before"), "{said}");
}
