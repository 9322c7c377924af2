//! Random histories of the gate by the million, against the five invariants (the world checks them at every step).

use std::cell::RefCell;

use crate::bed::{Measured, Run, caught, grouped, in_parallel};
use crate::world::moves::{ALL, Move};
use crate::world::play::replay;

/// R23.
pub fn simulated(run: &Run) -> Measured {
    const SHARE: u64 = 5_000;
    let shares = run.of(1_000_000).div_ceil(SHARE);
    let done = in_parallel(2, shares, |share| {
        let mut chance = run.chance(share);
        let (mut steps, mut broken) = (0_u64, None);
        for _ in 0..SHARE {
            let moves = RefCell::new(Vec::<Move>::new());
            moves.borrow_mut().extend((0..1 + chance.below(24)).map(|_| *chance.of(ALL)));
            steps += moves.borrow().len() as u64;
            if let Err(why) = caught(|| replay(&moves.borrow())) {
                broken.get_or_insert(format!("{:?}: {why}", moves.borrow()));
            }
        }
        (steps, broken)
    });
    let steps: u64 = done.iter().map(|one| one.0).sum();
    let broken: Vec<&String> = done.iter().filter_map(|one| one.1.as_ref()).collect();
    let first = broken.first().map_or_else(String::new, |one| format!("; {one}"));
    Measured::held(
        broken.is_empty() && shares * SHARE >= run.of(1_000_000),
        format!("{}, {} moves; {} broken{first}", grouped(shares * SHARE), grouped(steps), broken.len()),
    )
}
