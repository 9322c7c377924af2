//! What a call is: its behavioral identity, the evidence for it, its hazards. Pure.

pub mod conclude;
pub mod evidence;
pub mod hazards;
pub mod identity;
pub mod taxonomy;
