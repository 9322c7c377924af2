//! `mcp-approve tools search` for somebody: the role's gate, or the policy's, before any relevance.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake::server::{Server, reader, writer};
use crate::fake::terminal::Terminal;
use crate::pins::told::{once, rows, tools};

/// A home in which four tools about reports of two kinds were seen, with this configuration.
fn seen(file: &str, text: &str) -> TempDir {
    let (home, described) = (tempfile::tempdir().unwrap(), |tool: Value, text: &str| {
        let mut tool = tool;
        tool["description"] = json!(text);
        tool
    });
    let server = Server::with(&[
        described(reader("read_report"), "Reads a quarterly report."),
        described(reader("list_invoices"), "Lists invoices of a quarterly report."),
        described(writer("delete_report"), "Deletes a quarterly report."),
        described(writer("frobnicate"), "Frobnicates the quarterly report."),
    ]);
    write(home.path(), file, text);
    once(home.path(), &server, "read_report");
    home
}

fn write(home: &Path, file: &str, text: &str) {
    let path = home.join("config").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn names(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["name"].as_str().unwrap()).collect()
}

const ROLES: &str = "[roles.reader]\ncapabilities = [\"*:read\"]\n\
    [roles.clerk]\ncapabilities = [\"invoices:*\", \"reports:delete\"]\nservers = [\"s\"]\n\
    [roles.stranger]\ncapabilities = [\"*\"]\nservers = [\"elsewhere\"]\n[roles.nobody]\n";

#[test]
fn a_role_is_shown_what_it_may_use_and_told_how_much_it_may_not() {
    let home = seen("config.toml", ROLES);
    let found = |role: &str| {
        let rows = rows(home.path(), &["search", "quarterly", "report", "--role", role]);
        let mut names: Vec<String> = names(&rows).into_iter().map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(found("reader"), ["list_invoices", "read_report"]);
    assert_eq!(found("clerk"), ["delete_report", "list_invoices"]);
    assert_eq!(found("stranger"), Vec::<String>::new());
    assert_eq!(found("nobody"), Vec::<String>::new());
    let (_, out, _) = tools(home.path(), &["search", "quarterly", "report", "--role", "reader"]);
    // The sentence below the rows keeps its line in a pipe.
    assert!(out.lines().take(3).all(|line| line.chars().count() <= 80), "{out}");
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        out.contains("2 more tools fit and are left out: 2 because the role reader has no capability for them; --all"),
        "{out}"
    );
    assert!(!out.contains("delete_report"), "{out}");
    let (_, out, _) = tools(home.path(), &["search", "report", "--role", "stranger"]);
    assert!(out.contains("No tool that may be used fits") && out.contains("is not for their server"), "{out}");
}

