//! One call from its arrival to its end, in the order it lives. Owns nothing itself.

pub mod arrive;
pub mod ask;
pub mod caller;
pub mod card;
pub mod consult;
pub mod deadline;
pub mod decide;
pub mod describe;
pub mod effect_line;
pub mod entries;
pub mod held;
pub mod judged;
pub mod look;
pub mod named;
pub mod refusals;
pub mod rejudge;
pub mod replies;
pub mod roots;
pub mod touched;
pub mod wake;
pub mod withdraw;
