//! Each role with its own connection, on the desk: what is its own, and what is not. Threat G6.

use mcp_approve::cli;
use mcp_approve::home::places::Places;

use crate::postgres::Postgres;

/// A desk with two machines, two operators and an auditor.
pub fn desk() -> Option<Postgres> {
    let postgres = Postgres::start()?;
    let words = "desk init --machine ada --machine bob --operator mara --operator sam --auditor eve --url";
    run(words, &postgres.url("postgres")).expect("made");
    Some(postgres)
}

/// Runs a command line of ours that ends with a URL; its output, or the error's.
fn run(words: &str, url: &str) -> Result<String, String> {
    let words = format!("mcp-approve {words}");
    let mut out = Vec::new();
    let done = cli::run(words.split(' ').map(Into::into).chain([url.into()]), &mut out);
    done.map(|_| String::from_utf8_lossy(&out).into_owned()).map_err(|error| cli::report(&error))
}

/// What each role does with what is its own: without these the attacks would prove nothing.
const OWN: [(&str, &str); 16] = [
    ("ada", "INSERT INTO mcp_approve.told (session, ticket, kind, said) VALUES ('s1', 'files-1', 'held', '{}')"),
    ("bob", "INSERT INTO mcp_approve.told (session, ticket, kind, said) VALUES ('s2', 'git-1', 'held', '{}')"),
    (
        "ada",
        "INSERT INTO mcp_approve.record (seq, writer, body, link, time) VALUES (1, '\\x01', 'ada''s', '\\x01', now())",
    ),
    (
        "bob",
        "INSERT INTO mcp_approve.record (seq, writer, body, link, time) VALUES (1, '\\x02', 'bob''s', '\\x02', now())",
    ),
    ("ada", "INSERT INTO mcp_approve.head (seq, link) VALUES (1, '\\x01')"),
    ("mara", "SELECT said FROM mcp_approve.told"),
    ("mara", VERDICT),
    ("mara", "INSERT INTO mcp_approve.look (machine, session, ticket) VALUES ('ada', 's1', 'files-1')"),
    ("mara", "INSERT INTO mcp_approve.witness (note) VALUES ('n')"),
    ("mara", "INSERT INTO mcp_approve.standing (kind, statement, signature) VALUES ('stop', 's', 'g')"),
    ("ada", "SELECT statement FROM mcp_approve.verdict"),
    ("ada", "SELECT seq, link FROM mcp_approve.record"),
    ("ada", "SELECT statement FROM mcp_approve.standing"),
    ("eve", "SELECT body FROM mcp_approve.record"),
    ("eve", "SELECT statement FROM mcp_approve.verdict"),
    ("sam", "SELECT operator FROM mcp_approve.look"),
];

const VERDICT: &str = "INSERT INTO mcp_approve.verdict (machine, session, ticket, principal, digest, statement, signature, said) \
    VALUES ('ada', 's1', 'files-1', 'mara', sha256('s'), 's', 'g', '{}')";

