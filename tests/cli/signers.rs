//! `mcp-approve signers`: what the list says, and a signature by the real ssh-keygen with a key in a file and one in an agent.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Home;

/// A key pair at this path: its public line. `None`, with a word, where ssh-keygen is missing.
fn pair(path: &Path) -> Option<String> {
    let made =
        Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", "mara's", "-f"]).arg(path).status();
    if made.is_err() {
        println!("skipped: there is no ssh-keygen here (openssh-client)");
        return None;
    }
    Some(fs::read_to_string(path.with_extension("pub")).unwrap().trim().to_owned())
}

#[test]
fn without_a_list_there_is_nothing_to_sign_with() {
    let home = Home::new();
    let run = home.run(&["signers"]);
    assert!(run.code == 0 && run.out.starts_with("There is no list of signers"), "{run:?}");
    assert_eq!(home.run(&["signers", "list", "--json"]).out, "[]\n");
    let run = home.run(&["signers", "test"]);
    assert!(run.code == 2 && run.err.contains("error: there is no list of signers"), "{run:?}");
}

#[test]
fn the_list_says_what_each_key_is_worth_or_why_it_is_worth_nothing() {
    let home = Home::new();
    let Some(key) = pair(&home.path("key")) else { return };
    let list = format!(
        "# who may sign\nmara@example.com {key}\ntom valid-before=\"20200101Z\" {key}\nann namespaces=\"git\" {key}\nmax ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAAQM=\n"
    );
    home.write("config/allowed_signers", &list);
    let run = home.run(&["signers", "list", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&run.out).unwrap();
    let said: Vec<_> =
        rows.iter().map(|row| (row["signer"].as_str().unwrap(), row["line"].as_u64().unwrap())).collect();
    assert_eq!(said, [("mara@example.com", 2), ("tom", 3), ("ann", 4), ("max", 5)], "{}", run.out);
    assert_eq!(rows[0]["worth"], "L0 user's list");
    for (row, why) in rows.iter().skip(1).zip(["no longer valid", "does not allow this namespace", "not supported"]) {
        assert!(row["worth"].is_null() && row["why_not"].as_str().unwrap().contains(why), "{row}");
    }
    let shown = home.run(&["signers"]).out;
    assert!(shown.contains("your account can change it") && shown.contains("an agent with a shell can add"), "{shown}");
    // The machine's list counts alone where it is there, also when it is empty or wrong.
    home.write("etc/allowed_signers", "# no key yet\n");
    assert!(home.run(&["signers"]).out.contains("No line in it lets a key sign."));
    home.write("etc/allowed_signers", "mara@example.com\nmara@example.com nonsense\n");
    let run = home.run(&["signers"]);
    assert!(run.code == 2 && run.err.contains("allowed_signers: line 1: ") && run.err.contains("line 2: "), "{run:?}");
    home.mode("etc/allowed_signers", 0o666);
    let run = home.run(&["signers"]);
    assert!(run.code == 2 && run.err.contains("others than you may write"), "{run:?}");
}

#[test]
fn a_try_signs_with_a_key_in_a_file_and_is_checked_as_a_wrapper_would() {
    let home = Home::new();
    let Some(key) = pair(&home.path("key")) else { return };
    let Some(other) = pair(&home.path("other")) else { return };
    home.write("config/allowed_signers", &format!("mara@example.com {key}\n*@example.com {other}\n"));
    let file = home.path("key.pub").display().to_string();
    let run = home.run(&["signers", "test", "--key", &file]);
    assert!(run.code == 0 && run.out.contains("The signature is good."), "{run:?}");
    assert!(run.out.contains("Signing as mara@example.com with ssh-ed25519 SHA256:"), "{run:?}");
    let other = home.path("other.pub").display().to_string();
    let run = home.run(&["signers", "test", "--key", &other]);
    assert!(run.code == 2 && run.err.contains("does not let this key sign verdicts"), "{run:?}");
    home.write("config/revoked_keys", &format!("{key}\n"));
    let run = home.run(&["signers", "test", "--key", &file]);
    assert!(run.code == 2 && run.err.contains("does not let this key sign verdicts"), "{run:?}");
}

/// An agent that ends with the test.
struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_try_signs_with_a_key_that_only_an_agent_has() {
    let home = Home::new();
    let Some(key) = pair(&home.path("key")) else { return };
    home.write("config/allowed_signers", &format!("mara@example.com {key}\n"));
    let socket = home.path("agent");
    let _agent = Agent(
        Command::new("ssh-agent")
            .arg("-D")
            .arg("-a")
            .arg(&socket)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let until = Instant::now() + Duration::from_secs(20);
    let adds = || {
        let mut add = Command::new("ssh-add");
        add.arg("-q").arg(home.path("key")).env("SSH_AUTH_SOCK", &socket).stderr(Stdio::null());
        add.status().unwrap().success()
    };
    while !adds() {
        assert!(Instant::now() < until, "the agent takes no key");
        std::thread::sleep(Duration::from_millis(20));
    }
    fs::remove_file(home.path("key")).unwrap();
    let run = |agent: &Path| {
        let mut ours = Command::new(env!("CARGO_BIN_EXE_mcp-approve"));
        ours.arg("--home").arg(home.path("")).args(["signers", "test"]).env("SSH_AUTH_SOCK", agent);
        let output = ours.stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let signed = run(&socket);
    assert!(signed.0 == Some(0) && signed.1.contains("The signature is good."), "{signed:?}");
    let left: Vec<_> = fs::read_dir(home.path("state")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".pub")), "{left:?}");
    let failed = run(&home.path("no-agent"));
    assert!(failed.0 == Some(2) && failed.2.contains("there is no signature"), "without the agent: {failed:?}");
}
