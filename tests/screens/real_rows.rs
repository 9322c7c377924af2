//! Calls that a person's agents really make, to servers as their packages define them: each row of the queue tells which.

use std::collections::BTreeSet;

use mcp_approve::console::keymap::Key;
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::FromWrapper;
use serde_json::{Value, json};

use crate::desk::*;
use crate::world::World;

/// The cards of these calls, judged with the definitions of this server's package.
fn cards(server: &str, calls: &[(&str, Value)]) -> Vec<Snapshot> {
    let path = format!("{}/tests/fixtures/session/{server}.json", env!("CARGO_MANIFEST_DIR"));
    let package: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut world = World::new().ready();
    world.host(r#"{"jsonrpc":"2.0","id":"l2","method":"tools/list"}"#);
    world.server(&json!({ "jsonrpc": "2.0", "id": "l2", "result": { "tools": package["tools"] } }).to_string());
    for (at, (tool, arguments)) in calls.iter().enumerate() {
        world.call(&(at + 7).to_string(), tool, &arguments.to_string());
    }
    let named = |card: &Snapshot| {
        let ticket = card.ticket.replace("files", server);
        Snapshot { server: server.into(), ticket, deadline: Some(NINE + 150_000), ..card.clone() }
    };
    world.cards.values().map(named).collect()
}

const SUBJECTS: [&str; 10] = [
    "cart: count a coupon once",
    "cart: say which coupon was refused",
    "checkout: keep the address when payment fails",
    "checkout: ask for the country before the postcode",
    "docs: how to run the shop locally",
    "docs: what the environment variables are for",
    "fix: totals are rounded once, at the end",
    "fix: a refund of a refund is refused",
    "tests: orders of the last leap year",
    "tests: the gateway answers twice",
];

fn sixty() -> Vec<(&'static str, Vec<Snapshot>)> {
    let repo = "/home/ada/work/acme/shop";
    let commits = SUBJECTS.map(|subject| ("git_commit", json!({ "repo_path": repo, "message": subject })));
    let branches = ["totals", "search", "coupons", "refunds"]
        .map(|name| ("git_create_branch", json!({ "repo_path": repo, "branch_name": format!("fix/{name}") })));
    let git: Vec<_> = commits.into_iter().chain(branches).collect();
    let edit = |path: &str, old: &str, new: &str| {
        let path = format!("{repo}/frontend/src/{path}");
        ("edit_file", json!({ "path": path, "edits": [{ "oldText": old, "newText": new }], "dryRun": false }))
    };
    let note = |path: &str, text: &str| {
        ("obsidian_append_content", json!({ "filepath": format!("Projects/Acme/Shop/{path}"), "content": text }))
    };
    let issue = |title: &str| {
        ("create_issue", json!({ "owner": "acme", "repo": "shop", "title": title, "body": "See the log." }))
    };
    let sql = |text: &str| ("query", json!({ "sql": text }));
    let click = |element: &str, target: &str| ("browser_click", json!({ "element": element, "ref": target }));
    let typed = |element: &str, text: &str| ("browser_type", json!({ "element": element, "ref": "e9", "text": text }));
    vec![
        ("git", cards("git", &git)),
        (
            "filesystem",
            cards(
                "filesystem",
                &[
                    edit("components/checkout/summary/Total.tsx", "sum(", "total("),
                    edit("components/checkout/summary/Coupon.tsx", "1", "2"),
                    edit("components/checkout/address/Form.tsx", "a", "b"),
                    edit("components/checkout/address/Country.tsx", "a", "b"),
                    edit("components/cart/Row.tsx", "a", "b"),
                    edit("components/cart/Total.tsx", "a", "b"),
                    edit("pages/index.tsx", "a", "b"),
                    edit("pages/cart/index.tsx", "a", "b"),
                    edit("pages/orders/index.tsx", "a", "b"),
                    edit("pages/orders/[id].tsx", "a", "b"),
                    edit("lib/money.ts", "a", "b"),
                    edit("lib/country.ts", "a", "b"),
                    ("write_file", json!({ "path": format!("{repo}/README.md"), "content": "# Shop\n" })),
                    (
                        "move_file",
                        json!({ "source": format!("{repo}/a.md"), "destination": format!("{repo}/docs/a.md") }),
                    ),
                ],
            ),
        ),
        (
            "postgres",
            cards(
                "postgres",
                &[
                    sql("UPDATE orders SET status = 'paid' WHERE id = 3"),
                    sql("UPDATE orders SET status = 'paid' WHERE id = 4"),
                    sql("UPDATE orders SET status = 'sent' WHERE paid_at IS NOT NULL"),
                    sql("UPDATE customers SET name = 'Ada' WHERE id = 3"),
                    sql("INSERT INTO coupons (code, percent) VALUES ('MAY', 10)"),
                    sql("INSERT INTO coupons (code, percent) VALUES ('JUNE', 15)"),
                    sql("DELETE FROM carts WHERE updated_at < now() - interval '30 days'"),
                    sql("DELETE FROM sessions WHERE user_id = 7"),
                    sql("CREATE INDEX orders_by_customer ON orders (customer_id)"),
                    sql("ALTER TABLE orders ADD COLUMN note text"),
                ],
            ),
        ),
        (
            "github",
            cards(
                "github",
                &[
                    issue("Totals are rounded twice"),
                    issue("A coupon counts twice"),
                    issue("Orders of the last leap year"),
                    issue("The gateway answers twice"),
                    issue("Totals are wrong for refunds"),
                    issue("Search finds no umlauts"),
                    ("create_branch", json!({ "owner": "acme", "repo": "shop", "branch": "fix/totals" })),
                    ("create_branch", json!({ "owner": "acme", "repo": "shop", "branch": "fix/search" })),
                    (
                        "create_pull_request",
                        json!({ "owner": "acme", "repo": "shop", "title": "Round once", "head": "fix/totals", "base": "main" }),
                    ),
                    (
                        "create_pull_request",
                        json!({ "owner": "acme", "repo": "shop", "title": "Find umlauts", "head": "fix/search", "base": "main" }),
                    ),
                    (
                        "add_issue_comment",
                        json!({ "owner": "acme", "repo": "shop", "issue_number": 41, "body": "Fixed in main." }),
                    ),
                    (
                        "add_issue_comment",
                        json!({ "owner": "acme", "repo": "shop", "issue_number": 42, "body": "Fixed in main." }),
                    ),
                    ("merge_pull_request", json!({ "owner": "acme", "repo": "shop", "pull_number": 43 })),
                ],
            ),
        ),
        (
            "obsidian",
            cards(
                "obsidian",
                &[
                    note("Meetings/2026-11-23.md", "- totals\n"),
                    note("Meetings/2026-11-24.md", "- search\n"),
                    note("Meetings/2026-11-25.md", "- coupons\n"),
                    note("Decisions/Rounding.md", "Once.\n"),
                    note("Decisions/Countries.md", "First.\n"),
                    note("People/Grace.md", "Likes tea.\n"),
                    note("People/Joan.md", "Likes coffee.\n"),
                    note("Log.md", "Done.\n"),
                    ("obsidian_delete_file", json!({ "filepath": "Inbox/old.md", "confirm": true })),
                    ("obsidian_delete_file", json!({ "filepath": "Inbox/older.md", "confirm": true })),
                ],
            ),
        ),
        (
            "playwright",
            cards(
                "playwright",
                &[
                    click("Add to cart", "e3"),
                    click("Checkout button", "e4"),
                    click("Pay now button", "e5"),
                    click("Delete address link", "e6"),
                    typed("Name field", "Ada Lovelace"),
                    typed("Street field", "12 Analytical Row"),
                    typed("Coupon field", "MAY"),
                    ("browser_evaluate", json!({ "function": "() => document.title" })),
                    ("browser_evaluate", json!({ "function": "() => localStorage.clear()" })),
                    ("browser_press_key", json!({ "key": "Enter" })),
                ],
            ),
        ),
    ]
}

#[test]
fn sixty_real_calls_have_different_rows() {
    let mut desk = Desk::new(80, 24);
    let mut held = 0;
    let mut arrived = NINE - 60_000;
    for (server, cards) in sixty() {
        desk.link(ClientEvent::Connected(wrapper(server, server)));
        desk.status(server, status());
        for card in cards {
            arrived += 10;
            held += 1;
            desk.say(server, FromWrapper::Held { call: Box::new(Snapshot { arrived, ..card }) });
        }
    }
    assert!(held >= 60, "{held} of the calls wait");
    desk.keys("o");
    desk.look();
    let mut rows = BTreeSet::new();
    for _ in 0..held {
        let line = desk.line("▸");
        // Without the cursor before it and the time behind it.
        let row: String = line.chars().skip(2).take(66).collect();
        rows.insert(row.trim_end().to_owned());
        desk.press(Key::Down);
    }
    let all: Vec<&String> = rows.iter().collect();
    assert!(rows.len() * 60 >= 55 * held, "{} of {held}:\n{all:#?}", rows.len());
}
