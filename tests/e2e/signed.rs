//! A policy that asks for signatures, with the real ssh-keygen and an agent: signed at the console, refused without.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use mcp_approve::signing::sshsig::rearmored;
use serde_json::{Value, json};

use super::console::{arms, note, text, wrapping};
use crate::fake::operator::Operator;
use crate::fake::terminal::Terminal;
use crate::fake::{BINARY, log, until};

/// An agent that ends with the test.
struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A home whose policy wants every approval signed by a key that only an agent has. `None`, with a word, without OpenSSH.
fn signing(home: &Path) -> Option<Agent> {
    let key = home.join("key");
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", "k", "-f"]).arg(&key).status();
    if made.is_err() {
        println!("SKIPPED: there is no ssh-keygen here (openssh-client)");
        return None;
    }
    let private = |name: &str, text: &str| {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    private("etc/policy.toml", "version = 1\n[operator]\nsigned = \"always\"\n");
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    private("etc/allowed_signers", &format!("mara@example.com {public}"));
    let socket = home.join("agent");
    let mut agent = Command::new("ssh-agent");
    let agent = agent.arg("-D").arg("-a").arg(&socket).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the agent has the key", || {
        let mut add = Command::new("ssh-add");
        add.arg("-q").arg(&key).env("SSH_AUTH_SOCK", &socket).stderr(Stdio::null());
        add.status().unwrap().success().then_some(())
    });
    fs::remove_file(key).unwrap();
    Some(Agent(agent))
}

#[test]
fn a_call_runs_once_its_approval_is_signed_at_the_console() {
    let home = tempfile::tempdir().unwrap();
    let Some(agent) = signing(home.path()) else { return };
    let (server, mut host) = wrapping(home.path(), &[note()]);
    host.call(1, "add_note", &json!({ "title": "milk" }));
    // A program that writes to the socket as the console does, without a signature.
    let mut forger = Operator::attach(home.path(), "mara");
    let asked = forger.asked("add_note");
    forger.approve(&asked);
    assert!(forger.refused(&asked.call.ticket).contains("wants a signature"));
    assert!(server.executed().is_empty());
    let socket = home.path().join("agent").display().to_string();
    let mut terminal = Terminal::console(home.path(), (100, 30), &[("SSH_AUTH_SOCK", &socket)]);
    terminal.shows(&["s-1", "milk", "· armed"]);
    arms(&terminal);
    terminal.types("a");
    assert_eq!(text(&host.answer(1)), "done");
    assert_eq!(server.executed().len(), 1);
    // Whoever has the list can verify what is in the record, without mcp-approve.
    let decision = log::decisions(home.path(), "add_note").pop().unwrap();
    let signed = &decision["detail"]["signatures"][0];
    let part = |name: &str| signed[name].as_str().unwrap_or_else(|| panic!("no {name} in {decision}"));
    assert_eq!((part("signer"), part("worth")), ("mara@example.com", "L0 user's list"));
    let statement: Value = serde_json::from_str(part("statement")).unwrap();
    assert_eq!(statement["card"]["call"], decision["digest"]);
    fs::write(home.path().join("signature"), rearmored(part("sshsig"))).unwrap();
    fs::write(home.path().join("statement"), part("statement")).unwrap();
    let verify = r#"ssh-keygen -Y verify -f etc/allowed_signers -I mara@example.com -n verdict@mcp-approve -s signature <statement"#;
    assert!(Command::new("sh").args(["-c", verify]).current_dir(home.path()).status().unwrap().success());
    let list = home.path().join("etc/allowed_signers").display().to_string();
    let verified = log::run(home.path(), &["verify", "--allowed-signers", &list]);
    let said = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(verified.status.success() && said.contains("By this list of signers, 1 signature holds."), "{said}");
    let others = home.path().join("others");
    fs::write(&others, "# no one\n").unwrap();
    let others = others.display().to_string();
    let verified = log::run(home.path(), &["verify", "--allowed-signers", &others]);
    let said = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(!verified.status.success() && said.contains("DOES NOT HOLD: the key SHA256:"), "{said}");
    if Command::new("python3").arg("-V").stdout(Stdio::null()).status().is_err() {
        println!("SKIPPED: there is no python3 here, so the verifier was not run");
    } else {
        let export = "\"$0\" --home . log export --verifier >verify.py && \"$0\" --home . log export | python3 verify.py --allowed-signers \"$1\" -";
        let verifies = |list: &str| {
            let output =
                Command::new("sh").args(["-c", export, BINARY, list]).current_dir(home.path()).output().unwrap();
            (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
        };
        let (holds, said) = verifies("etc/allowed_signers");
        assert!(holds && said.contains("Signatures that hold: 1."), "{said}");
        let (holds, said) = verifies("others");
        assert!(!holds && said.contains("SIGNATURES DO NOT HOLD"), "{said}");
    }
    // Without the agent there is no signature: the call stays held, and the console says why.
    drop(agent);
    host.call(2, "add_note", &json!({ "title": "eggs" }));
    terminal.shows(&["s-2", "eggs", "· armed"]);
    arms(&terminal);
    terminal.types("a");
    terminal.shows(&["ssh-keygen did not sign", "back"]);
    terminal.types("\u{1b}");
    terminal.shows(&["not sent: you went back"]);
    assert_eq!(server.executed().len(), 1);
    terminal.types("d");
    terminal.shows(&["Deny, because"]);
    terminal.types("\r");
    assert!(text(&host.answer(2)).contains("Denied by the operator"));
    log::verifies(home.path());
}
