//! Text for a terminal before it has colours: foreign text made visible, rows of toned runs, columns, times. The console
//! and the commands both show it; nothing here draws or prints.

pub mod columns;
pub mod plain;
pub mod row;
pub mod time;
