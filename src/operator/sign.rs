//! Has ssh-keygen sign with the operator's own key: which key, in what environment, how to stop it. Checks nothing.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::Sources;

use crate::audit::store::noted::{self, Noted};
use crate::gate::data::{report::OperatorVerdict, snapshot::Snapshot, terms::GrantTerms};
use crate::home::signers::{self, keygen};
use crate::home::{layers::Layers, places::Places, user};
pub use crate::signing::change::ChangeTerms;
pub use crate::signing::change::NAMESPACE as CHANGES;
use crate::signing::change::{self, Change};
use crate::signing::signers::{Entry, EntryKey};
use crate::signing::sshsig::{self, PublicKey, key_blob};
pub use crate::signing::statement::Evidence;
pub use crate::signing::statement::NAMESPACE;
use crate::signing::statement::{LogHead, Said, Statement, VERSION};
use crate::signing::{CardTerms, InForce, Needs};
use crate::text::plain::visible;
use crate::wire::Digest;

/// What ssh-keygen gets of our environment: the agent, and, unless it asks no one, where a window that asks for a touch or a PIN opens.
const AGENT: [&str; 2] = ["SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"];
const WINDOWS: [&str; 4] = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TERM"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnKey {
    /// The principal to sign as.
    pub signer: String,
    pub key: PublicKey,
    /// Its public file; `None` where only an agent may have it.
    pub file: Option<PathBuf>,
}

/// Where ssh-keygen asks for a PIN or a passphrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompts {
    /// On the terminal, which nothing else uses meanwhile.
    Terminal,
    /// In a window, where there is one: the console has the terminal.
    Window,
    /// Nowhere: what would ask fails.
    Never,
}

/// The keys of the list that may sign at a moment, those with a public file in `folder` (usually `~/.ssh`) first.
pub fn own_keys(in_force: &InForce, folder: &Path, namespace: &str, at: i64) -> Vec<OwnKey> {
    let files = public_files(folder);
    let usable = |entry: &Entry| {
        let EntryKey::Supported(key) = &entry.key else { return None };
        let signer = entry.principals.literal()?.to_owned();
        in_force.signers.may_sign(&signer, key, namespace, at).ok()?;
        let file = files.iter().find(|(_, blob)| blob == key.blob()).map(|(path, _)| path.clone());
        Some(OwnKey { signer, key: key.clone(), file })
    };
    let mut keys: Vec<OwnKey> = in_force.signers.entries().iter().filter_map(usable).collect();
    keys.sort_by_key(|key| (key.file.is_none(), !key.key.kind().states_presence()));
    keys
}

/// How long a key that asks no one may take; and how long what ssh-keygen said is waited for after its end.
const UNASKED: Duration = Duration::from_secs(10);
const REST: Duration = Duration::from_secs(1);

/// How long a signature counts after it was asked for, in milliseconds: a touch may take a while.
const VALIDITY: i64 = 5 * 60_000;

#[derive(Clone, Debug)]
pub struct ToSign {
    pub key: OwnKey,
    pub statement: String,
    namespace: &'static str,
}

impl ToSign {
    pub fn start(&self, places: &Places, prompts: Prompts) -> Result<Signing, String> {
        let program = keygen(places)?;
        Signing::start(&program, self, prompts, places.state_dir())
    }

    /// Has ssh-keygen sign at the terminal.
    pub fn sign(&self, places: &Places) -> Result<Evidence, String> {
        Ok(self.with(self.start(places, Prompts::Terminal)?.wait()?))
    }

    /// Has ssh-keygen sign in the background, where that takes no person.
    pub fn sign_unasked(&self, places: &Places) -> Result<Evidence, String> {
        Ok(self.with(self.start(places, Prompts::Never)?.within(UNASKED)?))
    }

    pub fn with(&self, signature: String) -> Evidence {
        Evidence { statement: self.statement.clone(), signature }
    }
}

