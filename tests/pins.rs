//! pins: what is remembered of servers and tools between sessions, and what an operator settles of it.

mod agreed;
mod curated;
mod gate;
mod launch;
mod memory;
mod page;
mod reading;
mod roles;
pub(crate) mod told;
