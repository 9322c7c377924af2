//! Has ssh-keygen sign a statement with the operator's own key: which key, with what environment, and how to stop it. Checks
//! nothing: the wrapper does.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use super::Sources;
use crate::audit::store::noted::{self, Noted};
use crate::gate::data::snapshot::Snapshot;
use crate::gate::data::terms::GrantTerms;
use crate::home::signers::{self, keygen};
use crate::home::user;
use crate::signing::signers::{Entry, EntryKey, InForce};
use crate::signing::sshsig::{self, PublicKey, key_blob};
use crate::signing::statement::{CardTerms, LogHead, NAMESPACE, Statement, VERSION};
use crate::signing::verdict::Evidence;
use crate::text::plain::visible;

/// What ssh-keygen gets of our environment: the agent, and where a window that asks for a touch or a PIN opens.
const ENVIRONMENT: [&str; 6] = ["SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "TERM"];

/// A key that the operator may sign with here, now.
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
}

/// Why there is no signature.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    #[error("ssh-keygen cannot be run: {0}")]
    Cannot(io::Error),
    #[error("ssh-keygen did not sign: {0}")]
    Failed(String),
    #[error("ssh-keygen answered with something that is not a signature")]
    NoSignature,
}

/// The keys of the list that a verdict may be signed with at a moment, those with a file of the operator's first. `folder` has
/// the public files, usually `~/.ssh`.
pub fn own_keys(in_force: &InForce, folder: &Path, at: i64) -> Vec<OwnKey> {
    let files = public_files(folder);
    let usable = |entry: &Entry| {
        let EntryKey::Supported(key) = &entry.key else { return None };
        let signer = entry.principals.literal()?.to_owned();
        in_force.signers.may_sign(&signer, key, NAMESPACE, at).ok()?;
        let file = files.iter().find(|(_, blob)| blob == key.blob()).map(|(path, _)| path.clone());
        Some(OwnKey { signer, key: key.clone(), file })
    };
    let mut keys: Vec<OwnKey> = in_force.signers.entries().iter().filter_map(usable).collect();
    keys.sort_by_key(|key| (key.file.is_none(), !key.key.kind().states_presence()));
    keys
}

/// How long a signature counts after it was asked for, in milliseconds: a touch may take a while.
const VALIDITY: i64 = 5 * 60_000;

/// Signs an approval of a card, as the console shows it. `tell` gets a line for the operator before a touch may be needed.
///
/// # Errors
/// Why there is no signature, for the operator.
pub fn sign_card(
    sources: &Sources,
    card: &Snapshot,
    grant: Option<&GrantTerms>,
    prompts: Prompts,
    tell: impl FnOnce(&str),
) -> Result<Evidence, String> {
    let Sources { places, log, now } = sources;
    let terms = card.signs.clone().ok_or("the card asks for no signature")?;
    let in_force = signers::load(places).map_err(|error| format!("the list of signers cannot be used: {error}"))?;
    let in_force = in_force.ok_or("there is no list of signers: `mcp-approve help signing`")?;
    let time = now();
    let mut keys = own_keys(&in_force, &ssh_folder().unwrap_or_default(), time);
    if keys.is_empty() {
        return Err("no key in the list of signers may sign now: `mcp-approve signers` says why".to_owned());
    }
    let key = keys.remove(0);
    let log = match noted::read(log) {
        Noted::Head(head) => Some(LogHead { head: head.link, seq: head.seq }),
        Noted::Nothing | Noted::Unreadable(_) => None,
    };
    // What is signed are the bytes and the card that were shown, whatever the wrapper says of them.
    let shown = CardTerms { call: card.digest, card: card.card_digest(), ticket: card.ticket.clone(), ..terms };
    let signer = key.signer.clone();
    let said = GrantTerms::said(grant, time);
    let statement = Statement { card: shown, log, not_after: time + VALIDITY, said, signer, time, version: VERSION };
    let touch = if key.key.kind().states_presence() { " Touch the key when it blinks." } else { "" };
    tell(&format!(
        "Signing the approval of {} as {} with {} {}.{touch} Ctrl-C goes back.",
        visible(&card.ticket),
        visible(&key.signer),
        key.key.kind().word(),
        key.key.fingerprint()
    ));
    let program = keygen(places)?;
    let statement = statement.to_json();
    let signature = Signing::start(&program, &key, &statement, prompts, places.state_dir()).and_then(Signing::wait);
    Ok(Evidence { statement, signature: signature.map_err(|error| error.to_string())? })
}

