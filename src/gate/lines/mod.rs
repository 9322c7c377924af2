//! Lines from both ends: each is sorted once, and what follows is one step for each thing that a line can be.

pub mod answer;
pub mod host;
pub mod requests;
pub mod results;
pub mod search;
pub mod server;
