//! Verdicts with an SSH signature: what is signed, who may sign, whether it is good. Pure: time, chance and files come in.
//!
//! [`verdict::SignedVerdict`] is the proof of a verdict, made only of statement, signature, allowed signers and the card that waits;
//! [`change::Proof`] is that of everything else that an operator signs on a machine; [`standing`] is what is signed for many.

#![warn(clippy::wildcard_enum_match_arm, clippy::indexing_slicing)]

pub mod change;
pub mod grade;
pub mod signers;
pub mod sshsig;
pub mod standing;
pub mod statement;
pub mod verdict;
pub mod witness;

// What most layers above use, under one name.
pub use grade::{Grade, Needs, Required};
pub use signers::InForce;
pub use statement::CardTerms;
pub use verdict::{Attested, Level};
