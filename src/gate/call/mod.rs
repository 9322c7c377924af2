//! One call from its arrival to its end. In the order it lives: `arrive`, `describe`, `judge`, `look`, `consult`, `card`,
//! `ask`, `decide`, `forward`; the loop in drive.rs takes it from one to the next. Owns nothing itself.

pub mod arrive;
pub mod ask;
pub mod caller;
pub mod card;
pub mod consult;
pub(in crate::gate) mod context;
pub mod danger;
pub mod decide;
pub mod describe;
pub mod drive;
pub mod effect_line;
pub mod elicit;
pub mod entries;
pub mod forward;
pub mod grant;
pub mod held;
pub mod input_required;
pub mod judge;
pub(in crate::gate) mod judgement;
pub mod log;
pub mod look;
pub(in crate::gate) mod next;
pub mod out;
pub mod pinning;
pub mod question;
pub mod replies;
pub mod request;
pub mod retry;
pub mod round_trips;
pub mod table;
pub mod target;
pub mod tasks;
pub mod touched;
