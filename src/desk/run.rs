//! `desk run`: one process for a user of a machine. It holds the one connection to the engine and has each part do its work on it, side by
//! side; when the connection breaks it makes another. What a part has not finished then, it does again.

mod cards;
mod part;
mod shipping;
mod standing;
mod useless;
mod verdicts;

use std::pin::pin;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::unbounded_channel;

use super::engine::{Engine, EngineError, Program, Target};
use super::own::Other;
use cards::Cards;
pub use part::{Served, Site, UNWOKEN};
use shipping::Shipping;
use standing::Standing;

/// How long it waits after a break before it connects again: longer each time, up to the last.
const AGAIN: [Duration; 5] = [
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(10),
    Duration::from_secs(30),
];

/// How long a connection has served that did serve.
const SERVED: Duration = Duration::from_secs(2);

/// What happens to the connection, for whoever watches.
#[derive(Debug)]
pub enum Turn {
    Connected,
    /// It broke, and is tried again.
    Broken(EngineError),
    /// What the desk has of this machine is not its own log.
    Other(Other),
}

/// Serves until the process ends.
///
/// # Errors
/// What trying again does not help: a wrong URL, password file, file of certificates or schema.
pub async fn run(target: &Target, site: Site, tell: &mut dyn FnMut(Turn)) -> Served {
    let mut cards = Cards::new(&site)?;
    let (found, mut others) = unbounded_channel();
    let mut shipping = Shipping::new(&site, target.role(), found);
    let mut standing = Standing::new(&site);
    let mut tries = 0;
    loop {
        let connected = tokio::select! {
            connected = target.connect(Program::Machine) => connected,
            never = cards.idle() => match never {},
        };
        let broken = match connected {
            Ok(engine) => {
                tell(Turn::Connected);
                let since = Instant::now();
                let served = serve(&engine, target.role(), &mut cards, &mut shipping, &mut standing);
                let mut served = pin!(served);
                let broken = loop {
                    tokio::select! {
                        broken = &mut served => break broken,
                        Some(other) = others.recv() => tell(Turn::Other(other)),
                    }
                };
                tries = if since.elapsed() >= SERVED { 0 } else { tries.min(1) };
                broken
            }
            // What its owner can put right there is tried again, too.
            Err(
                error @ (EngineError::Unreachable(_)
                | EngineError::Untrusted { .. }
                | EngineError::Login(_)
                | EngineError::Database(_)),
            ) => Err(error),
            Err(error) => return Err(error),
        };
        let Err(broken) = broken;
        tell(Turn::Broken(broken));
        tokio::select! {
            () = tokio::time::sleep(AGAIN[tries.min(AGAIN.len() - 1)]) => {}
            never = cards.idle() => match never {},
        }
        tries += 1;
    }
}

async fn serve(
    engine: &Engine,
    machine: &str,
    cards: &mut Cards,
    shipping: &mut Shipping,
    standing: &mut Standing,
) -> Served {
    engine.listen_as_machine(machine).await;
    let served = tokio::try_join!(cards.serve(engine), shipping.serve(engine), standing.serve(engine));
    served.map(|(never, _, _)| never)
}
