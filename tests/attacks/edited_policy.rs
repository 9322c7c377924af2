//! Attacks on the policy file (E3, F11), and its life under a running wrapper: tightened, loosened, broken, removed, accepted.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use mcp_approve::link::message::{FromConsole, Status};
use portable_pty::CommandBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake::host::Host;
use crate::fake::operator::Operator;
use crate::fake::server::{Server, reader, writer};
use crate::fake::terminal::Terminal;
use crate::fake::{BINARY, log};

const PLAIN: &str = "version = 1\n[[rule]]\nid = \"no-put\"\ndecision = \"deny\"\ntool = \"put\"\n";
const ALLOW: &str = "[[rule]]\nid = \"sneaked\"\ndecision = \"allow\"\ntool = \"write\"\n";

struct Scene {
    home: TempDir,
    server: Server,
    host: Host,
    operator: Operator,
    calls: u64,
}

fn start(policy: &str) -> Scene {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("config")).unwrap();
    write_policy(home.path(), policy);
    again(home, Server::with(&[reader("read"), writer("write"), writer("put")]))
}

/// A wrapper over a home as it is.
fn again(home: TempDir, server: Server) -> Scene {
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    let operator = Operator::attach(home.path(), "ada");
    host.handshake("2025-06-18");
    Scene { home, server, host, operator, calls: 0 }
}

fn write_policy(home: &Path, text: &str) {
    fs::write(home.join("config/policy.toml"), text).unwrap();
}

impl Scene {
    fn edit(&mut self, text: &str) {
        write_policy(self.home.path(), text);
    }

    fn status(&mut self, what: &str, wanted: impl Fn(&Status) -> bool) -> Status {
        self.operator.stands(what, wanted).1
    }

    fn says(&mut self, message: &FromConsole) {
        let (session, _) = self.operator.stands("a session", |_| true);
        self.operator.says(&session, message);
    }

    fn call(&mut self, tool: &str) -> u64 {
        self.calls += 1;
        self.host.call(self.calls, tool, &json!({}));
        self.calls
    }

    /// The call is asked; it is denied then.
    fn is_asked(&mut self, tool: &str) {
        let id = self.call(tool);
        let asked = self.operator.asked(tool);
        self.operator.deny(&asked, "no");
        self.host.answer(id);
    }

