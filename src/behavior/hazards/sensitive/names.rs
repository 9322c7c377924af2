//! Names of places where secrets are kept, and whether one word in its path is such a name. Owns the lists.

use std::borrow::Cow;

use super::address;
use super::scan::is_word;
use crate::behavior::words::{Words, count};

/// Whether one word, with what is before it, names such a place.
///
/// `dotted` and `joined` say whether it has a dot, and an underscore or a hyphen.
pub(super) fn is_place(word: &str, before: &[u8], dotted: bool, joined: bool) -> bool {
    let bytes = word.as_bytes();
    // The cheap checks first: they reject nearly every word.
    let numeric = bytes[0].is_ascii_digit();
    if !dotted && !joined && !numeric && !may_be_listed(bytes) {
        return false;
    }
    if joined && is_variable(word) {
        return true;
    }
    let lower: Cow<'_, str> = match bytes.iter().any(u8::is_ascii_uppercase) {
        true => word.to_ascii_lowercase().into(),
        false => word.into(),
    };
    let lower = lower.trim_end_matches('.');
    let bare = if dotted || joined { without_copy_mark(lower) } else { lower };
    is_listed(bare, before)
        || (bare.len() < lower.len() && is_listed(lower, before))
        || (lower.starts_with("id_") && PRIVATE_KEYS.iter().any(|key| bare.starts_with(key)) && !bare.ends_with(".pub"))
        || (dotted && (is_environment_file(lower, bare, before) || has_secret_end(bare)))
        || ((dotted || numeric) && address::is_metadata_host(lower))
}

fn has_secret_end(name: &str) -> bool {
    name.rfind('.').is_some_and(|at| at > 0 && ENDS.contains(&&name[at..]))
}

/// What rejects an ordinary word at once: which lengths the listed names have, by their first and by their last letter; and how
/// they begin, in order, which tells nearly every other word apart.
static LISTED: ([[u64; 2]; 128], [u64; 256]) = {
    let (mut lengths, mut sorted, mut known, mut list) = ([[0; 2]; 128], [u64::MAX; 256], 0, 0);
    while list < OWN.len() + UNDER.len() {
        let names = if list < OWN.len() { OWN[list] } else { UNDER[list - OWN.len()].2 };
        let mut at = 0;
        while at < names.len() {
            let name = names[at].as_bytes();
            lengths[row(name[0])][0] |= 1 << name.len();
            lengths[row(name[name.len() - 1])][1] |= 1 << name.len();
            let own = beginning(name);
            let mut place = known;
            while place > 0 && sorted[place - 1] > own {
                sorted[place] = sorted[place - 1];
                place -= 1;
            }
            sorted[place] = own;
            known += 1;
            at += 1;
        }
        list += 1;
    }
    (lengths, sorted)
};

/// All listed names but those of one directory.
const OWN: [&[&str]; 4] = [ANYWHERE, NO_FILES, IN_PATH, &["data", "metadata"]];

/// The first eight letters of a name as one number, whatever their case.
const fn beginning(name: &[u8]) -> u64 {
    let (mut number, mut at) = (0, 0);
    while at < name.len() && at < 8 {
        number = (number << 8) | (name[at] | 0x20) as u64;
        at += 1;
    }
    number
}

const fn row(letter: u8) -> usize {
    (letter | 0x20) as usize & 127
}

fn may_be_listed(word: &[u8]) -> bool {
    let [first, .., last] = word else { return false };
    let (lengths, beginnings) = &LISTED;
    word.len() < 64
        && lengths[row(*first)][0] & lengths[row(*last)][1] & (1 << word.len()) != 0
        && beginnings.binary_search(&beginning(word)).is_ok()
}

fn is_listed(word: &str, before: &[u8]) -> bool {
    if !may_be_listed(word.as_bytes()) {
        return false;
    }
    if ANYWHERE.contains(&word) || NO_FILES.contains(&word) || (IN_PATH.contains(&word) && in_path(before)) {
        return true;
    }
    match word {
        // Chromium's store of passwords has a space in its name.
        "data" => ends_with(before, b"/login ") || ends_with(before, b"\\login "),
        "metadata" => before.ends_with(b"//"),
        _ => {
            let mut parents = UNDER.iter().filter(|(_, _, names)| names.contains(&word)).peekable();
            parents.peek().is_some()
                && match above(before) {
                    Above::Named(name) => parents.any(|(parent, ..)| name.eq_ignore_ascii_case(parent.as_bytes())),
                    Above::Nothing => false,
                    Above::TooFar => true,
                }
        }
    }
}

