//! What keeps a host waiting while its call is held.

pub mod question;
pub mod returns;
pub mod tasks;
