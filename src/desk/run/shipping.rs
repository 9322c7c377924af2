//! Sends this machine's log to the desk: each record once or more, in order, from where the desk has it.

use super::part::{Served, Site};
use crate::desk::engine::Engine;

pub(super) struct Shipping;

impl Shipping {
    pub(super) fn new(_site: &Site) -> Self {
        Self
    }

    pub(super) async fn serve(&mut self, _engine: &Engine) -> Served {
        std::future::pending().await
    }
}
