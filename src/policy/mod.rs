//! Call and behavior to ruling. Pure: a policy has no human, no file, no clock.

// Decisions are matched whole: a new variant is a compile error where it counts.
#![warn(clippy::wildcard_enum_match_arm)]

pub mod carried;
pub mod decide;
pub mod edit;
pub mod fit;
pub mod glob;
pub mod import;
pub mod layers;
pub mod lint;
pub mod maker;
pub mod parse;
pub mod past;
pub mod ranking;
pub mod rate;
pub mod reading;
pub mod result;
pub mod role;
pub mod rule;
pub mod scope;
pub mod terms;
pub mod under;
pub mod when;
pub mod written;

// What most layers above use, under one name.
pub use decide::{Question, Ruling};
pub(crate) use fit::rules_name;
pub use glob::Glob;
pub use rate::Recent;
pub use rule::{Decision, Pending, Policy, Rule};
pub use scope::Scope;
pub use under::Roots;
