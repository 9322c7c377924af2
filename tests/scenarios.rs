//! Levels 2 to 4: transcripts and histories of the gate, consoles that attach, screens, and one test per threat.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken test bed fails the test")]

mod attacks;
mod desk;
mod fake;
mod histories;
mod interpose;
mod link;
mod pins;
mod playbook;
mod screens;
#[allow(dead_code, reason = "the tables use the rest of it")]
#[path = "signing/bed.rs"]
mod signing_bed;
mod world;
