//! Who is at the other end of a socket: their user, and whether they descend from the wrapped server (or, orphaned,
//! from the wrapper, to which a server's orphans fall: see `interpose/adopted`). Turns nobody away itself.

use std::process::Command;

use tokio::net::UnixStream;

use super::folder;
use super::server::Rejection;

/// How far up a family is followed; deeper ones are made to be lost in.
const DEPTH: usize = 64;
/// How often a family is followed anew when it changes meanwhile.
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
    // An ancestor may end while the family is followed; whoever it leaves behind has another parent then.
    let found = (0..ATTEMPTS).map(|_| descent(pid, server, us)).find(|found| !matches!(found, Descent::Broken));
    match found {
        Some(Descent::Elsewhere) => Ok(()),
        Some(Descent::FromServer) => Err(Rejection::FromServer { pid }),
        // Whoever died between connecting and being looked at has handed the connection on.
        Some(Descent::Lost) => Err(Rejection::Unknown(format!("process {pid} is gone"))),
        Some(Descent::Broken) | None => Err(Rejection::Unknown(format!("the parents of process {pid} come and go"))),
    }
}

enum Descent {
    FromServer,
    Elsewhere,
    /// The process cannot be looked at.
    Lost,
    /// An ancestor cannot be looked at: it has just ended.
    Broken,
}

/// Follows parents from `pid` up. A server's process group has the server's own id as its number; its orphans are
/// children of the wrapper (`us`), which starts nothing else that would attach.
fn descent(pid: u32, server: u32, us: u32) -> Descent {
    let (mut at, mut below) = (pid, None);
    for _ in 0..DEPTH {
        if at == server || at == us {
            return Descent::FromServer;
        }
        let Some(kin) = kin(at) else {
            return match below {
                None => Descent::Lost,
                // Still the parent, so it lives: another user's, which this system does not show (hidepid).
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

struct Kin {
    parent: u32,
    group: u32,
}

fn kin(pid: u32) -> Option<Kin> {
    if cfg!(target_os = "linux") {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        // `pid (name) state parent group …`; the name may hold any bytes, `)` included.
        let stat = String::from_utf8_lossy(&stat);
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_ascii_whitespace().skip(1);
        read_kin(&mut fields)
    } else {
        let out = Command::new("/bin/ps").args(["-o", "ppid=,pgid=", "-p", &pid.to_string()]).output().ok()?;
        let text = String::from_utf8(out.stdout).ok()?;
        read_kin(&mut text.split_ascii_whitespace())
    }
}

fn read_kin<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Option<Kin> {
    Some(Kin { parent: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
}