/// Of three tools that fit alike one requires what the role does not grant; of the others the cheaper comes first.
#[test]
fn a_search_goes_by_what_the_role_grants_and_then_by_what_a_call_costs() {
    let tool = |name: &str, meta: Value| {
        let mut tool = reader(name);
        tool["description"] = json!("Reads the weather.");
        tool["_meta"] = meta;
        tool
    };
    let home = tempfile::tempdir().unwrap();
    let server = Server::with(&[
        tool("weather_far", json!({ "cost_tier": "high" })),
        tool("weather_slow", json!({ "cost_tier": "low", "estimated_latency_ms": 900 })),
        tool("weather_own", json!({ "required_entitlements": ["admin:system"] })),
        tool("weather_now", json!({ "cost_tier": "low" })),
    ]);
    once(home.path(), &server, "none");
    let found = |role: &str| {
        let rows = rows(home.path(), &["search", "weather", "--role", role]);
        names(&rows).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(found("viewer"), ["weather_now", "weather_slow", "weather_far"]);
    assert!(found("admin").contains(&"weather_own".to_owned()));
    let (_, out, _) = tools(home.path(), &["search", "weather", "--role", "viewer", "--wide"]);
    assert!(out.contains("never called, low, 900 ms, says its server"), "{out}");
    let (_, out, _) = tools(home.path(), &["show", "weather_slow"]);
    assert!(out.contains("low, 900 ms, says its server"), "{out}");
}

#[test]
fn with_all_what_may_not_be_used_is_struck_with_the_reason() {
    let home = seen("config.toml", ROLES);
    let all = rows(home.path(), &["search", "quarterly", "report", "--role", "reader", "--all"]);
    let of = |name: &str| all.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!((&of("read_report")["may_use"], &of("read_report")["why_not"]), (&json!(true), &Value::Null));
    assert_eq!(of("delete_report")["may_use"], json!(false));
    let why = of("delete_report")["why_not"].as_str().unwrap();
    assert!(why.contains("the role reader does not grant") && why.contains("reports:delete"), "{why}");
    let why = of("frobnicate")["why_not"].as_str().unwrap();
    assert!(why.contains("whose effect is unknown"), "{why}");
    let (_, out, _) = tools(home.path(), &["search", "report", "--role", "reader", "--all", "--wide"]);
    assert!(out.contains("✗  MUTATES  s / delete_report") && out.contains("may not be used: the role reader"), "{out}");
}

#[test]
fn without_a_role_the_policy_is_the_gate() {
    let home = seen(
        "policy.toml",
        "version = 1\n[[rule]]\nid = \"never\"\ndecision = \"deny\"\naction = \"DELETE\"\n\
         [[rule]]\nid = \"some\"\ndecision = \"deny\"\ntool = \"read_report\"\nwhen = [{ arg = \"text\", eq = \"secret\" }]\n",
    );
    let found = rows(home.path(), &["search", "quarterly", "report"]);
    assert!(!names(&found).contains(&"delete_report"), "{found:#?}");
    assert!(names(&found).contains(&"read_report"), "only some calls of it are denied");
    let (_, out, _) = tools(home.path(), &["search", "quarterly", "report", "--all", "--wide"]);
    assert!(out.contains("may not be used: the policy: rule never denies every call of it"), "{out}");
    write(
        home.path(),
        "policy.toml",
        "version = 1\n[defaults]\nmutates = \"deny\"\n[[rule]]\nid = \"a\"\ndecision = \"ask\"\ntool = \"frobnicate\"\nwhen = [{ arg = \"text\", eq = \"x\" }]\n",
    );
    let found = rows(home.path(), &["search", "quarterly", "report"]);
    assert!(names(&found).contains(&"frobnicate") && !names(&found).contains(&"delete_report"), "{found:#?}");
}

#[test]
fn a_role_that_is_not_there_or_not_written_well_is_told() {
    let home = seen("config.toml", ROLES);
    let (code, _, err) = tools(home.path(), &["search", "report", "--role", "admin\u{1b}"]);
    assert!(
        code == 2 && err.contains("no role is called admin") && err.contains("admin, clerk, nobody, reader"),
        "{err}"
    );
    assert!(!err.contains('\u{1b}'));
    write(home.path(), "config.toml", "[roles.r]\ncapabilities = [\"files\"]\ncapabilites = 1\n");
    let (code, _, err) = tools(home.path(), &["search", "report", "--role", "r"]);
    assert!(code == 2 && err.contains("THINGS:ACT") && err.contains("did you mean `capabilities`"), "{err}");
    write(home.path(), "config.toml", "");
    let (_, _, err) = tools(home.path(), &["search", "report", "--role", "r"]);
    assert!(err.contains("[roles.reader]"), "{err}");
}

/// The tools of the document on tool discovery, with their profiles as their server declares them.
fn of_the_document() -> Server {
    let tool = |name: &str, description: &str, profile: Value| {
        let mut tool = reader(name);
        tool["description"] = json!(description);
        tool["annotations"] = json!({});
        tool["_meta"] = profile;
        tool
    };
    let read = |capabilities: &[&str], entitlement: &str, latency: u64| {
        json!({ "version": 1, "capabilities": capabilities, "required_entitlements": [entitlement],
            "estimated_latency_ms": latency, "cost_tier": "low", "idempotent": true, "side_effects": "read" })
    };
    Server::with(&[
        tool(
            "delete_knowledge_pack",
            "Delete a knowledge pack from HexGraph. Removes all associations and optionally deletes documents.",
            json!({ "version": 1, "capabilities": ["knowledge_packs:delete"], "required_entitlements": ["admin:system"],
                "estimated_latency_ms": 500, "cost_tier": "medium", "idempotent": false, "side_effects": "delete" }),
        ),
        tool(
            "query",
            "Execute a HiRAG query against documents with multiple retrieval modes.",
            read(&["queries:execute", "documents:read"], "documents:read", 200),
        ),
        tool(
            "search_requirements",
            "Search regulatory requirements within a framework. Returns verbatim legal text with citations.",
            read(&["regulatory:read"], "regulatory:read", 150),
        ),
        tool(
            "get_requirement",
            "Get one regulatory requirement by its id.",
            json!({ "capabilities": ["regulatory:read"] }),
        ),
    ])
}

const USER: &str = "[roles.user]\ncapabilities = [\"regulatory:read\", \"documents:read\"]\n\
    [roles.admin2]\ncapabilities = [\"admin:system\"]\n[roles.other]\ncapabilities = [\"invoices:read\"]\n";

#[test]
fn the_documents_own_search_gives_the_tools_that_the_role_is_entitled_to() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), "config.toml", USER);
    once(home.path(), &of_the_document(), "none");
    let found = |role: &str| {
        let rows = rows(home.path(), &["search", "find GDPR data retention requirements", "--role", role]);
        names(&rows).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut user = found("user");
    assert_eq!(user.first().map(String::as_str), Some("search_requirements"), "{user:?}");
    user.sort();
    assert_eq!(user, ["get_requirement", "query", "search_requirements"]);
    assert_eq!(found("other"), [""; 0]);
    let all = rows(home.path(), &["search", "delete a knowledge pack", "--role", "user", "--all"]);
    let pack = all.iter().find(|row| row["name"] == "delete_knowledge_pack").unwrap();
    assert!(pack["why_not"].as_str().unwrap().contains("does not grant admin:system, which the tool requires"));
    let rows = rows(home.path(), &["search", "delete a knowledge pack", "--role", "admin2"]);
    assert_eq!(names(&rows), ["delete_knowledge_pack"], "exactly what it requires, and nothing more");
    assert_eq!((&rows[0]["side_effects"], &rows[0]["declared_version"]), (&json!("delete"), &json!(1)));
}

