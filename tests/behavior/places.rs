//! Places that hold secrets, in every spelling that reaches them, and the ordinary names beside them.

use super::{called, kinds, named};
use mcp_approve::behavior::hazards::HazardKind;
use serde_json::json;

fn asks(text: &str) -> bool {
    let read = named("read_note", "Reads a note.");
    kinds(&called(&read, &json!({ "path": text }))).contains(&HazardKind::SensitiveRead)
}

fn check(rows: &[&str], expected: bool) {
    let wrong: Vec<&&str> = rows.iter().filter(|row| asks(row) != expected).collect();
    assert!(wrong.is_empty(), "asks should be {expected} for {wrong:#?}");
}

#[test]
fn another_spelling_of_a_path_is_the_same_place() {
    check(
        &[
            "/etc/shadow",
            "/etc//shadow",
            "/etc/./shadow",
            "/etc/x/../shadow",
            "/etc/x y/../shadow",
            "/etc/a/b/../../shadow",
            "/etc\\.\\shadow",
            "/ETC/Shadow",
            "cat etc/shadow",
            "file:///etc/shadow",
            "/etc/shadow-",
            "/etc/shadow.bak",
            "/etc/sh\\adow",
            "file:///etc/%73hadow",
            "file:///etc%2fshadow",
            "file:///etc%252Fshadow",
            "/root/.s%73h/x",
            "/root/．ｓｓｈ/x",
            "~/.ssh./x",
            "~/.SSH/x",
            "id_rsa.bak",
            "id_rsa_work",
            "id_ed25519.old.1",
            ".netrc~",
            "cookies.sqlite-wal",
            "prod.env",
            "conf/process.env",
            ".env-prod",
            ".env.local.bak",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.pem",
            &format!("/etc/{}shadow", "./".repeat(500)),
            &format!("/etc/{}{}shadow", "x/".repeat(100), "../".repeat(100)),
        ],
        true,
    );
}

#[test]
fn a_pattern_that_reaches_a_secret_asks() {
    check(
        &[
            ".ss?/*",
            "~/.s*/config",
            "~/.[s]sh/x",
            "~/.[a-z]sh/x",
            "~/.ss[[:alpha:]]",
            "~/.{ssh,aws}/x",
            "/root/.{a,s{a,s}}h/x",
            "/etc/*",
            "/etc/**",
            "/etc/**/*",
            "/etc/shad*",
            "/etc/{passwd,shadow}",
            "/{etc,var}/shadow",
            "/e?c/s*",
            "/*/shadow",
            "/**/shado?",
            "/etc//x/../sh*",
            "/proc/self/env*",
            "/proc/*/e*",
            "/host/proc/*/e*",
            "/proc/self/*",
            "~/.*",
            "/home/someone/.*",
            "**/*.pem",
            "**/*.k?y",
            "*.{md,kdbx}",
            "*.env",
            "**/id_*",
            "**/*_rsa",
            "credential*.json",
            "~/.config/gh/*",
            "~/.config/g?/hosts.yml",
            "~/.config/mcp-approve/*",
            "%7e/.ss%3f/x",
            "/etc/shad\\o*",
            "look into /etc/shad* please",
            "all of *.pem here",
            "where is id_rs? kept",
            "id_*",
            &format!("~/.{{{}ssh}}", "a,".repeat(100)),
        ],
        true,
    );
}

#[test]
fn ordinary_patterns_pass() {
    check(
        &[
            "*",
            "**",
            "**/*",
            "*.*",
            ".*",
            "**/*.rs",
            "src/**/*.{ts,tsx,js,jsx}",
            "**/*.json",
            "*.js*",
            "**/*.{yml,yaml,toml}",
            "*.test.ts",
            "package*.json",
            "docker-compose*.yml",
            "**/Dockerfile*",
            "test_*.py",
            "**/[A-Z]*.md",
            "*_*.go",
            "src/**/auth*",
            "https?://.*",
            ".*error.*",
            "foo.*bar",
            "^\\s*(export )?const [a-z]+ = \\d+",
            "\\bclass\\s+\\w+\\b",
            "(?i)todo|fixme",
            "What is the secret of a good environment?",
            "https://example.com/search?q=shadow&page=2",
            "- [ ] a task, **bold**, [a link](https://example.com/a/b)",
            "fn main() { let x = vec![1, 2, 3]; if x[0] > 1 { return } }",
            "{\"a\": [1, 2], \"b\": {\"c\": null}}",
            "SELECT * FROM users WHERE id IN (1, 2) AND name LIKE 'a%'",
            "/api/.*",
            "2 * 3 * 4",
            "**Key** phrases, the **CLI** and *all* of **Git**",
            "a rule's number or its id, for example \"*N\"",
            "x = p['skin'] + max(1.0, a[0])",
            "{\"a\": {\"b\": [1, 2], \"c\": {\"d\": \"google / cpc\"}, \"e\": {\"f\": [3, {\"g\": 4}]}}}",
        ],
        false,
    );
}