/// `mara with sk-ssh-ed25519@openssh.com SHA256:…`, and what a touch is asked for.
impl fmt::Display for OwnKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {} {}", visible(&self.signer), self.key.kind().word(), self.key.fingerprint())
    }
}

/// The keys that the operator may sign with at a moment; or why there is none.
pub fn keys(places: &Places, namespace: &str, at: i64) -> Result<Vec<OwnKey>, String> {
    let in_force = signers::load(places).map_err(|error| format!("{error}: {}", error.hint()))?;
    let in_force = in_force.ok_or("there is no list of signers: `mcp-approve help signing`")?;
    let keys = own_keys(&in_force, &ssh_folder().unwrap_or_default(), namespace, at);
    match keys.is_empty() {
        true => Err("no key in the list of signers may sign now: `mcp-approve signers` says why".to_owned()),
        false => Ok(keys),
    }
}

/// One approval of these cards, to be signed; `None` where one of them asks for no signature, or there is none.
pub fn approval(
    Sources { log, now, .. }: &Sources,
    cards: &[&Snapshot],
    grant: Option<&GrantTerms>,
    key: OwnKey,
) -> Option<ToSign> {
    let log = match noted::read(log) {
        Noted::Head(head) => Some(LogHead { head: head.link, seq: head.seq }),
        Noted::Nothing | Noted::Unreadable(_) => None,
    };
    let time = now();
    verdict(cards, GrantTerms::said(grant, time), log, time, key)
}

/// One verdict on these cards of a desk, to be signed. The log here is not that of their machines.
pub fn on_desk(cards: &[&Snapshot], word: &OperatorVerdict, time: i64, key: OwnKey) -> Option<ToSign> {
    let said = match word {
        OperatorVerdict::Approve { .. } => GrantTerms::said(None, time),
        OperatorVerdict::Deny { reason } => Said::denial(reason),
    };
    verdict(cards, said, None, time, key)
}

fn verdict(cards: &[&Snapshot], said: Said, log: Option<LogHead>, time: i64, key: OwnKey) -> Option<ToSign> {
    // What is signed are the bytes and the card that were shown, whatever the wrapper says of them.
    let shown = |card: &&Snapshot| {
        let terms = card.signs.clone()?;
        Some(CardTerms { call: card.digest, card: card.card_digest(), ticket: card.ticket.clone(), ..terms })
    };
    let mut cards = cards.iter().map(shown).collect::<Option<Vec<_>>>()?.into_iter();
    let card = cards.next()?;
    let (signer, not_after) = (key.signer.clone(), time + VALIDITY);
    let statement = Statement { also: cards.collect(), card, log, not_after, said, signer, time, version: VERSION };
    Some(ToSign { key, statement: statement.to_json(), namespace: NAMESPACE })
}

/// A change of what lets calls pass, or of the log, to be signed with a key.
pub fn change(change: ChangeTerms, time: i64, key: OwnKey) -> ToSign {
    let statement = Change::new(change, key.signer.clone(), time).to_json();
    ToSign { key, statement, namespace: change::NAMESPACE }
}

/// A statement for all machines of a desk, to be signed with a key that may sign in this namespace.
pub const fn standing(statement: String, namespace: &'static str, key: OwnKey) -> ToSign {
    ToSign { key, statement, namespace }
}

/// What a signature on the acceptance of a policy's text covers; `None` where it needs none.
pub fn acceptance(places: &Places, file: &str, text: Digest) -> Option<ChangeTerms> {
    (signers::changes_need(places) == Needs::Signature).then(|| Layers::change(Path::new(file), text))
}

/// A text in the namespace of verdicts, to be signed with a key for a try.
pub fn a_try(statement: &Statement, key: OwnKey) -> ToSign {
    ToSign { key, statement: statement.to_json(), namespace: NAMESPACE }
}

