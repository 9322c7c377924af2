//! What a statement or a command line does is read once: rows B14 to B17. The card, the queue and the log say the same of a
//! text that other readers would take apart otherwise.

use mcp_approve::behavior::arguments::reading::Weight;
use mcp_approve::console::keymap::Key;
use mcp_approve::gate::data::snapshot::Snapshot;

use crate::desk::*;
use crate::world::{Did, World};

/// The card that a wrapper sends for one call of a tool with this description, and all of its rows on a large screen.
fn card(description: &str, key: &str, text: &str) -> (Snapshot, String) {
    let mut world = World::new().ready();
    let schema = serde_json::json!({ "type": "object", "properties": { key: { "type": "string" } } });
    let tool = serde_json::json!({ "name": "update_rows", "description": description, "inputSchema": schema });
    world.host(r#"{"jsonrpc":"2.0","id":"l2","method":"tools/list"}"#);
    world.server(&format!(r#"{{"jsonrpc":"2.0","id":"l2","result":{{"tools":[{tool}]}}}}"#));
    let did = world.call("7", "update_rows", &serde_json::json!({ key: text }).to_string());
    assert_eq!(did, [Did::Ask("files-1".into())], "{text}");
    let card = world.cards["files-1"].clone();
    let mut desk = Desk::connected(120, 60);
    desk.hold(Snapshot { server: "filesystem".into(), ..card.clone() });
    desk.look();
    desk.press(Key::Enter);
    (card, desk.screen())
}

/// All that is wrong with the cases of a test, said at once.
#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn unless(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.0.push(what());
        }
    }

    fn none(self) {
        assert!(self.0.is_empty(), "\n{}", self.0.join("\n\n"));
    }
}

/// What stands above the arguments, which are shown in full whatever was read.
fn above(screen: &str) -> &str {
    screen.split("arguments").next().unwrap_or_default()
}

const MYSQL: &str = "Updates rows with SQL on MySQL.";
const MSSQL: &str = "Updates rows with SQL on SQL Server (T-SQL).";
const POSTGRESQL: &str = "Updates rows with SQL on PostgreSQL.";
const SQLITE: &str = "Updates rows with SQL on SQLite.";
const ANY: &str = "Updates rows with SQL.";