fn in_path(before: &[u8]) -> bool {
    matches!(before.last(), Some(b'/' | b'\\'))
}

fn ends_with(before: &[u8], end: &[u8]) -> bool {
    before.len().checked_sub(end.len()).is_some_and(|at| before[at..].eq_ignore_ascii_case(end))
}

/// The directory that a word is in.
enum Above<'a> {
    Nothing,
    Named(&'a [u8]),
    /// More detours than anybody writes: taken for the worst.
    TooFar,
}

/// Walks back over `//`, `/./` and `/x/../` to the directory that is meant.
fn above(before: &[u8]) -> Above<'_> {
    let mut rest = before;
    let mut up = 0;
    for _ in 0..64 {
        let Some((b'/' | b'\\', head)) = rest.split_last() else { return Above::Nothing };
        let from = head.iter().rposition(|byte| matches!(byte, b'/' | b'\\')).map_or(0, |at| at + 1);
        let component = &head[from..];
        // In a sentence or a command, the path begins after the last thing that is no part of a word.
        let name = component.iter().rposition(|byte| !is_word(*byte)).map_or(component, |at| &component[at + 1..]);
        rest = &head[..from];
        match name {
            b"" if component.is_empty() => {}
            b"." => {}
            b".." => up += 1,
            _ if up > 0 => up -= 1,
            _ => return Above::Named(name),
        }
    }
    Above::TooFar
}

/// `shadow-`, `id_rsa.bak`, `cookies.sqlite-wal` to what they are copies or parts of.
fn without_copy_mark(mut name: &str) -> &str {
    loop {
        name = name.trim_end_matches(['-', '_', '.']);
        let Some(at) = name.rfind(['.', '-', '_']) else { return name };
        let end = &name[at + 1..];
        if at == 0 || !(COPIES.holds(end) || end.bytes().all(|byte| byte.is_ascii_digit())) {
            return name;
        }
        name = &name[..at];
    }
}

/// `.env`, `.env.production`, `prod.env`; not the examples that are there to be read.
fn is_environment_file(name: &str, bare: &str, before: &[u8]) -> bool {
    const EXAMPLES: &[&str] = &["example", "sample", "template", "dist"];
    // `process.env` in a program is a name of the language, not of a file.
    const OBJECTS: &[&str] = &["process", "import.meta", "meta", "deno", "bun", "context", "ctx", "c", "this", "self"];
    if let Some(rest) = name.strip_prefix(".env") {
        let example = rest.rsplit(['.', '-', '_']).next().is_some_and(|end| EXAMPLES.contains(&end));
        return rest.is_empty()
            || rest.bytes().all(|byte| byte.is_ascii_digit())
            || (rest.starts_with(['.', '-', '_']) && !example);
    }
    bare.strip_suffix(".env")
        .is_some_and(|stem| !EXAMPLES.contains(&stem) && (in_path(before) || !OBJECTS.contains(&stem)))
}

fn is_variable(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && VARIABLES.iter().any(|suffix| word.ends_with(suffix))
}

/// Names of files and directories, and of the tables in which databases keep passwords, wherever they are.
pub(super) const ANYWHERE: &[&str] = &[
    "pg_shadow", "pg_authid", "pg_user_mapping", "sql_logins", "pg_catalog.pg_shadow", "pg_catalog.pg_authid",
    "sys.sql_logins", "mysql.user", ".ssh", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ed25519_sk",
    "id_ecdsa_sk", ".env", ".envrc", ".aws", ".azure", ".aliyun", ".bluemix", ".oci", ".kube", "kubeconfig", ".docker",
    ".dockercfg", ".dockerconfigjson", "application_default_credentials.json", "credentials.json", ".credentials.json",
    "credentials.db", "credentials.xml", "credentials.toml", "credentials.tfrc.json", "access_tokens.db",
    "client_secret.json", "client_secrets.json", "oauth_creds.json", "token.json", "tokens.json",
    "service_account.json", "service-account.json", ".claude.json", "claude_desktop_config.json", ".netrc", "_netrc",
    ".authinfo", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc",
    ".git-credentials", ".gitcookies", ".gnupg", ".password-store", ".vault-token", ".vault_pass", "secrets.yaml",
    "secrets.yml", "secrets.json", "secrets.toml", "secrets.env", "login.keychain", "login.keychain-db", ".mozilla",
    "cookies.sqlite", "cookies.binarycookies", "key3.db", "key4.db", "cert9.db", "logins.json", "signons.sqlite",
    "wallet.dat", ".bash_history", ".zsh_history", ".sh_history", "fish_history", ".histfile", ".psql_history",
    ".mysql_history", ".sqlite_history", ".rediscli_history", ".python_history", ".node_repl_history",
    "consolehost_history.txt", ".htpasswd", ".terraformrc", "keyring", ".keyring", "master.key", "master.passwd",
    "ntds.dit", ".s3cfg", ".boto", ".rclone.conf", "rclone.conf", "kaggle.json",
];