    fn answers(&mut self, tool: &str) -> String {
        let id = self.call(tool);
        text(&self.host.answer(id)).to_owned()
    }
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

fn waits(status: &Status) -> bool {
    !status.pending.is_empty()
}

#[test]
fn e3_a_loosened_policy_waits_for_the_operator_and_a_tightened_one_does_not() {
    let mut scene = start(PLAIN);
    scene.is_asked("write");
    scene.edit(&format!("{PLAIN}{ALLOW}"));
    let status = scene.status("the change", waits);
    assert_eq!(status.pending[0].loosens, ["allows: sneaked"]);
    assert!(status.pending[0].diff.contains("+id = \"sneaked\""), "{}", status.pending[0].diff);
    assert!(
        status.banner.is_some_and(|banner| banner.contains("mcp-approve --home ") && banner.contains(" rules accept"))
    );
    scene.is_asked("write");

    // The deny that another edit drops stands on; what it adds is denied at once.
    let deny_read = "version = 1\n[[rule]]\nid = \"no-read\"\ndecision = \"deny\"\ntool = \"read\"\n";
    scene.edit(deny_read);
    let status = scene.status("the second change", |status| {
        status.pending.iter().any(|one| one.loosens.len() == 1 && one.loosens[0].contains("no-put"))
    });
    assert!(scene.answers("put").contains("no-put") && scene.answers("read").contains("no-read"));

    // A verdict on what was shown before counts for nothing; on what is shown, it does.
    let stale = FromConsole::AcceptPolicy {
        file: status.pending[0].file.clone(),
        digest: mcp_approve::wire::digest::Digest::of(b""),
        signed: None,
    };
    let waiting = scene.call("put");
    assert!(text(&scene.host.answer(waiting)).contains("no-put"));
    scene.says(&stale);
    assert!(scene.operator.refused("").contains("look at it again"));
    let (file, digest) = (status.pending[0].file.clone(), status.pending[0].digest);
    let accept = FromConsole::AcceptPolicy { file, digest, signed: None };
    scene.says(&accept);
    scene.status("the acceptance", |status| status.pending.is_empty() && status.banner.is_none());
    scene.is_asked("put");
    assert!(scene.server.executed().is_empty());
    let accepted = log::awaits(scene.home.path(), "its record", |record| {
        record["kind"] == "policy" && record["detail"]["operator"].as_str().is_some_and(|who| who.contains("ada"))
    });
    assert!(accepted["policy"].is_string() || accepted["detail"]["text"].is_string(), "{accepted}");
    log::verifies(scene.home.path());
}

#[test]
fn e3_an_edit_while_nothing_runs_waits_too_and_only_a_person_at_a_terminal_accepts_it() {
    let Scene { home, mut host, server, .. } = start(PLAIN);
    host.hang_up();
    host.wait();
    write_policy(home.path(), &format!("{PLAIN}{ALLOW}"));
    let mut scene = again(home, server);
    scene.status("the change", waits);
    scene.is_asked("write");
    // An agent with a shell, and "yes" on its stdin.
    let mut agent = Command::new(BINARY);
    agent.arg("--home").arg(scene.home.path()).args(["rules", "accept"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = agent.stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut agent.stdin.take().unwrap(), b"yes\nyes\n").unwrap();
    let run = agent.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stdout).contains("allows: sneaked"), "it may see it");
    scene.is_asked("write");

    let mut command = CommandBuilder::new(BINARY);
    command.args(["--home", scene.home.path().to_str().unwrap(), "rules", "accept"]);
    let mut terminal = Terminal::running(command, (100, 40));
    terminal.shows(&["allows: sneaked", "Type yes:"]);
    terminal.types("yes\r");
    terminal.shows(&["accepted"]);
    assert!(terminal.wait().success());
    scene.status("the acceptance", |status| !waits(status));
    assert_eq!(scene.answers("write"), "done");
    log::awaits(scene.home.path(), "the rule's decision", |record| {
        record["kind"] == "decision" && record["by"] == "rule" && record["rule"] == "sneaked"
    });
    log::awaits(scene.home.path(), "the acceptance", |record| record["session"] == "rules accept");
    log::verifies(scene.home.path());
}

#[test]
fn e3_a_broken_policy_denies_as_before_allows_nothing_and_says_where_and_how_to_mend_it() {
    let mut scene = start(&format!("{PLAIN}{ALLOW}"));
    assert_eq!(scene.answers("write"), "done", "the first file found is taken as it is");
    scene.edit("version = 1\n[[rule]]\nid = \"sneaked\"\ndecision = \"alow\"\n");
    let status = scene.status("the banner", |status| status.banner.is_some());
    let banner = status.banner.unwrap();
    assert!(banner.contains("policy.toml:4:") && banner.contains("did you mean \"allow\"?"), "{banner}");
    assert!(scene.answers("put").contains("no-put"));
    scene.is_asked("write");
    scene.is_asked("read");
    scene.edit(&format!("{PLAIN}{ALLOW}"));
    scene.status("all is well", |status| status.banner.is_none());
    assert_eq!(scene.answers("write"), "done", "mended, and nothing new to accept");
    fs::remove_file(scene.home.path().join("config/policy.toml")).unwrap();
    let status = scene.status("the removal", waits);
    assert_eq!(status.pending[0].loosens, ["drops the deny rule no-put"]);
    assert!(scene.answers("put").contains("no-put"), "a removed deny stands until it is accepted");
    scene.is_asked("write");
    log::verifies(scene.home.path());
}