/// What the engine refuses.
const REFUSED: [(&str, &str); 43] = [
    // A machine as another machine.
    (
        "ada",
        "INSERT INTO mcp_approve.told (machine, session, ticket, kind, said) VALUES ('bob', 's2', 't', 'held', '{}')",
    ),
    (
        "ada",
        "INSERT INTO mcp_approve.record (machine, seq, writer, body, link, time) VALUES ('bob', 9, '\\x', '', '\\x', now())",
    ),
    ("ada", "INSERT INTO mcp_approve.head (machine, seq, link) VALUES ('bob', 9, '\\x')"),
    (
        "ada",
        "INSERT INTO mcp_approve.record_other (machine, seq, writer, body, link, time) VALUES ('bob', 9, '\\x', '', '\\x', '1990-01-01')",
    ),
    ("ada", "SET SESSION AUTHORIZATION bob"),
    ("ada", "SET ROLE bob"),
    ("ada", "SET ROLE postgres"),
    ("ada", "INSERT INTO mcp_approve.shape (machine, shape, words) VALUES ('bob', substr(sha256('[]'), 1, 16), '[]')"),
    ("ada", "INSERT INTO mcp_approve.shape (shape, words) VALUES ('\\x00', '[]')"),
    ("ada", "SELECT words FROM mcp_approve.shape"),
    // A machine as an operator.
    ("ada", VERDICT),
    ("ada", "INSERT INTO mcp_approve.standing (kind, statement, signature) VALUES ('alive', 's', 'g')"),
    ("ada", "INSERT INTO mcp_approve.witness (note) VALUES ('n')"),
    ("ada", "INSERT INTO mcp_approve.look (machine, session, ticket) VALUES ('ada', 's1', 'files-1')"),
    ("ada", "SET ROLE mcp_approve_operator"),
    // A machine reads what operators see.
    ("ada", "SELECT said FROM mcp_approve.told"),
    ("ada", "SELECT body FROM mcp_approve.record"),
    ("ada", "SELECT * FROM mcp_approve.look"),
    ("ada", "SELECT * FROM mcp_approve.head"),
    ("ada", "SELECT * FROM mcp_approve.witness"),
    // Nobody changes or removes.
    ("ada", "UPDATE mcp_approve.told SET said = '{}'"),
    ("ada", "DELETE FROM mcp_approve.record"),
    ("ada", "UPDATE mcp_approve.record SET body = ''"),
    ("ada", "TRUNCATE mcp_approve.record"),
    ("ada", "DELETE FROM mcp_approve.verdict"),
    ("ada", "DROP TABLE mcp_approve.record_other"),
    ("mara", "UPDATE mcp_approve.verdict SET statement = 's'"),
    ("mara", "DELETE FROM mcp_approve.verdict"),
    ("mara", "DELETE FROM mcp_approve.told"),
    ("mara", "UPDATE mcp_approve.told SET said = '{}'"),
    ("mara", "DELETE FROM mcp_approve.standing"),
    ("mara", "UPDATE mcp_approve.record SET body = ''"),
    ("eve", "DELETE FROM mcp_approve.record"),
    ("eve", "UPDATE mcp_approve.head SET seq = 0"),
    // An operator as a machine, or as another operator.
    ("mara", "INSERT INTO mcp_approve.told (session, ticket, kind, said) VALUES ('s1', 'files-1', 'settled', '{}')"),
    ("mara", "INSERT INTO mcp_approve.record (seq, writer, body, link, time) VALUES (2, '\\x', '', '\\x', now())"),
    (
        "mara",
        "INSERT INTO mcp_approve.look (operator, machine, session, ticket) VALUES ('sam', 'ada', 's1', 'files-1')",
    ),
    (
        "mara",
        "INSERT INTO mcp_approve.standing (operator, kind, statement, signature) VALUES ('sam', 'stop', 's', 'g')",
    ),
    (
        "mara",
        "INSERT INTO mcp_approve.standing (place, kind, statement, signature) OVERRIDING SYSTEM VALUE VALUES (1, 'stop', 's', 'g')",
    ),
    // An auditor only reads.
    ("eve", VERDICT),
    ("eve", "INSERT INTO mcp_approve.standing (kind, statement, signature) VALUES ('stop', 's', 'g')"),
    // What a row is may not be made up.
    (
        "mara",
        "INSERT INTO mcp_approve.verdict (machine, session, ticket, principal, digest, statement, signature, said) VALUES ('ada', 's1', 'files-1', 'mara', '\\x00', 's', 'g', '{}')",
    ),
    ("ada", "CREATE FUNCTION mcp_approve.f() RETURNS int LANGUAGE sql AS 'SELECT 1'"),
];

#[test]
fn g6_what_is_another_s_is_neither_read_nor_written() {
    let Some(postgres) = desk() else { return };
    for (role, sql) in OWN {
        let done = postgres.psql(role, sql);
        assert!(done.status.success(), "{role}: {sql}: {}", String::from_utf8_lossy(&done.stderr));
    }
    for (role, sql) in REFUSED {
        let done = postgres.psql(role, sql);
        let why = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success(), "{role}: {sql}");
        let refused = ["permission denied", "row-level security", "must be owner", "violates check constraint"];
        assert!(refused.iter().any(|word| why.contains(word)), "{role}: {sql}: {why}");
    }
    // What is seen of one's own is one's own alone.
    assert_eq!(postgres.rows("ada", "SELECT machine, seq FROM mcp_approve.record"), ["ada|1"]);
    assert_eq!(postgres.rows("bob", "SELECT count(*) FROM mcp_approve.verdict"), ["0"]);
    assert_eq!(postgres.rows("ada", "SELECT operator, principal FROM mcp_approve.verdict"), ["mara|mara"]);
    assert_eq!(
        postgres.rows("mara", "SELECT machine, ticket FROM mcp_approve.told ORDER BY machine"),
        ["ada|files-1", "bob|git-1"]
    );
}

