//! What looks like a secret: every row of `assets/secrets.toml`, what is beside it, and texts that are clear of any.

use mcp_approve::behavior::secrets::{is_clear, is_secret_flag, is_secret_key, spans};
use proptest::prelude::*;

/// A text for each way in which a secret is found.
const FOUND: &[&str] = &[
    "password=hunter2xx",
    "DB_PASS: hunter2xx",
    "my.s-e_c.r.e.t => hunter2xx",
    "\"refresh_token\": \"hunter2xx\"",
    "pass＝hunter2xx",
    "--api-key hunter2xx",
    "run -token hunter2xx",
    "https://bob:hunter2xx@host/",
    "https://0123456789abcdefghij@host/",
    "https://host/?a=1&sig=hunter2xx",
    "https://host/?X-Amz-Signature=hunter2xx",
    "- name: DB_PASSWORD\n  value: hunter2xx",
    "Cookie: a=hunter2xx; b=c",
    "authorization: Basic eDp5",
    "x Bearer hunter2xx",
    "x BASIC eDp5",
    "x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
    "x AKIAIOSFODNN7EXAMPLE",
    "x-----BEGIN PRIVATE KEY-----\nMIIE",
    "curl -u bob:hunter2xx host",
    "mysql -phunter2xx",
    "<password>hunter2xx</password>",
    "<key>auth</key><string>hunter2xx</string>",
    "machine a login bob password hunter2xx",
    "user.set_password('hunter2xx')",
    "new Client().withApiKey(`hunter2xx`)",
    "create user ann identified by 'hunter2xx'",
    "CREATE USER ann IDENTIFIED BY hunter2xx",
    "ALTER ROLE ann PASSWORD 'hunter2xx'",
];

/// Names of secrets, and words that take the name away.
const NAMES: &[&str] =
    &["password", "apikey", "cookie", "pat", "pass", "pin", "auth", "token", "page", "sig", "identified"];

/// Behind a line that is not clear and holds no secret, a text is searched whatever it is.
fn searched(text: &str) -> usize {
    spans(&format!("auth.\n{text}")).len()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 3_000, ..ProptestConfig::default() })]
    #[test]
    fn in_a_clear_text_nothing_is_found(
        found in prop::sample::select(FOUND),
        name in prop::sample::select(NAMES),
        sign in prop::sample::select(vec!["", " ", "\n", "-", " -", "--", "_", ".", "/", ":", "=", "<", ">", "\"", "\\", "é", "x", "7"]),
        (at, cut) in (0_usize..60, 0_usize..4),
        upper in any::<bool>(),
    ) {
        let (before, rest) = found.split_at(found.floor_char_boundary(at));
        let (_, after) = rest.split_at(rest.floor_char_boundary(cut));
        for put in [sign, name] {
            let text = [before, put, after].concat();
            let text = if upper { text.to_uppercase() } else { text };
            if is_clear(&text) {
                prop_assert!(searched(&text) == 0 && !is_secret_key(&text) && !is_secret_flag(&text), "{}", text);
            }
        }
    }
}

#[test]
fn no_text_with_a_secret_is_clear() {
    for text in FOUND {
        assert!(!spans(text).is_empty() && !is_clear(text), "{text}");
    }
}

#[test]
fn ordinary_texts_are_clear() {
    for text in [
        r#"{"path":"/home/user/project/src/main.rs","query":"fn main() -> Result<(), Box<dyn Error>>"}"#,
        "{\"offset\": 14, \"since\": \"2026-11-21T10:00:00Z\"}",
        "SELECT id, name FROM users WHERE id = 7",
        "The description says: it reads a pattern, and a passage of it",
    ] {
        assert!(is_clear(text), "{text}");
    }
}

/// Every word and every token of the file, as it stands there.
#[test]
fn every_row_is_found() {
    let file: toml::Table = include_str!("../../assets/secrets.toml").parse().expect("TOML");
    let words = |list: &str| {
        let words: Vec<String> =
            file["keys"][list].as_str().expect("words").split_ascii_whitespace().map(str::to_owned).collect();
        assert!(!words.is_empty());
        words
    };
    for key in words("anywhere").iter().chain(&words("whole")) {
        let signs: String = key.chars().flat_map(|c| [c, '_']).collect();
        assert!(is_secret_key(key) && is_secret_key(&key.to_uppercase()) && is_secret_key(&signs), "{key}");
        assert_eq!(spans(&format!("{key}=abc")).len(), 1, "{key}");
    }
    words("anywhere").iter().for_each(|key| assert!(is_secret_key(&format!("my-{key}_1")), "{key}"));
    words("last")
        .iter()
        .for_each(|key| assert!(is_secret_key(&format!("my-{key}")) && !is_secret_key(&format!("my{key}"))));
    words("no_token").iter().for_each(|key| assert!(!is_secret_key(&format!("{key}_token")), "{key}"));
    let tokens = file["token"].as_array().expect("rows");
    for row in tokens {
        let least = usize::try_from(row["least"].as_integer().expect("a number")).expect("small");
        for begin in row["begins"].as_str().expect("words").split_ascii_whitespace() {
            let token = format!("{begin}{}", "1".repeat(least));
            assert_eq!(spans(&token), std::slice::from_ref(&(0..token.len())), "{token}");
            assert!(spans(&token[..token.len() - 1]).is_empty(), "{token} is one too short");
        }
    }
}

#[test]
fn code_that_takes_a_secret_from_elsewhere_holds_none_but_its_fallback() {
    for code in [
        "password = getpass.getpass()",
        "api_key: process.env.API_KEY,",
        "secret = os.environ[\"DB_SECRET\"]",
        "api_key: process.env.API_KEY, name: 'production'",
        "api_key: process.env['API_KEY'], name: 'production'",
        "password = process.env.PASSWORD; user = 'production'",
        "password=${PASSWORD} user=production",
        "secret = os.getenv(\"DB_SECRET\")",
        "let token = env::var(\"TOKEN\")?;",
        "# Notes\n\n- tokens are checked in tests/auth.rs: see there",
        "fn token(bytes: &[u8]) -> Option<Range<usize>> { spans.len() }",
    ] {
        assert!(spans(code).is_empty(), "{code}");
    }
    // Where it finds nothing, the code has a secret of its own.
    for code in [
        "password=process.env.PASSWORD||'hunter2xx'",
        "password: process.env.PASSWORD ?? \"hunter2xx\"",
        "password = process.env['PASSWORD'] || `hunter2xx`,",
        "password = os.environ.get('PASSWORD', 'hunter2xx')",
        "password = os.getenv(\"PASSWORD\", \"hunter2xx\")",
        "password = os.environ[\"PASSWORD\"] or 'hunter2xx'",
        "let password = env::var(\"PASSWORD\").unwrap_or(\"hunter2xx\".into());",
        "let password = std::env::var(\"PASSWORD\").unwrap_or_else(|_| \"hunter2xx\".into());",
        "PASSWORD=${PASSWORD:-hunter2xx}",
    ] {
        let at = code.find("hunter2xx").expect("it is there");
        assert_eq!(spans(code), std::slice::from_ref(&(at..at + 9)), "{code}");
    }
    assert_eq!(spans("password = hunter2(ab"), std::slice::from_ref(&(11..21)));
    assert_eq!(spans("password=hunter2()xyz"), std::slice::from_ref(&(9..17)));
}
