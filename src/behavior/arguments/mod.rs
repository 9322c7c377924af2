//! What the arguments of one call would do, and the readers of what is in them. What is found raises and never lowers.

pub mod base;
pub mod choice;
pub mod effect;
pub mod grammar;
pub mod graphql;
pub mod key;
pub mod path;
pub mod reading;
pub mod schema;
pub mod shell;
pub mod sql;
mod walk;

pub use walk::{MOST, found, found_as_said, readings};
