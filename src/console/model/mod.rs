//! What the console knows and shows. Each screen has a part of its own; [`state`] puts them together.

pub mod arming;
pub mod batch;
pub mod call;
pub mod lists;
pub mod places;
pub mod queue;
pub mod rule;
pub mod settings;
pub mod state;

pub use arming::{SILENCE, Unarmed};
pub use batch::{Batch, Fate, Member, Text, Tick, Unlisted};
pub use call::{ARMING, Armed, CallKey, CallState, Drawn, Held, Question, Reading, Seen, Shown};
pub use lists::{
    Connected, Earlier, EntrySource, Following, Incompatible, ListState, Lost, LostFate, Opens, Passed, RuleEntry,
    RuleHits, ServerLine, Sought, Subject, ToolLine, ToolSource, Window,
};
pub use queue::{Grouping, Picked, Queue, Sort};
pub use rule::{Choice, Offer, OpenPage, Review, ReviewOf, RuleMaker, RuleStage};
pub use settings::{Confirmation, Manner, Palette, Process, Reach, Settings, Tour};
pub use state::{Command, Edit, Model, Msg, Overlay, Screen, Turn};
