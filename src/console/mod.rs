//! The TUI over all wrapped servers: model, update, views. No bytes, no way to reach a server.
//!
//! Messages go into [`update::update`] and commands come out; [`view::view`] only reads. [`run`] is the shell around
//! both: the terminal, the keyboard, the editor, the link. Foreign text reaches a row through [`plain`] alone.

pub mod caption;
pub mod card;
pub mod client;
pub mod editor;
pub mod found;
pub mod grants;
pub mod keymap;
pub mod log_reader;
pub mod maker;
pub mod model;
pub mod pages;
pub mod palette;
pub mod panel;
pub mod pinned;
pub mod plain;
pub mod risk;
pub mod row;
pub mod run;
pub mod screen;
pub mod theme;
pub mod time;
pub mod trial;
pub mod tried;
pub mod update;
pub mod view;