#[test]
fn services_that_hand_out_credentials_ask_by_any_address() {
    check(
        &[
            "http://169.254.169.254/latest/meta-data",
            "http://2852039166/",
            "http://0xA9FEA9FE/",
            "http://0251.0376.0251.0376/",
            "http://0xa9.254.0251.254:80/",
            "http://169.254.43518/",
            "http://169.16689662/",
            "http://169.254.169.254.nip.io/",
            "http://a9fea9fe.nip.io/",
            "http://%31%36%39.254.169.254/",
            "http://１６９。２５４。１６９。２５４/",
            "http://169.254.170.23/v1/credentials",
            "http://[::ffff:169.254.169.254]/",
            "http://[::ffff:a9fe:a9fe]/",
            "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
            "http://[64:ff9b::a9fe:a9fe]/",
            "http://[fd00:ec2::254]/",
            "http://[FD00:0EC2:0:0::0254]/",
            "http://[fd20:ce::254]/",
            "http://[fe80::a9fe:a9fe%25eth0]/",
            "http://metadata.google.internal/",
            "http://Metadata.Google.Internal./",
            "http://metadata/computeMetadata/v1/",
            "http://metadata.goog/",
            "http://instance-data/latest/",
            "http://any.example/latest//meta-data/iam",
            "http://100.100.100.200/",
            "http://168.63.129.16/",
            "http://192.0.0.192/",
            "http://metadata.tencentyun.com/",
        ],
        true,
    );
    check(
        &[
            "http://10.0.0.1/", "version 1.25.4.169", "2025-11-21T10:30:45Z", "std::collections::HashMap",
            "1700000000", "http://[::1]:8080/", "2001:db8::1", "http://example.com/docs/metadata",
        ],
        false,
    );
}

#[test]
fn the_places_where_programs_keep_secrets_ask() {
    check(
        &[
            "~/.config/gh/hosts.yml",
            "~/.config/gh",
            "~/.codex/auth.json",
            "~/.claude.json",
            "~/.claude/.credentials.json",
            "~/.gemini/oauth_creds.json",
            "~/.netrc",
            "~/.npmrc",
            "~/.pypirc",
            "~/.docker/config.json",
            "~/.kube/config",
            "~/.git-credentials",
            "~/.bash_history",
            "~/.local/share/fish/fish_history",
            "~/.cargo/credentials.toml",
            "~/.terraform.d/credentials.tfrc.json",
            "~/.m2/settings.xml",
            "~/.cache/huggingface/token",
            "~/.config/gcloud/access_tokens.db",
            "~/.oci/config",
            "server.pem",
            "a.p12",
            "vault.kdbx",
            "krb5.keytab",
            "prod.tfstate",
            "~/.config/google-chrome/Default/Cookies",
            "~/Library/Application Support/Google/Chrome/Default/Login Data",
            "C:\\Users\\u\\AppData\\Local\\Google\\Chrome\\User Data\\Default\\Network\\Cookies",
            "~/.mozilla/firefox/abc.default/key4.db",
            "~/Library/Cookies/Cookies.binarycookies",
            "/var/run/secrets/kubernetes.io/serviceaccount/token",
            "~/.config/mcp-approve/policy.toml",
            "~/.config/mcp-approve",
            "~/.local/state/mcp-approve/audit.db",
            "/srv/mcp-approve//audit.db-wal",
            "/srv/mcp-approve/redaction.key",
            "/srv/elsewhere/state/audit.db",
        ],
        true,
    );
    check(
        &[
            "/home/someone/projects/mcp-approve/src/main.rs",
            "src/shadow.css",
            "box-shadow: 1px",
            "docs/environment.md",
            "package.json",
            "src/locales/en/auth.json",
            "ansible/hosts.yml",
            "config/policy.toml",
            "app/audit.db",
            ".env.example",
            ".env.local.example",
            "example.env",
            "process.env",
            "import.meta.env",
            "id_rsa.pub",
            ".github/workflows/ci.yml",
            ".gitignore",
            "cookies",
            "a key to a shadow environment",
            "the token of the login data",
            "settings.xml",
            "50% of 100% and %20 too",
        ],
        false,
    );
}

/// Every name of the file asks in its place, as do the copies of one and what ends as it says.
#[test]
fn every_row_asks() {
    let file: toml::Table = include_str!("../../assets/sensitive.toml").parse().expect("TOML");
    let words = |value: &toml::Value| {
        value.as_str().expect("words").split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut texts = Vec::new();
    for row in file["place"].as_array().expect("rows") {
        let folders = row.get("under").map_or(vec!["srv".to_owned()], &words);
        for (folder, name) in
            folders.iter().flat_map(|folder| words(&row["names"]).into_iter().map(move |name| (folder, name)))
        {
            texts.extend([format!("/x/{folder}/{name}"), format!("/x/{folder}/./{}", name.to_uppercase())]);
        }
    }
    texts.extend(words(&file["copies"]).iter().map(|copy| format!("id_rsa.{copy}")));
    texts.extend(words(&file["endings"]).iter().map(|ending| format!("server{ending}")));
    texts.extend(words(&file["variables"]).iter().map(|ending| format!("MY{ending}")));
    texts.extend(words(&file["keys"]).iter().map(|key| format!("{key}_work")));
    check(&texts.iter().map(String::as_str).collect::<Vec<_>>(), true);
    let read = words(&file["examples"]).into_iter().map(|example| format!("a/.env.{example}"));
    let objects = words(&file["objects"]).into_iter().map(|object| format!("{object}.env"));
    let none: Vec<String> =
        read.chain(objects).chain(words(&file["keys"]).iter().map(|key| format!("{key}.pub"))).collect();
    check(&none.iter().map(String::as_str).collect::<Vec<_>>(), false);
}

#[test]
fn many_patterns_and_long_walks_cost_no_more_than_they_should() {
    // Nothing is timed: without bounds these would outlast the test run.
    assert!(!asks(&"a*b ".repeat(60_000)), "a document that stresses words");
    assert!(asks(&"a*b ".repeat(70_000)), "more text than mcp-approve searches: ask");
    asks(&"x/../shadow/".repeat(50_000));
    asks(&"{a,b}".repeat(2_000));
    asks(&"*a".repeat(20_000));
    asks(&"{".repeat(50_000));
    asks(&"%25".repeat(50_000));
    assert!(asks(&"a/z*z ".repeat(20_000)), "more patterns than are read: ask");
}
