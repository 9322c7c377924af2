//! The lists themselves, embedded: which package has which file. A test holds this table to the folder.

/// Package and text of every list.
pub const LISTS: &[(&str, &str)] = &[];
