//! What a call is: its behavioral identity, the evidence for it, its hazards. Pure.

pub mod agreed;
pub mod arguments;
pub mod conclude;
pub mod curated;
pub mod declared;
pub mod evidence;
pub mod expected;
pub mod hazards;
pub mod identity;
pub mod infer;
pub mod request;
pub mod secrets;
pub mod shape;
pub mod tags;
pub mod taxonomy;
pub mod voters;
pub mod words;

// What most layers above use, under one name.
pub use agreed::{Agreement, Agreements};
pub use conclude::{Behavior, Trust};
pub use evidence::{Evidence, Source};
pub use hazards::{Hazard, HazardKind};
pub use identity::Identity;
pub use taxonomy::{Action, Badge, Confidence, Mutability, OutputDomain};
