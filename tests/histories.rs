//! Every sequence of events up to a length, and random long ones, against the five invariants (the world checks them).

use crate::world::moves::{ALL, FORMS, MOVES, Move, REQUESTS, TASKS};
use crate::world::play::{replay, replay_ordered, replay_polled, replay_with_forms};
use proptest::prelude::*;

#[test]
fn every_history_up_to_length_two() {
    for a in MOVES {
        for b in MOVES {
            replay(&[a, b]);
        }
    }
}

/// The interesting ones begin with a call that waits; then everything may happen.
#[test]
fn every_history_of_length_three_after_a_held_call() {
    for a in MOVES {
        for b in MOVES {
            for c in MOVES {
                replay(&[Move::Write, Move::DiskShows, Move::LogTakes, a, b, c]);
            }
        }
    }
}

/// Calls are frozen before or after one waits: nothing runs but what a person approves.
#[test]
fn every_history_of_length_two_while_calls_are_frozen() {
    use Move::{DiskShows, Freeze, Lift, LogTakes, Read, Write};
    for a in MOVES {
        for b in MOVES {
            replay(&[Write, DiskShows, LogTakes, Freeze, a, b, LogTakes]);
            replay(&[Read, DiskShows, Freeze, a, LogTakes, b, LogTakes, Lift, LogTakes]);
            replay_ordered(&[Write, DiskShows, LogTakes, Read, DiskShows, LogTakes, Freeze, a, b, LogTakes]);
        }
    }
}

/// A host that was given a question: everything that it and the rest of the world may do then.
#[test]
fn every_history_of_length_two_after_a_question_to_the_host() {
    for a in FORMS {
        for b in FORMS {
            replay_with_forms(&[Move::Write, Move::DiskShows, Move::LogTakes, *a, *b]);
        }
    }
}

/// The same where the question is inside the answer to the call's own request.
#[test]
fn every_history_of_length_two_after_a_question_inside_an_answer() {
    for a in FORMS {
        for b in FORMS {
            let begin = [Move::FormCall, Move::DiskShows, Move::LogTakes, *a, *b];
            replay_with_forms(&[&begin[..], &[Move::LogTakes, Move::DiskShows, Move::TicksInside]].concat());
        }
    }
}

/// The same for requests other than calls: one has been approved, and what the answer to it asks for waits.
#[test]
fn every_history_of_length_three_while_rules_are_about_requests() {
    use Move::{Approve, EmbedTwo, LogTakes, MethodsAsk, Resource};
    let begin = [MethodsAsk, LogTakes, Resource, LogTakes, Approve, LogTakes, LogTakes, EmbedTwo, LogTakes];
    for a in REQUESTS {
        for b in REQUESTS {
            for c in REQUESTS {
                replay(&[&begin[..], &[a, b, c]].concat());
            }
        }
    }
}

/// Calls that keep their order: a read behind a write that waits.
#[test]
fn every_history_of_length_two_in_order() {
    for a in MOVES {
        for b in MOVES {
            replay_ordered(&[Move::Write, Move::DiskShows, Move::LogTakes, Move::Read, Move::LogTakes, a, b]);
        }
    }
}

/// A host that must come back for its call, and whatever else happens in the meantime.
#[test]
fn every_history_of_length_three_of_a_host_that_comes_back() {
    let begin = [Move::Modern, Move::DiskShows, Move::LogTakes, Move::Later];
    let more = [Move::ComeBack, Move::ComeBackOther, Move::AnswerSix, Move::CancelSix, Move::Modern, Move::Edit];
    let all: Vec<Move> = MOVES.into_iter().filter(|one| *one != Move::Unknown).chain(more).collect();
    for a in &all {
        for b in &all {
            for c in [Move::ComeBack, Move::Approve, Move::CancelSix] {
                replay(&[&begin[..], &[*a, *b, c, Move::LogTakes, Move::DiskShows, Move::ComeBack]].concat());
            }
        }
    }
}

/// A host that polls for its call, in both forms, and whatever else happens in the meantime.
#[test]
fn every_history_of_length_three_of_a_call_that_is_a_task() {
    for first in [Move::TaskCall, Move::TaskModern] {
        for a in TASKS {
            for b in TASKS {
                for c in [Move::Approve, Move::LogTakes, Move::TaskCancel, Move::TaskResult] {
                    replay_polled(&[first, Move::DiskShows, Move::LogTakes, a, b, c]);
                }
            }
        }
    }
    // The same where the call has been approved and runs.
    let begin = [Move::DiskShows, Move::LogTakes, Move::LogTakes, Move::Approve, Move::DiskShows];
    for first in [Move::TaskCall, Move::TaskModern] {
        for a in TASKS {
            for b in TASKS {
                replay_polled(&[&[first][..], &begin, &[Move::LogTakes, Move::DiskShows, a, b]].concat());
            }
        }
    }
}

fn any_move() -> impl Strategy<Value = Move> {
    (0..ALL.len()).prop_map(|at| ALL[at])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_histories(moves in proptest::collection::vec(any_move(), 1..40)) {
        replay(&moves);
        replay_ordered(&moves);
    }

    #[test]
    fn random_histories_of_tasks(moves in proptest::collection::vec(0..TASKS.len() + ALL.len() + 20, 1..40)) {
        let all: Vec<Move> = [ALL, &TASKS, &TASKS].concat();
        let one = |at: usize| all.get(at).copied().unwrap_or(Move::TaskModern);
        replay_polled(&moves.into_iter().map(one).collect::<Vec<_>>());
    }

    #[test]
    fn random_histories_with_questions_to_the_host(moves in proptest::collection::vec(0..FORMS.len(), 1..40)) {
        let moves: Vec<Move> = moves.into_iter().map(|at| FORMS[at]).collect();
        replay_with_forms(&moves);
    }
}
