//! One call from its arrival to its end. In the order it lives: `arrive`, `describe`, `judge`, `look`, `consult`, `card`,
//! `ask`, `decide`, `forward`; the loop in drive.rs takes it from one to the next. Owns nothing itself.

pub mod arrive;
pub mod ask;
pub mod card;
pub mod consult;
pub mod danger;
pub mod decide;
pub mod describe;
pub mod drive;
pub mod effect_line;
pub mod elicit;
pub mod forward;
pub mod grant;
pub mod input_required;
pub mod judge;
pub(in crate::gate) mod judgement;
pub mod look;
pub mod pinning;
pub mod request;
pub mod tasks;
pub mod touched;
