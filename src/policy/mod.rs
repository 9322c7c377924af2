//! Call and behavior to ruling. Pure: a policy has no human, no file, no clock.

pub mod decide;
pub mod decimal;
pub mod explain;
pub mod fit;
pub mod glob;
pub mod layers;
pub mod lint;
pub mod parse;
pub mod paths;
pub mod reading;
pub mod rule;
pub mod under;
pub mod when;
