//! Asks every wrapper of this user what waits there, without becoming a console: the request is not recorded, and the
//! asker does not count as attached. No tokio.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use super::error::LinkError;
use super::folder;
use super::message::{FromConsole, FromWrapper, PROTOCOL, WaitingCall};

/// How long one wrapper may take for each line.
const PATIENCE: Duration = Duration::from_millis(500);
/// The longest answer: some hundred bytes for each call.
const LONGEST: u64 = 16 * 1024 * 1024;

/// What waits.
#[derive(Debug, Default)]
pub struct Peeked {
    /// The oldest first.
    pub calls: Vec<WaitingCall>,
    /// Wrappers that did not answer, by their sockets: what waits there is unknown.
    pub silent: Vec<PathBuf>,
}

/// Asks all wrappers whose sockets are in the folder.
///
/// # Errors
/// The folder cannot be read.
pub fn peek(run: &Path) -> Result<Peeked, LinkError> {
    let mut peeked = Peeked::default();
    let names = match fs::read_dir(run) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(peeked),
        Err(source) => return Err(LinkError::Unusable { path: run.to_owned(), source }),
    };
    for path in names.flatten().map(|entry| entry.path()) {
        let is_socket = path.extension().is_some_and(|extension| extension == "sock");
        if !is_socket || !fs::symlink_metadata(&path).is_ok_and(|found| folder::check_socket(&found).is_ok()) {
            continue;
        }
        match UnixStream::connect(&path) {
            Ok(stream) => match ask(&stream) {
                Some(calls) => peeked.calls.extend(calls),
                None => peeked.silent.push(path),
            },
            // No process listens: this is a dead wrapper's socket.
            Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {}
            Err(_) => peeked.silent.push(path),
        }
    }
    peeked.calls.sort_by_key(|call| call.arrived);
    Ok(peeked)
}

/// `None` where there is no answer that can be understood.
fn ask(stream: &UnixStream) -> Option<Vec<WaitingCall>> {
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let mut question = serde_json::to_vec(&FromConsole::Peek { protocol: PROTOCOL }).ok()?;
    question.push(b'\n');
    { stream }.write_all(&question).ok()?;
    let mut lines = BufReader::new(stream).take(LONGEST);
    loop {
        let mut line = Vec::new();
        if lines.read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        match serde_json::from_slice(&line).ok()? {
            FromWrapper::Hello { protocol: PROTOCOL, .. } => {}
            FromWrapper::Waiting { calls } => return Some(calls),
            FromWrapper::Hello { .. }
            | FromWrapper::Held { .. }
            | FromWrapper::Settled(_)
            | FromWrapper::Activity(_)
            | FromWrapper::Status(_)
            | FromWrapper::Tools { .. }
            | FromWrapper::Refused { .. } => return None,
        }
    }
}
