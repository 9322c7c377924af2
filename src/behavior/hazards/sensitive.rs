//! Places that hold secrets: files, variables, metadata services. What a tool hands out is `handed_out`'s business.

/// The first word in `text` that names a place where secrets are kept: a file, a variable, a metadata service.
pub fn first_place(text: &str) -> Option<&str> {
    let mut start = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at <= bytes.len() {
        let inside = bytes
            .get(at)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-') || *byte >= 0x80);
        if !inside {
            if at - start >= 3 && is_sensitive(&text[start..at], &bytes[..start]) {
                return Some(&text[start..at]);
            }
            start = at + 1;
        }
        at += 1;
    }
    None
}

/// Whether one word, with what stands before it, names such a place.
fn is_sensitive(word: &str, before: &[u8]) -> bool {
    let bytes = word.as_bytes();
    // Few words get past this line; the rest is for those.
    let candidate = bytes[0] == b'.'
        || bytes[0] == b'_'
        || bytes.contains(&b'.')
        || bytes.contains(&b'_')
        || PLAIN_STARTS.contains(&(bytes[0] | 0x20));
    if !candidate || bytes.len() > 64 {
        return false;
    }
    let lower = word.to_ascii_lowercase();
    let lower = lower.trim_end_matches('.');
    if let Some(rest) = lower.strip_prefix(".env") {
        return rest.is_empty()
            || (rest.starts_with('.') && !matches!(rest, ".example" | ".sample" | ".template" | ".dist"));
    }
    let in_path = before.ends_with(b"/") || before.ends_with(b"\\");
    if FILES.contains(&lower) || ADDRESSES.contains(&lower) {
        return true;
    }
    match lower {
        "credentials" | "secrets" | "keychains" | "keychain" => in_path,
        "shadow" | "gshadow" | "sudoers" => before.ends_with(b"etc/"),
        "environ" => in_path,
        "printenv" => true,
        _ => {
            SUFFIXES.iter().any(|suffix| lower.len() > suffix.len() && lower.ends_with(suffix))
                || (word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
                    && VARIABLES.iter().any(|suffix| word.ends_with(suffix)))
        }
    }
}

/// First letters of the sensitive words without a dot or an underscore.
const PLAIN_STARTS: &[u8] = b"cskpegm";

const FILES: &[&str] = &[
    ".ssh",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ed25519_sk",
    "id_ecdsa_sk",
    ".aws",
    ".azure",
    ".kube",
    "kubeconfig",
    ".docker",
    "application_default_credentials.json",
    "credentials.json",
    "credentials.db",
    "client_secret.json",
    "token.json",
    "tokens.json",
    "service_account.json",
    "service-account.json",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".yarnrc",
    ".pypirc",
    ".git-credentials",
    ".gnupg",
    ".password-store",
    ".vault-token",
    "secrets.yaml",
    "secrets.yml",
    "secrets.json",
    "secrets.toml",
    "secrets.env",
    "login.keychain",
    "login.keychain-db",
    "cookies.sqlite",
    "key4.db",
    "logins.json",
    "wallet.dat",
    ".bash_history",
    ".zsh_history",
    ".psql_history",
    ".mysql_history",
    ".python_history",
    "terraform.tfstate",
    ".htpasswd",
    ".terraformrc",
    "keyring",
    ".keyring",
    "master.key",
    "credentials.xml",
    ".envrc",
    ".dockercfg",
    ".s3cfg",
    ".boto",
    ".rclone.conf",
    "rclone.conf",
];

const ADDRESSES: &[&str] = &["169.254.169.254", "169.254.170.2", "metadata.google.internal", "100.100.100.200"];

const SUFFIXES: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".ovpn", ".asc"];

const VARIABLES: &[&str] = &[
    "_TOKEN",
    "_SECRET",
    "_PASSWORD",
    "_PASSWD",
    "_API_KEY",
    "_APIKEY",
    "_ACCESS_KEY",
    "_PRIVATE_KEY",
    "_CREDENTIALS",
    "_SECRET_KEY",
    "_CONNECTION_STRING",
    "DATABASE_URL",
    "_AUTH",
];
