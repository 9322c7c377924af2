//! Keeps beside this machine's state what operators have signed for all machines: a stop, a sign of life, what a team has agreed to.

use super::part::{Served, Site};
use crate::desk::engine::Engine;

pub(super) struct Standing;

impl Standing {
    pub(super) fn new(_site: &Site) -> Self {
        Self
    }

    pub(super) async fn serve(&mut self, _engine: &Engine) -> Served {
        std::future::pending().await
    }
}
