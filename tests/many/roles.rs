//! Each role with its own connection, on the desk: what is its own, and what is not.

use crate::postgres::Postgres;
use mcp_approve::cli;

/// A desk with two machines, two operators and an auditor.
pub fn desk() -> Option<Postgres> {
    let postgres = Postgres::start()?;
    let url = postgres.url("postgres");
    let words = "mcp-approve desk init --machine ada --machine bob --operator mara --operator sam --auditor eve --url";
    let mut out = Vec::new();
    let done = cli::run(words.split(' ').map(Into::into).chain([url.into()]), &mut out);
    done.expect("made");
    Some(postgres)
}

#[test]
fn what_is_another_s_cannot_be_read_or_written() {
    let Some(postgres) = desk() else { return };
    let told = "INSERT INTO mcp_approve.told (session, ticket, kind, said) VALUES ('s1', 'files-1', 'held', '{}')";
    assert!(postgres.psql("ada", told).status.success());
    let told = postgres.rows("mara", "SELECT machine, ticket FROM mcp_approve.told");
    assert_eq!(told, ["ada|files-1"]);
    for (role, sql) in [
        (
            "ada",
            "INSERT INTO mcp_approve.told (machine, session, ticket, kind, said) VALUES ('bob', 's1', 't', 'held', '{}')",
        ),
        ("ada", "SELECT * FROM mcp_approve.told"),
        ("ada", "UPDATE mcp_approve.told SET said = ''"),
        ("ada", "DELETE FROM mcp_approve.told"),
        ("mara", "UPDATE mcp_approve.told SET said = ''"),
        ("mara", "DELETE FROM mcp_approve.told"),
        ("mara", "TRUNCATE mcp_approve.told"),
        ("eve", "DELETE FROM mcp_approve.told"),
    ] {
        assert!(!postgres.psql(role, sql).status.success(), "{role}: {sql}");
    }
}
