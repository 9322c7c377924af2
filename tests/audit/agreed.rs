//! What a record says of an agreement.

use mcp_approve::audit::agreed::{Says, agreed, read, taken_back};
use mcp_approve::audit::body::write_body;
use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::behavior::agreed::{Agreement, What};

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