#[test]
fn e3_a_project_may_tighten_and_loosens_nothing_until_it_is_accepted() {
    let home = tempfile::tempdir().unwrap();
    let project = tempfile::tempdir().unwrap();
    let text = format!("version = 1\n[defaults]\npure = \"ask\"\nhazard = \"allow\"\n{ALLOW}");
    fs::write(project.path().join(".mcp-approve.toml"), text).unwrap();
    let server = Server::with(&[reader("read"), writer("write")]);
    let mut command = Command::new(BINARY);
    command.arg("--home").arg(home.path()).args(["--name", "s", "--"]).args(server.command()).current_dir(&project);
    let mut host = Host::over(command);
    let operator = Operator::attach(home.path(), "ada");
    host.handshake("2025-06-18");
    let mut scene = Scene { home, server, host, operator, calls: 0 };
    scene.is_asked("write");
    scene.is_asked("read");
    let status = scene.status("what waits", waits);
    assert_eq!(status.pending[0].loosens, ["allows: sneaked", "lowers the default for hazard from ask to allow"]);
    let (file, digest) = (status.pending[0].file.clone(), status.pending[0].digest);
    scene.says(&FromConsole::AcceptPolicy { file, digest, signed: None });
    scene.status("the acceptance", |status| !waits(status));
    assert_eq!(scene.answers("write"), "done");
    scene.is_asked("read");
}

#[test]
fn e3_a_policy_that_is_removed_and_written_anew_is_no_first_policy() {
    let sneaked = format!("version = 1\n{ALLOW}");
    let mut scene = start("version = 1\n[[rule]]\nid = \"own\"\ndecision = \"allow\"\ntool = \"put\"\n");
    assert_eq!(scene.answers("put"), "done");
    // To remove allows only tightens, so it holds at once.
    fs::remove_file(scene.home.path().join("config/policy.toml")).unwrap();
    scene.status("the removal", |status| status.pending.is_empty());
    std::thread::sleep(std::time::Duration::from_millis(1200));
    scene.is_asked("put");
    scene.edit(&sneaked);
    let status = scene.status("the change", waits);
    assert_eq!(status.pending[0].loosens, ["allows: sneaked"]);
    scene.is_asked("write");

    // Nor does it become one when what was accepted is removed below a running wrapper.
    fs::remove_dir_all(scene.home.path().join("state/accepted")).unwrap();
    scene.edit(&format!("{sneaked}# again\n"));
    std::thread::sleep(std::time::Duration::from_millis(1200));
    scene.is_asked("write");
    log::verifies(scene.home.path());
}

#[test]
fn f11_a_policy_that_appears_where_none_was_loosens_nothing_before_it_is_accepted() {
    let sneaked = format!("version = 1\n{ALLOW}");
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("config")).unwrap();
    let mut scene = again(home, Server::with(&[reader("read"), writer("write"), writer("put")]));
    // Held before, and judged anew when the file is there.
    let held = scene.call("write");
    let asked = scene.operator.asked("write");
    scene.edit(&sneaked);
    let status = scene.status("the file", waits);
    assert_eq!(status.pending[0].loosens, ["allows: sneaked"]);
    scene.is_asked("write");
    scene.operator.deny(&asked, "no");
    scene.host.answer(held);
    assert!(scene.server.executed().is_empty());

    // Nor where it appears, or what was accepted is removed, while nothing runs.
    let mut scene = Some(scene);
    for removed in [false, true] {
        let Scene { home, mut host, server, .. } = scene.take().unwrap();
        host.hang_up();
        host.wait();
        if removed {
            fs::remove_dir_all(home.path().join("state/accepted")).unwrap();
        }
        let mut after = again(home, server);
        let status = after.status("it waits still", waits);
        assert_eq!(status.pending[0].loosens, ["allows: sneaked"], "removed: {removed}");
        after.is_asked("write");
        scene = Some(after);
    }
    let scene = scene.unwrap();
    assert!(scene.server.executed().is_empty());
    log::verifies(scene.home.path());
}
