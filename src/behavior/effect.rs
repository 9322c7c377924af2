//! What a call does to the world, as words a rule can match. Joins what the arguments show with the identity; adds no
//! evidence.

use super::arguments::effect::Effect;
use super::conclude::Behavior;

/// Every effect that a call has, each once, in their order; never empty.
pub fn of_call(behavior: &Behavior) -> Vec<Effect> {
    let shown = behavior.analyses.iter().map(|analysis| analysis.effect);
    let mut all: Vec<Effect> = shown.chain([Effect::of(behavior.identity.action)]).collect();
    all.sort();
    all.dedup();
    all
}