/// The public key in a `.pub` file.
///
/// # Errors
/// Why it cannot be read.
pub fn public_key(path: &Path) -> Result<PublicKey, String> {
    let blob = blob_of(path).ok_or("it is not a file of one public key, as TYPE BASE64")?;
    PublicKey::of_blob(&blob).map_err(|why| why.to_string())
}

/// Where the operator's public keys are.
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
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    /// The public key that was written for it.
    _written: Option<Written>,
}

/// A file that is removed when it is no longer needed.
struct Written(PathBuf);

impl Drop for Written {
    fn drop(&mut self) {
        // It holds a public key, in a private folder.
        let _ = fs::remove_file(&self.0);
    }
}

impl Signing {
    /// Starts `program` to sign a statement; `private` is a folder of the user's alone.
    ///
    /// # Errors
    /// [`SignError::Cannot`] when it does not start.
    pub fn start(
        program: &Path,
        key: &OwnKey,
        statement: &str,
        prompts: Prompts,
        private: &Path,
    ) -> Result<Self, SignError> {
        let (file, written) = match &key.file {
            Some(file) => (file.clone(), None),
            None => {
                let written = written(private, &key.key).map_err(SignError::Cannot)?;
                (written.0.clone(), Some(written))
            }
        };
        let mut command = Command::new(program);
        command.args(["-Y", "sign", "-n", NAMESPACE, "-f"]).arg(file).env_clear();
        command.envs(ENVIRONMENT.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))));
        if let Ok(user) = user::current() {
            command.env("HOME", user.home);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        match prompts {
            Prompts::Terminal => command.stderr(Stdio::inherit()),
            Prompts::Window => command.env("SSH_ASKPASS_REQUIRE", "force").stderr(Stdio::piped()),
        };
        let mut child = command.spawn().map_err(SignError::Cannot)?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(SignError::NoSignature);
        };
        // A statement fits a pipe's buffer, so this never waits; one that ends without reading says why on stderr.
        let _ = stdin.write_all(statement.as_bytes());
        let stderr = child.stderr.take();
        Ok(Self { child, stdout, stderr, _written: written })
    }

    /// The signature, once it is made; `None` while it waits for a touch.
    ///
    /// # Errors
    /// [`SignError`] when it ends without one.
    pub fn poll(&mut self) -> Result<Option<String>, SignError> {
        match self.child.try_wait().map_err(SignError::Cannot)? {
            None => Ok(None),
            Some(status) => self.finish(status.success()).map(Some),
        }
    }

    /// Waits for the signature.
    ///
    /// # Errors
    /// [`SignError`] when it ends without one.
    pub fn wait(mut self) -> Result<String, SignError> {
        let status = self.child.wait().map_err(SignError::Cannot)?;
        self.finish(status.success())
    }

    fn finish(&mut self, success: bool) -> Result<String, SignError> {
        let mut signature = String::new();
        let length = sshsig::LONGEST as u64;
        if success && self.stdout.by_ref().take(length).read_to_string(&mut signature).is_ok() && !signature.is_empty()
        {
            return Ok(signature);
        }
        if success {
            return Err(SignError::NoSignature);
        }
        let mut says = Vec::new();
        if let Some(stderr) = &mut self.stderr {
            // What it said before it failed is all there is to show.
            let _ = stderr.take(length).read_to_end(&mut says);
        }
        let says = String::from_utf8_lossy(&says);
        let last = says.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it does not say why");
        Err(SignError::Failed(last.trim().to_owned()))
    }
}

impl Drop for Signing {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