pub fn public_key(path: &Path) -> Result<PublicKey, String> {
    let blob = blob_of(path).ok_or("it is not a file of one public key, as TYPE BASE64")?;
    PublicKey::of_blob(&blob).map_err(|why| why.to_string())
}

pub fn ssh_folder() -> Option<PathBuf> {
    user::current().ok().map(|user| user.home.join(".ssh"))
}

fn public_files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "pub")).collect();
    files.sort();
    files.into_iter().filter_map(|path| blob_of(&path).map(|blob| (path, blob))).collect()
}

fn blob_of(path: &Path) -> Option<Vec<u8>> {
    let found = fs::metadata(path).ok().filter(|found| found.is_file() && found.len() <= sshsig::LONGEST as u64)?;
    let text = fs::read_to_string(path).ok().filter(|_| found.len() > 0)?;
    let mut words = text.split_ascii_whitespace();
    key_blob(words.next()?, words.next()?).ok()
}

/// A running ssh-keygen. Dropped, it is stopped.
pub struct Signing {
    child: Child,
    prompts: Prompts,
    stdout: Receiver<Vec<u8>>,
    stderr: Option<Receiver<Vec<u8>>>,
    /// The public key that was written for it.
    _written: Option<Written>,
}

struct Written(PathBuf);

impl Drop for Written {
    fn drop(&mut self) {
        // It holds a public key, in a private folder.
        let _ = fs::remove_file(&self.0);
    }
}

const NO_SIGNATURE: &str = "ssh-keygen answered with something that is not a signature";

fn cannot(error: &io::Error) -> String {
    format!("ssh-keygen cannot be run: {error}")
}

