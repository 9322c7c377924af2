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
    "my password is hunter2xx",
    "Passwort: hunter2xx",
    "my PIN is 4821",
    "https://hooks.slack.com/services/T000/B000/hunter2xx",
    "https://api.telegram.org/bot123456789:AAabcdefghijklmnopqrstuvwxyz0123456/getMe",
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

const PHRASE: &str = "legal winner thank year wave sausage worth useful legal winner thank yellow";

#[test]
fn what_people_say_of_their_passwords_is_a_secret() {
    let dot = |text: &str| text.replace('.', "");
    let discord = format!("{}.{}.{}", "MTk4NjIyNDgzNDcxOTI1MjQ4", "Cl2FMQ", "ZnCjm1XVW7vRze4b7Cq4se7kKWs");
    let numbered: Vec<String> = PHRASE.split(' ').enumerate().map(|(at, word)| format!("{}. {word}", at + 1)).collect();
    for (text, secret) in [
        ("My password is hunter2xx, do not tell", "hunter2xx"),
        ("the password for the staging database is swordfish", "swordfish"),
        ("the password was: \"hunter2xx\"", "hunter2xx"),
        ("Mein Passwort lautet Sommer2026!", "Sommer2026!"),
        ("Kennwort = Sommer2026", "Sommer2026"),
        ("Le mot de passe est soleil42", "soleil42"),
        ("La contraseña es secreto99", "secreto99"),
        ("A senha é segredo99", "segredo99"),
        ("Het wachtwoord is zomer2026", "zomer2026"),
        ("hasło to lato2026", "lato2026"),
        ("Пароль: leto2026", "leto2026"),
        ("密码是 xiatian26", "xiatian26"),
        ("パスワードは natsu2026 です", "natsu2026"),
        ("비밀번호는 yeoreum26", "yeoreum26"),
        ("my PIN is 4821", "4821"),
        ("The API key for billing is 8f14e45fceea", "8f14e45fceea"),
        ("post to https://hooks.slack.com/services/T00000000/B0000/abcDEF", "T00000000/B0000/abcDEF"),
        ("https://discord.com/api/webhooks/1234567890/abc_DEF-ghi", "1234567890/abc_DEF-ghi"),
        ("https://contoso.webhook.office.com/webhookb2/ab12-cd34@ef", "ab12-cd34@ef"),
        ("https://maker.ifttt.com/trigger/door/with/key/abcdefgh12", "abcdefgh12"),
        (&discord, &discord),
        (&format!("the seed: {PHRASE}!"), PHRASE),
        (&format!("{PHRASE} {PHRASE}"), &format!("{PHRASE} {PHRASE}")),
        (&format!("words: {}", PHRASE.replace(' ', ", ")), &PHRASE.replace(' ', ", ")),
        (&format!("words:\n{}", numbered.join("\n")), &numbered.join("\n")[3..]),
    ] {
        let at = text.find(secret).expect("it is there");
        assert_eq!(spans(text), std::slice::from_ref(&(at..at + secret.len())), "{text}");
        assert!(!is_clear(text), "{text}");
    }
    for text in [
        "The password is required",
        "the password is incorrect.",
        "Das Passwort ist falsch",
        "the token is invalid",
        "the secret is that nobody knows",
        "my PIN is wrong",
        "the password field of the form is hidden",
        "see https://hooks.slack.com/ and https://discord.com/api/webhooks",
        "legal winner thank year wave sausage worth useful legal winner thank",
        "the quick brown fox will jump over the lazy dog and then it will run away from here",
        &dot("at 10:30 12345678:not a token"),
    ] {
        assert!(spans(text).is_empty(), "{text}: {:?}", spans(text));
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
