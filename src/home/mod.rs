//! The operator's own files: where they are, what they say, what of them was accepted, and changes of their rules.

pub mod agreed;
pub mod change;
pub mod config;
pub mod layers;
pub mod name;
pub mod offered;
pub mod pages;
pub mod places;
pub mod policy_file;
pub mod remote;
pub mod replace;
pub mod set;
pub mod signers;
pub mod standing;
pub mod taken;
pub mod user;
pub mod witnessed;
