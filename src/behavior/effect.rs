//! What a call does to the world, as words a rule can match. Joins what the arguments show with the identity; adds no
//! evidence.

use super::arguments::effect::Effect;
use super::conclude::Behavior;
use super::taxonomy::Action;

/// Every effect that a call has, each once, in their order; never empty.
pub fn of_call(behavior: &Behavior) -> Vec<Effect> {
    let shown = behavior.analyses.iter().map(|analysis| analysis.effect);
    let mut all: Vec<Effect> = shown.chain([of_action(behavior.identity.action)]).collect();
    all.sort();
    all.dedup();
    all
}

fn of_action(action: Action) -> Effect {
    match action {
        Action::Read | Action::Search => Effect::ReadHere,
        Action::Execute => Effect::Execute,
        Action::Unknown => Effect::Unknown,
        Action::Create
        | Action::Update
        | Action::Delete
        | Action::Merge
        | Action::Overwrite
        | Action::Append
        | Action::Send
        | Action::Move => Effect::Write,
    }
}
