//! What was agreed to as a file: written and read again, or refused with every problem.

use mcp_approve::behavior::agreed::{Agreement, Backing, What};
use mcp_approve::behavior::conclude::Trust;
use mcp_approve::home::agreed::Known;
use mcp_approve::home::set::{of_file, to_file};
use mcp_approve::pins::agreed::{Kept, Standing};
use mcp_approve::pins::reading::Server;
use serde_json::{Value, json};

fn server(package: Option<&str>) -> Server {
    Server {
        name: "weather".into(),
        fingerprint: "f".into(),
        command: "npx weather".into(),
        package: package.map(Into::into),
        trust: Trust::Corroborate,
        program: String::new(),
        trusted: None,
        first_seen: 0,
        last_seen: 0,
        words: Vec::new(),
        former: Vec::new(),
    }
}

fn known(agreement: Agreement, standing: Standing) -> Known {
    let (fingerprint, server) = match agreement.what {
        What::Meta => Default::default(),
        _ => ("f".to_owned(), "weather".to_owned()),
    };
    Known { kept: Kept { agreement, fingerprint, since: 86_400_000, used: 1 }, server, standing }
}

fn city(name: &str) -> Agreement {
    let value = json!(name).to_string();
    let (tool, key, schema) = ("forecast".into(), "/city".into(), "0".repeat(64));
    Agreement { tool, key, schema, ..Agreement::of_server(What::Value, value) }
}

#[test]
fn what_is_written_is_read_again_hostile_text_too() {
    let hostile = city("\u{202e}\u{1b}[2J\"\n");
    let meta = Agreement { key: "vendor/x".into(), ..Agreement::of_server(What::Meta, "some-host") };
    let all = [hostile.clone(), Agreement::of_server(What::Host, "example.com"), meta];
    for package in [Some("npm:weather"), None] {
        let listed: Vec<_> = all.iter().map(|one| known(one.clone(), Standing::Proven(Backing::Recorded))).collect();
        let file = to_file(&listed, &[server(package)], Default::default());
        let offers = of_file(&file.to_string()).unwrap().agreed;
        assert_eq!(offers.iter().map(|offer| &offer.agreement).collect::<Vec<_>>(), all.iter().collect::<Vec<_>>());
        assert!(offers[0].is_of(&server(package)) && offers[0].since == "1970-01-02", "{offers:?}");
        assert!(!offers[0].is_of(&server(Some("npm:another"))));
        let renamed = Server { name: "other".into(), ..server(package) };
        assert!(!offers[0].is_of(&renamed) && !offers[2].is_of(&server(package)));
    }
    let unproven = [known(hostile, Standing::Unproven)];
    assert_eq!(
        to_file(&unproven, &[server(None)], Default::default())["agreed"],
        json!([]),
        "what does not count is not passed on"
    );
}

#[test]
fn a_file_is_taken_whole_or_refused_with_every_problem() {
    let good = || {
        json!({ "server": "s", "package": "npm:s", "what": "value", "tool": "t", "key": "/k",
            "schema": "0".repeat(64), "value": "1", "since": "2026-11-23" })
    };
    let refused = |lines: &[Value]| -> String {
        of_file(&json!({ "version": 1, "agreed": lines }).to_string())
            .map(|set| set.agreed.len())
            .unwrap_err()
            .to_string()
    };
    let with = |key: &str, value: Value| {
        let mut line = good();
        line[key] = value;
        line
    };
    for (line, why) in [
        (with("colour", json!("red")), "unknown field `colour`"),
        (with("what", json!("everything")), "unknown variant `everything`"),
        (with("value", json!("Oslo")), "number 1: `value` is not JSON"),
        (with("key", json!("k")), "number 1: `key` is not a JSON Pointer"),
        (with("tool", json!("")), "number 1: `tool` is missing"),
        (with("schema", json!("00")), "number 1: `schema` is not a digest"),
        (with("since", json!("yesterday")), "`since` is not a day"),
        (with("package", json!("")), "either `package` or `command`"),
        (with("command", json!("s")), "either `package` or `command`"),
        (
            json!({ "what": "folder", "server": "s", "package": "p", "value": "/", "since": "2026-11-23" }),
            "the root is never agreed to as a whole",
        ),
        (
            json!({ "what": "folder", "server": "s", "package": "p", "value": "x/../..", "since": "2026-11-23" }),
            "`value` is not an absolute path",
        ),
    ] {
        assert!(refused(&[line]).contains(why), "{why}");
    }
    assert_eq!(
        refused(&[good(), with("value", json!("x")), good()]),
        "number 2: `value` is not JSON; number 3: it is the same as number 1"
    );
    assert!(of_file(r#"{"version":3,"agreed":[]}"#).unwrap_err().to_string().contains("version 3"));
    assert!(of_file(r#"{"version":1,"version":1,"agreed":[]}"#).unwrap_err().to_string().contains("duplicate field"));
    assert!(of_file("[]").is_err() && of_file("").is_err());
    assert_eq!(of_file(&json!({ "version": 1, "agreed": [good()] }).to_string()).unwrap().agreed.len(), 1);
}
