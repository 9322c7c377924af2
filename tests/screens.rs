//! The console's screens as text, and its behaviour key by key.

mod browse;
mod cards;
mod confirming;
mod edits;
mod fits;
mod folds;
mod frames;
mod grants;
mod keymap;
mod keys;
mod lists;
mod log_reader;
mod marks;
mod matrix;
mod past;
mod plain;
mod previews;
mod queries;
mod reviews;
mod rulemaker;
mod scale;
mod states;
mod together;
mod trial;
mod words;
