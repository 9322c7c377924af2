//! One held call, to its end. In the order it lives: `judge`, `look`, `card`, `ask`, `forward`; the loop in drive.rs takes it from one
//! to the next; `end` is beside them, where it does not run. Owns nothing itself.

pub mod ask;
pub mod card;
pub mod danger;
pub mod drive;
pub mod effect_line;
pub mod end;
pub mod forward;
pub mod grant;
pub mod judge;
pub(in crate::gate) mod judgement;
pub mod look;
pub(in crate::gate) mod signed;
pub mod touched;
