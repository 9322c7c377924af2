//! Who is at the other end of a socket: their user, and whether they descend from the wrapped server (or from the
//! wrapper, which becomes the parent of a server's orphans: see `interpose/signals`). Refuses no connection itself.

use std::process::Command;

use tokio::net::UnixStream;

use super::folder;
use super::message::Rejection;

/// How far up parents are followed; deeper trees are only made to hide in.
const DEPTH: usize = 64;
/// How often they are followed again when one of them ends meanwhile.
const ATTEMPTS: usize = 8;

/// Checks a newcomer. `server` is the wrapped server's process, once there is one.
///
/// Returns the newcomer's process id, `None` where the kernel does not say (another pid namespace).
pub(super) fn check(stream: &UnixStream, server: Option<u32>) -> Result<Option<u32>, Rejection> {
    let peer = stream.peer_cred().map_err(|error| Rejection::Unknown(error.to_string()))?;
    if peer.uid() != folder::me() {
        return Err(Rejection::ForeignUser { uid: peer.uid() });
    }
    let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0);
    if let (Some(pid), Some(server)) = (pid, server) {
        check_family(pid, server)?;
    }
    Ok(pid)
}

/// Checks that a process was not started by the wrapped server.
pub(super) fn check_family(pid: u32, server: u32) -> Result<(), Rejection> {
    let us = std::process::id();
    if pid == us {
        // The wrapper's own console (`--inline`).
        return Ok(());
    }
    // An ancestor may end while parents are followed; its children then have another parent.
    let found = (0..ATTEMPTS).map(|_| descent(pid, server, us)).find(|found| !matches!(found, Descent::Broken));
    match found {
        Some(Descent::Elsewhere) => Ok(()),
        Some(Descent::FromServer) => Err(Rejection::FromServer { pid }),
        // A process that died between connecting and this check may have passed the connection on.
        Some(Descent::Lost) => Err(Rejection::Unknown(format!("process {pid} is gone"))),
        Some(Descent::Broken) | None => Err(Rejection::Unknown(format!("the parents of process {pid} come and go"))),
    }
}

enum Descent {
    FromServer,
    Elsewhere,
    Lost,
    /// An ancestor cannot be looked at: it has just ended.
    Broken,
}

/// Follows parents from `pid` up. A server's process group has the server's own id as its number; its orphans are
/// children of the wrapper (`us`), whose other children never attach.
fn descent(pid: u32, server: u32, us: u32) -> Descent {
    let (mut at, mut below) = (pid, None);
    for _ in 0..DEPTH {
        if at == server || at == us {
            return Descent::FromServer;
        }
        let Some(kin) = kin(at) else {
            return match below {
                None => Descent::Lost,
                // It is still the parent, so it lives: another user's, which this system does not show (hidepid).
                Some(child) if parent(child) == Some(at) => Descent::Elsewhere,
                Some(_) => Descent::Broken,
            };
        };
        if kin.group == server {
            return Descent::FromServer;
        }
        if kin.parent <= 1 {
            return Descent::Elsewhere;
        }
        below = Some(at);
        at = kin.parent;
    }
    Descent::FromServer
}

fn parent(pid: u32) -> Option<u32> {
    kin(pid).map(|kin| kin.parent)
}

/// A process's parent, group and start time.
pub(super) struct Kin {
    pub(super) parent: u32,
    pub(super) group: u32,
    /// When it started, in the system's own form: tells it from a later process with the same number.
    pub(super) started: String,
}

/// The words of a process's command line; none where they cannot be read.
pub(super) fn command(pid: u32) -> Vec<String> {
    if cfg!(target_os = "linux") {
        let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = bytes.strip_suffix(b"\0").unwrap_or(&bytes).split(|byte| *byte == 0);
        words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    } else {
        let out = Command::new("/bin/ps").args(["-o", "command=", "-p", &pid.to_string()]).output();
        let text = out.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
        text.split_ascii_whitespace().map(str::to_owned).collect()
    }
}

/// A process's name, if the system gives it; only the process itself can change it.
pub(super) fn name(pid: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end_matches('\n').to_owned())
}

/// The parent, group and start time of a process; `None` if it cannot be read.
pub(super) fn kin(pid: u32) -> Option<Kin> {
    if cfg!(target_os = "linux") {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        // `pid (name) state parent group …`; the name may hold any bytes, `)` included.
        let stat = String::from_utf8_lossy(&stat);
        let (_, rest) = stat.rsplit_once(')')?;
        // The time is the twenty-second field of all.
        let mut fields = rest.split_ascii_whitespace();
        let started = fields.clone().nth(19)?.to_owned();
        fields.next()?;
        Some(Kin { parent: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()?, started })
    } else {
        let out = Command::new("/bin/ps").args(["-o", "ppid=,pgid=,lstart=", "-p", &pid.to_string()]).output().ok()?;
        let text = String::from_utf8(out.stdout).ok()?;
        let mut fields = text.split_ascii_whitespace();
        let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(Kin { parent, group, started: fields.collect::<Vec<_>>().join(" ") })
    }
}
