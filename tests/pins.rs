//! pins: what is remembered of servers and tools between sessions, and what an operator settles of it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken test bed fails the test")]

#[path = "pins/curated.rs"]
mod curated;
#[path = "e2e/fake/mod.rs"]
mod fake;
#[path = "pins/gate.rs"]
mod gate;
#[path = "pins/memory.rs"]
mod memory;
#[path = "pins/roles.rs"]
mod roles;
#[path = "pins/told.rs"]
mod told;
#[path = "world/mod.rs"]
mod world;