/// The owner of the tables is held to the row policies too, and a machine cannot hide behind the group's role.
#[test]
fn g6_the_owner_is_held_and_a_group_is_nobody() {
    let Some(postgres) = desk() else { return };
    postgres.rows(
        "postgres",
        "CREATE ROLE owner LOGIN; GRANT CREATE ON DATABASE postgres TO owner; \
        GRANT USAGE ON SCHEMA mcp_approve TO owner; ALTER TABLE mcp_approve.verdict OWNER TO owner",
    );
    assert!(!postgres.psql("owner", VERDICT).status.success(), "the owner writes a verdict past the policies");
    let told = "SET ROLE mcp_approve_machine; INSERT INTO mcp_approve.told (session, ticket, kind, said) VALUES ('s', 't', 'held', '{}')";
    assert!(postgres.psql("ada", told).status.success());
    assert_eq!(postgres.rows("mara", "SELECT machine FROM mcp_approve.told"), ["ada"]);
    // No table of the schema is without a forced policy, and nothing runs with its definer's rights.
    let free = "SELECT relname FROM pg_class WHERE relnamespace = 'mcp_approve'::regnamespace AND relkind IN ('r', 'p') \
        AND NOT relispartition AND relname <> 'version' AND NOT (relrowsecurity AND relforcerowsecurity)";
    assert_eq!(postgres.rows("postgres", free), Vec::<String>::new());
    let definers = "SELECT proname FROM pg_proc WHERE pronamespace = 'mcp_approve'::regnamespace AND prosecdef";
    assert_eq!(postgres.rows("postgres", definers), Vec::<String>::new());
    // A partition is reached through its table alone.
    let reached = "SELECT relname FROM pg_class WHERE relnamespace = 'mcp_approve'::regnamespace AND relispartition \
        AND has_table_privilege('ada', oid, 'SELECT, INSERT, UPDATE, DELETE')";
    assert_eq!(postgres.rows("postgres", reached), Vec::<String>::new());
}

/// Until PostgreSQL 15 any role may make functions in `public`, and a database that was upgraded still lets them.
#[test]
fn g6_a_function_that_a_role_made_takes_no_place_of_the_engines_own() {
    let Some(postgres) = desk() else { return };
    postgres.rows("postgres", "GRANT CREATE ON SCHEMA public TO PUBLIC");
    postgres.rows(
        "ada",
        "CREATE TABLE public.used (by text); GRANT INSERT ON public.used TO PUBLIC;
         CREATE FUNCTION public.pg_has_role(oid, text, text) RETURNS bool LANGUAGE plpgsql VOLATILE AS
            $$ BEGIN INSERT INTO public.used VALUES (session_user); RETURN true; END $$;
         CREATE FUNCTION public.format(text, text) RETURNS text LANGUAGE plpgsql VOLATILE AS
            $$ BEGIN EXECUTE 'ALTER ROLE ada SUPERUSER'; RETURN pg_catalog.format($1, $2); END $$",
    );
    run("desk --url", &postgres.url("mara")).expect("answered");
    run("desk init --machine cid --url", &postgres.url("postgres")).expect("made again");
    assert_eq!(postgres.rows("ada", "SELECT by FROM public.used"), [""; 0]);
    assert_eq!(postgres.rows("ada", "SELECT rolsuper FROM pg_roles WHERE rolname = 'ada'"), ["f"]);
}

