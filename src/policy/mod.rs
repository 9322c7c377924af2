//! Call and behavior to ruling. Pure: a policy has no human, no file, no clock.

pub mod decide;
pub mod explain;
pub mod glob;
pub mod parse;
pub mod reading;
pub mod rule;