/// Words that are no files: a pattern does not reach them.
const NO_FILES: &[&str] = &["computemetadata", "printenv", "instance-data", "rancher-metadata"];

/// Names that are ordinary words, unless they are in a path.
pub(super) const IN_PATH: &[&str] = &["credentials", "secrets", "keychains", "keychain", "keyrings", "environ"];

/// How much of a directory is secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breadth {
    /// A pattern over all of it reaches a secret.
    Whole,
    /// Only what is named.
    Named,
}

/// Names that mean something in one directory only.
pub(super) const UNDER: &[(&str, Breadth, &[&str])] = &[
    ("etc", Breadth::Whole, &["shadow", "gshadow", "sudoers", "opasswd"]),
    ("security", Breadth::Named, &["opasswd"]),
    ("gh", Breadth::Whole, &["hosts.yml"]),
    (".codex", Breadth::Whole, &["auth.json"]),
    ("codex", Breadth::Named, &["auth.json"]),
    ("opencode", Breadth::Named, &["auth.json"]),
    (".composer", Breadth::Named, &["auth.json"]),
    ("composer", Breadth::Named, &["auth.json"]),
    ("containers", Breadth::Named, &["auth.json"]),
    ("github-copilot", Breadth::Whole, &["hosts.json", "apps.json"]),
    (".m2", Breadth::Named, &["settings.xml", "settings-security.xml"]),
    (".gradle", Breadth::Named, &["gradle.properties"]),
    (".gem", Breadth::Named, &["credentials"]),
    (".subversion", Breadth::Named, &["auth"]),
    (".fly", Breadth::Named, &["config.yml"]),
    ("huggingface", Breadth::Named, &["token", "stored_tokens"]),
    (".huggingface", Breadth::Named, &["token"]),
    ("serviceaccount", Breadth::Whole, &["token"]),
    ("network", Breadth::Named, &["cookies"]),
    ("default", Breadth::Named, &["cookies"]),
    ("google", Breadth::Named, &["chrome"]),
    ("firefox", Breadth::Named, &["profiles"]),
    (
        ".config",
        Breadth::Named,
        &[
            "gh", "glab-cli", "gcloud", "op", "hub", "doctl", "hcloud", "sops", "rclone", "configstore",
            "github-copilot", "google-chrome", "chromium", "bravesoftware", "microsoft-edge", "mcp-approve",
        ],
    ),
    // Our own rules, log and key: who reads them learns what passes, and what was asked.
    ("state", Breadth::Named, &["mcp-approve", "audit.db"]),
    ("mcp-approve", Breadth::Named, &["policy.toml", "config.toml", "audit.db", "redaction.key"]),
    ("latest", Breadth::Named, &["meta-data", "user-data"]),
];

/// Endings of files that hold keys.
pub(super) const ENDS: &[&str] = &[
    ".pem", ".key", ".p8", ".p12", ".pfx", ".pkcs12", ".jks", ".keystore", ".keytab", ".keychain", ".keychain-db",
    ".kdb", ".kdbx", ".ppk", ".ovpn", ".asc", ".agekey", ".tfstate",
];

const PRIVATE_KEYS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

/// Ends that make a name that of a copy, an archive or a part.
const COPY: &str = "bak backup old orig save saved copy prev swp swo tmp temp rpmsave rpmnew pacsave tar tgz gz xz bz2 zst zip 7z enc \
    gpg txt wal shm journal";
static COPIES: Words<{ count(COPY) }> = Words::of(COPY);

const VARIABLES: &[&str] = &[
    "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_API_KEY", "_APIKEY", "_ACCESS_KEY", "_PRIVATE_KEY", "_CREDENTIALS",
    "_SECRET_KEY", "_CONNECTION_STRING", "DATABASE_URL", "_AUTH",
];
