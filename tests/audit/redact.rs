//! Redaction: what is hidden, what is kept, and what becomes of texts too long.

use mcp_approve::audit::redact::{ROOM, Redactor};
use mcp_approve::audit::repeats;
use mcp_approve::wire::digest::Digest;

use crate::audit::redactor;

fn redacted(json: &str) -> String {
    let mut out = String::new();
    assert_eq!(redactor().redact(json, &mut out), None, "{json}");
    out
}

/// `«…»` in the expectation stands for the mark of what is between.
fn marked(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split(['«', '»']).enumerate() {
        match at % 2 {
            0 => out.push_str(part),
            _ => out.push_str(&redactor().mark(part.as_bytes())),
        }
    }
    out
}

/// A text without an escape is first looked at as a whole; one with an escape is read value by value. Both say the same.
#[test]
fn what_is_clear_is_written_as_it_is_read_value_by_value() {
    let keys = ["path", "offset", "user_token", "pat", "a b", "name", "value", "pass word", "sig", "p.i.n", "tokens"];
    let values = [
        r#""/home/user/main.rs""#,
        "14 ",
        r#" [ "--pass" , "hunter2" , null ] "#,
        r#"{ "key" : "API_KEY" , "value" : "hunter2" }"#,
        r#""a  b --password hunter2""#,
        r#""https://u:hunter2@x""#,
        r#""curl -u bob:hunter2 x""#,
        r#""ghp_0123456789abcdef0123""#,
        r#"{ "" : [ ] , "x y" : [ { } , 1.50 , "a - b" ] }"#,
    ];
    for first in keys {
        for (key, value) in keys.iter().flat_map(|key| values.map(|value| (key, value))) {
            let json = format!("{{ \"{first}\" : \"{key}\" ,\t\"{key}\": {value}\n}}");
            let read = redacted(&format!(r#"[{json},"\n"]"#));
            assert_eq!(
                Some(redacted(&json).as_str()),
                read.strip_prefix('[').and_then(|read| read.strip_suffix(r#","\n"]"#))
            );
        }
    }
}

#[test]
fn secrets_are_hidden() {
    let name = "a_long_name_".repeat(20);
    let (long_key, long_key_hidden) =
        (format!(r#"{{"{name}password":"hunter2"}}"#), format!(r#"{{"{name}password":"«hunter2»"}}"#));
    let cases = [
        // Under a key that says so: strings and numbers, at any depth below.
        (r#"{"password":"hunter2"}"#, r#"{"password":"«hunter2»"}"#),
        (r#"{"PassWord":1234}"#, r#"{"PassWord":"«1234»"}"#),
        (r#"{"api_key":"x","apiKey":"y","X-Api-Key":"z"}"#, r#"{"api_key":"«x»","apiKey":"«y»","X-Api-Key":"«z»"}"#),
        (r#"{"token":"t","access_token":"t"}"#, r#"{"token":"«t»","access_token":"«t»"}"#),
        (r#"{"headers":{"Authorization":"Basic eDp5"}}"#, r#"{"headers":{"Authorization":"«Basic eDp5»"}}"#),
        (r#"{"Cookie":["a","b"],"c":"d"}"#, r#"{"Cookie":["«a»","«b»"],"c":"d"}"#),
        (
            r#"{"credentials":{"user":"u","n":[1,null,true]}}"#,
            r#"{"credentials":{"user":"«u»","n":["«1»",null,true]}}"#,
        ),
        // The last word of a JSON Pointer, as the parts of a call are recorded by that we do not know; a name of any length.
        (
            r#"{"/params/auth":"a","/pin":1234,"/params/page":2}"#,
            r#"{"/params/auth":"«a»","/pin":"«1234»","/params/page":2}"#,
        ),
        (&long_key, &long_key_hidden),
        (r#"{"private_key":"a\nb"}"#, "{\"private_key\":\"«a\nb»\"}"),
        (r#"{"pass\u0077ord":"hunter2"}"#, r#"{"pass\u0077ord":"«hunter2»"}"#),
        (
            r#"[{"name":"DB_PASSWORD","value":"x"},{"name":"HOME","value":"y"}]"#,
            r#"[{"name":"DB_PASSWORD","value":"«x»"},{"name":"HOME","value":"y"}]"#,
        ),
        (r#"["run","--token","abc","--verbose","x"]"#, r#"["run","--token","«abc»","--verbose","x"]"#),
        // By how they look, anywhere.
        (r#"{"x":"AKIAIOSFODNN7EXAMPLE"}"#, r#"{"x":"«AKIAIOSFODNN7EXAMPLE»"}"#),
        (
            r#"{"x":"a ghp_0123456789abcdefghij0123456789abcdef."}"#,
            r#"{"x":"a «ghp_0123456789abcdefghij0123456789abcdef.»"}"#,
        ),
        (r#"["github_pat_11ABCDEFG0123456789_abc"]"#, r#"["«github_pat_11ABCDEFG0123456789_abc»"]"#),
        (r#"["sk-proj-0123456789abcdefABCDEF"]"#, r#"["«sk-proj-0123456789abcdefABCDEF»"]"#),
        (
            r#"["sk_live_0123456789abcdef","xoxb-1234567890-abc"]"#,
            r#"["«sk_live_0123456789abcdef»","«xoxb-1234567890-abc»"]"#,
        ),
        (
            r#"["jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln end"]"#,
            r#"["jwt «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln» end"]"#,
        ),
        (r#"["Bearer abcdef123"]"#, r#"["Bearer «abcdef123»"]"#),
        (r#"["curl -H 'Authorization: Bearer abcdef' x"]"#, r#"["curl -H 'Authorization: «Bearer abcdef»' x"]"#),
        (r#"["postgres://bob:pw@db/x"]"#, r#"["postgres://bob:«pw»@db/x"]"#),
        (
            r#"["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest"]"#,
            "[\"«-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----»\\nrest\"]",
        ),
        (r#"["-----BEGIN PRIVATE KEY-----\nMIIE"]"#, "[\"«-----BEGIN PRIVATE KEY-----\nMIIE»\"]"),
        (r#"["PGPASSWORD=hunter2 psql"]"#, r#"["PGPASSWORD=«hunter2» psql"]"#),
        (r#"["<arg>-password hunter2xx</arg>"]"#, r#"["<arg>-password «hunter2xx»</arg>"]"#),
        (r#"["login\nbob\npassword\nhunter2xx - ok"]"#, r#"["login\nbob\npassword\n«hunter2xx» - ok"]"#),
        (r#"["token: Bearer 0123456789abcdef0"]"#, r#"["token: Bearer «0123456789abcdef0»"]"#),
        (r#"["tool --auth-token Bearer 0123456789abcdef0"]"#, r#"["tool --auth-token Bearer «0123456789abcdef0»"]"#),
        (r#"["mysql --password hunter2 -u x"]"#, r#"["mysql --password «hunter2» -u x"]"#),
        (r#"["https://h/?access_token=abc&x=1"]"#, r#"["https://h/?access_token=«abc»&x=1"]"#),
        (r#"["{\"secret\": \"abc\", \"n\": 1}"]"#, r#"["{\"secret\": \"«abc»\", \"n\": 1}"]"#),
        (r#"{"AKIAIOSFODNN7EXAMPLE":1}"#, r#"{"«AKIAIOSFODNN7EXAMPLE»":1}"#),
        // At the top.
        (r#""AKIAIOSFODNN7EXAMPLE""#, r#""«AKIAIOSFODNN7EXAMPLE»""#),
    ];
    for (given, expected) in cases {
        assert_eq!(redacted(given), marked(expected), "{given}");
    }
}

#[test]
fn the_rest_is_kept_as_it_was_written() {
    let cases = [
        r#"{"b":1.0,"a":1e400,"n":12345678901234567890123,"z":-0}"#,
        r#"{"$serde_json::private::Number":"1"}"#,
        r#"{"path":"/tmp/\u00e9\/x","t":true,"n":null,"e":{},"l":[]}"#,
        r#"{"max_tokens":500,"nextPageToken":"abc","page_token":"x","tokens":3}"#,
        r#"{"q":"select password from users","url":"https://h:80/a@b","mail":"a@b.c"}"#,
        r#"{"x":"sk-","y":"AKIA","z":"bearer of news","w":"$PASSWORD PASSWORD=$SECRET"}"#,
        r#"{"lone":"\ud800","author":"me","monkey":"x","keyboard":"y"}"#,
        r#"[[["deep"]]]"#,
        "0.10",
    ];
    for given in cases {
        assert_eq!(redacted(given), given);
    }
    assert_eq!(redacted(" { \"a\" : [ 1 ,\n 2 ] } "), r#"{"a":[1,2]}"#, "one line, no spaces");
}

#[test]
fn equal_secrets_match_under_one_key_only() {
    let mark = redactor().mark(b"hunter2");
    assert_eq!(mark.len(), "redacted:".len() + 16);
    assert_eq!(redacted(r#"{"pin":1234}"#), redacted("{\"pin\":\"1234\"}"), "written differently");
    assert_ne!(Redactor::new(&[8; 32]).mark(b"hunter2"), mark);
}

/// What a call says under the key of a secret and once more elsewhere: in a record, does the second place say it?
#[test]
fn g6_only_what_looks_made_by_chance_is_hidden_where_it_comes_again() {
    let is_hidden = |secret: &str, text: &str| {
        let json = serde_json::json!({ "password": secret }).to_string();
        let mut found = Vec::new();
        let _ = redactor().json(&json, &[], &mut found);
        let known = repeats::tokens(&found);
        let told = redactor().without(text, &known).into_owned();
        assert!(told == text || told.contains(&redactor().mark(secret.as_bytes())) || secret.contains(' '), "{told}");
        told != text
    };
    for secret in [
        "hunter2xyz", "s3cr3t-planted-01", "Zx81kkQp", "9f86d081884c7d659a2feaa0c55ad015",
        "AKq7Rz/x81LmWp02/Yt5vNc8+dE3", "550e8400-e29b-41d4-a716-446655440000", "q7Rz+x81=Lm", "q7Rz\"x81\\Lm",
        "Bearer q7Rzx81Lm",
    ] {
        let last = secret.rsplit(' ').next().unwrap();
        assert!(is_hidden(secret, &format!("curl -H 'X-Odd: {last}' https://h/?a={last}")), "{secret}");
    }
    // As an address and JSON within JSON write it.
    for written in ["q7Rz%22x81%2BLm5", "q7Rz%22x81%2bLm5", r#"q7Rz\"x81+Lm5"#, r#"q7Rz\\\"x81+Lm5"#] {
        assert!(is_hidden("q7Rz\"x81+Lm5", &format!("a {written} b")), "{written}");
    }
    // An agent would hide what it does behind any of these.
    for act in [
        "rm -rf /x", "rm${IFS}-rf${IFS}/x1y2z3", "$(cat</etc/a1b2c3d4)", "/etc/passwd", "/srv/a1b2c3d4e5f6",
        "~/x1y2z3w4v5u6", "../a1b2c3d4e5f6", "src/Foo2Bar.rs", "/home/ada/project2/release3/a1b2", "production",
        "backup-prod-2024", "2024-11-28", "192.168.10.20", "deploy.sh", "DELETE FROM users", "drop_table",
        "1234567890123", "k8s-prod-eu", "web01.prod.example.com", "mkfs.ext4", "python3.11", "getUserById",
        "a1b2;reboot", "{rm,-rf,a1b2c3}", "x1y2z3|sh", "hunter2", "Summer2024!",
    ] {
        assert!(!is_hidden(act, &format!("sh -c '{act}'")), "{act}");
    }
}

#[test]
fn g6_whatever_is_replaced_because_it_is_known_repeats_and_nothing_else() {
    let known = repeats::tokens(&["q7Rz9x81Lm5".to_owned(), "9.9E0004".to_owned()]);
    for (json, repeats) in [
        (r#"{"a":"x q7Rz9x81Lm5"}"#, true),
        (r#"{"a":"x \u00717Rz9x81Lm5"}"#, true),
        (r#"{"\u00717Rz9x81Lm5":1}"#, true),
        (r#"{"a":9.9E0004}"#, true),
        (r#"{"a":[1,{"b":9.9E0004}]}"#, true),
        (r#"{"a":9.9e4,"b":"q7Rz\n"}"#, false),
        (r#"{"password":9.9E0004}"#, false),
        (r#"{"password":"q7Rz9x81Lm5"}"#, false),
    ] {
        let [mut alone, mut with] = [String::new(), String::new()];
        redactor().redact_all(json, (&[], &[]), &mut alone);
        redactor().redact_all(json, (&known, &[]), &mut with);
        assert_eq!((redactor().repeats(json, &known), alone != with), (repeats, repeats), "{json} {with}");
    }
}

#[test]
fn g6_what_may_have_been_cut_within_a_secret_ends_before_it() {
    let known = repeats::tokens(&["q7Rz9x81Lm5".to_owned(), "q7Rz9x".to_owned() + "Zk2Zk3Zk4Zk5"]);
    for (text, told) in [
        ("as q7Rz9x81Lm", "as «q7Rz9x81Lm5»"),
        ("as q7Rz9x81Lm5", "as «q7Rz9x81Lm5»"),
        ("as q7Rz9xZ…3Zk4Zk5/é", "as «q7Rz9xZk2Zk3Zk4Zk5»…«q7Rz9xZk2Zk3Zk4Zk5»/é"),
        ("q7Rz9xZ…k4Zk5…", "«q7Rz9xZk2Zk3Zk4Zk5»…k4Zk5…"),
        ("as q7Rz9x81L, and more", "as q7Rz9x81L, and more"),
        ("as q7Rz9", "as q7Rz9"),
        ("Zk4Zk5", "Zk4Zk5"),
        ("", ""),
    ] {
        let told = told.split('«').enumerate().map(|(at, part)| match part.split_once('»').filter(|_| at > 0) {
            Some((secret, rest)) => format!("{}{rest}", redactor().mark(secret.as_bytes())),
            None => part.to_owned(),
        });
        assert_eq!(redactor().without_parts(text, &known), told.collect::<String>(), "{text}");
    }
}

/// RFC 4231, test case 2, its key filled up with zeros as HMAC does.
#[test]
fn the_keyed_hash_is_hmac_sha_256() {
    let mut key = [0; 32];
    key[..4].copy_from_slice(b"Jefe");
    let mark = Redactor::new(&key).mark(b"what do ya want for nothing?");
    assert_eq!(mark, "redacted:5bdcc146bf60754e");
}

#[test]
fn what_is_too_long_is_cut_and_says_so() {
    let kept = format!(r#"{{"content":"{}"}}"#, "x".repeat(ROOM - 20));
    assert_eq!(redacted(&kept), kept, "it just fits");

    let long = format!(r#"{{"content":"{}","path":"/a","pin":"1234"}}"#, "é".repeat(ROOM));
    let mut out = String::new();
    let cut = redactor().redact(&long, &mut out).unwrap();
    // The digest of a text of which a reader lacks the PIN alone would tell it.
    let plain = Digest::of(long.as_bytes());
    assert_eq!((cut.bytes, cut.digest), (long.len(), redactor().key().of(plain.as_bytes())));
    let clear = long.replace("pin", "page");
    let cut = redactor().redact(&clear, &mut String::new()).unwrap();
    assert_eq!(cut.digest, Digest::of(clear.as_bytes()));
    let expected = format!(r#"{{"content":"{}…[32768 bytes in all]","path":"/a","pin":"«1234»"}}"#, "é".repeat(128));
    assert_eq!(out, marked(&expected), "the structure stays");

    let many = format!("[{}1]", r#"{"password":"x"},"#.repeat(ROOM));
    let mut out = String::from("before");
    assert!(redactor().redact(&many, &mut out).is_some());
    assert!(out.len() < 2 * ROOM, "{}", out.len());
    let head: String = serde_json::from_str(out.strip_prefix("before").unwrap()).unwrap();
    assert!(head.starts_with(&marked(r#"[{"password":"«x»"},"#)), "{head}");
}

/// A secret that begins in the head and ends beyond it must not leave its beginning behind.
#[test]
fn a_cut_does_not_uncover_a_secret() {
    for before in 200..260 {
        let secret = "AKIAIOSFODNN7EXAMPLE";
        let long = format!(r#"["{} {secret} {}"]"#, "x".repeat(before), "y".repeat(2 * ROOM));
        let mut out = String::new();
        redactor().redact(&long, &mut out).unwrap();
        assert!(!out.contains("AKIAI"), "{before}: {out}");
    }
}

/// Every text that a host can send must end as JSON, without taking for ever.
#[test]
fn hostile_texts_stay_json() {
    let units = [
        "eyJ-", "eyJa.", "AKIA.", "bearer ", "://", "://:", "pin=$", "--token ", "-----BEGIN ", "a=", "\\u0000",
        "\\\\", "«", "token:'",
    ];
    for unit in units {
        for count in [1, 7, 2000, 20_000] {
            let json = format!(r#"{{"x":"{}"}}"#, unit.repeat(count));
            let mut out = String::new();
            redactor().redact(&json, &mut out);
            let read: Result<serde::de::IgnoredAny, _> = serde_json::from_str(&out);
            assert!(read.is_ok(), "{unit} × {count}: {out:.200}");
        }
    }
}

/// What code makes of a literal, and a literal that stands in on another line or by name, are no less secrets.
#[test]
fn a_literal_inside_code_is_hidden() {
    let redactor = Redactor::new(&[7; 32]);
    for code in [
        r#"password = b"hunter2xx""#,
        "password = f'hunter2xx'",
        "password = N'hunter2xx'",
        r#"password = SecretStr("hunter2xx")"#,
        r#"password = ("hunter2xx")"#,
        r#"password = ["hunter2xx"]"#,
        r#"password = ENV.fetch("PASSWORD", "hunter2xx")"#,
        r#"password = ENV["PASSWORD"] || "hunter2xx""#,
        r#"password = System.getenv("PASSWORD") ?? "hunter2xx""#,
        r#"password = get("a)b", other("hunter2xx"))"#,
        r#"password = SecretStr(\"hunter2xx\")"#,
        "password = process.env.PASSWORD ||\n  'hunter2xx'",
        r#"password = os.environ.get("PASSWORD", default="hunter2xx")"#,
        "PASSWORD_HASH=$2b$12$hunter2xx",
        "PASSWORD='$hunter2xx!'",
        "PASSWORD='$word@hunter2xx'",
    ] {
        let shown = redactor.text(code);
        assert!(!shown.contains("hunter2xx") && shown.contains("redacted:"), "{code} -> {shown}");
    }
    for code in [
        "password=$PASSWORD",
        r#"password: "$PASSWORD","#,
        r#"PASSWORD="$DIR/$NAME""#,
        "password=$(ask) x",
        "password=$1;",
        "password: process.env.PASSWORD,\nuser: 'production'",
        r#"token(b, "text")"#,
    ] {
        assert_eq!(redactor.text(code), code);
    }
    assert_eq!(
        redactor.text("curl -H 'x-token: ab1' -d 'y'"),
        format!("curl -H 'x-token: {}' -d 'y'", redactor.mark(b"ab1"))
    );
}

/// What looks like the beginning of a literal, over and over, is read once.
#[test]
fn a_text_of_beginnings_takes_no_longer_than_its_length() {
    let redactor = Redactor::new(&[7; 32]);
    for part in [
        "password=a|", "password=(", "password=[", "password=$a|", "password=b\"", "password=process.env.A ",
        "setPassword(\\\"", "create user a identified by b ",
        // A name and an address of code, one behind the other.
        "password:env::",      // Blocks whose first line is not indented by a space.
        " \u{c}password: |\n", // Fallbacks of a shell that do not close.
        " login -p ${a:-",
    ] {
        let text = part.repeat(50_000);
        assert!(!redactor.text(&text).is_empty());
    }
    // A call that all names before it could be the name of.
    assert!(!redactor.text(&format!("{}()", "password=".repeat(50_000))).is_empty());
}

/// Each as the text of one argument; the secret in it is hunter2xyz, or between the marks where it is another.
#[test]
fn every_spelling_of_a_secret_is_hidden() {
    const JWT: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
    const BLOCK: &str = "«-----BEGIN PRIVATE KEY-----\nMIIhunter2xyz\n-----END PRIVATE KEY-----»";
    let cases = [
        "<password>hunter2xyz</password>".to_owned(),
        "<ns:Password type=\"plain\">hunter2xyz</ns:Password>".into(),
        "<apiKey><![CDATA[hunter2xyz]]></apiKey>".into(),
        "<user name=\"a\" password=\"hunter2xyz\"/>".into(),
        "<key>password</key>\n<string>hunter2xyz</string>".into(),
        "<input name=\"password\" value=\"hunter2xyz\">".into(),
        "mysql -u root -phunter2xyz shop".into(),
        "mysql\t-phunter2xyz shop".into(),
        "mysqldump -h db -p'hunter2xyz' shop".into(),
        "curl -u ann:hunter2xyz https://h/".into(),
        "curl -uann:hunter2xyz https://h/".into(),
        "curl --user ann:x --proxy-password hunter2xyz https://h/".into(),
        "sshpass -p hunter2xyz ssh h".into(),
        "docker login -u ann -p hunter2xyz registry".into(),
        "redis-cli -a hunter2xyz ping".into(),
        "7z x -phunter2xyz a.7z".into(),
        "unzip -P hunter2xyz a.zip".into(),
        "ldapsearch -x -w hunter2xyz -b dc=a".into(),
        "openssl enc -aes-256-cbc -k hunter2xyz".into(),
        "openssl rsa -passin pass:hunter2xyz".into(),
        "PASSWORD=$(«echo hunter2xyz | base64 -d»)".into(),
        "TOKEN=`«printf hunter2xyz»` run".into(),
        "export TOKEN=hunter2xyz".into(),
        "export DB_PASS='hunter2xyz'".into(),
        "MYSQL_PWD=hunter2xyz mysql".into(),
        "GITHUB_PAT=hunter2xyz gh".into(),
        "Authorization: «Basic YW5uOmh1bnRlcjJ4eXo=»".into(),
        "sent Basic «YW5uOmh1bnRlcjJ4eXo=» to it".into(),
        "Proxy-Authorization: «Digest hunter2xyz»".into(),
        "run --password hunter2xyz --verbose".into(),
        "java -jar x.jar -password hunter2xyz".into(),
        "curl -H \"X-Api-Key: hunter2xyz\" https://h/".into(),
        "curl -H 'Cookie: «s=hunter2xyz»' https://h/".into(),
        "machine h login ann password hunter2xyz".into(),
        "machine h\n  login ann\n  password hunter2xyz\n".into(),
        "«-----BEGIN RSA PRIVATE KEY-----\\nMIIhunter2xyz\\n-----END RSA PRIVATE KEY-----»".into(),
        format!("cookie is «{JWT}.eyJzdWIiOiIxIn0»"),
        format!("header «{JWT}» only"),
        "postgres://ann:hunter2xyz@db/shop".into(),
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=hunter2xyz;".into(),
        "Endpoint=sb://a/;SharedAccessKeyName=n;SharedAccessKey=hunter2xyz".into(),
        "https://a.blob.example/c?sv=2024&sig=hunter2xyz&se=1".into(),
        "https://ghq7hunter2xyzghq7hunter2xyz@git.example/a"
            .replace("ghq7hunter2xyzghq7hunter2xyz", "«ghq7hunter2xyzghq7hunter2xyz»"),
        "//registry.example/:_authToken=hunter2xyz".into(),
        "token: hunter2xyz".into(),
        "token = \"hunter2xyz\"".into(),
        "password: |\n  «hunter2xyz\n  more»\nuser: ann".into(),
        "- name: DB_PASSWORD\n  value: hunter2xyz".into(),
        "Server=h;Uid=a;Pwd=hunter2xyz;".into(),
        "CREATE USER 'ann'@'%' IDENTIFIED BY 'hunter2xyz'".into(),
        "alter user ann identified with caching_sha2_password by 'hunter2xyz' require ssl".into(),
        "GRANT ALL ON a.* TO ann IDENTIFIED BY PASSWORD '«*hunter2xyz»'".into(),
        "create user ann identified by hunter2xyz;".into(),
        "CREATE ROLE ann LOGIN PASSWORD 'hunter2xyz'".into(),
        "ALTER USER ann WITH ENCRYPTED PASSWORD\n  E'hunter2xyz' VALID UNTIL 'infinity'".into(),
        "ALTER ROLE ann PASSWORD '«hunter2''xyz»'".into(),
        "SET PASSWORD FOR 'ann'@'%' = 'hunter2xyz'".into(),
        "SET PASSWORD FOR ann = PASSWORD('hunter2xyz')".into(),
        "create a user ann with password \"hunter2xyz\"".into(),
        "user.setPassword('hunter2xyz')".into(),
        "user.set_password( \"hunter2xyz\" )".into(),
        "new Client().withApiKey(`hunter2xyz`).build()".into(),
        "Config.builder().password(\"hunter2xyz\")".into(),
        "password＝hunter2xyz".into(),
        "password ： hunter2xyz".into(),
        format!("client.setPrivateKey(`{BLOCK}`)"),
        format!("PRIVATE_KEY=\"{BLOCK}\"\nHOST=h"),
        format!("PRIVATE_KEY={BLOCK}\nHOST=h"),
        format!("private_key：{BLOCK}"),
        format!("x = c().api-key={BLOCK}"),
    ];
    for case in &cases {
        let marked_case = if case.contains('«') { case.clone() } else { case.replace("hunter2xyz", "«hunter2xyz»") };
        let plain = marked_case.replace(['«', '»'], "");
        let expected = marked(&marked_case);
        assert_eq!(redactor().text(&plain), expected, "{plain}");
    }
}

/// Texts that name secrets and hold none.
#[test]
fn what_only_speaks_of_secrets_is_kept() {
    for text in [
        "PASSWORD=$SECRET TOKEN=${TOKEN} run",
        "mkdir -pv a/b && cp -pr a b",
        "ssh -p22 h; docker run -p 8080:80 a",
        "mysql -u root -p shop",
        "git log -p main",
        "basic authentication is off, Basic information follows",
        "how does login with a password work",
        "the password field, and <password/> or <b>password</b>",
        "a value: of something, name: Ada\n  value: 12345",
        "eyJpZCI6MX0",
        "https://h/?page=2&sort=desc",
        "https://ann@git.example/a",
        "tar -xzf a.tgz -C b; curl -L https://h/ -o out",
        "first-pass is done, by-pass too",
        "password=$(ask) x",
        "fn substitution(bytes: &[u8]) -> Option<usize>",
        "the user is identified by its name, each row identified by an 'id'",
        "the password 'field' is required, say \"password\" \"again\"",
        "getPassword('primary') is_secret_key('name') readToken(\"page\") setTitle('password')",
        "ALTER USER ann PASSWORD NULL; GRANT ALL ON a TO ann",
        "ALTER USER ann WITH PASSWORD '$PASSWORD'",
        "SET PASSWORD FOR ann; SELECT 'text'",
        "psql -W shop -U ann",
        "名前：アン ｛a＝1｝",
    ] {
        assert_eq!(redactor().text(text), text);
    }
}

/// The arguments that people hand to tools hold few secrets, each under a key that says so (`token`, `credential_id`): how many
/// are taken for one may only fall.
#[test]
fn ordinary_arguments_are_kept() {
    let lines = include_str!("../fixtures/shape/ordinary.jsonl").lines();
    let calls =
        lines.filter_map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap().get("arguments").cloned());
    let hidden: Vec<String> =
        calls.map(|one| redacted(&one.to_string())).filter(|one| one.contains("redacted:")).collect();
    assert!(hidden.len() <= 19, "{}\n{}", hidden.len(), hidden.join("\n"));
}
