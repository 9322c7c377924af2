//! The real binary between a scripted host and a scripted server: what passes, what waits, what is decided, how it ends.

mod approver;
mod card;
mod confirm;
pub(crate) mod console;
mod counted;
mod decide;
mod delegated;
mod demo;
mod endings;
mod file_manager;
mod findable;
#[cfg(target_os = "linux")]
mod idle;
mod notified;
mod review;
mod science;
mod screen_rules;
mod seeds;
mod signed;
mod tasks;
mod transcript;
mod trouble;
mod unguarded;
