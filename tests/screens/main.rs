//! The console's screens as text, and its behaviour key by key.

mod cards;
mod desk;
mod frames;
mod keys;
mod plain;
