//! Who is at the other end of a socket: the same user, and not a process that the agent's side started through us.

use tokio::net::UnixStream;

/// Why a peer is turned away.
#[derive(Debug, thiserror::Error)]
pub enum NotOurs {
    #[error("the system does not tell who connected: {0}")]
    Unknown(std::io::Error),
    #[error("a process of user {0} connected")]
    OtherUser(u32),
    #[error("process {0}, which descends from the wrapped server, connected: it may not decide")]
    FromServer(i32),
}

/// Checks a peer and gives its process id (0 where the system does not tell).
///
/// # Errors
/// [`NotOurs`].
pub fn check(stream: &UnixStream) -> Result<i32, NotOurs> {
    let peer = stream.peer_cred().map_err(NotOurs::Unknown)?;
    if peer.uid() != rustix::process::geteuid().as_raw() {
        return Err(NotOurs::OtherUser(peer.uid()));
    }
    let pid = peer.pid().unwrap_or(0);
    let ours = i32::try_from(std::process::id()).unwrap_or(0);
    if pid != ours && ancestors(pid).contains(&ours) {
        return Err(NotOurs::FromServer(pid));
    }
    Ok(pid)
}

/// The process ids above `pid`, nearest first; empty where the system has no /proc.
fn ancestors(pid: i32) -> Vec<i32> {
    let mut above = Vec::new();
    let mut pid = pid;
    while pid > 1 && above.len() < 64 {
        let Some(parent) = parent(pid) else { break };
        above.push(parent);
        pid = parent;
    }
    above
}

fn parent(pid: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}
