//! Which desks are connected to, and how: URLs, passwords, certificates.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcp_approve::desk::engine::{Program, Target};
use mcp_approve::home::config::DeskPlace;

use crate::postgres::Postgres;

fn place(url: &str) -> DeskPlace {
    DeskPlace { url: url.to_owned(), ..DeskPlace::default() }
}

#[test]
fn a_url_says_no_password_and_keeps_tls_on() {
    let refused = |url: &str| Target::read(&place(url)).map(|_| ()).map_err(|error| error.to_string());
    for (url, why) in [
        ("mysql://ada@db/x", "not the URL of a PostgreSQL database"),
        ("host=db user=ada", "not the URL of a PostgreSQL database"),
        ("postgres://ada:hunter2@db.example.com/x", "has a password in it"),
        ("postgres://ada@db.example.com/x?password=hunter2", "has a password in it"),
        ("postgres://db.example.com/x", "names no role or no host"),
        ("postgres://ada@db.example.com/x?sslmode=disable", "turns TLS off"),
        ("postgres://ada@db.example.com/x?sslmode=prefer", "turns TLS off"),
        ("postgres://ada@db.example.com/x?hostaddr=10.0.0.1", "`hostaddr` or `options`"),
        ("postgres://ada@db.example.com,evil.example.com/x", "several hosts"),
        ("postgres://ada@db.example.com/x?options=-crole=bob", "`hostaddr` or `options`"),
        ("postgres://ada@[::1/x", "cannot be read"),
    ] {
        let said = refused(url).expect_err(url);
        assert!(said.contains(why) && !said.contains("hunter2"), "{url}: {said}");
    }
    for url in [
        "postgres://ada@db.example.com/x",
        "postgresql://ada@db.example.com:6432/x?sslmode=require",
        "postgres://ada@localhost/x?sslmode=disable",
        "postgres://ada@%2Frun%2Fpostgresql/x",
    ] {
        assert_eq!(refused(url), Ok(()), "{url}");
    }
}

fn connect(place: &DeskPlace) -> Result<(), String> {
    let target = Target::read(place).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let made = runtime.block_on(target.connect_to_any(Program::Command));
    made.map(drop).map_err(|error| format!("{error}; {}", error.hint()))
}

/// A certificate for this name that signs itself, and its key, for PostgreSQL.
fn certificate(folder: &Path, name: &str) -> Option<(PathBuf, PathBuf)> {
    let (certificate, key) = (folder.join(format!("{name}.crt")), folder.join(format!("{name}.key")));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"])
        .args([
            "-subj",
            "/CN=test",
            "-addext",
            &format!("subjectAltName=DNS:{name}"),
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    let Ok(made) = made else {
        println!("skipped: openssl is not installed");
        return None;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some((certificate, key))
}

/// Over TLS the server's name and its issuer are verified, and the password comes from a file that only its owner reads.
#[test]
fn g7_a_server_of_another_name_or_issuer_gets_no_password() {
    let Some(mut postgres) = Postgres::start() else { return };
    let Some((good, key)) = certificate(postgres.folder(), "localhost") else { return };
    let Some((other, other_key)) = certificate(postgres.folder(), "db.example.com") else { return };
    postgres.rows("postgres", "CREATE ROLE ada LOGIN PASSWORD 'a:b\\c'");
    let port = postgres.serve_tls(&good, &key);
    let passfile = postgres.folder().join("passfile");
    fs::write(&passfile, format!("# desks\nlocalhost:{port}:postgres:ada:a\\:b\\\\c\n")).expect("written");
    fs::set_permissions(&passfile, fs::Permissions::from_mode(0o600)).expect("a mode");
    let url = format!("postgres://ada@localhost:{port}/postgres?sslmode=require");
    let with = |passfile: Option<&Path>, ca: &Path| DeskPlace {
        url: url.clone(),
        passfile: passfile.map(Into::into),
        ca: Some(ca.into()),
    };
    assert_eq!(connect(&with(Some(&passfile), &good)), Ok(()));
    let said = connect(&with(Some(&passfile), &other)).expect_err("another issuer");
    assert!(said.contains("certificate") && said.contains("name the file of the authority"), "{said}");
    let plain = DeskPlace { url: url.replace("?sslmode=require", ""), ..with(Some(&passfile), &good) };
    let said = connect(&plain).expect_err("whoever listens there gets it");
    assert!(said.contains("only over TLS"), "{said}");
    fs::write(&passfile, "localhost:*:*:ada:secret\n").expect("written");
    let folder = tempfile::tempdir().expect("a folder");
    let near = || DeskPlace {
        url: format!("postgres://ada@{}/postgres", folder.path().display().to_string().replace('/', "%2F")),
        ..with(Some(&passfile), &good)
    };
    assert!(connect(&near()).expect_err("no server").contains("cannot be reached"));
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).expect("a mode");
    let said = connect(&near()).expect_err("a folder of all");
    assert!(said.contains("where any user can make one"), "{said}");
    // One that another user made, or a link of theirs, which only root can try.
    let link = std::env::temp_dir().join(format!("pglink{}", std::process::id()));
    std::os::unix::fs::symlink("/run", &link).expect("a link");
    let by_link = || DeskPlace {
        url: format!("postgres://ada@{}/postgres", link.display().to_string().replace('/', "%2F")),
        ..with(Some(&passfile), &good)
    };
    assert!(connect(&by_link()).expect_err("no server").contains("cannot be reached"));
    if std::os::unix::fs::lchown(&link, Some(65_534), None).is_ok() {
        let said = connect(&by_link()).expect_err("a link of another");
        assert!(said.contains("where any user can make one"), "{said}");
    }
    fs::remove_file(&link).expect("removed");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
    assert!(connect(&near()).expect_err("no server").contains("cannot be reached"));
    if std::os::unix::fs::chown(folder.path(), Some(65_534), None).is_ok() {
        let said = connect(&near()).expect_err("a folder of another");
        assert!(said.contains("where any user can make one"), "{said}");
    }
    fs::write(&passfile, format!("localhost:{port}:postgres:ada:a\\:b\\\\c\n")).expect("written");
    let said = connect(&with(None, &good)).expect_err("no password");
    assert!(said.contains("it asks for a password") && said.contains("`passfile` under [desk]"), "{said}");
    fs::set_permissions(&passfile, fs::Permissions::from_mode(0o640)).expect("a mode");
    let said = connect(&with(Some(&passfile), &good)).expect_err("others can read it");
    assert!(said.contains("others than you can read it (mode 0640)"), "{said}");
    fs::set_permissions(&passfile, fs::Permissions::from_mode(0o600)).expect("a mode");
    let port = postgres.serve_tls(&other, &other_key);
    let url = format!("postgres://ada@localhost:{port}/postgres?sslmode=require");
    let said = connect(&DeskPlace { url, ..with(Some(&passfile), &other) }).expect_err("another name");
    assert!(
        said.contains("certificate not valid for name") && said.contains("write the host into the URL as"),
        "{said}"
    );
}
