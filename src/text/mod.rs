//! Text for a terminal before it has colours: foreign text made visible, toned rows, columns, times. Draws nothing.

pub mod columns;
pub mod plain;
pub mod row;
pub mod time;