#[test]
fn what_the_operator_writes_of_a_tool_counts_and_is_shown_as_the_operators() {
    let home = tempfile::tempdir().unwrap();
    let more = "[tools.\"s/query\"]\ncapabilities = [\"documents:read\"]\ncost = \"high\"\nlatency = \"2s\"\n\
        side_effects = \"write\"\nidempotent = false\nrequires = \"queries:execute\"\n";
    write(home.path(), "config.toml", &format!("{USER}{more}"));
    once(home.path(), &of_the_document(), "none");
    let (_, out, _) = tools(home.path(), &["show", "query"]);
    assert!(out.contains("high, 2000 ms, says your config.toml"), "{out}");
    assert!(
        out.contains("documents:read, says your config.toml")
            && out.contains("write, says your config.toml; idempotent: no, says your config.toml"),
        "{out}"
    );
    let required =
        "requires     queries:execute, says your config.toml\n               documents:read, says its server\n";
    assert!(out.contains(required), "{out}");
    let mut terminal = Terminal::console(home.path(), (120, 60), &[]);
    terminal.types("4");
    terminal.shows(&["get_requirement"]);
    terminal.types("/query\r");
    terminal.types("\r");
    terminal.shows(&["effects     write, says your config.toml;"]);
    let (_, out, _) = tools(home.path(), &["show", "search_requirements"]);
    assert!(out.contains("low, 150 ms, says its server") && out.contains("regulatory:read, says its server"), "{out}");
    let found = rows(home.path(), &["search", "query", "--role", "user", "--all"]);
    let query = found.iter().find(|row| row["name"] == "query").unwrap();
    assert!(query["why_not"].as_str().unwrap().contains("does not grant queries:execute"), "{query}");
    assert_eq!((&query["cost_author"], &query["declared_cost"]), (&json!("operator"), &json!("high")));
}

/// A server's own words about reading open nothing that was found to change something.
#[test]
fn a_tool_that_changes_something_is_not_opened_by_calling_itself_a_read() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), "config.toml", USER);
    let mut tool = writer("delete_document");
    tool["description"] = json!("Deletes a document.");
    tool["_meta"] = json!({ "required_entitlements": ["documents:read"] });
    once(home.path(), &Server::with(&[tool]), "none");
    let rows = rows(home.path(), &["search", "document", "--role", "user", "--all"]);
    assert!(rows[0]["why_not"].as_str().unwrap().contains("documents:delete"), "{rows:?}");
}
