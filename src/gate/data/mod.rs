//! What the gate takes, gives and keeps, as plain data: no decision is made here. The lowest layer of the gate.

pub mod effect;
pub mod event;
pub mod facts;
pub mod pin;
pub mod report;
pub mod snapshot;
pub mod terms;
pub mod token;
