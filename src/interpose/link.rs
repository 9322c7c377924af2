//! The wrapper becomes visible: a name of its own, a socket for consoles, what it says of itself.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::gate::Mode;
use crate::link::error::LinkError;
use crate::link::folder::NameClaim;
use crate::link::message::Wrapper;
use crate::link::server::{FromConsoles, Server};
use crate::wire::message::{self, Gist};

/// What it takes to become visible, once the first message that is no probe comes.
pub struct Registration {
    pub run_dir: PathBuf,
    /// The name without `#2`.
    pub name: String,
    pub session: Arc<str>,
    pub command: Vec<String>,
    pub started: i64,
    pub mode: Mode,
}

/// A name and its socket, for as long as the wrapper runs.
pub struct Link {
    pub claim: NameClaim,
    pub server: Server,
}

impl Link {
    /// Takes a name and listens under it. `child` is the wrapped server's process: nothing it starts may decide.
    ///
    /// # Errors
    /// [`LinkError`]: no console can attach then, and every question ends in a denial.
    pub fn open(
        registration: &Registration,
        on: mpsc::UnboundedSender<FromConsoles>,
        child: Option<u32>,
    ) -> Result<Self, LinkError> {
        let run = &registration.run_dir;
        crate::link::folder::prepare(run)?;
        let claim = NameClaim::claim(run, &registration.name)?;
        let me = Wrapper {
            server: claim.name().to_owned(),
            session: registration.session.to_string(),
            pid: std::process::id(),
            command: registration.command.clone(),
            started: registration.started,
            assurance: "L0".into(),
            observe: registration.mode == Mode::Observe,
        };
        let server = Server::start(run, &claim, me, on)?;
        if let Some(child) = child {
            server.forbid(child);
        }
        Ok(Self { claim, server })
    }
}

/// Whether a message is only a probe: hosts start disposable siblings for it, which need not show anywhere.
pub fn is_probe(content: &[u8]) -> bool {
    matches!(message::peek(content), Gist::Request { method, .. } if method == "server/discover")
}
