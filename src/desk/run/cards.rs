//! What waits on this machine, told to the desk; what operators say of it, brought to the wrapper that holds it.

use super::part::{Served, Site};
use crate::desk::engine::Engine;

pub(super) struct Cards;

impl Cards {
    pub(super) fn new(_site: &Site, _machine: &str) -> Self {
        Self
    }

    pub(super) async fn serve(&mut self, _engine: &Engine) -> Served {
        std::future::pending().await
    }
}
