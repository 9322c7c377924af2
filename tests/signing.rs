//! Signed verdicts: statements, signatures, lists of signers and the proof, one line per case; and against the real ssh-keygen.

pub mod bed;
mod changes;
mod forgeries;
mod formats;
mod lists;
mod sshkeygen;
mod standing;
mod statements;