/// `desk init` may be run again, also by an owner who is no superuser; and an old schema is named.
#[test]
fn the_desk_is_made_again_and_its_version_is_checked() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.rows(
        "postgres",
        "CREATE ROLE owner LOGIN CREATEROLE; CREATE ROLE ada LOGIN; GRANT CREATE ON DATABASE postgres TO owner",
    );
    let url = postgres.url("owner");
    let home = tempfile::tempdir().expect("a home");
    let doctor = |role: &str| {
        let places = Places::under(home.path()).expect("places");
        std::fs::create_dir_all(places.config_dir()).expect("a folder");
        std::fs::write(places.config_file(), format!("[desk]\nurl = \"{}\"\n", postgres.url(role))).expect("written");
        let words = format!("mcp-approve doctor --home {}", home.path().display());
        let mut out = Vec::new();
        cli::run(words.split(' ').map(Into::into), &mut out).expect("looked");
        let out = String::from_utf8_lossy(&out).split_whitespace().collect::<Vec<_>>().join(" ");
        let from = out.find(" desk ").expect("a check of it");
        out[from..].chars().take(200).collect::<String>()
    };
    assert!(doctor("ada").contains("the desk has version 0 of the schema"), "{}", doctor("ada"));
    for _ in 0..2 {
        let said = run("desk init --machine ada --operator mara --url", &url).expect("made");
        assert!(said.contains("ada is a role of the group mcp_approve_machine"), "{said}");
    }
    assert!(doctor("ada").contains("connected as ada, which is of the group machine"), "{}", doctor("ada"));
    assert!(
        doctor("owner").contains("it may make roles, and so take any; it owns the desk's tables"),
        "{}",
        doctor("owner")
    );
    assert!(doctor("postgres").contains("it is a superuser, whom no grant holds"), "{}", doctor("postgres"));
    postgres.rows(
        "postgres",
        "CREATE ROLE twofold LOGIN IN ROLE mcp_approve_machine, mcp_approve_operator; CREATE ROLE apart LOGIN",
    );
    assert!(doctor("twofold").contains("is a machine and an operator"), "{}", doctor("twofold"));
    assert!(doctor("apart").contains("permission denied"), "{}", doctor("apart"));
}

/// A transaction that one role leaves open holds up no other role's rows.
#[test]
fn g7_what_one_leaves_open_holds_up_nobody() {
    let Some(postgres) = desk() else { return };
    const SHAPE: &str = "INSERT INTO mcp_approve.shape (shape, words) VALUES (substr(sha256('[]'), 1, 16), '[]') ON CONFLICT DO NOTHING";
    let verdict = format!("{VERDICT} ON CONFLICT DO NOTHING");
    for (one, other, sql) in [("ada", "bob", SHAPE), ("sam", "mara", &*verdict)] {
        std::thread::scope(|scope| {
            let open = scope.spawn(|| postgres.psql(one, &format!("BEGIN; {sql}; SELECT pg_sleep(3); COMMIT")));
            let is_open = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
            while postgres.rows("postgres", is_open) != ["1"] {}
            let done = postgres.psql(other, &format!("SET lock_timeout = '1s'; {sql}"));
            assert!(done.status.success(), "{other}: {}", String::from_utf8_lossy(&done.stderr));
            assert!(open.join().expect("joined").status.success());
        });
    }
}

/// Whoever may write a column writes as much as it takes: every reader would have to take it, too.
#[test]
fn g5_no_column_that_a_role_may_write_is_without_a_longest_length() {
    let Some(postgres) = desk() else { return };
    const UNBOUND: &str = "SELECT DISTINCT columns.table_name || '.' || columns.column_name
        FROM information_schema.column_privileges AS may JOIN information_schema.columns USING (table_schema, table_name, column_name)
        WHERE table_schema = 'mcp_approve' AND privilege_type = 'INSERT' AND grantee LIKE 'mcp\\_approve\\_%' AND data_type IN ('text', 'bytea')
            AND NOT EXISTS (
                SELECT FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
                WHERE contype = 'c' AND conrelid = format('mcp_approve.%I', columns.table_name)::regclass AND attname = columns.column_name
                    AND pg_get_constraintdef(pg_constraint.oid) ~ '(length|sha256|= ANY)'
            ) ORDER BY 1";
    assert_eq!(postgres.rows("postgres", UNBOUND), [""; 0]);
    postgres.rows("postgres", "ALTER TABLE mcp_approve.head DROP CONSTRAINT short_link");
    assert_eq!(postgres.rows("postgres", UNBOUND), ["head.link"]);
}
