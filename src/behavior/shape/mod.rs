//! What is new about one call of a reading tool: what neither the role of a key proves (a role proves only values of its own
//! form) nor the operator agreed to. Raises no identity and reads no text for its meaning.

mod address;
pub mod ahead;
mod form;
mod key;
mod place;
mod walk;

pub use key::{Given, Keys, Role, Roles, first_use};
pub use place::{PathKind, PathState, PathStates, Places};
pub use walk::{Known, MOST, New, Shape, of_answers, of_call};
