//! What a record says of an agreement.

use std::process::ExitCode;

use mcp_approve::audit::agreed::{Says, agreed, read, taken_back};
use mcp_approve::audit::body::write_body;
use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::audit::recording::Recording;
use mcp_approve::audit::redact::Redactor;
use mcp_approve::behavior::agreed::{Agreement, What};

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
    assert_eq!(read(&body(&agreed(entry(Kind::Agreed), &one, "f"))), Some((digest, Says::Agreed)));
    let back = taken_back(entry(Kind::Agreed), &one, "f", "by the operator");
    assert_eq!(read(&body(&back)), Some((digest, Says::TakenBack)));
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
