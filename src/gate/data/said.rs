//! What an operator said with a held call, while the log has no record of it. Data only.

use crate::behavior::agreed::Agreement;
use crate::gate::data::event::ConsoleId;
use crate::gate::data::pinning::Pinning;

/// What an operator said with a held call, and where; it counts once the log has it.
#[derive(Clone, Debug)]
pub enum Said {
    Pinned(Pinning, ConsoleId),
    Agreed(Agreement, ConsoleId),
}
