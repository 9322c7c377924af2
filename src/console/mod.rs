//! The TUI over all wrapped servers: model, update, views. No bytes, no way to reach a server.
//!
//! Messages go into [`update::update`] and commands come out; [`view::view`] only reads. [`run`] is the shell around
//! both: the terminal, the keyboard, the editor, the link. Foreign text reaches a row through [`plain`] alone.

pub mod caption;
pub mod card;
pub mod columns;
pub mod editor;
mod footprint;
pub mod found;
pub mod grants;
pub mod keymap;
pub mod log_reader;
pub mod maker;
pub mod model;
pub mod open;
pub mod outside;
mod own_rules;
pub mod pages;
pub mod palette;
pub mod panel;
mod pin_book;
pub mod pinned;
pub mod plain;
pub mod record_row;
pub mod risk;
pub mod row;
mod rule_book;
pub mod run;
pub mod screen;
pub mod settings;
mod settle;
pub mod theme;
pub mod time;
pub mod trial;
pub mod tried;
pub mod update;
pub mod view;
