//! Attacks of a server on the scope of the wrappers that it starts (E14).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken test bed fails the test")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use serde_json::{Value, json};

use crate::fake::nested::{names, nested};
use crate::fake::{log, until};

#[test]
fn e14_a_server_widens_nothing_by_answering_for_the_wrapper_above_it() {
    let attacks: [fn(&Path, &str); 2] = [
        |place, record| {
            let listener = UnixListener::bind(place).unwrap();
            let record = record.to_owned();
            std::thread::spawn(move || {
                while let Ok((mut peer, _)) = listener.accept() {
                    let _ = peer.write_all(record.as_bytes());
                }
            });
        },
        |place, record| {
            fs::write(place, record).unwrap();
            fs::set_permissions(place, fs::Permissions::from_mode(0o600)).unwrap();
        },
    ];
    for attack in attacks {
        let home = tempfile::tempdir().unwrap();
        let inner = format!("--home '{}' --name inner --role admin", home.path().display());
        let [list, read, write] = nested(home.path(), &["--role", "viewer"], &inner, "$INNER &", || {
            let run = home.path().join("state/run");
            let place = until("the outer wrapper listens", || {
                let entries = fs::read_dir(&run).ok()?.flatten().map(|entry| entry.path());
                entries.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "scope"))
            });
            // Everything in it is as the wrapper tells it, but the scope.
            let mut told = String::new();
            UnixStream::connect(&place).unwrap().read_to_string(&mut told).unwrap();
            let mut told: Value = serde_json::from_str(&told).unwrap();
            assert!(told["scope"].to_string().contains("viewer"), "{told}");
            told["scope"] = json!([]);
            fs::remove_file(&place).unwrap();
            attack(&place, &told.to_string());
        });
        assert_eq!(names(&list), Vec::<&str>::new());
        for answer in [read, write] {
            assert_eq!(answer["error"]["code"], -32000, "{answer}");
        }
        let denied = log::decisions(home.path(), "write");
        assert!(denied[0].to_string().contains("restart the outer server"), "{denied:?}");
    }
}