#[test]
fn b14_a_comment_or_a_quote_is_no_condition_on_the_card() {
    let mut wrong = Wrong::default();
    for (tool, text, says) in [
        (MYSQL, "DELETE FROM users # WHERE id = 1", "DELETE on users without WHERE"),
        (MYSQL, "UPDATE users SET admin = 1 # WHERE id = 1", "UPDATE on users without WHERE"),
        (MYSQL, "DELETE FROM users -- WHERE id = 1", "DELETE on users without WHERE"),
        (MYSQL, "DELETE FROM users WHERE 1=1", "DELETE on users, every row"),
        (MYSQL, "DELETE FROM users WHERE 1=1 LIMIT 1", "DELETE on users, perhaps every row"),
        (MYSQL, "DELETE FROM users WHERE id > 5 AND 1=2", "DELETE on users"),
        (MYSQL, "DELETE FROM users WHERE 1=2", "DELETE on users, perhaps every row"),
        (MYSQL, "DELETE FROM users WHERE id = id", "DELETE on users, perhaps every row"),
        (MYSQL, "DELETE FROM users WHERE true", "DELETE on users, every row"),
        (MYSQL, "DELETE FROM users WHERE id = 5 OR 1=1", "DELETE on users, every row"),
        (MYSQL, "UPDATE users SET a = 1 WHERE id IN (SELECT id FROM x)", "UPDATE on users, perhaps every row"),
        (MYSQL, "UPDATE users SET a = 1 WHERE id IN (1, 2) AND b IS NULL", "UPDATE on users"),
        (SQLITE, "UPDATE users SET a = 1 WHERE \"id\" = ?", "UPDATE on users"),
        (MSSQL, "DELETE FROM [users WHERE id = 1]", "DELETE on [users WHERE id = 1] without WHERE"),
        (SQLITE, "DELETE FROM [users WHERE id = 1]", "DELETE on [users WHERE id = 1] without WHERE"),
        (SQLITE, "DELETE FROM \"users\"\"WHERE\"", "DELETE on \"users\"\"WHERE\" without WHERE"),
        (POSTGRESQL, "DELETE FROM users USING (SELECT 1 WHERE true) x", "DELETE on users without WHERE"),
        (POSTGRESQL, "WITH x AS (SELECT 1 WHERE true) DELETE FROM users", "DELETE on users without WHERE"),
        (POSTGRESQL, "UPDATE users SET a = $$ WHERE $$", "UPDATE on users without WHERE"),
        (POSTGRESQL, "UPDATE users SET a = (SELECT 1 WHERE true)", "UPDATE on users without WHERE"),
        // Read in one way by some and in another by others: nothing is said of a condition.
        (MYSQL, "DELETE FROM users /*! WHERE id = 1 */", "DELETE in a text that SQL dialects read differently"),
        (MYSQL, r"UPDATE t SET a = 'x\' WHERE id = 1 -- '", "UPDATE in a text that SQL dialects read differently"),
        (MYSQL, "DELETE FROM users --WHERE id = 1", "DELETE in a text that SQL dialects read differently"),
        (POSTGRESQL, "DELETE FROM a /* /* */ WHERE b = 1 -- */", "DELETE in a text that SQL dialects read differently"),
        (ANY, "DELETE FROM [users WHERE id = 1]", "DELETE in a text that SQL dialects read differently"),
        (ANY, "DELETE FROM users # WHERE id = 1", "DELETE in a text that SQL dialects read differently"),
        (ANY, "DELETE FROM users\u{a0}WHERE id = 1", "DELETE in a text that SQL dialects read differently"),
    ] {
        let (card, screen) = card(tool, "sql", text);
        let above = above(&screen).replace("\n", " ");
        wrong.unless(card.effect.starts_with(says), || format!("{text}: {}", card.effect));
        wrong.unless(card.target.as_deref() == Some(says), || format!("{text}: {:?}", card.target));
        wrong.unless(above.contains(says), || format!("{text}:\n{screen}"));
        wrong.unless(!above.contains("where its condition holds"), || format!("{text}:\n{screen}"));
        wrong.unless(card.danger.is_some() || text.starts_with("UPDATE"), || text.to_owned());
    }
    wrong.none();
}

#[test]
fn b15_a_statement_behind_another_is_named_and_takes_what_it_takes_alone() {
    let mut wrong = Wrong::default();
    for (tool, text, says, statements) in [
        (SQLITE, "SELECT 1; DROP TABLE t", "2 statements, one of them: DROP TABLE t", 2),
        (
            SQLITE,
            "UPDATE a SET b = 1 WHERE c = 2; DELETE FROM d",
            "2 statements, one of them: DELETE on d without WHERE",
            2,
        ),
        (SQLITE, "INSERT INTO a VALUES (1); DROP TABLE d;", "2 statements, one of them: DROP TABLE d", 2),
        (SQLITE, "DELETE FROM a WHERE b = ';'", "DELETE on a", 1),
        (SQLITE, "DELETE FROM a WHERE b = 1 -- ; DROP TABLE c", "DELETE on a", 1),
        (MYSQL, "DELETE FROM a WHERE b = 1 # ; DROP TABLE c", "DELETE on a", 1),
        (MYSQL, "DELETE FROM `a;b` WHERE b = 1", "DELETE in a text that SQL dialects read differently", 0),
        (MSSQL, "DELETE FROM [a;b] WHERE b = 1", "DELETE on [a;b]", 1),
        (POSTGRESQL, "DELETE FROM a WHERE b = $x$ ; DROP TABLE c $x$", "DELETE on a", 1),
    ] {
        let (card, screen) = card(tool, "sql", text);
        let numbers = above(&screen).lines().filter(|line| line.starts_with(" │ ")).filter(|line| {
            line.trim_start_matches(" │ ").split_once(". ").is_some_and(|(n, _)| n.parse::<usize>().is_ok())
        });
        let numbers = numbers.count();
        wrong
            .unless(numbers == if statements == 1 { 0 } else { statements }, || format!("{text}: {numbers}\n{screen}"));
        wrong.unless(card.effect.starts_with(says), || format!("{text}: {}", card.effect));
        wrong.unless(card.danger.is_some(), || format!("{text}: one key must not approve it"));
    }
    // A change within a change is one as well.
    for (tool, text) in [
        (POSTGRESQL, "INSERT INTO a WITH d AS (DELETE FROM b RETURNING *) SELECT * FROM d"),
        (POSTGRESQL, "WITH u AS (UPDATE a SET b = 1 RETURNING *), d AS (DELETE FROM b RETURNING *) SELECT 1"),
        (MSSQL, "INSERT INTO a VALUES (1) DELETE FROM b"),
        (MSSQL, "UPDATE a SET b = 1 EXEC p"),
        (ANY, "UPDATE a SET b = 1; EXEC p"),
    ] {
        let (card, _) = card(tool, "sql", text);
        wrong.unless(card.danger.is_some(), || format!("{text}: one key must not approve it"));
    }
    wrong.none();
}

