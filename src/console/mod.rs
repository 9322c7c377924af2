//! The TUI over all wrapped servers: model, update, views. No bytes, no way to reach a server.
//!
//! Messages go into [`update::update`] and commands come out; [`view::view`] only reads. [`run`] is the shell around
//! both: the terminal, the keyboard, the editor, the link. Foreign text reaches a row through
//! [`plain`](crate::text::plain) alone.
//!
//! A file uses only what is below it, from the bottom: [`keymap`], [`risk`], [`rows`]; [`card`]; [`model`]; [`desk`],
//! [`maker`], [`palette`], [`panel`]; [`pages`]; [`update`]; [`view`]; [`run`]. A screen has its part of the model in
//! [`model::lists`] (Waiting in [`model::queue`]), its rows in [`pages`], and its keys under [`update`].

pub mod card;
pub mod desk;
pub mod keymap;
pub mod maker;
pub mod model;
pub mod outside;
pub mod pages;
pub mod palette;
pub mod panel;
pub mod risk;
pub mod rows;
pub mod run;
pub mod settings;
pub mod update;
pub mod view;