impl Signing {
    /// Starts `program` to sign a statement; `private` is a folder of the user's alone.
    fn start(program: &Path, to_sign: &ToSign, prompts: Prompts, private: &Path) -> Result<Self, String> {
        let ToSign { key, statement, namespace } = to_sign;
        let (file, written) = match &key.file {
            Some(file) => (file.clone(), None),
            None => {
                let written = written(private, &key.key).map_err(|error| cannot(&error))?;
                (written.0.clone(), Some(written))
            }
        };
        let mut command = Command::new(program);
        command.args(["-Y", "sign", "-n", namespace, "-f"]).arg(file).env_clear();
        let windows: &[&str] = if prompts == Prompts::Never { &[] } else { &WINDOWS };
        command.envs(AGENT.iter().chain(windows).filter_map(|name| Some((*name, std::env::var_os(name)?))));
        if let Ok(user) = user::current() {
            command.env("HOME", user.home);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        match prompts {
            Prompts::Terminal => command.stderr(Stdio::inherit()),
            Prompts::Window => command.env("SSH_ASKPASS_REQUIRE", "force").stderr(Stdio::piped()),
            // It asks a program that never answers. In a process group of its own it can take no key from the console's terminal.
            Prompts::Never => command
                .process_group(0)
                .env("SSH_ASKPASS_REQUIRE", "force")
                .env("SSH_ASKPASS", "/bin/false")
                .stderr(Stdio::piped()),
        };
        let mut child = command.spawn().map_err(|error| cannot(&error))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stderr = child.stderr.take().map(read_aside);
        let (Some(mut stdin), Some(stdout)) = (stdin, stdout.map(read_aside)) else {
            return Err(NO_SIGNATURE.to_owned());
        };
        let signing = Self { child, prompts, stdout, stderr, _written: written };
        let statement = statement.clone();
        // A note can be longer than a pipe's buffer. One that ends without reading says why on stderr.
        let write = move || drop(stdin.write_all(statement.as_bytes()));
        thread::Builder::new().spawn(write).map_err(|error| cannot(&error))?;
        Ok(signing)
    }

    /// The signature, once it is made; `None` while it waits for a touch.
    pub fn poll(&mut self) -> Result<Option<String>, String> {
        match self.child.try_wait().map_err(|error| cannot(&error))? {
            None => Ok(None),
            Some(status) => self.finish(status.success()).map(Some),
        }
    }

    /// The signature, if it is made within this time.
    fn within(mut self, most: Duration) -> Result<String, String> {
        let until = Instant::now() + most;
        loop {
            match self.poll()? {
                Some(signature) => return Ok(signature),
                None if Instant::now() >= until => return Err("the key waits for a person".to_owned()),
                None => thread::sleep(most / 200),
            }
        }
    }

    pub fn wait(mut self) -> Result<String, String> {
        let status = self.child.wait().map_err(|error| cannot(&error))?;
        self.finish(status.success())
    }

    fn finish(&self, success: bool) -> Result<String, String> {
        let said = |pipe: &Receiver<Vec<u8>>| pipe.recv_timeout(REST).unwrap_or_default();
        if success {
            let signature = String::from_utf8(said(&self.stdout)).ok().filter(|text| !text.is_empty());
            return signature.ok_or_else(|| NO_SIGNATURE.to_owned());
        }
        // What it said before it failed is all there is to show.
        let says = self.stderr.as_ref().map(said).unwrap_or_default();
        let says = String::from_utf8_lossy(&says);
        let last = says.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it does not say why");
        Err(format!("ssh-keygen did not sign: {}", last.trim()))
    }
}

impl Drop for Signing {
    fn drop(&mut self) {
        // It may have ended by itself; with it goes what it started.
        if self.prompts == Prompts::Never && matches!(self.child.try_wait(), Ok(None)) {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a pipe to its end in a thread: what it started may hold it open for longer than it runs.
fn read_aside(pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (tell, said) = channel();
    let read = move || {
        let mut bytes = Vec::new();
        let _ = pipe.take(sshsig::LONGEST as u64).read_to_end(&mut bytes);
        let _ = tell.send(bytes);
    };
    // Without the thread nothing is said, which is no signature.
    let _ = thread::Builder::new().spawn(read);
    said
}

/// Writes a public key where only the user can change it.
fn written(private: &Path, key: &PublicKey) -> io::Result<Written> {
    let path = private.join(format!("signing-{}.pub", std::process::id()));
    // Left behind by a process that had our number.
    let _ = fs::remove_file(&path);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let written = Written(path);
    writeln!(file, "{}", key.line())?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// Has a program of this text sign a statement longer than any pipe's buffer, within this time.
    fn signed(program: &str, within: Duration) -> Result<String, String> {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("ssh-keygen");
        fs::write(&path, format!("#!/bin/sh\n{program}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let key = PublicKey::of_blob(&key_blob("ssh-ed25519", ED25519).unwrap()).unwrap();
        let key = OwnKey { signer: "mara".into(), key, file: Some("key.pub".into()) };
        let to_sign = standing("x".repeat(1 << 20), NAMESPACE, key);
        Signing::start(&path, &to_sign, Prompts::Never, home.path())?.within(within)
    }

    const ED25519: &str = "AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";

    #[test]
    fn what_signs_in_the_background_holds_up_no_one() {
        let waits = |program| signed(program, Duration::from_millis(200)).unwrap_err();
        assert_eq!(waits("exec sleep 60"), "the key waits for a person", "it reads nothing");
        assert_eq!(waits("cat >/dev/null; read key </dev/tty; sleep 60"), "the key waits for a person");
        let ends = |program| signed(program, Duration::from_secs(60));
        assert_eq!(ends("exec wc -c").unwrap().trim(), (1 << 20).to_string());
        assert_eq!(ends("sleep 60 & exit 0"), Err(NO_SIGNATURE.to_owned()), "what it started holds its pipe open");
        assert_eq!(ends("echo no >&2; exit 1").unwrap_err(), "ssh-keygen did not sign: no");
        // It can take no key from the terminal of the console.
        assert_eq!(ends("[ $(ps -o pgid= -p $$) = $$ ] && echo apart").unwrap(), "apart\n");
    }
}
