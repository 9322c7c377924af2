//! The server as the gate knows it: its tools, the calls it works on, and what it says. Owns nothing itself.

pub mod catalog;
pub mod described;
pub mod discovery;
pub mod flight;
pub mod pages;