#[test]
fn b16_a_command_line_is_cut_as_a_shell_cuts_it() {
    let mut wrong = Wrong::default();
    const SHELL: &str = "Runs a command in bash.";
    for (text, says, commands) in [
        ("\\rm -rf /srv", "runs rm with -rf", 1),
        ("'rm' -rf /srv", "runs rm with -rf", 1),
        ("r\\\nm -rf /srv", "runs rm with -rf", 1),
        ("{ rm -rf /srv; }", "runs rm with -rf", 1),
        ("if true; then rm -rf /srv; fi", "runs rm with -rf", 3),
        ("echo \"$(rm -rf /srv)\" done", "runs rm with -rf", 2),
        ("echo `rm -rf /srv`", "runs rm with -rf", 2),
        ("cat <<EOF\n$(rm -rf /srv)\nEOF", "runs rm with -rf", 3),
        ("ls # && rm -rf /srv", "runs ls", 1),
        ("echo 'a && rm -rf /srv'", "runs echo", 1),
        ("echo it\\'s; rm -rf /srv # '", "runs rm with -rf", 2),
        ("ls &> /etc/passwd", "runs a command, and writes to /etc/passwd", 2),
    ] {
        let (card, screen) = card(SHELL, "command", text);
        wrong.unless(card.effect.starts_with(says), || format!("{text}: {}", card.effect));
        let parts = card.readings.first().map_or(0, |reading| reading.parts.len());
        wrong.unless(parts == commands, || format!("{text}: {parts}\n{screen}"));
        let marked = card.readings.iter().flat_map(|reading| &reading.parts).any(|part| part.weight == Weight::Grave);
        wrong.unless(marked == says.contains("rm"), || format!("{text}: marked {marked}"));
    }
    // Behind many harmless ones, for a tool that does not say it runs commands.
    for many in [300, 2_000] {
        let text = format!("{}rm -rf /srv", "echo ok\n".repeat(many));
        let (card, _) = card("Lists the notes.", "command", &text);
        let says = if many < 1_000 { "runs rm with -rf" } else { "runs a script too long to be read" };
        wrong.unless(card.effect.starts_with(says), || format!("{many}: {}", card.effect));
        wrong.unless(card.danger.is_some(), || format!("{many}: one key must not approve it"));
    }
    wrong.none();
}

#[test]
fn b17_what_was_not_read_is_said_to_be_unread_and_stands_raw() {
    let mut wrong = Wrong::default();
    for (tool, text) in [
        (ANY, "DELETE FROM [users WHERE id = 1]"),
        (MYSQL, "DELETE FROM users /*! WHERE id = 1 */"),
        (POSTGRESQL, "DELETE FROM a WHERE b = 'x"),
    ] {
        let (_, screen) = card(tool, "sql", text);
        let words = "This text was not read as statements; it is shown as it was sent.";
        wrong.unless(above(&screen).contains(words), || format!("{text}:\n{screen}"));
        wrong.unless(above(&screen).contains(text), || format!("{text}:\n{screen}"));
    }
    wrong.none();
}
