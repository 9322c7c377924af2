//! One call from its arrival to its end. In the order it lives: `arrive`, `describe`, `judge`, `look`, `consult`, `ask`,
//! `decide`, `forward`. Owns nothing itself. (An approved call may have to wait for its turn before the last step.)

pub mod arrive;
pub mod ask;
pub mod caller;
pub mod card;
pub mod consult;
pub mod danger;
pub mod decide;
pub mod describe;
pub mod drive;
pub mod effect_line;
pub mod elicit;
pub mod embedded;
pub mod entries;
pub mod forward;
pub mod grant;
pub mod held;
pub mod input_required;
pub mod judge;
pub mod judged;
pub mod look;
pub mod pinning;
pub mod question;
pub mod refresh;
pub mod replies;
pub mod request;
pub mod retry;
pub mod round_trips;
pub mod strictest;
pub mod table;
pub mod target;
pub mod task_answers;
pub mod tasks;
pub mod touched;
pub mod turn;
pub mod withdraw;
